package speech_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
	"github.com/turnwise/turnwise/pipeline/pipelinetest"
	"github.com/turnwise/turnwise/speech"
)

// hearing is a scripted recognizer: run by run it does what the script says.
type hearing struct {
	script func(run int, ctx context.Context, in *speech.Audio, emit func(speech.Transcript) error) error

	mu    sync.Mutex
	begun []time.Time
}

func (h *hearing) Rate() int              { return rate }
func (h *hearing) Latency() time.Duration { return 500 * time.Millisecond }

func (h *hearing) Recognize(ctx context.Context, in *speech.Audio, emit func(speech.Transcript) error) error {
	h.mu.Lock()
	h.begun = append(h.begun, time.Now())
	run := len(h.begun)
	h.mu.Unlock()
	return h.script(run, ctx, in, emit)
}

func (h *hearing) runs() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.begun)
}

// count says how much it was given between the marks, in samples, and the first of
// them: "speech 3200 from 100".
func count(ctx context.Context, in *speech.Audio, emit func(speech.Transcript) error) error {
	n, first, last, before := 0, int16(0), int16(0), 0
	for {
		e, err := in.Next(ctx)
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case e.Mark == speech.SpeechStarted:
			before, n, first = n, 0, 0
		case e.Mark == speech.SpeechStopped:
			if err := emit(speech.Transcript{Text: fmt.Sprintf("before %d, speech %d from %d to %d", before, n, first, last), Final: true}); err != nil {
				return err
			}
			n = 0
		default:
			if n == 0 {
				first = e.Samples[0]
			}
			last = e.Samples[len(e.Samples)-1]
			n += len(e.Samples)
		}
	}
}

// mouth feeds a recognition.
type mouth struct {
	*pipelinetest.Session
	next int16
	errs []*frames.ErrorFrame
}

func open(t *testing.T, cfg speech.RecognitionConfig) *mouth {
	m := &mouth{}
	m.Session = pipelinetest.Start(t, pipeline.Params{OnError: func(f *frames.ErrorFrame) { m.errs = append(m.errs, f) }},
		must(speech.NewRecognition(cfg)))
	synctest.Wait()
	return m
}

// sound sends audio in real time, samples counting up.
func (m *mouth) sound(d time.Duration) {
	for ; d > 0; d -= 20 * time.Millisecond {
		s := make([]int16, rate/50)
		for i := range s {
			m.next++
			s[i] = m.next
		}
		m.Send(&frames.InputAudioFrame{PCM: frames.PCM{Samples: s, Rate: rate, Channels: 1}})
		time.Sleep(20 * time.Millisecond)
		synctest.Wait()
	}
}

func (m *mouth) speak(d time.Duration) {
	m.Send(&frames.VADStartedFrame{})
	m.sound(d)
	m.Send(&frames.VADStoppedFrame{})
	synctest.Wait()
}

func (m *mouth) heard() []string {
	var out []string
	for _, f := range pipelinetest.Only[*frames.TranscriptionFrame](m.Out().Down) {
		out = append(out, f.Text)
	}
	return out
}

func TestARecognizerHearsEverythingBetweenTheMarks(t *testing.T) {
	virtual(t, func(t *testing.T) {
		h := &hearing{script: func(_ int, ctx context.Context, in *speech.Audio, emit func(speech.Transcript) error) error {
			return count(ctx, in, emit)
		}}
		m := open(t, speech.RecognitionConfig{Recognizer: h})
		m.sound(100 * time.Millisecond)
		m.speak(200 * time.Millisecond)
		m.sound(100 * time.Millisecond)
		m.speak(40 * time.Millisecond)
		want(t, "heard", m.heard(), "before 1600, speech 3200 from 1601 to 4800", "before 1600, speech 640 from 6401 to 7040")
		if out := m.End(); out.Err != nil {
			t.Error(out.Err)
		}
	})
}

