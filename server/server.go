package server

import (
	"log/slog"
	"net/http"
	"net/url"
	"sync"

	"github.com/turnwise/turnwise/transport/websocket"
)

// Server serves conversations. It is used through its [Server.Handler], inside an
// http.Server of the caller's, or through [Server.Run].
type Server struct {
	cfg      Config
	log      *slog.Logger
	public   *url.URL // nil without Config.PublicURL
	flow     Flow
	flowJSON []byte
	graph    func() ([]byte, error)
	page     map[string]asset
	metrics  *metrics
	sessions *sessions
	limiter  *limiter
	upgrader *websocket.Upgrader
	handler  http.Handler
}

// New makes a server.
func New(cfg Config) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg.defaults()
	s := &Server{
		cfg: cfg, log: cfg.Logger, metrics: newMetrics(), sessions: newSessions(cfg.MaxSessions),
		limiter: newLimiter(cfg.ConnectRate, cfg.ConnectBurst), flow: describe(cfg.Bot),
	}
	var err error
	if s.flowJSON, err = s.flow.document(); err != nil {
		return nil, err
	}
	// The graph is drawn for the first who asks.
	s.graph = sync.OnceValues(s.flow.SVG)
	if !cfg.NoPage {
		if s.page, err = loadPage(); err != nil {
			return nil, err
		}
	}
	origins := cfg.AllowedOrigins
	if cfg.PublicURL != "" {
		if s.public, err = url.Parse(cfg.PublicURL); err != nil {
			return nil, err
		}
		origins = append([]string{s.public.Scheme + "://" + s.public.Host}, origins...)
	}
	s.upgrader, err = websocket.NewUpgrader(websocket.Config{
		AllowedOrigins: origins, Logger: cfg.Logger, ReadyTimeout: cfg.ReadyTimeout,
	})
	if err != nil {
		return nil, err
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
