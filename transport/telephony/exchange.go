package telephony

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/gorilla/websocket"

	"github.com/turnwise/turnwise/transport/internal/pacer"
)

// Config is the settings of an [Exchange]. The zero value is usable: each field that
// is zero gets the default named with it.
type Config struct {
	// Logger takes what concerns one call; nil discards it.
	Logger *slog.Logger
	// HangUp ends a call at its carrier when the session has ended; nil only closes
	// the stream, after which the carrier goes on with the call as its answer
	// document says. See [TwilioAPI], [TelnyxAPI] and [PlivoAPI].
	HangUp HangUp
	// HangUpTimeout bounds HangUp: 5 s.
	HangUpTimeout time.Duration
	// StartTimeout is how long a carrier may take to say what it streams: 10 s.
	StartTimeout time.Duration
	// SilenceTimeout is how long nothing may come from the carrier, which streams
	// silence too, until it counts as gone: 30 s.
	SilenceTimeout time.Duration
	// WriteTimeout is how long one write may take: 5 s.
	WriteTimeout time.Duration
	// StopTimeout is how long [Conn.Run] waits for the session's end when the caller
	// has gone: 10 s.
	StopTimeout time.Duration
	// MaxMessage bounds one incoming message in bytes: 64 KiB.
	MaxMessage int
	// MessageRate is how many messages a second may come in in the long run, and
	// MessageBurst how many at once: 200 and 1000. A carrier sends 50.
	MessageRate, MessageBurst int
}

// ErrConfig is wrapped by every error about a configuration.
var ErrConfig = errors.New("telephony: wrong configuration")

func (c Config) withDefaults() (Config, error) {
	for _, d := range []struct {
		name  string
		field *time.Duration
		value time.Duration
	}{
		{"HangUpTimeout", &c.HangUpTimeout, 5 * time.Second}, {"StartTimeout", &c.StartTimeout, 10 * time.Second},
		{"SilenceTimeout", &c.SilenceTimeout, 30 * time.Second}, {"WriteTimeout", &c.WriteTimeout, 5 * time.Second},
		{"StopTimeout", &c.StopTimeout, 10 * time.Second},
	} {
		if *d.field == 0 {
			*d.field = d.value
		}
		if *d.field < 0 {
			return c, fmt.Errorf("%w: %s is %s; it must be positive", ErrConfig, d.name, *d.field)
		}
	}
	for _, n := range []struct {
		name  string
		field *int
		value int
	}{{"MaxMessage", &c.MaxMessage, 64 << 10}, {"MessageRate", &c.MessageRate, 200}, {"MessageBurst", &c.MessageBurst, 1000}} {
		if *n.field == 0 {
			*n.field = n.value
		}
		if *n.field < 0 {
			return c, fmt.Errorf("%w: %s is %d; it must be positive", ErrConfig, n.name, *n.field)
		}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

// Exchange takes streams of calls. It is safe for concurrent use.
type Exchange struct {
	cfg      Config
	pacer    *pacer.Pacer
	upgrader websocket.Upgrader
}

// NewExchange checks the configuration. The exchange must be closed.
func NewExchange(cfg Config) (*Exchange, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Exchange{
		cfg: cfg, pacer: pacer.New(0),
		upgrader: websocket.Upgrader{
			HandshakeTimeout: cfg.WriteTimeout, ReadBufferSize: 1024, WriteBufferSize: 1024,
			// Carriers are no browsers. A page has no business here.
			CheckOrigin: func(r *http.Request) bool { return r.Header.Get("Origin") == "" },
		},
	}, nil
}

// Close stops the sending. The calls must be over.
func (e *Exchange) Close() { e.pacer.Close() }

// Accept takes a carrier's stream and reads up to the message that says which call it
// is. When it fails, the request has been answered or the socket closed. The caller
// must call [Conn.Run] or [Conn.Reject] on the connection.
func (e *Exchange) Accept(w http.ResponseWriter, r *http.Request) (*Conn, error) {
	ws, err := e.upgrader.Upgrade(w, r, nil)
	if err != nil {
		return nil, err
	}
	info, err := e.start(ws)
	if err != nil {
		closing := websocket.FormatCloseMessage(websocket.ClosePolicyViolation, "no start of a call")
		_ = ws.WriteControl(websocket.CloseMessage, closing, time.Now().Add(time.Second))
		return nil, errors.Join(err, ws.Close())
	}
	return newConn(e, ws, info), nil
}

// start reads what comes before the first sound.
func (e *Exchange) start(ws *websocket.Conn) (Info, error) {
	ws.SetReadLimit(int64(e.cfg.MaxMessage))
	if err := ws.SetReadDeadline(time.Now().Add(e.cfg.StartTimeout)); err != nil {
		return Info{}, err
	}
	for range 2 {
		_, raw, err := ws.ReadMessage()
		if err != nil {
			return Info{}, fmt.Errorf("%w: %w", ErrStart, err)
		}
		var m incoming
		if err := json.Unmarshal(raw, &m); err != nil {
			return Info{}, fmt.Errorf("%w: %w", ErrStart, err)
		}
		if info, found, err := identify(&m); found || err != nil {
			return info, err
		}
	}
	return Info{}, fmt.Errorf("%w: there is no start in its first two messages", ErrStart)
}
