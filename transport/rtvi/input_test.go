package rtvi_test

import (
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/transport/rtvi"
)

// inputOf makes an Input whose frames are collected.
func inputOf(t testing.TB) (*rtvi.Input, *client, *[]frames.Frame) {
	c := &client{t: t}
	var queued []frames.Frame
	in, err := rtvi.NewInput(rtvi.InputConfig{Sender: c, MaxText: 1000, Queue: func(f frames.Frame) error {
		if a, ok := f.(*frames.InputAudioFrame); ok {
			f = a.Clone()
		}
		queued = append(queued, f)
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return in, c, &queued
}

// message wraps a type and its data.
func message(typ, data string) string {
	if data != "" {
		data = `,"data":` + data
	}
	return fmt.Sprintf(`{"label":"rtvi-ai","type":%q,"id":"r1"%s}`, typ, data)
}

func TestMessagesBecomeFrames(t *testing.T) {
	tests := []struct {
		name, typ, data string
		want            frames.Frame
	}{
		{"typed text interrupts and is answered", "send-text", `{"content":"hi"}`, &frames.UserTextFrame{Text: "hi"}},
		{"options at their defaults say the same", "send-text", `{"content":"hi","options":{"run_immediately":true,"audio_response":true}}`, &frames.UserTextFrame{Text: "hi"}},
		{"text that is not to run does not interrupt", "send-text", `{"content":"hi","options":{"run_immediately":false}}`, &frames.UserTextFrame{Text: "hi", Quiet: true, NoRun: true}},
		{"text may ask for a silent answer", "send-text", `{"content":"hi","options":{"audio_response":false}}`, &frames.UserTextFrame{Text: "hi", SkipSpeech: true}},
		{"an application's message", "client-message", `{"t":"zoom","d":{"level":2}}`, &frames.ClientMessageFrame{ID: "r1", Type: "zoom", Data: []byte(`{"level":2}`)}},
		{"an application's message without content", "client-message", `{"t":"zoom"}`, &frames.ClientMessageFrame{ID: "r1", Type: "zoom"}},
		{"the wish to end", "disconnect-bot", ``, &frames.EndFrame{Reason: "the client asked for it"}},
		{"the wish to end, with empty data", "disconnect-bot", `{}`, &frames.EndFrame{Reason: "the client asked for it"}},
		{"keys", "dtmf", `{"buttons":["1","#"]}`, &frames.DTMFFrame{Buttons: []string{"1", "#"}}},
		{"a key as 2.0 sends it", "dtmf", `{"button":"*"}`, &frames.DTMFFrame{Buttons: []string{"*"}}},
		{"a result of a tool in the client", "llm-function-call-result", `{"function_name":"f","tool_call_id":"c1","arguments":{"a":1},"result":{"ok":false}}`, &frames.FunctionResultFrame{CallID: "c1", Name: "f", Result: []byte(`{"ok":false}`)}},
		{"a falsy result is a result", "llm-function-call-result", `{"function_name":"f","tool_call_id":"c1","result":0}`, &frames.FunctionResultFrame{CallID: "c1", Name: "f", Result: []byte(`0`)}},
		{"an absent result is null", "llm-function-call-result", `{"function_name":"f","tool_call_id":"c1"}`, &frames.FunctionResultFrame{CallID: "c1", Name: "f", Result: []byte(`null`)}},
		{"an event of the page", "ui-event", `{"event":"click"}`, &frames.ClientMessageFrame{ID: "r1", Type: "ui-event", Data: []byte(`{"event":"click"}`)}},
		{"a picture of the page", "ui-snapshot", `{"tree":{}}`, &frames.ClientMessageFrame{ID: "r1", Type: "ui-snapshot", Data: []byte(`{"tree":{}}`)}},
		{"a job group given up", "ui-cancel-job-group", `{"job_id":"j"}`, &frames.ClientMessageFrame{ID: "r1", Type: "ui-cancel-job-group", Data: []byte(`{"job_id":"j"}`)}},
		{"audio in base64", "raw-audio", `{"base64Audio":"AQACAA==","sampleRate":16000,"numChannels":1}`, &frames.InputAudioFrame{PCM: frames.PCM{Samples: []int16{1, 2}, Rate: 16000, Channels: 1}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in, c, queued := inputOf(t)
			if err := in.Message([]byte(message(tt.typ, tt.data))); err != nil {
				t.Fatal(err)
			}
			c.is("")
			if len(*queued) != 1 || !reflect.DeepEqual((*queued)[0], tt.want) {
				t.Errorf("queued %+v, want %+v", *queued, tt.want)
			}
		})
	}
}

func TestRequestsThatCannotBeActedOnAreRefused(t *testing.T) {
	tests := []struct{ name, typ, data, says string }{
		{"an unknown type", "sing", `{}`, "Unsupported message type: sing"},
		{"a deprecated type", "append-to-context", `{"role":"user","content":"x"}`, "Unsupported message type"},
		{"a type of the other direction", "bot-ready", `{}`, "Unsupported message type"},
		{"a very long type", strings.Repeat("x", 5000), `{}`, "…"},
		{"text without data", "send-text", ``, "needs data"},
		{"empty text", "send-text", `{"content":" \n"}`, "not empty"},
		{"text that is too long", "send-text", `{"content":"` + strings.Repeat("x", 1001) + `"}`, "too long"},
		{"data of another form", "send-text", `[1]`, "form of the protocol"},
		{"text that is a number", "send-text", `{"content":7}`, "form of the protocol"},
		{"no keys", "dtmf", `{"buttons":[]}`, "1 to 64 buttons"},
		{"too many keys", "dtmf", `{"buttons":[` + strings.Repeat(`"1",`, 99) + `"1"]}`, "1 to 64 buttons"},
		{"keys that no telephone has", "dtmf", `{"buttons":["1","12"]}`, "not a button"},
		{"a result of no call", "llm-function-call-result", `{"function_name":"f","result":1}`, "tool_call_id"},
		{"audio that is not base64", "raw-audio", `{"base64Audio":"?","sampleRate":16000,"numChannels":1}`, "form of the protocol"},
		{"audio at an odd rate", "raw-audio", `{"base64Audio":"AQA=","sampleRate":7,"numChannels":1}`, "sample rate of 7"},
		{"audio of many channels", "raw-audio", `{"base64Audio":"AQA=","sampleRate":16000,"numChannels":9}`, "9 channels"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in, c, queued := inputOf(t)
			if err := in.Message([]byte(message(tt.typ, tt.data))); err != nil {
				t.Fatal(err)
			}
			got := c.take()
			if len(got) != 1 || got[0].Type != rtvi.TypeErrorResponse || got[0].ID != "r1" || !strings.Contains(string(got[0].Data), tt.says) {
				t.Errorf("answered %s, want an error-response to r1 that says %q", brief(got), tt.says)
			}
			if len(*queued) != 0 {
				t.Errorf("queued %+v", *queued)
			}
			if len(got) == 1 && len(got[0].Data) > 300 {
				t.Errorf("the answer repeats the request: %d bytes", len(got[0].Data))
			}
		})
	}
}

func TestMalformedMessagesAreRefusedWithoutID(t *testing.T) {
	for _, raw := range []string{"", "hello", "[]", `{"label":"rtvi-ai"}`, "{\"label\":\"rtvi-ai\",\"type\":\"\xff\"}"} {
		in, c, queued := inputOf(t)
		if err := in.Message([]byte(raw)); err != nil {
			t.Fatal(err)
		}
		got := c.take()
		if len(got) != 1 || got[0].Type != rtvi.TypeErrorResponse || got[0].ID != "" || len(*queued) != 0 {
			t.Errorf("%q: answered %s, queued %v", raw, brief(got), *queued)
		}
	}
}

func TestMalformedMessagesAreToldWhatIsWrongWithThem(t *testing.T) {
	for raw, want := range map[string]string{
		`{"label":"rtvi-ai"}`:                                                    "it has no type",
		`{"label":"rtvi-ai","type":"x","id":7}`:                                  "its id must be a string, not: number",
		`{"label":"rtvi-ai","type":["x"]}`:                                       "its type must be a string, not: array",
		`{"label":"rtvi-ai","type":"x","id":"` + strings.Repeat("i", 300) + `"}`: "its id is longer than 256 bytes",
		"{\"label\":\"\xff\"}":                                                   "not UTF-8",
		"hello":                                                                  "it must be a JSON object with label, type and data",
		"[]":                                                                     "it must be a JSON object with label, type and data",
	} {
		in, c, _ := inputOf(t)
		if err := in.Message([]byte(raw)); err != nil {
			t.Fatal(err)
		}
		if got := c.take(); len(got) != 1 || !strings.Contains(string(got[0].Data), want) {
			t.Errorf("%.60q: answered %s, not %q", raw, brief(got), want)
		}
	}
}

func TestOtherProtocolsAreIgnoredWithOneWarning(t *testing.T) {
	c := &client{t: t}
	var log strings.Builder
	in, err := rtvi.NewInput(rtvi.InputConfig{
		Sender: c, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		Queue: func(f frames.Frame) error { t.Errorf("queued %T", f); return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		if err := in.Message([]byte(`{"label":"other","type":"ping"}`)); err != nil {
			t.Fatal(err)
		}
	}
	c.is("")
	if n := strings.Count(log.String(), "\n"); n != 1 || !strings.Contains(log.String(), "label=other") {
		t.Errorf("%d lines in the log: %s", n, log.String())
	}
}

func TestClientReadyAnnouncesTheClientOnce(t *testing.T) {
	in, c, queued := inputOf(t)
	if in.Ready() {
		t.Error("ready before client-ready")
	}
	ready := message("client-ready", `{"version":"2.1.0","about":{"library":"lib","library_version":"1.2","platform_details":{"x":1}}}`)
	for range 2 {
		if err := in.Message([]byte(ready)); err != nil {
			t.Fatal(err)
		}
	}
	c.is("")
	kinds := make([]string, len(*queued))
	for i, f := range *queued {
		kinds[i] = fmt.Sprintf("%T", f)
	}
	want := []string{"*rtvi.ClientReadyFrame", "*frames.ClientConnectedFrame", "*rtvi.ClientReadyFrame"}
	if !slices.Equal(kinds, want) {
		t.Fatalf("queued %v, want %v", kinds, want)
	}
	f := (*queued)[0].(*rtvi.ClientReadyFrame)
	if f.ID != "r1" || f.Version != "2.1.0" || f.About.Library != "lib" {
		t.Errorf("got %+v", f)
	}
	if about := (*queued)[1].(*frames.ClientConnectedFrame).About; about != "lib 1.2" {
		t.Errorf("about is %q", about)
	}
	if !in.Ready() || in.Answered() {
		t.Errorf("ready %v, answered %v", in.Ready(), in.Answered())
	}
	f.Answered()
	if !in.Answered() {
		t.Error("not answered")
	}
}

func TestUnknownVersionsAreRefusedAndGoOn(t *testing.T) {
	for _, data := range []string{`{"version":"9.0.0"}`, `{"version":"x"}`, `{}`, `[]`, ``} {
		in, c, queued := inputOf(t)
		if err := in.Message([]byte(message("client-ready", data))); err != nil {
			t.Fatal(err)
		}
		got := c.take()
		if len(got) != 1 || got[0].Type != rtvi.TypeErrorResponse || got[0].ID != "r1" {
			t.Errorf("%s: answered %s", data, brief(got))
		}
		if len(*queued) != 2 {
			t.Errorf("%s: queued %v", data, *queued)
		}
	}
}

func TestAudioMayBeCutAnywhere(t *testing.T) {
	in, c, queued := inputOf(t)
	var samples []int16
	for _, piece := range [][]byte{{1}, {0, 2}, {0}, {}, {0xff, 0xff, 3}, {0}} {
		*queued = nil
		if err := in.Audio(piece, 16000, 0); err != nil {
			t.Fatal(err)
		}
		for _, f := range *queued {
			a := f.(*frames.InputAudioFrame)
			if a.Rate != 16000 || a.Channels != 1 {
				t.Errorf("got %d Hz, %d channels", a.Rate, a.Channels)
			}
			samples = append(samples, a.Samples...)
		}
	}
	if want := []int16{1, 2, -1, 3}; !slices.Equal(samples, want) {
		t.Errorf("got %v, want %v", samples, want)
	}
	c.is("")
}

func TestAudioOfImpossibleFormIsIgnored(t *testing.T) {
	in, c, queued := inputOf(t)
	for _, form := range [][2]int{{0, 1}, {1 << 30, 1}, {16000, 3}, {16000, -1}} {
		if err := in.Audio([]byte{0, 0}, form[0], form[1]); err != nil {
			t.Fatal(err)
		}
	}
	c.is("")
	if len(*queued) != 0 {
		t.Errorf("queued %v", *queued)
	}
}

func TestBatchesOfAudioKeepTheirOrder(t *testing.T) {
	in, _, queued := inputOf(t)
	data := `{"base64AudioBatch":["AQA=","AgA=","AwA="],"sampleRate":16000,"numChannels":1}`
	if err := in.Message([]byte(message("raw-audio-batch", data))); err != nil {
		t.Fatal(err)
	}
	var samples []int16
	for _, f := range *queued {
		samples = append(samples, f.(*frames.InputAudioFrame).Samples...)
	}
	if !slices.Equal(samples, []int16{1, 2, 3}) {
		t.Errorf("got %v", samples)
	}
}

func TestTheEndOfTheSessionEndsTheReading(t *testing.T) {
	over := errors.New("over")
	in, err := rtvi.NewInput(rtvi.InputConfig{Sender: &client{t: t}, Queue: func(frames.Frame) error { return over }})
	if err != nil {
		t.Fatal(err)
	}
	if err := in.Message([]byte(message("send-text", `{"content":"hi"}`))); !errors.Is(err, over) {
		t.Errorf("got %v", err)
	}
	if err := in.Audio([]byte{0, 0}, 16000, 1); !errors.Is(err, over) {
		t.Errorf("got %v", err)
	}
}

func TestNewInputNamesWhatIsMissing(t *testing.T) {
	queue := func(frames.Frame) error { return nil }
	for field, cfg := range map[string]rtvi.InputConfig{
		"Sender":  {Queue: queue},
		"Queue":   {Sender: &client{}},
		"MaxText": {Sender: &client{}, Queue: queue, MaxText: -1},
	} {
		if _, err := rtvi.NewInput(cfg); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: got %v", field, err)
		}
	}
}

// FuzzInput checks that whatever a client sends is acted on, refused or ignored,
// and never more than one of them.
func FuzzInput(f *testing.F) {
	for _, s := range []string{
		message("client-ready", `{"version":"2.1.0"}`), message("send-text", `{"content":"x"}`),
		message("raw-audio-batch", `{"base64AudioBatch":["AQA="],"sampleRate":16000}`), message("dtmf", `{"button":"1"}`),
		message("disconnect-bot", ""), message("client-message", `null`), message("llm-function-call-result", `{"tool_call_id":"x"}`),
		`{}`, `null`, "\x00", `{"label":"x"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		in, c, queued := inputOf(t)
		if err := in.Message(raw); err != nil {
			t.Fatal(err)
		}
		got := c.take()
		if len(got) > 1 {
			t.Fatalf("%q: %d answers", raw, len(got))
		}
		if len(got) == 1 && len(*queued) > 0 && !in.Ready() {
			t.Fatalf("%q was acted on and refused", raw)
		}
	})
}
