package server

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"

	"github.com/turnwise/turnwise/transport/websocket"
)

// Server serves conversations. It is used through its [Server.Handler], inside an
// http.Server of the caller's, or through [Server.Run].
type Server struct {
	cfg      Config
	log      *slog.Logger
	public   *url.URL // nil without Config.PublicURL
	origins  []string // that may connect, besides pages of this host
	flow     func() Flow
	flowJSON func() ([]byte, error)
	graph    func() ([]byte, error)
	page     map[string]asset
	metrics  *metrics
	sessions *sessions
	limiter  *limiter
	upgrader *websocket.Upgrader
	calls    *exchange
	phones   *switchboard // nil without Config.Phone
	mux      *http.ServeMux
	handler  http.Handler
	// localOnly tells that only this machine reaches the server.
	localOnly atomic.Bool
}

// New makes a server.
func New(cfg Config) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg.defaults()
	s := &Server{
		cfg: cfg, log: cfg.Logger, sessions: newSessions(cfg.MaxSessions),
		limiter: newLimiter(cfg.ConnectRate, cfg.ConnectBurst),
	}
	s.metrics = newMetrics(s.sessions.count)
	// What is not needed to be ready is made for the first who asks.
	s.calls = newExchange(s, cfg.Voice)
	s.flow = sync.OnceValue(func() Flow {
		f := describe(cfg.Bot)
		if cfg.Voice != nil {
			f.Voice = s.calls.voice().info()
		}
		return f
	})
	s.flowJSON = sync.OnceValues(func() ([]byte, error) { return json.Marshal(s.flow()) })
	s.graph = sync.OnceValues(func() ([]byte, error) { return s.flow().SVG() })
	var err error
	if !cfg.NoPage {
		if s.page, err = loadPage(); err != nil {
			return nil, err
		}
	}
	s.origins = cfg.AllowedOrigins
	if cfg.PublicURL != "" {
		if s.public, err = url.Parse(cfg.PublicURL); err != nil {
			return nil, err
		}
		s.origins = append([]string{s.public.Scheme + "://" + s.public.Host}, s.origins...)
	}
	s.upgrader, err = websocket.NewUpgrader(websocket.Config{
		AllowedOrigins: s.origins, Logger: cfg.Logger, ReadyTimeout: cfg.ReadyTimeout,
	})
	if err != nil {
		return nil, err
	}
	if cfg.Phone != nil {
		if s.phones, err = newSwitchboard(s); err != nil {
			return nil, err
		}
	}
	s.handler = s.routes()
	return s, nil
}

// Handler answers the requests listed in the package's documentation. Whoever
// serves it sets the time limits of the http.Server and calls [Server.Drain] before
// closing it.
func (s *Server) Handler() http.Handler { return s.handler }

// Sessions is the number of conversations under way.
func (s *Server) Sessions() int { return s.sessions.count() }
