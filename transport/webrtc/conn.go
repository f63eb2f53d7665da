package webrtc

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/transport/internal/pacer"
	"github.com/turnwise/turnwise/transport/rtvi"
)

// Conn is one call. It is the [rtvi.Sender] of its session, to be given to
// [rtvi.NewOutput]; [Conn.Play] says where the bot's sound comes from, and
// [Conn.Run] then serves the session. Its methods may be called from any goroutine.
//
// A Conn outlives a lost peer connection: the caller may come back with another.
type Conn struct {
	engine *Engine
	first  answer // what the first offer was answered with
	out    outbox
	voice  *speaking
	limit  *rate.Limiter

	live    atomic.Pointer[peer] // the connected one; nil while there is none
	hearing atomic.Pointer[hearing]
	served  atomic.Pointer[served]
	begun   chan struct{} // closed by Run or the end, whichever comes first
	gone    chan struct{} // closed when the call cannot go on
	done    chan struct{} // closed at the end of everything

	attaching sync.Mutex // held while an offer is handled
	messages  sync.Mutex // held while a message is handled

	ids []string // the engine's

	mu         sync.Mutex
	peer       *peer
	ch         *dataChannel
	reattached int
	absent     *time.Timer // ends the call of a caller that is not there
	reached    bool        // the caller has been connected
	away       string      // why the caller is not connected; empty when it is
	ready      *time.Timer
	pinged     time.Time
	cause      error // the first reason to end the call
	over       bool  // the session ended by itself
	starting   bool  // Run or Reject has been called
	closing    bool
	finished   bool
	entry      *pacer.Entry
	remoteLoss float64
	rtt        time.Duration
	asked      time.Time // for another offer
	heardReady bool
	past       Stats // of tracks before the present one
	jobs       sync.WaitGroup
}

// logger is the call's log.
func (c *Conn) logger() *slog.Logger {
	if s := c.served.Load(); s != nil {
		return s.log
	}
	return c.engine.cfg.Logger
}

// served is the session that a call has, with the translator of its messages.
type served struct {
	session Session
	log     *slog.Logger
	in      *rtvi.Input
	reading context.Context
	stop    context.CancelFunc
}

func newConn(e *Engine) *Conn {
	cfg := &e.cfg
	c := &Conn{
		engine: e,
		limit:  rate.NewLimiter(rate.Limit(cfg.MessageRate), cfg.MessageBurst),
		begun:  make(chan struct{}), gone: make(chan struct{}), done: make(chan struct{}),
		away: "not connected yet",
	}
	c.voice = newSpeaking(c)
	c.out.limit, c.out.timeout = cfg.MaxQueue, cfg.WriteTimeout
	c.out.fail = func(err error) { go c.end(err) }
	c.out.oversize = func(size, limit int) {
		c.logger().Warn("a message for the client was dropped: it is larger than the client takes", "size", size, "limit", limit)
	}
	c.absent = time.AfterFunc(cfg.ConnectTimeout, c.missed)
	return c
}

// ID is the name that the client knows the call by at present.
func (c *Conn) ID() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.peer == nil {
		return ""
	}
	return c.peer.id
}

// OutputRate is the rate in Hz, mono, of the sound that is sent.
func (c *Conn) OutputRate() int { return c.engine.cfg.OutputRate }

// Play says where the bot's sound is taken from. Before, and with nil, silence is sent.
// While no caller is connected nothing is taken.
func (c *Conn) Play(source AudioSource) {
	if source == nil {
		c.voice.source.Store(nil)
		return
	}
	c.voice.source.Store(&source)
}

// Send implements [rtvi.Sender]. Messages wait until the client has opened its data
// channel.
func (c *Conn) Send(msg []byte, p rtvi.Priority) { c.out.push(p, msg) }

// Renegotiate asks the client for a new offer on the same connection. Asking again
// within two seconds does nothing.
func (c *Conn) Renegotiate() {
	c.mu.Lock()
	again := time.Since(c.asked) < 2*time.Second
	if !again {
		c.asked = time.Now()
	}
	c.mu.Unlock()
	if !again {
		c.Send([]byte(renegotiateMessage), rtvi.Essential)
	}
}

// Stats tells how the call's packets fare.
func (c *Conn) Stats() Stats {
	c.mu.Lock()
	s := c.past
	s.RemoteLost, s.RTT, s.Reattached = c.remoteLoss, c.rtt, c.reattached
	c.mu.Unlock()
	if h := c.hearing.Load(); h != nil {
		h.add(&s)
	}
	c.voice.add(&s)
	c.out.mu.Lock()
	s.DroppedMessages = c.out.dropped
	c.out.mu.Unlock()
	return s
}

