package webrtc_test

import (
	"context"
	"flag"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/transport/rtvi"
	"github.com/turnwise/turnwise/transport/webrtc"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if *callers != "" {
		callOften(*callers)
	}
	goleak.VerifyTestMain(m)
}

// wait is how long something may take on a machine that is busy with other things.
const wait = 20 * time.Second

// session is one that does nothing but note what it gets. It ends on request.
type session struct {
	frames chan frames.Frame
	ended  chan error
	once   sync.Once

	mu      sync.Mutex
	samples []int16
	pieces  int
	gone    int // ClientDisconnectedFrames
	onReady func()
}

func newSession() *session {
	return &session{frames: make(chan frames.Frame, 1000), ended: make(chan error, 1)}
}

func (s *session) Run(ctx context.Context) error {
	select {
	case err := <-s.ended:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *session) QueueFrame(f frames.Frame) { _ = s.Enqueue(context.Background(), f) }

func (s *session) Enqueue(_ context.Context, f frames.Frame) error {
	switch f := f.(type) {
	case *frames.InputAudioFrame:
		s.mu.Lock()
		s.samples = append(s.samples, f.Samples...)
		s.pieces++
		s.mu.Unlock()
		return nil
	case *frames.CancelFrame:
		s.end(nil)
	case *frames.ClientDisconnectedFrame:
		s.mu.Lock()
		s.gone++
		s.mu.Unlock()
	case *rtvi.ClientReadyFrame:
		if f.Answered != nil {
			f.Answered()
		}
		if s.onReady != nil {
			s.onReady()
		}
	}
	s.frames <- f
	return nil
}

// end ends the session.
func (s *session) end(err error) { s.once.Do(func() { s.ended <- err }) }

// heard is a copy of the caller's sound so far.
func (s *session) heard() []int16 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]int16(nil), s.samples...)
}

func (s *session) disconnects() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gone
}

// await waits for a frame of a type.
func await[T frames.Frame](t *testing.T, s *session) T {
	t.Helper()
	limit := time.After(wait)
	for {
		select {
		case f := <-s.frames:
			if want, ok := f.(T); ok {
				return want
			}
		case <-limit:
			var want T
			t.Fatalf("no %T came", want)
		}
	}
}

// server is an engine with its requests answered over HTTP.
type server struct {
	*httptest.Server
	engine *webrtc.Engine
	calls  chan *call
	refuse func(*webrtc.Call) error
	// rejects has calls rejected instead of run.
	rejects bool
	source  webrtc.AudioSource
	wrap    func(*webrtc.Conn, *session) webrtc.Session
}

// call is one that was opened.
type call struct {
	conn    *webrtc.Conn
	info    *webrtc.Call
	session *session
	over    chan error
}

func local(cfg webrtc.Config) webrtc.Config {
	cfg.Loopback = true
	if cfg.Networks == nil {
		cfg.Networks = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	}
	return cfg
}

func serve(t testing.TB, cfg webrtc.Config) *server {
	t.Helper()
	engine, err := webrtc.NewEngine(local(cfg))
	if err != nil {
		t.Fatal(err)
	}
	s := &server{engine: engine, calls: make(chan *call, 100)}
	sig, err := engine.Signalling(webrtc.SignallingConfig{Open: s.open})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/api/offer", sig)
	mux.Handle("/sessions/{session}/api/offer", sig)
	mux.HandleFunc("POST /start", sig.ServeStart)
	s.Server = httptest.NewServer(mux)
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
		s.Server.Close()
	})
	return s
}

func (s *server) open(info *webrtc.Call) error {
	if s.refuse != nil {
		if err := s.refuse(info); err != nil {
			return err
		}
	}
	conn, err := info.Accept()
	if err != nil {
		return err
	}
	conn.Play(s.source)
	c := &call{conn: conn, info: info, session: newSession(), over: make(chan error, 1)}
	var served webrtc.Session = c.session
	if s.wrap != nil {
		served = s.wrap(conn, c.session)
	}
	go func() {
		if s.rejects {
			conn.Reject("No bot today.")
			c.over <- nil
			return
		}
		c.over <- conn.Run(context.Background(), served)
	}()
	s.calls <- c
	return nil
}

// take is the call that was opened next.
func (s *server) take(t testing.TB) *call {
	t.Helper()
	select {
	case c := <-s.calls:
		return c
	case <-time.After(wait):
		t.Fatal("no call was opened")
		return nil
	}
}

// ends waits for the end of a call and returns its error.
func (c *call) ends(t testing.TB) error {
	t.Helper()
	select {
	case err := <-c.over:
		return err
	case <-time.After(wait):
		t.Fatal("the call does not end")
		return nil
	}
}
