package run

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/turnwise/turnwise/flows/expr"
)

// DecodeRun reads a run that was written as JSON. Integers stay integers. A field of the
// wrong type is an error that names it, and a record of a schema that is not known is one.
func DecodeRun(raw []byte) (*Run, error) {
	var r Run
	if err := decode(raw, &r); err != nil {
		return nil, fmt.Errorf("run: reading a run: %w", err)
	}
	if r.Schema != Schema {
		return nil, fmt.Errorf("run: the record is of schema %d; this program knows %d", r.Schema, Schema)
	}
	p := &plainer{}
	p.object(&r.Env)
	p.outcome(r.Outcome)
	for _, s := range r.Scopes {
		p.object(&s.State, &s.Inputs, &s.Outputs, &s.Seen)
		p.value(&s.Result, &s.Answer, &s.Item)
		p.list(s.Items)
		p.gathered(s)
		p.outcome(s.Outcome)
		for i := range s.Done {
			p.object(&s.Done[i].Args)
			p.value(&s.Done[i].Result)
		}
	}
	for _, c := range r.Calls {
		p.call(c)
	}
	for _, i := range r.Interrupts {
		p.object(&i.Args)
		p.value(&i.Default)
	}
	for i := range r.Functions {
		p.object(&r.Functions[i].Args, &r.Functions[i].Report)
	}
	return &r, p.err
}

// DecodeEvent reads an event that was written as JSON; see DecodeRun.
func DecodeEvent(raw []byte) (Event, error) {
	var e Event
	if err := decode(raw, &e); err != nil {
		return Event{}, fmt.Errorf("run: reading an event: %w", err)
	}
	p := &plainer{}
	p.object(&e.Set)
	p.value(&e.Value)
	p.list(e.Items)
	p.outcome(e.Outcome)
	if e.Function != nil {
		p.object(&e.Function.Args, &e.Function.Report)
	}
	if e.Call != nil {
		p.call(e.Call)
	}
	if e.Interrupt != nil {
		p.object(&e.Interrupt.Args)
		p.value(&e.Interrupt.Default)
	}
	return e, p.err
}

// EncodeEvents writes events as JSON, for [DecodeEvents].
func EncodeEvents(events []Event) ([]byte, error) {
	raw, err := json.Marshal(events)
	if err != nil {
		return nil, fmt.Errorf("run: writing events: %w", err)
	}
	return raw, nil
}

// DecodeEvents reads what [EncodeEvents] wrote; see DecodeRun.
func DecodeEvents(raw []byte) ([]Event, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("run: reading events: %w", err)
	}
	events := make([]Event, len(list))
	for i, one := range list {
		var err error
		if events[i], err = DecodeEvent(one); err != nil {
			return nil, err
		}
	}
	return events, nil
}

// decode reads JSON and keeps numbers as they are written.
func decode(raw []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return dec.Decode(into)
}

// plainer makes values plain and keeps the first error.
type plainer struct{ err error }

func (p *plainer) value(values ...*any) {
	for _, v := range values {
		plain, err := expr.Plain(*v)
		if err != nil && p.err == nil {
			p.err = err
		}
		*v = plain
	}
}

func (p *plainer) object(objects ...*map[string]any) {
	for _, o := range objects {
		if *o == nil {
			continue
		}
		plain, err := expr.Plain(*o)
		if err != nil {
			if p.err == nil {
				p.err = err
			}
			continue
		}
		*o, _ = plain.(map[string]any)
	}
}

func (p *plainer) list(values []any) {
	for i := range values {
		p.value(&values[i])
	}
}

func (p *plainer) gathered(s *Scope) {
	for i := range s.Rounds {
		p.value(&s.Rounds[i].Output)
	}
	for name, g := range s.Branches {
		p.value(&g.Output)
		s.Branches[name] = g
	}
}

func (p *plainer) outcome(o *Outcome) {
	if o != nil {
		p.value(&o.Value)
	}
}

func (p *plainer) call(c *Call) {
	p.object(&c.Args, &c.Answers)
	if c.Undo != nil {
		p.value(&c.Undo.Value)
	}
}
