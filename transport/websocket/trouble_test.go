package websocket_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	gorilla "github.com/gorilla/websocket"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
	"github.com/turnwise/turnwise/transport/rtvi"
	"github.com/turnwise/turnwise/transport/websocket"
)

// disconnections checks that the session was told once that its client is gone.
func disconnections(t *testing.T, b *bot) {
	t.Helper()
	if n := len(seenOf[*frames.ClientDisconnectedFrame](b)); n != 1 {
		t.Errorf("the session was told %d times that its client is gone", n)
	}
}

func TestAClientThatLeavesEndsItsSession(t *testing.T) {
	leave := map[string]func(p *peer){
		"with a close message": func(p *peer) {
			_ = p.WriteMessage(gorilla.CloseMessage, gorilla.FormatCloseMessage(gorilla.CloseGoingAway, ""))
			p.rest()
		},
		"by closing the socket": func(p *peer) { _ = p.NetConn().Close() },
	}
	for name, leave := range leave {
		t.Run(name, func(t *testing.T) {
			b := echo()
			inHouse(t, websocket.Config{}, b, func(t *testing.T, h *house) {
				p := h.dial()
				p.text("client-ready", clientReady)
				p.until(rtvi.TypeBotReady)
				within(t, time.Second, func() {
					leave(p)
					if err := <-h.ended; !errors.Is(err, websocket.ErrPeerGone) {
						t.Errorf("ended with %v", err)
					}
				})
				disconnections(t, b)
			})
		})
	}
}

func TestAClientThatWasNeverReadyIsNotAnnouncedAsGone(t *testing.T) {
	b := echo()
	inHouse(t, websocket.Config{}, b, func(t *testing.T, h *house) {
		p := h.dial()
		synctest.Wait()
		_ = p.Close()
		if err := <-h.ended; !errors.Is(err, websocket.ErrPeerGone) {
			t.Errorf("ended with %v", err)
		}
		if n := len(seenOf[*frames.ClientDisconnectedFrame](b)); n != 0 {
			t.Errorf("announced %d times", n)
		}
	})
}

func TestTheSessionHearsOnceThatItsClientIsGoneAndNothingAfterwards(t *testing.T) {
	ends := map[string]func(p *peer){
		"the client leaves": func(p *peer) { _ = p.NetConn().Close() },
		"a message is too large": func(p *peer) {
			_ = p.WriteMessage(gorilla.TextMessage, make([]byte, 2000))
			_ = p.say(gorilla.TextMessage, "send-text", `{"content":"after"}`)
		},
		"a flood": func(p *peer) {
			for range 500 {
				_ = p.say(gorilla.TextMessage, "dtmf", `{"buttons":["1","2","3","4","5","6","7","8","9"]}`)
			}
			_ = p.say(gorilla.TextMessage, "send-text", `{"content":"after"}`)
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			inHouse(t, websocket.Config{MaxMessage: 1000}, nil, func(t *testing.T, h *house) {
				release := make(chan struct{})
				s := newScript(func(context.Context) error { <-release; return nil })
				h.session = s
				p := h.dial()
				p.text("client-ready", clientReady)
				go discard(p.NetConn())
				end(p)
				time.Sleep(2 * time.Second) // the session takes its time
				close(release)
				<-h.ended
				var told []string
				for _, f := range s.got {
					if _, key := f.(*frames.DTMFFrame); !key {
						told = append(told, fmt.Sprintf("%T", f))
					}
				}
				want := "*rtvi.ClientReadyFrame *frames.ClientConnectedFrame *frames.ClientDisconnectedFrame *frames.CancelFrame"
				if got := strings.Join(told, " "); got != want {
					t.Errorf("the session was told %s", got)
				}
				_ = p.Close()
			})
		})
	}
}

