package websocket_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
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
	"github.com/turnwise/turnwise/transport/websocket/wire"
)

// echo answers typed text with a line.
func echo() *bot {
	return &bot{on: func(b *bot, f frames.Frame) {
		if t, ok := f.(*frames.UserTextFrame); ok {
			b.say("You said: " + t.Text)
		}
	}}
}

func TestAClientOfJSONIsAnsweredInJSON(t *testing.T) {
	inHouse(t, websocket.Config{}, echo(), func(t *testing.T, h *house) {
		p := h.dial()
		p.text("client-ready", clientReady)
		if g := p.until(rtvi.TypeBotReady); g.ID != "r1" || g.kind != gorilla.TextMessage {
			t.Errorf("got %s, id %q, kind %d", g, g.ID, g.kind)
		}
		p.text("send-text", `{"content":"hello"}`)
		if g := p.until(rtvi.TypeBotOutput); !strings.Contains(g.String(), "You said: hello") || g.kind != gorilla.TextMessage {
			t.Errorf("got %s, kind %d", g, g.kind)
		}
		p.text("disconnect-bot", "")
		_, code := p.rest()
		if err := <-h.ended; err != nil || code != gorilla.CloseNormalClosure {
			t.Errorf("ended with %v, code %d", err, code)
		}
	})
}

func TestABinaryClientGetsMessagesAndAudioAlone(t *testing.T) {
	b := echo()
	on := b.on
	b.on = func(b *bot, f frames.Frame) {
		on(b, f)
		if _, ok := f.(*frames.UserTextFrame); ok {
			b.Push(&frames.OutputAudioFrame{PCM: frames.PCM{Samples: []int16{1, -2}, Rate: 24000, Channels: 1}}, pipeline.Downstream)
			b.Push(&frames.OutputAudioFrame{PCM: frames.PCM{Samples: []int16{9}, Rate: 16000, Channels: 1}}, pipeline.Downstream)
		}
	}
	inHouse(t, websocket.Config{}, b, func(t *testing.T, h *house) {
		p := h.dial()
		p.binary("client-ready", clientReady)
		if err := p.WriteMessage(gorilla.BinaryMessage, wire.AppendAudio(nil, []int16{5, 6}, 16000, 1)); err != nil {
			t.Fatal(err)
		}
		p.binary("send-text", `{"content":"hello"}`)
		p.binary("disconnect-bot", "")
		all, _ := p.rest()
		if err := <-h.ended; err != nil {
			t.Error(err)
		}
		var audio []wire.Frame
		for _, g := range all {
			if g.kind != gorilla.BinaryMessage {
				t.Errorf("%s came as text", g)
			}
			f, err := wire.Decode(g.raw)
			if err != nil || f.Kind != wire.Message && f.Kind != wire.Audio {
				t.Errorf("a frame of kind %d: %v", f.Kind, err)
			}
			if f.Kind == wire.Audio {
				audio = append(audio, f)
			}
		}
		if len(audio) != 1 || audio[0].Rate != websocket.PlaybackRate || string(audio[0].Audio) != "\x01\x00\xfe\xff" {
			t.Errorf("audio %+v; only that at 24 kHz must come", audio)
		}
		if !has(all, rtvi.TypeBotReady, "2.1.0") || !has(all, rtvi.TypeBotOutput, "You said: hello") {
			t.Errorf("got %v", all)
		}
		mic := seenOf[*frames.InputAudioFrame](b)
		if len(mic) != 1 || !slices.Equal(mic[0].Samples, []int16{5, 6}) || mic[0].Rate != 16000 {
			t.Errorf("the session heard %+v", mic)
		}
	})
}

func TestAudioForAClientOfJSONIsAMessage(t *testing.T) {
	b := &bot{on: func(b *bot, f frames.Frame) {
		if _, ok := f.(*frames.ClientConnectedFrame); ok {
			b.Push(&frames.OutputAudioFrame{PCM: frames.PCM{Samples: []int16{1, 2}, Rate: 16000}}, pipeline.Downstream)
		}
	}}
	inHouse(t, websocket.Config{}, b, func(t *testing.T, h *house) {
		p := h.dial()
		p.text("client-ready", clientReady)
		if g := p.until(rtvi.TypeBotTTSAudio); string(g.Data) != `{"audio":"AQACAA==","sample_rate":16000,"num_channels":1}` {
			t.Errorf("got %s", g)
		}
		_ = p.Close()
		<-h.ended
	})
}

