package offline

import (
	"strings"

	"github.com/turnwise/turnwise/llm/offline/internal/values"
	"github.com/turnwise/turnwise/llm/offline/internal/words"
)

// classifyString tells what a string is by its format, its pattern, and else by
// its name and description.
func classifyString(s *slot, d property) kind {
	if d.Pattern != "" {
		if s.pattern = values.NewPattern(d.Pattern); s.pattern == nil {
			return kindUnknown
		}
	}
	switch d.Format {
	case "date":
		return kindDate
	case "time":
		s.layout = timeLayout(d)
		return kindTime
	case "date-time":
		return kindDateTime
	case "email", "idn-email":
		return kindEmail
	case "phone":
		return kindPhone
	case "", "string", "text":
	default:
		if s.pattern == nil {
			return kindUnknown
		}
	}
	named := aboutOf(s.label)
	if !named["date"] && !named["tim"] && !named["email"] && !named["phone"] && !named["nam"] {
		named = headOf(d.Description)
	}
	if named["date"] && named["tim"] || named["datetim"] {
		return kindDateTime
	}
	switch {
	case named["date"]:
		return kindDate
	case named["tim"]:
		s.layout = timeLayout(d)
		return kindTime
	case s.pattern != nil:
		return kindPattern
	case named["email"]:
		return kindEmail
	case named["phone"]:
		return kindPhone
	case named["nam"] && !named["product"] && !named["fil"]:
		return kindName
	}
	return kindText
}

// headOf is what a short description says a value is, without what it is of.
func headOf(description string) map[string]bool {
	head := words.Lower(description)
	for _, mark := range [...]string{",", "(", ".", ":", ";", " of ", " for ", " in ", " as ", " when ", " that "} {
		head, _, _ = strings.Cut(head, mark)
	}
	if len(strings.Fields(head)) > 4 {
		return nil
	}
	about := aboutOf(head)
	about["datetim"] = strings.HasPrefix(head, "when ")
	return about
}

// timeLayout writes times as RFC 3339 wants it for the format, and as hours and
// minutes where the schema says or shows that, or asks for no format.
func timeLayout(d property) string {
	if d.Format == "time" && !strings.Contains(strings.ToUpper(d.Description), "HH:MM") {
		return "15:04:05Z07:00"
	}
	return "15:04"
}
