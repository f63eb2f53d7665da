package openai

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/turnwise/turnwise/frames"
)

// detail is what could be read of an error's body.
type detail struct {
	message string
	code    string // the most precise word for it
}

// parseDetail reads OpenAI's {"error": {…}}, {"error": "text"}, the object alone,
// FastAPI's {"detail": …}, and plain text.
func parseDetail(body []byte) detail {
	var v any
	if json.Unmarshal(body, &v) != nil {
		return detail{message: strings.TrimSpace(string(body))}
	}
	if outer, ok := v.(map[string]any); ok && outer["error"] != nil {
		v = outer["error"]
	}
	object, ok := v.(map[string]any)
	if !ok {
		text, _ := v.(string)
		return detail{message: text}
	}
	var d detail
	for _, key := range []string{"message", "detail", "msg"} {
		if d.message == "" && object[key] != nil {
			d.message = sentence(object[key])
		}
	}
	for _, key := range []string{"code", "type"} {
		if word, ok := object[key].(string); ok && d.code == "" {
			d.code = word
		}
	}
	return d
}

// sentence is a value as text.
func sentence(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}

// category is what kind of trouble it is. The status decides, except where the
// server's word says something that no status can.
func (d detail) category(status int) frames.ErrorCategory {
	switch strings.ToLower(d.code) {
	case "content_filter", "content_policy_violation", "moderation_blocked":
		return frames.ErrorContent
	case "insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "quota_exceeded", "insufficient_credits":
		return frames.ErrorQuota
	case "invalid_api_key", "authentication_error":
		return frames.ErrorAuth
	}
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return frames.ErrorAuth
	case status == http.StatusPaymentRequired:
		return frames.ErrorQuota
	case status == http.StatusTooManyRequests:
		return frames.ErrorRateLimit
	case status == http.StatusRequestTimeout:
		return frames.ErrorTimeout
	case status >= 500 || status == 0 || status == http.StatusConflict || status == http.StatusTooEarly:
		return frames.ErrorServer
	}
	return frames.ErrorInvalid
}