// chatter keeps talking once its client is connected, every millisecond.
func chatter(priority rtvi.Priority, size int) *bot {
	text := strings.Repeat("x", size)
	var talk func(b *bot)
	talk = func(b *bot) {
		b.Push(&rtvi.MessageFrame{Type: rtvi.TypeServerMessage, Data: text, Priority: priority}, pipeline.Downstream)
		b.After(pipeline.SessionScope, time.Millisecond, func() { talk(b) })
	}
	return &bot{on: func(b *bot, f frames.Frame) {
		if _, ok := f.(*frames.ClientConnectedFrame); ok {
			talk(b)
		}
	}}
}

func TestAClientThatGoesWhileItIsWrittenToIsGoneOnce(t *testing.T) {
	b := chatter(rtvi.Droppable, 2000)
	var log bytes.Buffer
	cfg := websocket.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))}
	inHouse(t, cfg, b, func(t *testing.T, h *house) {
		p := h.dial()
		p.text("client-ready", clientReady)
		p.until(rtvi.TypeServerMessage)
		time.Sleep(100 * time.Millisecond) // the writer is in the middle of a write
		within(t, time.Second, func() {
			_ = p.NetConn().Close()
			if err := <-h.ended; !errors.Is(err, websocket.ErrPeerGone) {
				t.Errorf("ended with %v", err)
			}
		})
		disconnections(t, b)
		if n := strings.Count(log.String(), "\n"); n > 2 {
			t.Errorf("%d lines in the log:\n%s", n, log.String())
		}
	})
}

func TestAClientThatNeverReadsIsDisconnected(t *testing.T) {
	b := chatter(rtvi.Essential, 1000)
	inHouse(t, websocket.Config{}, b, func(t *testing.T, h *house) {
		p := h.dial()
		p.text("client-ready", clientReady)
		within(t, 2*time.Second, func() { // 256 KiB at 1 KB a millisecond
			if err := <-h.ended; !errors.Is(err, websocket.ErrSlowReader) {
				t.Errorf("ended with %v", err)
			}
		})
		disconnections(t, b)
		_ = p.Close()
	})
}

func TestAWriteThatTakesTooLongDisconnects(t *testing.T) {
	b := echo()
	inHouse(t, websocket.Config{}, b, func(t *testing.T, h *house) {
		p := h.dial()
		p.text("client-ready", clientReady)
		within(t, 11*time.Second, func() {
			if err := <-h.ended; !errors.Is(err, websocket.ErrSlowReader) {
				t.Errorf("ended with %v", err)
			}
		})
		_ = p.Close()
	})
}

func TestASlowReaderMissesWhatIsDroppableAndNothingElse(t *testing.T) {
	const words = 50
	b := &bot{on: func(b *bot, f frames.Frame) {
		m, ok := f.(*frames.ClientMessageFrame)
		if !ok {
			return
		}
		for i := range words {
			for range 200 {
				b.Push(&rtvi.MessageFrame{Type: rtvi.TypeMetrics, Data: strings.Repeat("x", 100), Priority: rtvi.Droppable}, pipeline.Downstream)
			}
			b.Push(&frames.ServerMessageFrame{Data: fmt.Sprintf("word %d.", i)}, pipeline.Downstream)
		}
		b.Push(&frames.ServerMessageFrame{ReplyTo: m.ID, Type: "done"}, pipeline.Downstream)
	}}
	inHouse(t, websocket.Config{}, b, func(t *testing.T, h *house) {
		p := h.dial()
		p.text("client-ready", clientReady)
		p.until(rtvi.TypeBotReady)
		conn := <-h.conns
		p.text("client-message", `{"t":"go"}`)
		time.Sleep(5 * time.Second) // the client has other things to do
		droppable, essential := 0, 0
		for {
			g, err := p.next()
			if err != nil {
				t.Fatal(err)
			}
			if g.Type == rtvi.TypeMetrics {
				droppable++
			}
			if g.Type == rtvi.TypeServerMessage {
				if want := fmt.Sprintf(`"word %d."`, essential); string(g.Data) != want {
					t.Fatalf("got %s, want %s", g.Data, want)
				}
				essential++
			}
			if g.Type == rtvi.TypeServerResponse {
				break
			}
		}
		dropped := int(conn.Dropped())
		p.text("client-message", `{"t":"again"}`)
		p.until(rtvi.TypeMetrics) // what was read has made room
		p.until(rtvi.TypeServerResponse)
		if essential != words || droppable == 0 || droppable+dropped != 200*words {
			t.Errorf("%d of %d words came, %d of %d others, %d dropped", essential, words, droppable, 200*words, dropped)
		}
		_ = p.Close()
		<-h.ended
	})
}

