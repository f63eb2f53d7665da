package realtime

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/turnwise/turnwise/speech"
	"github.com/turnwise/turnwise/speech/internal/failure"
)

// maxPending is how many pieces of speech may wait for their words.
const maxPending = 32

// words puts together what the server heard. Pieces of speech are given in the order in
// which they were spoken, whichever is ready first.
type words struct {
	failures *failure.Reporter
	emit     func(speech.Transcript) error
	turns    bool // the server finds the ends of turns

	items []*item // not given yet; only Handle uses them

	mu        sync.Mutex
	expected  int // pieces that were asked for
	finishing bool
	finished  chan struct{}
}

// item is a piece of speech.
type item struct {
	id   string
	text string
	done bool
}

func newWords(failures *failure.Reporter, emit func(speech.Transcript) error, turns bool) *words {
	return &words{failures: failures, emit: emit, turns: turns, finished: make(chan struct{})}
}

// message is what the server sends.
type message struct {
	Type       string          `json:"type"`
	Item       string          `json:"item_id"`
	Delta      string          `json:"delta"`
	Transcript string          `json:"transcript"`
	Error      json.RawMessage `json:"error"`
}

// Handle takes a message; those of other types mean nothing.
func (w *words) Handle(data []byte) error {
	var m message
	if err := json.Unmarshal(data, &m); err != nil {
		return w.failures.Malformed(0, err)
	}
	switch m.Type {
	case "error":
		return w.told(m.Error)
	case "input_audio_buffer.committed":
		_, err := w.item(m.Item)
		return err
	case "conversation.item.input_audio_transcription.delta":
		return w.delta(m)
	case "conversation.item.input_audio_transcription.completed":
		return w.completed(m)
	case "conversation.item.input_audio_transcription.failed":
		return w.failures.Told(0, failure.Parse(m.Error))
	}
	return nil
}

// told is an error. That there was nothing to transcribe is none.
func (w *words) told(data []byte) error {
	said := failure.Parse(data)
	if said.Code == "input_audio_buffer_commit_empty" {
		w.settle()
		return nil
	}
	return w.failures.Told(0, said)
}

// item is a piece of speech, known or new.
func (w *words) item(id string) (*item, error) {
	if i := slices.IndexFunc(w.items, func(it *item) bool { return it.id == id }); i >= 0 {
		return w.items[i], nil
	}
	if len(w.items) >= maxPending {
		return nil, w.failures.Late(0, errors.New("too many pieces of speech wait for their words"))
	}
	it := &item{id: id}
	w.items = append(w.items, it)
	return it, nil
}

// delta gives what is known of a piece so far, if its turn has come.
func (w *words) delta(m message) error {
	it, err := w.item(m.Item)
	if err != nil {
		return err
	}
	it.text += m.Delta
	if text := strings.TrimSpace(it.text); text != "" && it == w.items[0] {
		return w.emit(speech.Transcript{Text: text})
	}
	return nil
}

// completed gives the pieces whose turn has come.
func (w *words) completed(m message) error {
	it, err := w.item(m.Item)
	if err != nil {
		return err
	}
	it.text, it.done = strings.TrimSpace(m.Transcript), true
	for len(w.items) > 0 && w.items[0].done {
		text := w.items[0].text
		w.items = w.items[1:]
		if text != "" {
			if err := w.emit(speech.Transcript{Text: text, Final: true, EndOfTurn: w.turns}); err != nil {
				return err
			}
		}
		w.settle()
	}
	return nil
}

// expect notes that a piece was asked for.
func (w *words) expect() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.expected++
}

// settle notes that a piece is complete.
func (w *words) settle() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.expected = max(w.expected-1, 0)
	w.close()
}

// finish notes that nothing more will be asked for.
func (w *words) finish() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.finishing = true
	w.close()
}

// close tells that all has been heard; w.mu is held.
func (w *words) close() {
	if w.finishing && w.expected == 0 {
		w.finishing = false
		close(w.finished)
	}
}

// Finished is closed when all has been heard.
func (w *words) Finished() <-chan struct{} { return w.finished }
