package webrtc

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"sync"
	"time"
)

const (
	// startedFor is how long a start is remembered.
	startedFor = 10 * time.Minute
	// maxData bounds what an application may send with a start, in bytes.
	maxData = 8 << 10
)

// StartReply is what a client gets that asks how to call, in the form that the client
// libraries take.
type StartReply struct {
	// SessionID is the id to call with.
	SessionID string `json:"sessionId"`
	// ICE is what finds the way to the server.
	ICE ICEConfig `json:"iceConfig"`
}

// ICEConfig is what a client needs to find a way to the server.
type ICEConfig struct {
	// Servers are the STUN and TURN servers to use; may be empty.
	Servers []ICEServer `json:"iceServers"`
}

// Start gives out an id under which a call can be made within ten minutes, more than
// once. data, which may be nil, is what the application sent; the call gets it. An
// error is a [Refusal].
func (s *Signalling) Start(data json.RawMessage) (StartReply, error) {
	if len(data) > maxData {
		return StartReply{}, refusef(http.StatusRequestEntityTooLarge, "The data of a start may have at most %d bytes.", maxData)
	}
	return StartReply{
		SessionID: s.starts.add(data),
		ICE:       ICEConfig{Servers: s.engine.ClientICEServers()},
	}, nil
}

// startRequest is what of the body of POST /start is looked at.
type startRequest struct {
	Body json.RawMessage `json:"body"`
}

// ServeStart answers POST /start. What the application sends as body is kept for the
// call. An empty request is a start without.
func (s *Signalling) ServeStart(w http.ResponseWriter, r *http.Request) {
	body, err := readBody(w, r)
	if err != nil {
		s.refuse(w, err)
		return
	}
	var req startRequest
	if len(body) > 0 && json.Unmarshal(body, &req) != nil {
		s.refuse(w, refusef(http.StatusBadRequest, "The request must be a JSON object, or empty."))
		return
	}
	if isNull(req.Body) {
		req.Body = nil
	}
	answer, err := s.Start(req.Body)
	if err != nil {
		s.refuse(w, err)
		return
	}
	reply(w, http.StatusOK, answer)
}

// starts are those that are remembered, the oldest first.
type starts struct {
	limit int

	mu    sync.Mutex
	known map[string]started
	order []string
}

type started struct {
	at   time.Time
	data json.RawMessage
}

func (s *starts) add(data json.RawMessage) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[string]started{}
	}
	now := time.Now()
	for len(s.order) > 0 && (len(s.order) >= s.limit || now.Sub(s.known[s.order[0]].at) > startedFor) {
		delete(s.known, s.order[0])
		s.order = s.order[1:]
	}
	id := rand.Text()
	s.known[id] = started{at: now, data: append(json.RawMessage(nil), data...)}
	s.order = append(s.order, id)
	return id
}

func (s *starts) find(id string) (json.RawMessage, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st, ok := s.known[id]
	if !ok || time.Since(st.at) > startedFor {
		return nil, false
	}
	if len(st.data) == 0 {
		return nil, true
	}
	return st.data, true
}
