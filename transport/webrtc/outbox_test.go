package webrtc

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnwise/turnwise/transport/rtvi"
)

// pipe is a data channel whose client takes messages when it is told to.
type pipe struct {
	mu     sync.Mutex
	got    []string
	queued int
	below  int
	broken bool
	notify func()
}

func (p *pipe) Write(msg []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken {
		return io.ErrClosedPipe
	}
	p.got = append(p.got, string(msg))
	p.queued += len(msg)
	return nil
}

func (p *pipe) Waiting() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.queued
}

func (p *pipe) NotifyBelow(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.below = n
}

func (*pipe) Limit() int { return 50 << 10 }

// take has the client receive all that is on its way.
func (p *pipe) take() {
	p.mu.Lock()
	p.queued = 0
	p.mu.Unlock()
	p.notify()
}

func (p *pipe) all() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.got)
}

// failure is how an outbox failed.
type failure struct {
	mu  sync.Mutex
	err error
}

func (f *failure) set(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

func (f *failure) get() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

func newOutbox() (*outbox, *pipe, *failure) {
	failed := new(failure)
	o := &outbox{limit: 100 << 10, timeout: 10 * time.Second, fail: failed.set, oversize: func(int, int) {}}
	return o, &pipe{notify: o.emptied}, failed
}

func TestMessagesGoOutInOrderWhateverHappensToTheChannel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, first, failed := newOutbox()
		var want []string
		send := func() {
			m := fmt.Sprintf("message %d", len(want))
			want = append(want, m)
			o.push(rtvi.Essential, []byte(m))
		}
		send()
		send()
		o.attach(first)
		synctest.Wait()
		send()
		synctest.Wait()
		first.mu.Lock()
		first.broken = true
		first.mu.Unlock()
		for range 5 {
			send()
		}
		synctest.Wait()
		second := &pipe{notify: o.emptied}
		o.attach(second)
		send()
		synctest.Wait()
		if got := append(first.all(), second.all()...); !slices.Equal(got, want) || failed.get() != nil {
			t.Errorf("got %v, want %v; %v", got, want, failed.get())
		}
	})
}

func TestAClientThatTakesNothingIsGivenUpAfterTheTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, p, failed := newOutbox()
		o.attach(p)
		big := make([]byte, 40<<10)
		for range 3 { // what the channel takes, and one more
			o.push(rtvi.Essential, big)
			synctest.Wait()
		}
		time.Sleep(9 * time.Second)
		synctest.Wait()
		if failed.get() != nil || len(p.all()) != 2 {
			t.Fatalf("after 9 s: %d messages, %v", len(p.all()), failed.get())
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if !errors.Is(failed.get(), ErrSlowReader) {
			t.Errorf("after 11 s: %v", failed.get())
		}
	})
}

func TestASlowClientGetsAllWhenItTakesItInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, p, failed := newOutbox()
		o.attach(p)
		for range 20 {
			o.push(rtvi.Essential, make([]byte, 40<<10))
			time.Sleep(5 * time.Second)
			p.take()
		}
		synctest.Wait()
		if failed.get() != nil || len(p.all()) != 20 {
			t.Errorf("%d messages, %v", len(p.all()), failed.get())
		}
	})
}

func TestAMessageTheClientCannotTakeIsLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, p, _ := newOutbox()
		told := 0
		o.oversize = func(size, limit int) { told = size }
		o.attach(p)
		o.push(rtvi.Essential, []byte("before"))
		o.push(rtvi.Essential, make([]byte, 60<<10))
		o.push(rtvi.Essential, []byte("behind"))
		synctest.Wait()
		if got := p.all(); !slices.Equal(got, []string{"before", "behind"}) || told != 60<<10 {
			t.Errorf("%d messages; told of one with %d bytes", len(got), told)
		}
	})
}

func TestTheFarewellIsAwaitedUntilTheClientHasIt(t *testing.T) {
	for _, taken := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			o, p, _ := newOutbox()
			o.attach(p)
			o.push(rtvi.Final, []byte("error"))
			o.push(rtvi.Essential, []byte("too late"))
			o.last([]byte("peerLeft"))
			begin := time.Now()
			if taken {
				time.AfterFunc(100*time.Millisecond, p.take)
			}
			o.flush(begin.Add(time.Second))
			want := time.Second
			if taken {
				want = 100 * time.Millisecond
			}
			if took := time.Since(begin); took != want {
				t.Errorf("taken %v: it took %v", taken, took)
			}
			if got := p.all(); !slices.Equal(got, []string{"error", "peerLeft"}) {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestTheFarewellIsKeptForAClientThatIsStillOnItsWay(t *testing.T) {
	for name, c := range map[string]struct {
		comes, closes, want time.Duration
		got                 []string
	}{
		"one that comes":           {comes: 300 * time.Millisecond, want: 300 * time.Millisecond, got: []string{"error", "peerLeft"}},
		"one that never comes":     {want: time.Second},
		"one that is given up":     {closes: 200 * time.Millisecond, want: 200 * time.Millisecond},
		"one that comes after all": {comes: 300 * time.Millisecond, closes: 200 * time.Millisecond, want: 200 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o, p, _ := newOutbox()
				o.push(rtvi.Final, []byte("error"))
				o.last([]byte("peerLeft"))
				begin := time.Now()
				if c.comes > 0 {
					time.AfterFunc(c.comes, func() { o.attach(p); synctest.Wait(); p.take() })
				}
				if c.closes > 0 {
					time.AfterFunc(c.closes, o.close)
				}
				o.flush(begin.Add(time.Second))
				if took := time.Since(begin); took != c.want {
					t.Errorf("it took %v, not %v", took, c.want)
				}
				time.Sleep(time.Second)
				if got := p.all(); !slices.Equal(got, c.got) {
					t.Errorf("got %v, want %v", got, c.got)
				}
			})
		})
	}
}
