package websocket_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
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

func TestAMessageThatTakesMinutesToSendIsASignOfLife(t *testing.T) {
	b := echo()
	inHouse(t, websocket.Config{}, b, func(t *testing.T, h *house) {
		p := h.dial()
		p.text("client-ready", clientReady)
		go discard(p.NetConn()) // reads, and never answers a ping
		w, err := p.NextWriter(gorilla.TextMessage)
		if err != nil {
			t.Fatal(err)
		}
		for part := range slices.Chunk([]byte(envelope("send-text", `{"content":"at last"`+strings.Repeat(" ", 20*4096)+`}`)), 4096) {
			if _, err := w.Write(part); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Second)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if texts := seenOf[*frames.UserTextFrame](b); len(texts) != 1 || texts[0].Text != "at last" {
			t.Errorf("the session got %v", texts)
		}
		select {
		case err := <-h.ended:
			t.Errorf("ended with %v", err)
		default:
		}
		_ = p.Close()
		<-h.ended
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
