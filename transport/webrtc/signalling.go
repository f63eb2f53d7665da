package webrtc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
)

// SignallingConfig is what a [Signalling] works with. Open is required.
type SignallingConfig struct {
	// Open opens a session for a new caller. It runs on the goroutine of the request.
	// It decides whether the caller is admitted, accepts the call with [Call.Accept],
	// builds the session, starts [Conn.Run] on a goroutine of its own, and returns;
	// the client then gets the answer. An error refuses the call: a [Refusal] with
	// its status, any other with 500, which makes clients try again. A connection
	// that was accepted is closed then.
	Open func(call *Call) error
	// Starts bounds the starts that are remembered; the default is 1024. The oldest
	// is forgotten first.
	Starts int
}

// Signalling answers the requests by which clients set up calls. It is safe for
// concurrent use. Requests from other origins, and their preflights, are the matter
// of whoever mounts it.
type Signalling struct {
	engine *Engine
	open   func(*Call) error
	starts starts
}

// Signalling makes the handler of an engine's requests.
func (e *Engine) Signalling(cfg SignallingConfig) (*Signalling, error) {
	if cfg.Open == nil {
		return nil, fmt.Errorf("%w: SignallingConfig.Open is required", ErrConfig)
	}
	if cfg.Starts < 0 {
		return nil, fmt.Errorf("%w: Starts is %d; it must be positive", ErrConfig, cfg.Starts)
	}
	if cfg.Starts == 0 {
		cfg.Starts = 1024
	}
	return &Signalling{engine: e, open: cfg.Open, starts: starts{limit: cfg.Starts}}, nil
}

// Call is a new caller at the door.
type Call struct {
	// Request is the HTTP request. Its context is over when the answer was given.
	Request *http.Request
	// SessionID is the id that [Signalling.Start] gave out; empty when the client
	// came without.
	SessionID string
	// Data is what the application sent with the offer, or before that with the
	// start; nil when there is none.
	Data json.RawMessage

	engine *Engine
	sdp    string
	conn   *Conn
}

// Accept connects the call. It is called once. An error says what is wrong with the
// offer, wrapping [ErrOffer], or why there is no connection; it may be returned from
// [SignallingConfig].Open as it is.
func (c *Call) Accept() (*Conn, error) {
	conn, err := c.engine.accept(c.Request.Context(), c.sdp)
	if err != nil {
		return nil, err
	}
	c.conn = conn
	return conn, nil
}

// ServeHTTP answers POST and PATCH of /api/offer. Mounted at a pattern with a wildcard
// {session}, as in "/sessions/{session}/api/offer", it takes only ids that
// [Signalling.Start] gave out.
func (s *Signalling) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodPost:
		s.serveOffer(w, r)
	case http.MethodPatch:
		s.servePatch(w, r)
	default:
		w.Header().Set("Allow", "POST, PATCH")
		reply(w, http.StatusMethodNotAllowed, detail("Offers are sent with POST, candidates with PATCH."))
	}
}

func (s *Signalling) serveOffer(w http.ResponseWriter, r *http.Request) {
	a, err := s.offered(w, r)
	if err != nil {
		s.refuse(w, err)
		return
	}
	reply(w, http.StatusOK, a)
}

// offered answers an offer: for a call that there is, or for a new one.
func (s *Signalling) offered(w http.ResponseWriter, r *http.Request) (answer, error) {
	body, err := readBody(w, r)
	if err != nil {
		return answer{}, err
	}
	o, err := readOffer(body)
	if err != nil {
		return answer{}, err
	}
	if o.ID != "" {
		if c := s.engine.find(o.ID); c != nil {
			a, err := c.offered(r.Context(), &o)
			if !errors.Is(err, errOver) {
				return a, err
			}
		}
	}
	return s.newCall(r, &o)
}

// offered answers a further offer for a call.
func (c *Conn) offered(ctx context.Context, o *offer) (answer, error) {
	if o.Restart {
		return c.attach(ctx, o.SDP)
	}
	return c.renegotiate(ctx, o.SDP)
}

// newCall opens a session for a new caller.
func (s *Signalling) newCall(r *http.Request, o *offer) (answer, error) {
	call := &Call{Request: r, SessionID: r.PathValue("session"), Data: o.Data, engine: s.engine, sdp: o.SDP}
	if call.SessionID != "" {
		data, ok := s.starts.find(call.SessionID)
		if !ok {
			return answer{}, refusef(http.StatusNotFound, "There is no such session, or it was started too long ago.")
		}
		if call.Data == nil {
			call.Data = data
		}
	}
	err := s.open(call)
	if err == nil && call.conn == nil {
		err = errors.New("webrtc: the call was not accepted")
	}
	if err != nil {
		if call.conn != nil {
			call.conn.discard()
		}
		return answer{}, err
	}
	return call.conn.first, nil
}

func (s *Signalling) servePatch(w http.ResponseWriter, r *http.Request) {
	body, err := readBody(w, r)
	if err != nil {
		s.refuse(w, err)
		return
	}
	p, err := readPatch(body)
	if err != nil {
		s.refuse(w, err)
		return
	}
	c := s.engine.find(p.ID)
	if c == nil {
		s.refuse(w, refusef(http.StatusNotFound, "There is no call with this pc_id."))
		return
	}
	c.candidates(p.ID, p.Candidates)
	reply(w, http.StatusOK, map[string]string{"status": "success"})
}

// refuse answers a request that is not granted.
func (s *Signalling) refuse(w http.ResponseWriter, err error) {
	var r *Refusal
	switch {
	case errors.As(err, &r):
	case errors.Is(err, ErrOffer):
		r = &Refusal{Status: http.StatusBadRequest, Detail: "The offer cannot be answered: its description is broken or has nothing in common with this server."}
	case errors.Is(err, ErrClosed):
		r = &Refusal{Status: http.StatusServiceUnavailable, Detail: "The server is shutting down. Please try again in a moment."}
	default:
		r = &Refusal{Status: http.StatusInternalServerError, Detail: "The call could not be set up. The operator finds the reason in the log."}
	}
	level := slog.LevelDebug
	if r.Status == http.StatusInternalServerError {
		level = slog.LevelError
	}
	s.engine.cfg.Logger.Log(context.Background(), level, "a request for a call was refused", "status", r.Status, "err", err)
	if r.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "2")
	}
	reply(w, r.Status, detail(r.Detail))
}

// detail is the form in which clients show an error to their users.
func detail(text string) map[string]string {
	return map[string]string{"detail": strings.TrimSpace(text)}
}