func TestWordsAndEndsOfTurnsArePassedOn(t *testing.T) {
	virtual(t, func(t *testing.T) {
		h := &hearing{script: func(_ int, ctx context.Context, in *speech.Audio, emit func(speech.Transcript) error) error {
			for _, tr := range []speech.Transcript{{Text: "hel"}, {Text: ""}, {Text: "hello", Final: true, EndOfTurn: true}} {
				if err := emit(tr); err != nil {
					return err
				}
			}
			<-ctx.Done()
			return ctx.Err()
		}}
		m := open(t, speech.RecognitionConfig{Recognizer: h, UserID: "ann"})
		var got []string
		for _, f := range m.Out().Down {
			switch f := f.(type) {
			case *frames.InterimTranscriptionFrame:
				got = append(got, "interim "+f.Text+" of "+f.UserID)
			case *frames.TranscriptionFrame:
				got = append(got, "final "+f.Text+" of "+f.UserID)
			case *speech.EndOfTurnFrame:
				got = append(got, "end of turn")
			}
		}
		want(t, "passed on", got, "interim hel of ann", "final hello of ann", "end of turn")
		m.End()
	})
}

func TestAfterALongSilenceTheRecognizerIsStartedForTheNextUtterance(t *testing.T) { // RT52
	virtual(t, func(t *testing.T) {
		h := &hearing{script: func(run int, ctx context.Context, in *speech.Audio, emit func(speech.Transcript) error) error {
			if run == 1 {
				ctx, cancel := context.WithTimeout(ctx, time.Minute)
				defer cancel()
				if err := count(ctx, in, emit); errors.Is(err, context.DeadlineExceeded) {
					return errors.New("closed for silence")
				}
				return nil
			}
			return count(ctx, in, emit)
		}}
		m := open(t, speech.RecognitionConfig{Recognizer: h})
		m.speak(100 * time.Millisecond)
		m.sound(5 * time.Minute)
		if n := h.runs(); n != 1 {
			t.Errorf("it was started %d times in the silence", n-1)
		}
		from := m.next
		m.speak(200 * time.Millisecond)
		if n := h.runs(); n != 2 {
			t.Fatalf("it was started %d times", n)
		}
		// The second before the speech has been kept.
		want(t, "heard", m.heard()[1:], fmt.Sprintf("before 16000, speech 3200 from %d to %d", from+1, m.next))
		m.End()
	})
}

func TestARecognizerThatFailsInMidSpeechGoesOnWithWhatWasNotRead(t *testing.T) {
	virtual(t, func(t *testing.T) {
		h := &hearing{script: func(run int, ctx context.Context, in *speech.Audio, emit func(speech.Transcript) error) error {
			if run == 1 {
				for range 10 { // reads a part of it
					if _, err := in.Next(ctx); err != nil {
						return err
					}
				}
				return errors.New("the line is gone")
			}
			return count(ctx, in, emit)
		}}
		m := open(t, speech.RecognitionConfig{Recognizer: h})
		m.speak(time.Second)
		if n := h.runs(); n != 2 {
			t.Fatalf("it was started %d times", n)
		}
		// Nothing of the speech was turned into words, so it is heard from the start.
		want(t, "heard", m.heard(), fmt.Sprintf("before 0, speech %d from 1 to %d", samples(time.Second), m.next))
		m.End()
	})
}

func TestARecognizerThatEndsAtOnceIsGivenUp(t *testing.T) { // RT51
	virtual(t, func(t *testing.T) {
		h := &hearing{script: func(int, context.Context, *speech.Audio, func(speech.Transcript) error) error {
			return errors.New("closed")
		}}
		m := open(t, speech.RecognitionConfig{Recognizer: h})
		for range 10 {
			m.speak(2 * time.Second)
			m.sound(time.Second)
		}
		if n := h.runs(); n < 5 || n > 12 {
			t.Errorf("in half a minute it was started %d times", n)
		}
		if len(m.errs) != 1 || !errors.Is(m.errs[0].Err, speech.ErrUnusable) {
			t.Errorf("errors: %v", m.errs)
		}
		for i := 1; i < 5; i++ {
			if gap, least := h.begun[i].Sub(h.begun[i-1]), 250*time.Millisecond<<min(max(i-2, 0), 4); gap < least {
				t.Errorf("start %d came %s after the last", i, gap)
			}
		}
		m.End()
	})
}