func TestBothFormsAreUnderstoodAtAnyTime(t *testing.T) {
	inHouse(t, websocket.Config{}, echo(), func(t *testing.T, h *house) {
		p := h.dial()
		p.text("client-ready", clientReady)
		p.binary("send-text", `{"content":"hello"}`)
		if g := p.until(rtvi.TypeBotOutput); g.kind != gorilla.TextMessage {
			t.Errorf("answered in kind %d, though the first message was text", g.kind)
		}
		_ = p.Close()
		<-h.ended
	})
}

func TestWhatIsSentBeforeTheClientSpeaksWaitsForItsForm(t *testing.T) {
	b := &bot{on: func(b *bot, f frames.Frame) {
		if _, ok := f.(*frames.StartFrame); ok {
			b.say("Early one.")
			b.say("Early two.")
		}
	}}
	inHouse(t, websocket.Config{}, b, func(t *testing.T, h *house) {
		p := h.dial()
		synctest.Wait()
		p.binary("client-ready", clientReady)
		var early []string
		for range 5 {
			g, err := p.next()
			if err != nil || g.kind != gorilla.BinaryMessage {
				t.Fatalf("%s, kind %d, %v", g, g.kind, err)
			}
			if g.Type == rtvi.TypeBotOutput {
				early = append(early, string(g.Data))
			}
		}
		if len(early) != 2 || !strings.Contains(early[0], "one") || !strings.Contains(early[1], "two") {
			t.Errorf("got %q", early)
		}
		_ = p.Close()
		<-h.ended
	})
}

func TestMessagesOfAllSizesArriveWholeAndInOrder(t *testing.T) {
	for form, name := range map[int]string{gorilla.TextMessage: "JSON", gorilla.BinaryMessage: "binary"} {
		t.Run(name, func(t *testing.T) {
			sizes := rand.New(rand.NewPCG(1, 2))
			var sent []string
			b := &bot{on: func(b *bot, f frames.Frame) {
				if _, ok := f.(*frames.ClientMessageFrame); !ok {
					return
				}
				for range 1 + sizes.IntN(40) {
					text := strings.Repeat(string(rune('a'+len(sent)%26)), 1<<sizes.IntN(16)+sizes.IntN(300))
					sent = append(sent, text)
					b.Push(&frames.ServerMessageFrame{Data: text}, pipeline.Downstream)
				}
				b.Push(&frames.ServerMessageFrame{ReplyTo: "r1"}, pipeline.Downstream)
			}}
			inHouse(t, websocket.Config{MaxQueue: 1 << 30}, b, func(t *testing.T, h *house) {
				p := h.dial()
				if err := p.say(form, "client-ready", clientReady); err != nil {
					t.Fatal(err)
				}
				var received []string
				for range 30 {
					if err := p.say(form, "client-message", `{"t":"go"}`); err != nil {
						t.Fatal(err)
					}
					if err := p.WriteControl(gorilla.PingMessage, []byte("x"), time.Now().Add(time.Second)); err != nil {
						t.Fatal(err)
					}
					for {
						g, err := p.next()
						if err != nil {
							t.Fatal(err)
						}
						if g.Type == rtvi.TypeServerResponse {
							break
						}
						if g.Type == rtvi.TypeServerMessage {
							received = append(received, strings.Trim(string(g.Data), `"`))
						}
					}
				}
				_ = p.Close()
				<-h.ended
				if !slices.Equal(received, sent) {
					t.Errorf("%d messages of %d, or other ones", len(received), len(sent))
				}
			})
		})
	}
}

