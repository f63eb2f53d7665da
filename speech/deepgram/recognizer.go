package deepgram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/gorilla/websocket"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/internal/secret"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/speech"
)

const (
	// keepAlive is how long nothing is sent until Deepgram is told that more will
	// come; it hangs up after ten seconds.
	keepAlive = 4 * time.Second
	// writeTimeout bounds one write.
	writeTimeout = 5 * time.Second
	// closeTimeout is how long the last words are waited for at the end of the audio.
	closeTimeout = 3 * time.Second
	// maxMessage bounds one message of Deepgram's in bytes.
	maxMessage = 1 << 20
	// chunk is how many samples are sent at a time: 50 ms, as Deepgram recommends no
	// less than 20.
	chunk = Rate / 20
)

// Recognizer hears with one model. It implements [speech.Recognizer]; any number of
// sessions may use it at once, each with a connection of its own.
type Recognizer struct {
	cfg   Config
	url   string
	clean secret.Cleaner
}

var _ speech.Recognizer = (*Recognizer)(nil)

// New makes a recognizer. Nothing is sent before the first [Recognizer.Recognize].
// Errors wrap [ErrConfig] and name the field.
func New(cfg Config) (*Recognizer, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	address, err := cfg.listenURL()
	if err != nil {
		return nil, fmt.Errorf("%w: URL: %w", ErrConfig, err)
	}
	return &Recognizer{cfg: cfg, url: address, clean: secret.NewCleaner(cfg.secrets())}, nil
}

// Rate is [Rate].
func (r *Recognizer) Rate() int { return Rate }

// Latency is [Config].Latency.
func (r *Recognizer) Latency() time.Duration { return r.cfg.Latency }

// Recognize implements the interface: it streams the audio and emits what is heard.
// Its errors are [*llm.Error]s without secrets.
func (r *Recognizer) Recognize(ctx context.Context, in *speech.Audio, emit func(speech.Transcript) error) error {
	ws, response, err := r.cfg.Dialer.DialContext(ctx, r.url, r.cfg.header())
	if err != nil {
		return r.refused(ctx, response, err)
	}
	ws.SetReadLimit(maxMessage)
	unlink := context.AfterFunc(ctx, func() { _ = ws.Close() })
	heard := make(chan error, 1)
	hearing, stop := context.WithCancel(ctx)
	go func() {
		defer stop() // without ears there is no use in sending
		heard <- r.hear(ws, emit)
	}()
	sent := r.send(hearing, ws, in)
	if errors.Is(sent, io.EOF) { // all was sent: the last words are on their way
		_ = ws.SetReadDeadline(time.Now().Add(closeTimeout))
	} else {
		_ = ws.Close()
	}
	err = <-heard
	unlink()
	_ = ws.Close()
	return r.verdict(ctx, sent, err)
}

// listenerError is what the listener returned.
type listenerError struct{ err error }

func (e *listenerError) Error() string { return e.err.Error() }

// verdict is what Recognize returns: nil when all the audio was heard.
func (r *Recognizer) verdict(ctx context.Context, sent, heard error) error {
	var listener *listenerError
	var failed *llm.Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(heard, &listener):
		return listener.err
	case errors.Is(sent, io.EOF):
		return nil
	case errors.As(heard, &failed):
		return failed
	case heard != nil:
		return r.failure(frames.ErrorNetwork, 0, heard)
	}
	return r.failure(frames.ErrorNetwork, 0, errors.New("the connection was closed"))
}

// send sends the audio until it ends, which gives io.EOF, or the hearing does.
func (r *Recognizer) send(ctx context.Context, ws *websocket.Conn, in *speech.Audio) error {
	var buf []byte
	for {
		quiet, cancel := context.WithTimeout(ctx, keepAlive)
		e, err := in.Next(quiet)
		cancel()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, context.DeadlineExceeded):
			err = tell(ws, "KeepAlive")
		case errors.Is(err, io.EOF):
			if err := tell(ws, "CloseStream"); err != nil {
				return err
			}
			return io.EOF
		case err != nil:
			return err
		case e.Mark == speech.SpeechStopped:
			err = tell(ws, "Finalize")
		default:
			for samples := e.Samples; len(samples) > 0 && err == nil; {
				n := min(chunk, len(samples))
				buf = audio.AppendBytes(buf[:0], samples[:n])
				samples = samples[n:]
				err = write(ws, websocket.BinaryMessage, buf)
			}
		}
		if err != nil {
			return err
		}
	}
}