func TestARecognizerThatDoesNotReadIsStartedAgain(t *testing.T) {
	virtual(t, func(t *testing.T) {
		stuck := make(chan struct{})
		defer close(stuck)
		h := &hearing{script: func(run int, ctx context.Context, in *speech.Audio, emit func(speech.Transcript) error) error {
			if run == 1 {
				select { // it does not even notice that it was cancelled
				case <-stuck:
				case <-time.After(time.Minute):
				}
				return emit(speech.Transcript{Text: "too late", Final: true})
			}
			return count(ctx, in, emit)
		}}
		m := open(t, speech.RecognitionConfig{Recognizer: h})
		m.sound(9 * time.Second)
		m.speak(2 * time.Second)
		if n := h.runs(); n != 2 || len(m.heard()) != 1 {
			t.Errorf("it was started %d times and heard %q", n, m.heard())
		}
		m.sound(time.Minute)
		if strings.Contains(strings.Join(m.heard(), " "), "late") {
			t.Error("the one that was left behind was listened to")
		}
		m.Cancel()
	})
}

func TestARecognizerThatHearsNothingIsStartedAgain(t *testing.T) {
	virtual(t, func(t *testing.T) {
		h := &hearing{script: func(run int, ctx context.Context, in *speech.Audio, emit func(speech.Transcript) error) error {
			if run == 1 {
				return count(ctx, in, func(speech.Transcript) error { return nil })
			}
			return count(ctx, in, emit)
		}}
		m := open(t, speech.RecognitionConfig{Recognizer: h})
		for range 4 {
			m.speak(200 * time.Millisecond)
			m.sound(5 * time.Second)
		}
		if n := h.runs(); n != 2 || len(m.heard()) != 1 {
			t.Errorf("it was started %d times and heard %q", n, m.heard())
		}
		m.End()
	})
}

func TestAPanicOfARecognizerDoesNotEndTheCall(t *testing.T) {
	virtual(t, func(t *testing.T) {
		h := &hearing{script: func(run int, ctx context.Context, in *speech.Audio, emit func(speech.Transcript) error) error {
			if run == 1 {
				panic("no ears")
			}
			return count(ctx, in, emit)
		}}
		m := open(t, speech.RecognitionConfig{Recognizer: h})
		m.speak(time.Second)
		if len(m.heard()) != 1 {
			t.Errorf("heard %q", m.heard())
		}
		if out := m.End(); out.Err != nil {
			t.Error(out.Err)
		}
	})
}

func TestAudioOfAnyShapeIsBroughtToTheRecognizersRate(t *testing.T) {
	for _, shape := range []frames.PCM{{Rate: 48000, Channels: 2}, {Rate: 8000, Channels: 1}, {Rate: 44100, Channels: 1}} {
		virtual(t, func(t *testing.T) {
			h := &hearing{script: func(_ int, ctx context.Context, in *speech.Audio, emit func(speech.Transcript) error) error {
				return count(ctx, in, emit)
			}}
			m := open(t, speech.RecognitionConfig{Recognizer: h})
			m.Send(&frames.VADStartedFrame{})
			for range 100 {
				shape.Samples = make([]int16, shape.Rate/50*shape.Channels)
				m.Send(&frames.InputAudioFrame{PCM: shape})
				synctest.Wait()
			}
			m.Send(&frames.VADStoppedFrame{})
			synctest.Wait()
			var n int
			if _, err := fmt.Sscanf(strings.Join(m.heard(), ""), "before 0, speech %d", &n); err != nil || n < 31900 || n > 32000 {
				t.Errorf("%d Hz: heard %q of two seconds", shape.Rate, m.heard())
			}
			m.End()
		})
	}
}
