package openai_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/llm/openai"
)

func reply(status int, kind, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func TestEveryErrorResponseHasACategory(t *testing.T) {
	object := func(message, kind, code string) string {
		return fmt.Sprintf(`{"error":{"message":%q,"type":%q,"code":%q,"param":null}}`, message, kind, code)
	}
	cases := []struct {
		name   string
		status int
		body   string
		want   frames.ErrorCategory
		text   string // part of the error's text
	}{
		{"wrong key", 401, object("Incorrect API key provided: sk-very-secret-key.", "invalid_request_error", "invalid_api_key"), frames.ErrorAuth, "provided: [redacted]."},
		{"wrong key without a code", 401, object("No", "invalid_request_error", ""), frames.ErrorAuth, "No"},
		{"wrong key as bad request", 400, object("No", "", "invalid_api_key"), frames.ErrorAuth, "No"},
		{"forbidden", 403, object("Country not supported", "request_forbidden", ""), frames.ErrorAuth, "Country"},
		{"payment required", 402, object("Insufficient Balance", "", ""), frames.ErrorQuota, "Balance"},
		{"quota used up", 429, object("You exceeded your current quota", "insufficient_quota", "insufficient_quota"), frames.ErrorQuota, "quota"},
		{"too many requests", 429, object("Slow down", "requests", "rate_limit_exceeded"), frames.ErrorRateLimit, "Slow down"},
		{"too many requests, no reason", 429, "", frames.ErrorRateLimit, "Too Many Requests"},
		{"bad request", 400, object("Too long", "invalid_request_error", "context_length_exceeded"), frames.ErrorInvalid, "context_length_exceeded"},
		{"unknown model", 404, `{"error":"model 'x' not found, try pulling it first"}`, frames.ErrorInvalid, "try pulling"},
		{"unprocessable", 422, `{"detail":[{"loc":["body","tools"],"msg":"field required"}]}`, frames.ErrorInvalid, "field required"},
		{"wrong method", 405, `Method Not Allowed`, frames.ErrorInvalid, "Method Not Allowed"},
		{"content filter", 400, `{"error":{"message":"filtered","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation"}}}`, frames.ErrorContent, "filtered"},
		{"content filter only inside", 400, `{"error":{"message":"filtered","innererror":{"code":"ResponsibleAIPolicyViolation"}}}`, frames.ErrorContent, "filtered"},
		{"request timeout", 408, `{}`, frames.ErrorTimeout, "{}"},
		{"conflict", 409, `{"error":{"message":"locked"}}`, frames.ErrorServer, "locked"},
		{"server error", 500, object("Oops", "server_error", ""), frames.ErrorServer, "Oops"},
		{"server error that calls the request invalid", 500, object("Oops", "invalid_request_error", ""), frames.ErrorServer, "Oops"},
		{"bad gateway in HTML", 502, "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>", frames.ErrorServer, "502 Bad Gateway nginx"},
		{"unavailable, empty", 503, "", frames.ErrorServer, "Service Unavailable"},
		{"overloaded", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, frames.ErrorServer, "Overloaded"},
		{"object without a wrapper", 400, `{"object":"error","message":"bad tools","type":"BadRequestError","code":400}`, frames.ErrorInvalid, "bad tools"},
		{"list of errors", 400, `[{"error":{"code":400,"message":"bad value","status":"INVALID_ARGUMENT"}}]`, frames.ErrorInvalid, "bad value"},
		{"list of messages", 400, `{"error":{"message":["one","two"]}}`, frames.ErrorInvalid, `["one","two"]`},
		{"null error", 400, `{"error":null}`, frames.ErrorInvalid, `{"error":null}`},
		{"binary", 500, "\x00\x01\xff\x1b[31mred\r\n", frames.ErrorServer, "red"},
		{"endless", 500, strings.Repeat("never ending ", 100_000), frames.ErrorServer, "never ending"},
		{"redirect", 307, "", frames.ErrorInvalid, "set BaseURL"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := newServer(t, reply(c.status, "application/json", c.body, "Location", "http://elsewhere.test/"))
			r := collect(t.Context(), newModel(t, s.URL), ask("hello"))
			e := wantError(t, r.Err, c.want)
			if e.Status != c.status || e.Provider != "openai" {
				t.Errorf("status %d of %q", e.Status, e.Provider)
			}
			if !strings.Contains(e.Error(), c.text) {
				t.Errorf("%q does not contain %q", e, c.text)
			}
			if strings.ContainsAny(e.Error(), "\x00\x1b\r\n") {
				t.Errorf("%q has control characters", e)
			}
		})
	}
}

