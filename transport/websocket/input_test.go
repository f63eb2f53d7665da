package websocket_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	gorilla "github.com/gorilla/websocket"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/transport/rtvi"
	"github.com/turnwise/turnwise/transport/websocket"
)

func TestBadMessagesAreRefusedAndTheSessionGoesOn(t *testing.T) {
	tests := []struct {
		name string
		kind int
		msg  string
	}{
		{"text that is no JSON", gorilla.TextMessage, "hello"},
		{"an empty text", gorilla.TextMessage, ""},
		{"text that is not UTF-8", gorilla.TextMessage, "\xff\xfe"},
		{"an unknown type", gorilla.TextMessage, envelope("sing", "{}")},
		{"binary garbage", gorilla.BinaryMessage, "\xff\xff\xff"},
		{"a binary message that holds no JSON", gorilla.BinaryMessage, "\x22\x03\x0a\x01{"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inHouse(t, websocket.Config{}, echo(), func(t *testing.T, h *house) {
				p := h.dial()
				if err := p.WriteMessage(tt.kind, []byte(tt.msg)); err != nil {
					t.Fatal(err)
				}
				if g := p.until(rtvi.TypeErrorResponse); g.kind != tt.kind {
					t.Errorf("answered in kind %d", g.kind)
				}
				p.text("client-ready", clientReady)
				p.until(rtvi.TypeBotReady)
				_ = p.Close()
				<-h.ended
			})
		})
	}
}

func TestAMessageThatIsTooLargeEndsTheConnection(t *testing.T) {
	b := echo()
	inHouse(t, websocket.Config{MaxMessage: 10_000}, b, func(t *testing.T, h *house) {
		p := h.dial()
		p.text("client-ready", clientReady)
		p.until(rtvi.TypeBotReady)
		go func() { _ = p.WriteMessage(gorilla.TextMessage, make([]byte, 100_000)) }()
		all, code := p.rest()
		if !has(all, rtvi.TypeError, "10000 bytes") || code != gorilla.CloseMessageTooBig {
			t.Errorf("got %v, code %d", all, code)
		}
		if err := <-h.ended; !errors.Is(err, websocket.ErrTooLarge) {
			t.Errorf("ended with %v", err)
		}
		disconnections(t, b)
	})
}

func TestFloodsEndTheConnection(t *testing.T) {
	floods := map[string]func(p *peer) error{
		"of messages": func(p *peer) error { return p.WriteMessage(gorilla.TextMessage, []byte(envelope("ui-event", "{}"))) },
		"of garbage":  func(p *peer) error { return p.WriteMessage(gorilla.BinaryMessage, []byte("\xff")) },
		"of pings":    func(p *peer) error { return p.WriteControl(gorilla.PingMessage, nil, time.Now().Add(time.Second)) },
		"of pongs":    func(p *peer) error { return p.WriteControl(gorilla.PongMessage, nil, time.Now().Add(time.Second)) },
		"of bytes": func(p *peer) error {
			return p.WriteMessage(gorilla.TextMessage, []byte(envelope("client-message", `"`+strings.Repeat("x", 500_000)+`"`)))
		},
		"of empty fragments": func(p *peer) error {
			_, err := p.NetConn().Write(bytes.Repeat([]byte{0x00, 0x80, 0, 0, 0, 0}, 1000))
			return err
		},
		"of silence": func(p *peer) error { return p.WriteMessage(gorilla.BinaryMessage, []byte("\x12\x00")) },
	}
	for name, send := range floods {
		t.Run(name, func(t *testing.T) {
			b := echo()
			inHouse(t, websocket.Config{}, b, func(t *testing.T, h *house) {
				p := h.dial()
				p.text("client-ready", clientReady)
				p.until(rtvi.TypeBotReady)
				stopped := make(chan struct{})
				go func() {
					defer close(stopped)
					if name == "of empty fragments" { // of a message that never ends
						_, _ = p.NetConn().Write([]byte{0x01, 0x80, 0, 0, 0, 0})
					}
					for send(p) == nil {
					}
				}()
				all, code := p.rest()
				if !has(all, rtvi.TypeError, "slow down") || code != gorilla.ClosePolicyViolation {
					t.Errorf("%d messages, code %d", len(all), code)
				}
				if err := <-h.ended; !errors.Is(err, websocket.ErrFlood) {
					t.Errorf("ended with %v", err)
				}
				_ = p.Close()
				<-stopped
				disconnections(t, b)
			})
		})
	}
}

