package server

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/turnwise/turnwise/transport/webrtc"
)

// voiceRoutes are the addresses for calls.
func (s *Server) voiceRoutes(mux *http.ServeMux) {
	for _, path := range []string{"/api/offer", "/sessions/{session}/api/offer"} {
		s.route(mux, path, map[string]http.HandlerFunc{http.MethodPost: s.serveOffer, http.MethodPatch: s.serveOffer})
	}
}

// serveOffer answers those who call.
func (s *Server) serveOffer(w http.ResponseWriter, r *http.Request) {
	if !s.allowOrigin(w, r) {
		return
	}
	signalling, err := s.calls.open()
	if err != nil {
		s.refuseCall(w, err)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	signalling.ServeHTTP(w, r)
}

// serveStart tells where to connect to: those who want to call get what they need
// for that, all others the address of the WebSocket.
func (s *Server) serveStart(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Transport string          `json:"transport"`
		Body      json.RawMessage `json:"body"`
	}
	body, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(body, &asked) != nil || asked.Transport != "webrtc" {
		s.connect(w, r, body) // which takes anything
		return
	}
	if !s.allowOrigin(w, r) {
		return
	}
	if err := s.sessions.check(); err != nil {
		s.refuseClient(w, err)
		return
	}
	signalling, err := s.calls.open()
	if err != nil {
		s.refuseCall(w, err)
		return
	}
	reply, err := signalling.Start(asked.Body)
	if err != nil {
		s.refuseCall(w, err)
		return
	}
	writeJSON(w, http.StatusOK, reply)
}

// refuseCall answers somebody who cannot call.
func (s *Server) refuseCall(w http.ResponseWriter, err error) {
	var r *webrtc.Refusal
	switch {
	case errors.As(err, &r):
		refuse(w, r.Status, r.Detail)
	case errors.Is(err, ErrDraining):
		s.refuseClient(w, err)
	default:
		s.log.Error("calls cannot be taken", "err", err)
		refuse(w, http.StatusInternalServerError, "Calls cannot be taken at the moment. The operator finds the reason in the log.")
	}
}