func TestServersOwnWordsCanBeFound(t *testing.T) {
	s := newServer(t, reply(400, "application/json", `{"error":{"message":"too long","type":"invalid_request_error","code":"context_length_exceeded","param":"messages"}}`))
	r := collect(t.Context(), newModel(t, s.URL), ask("hello"))
	var said *openai.APIError
	if !errors.As(r.Err, &said) {
		t.Fatal(r.Err)
	}
	want := openai.APIError{Message: "too long", Type: "invalid_request_error", Code: "context_length_exceeded", Param: "messages"}
	if *said != want {
		t.Errorf("got %+v", *said)
	}
}

func TestRetryAfterIsRead(t *testing.T) {
	const date = "Mon, 02 Nov 2026 10:00:00 GMT"
	for _, c := range []struct {
		header, value string
		want          time.Duration
	}{
		{"Retry-After", "7", 7 * time.Second},
		{"Retry-After", "0.25", 250 * time.Millisecond},
		{"Retry-After", "Mon, 02 Nov 2026 10:00:09 GMT", 9 * time.Second},
		{"Retry-After", "Mon, 02 Nov 2026 09:00:00 GMT", 0},
		{"Retry-After", "-5", 0},
		{"Retry-After", "soon", 0},
		{"Retry-After", "NaN", 0},
		{"Retry-After", "1e300", 24 * time.Hour},
		{"Retry-After-Ms", "1500", 1500 * time.Millisecond},
		{"X-Other", "7", 0},
	} {
		for _, status := range []int{429, 503} {
			s := newServer(t, reply(status, "text/plain", "no", c.header, c.value, "Date", date))
			r := collect(t.Context(), newModel(t, s.URL), ask("hello"))
			var e *llm.Error
			if !errors.As(r.Err, &e) || e.RetryAfter != c.want || !e.Retryable() {
				t.Errorf("%s: %s gives %v, want %v (%v)", c.header, c.value, e.RetryAfter, c.want, r.Err)
			}
		}
	}
}

