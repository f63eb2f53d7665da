package websocket

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"github.com/turnwise/turnwise/internal/origin"
)

// Buffers are small because most sessions are idle most of the time.
const (
	readBuffer  = 1024
	writeBuffer = 512
	// handshakeTimeout bounds writing the answer to the upgrade.
	handshakeTimeout = 5 * time.Second
)

// Upgrader turns HTTP requests into connections. It is safe for concurrent use.
type Upgrader struct {
	cfg      Config
	upgrader websocket.Upgrader
	buffers  buffers
}

// NewUpgrader checks the configuration.
func NewUpgrader(cfg Config) (*Upgrader, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	u := &Upgrader{cfg: cfg}
	u.upgrader = websocket.Upgrader{
		HandshakeTimeout: handshakeTimeout,
		ReadBufferSize:   readBuffer,
		WriteBufferSize:  writeBuffer,
		CheckOrigin:      u.originAllowed,
		Error:            writeProblem,
	}
	return u, nil
}

// Upgrade makes a connection of a request. When it fails, the request has been
// answered with a status and a JSON object that says why. The caller must call
// [Conn.Run] or [Conn.Reject] on the connection.
func (u *Upgrader) Upgrade(w http.ResponseWriter, r *http.Request) (*Conn, error) {
	h := &hijacker{ResponseWriter: w}
	ws, err := u.upgrader.Upgrade(h, r, nil)
	if err != nil {
		return nil, err
	}
	return newConn(ws, h.socket, u), nil
}

// originAllowed lets in clients that are no browsers, pages of this host, and
// those on the list.
func (u *Upgrader) originAllowed(r *http.Request) bool {
	return origin.Allowed(r.Header.Get("Origin"), origin.Own{Host: r.Host, TLS: r.TLS != nil}, u.cfg.AllowedOrigins)
}

// writeProblem answers a request that was not upgraded, in the form clients show
// to their users.
func writeProblem(w http.ResponseWriter, r *http.Request, status int, reason error) {
	detail := strings.TrimPrefix(reason.Error(), "websocket: ")
	if status == http.StatusForbidden {
		detail = "pages of " + r.Header.Get("Origin") + " may not connect; add the origin to the server's allow-list"
	}
	body, err := json.Marshal(struct {
		Detail string `json:"detail"`
	}{detail})
	if err != nil {
		body = []byte(`{}`)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	if status == http.StatusBadRequest {
		h.Set("Sec-Websocket-Version", "13")
	}
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n'))
}
