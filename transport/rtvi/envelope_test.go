package rtvi_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/turnwise/turnwise/transport/rtvi"
)

func TestDecodeReadsAnEnvelope(t *testing.T) {
	e, err := rtvi.Decode([]byte(`{"label":"rtvi-ai","type":"client-message","id":"7","data":{"t":"x","d":[1]},"new":true}`))
	if err != nil || e.Type != rtvi.TypeClientMessage || e.ID != "7" || string(e.Data) != `{"t":"x","d":[1]}` {
		t.Errorf("got %+v, %v", e, err)
	}
}

func TestDecodeRefuses(t *testing.T) {
	tests := []struct {
		name, raw string
		want      error
	}{
		{"nothing", ``, rtvi.ErrMalformed},
		{"no JSON", `hello`, rtvi.ErrMalformed},
		{"an array", `[1]`, rtvi.ErrMalformed},
		{"a cut message", `{"label":"rtvi-ai","type":"send-te`, rtvi.ErrMalformed},
		{"two messages in one", `{"label":"rtvi-ai","type":"a"}{"label":"rtvi-ai","type":"b"}`, rtvi.ErrMalformed},
		{"no type", `{"label":"rtvi-ai"}`, rtvi.ErrMalformed},
		{"a type that is no text", `{"label":"rtvi-ai","type":1}`, rtvi.ErrMalformed},
		{"an id that is no text", `{"label":"rtvi-ai","type":"x","id":1}`, rtvi.ErrMalformed},
		{"a very long id", `{"label":"rtvi-ai","type":"x","id":"` + strings.Repeat("i", 300) + `"}`, rtvi.ErrMalformed},
		{"bytes that are no UTF-8", "{\"label\":\"rtvi-ai\",\"type\":\"\xff\"}", rtvi.ErrMalformed},
		{"deep nesting", `{"label":"rtvi-ai","type":"x","data":` + strings.Repeat("[", 20000), rtvi.ErrMalformed},
		{"another protocol", `{"label":"other","type":"x"}`, rtvi.ErrForeign},
		{"no label", `{"type":"ping"}`, rtvi.ErrForeign},
		{"a message that is too large", strings.Repeat(" ", rtvi.MaxMessage+1), rtvi.ErrTooLarge},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if e, err := rtvi.Decode([]byte(tt.raw)); !errors.Is(err, tt.want) {
				t.Errorf("got %+v, %v, want %v", e, err, tt.want)
			}
		})
	}
}

func TestAppendLeavesOutWhatIsAbsent(t *testing.T) {
	got, err := rtvi.Append(nil, rtvi.TypeBotInterrupted, "", nil)
	if err != nil || string(got) != `{"label":"rtvi-ai","type":"bot-interrupted"}` {
		t.Errorf("got %s, %v", got, err)
	}
	got, err = rtvi.Append(nil, rtvi.TypeBotReady, "ab12", rtvi.BotReady{Version: rtvi.Version})
	if err != nil || string(got) != `{"label":"rtvi-ai","type":"bot-ready","id":"ab12","data":{"version":"2.1.0"}}` {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestAppendSaysWhatCannotBeEncoded(t *testing.T) {
	if _, err := rtvi.Append(nil, rtvi.TypeServerMessage, "", func() {}); err == nil || !strings.Contains(err.Error(), "server-message") {
		t.Errorf("got %v", err)
	}
}

// FuzzEnvelope checks that whatever decodes is encoded to what decodes to the same,
// and that texts survive the hand-written encoder.
func FuzzEnvelope(f *testing.F) {
	for _, s := range []string{
		`{"label":"rtvi-ai","type":"client-ready","id":"a","data":{"version":"2.1.0","about":{"library":"x"}}}`,
		`{"label":"rtvi-ai","type":"send-text","id":"\u2028\"","data":{"content":"grüß dich 🙂"}}`,
		`{"label":"rtvi-ai","type":"dtmf","data":null}`, `{"label":"other"}`, `[]`, `{`, "\xff\xfe", `"\ud800"`,
		`{"LABEL":"rtvi-ai","Type":"x","label":"rtvi-ai"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		roundTrip(t, string(raw))
		e, err := rtvi.Decode(raw)
		if err != nil {
			return
		}
		var data any
		if e.Data != nil {
			data = e.Data
		}
		again, err := rtvi.Append(nil, e.Type, e.ID, data)
		if err != nil {
			t.Fatalf("%q does not encode again: %v", raw, err)
		}
		e2, err := rtvi.Decode(again)
		if err != nil || e2.Type != e.Type || e2.ID != e.ID || !sameJSON(e.Data, e2.Data) {
			t.Fatalf("%q became %q: %+v, %v", raw, again, e2, err)
		}
	})
}

func sameJSON(a, b json.RawMessage) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	ja, _ := json.Marshal(x)
	jb, _ := json.Marshal(y)
	return string(ja) == string(jb)
}

// roundTrip sends any bytes as an error's text.
func roundTrip(t *testing.T, text string) {
	msg := rtvi.AppendError(nil, text, true)
	if !utf8.Valid(msg) {
		t.Fatalf("%q is sent as %q, which is not UTF-8", text, msg)
	}
	e, err := rtvi.Decode(msg)
	if err != nil {
		if errors.Is(err, rtvi.ErrTooLarge) {
			return
		}
		t.Fatalf("%q is sent as %q: %v", text, msg, err)
	}
	var d rtvi.Failure
	if err := json.Unmarshal(e.Data, &d); err != nil || !d.Fatal {
		t.Fatalf("%q is sent as %q: %v", text, msg, err)
	}
	reference, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	var want string
	if err := json.Unmarshal(reference, &want); err != nil {
		t.Fatal(err)
	}
	if d.Error != want {
		t.Fatalf("%q arrives as %q, want %q", text, d.Error, want)
	}
}
