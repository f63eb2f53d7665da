package server

import (
	"fmt"
	"net/http"
	"sync"

	"github.com/turnwise/turnwise/audio/resample"
	"github.com/turnwise/turnwise/audio/vad"
	"github.com/turnwise/turnwise/speech"
	"github.com/turnwise/turnwise/speech/recording"
	"github.com/turnwise/turnwise/transport/webrtc"
	"github.com/turnwise/turnwise/transport/websocket"
)

// exchange is what the calls of a server share. Nothing of it is made before the
// first who calls, so that a server that is only typed to does not pay for it.
type exchange struct {
	server *Server
	// voice asks for the voice, once.
	voice func() *Voice
	// detectors gives what makes voice activity detectors; the first call loads it.
	detectors func() func() (vad.Detector, error)
	filters   resample.Filters

	mu         sync.Mutex
	engine     *webrtc.Engine // nil before the first call
	signalling *webrtc.Signalling
	pacer      *websocket.Pacer // nil before the first WebSocket with sound
	closed     bool
}

func newExchange(s *Server, find func() Voice) *exchange {
	x := &exchange{server: s}
	x.voice = sync.OnceValue(func() *Voice {
		if find == nil {
			return &Voice{Missing: "This bot is made for chat and cannot be called."}
		}
		v := find()
		if err := v.Validate(); err != nil {
			s.log.Error("no voice", "err", err)
			return unusable()
		}
		if v.failure != nil {
			s.log.Error("no voice", "err", v.failure)
		}
		if v.WebRTC.Logger == nil {
			v.WebRTC.Logger = s.log
		}
		return &v
	})
	x.detectors = sync.OnceValue(func() func() (vad.Detector, error) {
		if own := x.voice().Detector; own != nil {
			return own
		}
		return sileroDetectors()
	})
	return x
}

// open makes what calls need, or returns what there is.
func (x *exchange) open() (*webrtc.Signalling, error) {
	v := x.voice()
	if v.Missing != "" {
		return nil, &webrtc.Refusal{Status: http.StatusNotFound, Detail: v.Missing}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.closed:
		return nil, ErrDraining
	case x.signalling != nil:
		return x.signalling, nil
	}
	engine, err := webrtc.NewEngine(v.WebRTC)
	if err != nil {
		return nil, err
	}
	signalling, err := engine.Signalling(webrtc.SignallingConfig{Open: x.answer})
	if err != nil {
		_ = engine.Close() // nobody has called yet
		return nil, err
	}
	x.engine, x.signalling = engine, signalling
	return signalling, nil
}

// close ends the calls that are left and takes no more.
func (x *exchange) close() {
	x.mu.Lock()
	engine := x.engine
	pacer := x.pacer
	x.engine, x.pacer, x.closed = nil, nil, true
	x.mu.Unlock()
	if pacer != nil {
		pacer.Close()
	}
	if engine == nil {
		return
	}
	if err := engine.Close(); err != nil {
		x.server.log.Warn("calls were not closed cleanly", "err", err)
	}
}

// answer admits a caller and has the conversation begin. It runs on the goroutine of
// the request.
func (x *exchange) answer(call *webrtc.Call) error {
	s := x.server
	if err := s.admit(); err != nil {
		reason, detail := refusal(err)
		s.metrics.refused.Add(reason, 1)
		return &webrtc.Refusal{Status: http.StatusServiceUnavailable, Detail: detail}
	}
	conn, err := call.Accept()
	if err != nil {
		s.sessions.leave()
		return err
	}
	go s.hold(x.line(conn, call.Request.RemoteAddr))
	return nil
}

// line is a call as a way to a client.
func (x *exchange) line(conn *webrtc.Conn, remote string) *line {
	return &line{
		sender: conn, remote: remote, reject: conn.Reject,
		run: func(s *Session) error {
			x.server.metrics.traffic.enter(conn)
			defer x.server.metrics.traffic.exit(conn)
			return conn.Run(s.ctx, s.task.Load())
		},
		dropped: func() uint64 { return conn.Stats().DroppedMessages },
		equip:   func(cfg *SessionConfig) error { return x.equip(conn, cfg) },
		stats:   func() []any { return callStats(conn.Stats()) },
	}
}

// equip gives a session ears and a mouth.
func (x *exchange) equip(conn *webrtc.Conn, cfg *SessionConfig) error {
	source, err := x.voices(cfg, conn.OutputRate())
	if err == nil {
		conn.Play(source)
	}
	return err
}

// voices gives a session ears and a mouth, and has it recorded when that is wanted. The
// sound is to be read from the source, at rate Hz.
func (x *exchange) voices(cfg *SessionConfig, rate int) (recording.Source, error) {
	v := x.voice()
	detector, err := x.detectors()()
	if err != nil {
		return nil, err
	}
	if cfg.Listen, err = v.ears(detector, &x.filters); err != nil {
		return nil, err
	}
	buffer := &speech.Buffer{}
	if cfg.Speak, err = v.mouth(buffer, rate, &x.filters); err != nil {
		return nil, err
	}
	var source recording.Source = buffer
	if v.Background != nil {
		under, err := v.Background(rate)
		if err != nil {
			return nil, fmt.Errorf("server: background: %w", err)
		}
		source = &speech.Bed{Speech: buffer, Under: under, OnError: func(err error) { x.server.log.Warn("a call has lost its background", "err", err) }}
	}
	if x.server.cfg.Record == nil {
		return source, nil
	}
	return x.server.record(cfg, source, rate), nil
}

// callStats are the fields of a call's last log line.
func callStats(s webrtc.Stats) []any {
	return []any{
		"received", s.Received, "lost", s.Lost, "concealed", s.Concealed, "jitter", s.Jitter,
		"sent", s.Sent, "skipped", s.Skipped, "rtt", s.RTT, "reattached", s.Reattached,
	}
}
