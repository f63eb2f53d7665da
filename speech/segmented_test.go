package speech_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/turnwise/turnwise/speech"
)

// scribe is a scripted transcriber: it tells how long what it was given is.
type scribe struct {
	mu    sync.Mutex
	calls int
	fail  func(call int) error
	took  time.Duration
}

func (s *scribe) Transcribe(ctx context.Context, in []int16, r int) (string, error) {
	s.mu.Lock()
	s.calls++
	n := s.calls
	s.mu.Unlock()
	select {
	case <-time.After(s.took):
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if s.fail != nil {
		if err := s.fail(n); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%d from %d", len(in), in[0]), nil
}

func TestSegmented(t *testing.T) {
	ms := time.Millisecond
	cases := []struct {
		name   string
		cfg    speech.SegmentedConfig
		do     func(m *mouth)
		heard  []string
		starts int
	}{
		{"speech is given with what is around it", speech.SegmentedConfig{},
			func(m *mouth) { m.sound(1500 * ms); m.speak(500 * ms); m.sound(200 * ms) },
			[]string{fmt.Sprintf("%d from %d", samples(1100*ms), samples(1000*ms)+1)}, 1},
		{"a click is not worth it", speech.SegmentedConfig{},
			func(m *mouth) { m.sound(1000 * ms); m.speak(40 * ms); m.sound(200 * ms) }, nil, 1},
		{"speech that goes on at once is one piece", speech.SegmentedConfig{},
			func(m *mouth) { m.speak(200 * ms); m.sound(40 * ms); m.speak(200 * ms); m.sound(200 * ms) },
			[]string{fmt.Sprintf("%d from 1", samples(540*ms))}, 1},
		{"long speech is given in pieces", speech.SegmentedConfig{Max: 2 * time.Second},
			func(m *mouth) { m.speak(5 * time.Second); m.sound(200 * ms) },
			[]string{fmt.Sprintf("%d from 1", samples(2*time.Second)), fmt.Sprintf("%d from 32001", samples(2*time.Second)), fmt.Sprintf("%d from -1535", samples(1100*ms))}, 1},
		{"one that is slow keeps the order", speech.SegmentedConfig{Transcriber: &scribe{took: 3 * time.Second}},
			func(m *mouth) {
				m.speak(300 * ms)
				m.sound(200 * ms)
				m.speak(400 * ms)
				m.sound(10 * time.Second)
			},
			[]string{fmt.Sprintf("%d from 1", samples(400*ms)), fmt.Sprintf("%d from %d", samples(600*ms), samples(400*ms)+1)}, 1},
		{"a failure is tried again", speech.SegmentedConfig{Transcriber: &scribe{fail: func(n int) error {
			if n == 1 {
				return errors.New("busy")
			}
			return nil
		}}},
			func(m *mouth) { m.speak(300 * ms); m.sound(200 * ms) },
			[]string{fmt.Sprintf("%d from 1", samples(400*ms))}, 1},
		{"one that fails for good does not end the listening", speech.SegmentedConfig{Transcriber: &scribe{fail: func(n int) error {
			if n <= 2 {
				return errors.New("busy")
			}
			return nil
		}}},
			func(m *mouth) {
				m.speak(300 * ms)
				m.sound(2 * time.Second)
				m.speak(400 * ms)
				m.sound(200 * ms)
			},
			[]string{"again"}, 2},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				if tc.cfg.Transcriber == nil {
					tc.cfg.Transcriber = &scribe{}
				}
				m := open(t, speech.RecognitionConfig{Recognizer: must(speech.NewSegmented(tc.cfg))})
				tc.do(m)
				if len(tc.heard) == 1 && tc.heard[0] == "again" {
					if len(m.heard()) == 0 {
						t.Error("nothing was heard any more")
					}
				} else {
					want(t, "heard", m.heard(), tc.heard...)
				}
				if out := m.End(); out.Err != nil {
					t.Error(out.Err)
				}
			})
		})
	}
}
