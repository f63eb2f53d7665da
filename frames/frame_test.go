package frames_test

import (
	"testing"
	"time"

	"github.com/turnwise/turnwise/frames"
)

func TestEachClassSaysWhatAnInterruptionDoesToIt(t *testing.T) {
	for _, c := range []struct {
		frame            frames.Frame
		system, survives bool
		name             string
	}{
		{&frames.StartFrame{}, true, true, "system"},
		{&frames.UserTextFrame{}, true, true, "system"},
		{&frames.LLMResponseStartFrame{}, false, false, "control"},
		{&frames.TextFrame{}, false, false, "data"},
		{&frames.EndFrame{}, false, true, "control (uninterruptible)"},
		{&frames.LLMRunFrame{}, false, true, "control (uninterruptible)"},
		{&frames.MarkFrame{}, false, false, "control"},
		{&frames.MarkFrame{Keep: true}, false, true, "control (uninterruptible)"},
	} {
		class := c.frame.Class()
		if class.IsSystem() != c.system || class.Survives() != c.survives || class.String() != c.name {
			t.Errorf("%T is %s: system %t, survives %t", c.frame, class, class.IsSystem(), class.Survives())
		}
	}
	if name := frames.Class(0).String(); name != "unknown" {
		t.Errorf("no class is called %q", name)
	}
}

func TestTypedTextAndSpeechInterruptUnlessTheyAreQuiet(t *testing.T) {
	for _, c := range []struct {
		frame frames.Interrupting
		want  bool
	}{
		{&frames.UserTextFrame{}, true}, {&frames.UserTextFrame{Quiet: true}, false},
		{&frames.UserStartedSpeakingFrame{}, true}, {&frames.UserStartedSpeakingFrame{Quiet: true}, false},
	} {
		if reason, ok := c.frame.Interrupts(); ok != c.want || reason == "" {
			t.Errorf("%+v interrupts: %t, because of %q", c.frame, ok, reason)
		}
	}
}

func TestAFrameIsStampedOnceAndMayBeMadeNew(t *testing.T) {
	f := &frames.TextFrame{Text: "x"}
	h := f.Header()
	if h.Stamped() || h.Turn() != 0 {
		t.Error("a new frame is stamped")
	}
	h.Stamp(3)
	h.Trail().Settled = true
	if !h.Stamped() || h.Turn() != 3 {
		t.Error("the stamp was lost")
	}
	h.Unstamp()
	if h.Stamped() || h.Turn() != 0 || h.Trail().Settled {
		t.Error("the frame is not as new")
	}
}

func TestAMarkReportsOnce(t *testing.T) {
	for _, first := range []string{"arrive", "drop"} {
		reached, lost := 0, 0
		m := &frames.MarkFrame{Reached: func() { reached++ }, Lost: func() { lost++ }}
		if first == "drop" {
			m.Dropped()
		}
		m.Arrive()
		m.Dropped()
		m.Arrive()
		if reached+lost != 1 || (first == "drop") != (lost == 1) {
			t.Errorf("%s first: reached %d times, lost %d times", first, reached, lost)
		}
	}
	(&frames.MarkFrame{}).Arrive()
	(&frames.MarkFrame{}).Dropped()
}

func TestAudioKnowsItsDuration(t *testing.T) {
	for _, c := range []struct {
		samples, rate, channels int
		want                    time.Duration
	}{
		{320, 16000, 1, 20 * time.Millisecond},
		{320, 16000, 0, 20 * time.Millisecond},
		{1920, 48000, 2, 20 * time.Millisecond},
		{8000, 8000, 1, time.Second},
		{100, 0, 1, 0},
	} {
		p := frames.PCM{Samples: make([]int16, c.samples), Rate: c.rate, Channels: c.channels}
		if got := p.Duration(); got != c.want {
			t.Errorf("%d samples, %d channels at %d Hz last %s, want %s", c.samples, c.channels, c.rate, got, c.want)
		}
	}
}

func TestACloneOfLiveAudioStaysValid(t *testing.T) {
	f := &frames.InputAudioFrame{PCM: frames.PCM{Samples: []int16{1, 2}, Rate: 8000, Channels: 1}}
	f.Header().Stamp(3)
	c := f.Clone()
	f.Samples[0] = 9
	if c.Samples[0] != 1 || c.Rate != 8000 || c.Header().Stamped() {
		t.Errorf("the clone is %+v", c)
	}
}
