package openai

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/turnwise/turnwise/frames"
)

// category is what kind of trouble a server reports. The HTTP status decides, 0
// without one, except where the server's own words say something that no status
// can.
func (d *detail) category(status int) frames.ErrorCategory {
	said := d.said()
	switch {
	case said == frames.ErrorContent || said == frames.ErrorQuota:
		return said
	case status == 0 && said != "":
		return said
	case status == 0:
		return frames.ErrorServer
	case status == http.StatusBadRequest && said == frames.ErrorAuth:
		return said
	}
	return statusCategory(status)
}

// said is the category by the server's words, the most precise one first, or ""
// when they are not known.
func (d *detail) said() frames.ErrorCategory {
	for _, w := range []string{d.inner, d.Code, d.Type} {
		if c := wordCategory(strings.ToLower(w)); c != "" {
			return c
		}
		if status, err := strconv.Atoi(w); err == nil && status >= 400 && status < 600 {
			return statusCategory(status)
		}
	}
	return ""
}

func wordCategory(w string) frames.ErrorCategory {
	switch w {
	case "content_filter", "responsibleaipolicyviolation", "content_policy_violation", "moderation_blocked":
		return frames.ErrorContent
	case "insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_balance",
		"insufficient_credits", "quota_exceeded":
		return frames.ErrorQuota
	case "rate_limit_exceeded", "rate_limit_error", "requests", "tokens", "too_many_requests", "resource_exhausted":
		return frames.ErrorRateLimit
	case "invalid_api_key", "authentication_error", "permission_error", "unauthenticated", "permission_denied":
		return frames.ErrorAuth
	case "invalid_request_error", "context_length_exceeded", "invalid_argument", "badrequesterror", "not_found_error",
		"model_not_found":
		return frames.ErrorInvalid
	case "server_error", "internal_server_error", "api_error", "overloaded_error", "service_unavailable", "unavailable",
		"internalservererror", "internal":
		return frames.ErrorServer
	case "timeout", "timeout_error", "deadline_exceeded":
		return frames.ErrorTimeout
	}
	return ""
}

func statusCategory(status int) frames.ErrorCategory {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return frames.ErrorAuth
	case http.StatusPaymentRequired:
		return frames.ErrorQuota
	case http.StatusTooManyRequests:
		return frames.ErrorRateLimit
	case http.StatusRequestTimeout:
		return frames.ErrorTimeout
	case http.StatusConflict, http.StatusTooEarly:
		return frames.ErrorServer // it may work a little later
	}
	if status >= 500 {
		return frames.ErrorServer
	}
	return frames.ErrorInvalid
}
