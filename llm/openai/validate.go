package openai

import (
	"net/url"
	"slices"
	"strings"
)

// ownFields are the body fields that the package writes itself.
func ownFields() []string {
	return []string{
		"model", "messages", "stream", "tools", "tool_choice", "parallel_tool_calls",
		"temperature", FieldMaxTokens, FieldMaxCompletionTokens,
	}
}

func validExtraField(name string) bool {
	return name != "" && !slices.Contains(ownFields(), name)
}

func validBaseURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" &&
		u.User == nil && u.RawQuery == "" && !u.ForceQuery && u.Fragment == ""
}

func validHeaderName(name string) bool {
	return name != "" && strings.IndexFunc(name, func(r rune) bool { return !tokenChar(r) }) < 0
}

// tokenChar tells what a header name may consist of.
func tokenChar(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
		strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}

func validHeaderValue(value string) bool {
	return strings.IndexFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) < 0
}
