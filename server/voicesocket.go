package server

import (
	"encoding/json"
	"net/http"

	"github.com/turnwise/turnwise/transport/websocket"
)

// audioQuery is what /ws is asked with by clients that hear and speak.
const audioQuery = "audio=true"

// wantsAudio reports whether a client that connects is to be spoken to.
func wantsAudio(r *http.Request) bool { return r.URL.Query().Get("audio") == "true" }

// offersAudio reports whether a client that asked where to connect is sent to where it is
// spoken to: when the bot can, unless the client says "audio": false, by itself or in
// the body that client libraries pass on.
func (s *Server) offersAudio(body []byte) bool {
	type wish struct {
		Audio *bool `json:"audio"`
	}
	var asked struct {
		wish
		Body wish `json:"body"`
	}
	// Bodies are the application's own: one of another shape wishes nothing.
	_ = json.Unmarshal(body, &asked)
	for _, audio := range []*bool{asked.Audio, asked.Body.Audio} {
		if audio != nil && !*audio {
			return false
		}
	}
	return s.cfg.Voice != nil && s.calls.voice().Missing == ""
}

// equipSocket gives the session of a WebSocket ears and a mouth, as for a call; nil when
// the bot has none, which leaves a chat.
func (x *exchange) equipSocket(conn *websocket.Conn) func(*SessionConfig) error {
	if x.voice().Missing != "" {
		return nil
	}
	return func(cfg *SessionConfig) error {
		pacer, err := x.pacing()
		if err != nil {
			return err
		}
		source, err := x.voices(cfg, websocket.PlaybackRate)
		if err != nil {
			return err
		}
		conn.Play(source, pacer)
		return nil
	}
}

// pacing is the pacer of all WebSockets with sound, made for the first.
func (x *exchange) pacing() (*websocket.Pacer, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return nil, ErrDraining
	}
	if x.pacer == nil {
		x.pacer = websocket.NewPacer()
	}
	return x.pacer, nil
}
