package interop

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnwise/turnwise/examples/tablebooking/booking"
	"github.com/turnwise/turnwise/flows"
	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/llm/offline"
	"github.com/turnwise/turnwise/pipeline"
	"github.com/turnwise/turnwise/server"
	"github.com/turnwise/turnwise/test/peer"
	"github.com/turnwise/turnwise/transport/rtvi"
)

// system is what a test talks to: the server with the table booking demo and the
// offline model, and the site that the application is loaded from, which is
// another origin.
type system struct {
	server    *server.Server
	audio     *atomic.Int64 // samples of microphone audio that reached a session
	httpURL   string
	socketURL string
	pageURL   string
}

// start brings both up, and takes them down when the test ends.
func start(t *testing.T) *system {
	t.Helper()
	return startWith(t, server.Config{})
}

// startWith is start with settings of the server's; without a bot in them it is the
// system's own.
func startWith(t *testing.T, cfg server.Config) *system {
	t.Helper()
	s := &system{audio: &atomic.Int64{}}
	if cfg.Bot == nil {
		cfg.Bot = server.BotFunc(s.session)
	}
	site := httptest.NewServer(serveApp(bundle(t)))
	t.Cleanup(site.Close)
	s.pageURL = site.URL

	var err error
	cfg.AllowedOrigins = []string{site.URL}
	cfg.Functions = &rtvi.FunctionReport{Level: rtvi.ReportFull}
	cfg.Drain = time.Millisecond
	s.server, err = server.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	s.httpURL, s.socketURL = "http://"+address, "ws://"+address+"/ws"
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.server.Serve(ctx, listener) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the server's end: %v", err)
		}
	})
	return s
}

// session builds a bot as an application would that wants to see more than the
// flow: what the client asks for, and its microphone.
func (s *system) session(session *server.Session) (*pipeline.Task, error) {
	convo := frames.NewLLMContext("")
	service, err := llm.NewService(llm.Config{Model: offline.New(offline.Config{}), Context: convo})
	if err != nil {
		return nil, err
	}
	pipe, err := pipeline.New(
		&application{audio: s.audio},
		llm.NewUserAggregator(convo), service, session.Output(), llm.NewAssistantAggregator(convo),
	)
	if err != nil {
		return nil, err
	}
	task, err := pipeline.NewTask(pipe, session.Params())
	if err != nil {
		return nil, err
	}
	flow := booking.New(booking.Config{})
	fm, err := flows.New(flows.Config{
		LLM: service, Context: convo, Enqueuer: task, GlobalFunctions: flow.GlobalFunctions(),
		OnEvent: func(e flows.Event) {
			if m, ok := server.NewFlowMessage(e); ok {
				session.Send(m)
			}
		},
	})
	if err != nil {
		return nil, err
	}
	session.OnReady(func() error { return fm.Initialize(session.Context(), flow.Start()) })
	return task, nil
}

// application answers the requests it knows and counts audio.
type application struct {
	pipeline.Base
	audio *atomic.Int64
}

// Process implements [pipeline.Processor].
func (a *application) Process(f frames.Frame, dir pipeline.Direction) {
	switch f := f.(type) {
	case *frames.InputAudioFrame:
		a.audio.Add(int64(len(f.Samples)))
	case *frames.ClientMessageFrame:
		reply := &frames.ServerMessageFrame{ReplyTo: f.ID, Type: f.Type}
		if f.Type == "echo" {
			reply.Data = f.Data
		} else {
			reply.Err = "This bot does not know that request."
		}
		a.Push(reply, pipeline.Downstream)
		return
	}
	a.Push(f, dir)
}

// awaitNoSessions waits until the server has forgotten every session.
func (s *system) awaitNoSessions(t *testing.T) {
	t.Helper()
	eventually(t, "the session's end on the server", func() bool { return s.server.Sessions() == 0 })
}

// awaitAudio waits until a quarter of a second of microphone audio has come in.
func (s *system) awaitAudio(t *testing.T) {
	t.Helper()
	eventually(t, "microphone audio in the session", func() bool { return s.audio.Load() > 4000 })
}

// eventually polls a condition of another process's making.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(15 * time.Second)
	for !holds() {
		select {
		case <-deadline:
			t.Fatalf("waited 15 s for %s", what)
		case <-tick.C:
		}
	}
}

// bundle makes one script of the application and the client libraries.
func bundle(t *testing.T) []byte {
	t.Helper()
	modules := peer.NodeModules(t, ".")
	peer.Program(t, "node")
	file := filepath.Join(t.TempDir(), "app.js")
	cmd := exec.Command(filepath.Join(modules, ".bin", "esbuild"), "app.js", "--bundle", "--format=iife", "--outfile="+file, "--log-level=warning")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("bundle the application: %v\n%s", err, out)
	}
	script, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return script
}

// serveApp is the site the application is loaded from.
func serveApp(script []byte) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /app.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = w.Write(script)
	})
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(`<!doctype html><title>interop</title><link rel="icon" href="data:,"><script src="/app.js"></script>`))
	})
	return mux
}
