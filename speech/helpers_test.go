package speech_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/turnwise/turnwise/speech"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	rate = 16000
	// wordTime is how long a scripted synthesizer takes to say a word.
	wordTime = 300 * time.Millisecond
)

func samples(d time.Duration) int { return int(d * rate / time.Second) }

// voice is a scripted synthesizer: every word takes wordTime, samples count up so
// that a lost or doubled one is noticed.
type voice struct {
	rate   int           // 0 for rate
	first  time.Duration // until the first audio
	pace   time.Duration // between two words
	words  bool          // gives word times
	script func(n int, u speech.Utterance) take

	mu    sync.Mutex
	said  []string
	given int // samples
}

// take says what goes wrong with an utterance; the zero value is that nothing does.
type take struct {
	silent bool          // returns at once without audio
	dieAt  int           // fails after so many words
	hang   time.Duration // gives nothing for so long
	deaf   bool          // does not notice that it is cancelled
	err    error
	panics bool
	delay  time.Duration
}

func (v *voice) Rate() int {
	if v.rate != 0 {
		return v.rate
	}
	return rate
}

func (v *voice) Synthesize(ctx context.Context, u speech.Utterance, emit func(speech.Speech) error) error {
	v.mu.Lock()
	n := len(v.said)
	v.said = append(v.said, u.Text)
	v.mu.Unlock()
	var t take
	if v.script != nil {
		t = v.script(n, u)
	}
	switch {
	case t.panics:
		panic("no voice")
	case t.silent:
		return t.err
	case t.deaf:
		time.Sleep(t.hang)
	case !v.sleep(ctx, v.first+t.hang+t.delay):
		return ctx.Err()
	}
	for i, word := range strings.Fields(u.Text) {
		if t.dieAt > 0 && i == t.dieAt {
			return t.err
		}
		sp := speech.Speech{Samples: v.sound(int(int64(wordTime) * int64(v.Rate()) / int64(time.Second)))}
		if v.words {
			sp.Words = []speech.Word{{Text: word, Start: time.Duration(i) * wordTime, End: time.Duration(i+1) * wordTime}}
		}
		if err := emit(sp); err != nil {
			return err
		}
		if !v.sleep(ctx, v.pace) {
			return ctx.Err()
		}
	}
	return nil
}

func (v *voice) sleep(ctx context.Context, d time.Duration) bool {
	if d == 0 {
		return ctx.Err() == nil
	}
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// sound makes the next samples.
func (v *voice) sound(n int) []int16 {
	v.mu.Lock()
	defer v.mu.Unlock()
	out := make([]int16, n)
	for i := range out {
		v.given++
		out[i] = int16(v.given%30000 + 1)
	}
	return out
}

func (v *voice) texts() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]string(nil), v.said...)
}

// ear is what the user hears: a pacer that takes 20 ms every 20 ms.
type ear struct {
	buffer *speech.Buffer
	stop   chan struct{}
	done   chan struct{}

	mu    sync.Mutex
	heard []int16
	last  time.Time // when something was heard
	first time.Time
}

func listen(b *speech.Buffer) *ear {
	e := &ear{buffer: b, stop: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(e.done)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		frame := make([]int16, rate/50)
		for {
			select {
			case <-tick.C:
				e.take(frame)
			case <-e.stop:
				return
			}
		}
	}()
	return e
}

func (e *ear) take(frame []int16) {
	n := e.buffer.Read(frame)
	e.mu.Lock()
	defer e.mu.Unlock()
	if n > 0 {
		e.last = time.Now()
		if e.first.IsZero() {
			e.first = e.last
		}
	}
	e.heard = append(e.heard, frame[:n]...)
}

func (e *ear) close() {
	close(e.stop)
	<-e.done
}

func (e *ear) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.heard)
}

func (e *ear) lastHeard() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.last
}

// virtual runs a test in virtual time.
func virtual(t *testing.T, fn func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, fn)
}

// numbers is n words, each different and spoken in wordTime.
func numbers(n int) string {
	words := strings.Fields("one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty")
	var out []string
	for i := range n {
		out = append(out, words[i%len(words)])
	}
	return strings.Join(out, " ") + "."
}

// notes are what a callback on the session loop was told.
type notes[T any] struct {
	mu  sync.Mutex
	got []T
}

func (n *notes[T]) add(v T) {
	n.mu.Lock()
	n.got = append(n.got, v)
	n.mu.Unlock()
}

func (n *notes[T]) all() []T {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]T(nil), n.got...)
}
