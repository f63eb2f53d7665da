package caller_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/vad"
	"github.com/turnwise/turnwise/examples/tablebooking/booking"
	"github.com/turnwise/turnwise/internal/caller"
	"github.com/turnwise/turnwise/llm/offline"
	"github.com/turnwise/turnwise/server"
	"github.com/turnwise/turnwise/speech/speechtest"
	"github.com/turnwise/turnwise/transport/webrtc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve starts a server that takes calls and hears the words in them.
func serve(t *testing.T, words string) string {
	t.Helper()
	flow := booking.New(booking.Config{})
	srv, err := server.New(server.Config{
		Bot: &server.FlowBot{Model: offline.New(offline.Config{}), Start: flow.Start, Nodes: flow.Nodes()},
		Voice: func() server.Voice {
			return server.Voice{
				Recognizer: speechtest.Always(words), Synthesizer: speechtest.Humming{Word: 250 * time.Millisecond},
				Detector: func() (vad.Detector, error) { return vad.NewEnergy(16000) },
				WebRTC:   webrtc.Config{Loopback: true, Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}},
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	hs := httptest.NewServer(srv.Handler())
	t.Cleanup(func() {
		srv.Drain(context.Background(), 0)
		hs.Close()
	})
	return hs.URL
}

// tape is a recording in memory.
type tape struct{ left, right []int16 }

func (r *tape) Write(samples []int16) error {
	for i := 0; i < len(samples); i += 2 {
		r.left, r.right = append(r.left, samples[i]), append(r.right, samples[i+1])
	}
	return nil
}

// sounds is how much of a side can be heard.
func sounds(side []int16) (d time.Duration) {
	for part := range slices.Chunk(side, caller.Rate/50) {
		if audio.Level(part) > -50 {
			d += 20 * time.Millisecond
		}
	}
	return d
}

// said joins what somebody said in a call.
func said(r *caller.Report, who caller.Who) string {
	var out []string
	for _, l := range r.Lines {
		if l.Who == who {
			out = append(out, strings.TrimSpace(l.Text))
		}
	}
	return strings.Join(out, " | ")
}

func TestASpokenTurnIsAnsweredMeasuredAndRecorded(t *testing.T) {
	recording := &tape{}
	var told int
	report, err := caller.Call(t.Context(), caller.Config{
		URL: serve(t, "a table for four"), Record: recording, OnLine: func(caller.Line) { told++ },
		Turns: []caller.Turn{{Name: "hum.wav", Samples: append(speechtest.Hum(caller.Rate, 300, time.Second), make([]int16, caller.Rate/2)...)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := said(report, caller.You); got != "a table for four" {
		t.Errorf("the caller was heard to say %q", got)
	}
	if got := said(report, caller.Bot); !strings.Contains(got, "Would you like to book a table?") || !strings.Contains(got, "Which day") {
		t.Errorf("the bot said %q", got)
	}
	if got := said(report, caller.Node); got != "greeting | date_time" {
		t.Errorf("the nodes were %q", got)
	}
	if told != len(report.Lines) {
		t.Errorf("%d of %d lines were told as they came", told, len(report.Lines))
	}
	if len(report.Replies) != 2 || report.Replies[0].Turn != "greeting" || report.Replies[1].Turn != "hum.wav" {
		t.Fatalf("the answers are %v", report.Replies)
	}
	// The trailing silence of the turn is not counted as speech.
	if took := report.Replies[1].Latency; took <= 0 || took > 10*time.Second {
		t.Errorf("the answer took %s", took)
	}
	if report.SetUp <= 0 || report.HungUp {
		t.Errorf("set up in %s, hung up: %v", report.SetUp, report.HungUp)
	}
	if mine := sounds(recording.left); mine < 900*time.Millisecond || mine > 1100*time.Millisecond {
		t.Errorf("%s of the caller's second is recorded", mine)
	}
	if its := sounds(recording.right); its < 3*time.Second {
		t.Errorf("%s of the bot is recorded", its)
	}
}

func TestATypedTurnIsAnsweredAloud(t *testing.T) {
	report, err := caller.Call(t.Context(), caller.Config{
		URL: serve(t, ""), Turns: []caller.Turn{{Name: "typed", Text: "a table for two"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := said(report, caller.You); got != "a table for two" {
		t.Errorf("the caller said %q", got)
	}
	if len(report.Replies) != 2 || report.Replies[1].Latency <= 0 {
		t.Errorf("the answers are %v", report.Replies)
	}
}

func TestACallThatFailsSaysWhy(t *testing.T) {
	chat, err := server.New(server.Config{Bot: &server.FlowBot{Model: offline.New(offline.Config{}), Start: booking.New(booking.Config{}).Start}})
	if err != nil {
		t.Fatal(err)
	}
	mute := httptest.NewServer(chat.Handler())
	defer mute.Close()
	for _, c := range []struct {
		name string
		cfg  caller.Config
		want error
		says string
	}{
		{"no address", caller.Config{URL: "localhost:8080"}, caller.ErrConnect, "http"},
		{"nobody there", caller.Config{URL: "http://127.0.0.1:1"}, caller.ErrConnect, "refused"},
		{"a server that takes no calls", caller.Config{URL: mute.URL}, caller.ErrConnect, "made for chat"},
		{
			"a bot that hears nothing",
			caller.Config{URL: serve(t, ""), Patience: 3 * time.Second, Turns: []caller.Turn{{Name: "hum", Samples: speechtest.Hum(caller.Rate, 300, time.Second)}}},
			caller.ErrSilent, "hum within 3s",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			report, err := caller.Call(t.Context(), c.cfg)
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) || report == nil {
				t.Errorf("got %v, not %v with %q", err, c.want, c.says)
			}
		})
	}
}
