// Package listen runs recognizers that are services at the other end of a WebSocket.
package listen

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/turnwise/turnwise/speech"
	"github.com/turnwise/turnwise/speech/internal/socket"
)

// lastWords is how long a server may take for its last words when the audio has ended.
const lastWords = 3 * time.Second

// Protocol is one session of a service's protocol. Handle is called on a goroutine of
// its own, Idle on another, and the rest on that of [Run].
type Protocol interface {
	// Start sends what begins the session.
	Start(ctx context.Context, c *socket.Conn) error
	// Audio sends samples; they are valid until it returns.
	Audio(ctx context.Context, c *socket.Conn, samples []int16) error
	// Mark is told what voice activity found.
	Mark(ctx context.Context, c *socket.Conn, m speech.AudioMark) error
	// Idle is called when nothing was sent for a while.
	Idle(ctx context.Context, c *socket.Conn) error
	// Finish tells that the audio has ended. The server is waited for then, until it
	// closes the connection or Finished is closed.
	Finish(ctx context.Context, c *socket.Conn) error
	Finished() <-chan struct{}
	// Handle takes a message. An error ends the session.
	Handle(data []byte) error
}

// Run connects and listens until the audio ends, then returns nil. Otherwise it returns
// what Handle did, or an [*llm.Error]; soon after ctx is cancelled in any case.
func Run(ctx context.Context, cfg *socket.Config, idle time.Duration, in *speech.Audio, p Protocol) error {
	conn, err := socket.Dial(ctx, cfg, p.Handle)
	if err != nil {
		return err
	}
	inner, cancel := context.WithCancel(ctx)
	r := run{conn: conn, protocol: p, in: in, active: make(chan struct{}, 1)}
	var helpers sync.WaitGroup
	helpers.Go(func() {
		<-conn.Done()
		cancel()
	})
	helpers.Go(func() { r.watch(inner, idle) })
	defer helpers.Wait()
	defer conn.Close()
	defer cancel()

	err = r.pump(inner)
	if errors.Is(err, io.EOF) && ctx.Err() == nil {
		if err = p.Finish(inner, conn); err == nil {
			r.await(ctx)
			return nil
		}
	}
	switch {
	case ctx.Err() != nil:
		return cfg.Failures.Stopped(ctx)
	case inner.Err() != nil:
		<-conn.Done()
		return conn.Err()
	}
	return err
}

// run is a session under way.
type run struct {
	conn     *socket.Conn
	protocol Protocol
	in       *speech.Audio
	active   chan struct{} // something was sent
}

// pump sends what comes from the microphone.
func (r *run) pump(ctx context.Context) error {
	if err := r.protocol.Start(ctx, r.conn); err != nil {
		return err
	}
	for {
		e, err := r.in.Next(ctx)
		if err != nil {
			return err
		}
		if e.Mark != 0 {
			err = r.protocol.Mark(ctx, r.conn, e.Mark)
		} else {
			err = r.protocol.Audio(ctx, r.conn, e.Samples)
		}
		if err != nil {
			return err
		}
		select {
		case r.active <- struct{}{}:
		default:
		}
	}
}

// watch notices when nothing is sent.
func (r *run) watch(ctx context.Context, idle time.Duration) {
	timer := time.NewTimer(idle)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.active:
		case <-timer.C:
			if r.protocol.Idle(ctx, r.conn) != nil {
				return // the connection is dead, as reading finds out too
			}
		}
		timer.Reset(idle)
	}
}

// await waits for the last words.
func (r *run) await(ctx context.Context) {
	late := time.NewTimer(lastWords)
	defer late.Stop()
	select {
	case <-r.conn.Done():
	case <-r.protocol.Finished():
	case <-late.C:
	case <-ctx.Done():
	}
}
