package websocket

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/gorilla/websocket"
	"golang.org/x/time/rate"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/transport/internal/pacer"
	"github.com/turnwise/turnwise/transport/rtvi"
	"github.com/turnwise/turnwise/transport/websocket/wire"
)

// PlaybackRate is the sample rate in Hz at which clients of the binary form play
// what they are sent, whatever it says about itself.
const PlaybackRate = 24000

// Conn is one client's connection. It is the [rtvi.Sender] of its session, to be
// given to [rtvi.NewOutput], and [Conn.Run] then serves the session. Its methods
// may be called from any goroutine.
type Conn struct {
	ws  *websocket.Conn
	cfg *Config
	log *slog.Logger
	out outbox

	messages, audio, bytes *rate.Limiter

	mu       sync.Mutex
	session  Session
	in       *rtvi.Input
	stop     context.CancelFunc // lets the reading goroutine go on
	cause    error              // the first reason to disconnect
	over     bool               // the session ended by itself
	away     bool               // the server goes away
	told     bool               // the session was told of the disconnection
	closing  bool               // our farewell is under way
	finished bool               // nothing may be started any more
	ping     *time.Timer
	ready    *time.Timer
	playing  *pacer.Entry // nil without sound
	jobs     sync.WaitGroup

	oddAudio bool // audio at a wrong rate has been reported; of the session loop
}

func newConn(ws *websocket.Conn, socket *gatherer, u *Upgrader) *Conn {
	cfg := &u.cfg
	c := &Conn{
		ws: ws, cfg: cfg, log: cfg.Logger,
		messages: rate.NewLimiter(rate.Limit(cfg.MessageRate), cfg.MessageBurst),
		audio:    rate.NewLimiter(rate.Limit(cfg.AudioRate), cfg.AudioBurst),
		bytes:    rate.NewLimiter(rate.Limit(cfg.ByteRate), cfg.ByteBurst),
	}
	c.out = outbox{
		ws: ws, socket: socket, buffers: &u.buffers,
		limit: cfg.MaxQueue, timeout: cfg.WriteTimeout, policy: cfg.SlowReader, fail: c.broken,
	}
	socket.received = c.received
	ws.SetPingHandler(c.pinged)
	ws.SetPongHandler(func(string) error {
		c.allow(c.messages)
		return nil
	})
	return c
}

// RemoteAddr is the client's address, or that of the proxy before it.
func (c *Conn) RemoteAddr() net.Addr { return c.ws.RemoteAddr() }

// Dropped counts the messages that were left out because the client lagged behind.
func (c *Conn) Dropped() uint64 {
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	return c.out.dropped
}

// Send implements [rtvi.Sender]. Messages wait until the client's first message
// has told which form it wants.
func (c *Conn) Send(msg []byte, p rtvi.Priority) { c.out.push(p, msg) }

// SendAudio implements [rtvi.AudioSender]. Audio is droppable. Clients of the
// binary form take 24 kHz mono alone; other audio for them is dropped with a
// warning.
func (c *Conn) SendAudio(pcm frames.PCM) {
	if len(pcm.Samples) == 0 {
		return
	}
	o := &c.out
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.form == formUnknown || !o.room(rtvi.Droppable) {
		return
	}
	from := len(o.pending.buf)
	if o.form == formJSON {
		o.pending.buf = rtvi.AppendTTSAudio(o.pending.buf, pcm)
	} else {
		if pcm.Rate != PlaybackRate || pcm.Channels > 1 {
			c.warnAudio(pcm)
			return
		}
		o.pending.buf = wire.AppendAudio(o.pending.buf, pcm.Samples, pcm.Rate, 1)
	}
	o.pushed(from)
}

func (c *Conn) warnAudio(pcm frames.PCM) {
	if !c.oddAudio {
		c.oddAudio = true
		c.log.Warn("audio for the client was dropped: put a resampler to 24 kHz mono before the output",
			"rate", pcm.Rate, "channels", pcm.Channels)
	}
}

// received takes what comes in from the limit, whatever it is: fragments without
// an end are no message that could be counted. Every byte is a sign of life, also in
// the middle of a message that takes long to send.
func (c *Conn) received(n int) {
	if !c.bytes.AllowN(time.Now(), n) {
		c.flooded()
	}
	c.alive()
}

// alive notes a sign of life.
func (c *Conn) alive() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closing {
		_ = c.ws.SetReadDeadline(time.Now().Add(c.cfg.PingInterval + c.cfg.PongTimeout))
	}
}

// pinged answers a client's ping. Pings count as messages.
func (c *Conn) pinged(data string) error {
	if !c.messages.Allow() {
		c.flooded()
		return nil
	}
	c.out.pong(data)
	return nil
}

// sendPing is the timer's function.
func (c *Conn) sendPing() {
	c.out.ping()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.finished && !c.closing {
		c.ping.Reset(c.cfg.PingInterval)
	}
}

// enter registers a piece of work that the end waits for; it reports false when it
// is too late.
func (c *Conn) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.finished {
		return false
	}
	c.jobs.Add(1)
	return true
}

// spawn runs fn on a goroutine that the end waits for.
func (c *Conn) spawn(fn func()) {
	if !c.enter() {
		return
	}
	go func() {
		defer c.jobs.Done()
		fn()
	}()
}
