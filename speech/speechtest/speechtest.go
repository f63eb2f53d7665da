// Package speechtest has stand-ins for those who hear and speak, for tests of bots: a
// recognizer whose words are given beforehand, and a synthesizer that hums.
package speechtest

import (
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/speech"
)

// Tone is what [Humming] hums at, in Hz.
const Tone = 500

// Hum is a mono tone of hz at −9 dB for d.
func Hum(rate int, hz float64, d time.Duration) []int16 {
	samples := make([]int16, audio.Mono(rate).Samples(d))
	for i := range samples {
		samples[i] = int16(0.35 * 32767 * math.Sin(2*math.Pi*hz*float64(i)/float64(rate)))
	}
	return samples
}

// Ears is a recognizer that knows what it will hear. It needs voice activity in the
// pipeline, which says when somebody has spoken. It may be used by many sessions.
type Ears struct {
	mu     sync.Mutex
	lines  []string
	always bool
}

var _ speech.Recognizer = (*Ears)(nil)

// Dictation hears a line each time that somebody has spoken, and nothing after the
// last.
func Dictation(lines ...string) *Ears { return &Ears{lines: lines} }

// Always hears the same line each time that somebody has spoken; an empty one is
// nothing.
func Always(line string) *Ears { return &Ears{lines: []string{line}, always: true} }

// Rate is 16000.
func (*Ears) Rate() int { return 16000 }

// Latency is 200 ms, though the words come at once.
func (*Ears) Latency() time.Duration { return 200 * time.Millisecond }

func (e *Ears) next() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.lines) == 0 {
		return ""
	}
	line := e.lines[0]
	if !e.always {
		e.lines = e.lines[1:]
	}
	return line
}

// Recognize implements [speech.Recognizer].
func (e *Ears) Recognize(ctx context.Context, in *speech.Audio, emit func(speech.Transcript) error) error {
	for {
		part, err := in.Next(ctx)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case part.Mark != speech.SpeechStopped:
			continue
		}
		if line := e.next(); line != "" {
			if err := emit(speech.Transcript{Text: line, Final: true}); err != nil {
				return err
			}
		}
	}
}

// Humming is a synthesizer that hums [Tone] for as long as Word for each word.
type Humming struct{ Word time.Duration }

var _ speech.Synthesizer = Humming{}

// Rate is 24000.
func (Humming) Rate() int { return 24000 }

// Synthesize implements [speech.Synthesizer].
func (h Humming) Synthesize(_ context.Context, u speech.Utterance, emit func(speech.Speech) error) error {
	return emit(speech.Speech{Samples: Hum(24000, Tone, h.Word*time.Duration(len(strings.Fields(u.Text))))})
}
