package telephony

import (
	"context"
	"encoding/base64"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
	"golang.org/x/time/rate"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/g711"
	"github.com/turnwise/turnwise/transport/internal/pacer"
)

// Rate is the sample rate in Hz of calls, in both directions.
const Rate = g711.Rate

// AudioSource gives the sound that is sent to the caller. *speech.Buffer is one.
type AudioSource interface {
	// Read fills dst with mono samples at [Rate] and returns how many there were. It
	// is called every 20 ms, on a goroutine that serves other calls too, and must
	// not block.
	Read(dst []int16) int
}

// outboxSize is how many messages may wait to be written: two seconds of sound. When
// they are not taken, sound is dropped, and the write under way ends the call when its
// time is up.
const outboxSize = 100

// Conn is a call. Its methods may be called from any goroutine.
type Conn struct {
	exchange *Exchange
	ws       *websocket.Conn
	info     Info
	log      *slog.Logger
	limit    *rate.Limiter
	source   atomic.Pointer[AudioSource]

	out     chan []byte // messages to write; closed by nobody
	quit    chan struct{}
	written chan struct{} // closed when the writer has ended
	entry   *pacer.Entry
	sending sending

	dropped atomic.Uint64
	closing atomic.Bool // our farewell is under way

	mu    sync.Mutex
	cause error // the first reason for which the stream ended
}

func newConn(e *Exchange, ws *websocket.Conn, info Info) *Conn {
	return &Conn{
		exchange: e, ws: ws, info: info, log: e.cfg.Logger.With("carrier", string(info.Carrier), "call", info.Call),
		limit: rate.NewLimiter(rate.Limit(e.cfg.MessageRate), e.cfg.MessageBurst),
		out:   make(chan []byte, outboxSize), quit: make(chan struct{}), written: make(chan struct{}),
	}
}

// Info is what the carrier told of the call.
func (c *Conn) Info() Info { return c.info }

// RemoteAddr is the carrier's address, or that of the proxy before it.
func (c *Conn) RemoteAddr() net.Addr { return c.ws.RemoteAddr() }

// OutputRate is [Rate], the rate at which the source is read.
func (c *Conn) OutputRate() int { return Rate }

// Play sets what the caller hears.
func (c *Conn) Play(source AudioSource) { c.source.Store(&source) }

// Dropped counts the messages that were left out because the carrier did not take
// them.
func (c *Conn) Dropped() uint64 { return c.dropped.Load() }

// sending is the state of the pacer's ticks.
type sending struct {
	frame  [Rate / 50]int16
	coded  []byte
	base64 []byte
}

// Tick implements [pacer.Stream]: it sends the 20 ms that are due. Silence is not
// sent; carriers fill it in.
func (c *Conn) Tick(pacer.Tick) {
	source := c.source.Load()
	if source == nil {
		return
	}
	s := &c.sending
	n := (*source).Read(s.frame[:])
	if n == 0 {
		return
	}
	clear(s.frame[n:])
	s.coded = c.info.Encoding.appendEncoded(s.coded[:0], s.frame[:])
	s.base64 = base64.StdEncoding.AppendEncode(s.base64[:0], s.coded)
	c.post(c.info.appendSound(make([]byte, 0, len(s.base64)+128), s.base64))
}

// post queues a message, or drops it.
func (c *Conn) post(msg []byte) {
	select {
	case c.out <- msg:
	default:
		c.dropped.Add(1)
	}
}

// interrupt drops what waits to be written and has the carrier drop what it holds.
func (c *Conn) interrupt() {
	for {
		select {
		case <-c.out:
			continue
		default:
		}
		break
	}
	c.post(c.info.clearing())
}

// write writes what is queued until quit is closed, and then what is left.
func (c *Conn) write() {
	defer close(c.written)
	for {
		select {
		case msg := <-c.out:
			if !c.writeOne(msg) {
				return
			}
		case <-c.quit:
			for {
				select {
				case msg := <-c.out:
					if !c.writeOne(msg) {
						return
					}
				default:
					return
				}
			}
		}
	}
}

// writeOne reports false when nothing more can be written; the reading ends then, too.
func (c *Conn) writeOne(msg []byte) bool {
	err := c.ws.SetWriteDeadline(time.Now().Add(c.exchange.cfg.WriteTimeout))
	if err == nil {
		err = c.ws.WriteMessage(websocket.TextMessage, msg)
	}
	if err != nil {
		c.note(ErrCarrierGone)
		_ = c.ws.Close()
	}
	return err == nil
}

// note remembers why the stream ended; the first reason counts.
func (c *Conn) note(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause == nil {
		c.cause = cause
	}
}

func (c *Conn) why() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cause
}

// hangUp ends the call at the carrier.
func (c *Conn) hangUp(ctx context.Context) {
	if c.exchange.cfg.HangUp == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.exchange.cfg.HangUpTimeout)
	defer cancel()
	if err := c.exchange.cfg.HangUp.HangUp(ctx, c.info); err != nil {
		c.log.Warn("the call could not be hung up at its carrier", "err", err)
	}
}

// decoder turns what comes in into samples.
type decoder struct {
	encoding Encoding
	linear   audio.ByteDecoder
	samples  []int16
}

func (d *decoder) decode(payload []byte) []int16 {
	switch d.encoding {
	case Linear:
		d.samples = d.linear.Append(d.samples[:0], payload)
	case ALaw:
		d.samples = g711.AppendFromALaw(d.samples[:0], payload)
	default:
		d.samples = g711.AppendFromULaw(d.samples[:0], payload)
	}
	return d.samples
}
