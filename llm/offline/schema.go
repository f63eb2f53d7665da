package offline

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/turnwise/turnwise/llm/offline/internal/speech"
	"github.com/turnwise/turnwise/llm/offline/internal/values"
	"github.com/turnwise/turnwise/llm/offline/internal/words"
)

// kind is what sort of value a slot takes, and so how people say it.
type kind uint8

const (
	kindUnknown kind = iota
	kindInteger
	kindNumber
	kindBool
	kindEnum
	kindDate
	kindTime
	kindDateTime
	kindEmail
	kindPhone
	kindName
	kindPattern
	kindText
	kindList
	kindConst
)

// Bounds of what is read of a schema, which may come from anywhere.
const (
	maxProperties = 40
	maxEnum       = 100
)

// slot is one argument of a function.
type slot struct {
	name     string
	kind     kind
	required bool
	min, max *float64
	multiple float64
	minLen   int
	maxLen   int
	options  []option
	pattern  *values.Pattern
	// layout is how a time is written; empty leaves it to the kind.
	layout string
	fixed  json.RawMessage
	item   *slot
	// most and least bound the items of a list.
	least, most int

	// about is the concepts of the name and the description, for telling whether
	// words are about this slot.
	about map[string]bool
	// question asks for the slot when the node does not.
	question string
	// label is the slot's name in words.
	label string
}

// option is one of the values of an enumeration.
type option struct {
	raw   json.RawMessage
	words []words.Token
	text  string
}

// property is the part of a JSON Schema that is understood. The whole schema is
// checked by the validator before anything is called.
type property struct {
	Type             json.RawMessage   `json:"type"`
	Title            string            `json:"title"`
	Description      string            `json:"description"`
	Enum             []json.RawMessage `json:"enum"`
	Const            json.RawMessage   `json:"const"`
	Default          json.RawMessage   `json:"default"`
	Format           string            `json:"format"`
	Pattern          string            `json:"pattern"`
	Minimum          *float64          `json:"minimum"`
	Maximum          *float64          `json:"maximum"`
	ExclusiveMinimum *float64          `json:"exclusiveMinimum"`
	ExclusiveMaximum *float64          `json:"exclusiveMaximum"`
	MultipleOf       float64           `json:"multipleOf"`
	MinLength        int               `json:"minLength"`
	MaxLength        int               `json:"maxLength"`
	MinItems         int               `json:"minItems"`
	MaxItems         int               `json:"maxItems"`
	Items            json.RawMessage   `json:"items"`
	Ref              string            `json:"$ref"`
	AnyOf            []json.RawMessage `json:"anyOf"`
	OneOf            []json.RawMessage `json:"oneOf"`
}

// parameters is the schema of an argument object.
type parameters struct {
	Properties  json.RawMessage            `json:"properties"`
	Required    []string                   `json:"required"`
	Defs        map[string]json.RawMessage `json:"$defs"`
	Definitions map[string]json.RawMessage `json:"definitions"`
}

// readSlots lists the slots of a schema in the order they are written.
func readSlots(schema json.RawMessage) []slot {
	var p parameters
	if json.Unmarshal(schema, &p) != nil {
		return nil
	}
	required := map[string]bool{}
	for _, name := range p.Required {
		required[name] = true
	}
	var slots []slot
	for _, member := range members(p.Properties) {
		if len(slots) == maxProperties {
			break
		}
		s := p.slot(member.name, member.value, 3)
		s.required = required[member.name]
		slots = append(slots, s)
	}
	return slots
}

type member struct {
	name  string
	value json.RawMessage
}

// members lists an object's members in order.
func members(object json.RawMessage) []member {
	dec := json.NewDecoder(bytes.NewReader(object))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil
	}
	var out []member
	for dec.More() {
		key, err := dec.Token()
		name, ok := key.(string)
		var value json.RawMessage
		if err != nil || !ok || dec.Decode(&value) != nil {
			return out
		}
		out = append(out, member{name, value})
	}
	return out
}

// slot reads one property, following references up to depth.
func (p *parameters) slot(name string, raw json.RawMessage, depth int) slot {
	s := slot{name: name, label: words.Identifier(name), most: -1}
	if depth == 0 {
		return s
	}
	var d property
	if json.Unmarshal(raw, &d) != nil {
		s.describe(property{}) // it can be asked for, whatever it is
		return s
	}
	if d.Ref != "" {
		if target, ok := p.target(d.Ref); ok {
			s = p.slot(name, target, depth-1)
		}
		s.describe(d)
		return s
	}
	s.min, s.max = tighter(d.Minimum, d.ExclusiveMinimum, typeOf(d), 1), tighter(d.Maximum, d.ExclusiveMaximum, typeOf(d), -1)
	s.multiple, s.minLen, s.maxLen = d.MultipleOf, d.MinLength, d.MaxLength
	s.kind = p.classify(&s, d, depth)
	s.describe(d)
	return s
}

