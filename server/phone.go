package server

import (
	"crypto/ed25519"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/turnwise/turnwise/pipeline"
	"github.com/turnwise/turnwise/transport/telephony"
)

// Phone is what a server needs to be called by telephone. At the carrier, the address
// to ask about a call is …/phone/twilio?token=… (or telnyx, plivo); Exotel is given
// wss://…/phone/stream?token=… itself. Voice has to be there too.
type Phone struct {
	// Token is a secret, of at least 16 characters, that has to be part of those
	// addresses. It also goes with every stream, so that nobody else can open one.
	Token string `json:"-"`
	// TwilioAuthToken, when it is there, has the signature of Twilio's questions
	// checked as well, and TelnyxKey that of Telnyx's.
	TwilioAuthToken string            `json:"-"`
	TelnyxKey       ed25519.PublicKey `json:"-"`
	// Streams is the settings of the calls, among them how they are hung up. Its
	// Logger is the server's when it is nil.
	Streams telephony.Config
}

// minToken is the shortest token that cannot be guessed.
const minToken = 16

func (p *Phone) validate(voice bool) error {
	switch {
	case !voice:
		return fmt.Errorf("%w: Phone needs Voice", ErrConfig)
	case len(p.Token) < minToken:
		return fmt.Errorf("%w: Phone.Token needs at least %d characters", ErrConfig, minToken)
	case len(p.TelnyxKey) != 0 && len(p.TelnyxKey) != ed25519.PublicKeySize:
		return fmt.Errorf("%w: Phone.TelnyxKey has %d bytes, not %d", ErrConfig, len(p.TelnyxKey), ed25519.PublicKeySize)
	}
	return nil
}

// switchboard takes the calls of carriers.
type switchboard struct {
	server   *Server
	phone    *Phone
	exchange *telephony.Exchange
	calls    sync.WaitGroup
}

func newSwitchboard(s *Server) (*switchboard, error) {
	cfg := s.cfg.Phone.Streams
	if cfg.Logger == nil {
		cfg.Logger = s.log
	}
	exchange, err := telephony.NewExchange(cfg)
	if err != nil {
		return nil, fmt.Errorf("%w: Phone.Streams: %w", ErrConfig, err)
	}
	return &switchboard{server: s, phone: s.cfg.Phone, exchange: exchange}, nil
}

// routes are the addresses that carriers call.
func (b *switchboard) routes(mux *http.ServeMux) {
	b.server.route(mux, "/phone/stream", map[string]http.HandlerFunc{http.MethodGet: b.serveStream})
	b.server.route(mux, "/phone/{carrier}", map[string]http.HandlerFunc{http.MethodGet: b.serveQuestion, http.MethodPost: b.serveQuestion})
}

// serveQuestion tells a carrier what to do with a call.
func (b *switchboard) serveQuestion(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		refuse(w, http.StatusRequestEntityTooLarge, "The question is too long.")
		return
	}
	carrier := telephony.Carrier(r.PathValue("carrier"))
	if err := b.verify(carrier, r, body); err != nil {
		b.server.metrics.refused.Add(refusedCarrier, 1)
		b.server.log.Warn("a call was not taken", "carrier", string(carrier), "err", err)
		refuse(w, http.StatusForbidden, "This question does not come from the carrier.")
		return
	}
	parameters := map[string]string{"token": b.phone.Token}
	if form, err := url.ParseQuery(string(body)); err == nil {
		for name, field := range map[string]string{"from": "From", "to": "To"} {
			if value := form.Get(field); value != "" {
				parameters[name] = value
			}
		}
	}
	document, err := telephony.Document(carrier, b.streamURL(r), parameters)
	if err != nil {
		refuse(w, http.StatusNotFound, "No carrier of this name asks here.")
		return
	}
	w.Header().Set("Content-Type", "text/xml; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(document) // the carrier's loss
}

// verify checks that a question comes from a carrier.
func (b *switchboard) verify(carrier telephony.Carrier, r *http.Request, body []byte) error {
	if err := telephony.VerifyToken(r.URL.Query().Get("token"), b.phone.Token); err != nil {
		return err
	}
	switch {
	case carrier == telephony.Twilio && b.phone.TwilioAuthToken != "":
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return err
		}
		return telephony.VerifyTwilio(r, b.phone.TwilioAuthToken, b.askedURL(r), form)
	case carrier == telephony.Telnyx && len(b.phone.TelnyxKey) > 0:
		return telephony.VerifyTelnyx(r, b.phone.TelnyxKey, body, time.Now())
	}
	return nil
}

// streamURL is where the carrier that asks reaches the streams.
func (b *switchboard) streamURL(r *http.Request) string {
	return strings.TrimSuffix(b.server.socketURL(r), "/ws") + "/phone/stream"
}

// askedURL is the address a carrier asked, as it wrote it.
func (b *switchboard) askedURL(r *http.Request) string {
	base := strings.TrimSuffix(b.server.socketURL(r), "/ws")
	return "http" + strings.TrimPrefix(base, "ws") + r.URL.RequestURI()
}

// serveStream takes a call.
func (b *switchboard) serveStream(w http.ResponseWriter, r *http.Request) {
	s := b.server
	v := s.calls.voice()
	if v.Missing != "" {
		refuse(w, http.StatusNotFound, v.Missing)
		return
	}
	// A place is taken before anything else, so that streams that never become calls
	// cost no more than calls.
	if err := s.admit(); err != nil {
		s.refuseClient(w, err)
		return
	}
	conn, err := b.exchange.Accept(w, r)
	if err != nil { // it has been answered
		s.sessions.leave()
		s.log.Warn("a stream was not taken", "err", err)
		return
	}
	if err := b.known(conn, r); err != nil {
		s.metrics.refused.Add(refusedCarrier, 1)
		s.log.Warn("a stream was not taken", "err", err)
		conn.Reject(err.Error())
		s.sessions.leave()
		return
	}
	b.calls.Go(func() { s.hold(b.line(conn)) })
}

// known checks that a stream was opened for a call that a carrier asked about.
func (b *switchboard) known(conn *telephony.Conn, r *http.Request) error {
	given := conn.Info().Parameters["token"] // Twilio's streams take no query
	if given == "" {
		given = r.URL.Query().Get("token")
	}
	return telephony.VerifyToken(given, b.phone.Token)
}

// line is a call as a way to a client.
func (b *switchboard) line(conn *telephony.Conn) *line {
	s := b.server
	return &line{
		output: conn.Output(), remote: conn.RemoteAddr().String(), reject: conn.Reject, dropped: conn.Dropped,
		run: func(session *Session) error { return conn.Run(session.ctx, session.task.Load()) },
		equip: func(cfg *SessionConfig) error {
			source, err := s.calls.voices(cfg, conn.OutputRate())
			if err == nil {
				conn.Play(source)
			}
			return err
		},
		stats: func() []any {
			info := conn.Info()
			return []any{"carrier", string(info.Carrier), "call", info.Call}
		},
	}
}

// close waits for the calls, which have been ended, and stops the sending.
func (b *switchboard) close() {
	b.calls.Wait()
	b.exchange.Close()
}

// plain is a session whose client is told nothing but by the output.
func (s *Server) plain(conn *line) SessionConfig {
	return SessionConfig{
		Output: conn.output, Logger: s.log, IdleTimeout: max(0, s.cfg.IdleTimeout),
		Observers: []pipeline.Observer{s.metrics},
		OnFailure: func(err error) { s.log.Error("a call could not begin", "err", err) },
	}
}
