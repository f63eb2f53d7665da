package webrtc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/pion/datachannel"
	"github.com/pion/webrtc/v4"

	"github.com/turnwise/turnwise/transport/rtvi"
)

// Messages of the transport itself, beside those of RTVI.
const (
	peerLeftMessage    = `{"type":"signalling","message":{"type":"peerLeft"}}`
	renegotiateMessage = `{"type":"signalling","message":{"type":"renegotiate"}}`
	pingPrefix         = "ping"
)

// dataChannel is the open channel of a peer connection.
type dataChannel struct {
	peer  *peer
	dc    *webrtc.DataChannel
	raw   datachannel.ReadWriteCloser
	limit int
}

// Write implements channel.
func (d *dataChannel) Write(msg []byte) error {
	_, err := d.raw.WriteDataChannel(msg, true)
	return err
}

// Waiting implements channel.
func (d *dataChannel) Waiting() int { return int(d.dc.BufferedAmount()) }

// NotifyBelow implements channel.
func (d *dataChannel) NotifyBelow(n int) {
	d.dc.SetBufferedAmountLowThreshold(uint64(n))
}

// Limit implements channel.
func (d *dataChannel) Limit() int { return d.limit }

// opened is told that a connection's data channel is open.
func (c *Conn) opened(p *peer, dc *webrtc.DataChannel) {
	raw, err := dc.Detach()
	if err != nil {
		c.logger().Warn("the data channel cannot be used", "err", err)
		return
	}
	d := &dataChannel{peer: p, dc: dc, raw: raw, limit: 64 << 10}
	if n := p.pc.SCTP().GetCapabilities().MaxMessageSize; n > 0 {
		d.limit = int(n)
	}
	dc.OnBufferedAmountLow(c.out.emptied)
	c.mu.Lock()
	if p != c.peer || c.finished {
		c.mu.Unlock()
		return
	}
	c.ch = d
	c.mu.Unlock()
	c.out.attach(d)
	c.spawn(func() { c.read(d) })
}

// read handles a channel's messages until it is closed.
func (c *Conn) read(d *dataChannel) {
	buf := make([]byte, 1<<10)
	for {
		n, _, err := d.raw.ReadDataChannel(buf)
		switch {
		case errors.Is(err, io.ErrShortBuffer) && len(buf) < c.engine.cfg.MaxMessage:
			buf = make([]byte, min(4*len(buf), c.engine.cfg.MaxMessage))
			continue
		case errors.Is(err, io.ErrShortBuffer):
			c.end(fmt.Errorf("%w: more than %d bytes", ErrTooLarge, len(buf)))
			return
		case err != nil:
			c.channelClosed(d)
			return
		}
		if !c.message(d.peer, buf[:n]) {
			return
		}
	}
}

// channelClosed follows the end of a channel. A caller that closes it has hung up,
// unless it was being waited for: clients close the old connection when they come
// back with a new one.
func (c *Conn) channelClosed(d *dataChannel) {
	c.out.detach(d)
	c.mu.Lock()
	hungUp := d == c.ch && c.away == ""
	c.mu.Unlock()
	if hungUp {
		c.end(ErrPeerGone)
	}
}

// message handles one message; it reports false when the call is over.
func (c *Conn) message(p *peer, msg []byte) bool {
	select {
	case <-c.begun:
	case <-c.gone:
		return false
	}
	if !c.limit.Allow() {
		c.end(ErrFlood)
		return false
	}
	if bytes.HasPrefix(msg, []byte(pingPrefix)) {
		c.ping()
		return true
	}
	if c.signalled(msg) {
		return true
	}
	s := c.served.Load()
	if s == nil || c.isClosing() {
		return true
	}
	c.messages.Lock()
	defer c.messages.Unlock()
	// An error tells that the session is over; the end is under way then.
	_ = s.in.Message(msg)
	if s.in.Ready() {
		c.clientReady()
	}
	return true
}

// ping notes a sign of life.
func (c *Conn) ping() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pinged = time.Now()
}

// signal is a message of the transport itself.
type signal struct {
	Label   string `json:"label"`
	Type    string `json:"type"`
	Message struct {
		Type     string `json:"type"`
		Receiver int    `json:"receiver_index"`
		Enabled  bool   `json:"enabled"`
	} `json:"message"`
}

// readSignal reports whether a message is one of the transport itself.
func readSignal(msg []byte) (s signal, ok bool) {
	if !bytes.Contains(msg, []byte(`"signalling"`)) || json.Unmarshal(msg, &s) != nil {
		return s, false
	}
	return s, s.Type == "signalling" && s.Label != rtvi.Label
}

// signalled acts on a message of the transport itself. It reports false for others.
func (c *Conn) signalled(msg []byte) bool {
	s, ok := readSignal(msg)
	if !ok {
		return false
	}
	if s.Message.Type == "trackStatus" && s.Message.Receiver == 0 && !s.Message.Enabled {
		if h := c.hearing.Load(); h != nil {
			h.muted()
		}
	}
	return true
}