func TestErrorsInsideAStream(t *testing.T) {
	begun := delta(`"content":"Hi"`) + call(`"index":0,"id":"a","function":{"name":"f","arguments":"{}"}`)
	big := strings.Repeat("x", 2<<20)
	cases := []struct {
		name, stream string
		want         frames.ErrorCategory
		text         string
	}{
		{"error object", `data: {"error":{"message":"Oops","type":"server_error"}}`, frames.ErrorServer, "Oops"},
		{"error object with spaces", `data: { "error" : {"message":"Oops"} }`, frames.ErrorServer, "Oops"},
		{"error object behind comments", ": wait\n\n: wait\n\n" + `data: {"error":{"message":"Oops"}}`, frames.ErrorServer, "Oops"},
		{"error in a chunk", `data: {"id":"x","choices":[],"error":{"message":"Oops","code":502}}`, frames.ErrorServer, "Oops"},
		{"error as text", `data: {"error":"Oops"}`, frames.ErrorServer, "Oops"},
		{"error without a message", `data: {"error":{"code":"rate_limit_exceeded"}}`, frames.ErrorRateLimit, "rate_limit_exceeded"},
		{"error event", "event: error\n" + `data: {"message":"Oops","type":"overloaded_error"}`, frames.ErrorServer, "Oops"},
		{"error event with text", "event: error\ndata: Oops", frames.ErrorServer, "malformed"},
		{"error outside of any event", `{"error":{"message":"Oops"}}`, frames.ErrorServer, "Oops"},
		{"quota", `data: {"error":{"message":"Pay","code":"insufficient_quota"}}`, frames.ErrorQuota, "Pay"},
		{"numeric code", `data: {"error":{"message":"Slow","code":429}}`, frames.ErrorRateLimit, "Slow"},
		{"content filter", `data: {"error":{"message":"filtered","code":"content_filter"}}`, frames.ErrorContent, "filtered"},
		{"key in the message", `data: {"error":{"message":"bad sk-very-secret-key"}}`, frames.ErrorServer, "bad [redacted]"},
		{"finish reason error", `data: {"choices":[{"index":0,"delta":{},"finish_reason":"error"}]}`, frames.ErrorNetwork, "gave up"},
		{"not JSON", "data: {choices", frames.ErrorServer, "malformed"},
		{"a list", "data: []", frames.ErrorServer, "malformed"},
		{"an event that is too large", `data: {"choices":"` + big + `"}`, frames.ErrorServer, "1 MiB"},
		{"data lines without end", strings.Repeat("data: {\n", 700_000), frames.ErrorServer, "1 MiB"},
		{"too many arguments", strings.Repeat(call(`"index":0,"function":{"arguments":"`+big[:1<<19]+`"}`), 3), frames.ErrorServer, "arguments"},
		{"a call without a function", call(`"index":1,"id":"b","function":{"arguments":"{}"}`) + finish("tool_calls"), frames.ErrorServer, "no function"},
		{"tokens used up inside a call", call(`"index":1,"id":"b","function":{"name":"g","arguments":"{\"x"}`) + finish("length"), frames.ErrorInvalid, `"g"`},
		{"tokens used up before the arguments", call(`"index":1,"id":"b","function":{"name":"g"}`) + finish("length"), frames.ErrorInvalid, `"g"`},
		{"done before the finish reason of a call", doneEvent, frames.ErrorNetwork, "middle"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := play(t, io.EOF, begun+c.stream+"\n\n")
			e := wantError(t, r.Err, c.want)
			if !strings.Contains(e.Error(), c.text) {
				t.Errorf("%q does not contain %q", e, c.text)
			}
			if r.Text != "Hi" || r.Calls != nil || r.Finish != "" {
				t.Errorf("got %v", r)
			}
		})
	}
	t.Run("too many calls", func(t *testing.T) {
		var b strings.Builder
		for i := range 200 {
			b.WriteString(call(`"index":` + strconv.Itoa(i) + `,"function":{"name":"f"}`))
		}
		wantError(t, play(t, io.EOF, b.String()+finish("tool_calls")).Err, frames.ErrorServer)
	})
}

func TestResponsesThatAreNoStream(t *testing.T) {
	for _, c := range []struct {
		name, kind, body string
		want             frames.ErrorCategory
		text             string
	}{
		{"a web page", "text/html; charset=utf-8", "<html>Welcome</html>", frames.ErrorInvalid, "check that BaseURL"},
		{"a whole completion", "application/json", `{"choices":[{"message":{"content":"Hi"}}]}`, frames.ErrorInvalid, "application/json"},
		{"an error with status 200", "application/json", `{"error":{"message":"Slow","code":429}}`, frames.ErrorRateLimit, "Slow"},
		{"nothing", "text/event-stream", "", frames.ErrorNetwork, "ended in the middle"},
		{"only done", "text/event-stream", doneEvent, frames.ErrorNetwork, "ended in the middle"},
		{"garbage", "text/event-stream", strings.Repeat("\x00\xfe garbage\n", 1000), frames.ErrorNetwork, "ended in the middle"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newServer(t, reply(200, c.kind, c.body))
			r := collect(t.Context(), newModel(t, s.URL), ask("hello"))
			if e := wantError(t, r.Err, c.want); !strings.Contains(e.Error(), c.text) {
				t.Errorf("%q does not contain %q", e, c.text)
			}
		})
	}
}

