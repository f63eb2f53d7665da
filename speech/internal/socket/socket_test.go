package socket_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/internal/secret"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/speech/internal/failure"
	"github.com/turnwise/turnwise/speech/internal/socket"
	"github.com/turnwise/turnwise/speech/internal/socket/sockettest"
)

const key = "sk-very-secret-key"

func config(s *sockettest.Server) socket.Config {
	return socket.Config{
		URL: "ws://vendor.test/x", Dial: s.Dial,
		Failures: failure.New("vendor", sockettest.URL, secret.Of(key, nil)),
	}
}

func wantError(t *testing.T, err error, category frames.ErrorCategory, text string) {
	t.Helper()
	var e *llm.Error
	if !errors.As(err, &e) || e.Category != category || !strings.Contains(err.Error(), text) || strings.Contains(err.Error(), key) {
		t.Errorf("error is %v", err)
	}
}

func TestHowAConnectionEndsTellsWhy(t *testing.T) {
	for name, c := range map[string]struct {
		end      func(*sockettest.Peer)
		category frames.ErrorCategory
		text     string
	}{
		"it breaks":                {func(p *sockettest.Peer) { p.Drop() }, frames.ErrorNetwork, "middle"},
		"it is closed":             {func(p *sockettest.Peer) { p.Close(1000, "") }, frames.ErrorNetwork, "1000"},
		"the server goes away":     {func(p *sockettest.Peer) { p.Close(1001, "") }, frames.ErrorNetwork, "1001"},
		"for lack of audio":        {func(p *sockettest.Peer) { p.Close(1011, "NET-0001 no audio came") }, frames.ErrorTimeout, "no audio came (NET-0001)"},
		"for its policy":           {func(p *sockettest.Peer) { p.Close(1008, "not with "+key) }, frames.ErrorInvalid, "not with [redacted]"},
		"for an error of its own":  {func(p *sockettest.Peer) { p.Close(1011, "oh no") }, frames.ErrorServer, "oh no"},
		"after a binary message":   {func(p *sockettest.Peer) { p.SendBinary([]byte{1}) }, frames.ErrorServer, "binary"},
		"after far too much":       {func(p *sockettest.Peer) { p.Send(strings.Repeat("x", 9<<20)) }, frames.ErrorServer, "limit"},
		"by what handles messages": {func(p *sockettest.Peer) { p.Send("bad") }, frames.ErrorInternal, "handled"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := sockettest.New(t, func(p *sockettest.Peer) {
					c.end(p)
					_ = p.Gone()
				})
				cfg := config(s)
				conn, err := socket.Dial(t.Context(), &cfg, func([]byte) error {
					return &llm.Error{Category: frames.ErrorInternal, Err: errors.New("handled")}
				})
				if err != nil {
					t.Fatal(err)
				}
				<-conn.Done()
				wantError(t, conn.Err(), c.category, c.text)
				if err := conn.WriteJSON(t.Context(), 1); err == nil {
					t.Error("it can still be written to")
				}
			})
		})
	}
}

func TestRefusedHandshakes(t *testing.T) {
	for status, category := range map[int]frames.ErrorCategory{
		200: frames.ErrorServer, 302: frames.ErrorInvalid, 400: frames.ErrorInvalid, 401: frames.ErrorAuth,
		402: frames.ErrorQuota, 429: frames.ErrorRateLimit, 503: frames.ErrorServer,
	} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := sockettest.New(t, nil)
				s.Refuse = func(w http.ResponseWriter, _ *http.Request) bool {
					w.Header().Set("Retry-After", "7")
					w.WriteHeader(status)
					_, _ = fmt.Fprintf(w, `{"message":"no, %s"}`, key)
					return true
				}
				cfg := config(s)
				_, err := socket.Dial(t.Context(), &cfg, nil)
				wantError(t, err, category, "")
				var e *llm.Error
				if errors.As(err, &e) && status >= 300 && (e.Status != status || e.RetryAfter != 7*time.Second) {
					t.Errorf("status %d, retry after %s", e.Status, e.RetryAfter)
				}
			})
		})
	}
}

func TestServersThatAreNotThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := sockettest.New(t, nil)
		s.Refuse = func(_ http.ResponseWriter, r *http.Request) bool {
			<-r.Context().Done()
			return true
		}
		cfg := config(s)
		_, err := socket.Dial(t.Context(), &cfg, nil)
		wantError(t, err, frames.ErrorTimeout, "in time")

		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("enough"))
		defer cancel()
		_, err = socket.Dial(ctx, &cfg, nil)
		wantError(t, err, frames.ErrorTimeout, "enough")

		s.Down()
		_, err = socket.Dial(t.Context(), &cfg, nil)
		wantError(t, err, frames.ErrorNetwork, "cannot reach vendor.test")
	})
}

func TestALivingConnectionLastsAndADeadOneDoesNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pings := make(chan int, 1)
		s := sockettest.New(t, func(p *sockettest.Peer) {
			if p.Number == 1 {
				_ = p.Gone()
				pings <- p.Pings()
				return
			}
			_, _, _ = p.Receive()
		})
		cfg := config(s)
		alive, err := socket.Dial(t.Context(), &cfg, nil)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		alive.Close()
		<-alive.Done()
		if n := <-pings; n < 30 {
			t.Errorf("the server got %d pings", n)
		}

		silent := cfg
		silent.Dial = s.DialMute
		dead, err := socket.Dial(t.Context(), &silent, nil)
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		<-dead.Done()
		wantError(t, dead.Err(), frames.ErrorTimeout, "middle")
		if d := time.Since(begun); d > time.Minute {
			t.Errorf("it was noticed after %s", d)
		}
	})
}

func TestAWriteEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := sockettest.New(t, func(p *sockettest.Peer) { _ = p.Gone() })
		cfg := config(s)
		cfg.Dial = s.DialMute
		conn, err := socket.Dial(t.Context(), &cfg, nil)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		begun := time.Now()
		err = conn.WriteBinary(ctx, make([]byte, 1<<20))
		wantError(t, err, frames.ErrorTimeout, "deadline")
		if d := time.Since(begun); d != 10*time.Millisecond {
			t.Errorf("it ended after %s", d)
		}
		<-conn.Done()
	})
}
