package telephony_test

import (
	"context"
	"encoding/base64"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/turnwise/turnwise/audio/g711"
	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
	"github.com/turnwise/turnwise/speech"
	"github.com/turnwise/turnwise/transport/telephony"
)

// each runs a test as a call of every carrier's.
func each(t *testing.T, fn func(t *testing.T, sc script)) {
	for _, sc := range scripts {
		t.Run(string(sc.carrier), func(t *testing.T) { fn(t, sc) })
	}
}

func TestEveryCarrierIsKnownByItsFirstMessages(t *testing.T) {
	each(t, func(t *testing.T, sc script) {
		board(t, telephony.Config{}, serve, func(t *testing.T, b *switchboard, s *session) {
			p := b.ring(sc)
			got := (<-b.conns).Info()
			want := sc.want
			if sc.carrier == telephony.Twilio || sc.carrier == telephony.Exotel {
				if got.Parameters["lang"] != "en" {
					t.Errorf("the parameters are %v", got.Parameters)
				}
				want.Parameters = maps.Clone(got.Parameters)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v, want %+v", got, want)
			}
			p.hangsUp()
			<-b.over
		})
	})
}

// tone is a source that never ends.
type tone struct{ n atomic.Int64 }

func (s *tone) Read(dst []int16) int {
	for i := range dst {
		dst[i] = int16(4000 + s.n.Add(1)%100)
	}
	return len(dst)
}

func TestSoundTravelsBothWaysAtItsPace(t *testing.T) {
	each(t, func(t *testing.T, sc script) {
		board(t, telephony.Config{}, func(c *telephony.Conn, s *session) error {
			c.Play(&tone{})
			return c.Run(context.Background(), s)
		}, func(t *testing.T, b *switchboard, s *session) {
			p := b.ring(sc)
			<-b.conns
			pcm := make([]int16, 160)
			for i := range pcm {
				pcm[i] = int16(100 * i)
			}
			var coded []byte
			switch sc.want.Encoding {
			case telephony.Linear:
				for _, v := range pcm {
					coded = append(coded, byte(v), byte(v>>8))
				}
			case telephony.ALaw:
				coded = g711.AppendALaw(nil, pcm)
			default:
				coded = g711.AppendULaw(nil, pcm)
			}
			for range 50 {
				// Odd sizes: what is left of a sample belongs to the next message.
				for part := range slices.Chunk(coded, 53) {
					p.send(sc.media(base64.StdEncoding.EncodeToString(part)))
				}
				time.Sleep(20 * time.Millisecond)
			}
			synctest.Wait()
			var in []int16
			for _, f := range gotten[*frames.InputAudioFrame](s) {
				if f.Rate != 8000 || f.Channels != 1 {
					t.Fatalf("the sound has %d Hz, %d channels", f.Rate, f.Channels)
				}
				in = append(in, f.Samples...)
			}
			if len(in) != 50*160 {
				t.Fatalf("%d samples came in, not 8000", len(in))
			}
			for i, v := range in {
				if d := int(v) - int(pcm[i%160]); d > 1000 || d < -1000 {
					t.Fatalf("sample %d is %d, not about %d", i, v, pcm[i%160])
				}
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			if n := len(p.sounds); n < 49 || n > 52 {
				t.Errorf("%d pieces of 20 ms went out in a second", n)
			}
			for i := 1; i < len(p.sounds); i++ {
				if d := p.sounds[i].Sub(p.sounds[i-1]); d != 20*time.Millisecond {
					t.Fatalf("piece %d came %s after the one before", i, d)
				}
			}
			go p.hangsUp()
			p.mu.Unlock()
			<-b.over
			p.mu.Lock()
		})
	})
}

func TestKeysAreHeard(t *testing.T) {
	each(t, func(t *testing.T, sc script) {
		board(t, telephony.Config{}, serve, func(t *testing.T, b *switchboard, s *session) {
			p := b.ring(sc)
			<-b.conns
			for _, key := range []string{"1", "#", "x", "12", ""} {
				p.send(`{"event":"dtmf","streamSid":"MZ1","dtmf":{"track":"inbound_track","digit":"` + key + `"}}`)
			}
			synctest.Wait()
			var keys []string
			for _, f := range gotten[*frames.DTMFFrame](s) {
				keys = append(keys, f.Buttons...)
			}
			if got := strings.Join(keys, " "); got != "1 #" {
				t.Errorf("the keys are %q", got)
			}
			p.hangsUp()
			<-b.over
		})
	})
}

// serve serves a session and nothing else.
func serve(c *telephony.Conn, s *session) error { return c.Run(context.Background(), s) }

// playout clears its buffer when the bot is interrupted.
type playout struct {
	pipeline.Base
	buffer *speech.Buffer
}

func (p *playout) Process(f frames.Frame, dir pipeline.Direction) { p.Push(f, dir) }

func (p *playout) Interrupt(*frames.InterruptionFrame) { p.buffer.Clear() }

// Half a minute of speech is queued; the user interrupts. The carrier is told to drop what
// it has, once, and at most the piece that was being sent follows.
func TestAnInterruptionEmptiesTheCarrier(t *testing.T) {
	each(t, func(t *testing.T, sc script) {
		var running atomic.Pointer[pipeline.Task]
		board(t, telephony.Config{}, func(c *telephony.Conn, s *session) error {
			buffer := &speech.Buffer{}
			buffer.Append(make([]int16, 30*telephony.Rate))
			c.Play(buffer)
			task, err := pipeline.NewTask(pipeline.MustNew(&playout{buffer: buffer}, c.Output()), pipeline.Params{})
			if err != nil {
				return err
			}
			running.Store(task)
			return c.Run(context.Background(), task)
		}, func(t *testing.T, b *switchboard, s *session) {
			p := b.ring(sc)
			<-b.conns
			time.Sleep(500*time.Millisecond + time.Millisecond)
			running.Load().Interrupt("the user speaks")
			time.Sleep(time.Second)
			events := p.seen()
			at := slices.Index(events, "clear")
			if at < 20 || slices.Contains(events[at+1:], "clear") {
				t.Fatalf("of %d events the clearing is number %d", len(events), at)
			}
			if after := len(events) - at - 1; after > 1 {
				t.Errorf("%d pieces of sound followed it", after)
			}
			p.hangsUp()
			<-b.over
		})
	})
}

func TestACallerWhoHangsUpEndsTheSession(t *testing.T) {
	for name, leave := range map[string]func(p *phone){
		"with a stop": func(p *phone) { p.send(`{"event":"stop","streamSid":"MZ1","stop":{}}`); <-p.closed; _ = p.ws.Close() },
		"with a closed socket": func(p *phone) {
			_ = p.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(1000, ""), time.Now().Add(time.Second))
			<-p.closed
			_ = p.ws.Close()
		},
		"without a word": func(p *phone) { p.hangsUp() },
	} {
		t.Run(name, func(t *testing.T) {
			called := &hook{}
			board(t, telephony.Config{HangUp: called}, serve, func(t *testing.T, b *switchboard, s *session) {
				p := b.ring(scripts[0])
				<-b.conns
				synctest.Wait()
				leave(p)
				if err := <-b.over; !errors.Is(err, telephony.ErrPeerGone) && !errors.Is(err, telephony.ErrCarrierGone) {
					t.Errorf("the call ended with %v", err)
				}
				if n := len(gotten[*frames.ClientDisconnectedFrame](s)); n != 1 {
					t.Errorf("the session was told %d times", n)
				}
				if n := len(gotten[*frames.ClientConnectedFrame](s)); n != 1 {
					t.Errorf("the session was greeted %d times", n)
				}
				if called.n.Load() != 0 {
					t.Error("a call that was over was hung up")
				}
			})
		})
	}
}

