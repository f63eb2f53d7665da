package elevenlabs

import (
	"strings"
	"time"
	"unicode"

	"github.com/turnwise/turnwise/speech"
)

// alignment is the times of characters.
type alignment struct {
	Chars     []string  `json:"chars"`
	Starts    []float64 `json:"charStartTimesMs"`
	Durations []float64 `json:"charDurationsMs"`
}

// words makes words with times of characters with times. A word may begin in one message
// and end in another.
type words struct {
	text       strings.Builder
	start, end time.Duration
	done       []speech.Word
}

// add takes characters whose times count from offset.
func (w *words) add(a *alignment, offset time.Duration) {
	for i, c := range a.Chars {
		if i >= len(a.Starts) || i >= len(a.Durations) {
			return // a server that does not say
		}
		space, alone := kind(c)
		if space || alone {
			w.finish()
		}
		if space {
			continue
		}
		start := offset + milliseconds(a.Starts[i])
		if w.text.Len() == 0 {
			w.start = start
		}
		w.end = start + milliseconds(a.Durations[i])
		w.text.WriteString(c)
		if alone {
			w.finish()
		}
	}
}

// kind tells space, and characters of scripts that are written without it, which count
// as words.
func kind(c string) (space, alone bool) {
	for _, r := range c {
		return unicode.IsSpace(r), unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
	}
	return true, false
}

// finish ends the word under way.
func (w *words) finish() {
	if w.text.Len() > 0 {
		w.done = append(w.done, speech.Word{Text: w.text.String(), Start: w.start, End: w.end})
		w.text.Reset()
	}
}

// take takes the words that are complete.
func (w *words) take() []speech.Word {
	done := w.done
	w.done = nil
	return done
}

func milliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
