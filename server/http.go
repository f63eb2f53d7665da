package server

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// maxBody bounds the body of a request in bytes. Bodies are not looked at: what an
// application sends with /start is its own.
const maxBody = 64 << 10

// routes are the addresses of the server.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { writeText(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", s.serveReady)
	s.route(mux, "/ws", map[string]http.HandlerFunc{http.MethodGet: s.serveSocket})
	s.route(mux, "/connect", map[string]http.HandlerFunc{http.MethodPost: s.serveConnect})
	s.route(mux, "/start", map[string]http.HandlerFunc{http.MethodPost: s.serveStart})
	s.voiceRoutes(mux)
	if s.phones != nil {
		s.phones.routes(mux)
	}
	mux.HandleFunc("GET /api/flow", s.serveFlow)
	mux.HandleFunc("GET /api/flow/graph.svg", s.serveGraph)
	if !s.cfg.NoMetrics {
		mux.Handle("GET /metrics", s.metrics)
	}
	mux.HandleFunc("/", s.servePage)
	s.mux = mux
	return s.guard(mux)
}

// route serves an address that takes some methods and is no page. Pages of other
// origins may ask what it takes when that is not GET.
func (s *Server) route(mux *http.ServeMux, path string, serve map[string]http.HandlerFunc) {
	methods := slices.Sorted(maps.Keys(serve))
	if serve[http.MethodGet] == nil {
		methods = append(methods, http.MethodOptions)
	}
	allow := strings.Join(methods, ", ")
	mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
		switch h := serve[r.Method]; {
		case h != nil:
			h(w, r)
		case r.Method == http.MethodOptions && serve[http.MethodGet] == nil:
			s.servePreflight(w, r, allow)
		default:
			refuseMethod(w, r, allow)
		}
	})
}

// refuseMethod answers requests with a method that an address does not take; allow
// are those that it does.
func refuseMethod(w http.ResponseWriter, r *http.Request, allow string) {
	w.Header().Set("Allow", allow)
	refuse(w, http.StatusMethodNotAllowed, "This address does not take "+r.Method+" requests.")
}

// guard sets what every answer has and bounds every request.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Frame-Options", "DENY")
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		if !s.hostKnown(r.Host) {
			s.refuseHost(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) serveReady(w http.ResponseWriter, _ *http.Request) {
	if errors.Is(s.sessions.check(), ErrDraining) {
		writeText(w, http.StatusServiceUnavailable, "draining")
		return
	}
	writeText(w, http.StatusOK, "ready")
}

// servePage serves the page's files, and answers for the addresses that are served
// for some methods only when a request has another one.
func (s *Server) servePage(w http.ResponseWriter, r *http.Request) {
	a, isFile := s.page[strings.TrimPrefix(r.URL.Path, "/")]
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch {
	case reads && isFile:
		serveAsset(w, r, a)
	case !reads && (isFile || s.readable(r)):
		refuseMethod(w, r, "GET, HEAD")
	default:
		refuse(w, http.StatusNotFound, "There is nothing at this address.")
	}
}

// readable reports whether there is something else than a file of the page to GET
// where r goes.
func (s *Server) readable(r *http.Request) bool {
	asked := *r
	asked.Method = http.MethodGet
	_, pattern := s.mux.Handler(&asked)
	return pattern != "/" && pattern != ""
}

func (s *Server) serveFlow(w http.ResponseWriter, _ *http.Request) {
	body, err := s.flowJSON()
	if err != nil {
		s.log.Error("the flow cannot be described", "err", err)
		refuse(w, http.StatusInternalServerError, "The flow cannot be described.")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body) // the client's loss
}

func (s *Server) serveGraph(w http.ResponseWriter, _ *http.Request) {
	if len(s.flow().Nodes) == 0 {
		refuse(w, http.StatusNotFound, "This bot has no flow to draw.")
		return
	}
	svg, err := s.graph()
	if err != nil {
		s.log.Error("the graph cannot be drawn", "err", err)
		refuse(w, http.StatusInternalServerError, "The graph cannot be drawn.")
		return
	}
	w.Header().Set("Content-Type", "image/svg+xml")
	w.Header().Set("Content-Security-Policy", "default-src 'none'")
	_, _ = w.Write(svg) // the client's loss
}

// serveConnect tells where to connect to, or that it is of no use at the moment.
func (s *Server) serveConnect(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // one that cannot be read wishes nothing
	s.connect(w, r, body)
}

// connect is serveConnect with the body read.
func (s *Server) connect(w http.ResponseWriter, r *http.Request, body []byte) {
	if !s.allowOrigin(w, r) {
		return
	}
	if err := s.sessions.check(); err != nil {
		s.refuseClient(w, err)
		return
	}
	address := s.socketURL(r)
	if s.offersAudio(body) {
		address += "?" + audioQuery
	}
	// The transport of the client library takes this key and no other.
	writeJSON(w, http.StatusOK, map[string]string{"wsUrl": address})
}

// socketURL is where a client that reached this request reaches /ws.
func (s *Server) socketURL(r *http.Request) string {
	// Whoever serves the handler under a prefix has taken it off the path.
	asked, _, _ := strings.Cut(r.RequestURI, "?")
	u := url.URL{Scheme: "ws", Host: r.Host, Path: "/ws"}
	if prefix, ok := strings.CutSuffix(asked, r.URL.Path); ok && strings.HasPrefix(prefix, "/") {
		u.Path = prefix + u.Path
	}
	secure := s.secure(r)
	if s.public != nil {
		u.Host, u.Path = s.public.Host, strings.TrimSuffix(s.public.Path, "/")+"/ws"
		secure = s.public.Scheme == "https"
	}
	if secure {
		u.Scheme = "wss"
	}
	return u.String()
}

// refuseClient answers a client that is not admitted, and counts it.
func (s *Server) refuseClient(w http.ResponseWriter, err error) {
	reason, detail := refusal(err)
	s.metrics.refused.Add(reason, 1)
	if reason == refusedBot {
		refuse(w, http.StatusInternalServerError, detail)
		return
	}
	w.Header().Set("Retry-After", strconv.Itoa(retryAfter))
	w.Header().Set("Connection", "close") // its place is needed
	refuse(w, http.StatusServiceUnavailable, detail)
}

// refusal is the reason for which a client is not admitted, as operators count it
// and in words for users.
func refusal(err error) (reason, detail string) {
	switch {
	case errors.Is(err, ErrDraining):
		return refusedDraining, "The server is shutting down. Please try again in a moment."
	case errors.Is(err, ErrRate):
		return refusedRate, "Too many people are connecting at once. Please try again in a moment."
	case errors.Is(err, ErrBot):
		return refusedBot, "The bot could not be started. The operator finds the reason in the log."
	}
	return refusedFull, "All lines are busy. Please try again in a moment."
}

// retryAfter is when a refused client may come back, in seconds.
const retryAfter = 2

// refuse answers with an error that may be shown to people.
func refuse(w http.ResponseWriter, status int, detail string) {
	writeJSON(w, status, map[string]string{"detail": detail})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil { // what is answered always encodes
		body = []byte("{}")
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // the client's loss
}

func writeText(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n")) // the client's loss
}