func TestAFarewellIsDeliveredBeforeTheClose(t *testing.T) {
	inHouse(t, websocket.Config{}, echo(), func(t *testing.T, h *house) {
		p := h.dial()
		p.text("client-ready", clientReady)
		p.until(rtvi.TypeBotReady)
		for i := range 200 {
			h.task.QueueFrame(&frames.SpeakFrame{Text: fmt.Sprintf("Line %d.", i)})
		}
		h.task.QueueFrame(&frames.SpeakFrame{Text: "Goodbye."})
		h.task.End("done")
		synctest.Wait()
		within(t, time.Second, func() {
			all, code := p.rest()
			if !has(all, rtvi.TypeBotOutput, "Line 199.") || !has(all, rtvi.TypeBotOutput, "Goodbye.") || code != gorilla.CloseNormalClosure {
				t.Errorf("%d messages, closed with %d", len(all), code)
			}
			if err := <-h.ended; err != nil {
				t.Error(err)
			}
		})
		if n := len(seenOf[*frames.ClientDisconnectedFrame](h.bot)); n != 0 {
			t.Errorf("%d disconnections, though the session ended first", n)
		}
	})
}

func TestAClientThatDoesNotAnswerTheCloseIsCut(t *testing.T) {
	inHouse(t, websocket.Config{}, echo(), func(t *testing.T, h *house) {
		p := h.dial()
		p.SetCloseHandler(func(int, string) error { return nil })
		p.text("client-ready", clientReady)
		p.until(rtvi.TypeBotReady)
		h.task.End("done")
		go discard(p.NetConn())
		within(t, time.Second, func() {
			if err := <-h.ended; err != nil {
				t.Error(err)
			}
		})
		_ = p.Close()
	})
}

func TestAClientThatReadsNothingCannotHoldTheEnd(t *testing.T) {
	inHouse(t, websocket.Config{}, echo(), func(t *testing.T, h *house) {
		p := h.dial()
		p.text("client-ready", clientReady)
		synctest.Wait()
		h.task.End("done")
		within(t, time.Second, func() { <-h.ended })
		_ = p.Close()
	})
}

func TestACancelledContextSaysGoingAway(t *testing.T) {
	inHouse(t, websocket.Config{}, echo(), func(t *testing.T, h *house) {
		p := h.dial()
		p.text("client-ready", clientReady)
		p.until(rtvi.TypeBotReady)
		h.stop()
		_, code := p.rest()
		err := <-h.ended
		var cancelled *pipeline.CancelError
		if !errors.As(err, &cancelled) && !errors.Is(err, context.Canceled) || code != gorilla.CloseGoingAway {
			t.Errorf("ended with %v, code %d", err, code)
		}
	})
}

func TestAFailingSessionIsToldWithoutSecrets(t *testing.T) {
	b := &bot{on: func(b *bot, f frames.Frame) {
		if _, ok := f.(*frames.UserTextFrame); ok {
			b.Fail(errors.New("password hunter2 was refused"))
		}
	}}
	inHouse(t, websocket.Config{}, b, func(t *testing.T, h *house) {
		p := h.dial()
		p.text("client-ready", clientReady)
		p.text("send-text", `{"content":"x"}`)
		all, code := p.rest()
		err := <-h.ended
		if err == nil || !strings.Contains(err.Error(), "hunter2") || code != gorilla.CloseInternalServerErr {
			t.Errorf("ended with %v, code %d", err, code)
		}
		if !has(all, rtvi.TypeError, `"fatal":true`) || strings.Contains(fmt.Sprint(all), "hunter2") {
			t.Errorf("got %v", all)
		}
	})
}

func TestAFatalErrorIsToldOnce(t *testing.T) {
	b := &bot{on: func(b *bot, f frames.Frame) {
		if _, ok := f.(*frames.UserTextFrame); ok {
			b.Push(&frames.ErrorFrame{Public: "No model.", Fatal: true}, pipeline.Upstream)
		}
	}}
	inHouse(t, websocket.Config{}, b, func(t *testing.T, h *house) {
		p := h.dial()
		p.text("client-ready", clientReady)
		p.text("send-text", `{"content":"x"}`)
		all, _ := p.rest()
		<-h.ended
		n := 0
		for _, g := range all {
			if g.Type == rtvi.TypeError {
				n++
			}
		}
		if n != 1 || !has(all, rtvi.TypeError, "No model.") {
			t.Errorf("got %v", all)
		}
	})
}