func TestNetworkFailures(t *testing.T) {
	t.Run("nobody listens", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		address := l.Addr().String()
		_ = l.Close()
		e := wantError(t, collect(t.Context(), newModel(t, "http://"+address), ask("hello")).Err, frames.ErrorNetwork)
		if !strings.Contains(e.Error(), "cannot reach "+address) || !e.Retryable() {
			t.Error(e)
		}
	})
	t.Run("the connection breaks before the response", func(t *testing.T) {
		s := newServer(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
		wantError(t, collect(t.Context(), newModel(t, s.URL), ask("hello")).Err, frames.ErrorNetwork)
	})
	t.Run("the connection breaks inside the response", func(t *testing.T) {
		s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
			sse(delta(`"content":"Hi"`))(w, r)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		})
		r := collect(t.Context(), newModel(t, s.URL), ask("hello"))
		wantError(t, r.Err, frames.ErrorNetwork)
		if !errors.Is(r.Err, llm.ErrCut) || !errors.Is(r.Err, io.ErrUnexpectedEOF) || r.Text != "Hi" {
			t.Errorf("got %v, %v", r, r.Err)
		}
	})
	t.Run("the HTTP client times out before the response", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := newModel(t, "http://fake.test", func(c *openai.Config) {
				c.HTTPClient = &http.Client{Transport: silent{}, Timeout: time.Second}
			})
			wantError(t, collect(t.Context(), m, ask("hello")).Err, frames.ErrorTimeout)
		})
	})
}

// silent is a server that never answers.
type silent struct{}

func (silent) RoundTrip(req *http.Request) (*http.Response, error) {
	<-req.Context().Done()
	return nil, req.Context().Err()
}

func TestRequestsThatCannotBeSent(t *testing.T) {
	temperature := 0.0
	temperature /= temperature
	bad := frames.NewToolset(frames.Tool{Name: "good"}, frames.Tool{Name: "bad", Parameters: []byte(`{"type":`)})
	one := frames.NewToolset(frames.Tool{Name: "good"})
	for name, change := range map[string]func(*llm.Request){
		"empty":              func(r *llm.Request) { r.Context = frames.Snapshot{} },
		"not a number":       func(r *llm.Request) { r.Temperature = &temperature },
		`of tool "bad"`:      func(r *llm.Request) { r.Context.Tools = bad },
		`tool choice "gone"`: func(r *llm.Request) { r.Context.Tools, r.Context.Choice = one, "gone" },
	} {
		m := newModel(t, "http://fake.test", withTransport(unreachable{t}))
		req := ask("hello")
		change(req)
		if e := wantError(t, collect(t.Context(), m, req).Err, frames.ErrorInvalid); !strings.Contains(e.Error(), name) {
			t.Errorf("%q does not contain %q", e, name)
		}
	}
}

type unreachable struct{ t *testing.T }

func (u unreachable) RoundTrip(*http.Request) (*http.Response, error) {
	u.t.Error("a request was sent")
	return nil, errors.New("no")
}

func TestDeadlineAndCauseAreToldApart(t *testing.T) {
	why := errors.New("the user left")
	synctest.Test(t, func(t *testing.T) {
		m := newModel(t, "http://fake.test", withTransport(silent{}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		e := wantError(t, collect(ctx, m, ask("hello")).Err, frames.ErrorTimeout)
		if !errors.Is(e, context.DeadlineExceeded) {
			t.Error(e)
		}
		ctx2, stop := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { stop(why) })
		e = wantError(t, collect(ctx2, m, ask("hello")).Err, frames.ErrorInternal)
		if !errors.Is(e, context.Canceled) || !errors.Is(e, why) || e.Retryable() {
			t.Error(e)
		}
	})
}