// hook counts hang-ups.
type hook struct {
	n   atomic.Int64
	err error
}

func (h *hook) HangUp(_ context.Context, call telephony.Info) error {
	if call.Call != "CA1" {
		return errors.New("another call")
	}
	h.n.Add(1)
	return h.err
}

func TestTheEndOfTheSessionHangsUpBehindTheLastSound(t *testing.T) {
	for name, failure := range map[string]error{"well": nil, "though the carrier refuses": errors.New("no")} {
		t.Run(name, func(t *testing.T) {
			called := &hook{err: failure}
			board(t, telephony.Config{HangUp: called}, func(c *telephony.Conn, s *session) error {
				c.Play(&tone{})
				return c.Run(context.Background(), s)
			}, func(t *testing.T, b *switchboard, s *session) {
				p := b.ring(scripts[0])
				<-b.conns
				time.Sleep(time.Second)
				s.end(nil)
				if err := <-b.over; err != nil {
					t.Errorf("the call ended with %v", err)
				}
				if code := <-p.closed; code != websocket.CloseNormalClosure {
					t.Errorf("the stream was closed with %d", code)
				}
				if called.n.Load() != 1 {
					t.Errorf("it was hung up %d times", called.n.Load())
				}
				if n := len(p.seen()); n < 49 {
					t.Errorf("%d pieces of sound came", n)
				}
				_ = p.ws.Close()
			})
		})
	}
}

func TestARejectedCallIsHungUp(t *testing.T) {
	called := &hook{}
	board(t, telephony.Config{HangUp: called}, func(c *telephony.Conn, s *session) error { c.Reject("all lines are busy"); return nil }, func(t *testing.T, b *switchboard, s *session) {
		p := b.ring(scripts[0])
		<-b.conns
		<-b.over
		<-p.closed
		if called.n.Load() != 1 {
			t.Errorf("it was hung up %d times", called.n.Load())
		}
		_ = p.ws.Close()
	})
}