func TestAMicrophoneIsNoFlood(t *testing.T) {
	b := &bot{}
	inHouse(t, websocket.Config{}, b, func(t *testing.T, h *house) {
		p := h.dial()
		p.binary("client-ready", clientReady)
		go p.rest()
		mic := func() {
			if err := p.WriteMessage(gorilla.BinaryMessage, micFrame); err != nil {
				t.Fatal(err)
			}
		}
		for range 60 * 63 / 2 { // what was recorded in half a minute of connecting
			mic()
		}
		for range 60 * 63 {
			mic()
			time.Sleep(16 * time.Millisecond)
		}
		if n := len(seenOf[*frames.ClientDisconnectedFrame](b)); n != 0 {
			t.Error("disconnected")
		}
		_ = p.Close()
		<-h.ended
	})
}

// TestRawTraffic throws bytes at the socket that no WebSocket library writes.
func TestRawTraffic(t *testing.T) {
	head := func(b0, b1 byte, more ...byte) []byte { return append([]byte{b0, b1}, more...) }
	length := binary.BigEndian.AppendUint64(nil, 1<<62)
	tests := []struct {
		name   string
		bytes  []byte
		within time.Duration
		want   error
	}{
		{"a frame without a mask", head(0x81, 0x01, 'x'), time.Second, websocket.ErrProtocol},
		{"reserved bits", head(0xf1, 0x80, 0, 0, 0, 0), time.Second, websocket.ErrProtocol},
		{"an unknown opcode", head(0x83, 0x80, 0, 0, 0, 0), time.Second, websocket.ErrProtocol},
		{"a continuation of nothing", head(0x80, 0x80, 0, 0, 0, 0), time.Second, websocket.ErrProtocol},
		{"a control frame in pieces", head(0x09, 0x80, 0, 0, 0, 0), time.Second, websocket.ErrProtocol},
		{"half a frame, then silence", head(0x81, 0xfe, 0x10), 31 * time.Second, websocket.ErrPeerDead},
		{"a huge frame that never comes", append(append(head(0x81, 0xff), length...), 0, 0, 0, 0, 'x'), 31 * time.Second, websocket.ErrPeerDead},
		{"half a frame, then the end", nil, time.Second, websocket.ErrPeerGone},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inHouse(t, websocket.Config{ReadyTimeout: time.Hour}, echo(), func(t *testing.T, h *house) {
				c := h.raw()
				h.handshake(c)
				go discard(c)
				within(t, tt.within, func() {
					if tt.bytes == nil {
						_, _ = c.Write(head(0x81, 0xfe))
						_ = c.Close()
					} else if _, err := c.Write(tt.bytes); err != nil {
						t.Fatal(err)
					}
					if err := <-h.ended; !errors.Is(err, tt.want) {
						t.Errorf("ended with %v, want %v", err, tt.want)
					}
				})
				_ = c.Close()
			})
		})
	}
}

// handshake makes a WebSocket of a connection of bytes.
func (h *house) handshake(c net.Conn) {
	go func() {
		_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
	}()
	var answer []byte
	for !bytes.HasSuffix(answer, []byte("\r\n\r\n")) {
		var b [1]byte
		if _, err := io.ReadFull(c, b[:]); err != nil {
			h.t.Fatal(err)
		}
		answer = append(answer, b[0])
	}
	if !bytes.HasPrefix(answer, []byte("HTTP/1.1 101 ")) {
		h.t.Fatalf("answered %s", answer)
	}
}