func TestAPolicyMayDropNothing(t *testing.T) {
	b := chatter(rtvi.Droppable, 1000)
	inHouse(t, websocket.Config{SlowReader: websocket.CloseWhenFull}, b, func(t *testing.T, h *house) {
		p := h.dial()
		p.text("client-ready", clientReady)
		within(t, 2*time.Second, func() {
			if err := <-h.ended; !errors.Is(err, websocket.ErrSlowReader) {
				t.Errorf("ended with %v", err)
			}
		})
		if conn := <-h.conns; conn.Dropped() != 0 {
			t.Errorf("%d dropped", conn.Dropped())
		}
		_ = p.Close()
	})
}

func TestAPeerThatGivesNoSignOfLifeIsDead(t *testing.T) {
	b := echo()
	inHouse(t, websocket.Config{}, b, func(t *testing.T, h *house) {
		p := h.dial()
		p.text("client-ready", clientReady)
		go discard(p.NetConn()) // reads, and never answers a ping
		within(t, 31*time.Second, func() {
			if err := <-h.ended; !errors.Is(err, websocket.ErrPeerDead) {
				t.Errorf("ended with %v", err)
			}
		})
		disconnections(t, b)
		_ = p.Close()
	})
}

func TestAQuietPeerThatAnswersPingsLives(t *testing.T) {
	inHouse(t, websocket.Config{}, echo(), func(t *testing.T, h *house) {
		p := h.dial()
		p.text("client-ready", clientReady)
		read := make(chan []got)
		go func() {
			all, _ := p.rest()
			read <- all
		}()
		time.Sleep(time.Hour)
		p.text("send-text", `{"content":"still here"}`)
		p.text("disconnect-bot", "")
		if all := <-read; !has(all, rtvi.TypeBotOutput, "still here") {
			t.Errorf("got %v", all)
		}
		if err := <-h.ended; err != nil {
			t.Error(err)
		}
	})
}

func TestPingsAreAnswered(t *testing.T) {
	inHouse(t, websocket.Config{}, echo(), func(t *testing.T, h *house) {
		p := h.dial()
		pongs := make(chan string, 1)
		p.SetPongHandler(func(data string) error { pongs <- data; return nil })
		go p.rest()
		// Also before the client has said anything.
		if err := p.WriteControl(gorilla.PingMessage, []byte("marco"), time.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		if got := <-pongs; got != "marco" {
			t.Errorf("got %q", got)
		}
		_ = p.Close()
		<-h.ended
	})
}

func TestAClientThatNeverGetsReadyIsSentAway(t *testing.T) {
	inHouse(t, websocket.Config{}, echo(), func(t *testing.T, h *house) {
		p := h.dial()
		within(t, 62*time.Second, func() {
			all, code := p.rest()
			if !has(all, rtvi.TypeError, `"fatal":true`) || code != gorilla.ClosePolicyViolation {
				t.Errorf("got %v, code %d", all, code)
			}
		})
		if err := <-h.ended; !errors.Is(err, websocket.ErrNotReady) {
			t.Errorf("ended with %v", err)
		}
	})
}

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
		"of bytes": func(p *peer) error {
			return p.WriteMessage(gorilla.TextMessage, []byte(envelope("client-message", `"`+strings.Repeat("x", 500_000)+`"`)))
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