func (p *parameters) target(ref string) (json.RawMessage, bool) {
	name := ref[strings.LastIndexByte(ref, '/')+1:]
	if def, ok := p.Defs[name]; ok && strings.HasPrefix(ref, "#/$defs/") {
		return def, true
	}
	def, ok := p.Definitions[name]
	return def, ok && strings.HasPrefix(ref, "#/definitions/")
}

// tighter folds an exclusive bound into the inclusive one; for numbers with a
// fraction it is left to the validator.
func tighter(inclusive, exclusive *float64, typ string, step float64) *float64 {
	if exclusive == nil || typ != "integer" {
		return inclusive
	}
	bound := *exclusive + step
	if inclusive != nil && (*inclusive-bound)*step > 0 {
		return inclusive
	}
	return &bound
}

// typeOf is the first type that is not null.
func typeOf(d property) string {
	var one string
	if json.Unmarshal(d.Type, &one) == nil {
		return one
	}
	var many []string
	if json.Unmarshal(d.Type, &many) == nil {
		for _, t := range many {
			if t != "null" {
				return t
			}
		}
	}
	return ""
}

func (p *parameters) classify(s *slot, d property, depth int) kind {
	switch {
	case len(d.Const) > 0:
		s.fixed = d.Const
		return kindConst
	case len(d.Enum) > 0:
		s.options = optionsOf(d.Enum)
		return kindEnum
	case len(d.OneOf) > 0:
		return p.alternatives(s, d.OneOf, depth)
	case len(d.AnyOf) > 0:
		return p.alternatives(s, d.AnyOf, depth)
	}
	switch typeOf(d) {
	case "integer":
		return kindInteger
	case "number":
		return kindNumber
	case "boolean":
		return kindBool
	case "array":
		item := p.slot(s.name, d.Items, depth-1)
		s.item, s.least, s.most = &item, d.MinItems, d.MaxItems
		if item.kind == kindUnknown || item.kind == kindList {
			return kindUnknown
		}
		return kindList
	case "string":
		return classifyString(s, d)
	}
	return kindUnknown
}

// alternatives reads a list of titled constants, or else the first alternative
// that is understood.
func (p *parameters) alternatives(s *slot, list []json.RawMessage, depth int) kind {
	for _, raw := range list[:min(len(list), maxEnum)] {
		var d property
		if json.Unmarshal(raw, &d) == nil && len(d.Const) > 0 {
			o := makeOption(d.Const, d.Title)
			s.options = append(s.options, o)
		}
	}
	if len(s.options) > 0 {
		return kindEnum
	}
	for _, raw := range list[:min(len(list), maxEnum)] {
		if inner := p.slot(s.name, raw, depth-1); inner.kind != kindUnknown {
			*s = inner
			return inner.kind
		}
	}
	return kindUnknown
}

func optionsOf(enum []json.RawMessage) []option {
	out := make([]option, 0, len(enum))
	for _, raw := range enum[:min(len(enum), maxEnum)] {
		if string(raw) != "null" {
			out = append(out, makeOption(raw, ""))
		}
	}
	return out
}

func makeOption(raw json.RawMessage, title string) option {
	text := title
	if text == "" && json.Unmarshal(raw, &text) != nil {
		text = string(raw)
	}
	shown := text
	if !strings.ContainsRune(text, ':') {
		shown = words.Identifier(text)
	}
	return option{raw: raw, words: words.Split(shown, 12), text: shown}
}

// describe fills in what the slot is about and how to ask for it.
func (s *slot) describe(d property) {
	if d.Description == "" && s.question != "" {
		return
	}
	s.about = aboutOf(s.label + " " + d.Title + " " + d.Description)
	s.question = speech.Describe(d.Description)
	if s.question == "" {
		s.question = speech.Describe(s.label)
	}
	if s.kind == kindEnum && len(s.options) <= 8 {
		names := make([]string, len(s.options))
		for i, o := range s.options {
			names[i] = o.text
		}
		s.question = strings.TrimSuffix(s.question, "?") + ": " + either(names) + "?"
	}
}

// aboutOf is the concepts of a text.
func aboutOf(text string) map[string]bool {
	about := map[string]bool{}
	for _, t := range words.Split(text, 80) {
		if t.Kind == words.Word && !t.Stop && !words.Plumbing(t.Concept) {
			about[t.Concept] = true
		}
	}
	return about
}

// either joins words by commas and "or".
func either(list []string) string { return series(list, "or") }

func series(list []string, link string) string {
	switch n := len(list); n {
	case 0:
		return ""
	case 1:
		return list[0]
	default:
		return strings.Join(list[:n-1], ", ") + " " + link + " " + list[n-1]
	}
}
