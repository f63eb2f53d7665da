package telephony_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/transport/telephony"
)

func TestWhatIsNoCarriersStreamIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		sends []string
		after time.Duration
	}{
		"silence":                    {nil, 10 * time.Second},
		"no JSON":                    {[]string{"hello"}, 0},
		"sound before the start":     {[]string{`{"event":"media"}`}, 0},
		"never a start":              {[]string{`{"event":"connected"}`, `{"event":"connected"}`}, 0},
		"a start of nobody":          {[]string{`{"event":"start","start":{"callSid":"CA1"}}`}, 0},
		"a codec that is not spoken": {[]string{`{"event":"start","stream_id":"s","start":{"call_control_id":"c","media_format":{"encoding":"OPUS"}}}`}, 0},
		"a start of a megabyte":      {[]string{`{"event":"start","start":{"callSid":"` + strings.Repeat("x", 1<<20) + `"}}`}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			board(t, telephony.Config{}, serve, func(t *testing.T, b *switchboard, _ *session) {
				begun := time.Now()
				ws, err := b.dial(nil)
				if err != nil {
					t.Fatal(err)
				}
				go func() {
					for _, m := range c.sends {
						_ = ws.WriteMessage(websocket.TextMessage, []byte(m)) // it may be too much
					}
				}()
				if _, _, err := ws.ReadMessage(); err == nil {
					t.Error("it was answered")
				}
				if err := <-b.refused; err == nil {
					t.Error("it was refused for nothing")
				}
				if took := time.Since(begun); took != c.after {
					t.Errorf("it took %s, not %s", took, c.after)
				}
				_ = ws.Close()
			})
		})
	}
}

func TestAPageIsNoCarrier(t *testing.T) {
	board(t, telephony.Config{}, serve, func(t *testing.T, b *switchboard, _ *session) {
		if _, err := b.dial(http.Header{"Origin": {"https://evil.example"}}); err == nil {
			t.Error("a page was let in")
		}
		<-b.refused
	})
}

func TestACarrierThatGoesWrongEndsTheCall(t *testing.T) {
	big := `{"event":"media","media":{"payload":"` + strings.Repeat("A", 70_000) + `"}}`
	for name, c := range map[string]struct {
		does func(p *phone)
		want error
	}{
		"it sends nothing any more": {func(*phone) {}, telephony.ErrPeerDead},
		"it floods": {func(p *phone) {
			for p.ws.WriteMessage(websocket.TextMessage, []byte(`{"event":"mark"}`)) == nil {
			}
		}, telephony.ErrFlood},
		"it sends no JSON":           {func(p *phone) { p.send("]") }, telephony.ErrProtocol},
		"it sends broken sound":      {func(p *phone) { p.send(p.media("%%")) }, telephony.ErrProtocol},
		"it sends too large a piece": {func(p *phone) { _ = p.ws.WriteMessage(websocket.TextMessage, []byte(big)) }, telephony.ErrProtocol},
	} {
		t.Run(name, func(t *testing.T) {
			board(t, telephony.Config{}, serve, func(t *testing.T, b *switchboard, s *session) {
				p := b.ring(scripts[0])
				<-b.conns
				go c.does(p)
				if err := <-b.over; !errors.Is(err, c.want) {
					t.Errorf("it ended with %v, not %v", err, c.want)
				}
				<-p.closed
				_ = p.ws.Close()
				synctest.Wait()
				if n := len(gotten[*frames.ClientDisconnectedFrame](s)); n != 1 {
					t.Errorf("the session was told %d times", n)
				}
			})
		})
	}
}

// A second start, unknown events and marks are nothing to a call under way.
func TestACallGoesOnThroughWhatItDoesNotKnow(t *testing.T) {
	each(t, func(t *testing.T, sc script) {
		board(t, telephony.Config{}, serve, func(t *testing.T, b *switchboard, s *session) {
			p := b.ring(sc)
			<-b.conns
			for _, m := range append(sc.begin, `{"event":"mark","mark":{"name":"x"}}`, `{"event":"news"}`, `{}`, `{"event":"media","media":{"track":"outbound","payload":"AAAA"}}`, sc.media("AAAA")) {
				p.send(m)
			}
			synctest.Wait()
			if n := len(gotten[*frames.InputAudioFrame](s)); n != 1 {
				t.Errorf("%d pieces of sound came in", n)
			}
			p.hangsUp()
			<-b.over
		})
	})
}

// A carrier that does not read: sound is dropped, counted, and after the time for a
// write the call is over.
func TestACarrierThatDoesNotReadLosesSoundAndThenTheCall(t *testing.T) {
	board(t, telephony.Config{}, func(c *telephony.Conn, s *session) error {
		c.Play(&tone{})
		return c.Run(context.Background(), s)
	}, func(t *testing.T, b *switchboard, _ *session) {
		ws, err := b.dial(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range scripts[0].begin {
			if err := ws.WriteMessage(websocket.TextMessage, []byte(m)); err != nil {
				t.Fatal(err)
			}
		}
		conn := <-b.conns
		begun := time.Now()
		if err := <-b.over; !errors.Is(err, telephony.ErrCarrierGone) {
			t.Errorf("it ended with %v", err)
		}
		if took := time.Since(begun); took < 5*time.Second || took > 6*time.Second {
			t.Errorf("it took %s", took)
		}
		if conn.Dropped() < 100 {
			t.Errorf("%d pieces were dropped", conn.Dropped())
		}
		_ = ws.Close()
	})
}

func TestASessionThatDoesNotEndIsReported(t *testing.T) {
	board(t, telephony.Config{StopTimeout: time.Second}, func(c *telephony.Conn, s *session) error {
		return c.Run(context.Background(), &stubborn{session: s, until: time.Minute})
	}, func(t *testing.T, b *switchboard, _ *session) {
		p := b.ring(scripts[0])
		<-b.conns
		p.hangsUp()
		if err := <-b.over; !errors.Is(err, telephony.ErrStuck) {
			t.Errorf("it ended with %v", err)
		}
		time.Sleep(2 * time.Minute) // until the session has gone
	})
}

// stubborn is a session that takes its time whatever happens.
type stubborn struct {
	*session
	until time.Duration
}

func (s *stubborn) Run(context.Context) error {
	time.Sleep(s.until)
	return nil
}

func TestConfigurationsNameWhatIsWrong(t *testing.T) {
	for field, cfg := range map[string]telephony.Config{
		"HangUpTimeout": {HangUpTimeout: -1}, "StartTimeout": {StartTimeout: -1}, "SilenceTimeout": {SilenceTimeout: -1},
		"WriteTimeout": {WriteTimeout: -1}, "StopTimeout": {StopTimeout: -1}, "MaxMessage": {MaxMessage: -1},
		"MessageRate": {MessageRate: -1}, "MessageBurst": {MessageBurst: -1},
	} {
		if _, err := telephony.NewExchange(cfg); !errors.Is(err, telephony.ErrConfig) || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
}
