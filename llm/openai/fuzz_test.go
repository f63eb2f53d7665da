package openai_test

import (
	"io"
	"strings"
	"testing"

	"github.com/turnwise/turnwise/llm"
)

// FuzzStream feeds any bytes as a response. Whatever they are, reading them ends,
// with either an error or a finish reason, and calls only come with the latter;
// and how the bytes are split makes no difference.
func FuzzStream(f *testing.F) {
	f.Add([]byte(twoCalls), uint16(100))
	f.Add([]byte(delta(`"content":"Hi"`)+finish("stop")), uint16(3))
	f.Add([]byte(`data: {"error":{"message":["x"]}}`), uint16(0))
	f.Fuzz(func(t *testing.T, stream []byte, split uint16) {
		at := min(int(split), len(stream))
		r := play(t, io.EOF, string(stream))
		switch {
		case r.Err == nil && r.Finish == "":
			t.Error("neither an error nor an end")
		case r.Err != nil && (r.Finish != "" || len(r.Calls) > 0):
			t.Errorf("an error and yet %v", r)
		case r.Err == nil && r.Finish == llm.FinishContent && len(r.Calls) > 0:
			t.Errorf("calls of a filtered response: %v", r)
		}
		for _, c := range r.Calls {
			if c.Name == "" || c.ID == "" {
				t.Errorf("call without a name or an id: %+v", c)
			}
		}
		again := play(t, io.EOF, string(stream[:at]), string(stream[at:]))
		if !same(r, again) {
			t.Errorf("split at %d:\n%v, %v\n%v, %v", at, r, r.Err, again, again.Err)
		}
	})
}

// same compares all but the ids, which may be random.
func same(a, b result) bool {
	if a.Text != b.Text || a.Finish != b.Finish || len(a.Calls) != len(b.Calls) || (a.Err == nil) != (b.Err == nil) {
		return false
	}
	if a.Err != nil && a.Err.Error() != b.Err.Error() {
		return false
	}
	for i := range a.Calls {
		if a.Calls[i].Name != b.Calls[i].Name || string(a.Calls[i].Args) != string(b.Calls[i].Args) {
			return false
		}
	}
	return true
}

// FuzzErrorBody feeds any bytes as an error's body: the error's text stays fit
// for a log.
func FuzzErrorBody(f *testing.F) {
	f.Add([]byte(`{"error":{"message":"sk-very-secret-key","code":429}}`), uint16(400))
	f.Add([]byte("<html>\x1b[31m</html>"), uint16(502))
	f.Add([]byte(`[{"error":"x"}]`), uint16(503))
	f.Fuzz(func(t *testing.T, body []byte, status uint16) {
		code := 400 + int(status)%200
		r := playStatus(t, code, body)
		if r.Err == nil {
			t.Fatal("no error")
		}
		text := r.Err.Error()
		if len(text) > 600 || strings.ContainsAny(text, "\r\n\x00\x1b") || strings.Contains(text, "sk-very-secret-key") {
			t.Errorf("%q", text)
		}
	})
}
