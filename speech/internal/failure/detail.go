package failure

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/turnwise/turnwise/frames"
)

// Detail is what a server says of an error.
type Detail struct {
	// Message is a sentence for people.
	Message string
	// Code is the most precise word for it.
	Code string
}

// Parse reads what servers send with an error: OpenAI's {"error": {…}}, {"error":
// "text"}, the object alone as Cartesia's and Deepgram's, ElevenLabs' and FastAPI's
// {"detail": …}, and plain text.
func Parse(body []byte) Detail {
	var v any
	if json.Unmarshal(body, &v) != nil {
		return Detail{Message: strings.TrimSpace(string(body))}
	}
	outer, ok := v.(map[string]any)
	for _, key := range []string{"error", "detail"} {
		// Where the error is only a word beside its message, the object tells more.
		if inner := outer[key]; ok && inner != nil && (outer["message"] == nil || object(inner) != nil) {
			v = inner
			break
		}
	}
	fields := object(v)
	if fields == nil {
		if text, ok := v.(string); ok || v == nil {
			return Detail{Message: text}
		}
		return Detail{Message: sentence(v)}
	}
	var d Detail
	for _, key := range []string{"message", "detail", "msg", "err_msg", "description", "title"} {
		if d.Message == "" && fields[key] != nil {
			d.Message = sentence(fields[key])
		}
	}
	for _, key := range []string{"error_code", "err_code", "code", "status", "error", "type"} {
		if word, ok := fields[key].(string); ok && d.Code == "" {
			d.Code = word
		}
	}
	return d
}

// object is v if it is an object.
func object(v any) map[string]any {
	fields, _ := v.(map[string]any)
	return fields
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

// words are codes that say more than any status.
var words = map[string]frames.ErrorCategory{
	"content_filter": frames.ErrorContent, "content_policy_violation": frames.ErrorContent, "moderation_blocked": frames.ErrorContent,

	"insufficient_quota": frames.ErrorQuota, "billing_hard_limit_reached": frames.ErrorQuota, "billing_not_active": frames.ErrorQuota,
	"quota_exceeded": frames.ErrorQuota, "insufficient_credits": frames.ErrorQuota, "credit_limit_reached": frames.ErrorQuota,
	"asr_payment_required": frames.ErrorQuota,

	"invalid_api_key": frames.ErrorAuth, "authentication_error": frames.ErrorAuth, "needs_authorization": frames.ErrorAuth,
	"missing_permissions": frames.ErrorAuth, "invalid_auth": frames.ErrorAuth, "insufficient_permissions": frames.ErrorAuth,

	"rate_limit_exceeded": frames.ErrorRateLimit, "too_many_concurrent_requests": frames.ErrorRateLimit,
	"concurrency_limited": frames.ErrorRateLimit, "too_many_requests": frames.ErrorRateLimit, "system_busy": frames.ErrorRateLimit,

	"voice_id_does_not_exist": frames.ErrorInvalid, "voice_not_found": frames.ErrorInvalid, "model_not_found": frames.ErrorInvalid,
	"invalid_request_error": frames.ErrorInvalid, "data-0000": frames.ErrorInvalid,

	"input_timeout_exceeded": frames.ErrorTimeout, "net-0001": frames.ErrorTimeout, "session_expired": frames.ErrorTimeout,
}

// Category is what kind of trouble it is. The status, 0 for none, decides, except
// where the server's word says more.
func (d Detail) Category(status int) frames.ErrorCategory {
	if category, ok := words[strings.ToLower(d.Code)]; ok {
		return category
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
