package socket_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/speech/internal/socket"
	"github.com/turnwise/turnwise/speech/internal/socket/sockettest"
)

// piece is a message of the tests' protocol.
type piece struct {
	ID   string
	Text string
	End  bool
}

func (p piece) Context() string { return p.ID }
func (p piece) Over() bool      { return p.End }

func newPool(t *testing.T, s *sockettest.Server, change ...func(*socket.PoolConfig)) *socket.Pool[piece] {
	t.Helper()
	cfg := socket.PoolConfig{Config: config(s), KeepIdle: time.Minute, MaxIdle: 2, MaxContexts: 3}
	for _, f := range change {
		f(&cfg)
	}
	p := socket.NewPool[piece](cfg)
	t.Cleanup(p.Close)
	return p
}

// collect is a script that asks for a text and appends what comes to got.
func collect(got *[]string) socket.Script[piece] {
	return socket.Script[piece]{
		Open:   func(id string) []any { return []any{piece{ID: id, Text: "go"}} },
		Cancel: func(id string) any { return piece{ID: id, End: true} },
		Take: func(m piece) (bool, error) {
			*got = append(*got, m.Text)
			return m.End, nil
		},
	}
}

// speak answers each request with words.
func speak(p *sockettest.Peer, words ...string) {
	for {
		o, _, err := p.Receive()
		if err != nil {
			return
		}
		for i, w := range words {
			p.Send(piece{o["ID"].(string), w, i == len(words)-1})
		}
	}
}

func TestGenerationsFollowEachOtherOnAConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := sockettest.New(t, func(p *sockettest.Peer) { speak(p, "a", "b", "c", "d", "e", "f", "g") })
		pool := newPool(t, s)
		for range 3 {
			var got []string
			if err := pool.Run(t.Context(), collect(&got)); err != nil || len(got) != 7 {
				t.Errorf("got %q, %v", got, err)
			}
			time.Sleep(time.Second)
		}
		if n := s.Connections(); n != 1 {
			t.Errorf("that took %d connections", n)
		}
		time.Sleep(time.Hour)
		var got []string
		if err := pool.Run(t.Context(), collect(&got)); err != nil || s.Connections() != 2 {
			t.Errorf("an hour later: %v, %d connections", err, s.Connections())
		}
	})
}

func TestASlowListenerHoldsUpNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := sockettest.New(t, func(p *sockettest.Peer) { speak(p, make([]string, 100)...) })
		pool := newPool(t, s)
		var slow []string
		script := collect(&slow)
		take := script.Take
		script.Take = func(m piece) (bool, error) {
			time.Sleep(time.Second)
			return take(m)
		}
		ended := make(chan error)
		go func() { ended <- pool.Run(t.Context(), script) }()
		time.Sleep(5 * time.Second)
		begun := time.Now()
		var got []string
		if err := pool.Run(t.Context(), collect(&got)); err != nil || len(got) != 100 || time.Since(begun) != 0 {
			t.Errorf("%d pieces after %s, %v", len(got), time.Since(begun), err)
		}
		if err := <-ended; err != nil || len(slow) != 100 {
			t.Errorf("the slow one got %d pieces, %v", len(slow), err)
		}
	})
}

func TestWhatComesOfACancelledGenerationIsNotHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := sockettest.New(t, func(p *sockettest.Peer) {
			first, _, _ := p.Receive()
			p.Send(piece{first["ID"].(string), "old", false})
			if o, _, _ := p.Receive(); o["ID"] != first["ID"] || o["End"] != true {
				t.Errorf("not cancelled, but %v", o)
			}
			second, _, _ := p.Receive()
			for range 20 {
				p.Send(piece{first["ID"].(string), "old", false})
			}
			p.Send(piece{second["ID"].(string), "new", false})
			p.Send(piece{first["ID"].(string), "old", true})
			p.Send(piece{second["ID"].(string), "new", true})
			_ = p.Gone()
		})
		pool := newPool(t, s)
		interrupted := errors.New("interrupted")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(interrupted) })
		begun := time.Now()
		var got []string
		err := pool.Run(ctx, collect(&got))
		wantError(t, err, frames.ErrorInternal, "")
		if !errors.Is(err, context.Canceled) || !errors.Is(err, interrupted) || time.Since(begun) != time.Second {
			t.Errorf("after %s: %v", time.Since(begun), err)
		}
		if err := pool.Run(t.Context(), collect(&got)); err != nil || !slices.Equal(got, []string{"old", "new", "new"}) || s.Connections() != 1 {
			t.Errorf("got %q on %d connections, %v", got, s.Connections(), err)
		}
	})
}

func TestContextsThatHaveNotEndedCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := sockettest.New(t, func(p *sockettest.Peer) { _ = p.Gone() }) // says nothing
		pool := newPool(t, s)
		for range 4 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			wantError(t, pool.Run(ctx, collect(new([]string))), frames.ErrorTimeout, "")
			cancel()
		}
		if n := s.Connections(); n != 2 {
			t.Errorf("four contexts of three on each took %d connections", n)
		}
	})
}

func TestADeadConnectionIsReplacedUnlessItHasSpoken(t *testing.T) {
	for name, c := range map[string]struct {
		second func(p *sockettest.Peer, id string)
		want   []string
		conns  int
		err    bool
	}{
		"closed while nobody used it": {nil, []string{"x", "x"}, 2, false},
		"closed when it was asked":    {func(p *sockettest.Peer, _ string) { p.Drop() }, []string{"x", "x"}, 2, false},
		"after the first words": {func(p *sockettest.Peer, id string) {
			p.Send(piece{id, "y", false})
			p.Drop()
		}, []string{"x", "y"}, 1, true},
		"after nonsense": {func(p *sockettest.Peer, _ string) { p.Send("{") }, []string{"x", "x"}, 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := sockettest.New(t, func(p *sockettest.Peer) {
					o, _, _ := p.Receive()
					p.Send(piece{o["ID"].(string), "x", true})
					if p.Number == 1 && c.second == nil {
						p.Drop()
						return
					}
					if o, _, err := p.Receive(); err == nil && p.Number == 1 {
						c.second(p, o["ID"].(string))
					}
					_ = p.Gone()
				})
				pool := newPool(t, s)
				var got []string
				if err := pool.Run(t.Context(), collect(&got)); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				err := pool.Run(t.Context(), collect(&got))
				if (err != nil) != c.err || !slices.Equal(got, c.want) || s.Connections() != c.conns {
					t.Errorf("got %q on %d connections, %v", got, s.Connections(), err)
				}
			})
		})
	}
}

func TestNoMoreConnectionsAreKeptThanAllowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := make(chan int, 10)
		s := sockettest.New(t, func(p *sockettest.Peer) {
			o, _, _ := p.Receive()
			time.Sleep(time.Second)
			p.Send(piece{o["ID"].(string), "x", true})
			_ = p.Gone()
			gone <- p.Number
		})
		pool := newPool(t, s)
		ended := make(chan error)
		for range 5 {
			go func() { ended <- pool.Run(t.Context(), collect(new([]string))) }()
		}
		for range 5 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		synctest.Wait()
		if len(gone) != 3 {
			t.Errorf("%d of 5 connections were closed", len(gone))
		}
		pool.Close()
		synctest.Wait()
		if len(gone) != 5 {
			t.Errorf("%d of 5 connections were closed in the end", len(gone))
		}
	})
}

func TestAListenersFailureIsItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cancelled := make(chan bool, 1)
		s := sockettest.New(t, func(p *sockettest.Peer) {
			o, _, _ := p.Receive()
			p.Send(piece{o["ID"].(string), "x", false})
			o, _, _ = p.Receive()
			cancelled <- o["End"] == true
			_ = p.Gone()
		})
		gone := errors.New("gone")
		script := collect(new([]string))
		script.Take = func(piece) (bool, error) { return false, gone }
		if err := newPool(t, s).Run(t.Context(), script); err != gone || !<-cancelled {
			t.Errorf("error is %v", err)
		}
	})
}