// tell sends a message without content.
func tell(ws *websocket.Conn, kind string) error {
	return write(ws, websocket.TextMessage, []byte(`{"type":"`+kind+`"}`))
}

func write(ws *websocket.Conn, kind int, data []byte) error {
	if err := ws.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	return ws.WriteMessage(kind, data)
}

// message is what Deepgram sends.
type message struct {
	Type        string `json:"type"`
	IsFinal     bool   `json:"is_final"`
	SpeechFinal bool   `json:"speech_final"`
	Channel     struct {
		Alternatives []struct {
			Transcript string   `json:"transcript"`
			Confidence float64  `json:"confidence"`
			Languages  []string `json:"languages"`
		} `json:"alternatives"`
	} `json:"channel"`
	Description string `json:"description"`
	Message     string `json:"message"`
}

// hear emits what is heard until the connection ends.
func (r *Recognizer) hear(ws *websocket.Conn, emit func(speech.Transcript) error) error {
	for {
		_, raw, err := ws.ReadMessage()
		if err != nil {
			return r.cut(err)
		}
		// Other messages have other shapes, such as a channel that is a list.
		var kind struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal(raw, &kind); err != nil {
			return r.failure(frames.ErrorServer, 0, fmt.Errorf("a message is no JSON: %w", err))
		}
		if kind.Type != "Results" && kind.Type != "Error" {
			continue
		}
		var m message
		if err := json.Unmarshal(raw, &m); err != nil {
			return r.failure(frames.ErrorServer, 0, fmt.Errorf("its results cannot be read: %w", err))
		}
		if m.Type == "Error" {
			return r.failure(frames.ErrorServer, 0, errors.New(m.Description+" "+m.Message))
		}
		if err := r.results(&m, emit); err != nil {
			return &listenerError{err}
		}
	}
}

// results emits one message's words.
func (r *Recognizer) results(m *message, emit func(speech.Transcript) error) error {
	t := speech.Transcript{Final: m.IsFinal, EndOfTurn: r.cfg.EndOfTurn && m.SpeechFinal}
	if len(m.Channel.Alternatives) > 0 {
		best := &m.Channel.Alternatives[0]
		t.Text, t.Confidence = best.Transcript, best.Confidence
		if len(best.Languages) > 0 {
			t.Language = best.Languages[0]
		}
	}
	if t.Text == "" && !t.EndOfTurn {
		return nil
	}
	return emit(t)
}

// cut is the end of a connection; a close message says why.
func (r *Recognizer) cut(err error) error {
	var closed *websocket.CloseError
	if errors.As(err, &closed) && closed.Code != websocket.CloseAbnormalClosure && closed.Text != "" {
		return r.failure(frames.ErrorServer, 0, fmt.Errorf("it hung up: %s", closed.Text))
	}
	return r.failure(frames.ErrorNetwork, 0, err)
}

// refused is a handshake that failed.
func (r *Recognizer) refused(ctx context.Context, response *http.Response, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if response == nil {
		return r.failure(frames.ErrorNetwork, 0, err)
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(response.Body, 4096)) // without it there is no reason
	category := frames.ErrorServer
	switch status := response.StatusCode; {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		category = frames.ErrorAuth
	case status == http.StatusPaymentRequired:
		category = frames.ErrorQuota
	case status == http.StatusTooManyRequests:
		category = frames.ErrorRateLimit
	case status/100 == 4:
		category = frames.ErrorInvalid
	}
	return r.failure(category, response.StatusCode, fmt.Errorf("%s %s", response.Header.Get("Dg-Error"), body))
}

func (r *Recognizer) failure(category frames.ErrorCategory, status int, err error) *llm.Error {
	return &llm.Error{Category: category, Status: status, Provider: "deepgram", Err: r.clean.Error(err)}
}
