package websocket_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	gorilla "github.com/gorilla/websocket"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/transport/rtvi"
	"github.com/turnwise/turnwise/transport/websocket"
)

// script is a session of a few functions.
type script struct {
	run func(ctx context.Context) error
	mu  chan struct{}
	got []frames.Frame
}

func newScript(run func(ctx context.Context) error) *script {
	s := &script{run: run, mu: make(chan struct{}, 1)}
	s.mu <- struct{}{}
	return s
}

func (s *script) Run(ctx context.Context) error { return s.run(ctx) }
func (s *script) QueueFrame(f frames.Frame) {
	<-s.mu
	s.got = append(s.got, f)
	s.mu <- struct{}{}
}

func (s *script) Enqueue(_ context.Context, f frames.Frame) error {
	s.QueueFrame(f)
	return nil
}

func TestABotThatDoesNotGetReadyIsToldAsAnError(t *testing.T) {
	errStart := errors.New("no model")
	tests := []struct {
		name   string
		run    func(ctx context.Context) error
		within time.Duration
		want   error
	}{
		{"it hangs", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, 11 * time.Second, websocket.ErrBotNotReady},
		{"it fails", func(ctx context.Context) error { time.Sleep(time.Second); return errStart }, 2 * time.Second, errStart},
		{"it ends", func(ctx context.Context) error { time.Sleep(time.Second); return nil }, 2 * time.Second, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inHouse(t, websocket.Config{}, nil, func(t *testing.T, h *house) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				h.session = newScript(func(context.Context) error { return tt.run(ctx) })
				p := h.dial()
				p.text("client-ready", clientReady)
				within(t, tt.within, func() {
					all, code := p.rest()
					if !has(all, rtvi.TypeError, `"fatal":true`) || code != gorilla.CloseInternalServerErr {
						t.Errorf("got %v, code %d", all, code)
					}
				})
				cancel()
				if err := <-h.ended; !errors.Is(err, tt.want) {
					t.Errorf("ended with %v, want %v", err, tt.want)
				}
			})
		})
	}
}

func TestASessionThatDoesNotEndIsReported(t *testing.T) {
	inHouse(t, websocket.Config{}, nil, func(t *testing.T, h *house) {
		release := make(chan struct{})
		h.session = newScript(func(context.Context) error { <-release; return nil })
		p := h.dial()
		p.text("client-ready", clientReady)
		synctest.Wait()
		_ = p.Close()
		within(t, 11*time.Second, func() {
			if err := <-h.ended; !errors.Is(err, websocket.ErrStuck) || !errors.Is(err, websocket.ErrPeerGone) {
				t.Errorf("ended with %v", err)
			}
		})
		close(release)
	})
}

func TestRejectSaysWhy(t *testing.T) {
	inHouse(t, websocket.Config{}, nil, func(t *testing.T, h *house) {
		h.reject = "The server is full."
		p := h.dial()
		within(t, time.Second, func() {
			all, code := p.rest()
			if !has(all, rtvi.TypeError, "full") || code != gorilla.CloseTryAgainLater {
				t.Errorf("got %v, code %d", all, code)
			}
		})
		<-h.ended
	})
}