// attach connects the call with a new offer, in the place of the connection it had.
func (c *Conn) attach(ctx context.Context, offer string) (answer, error) {
	c.attaching.Lock()
	defer c.attaching.Unlock()
	p, err := newPeer(c)
	if err != nil {
		return answer{}, err
	}
	sdp, err := p.answer(ctx, offer)
	if err != nil {
		c.engine.closePeer(p.pc)
		return answer{}, err
	}
	if !c.change(p) {
		c.engine.closePeer(p.pc)
		return answer{}, errOver
	}
	c.engine.name(c, p.id)
	return answer{SDP: sdp, Type: "answer", ID: p.id}, nil
}

// change makes p the call's connection and closes the one before.
func (c *Conn) change(p *peer) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing || c.finished || c.cause != nil {
		return false
	}
	if old := c.peer; old != nil {
		c.reattached++
		c.live.Store(nil)
		if c.ch != nil {
			c.out.detach(c.ch)
			c.ch = nil
		}
		c.engine.closePeer(old.pc)
		c.away = "coming back"
		c.absent.Reset(c.engine.cfg.ReattachWindow)
		c.pinged = time.Time{}
	}
	c.peer = p
	return true
}

// renegotiate answers a further offer on the present connection.
func (c *Conn) renegotiate(ctx context.Context, offer string) (answer, error) {
	c.attaching.Lock()
	defer c.attaching.Unlock()
	c.mu.Lock()
	p, over := c.peer, c.closing || c.finished || c.cause != nil
	c.mu.Unlock()
	if over || p == nil {
		return answer{}, errOver
	}
	sdp, err := p.answer(ctx, offer)
	if err != nil {
		return answer{}, err
	}
	return answer{SDP: sdp, Type: "answer", ID: p.id}, nil
}

// candidates takes addresses of the client's. Those for a connection that is no more
// are ignored.
func (c *Conn) candidates(id string, list []Candidate) {
	c.mu.Lock()
	p := c.peer
	c.mu.Unlock()
	if p != nil && p.id == id {
		p.addCandidates(list)
	}
}

// connected is told that a connection stands.
func (c *Conn) connected(p *peer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p != c.peer || c.finished {
		return
	}
	c.absent.Stop()
	if c.ch != nil && c.away != "" {
		c.out.attach(c.ch)
	}
	c.away, c.reached = "", true
	c.live.Store(p)
	if c.entry == nil {
		c.entry = c.engine.pacer.Add(c.voice)
	}
}

// lost is told that nothing comes from the caller any more. The session is kept for a
// while.
func (c *Conn) lost(p *peer, why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p != c.peer || c.away != "" || c.closing || c.finished {
		return
	}
	c.away = why
	c.live.Store(nil)
	if c.ch != nil {
		c.out.detach(c.ch) // what is sent from here on waits for the caller
	}
	c.absent.Reset(c.engine.cfg.ReattachWindow)
	c.logger().Info("the caller is lost; its session is kept for a while", "why", why, "window", c.engine.cfg.ReattachWindow)
}

// missed ends the call of a caller that has not come, or not come back, in time.
func (c *Conn) missed() {
	c.mu.Lock()
	why, reached := c.away, c.reached
	c.mu.Unlock()
	switch {
	case why == "":
	case !reached:
		c.end(ErrNotConnected)
	default:
		c.end(fmt.Errorf("%w: %s", ErrPeerDead, why))
	}
}

// hears begins to listen to a new track of the caller's; nil after the end.
func (c *Conn) hears(codecs map[uint8]codec) *hearing {
	h := newHearing(c.engine, codecs, c.deliver)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.finished {
		return nil
	}
	if old := c.hearing.Swap(h); old != nil {
		old.add(&c.past)
	}
	return h
}

// deliver hands the caller's sound to the session.
func (c *Conn) deliver(f *frames.InputAudioFrame) {
	if s := c.served.Load(); s != nil {
		s.session.QueueFrame(f)
	}
}

// tick runs in each slot, on the pacer's goroutine.
func (c *Conn) tick(t pacer.Tick) {
	if h := c.hearing.Load(); h != nil {
		h.tick(t.Now)
	}
	second := slotsPer(time.Second)
	if t.Number%second != second-1 {
		return
	}
	p := c.live.Load()
	if p == nil {
		return
	}
	c.checkPings(t.Now, p)
	if t.Number/second%uint64(reportEvery/time.Second) == 0 {
		c.report(t.Now, p)
	}
}

// checkPings counts a client whose pings have stopped as lost.
func (c *Conn) checkPings(now time.Time, p *peer) {
	c.mu.Lock()
	silent := !c.pinged.IsZero() && now.Sub(c.pinged) > c.engine.cfg.PingTimeout
	c.mu.Unlock()
	if silent {
		c.lost(p, "its pings have stopped")
	}
}

// spawn runs fn on a goroutine that the end waits for; not when it is too late.
func (c *Conn) spawn(fn func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.finished {
		return
	}
	c.jobs.Go(fn)
}
