package websocket

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/turnwise/turnwise/internal/origin"
)

// Config bounds what clients can do. The zero value is usable: each field that is
// zero gets the default named with it.
type Config struct {
	// AllowedOrigins are the web pages that may connect, as in
	// "https://app.example.org"; "*" allows all. Pages of the server's own host may
	// always, and so may clients that are no browsers and send no origin.
	AllowedOrigins []string
	// Logger takes what concerns one connection; nil discards it.
	Logger *slog.Logger

	// MaxMessage bounds one incoming message in bytes: 1 MiB.
	MaxMessage int
	// MaxText bounds one typed text in bytes: 32 KiB.
	MaxText int
	// MessageRate is how many messages a second a client may send in the long run,
	// binary audio not counted: 100. MessageBurst is how many at once: 400.
	MessageRate, MessageBurst int
	// AudioRate is how many audio messages a second a client may send in the long
	// run: 150. AudioBurst is how many at once: 3000, since a client flushes what
	// it recorded while it connected.
	AudioRate, AudioBurst int
	// ByteRate is how many bytes a second may come in in the long run: 512 KiB.
	// ByteBurst is how many at once: 4 MiB; it is at least MaxMessage.
	ByteRate, ByteBurst int

	// SlowReader says what happens when the client does not read: the default
	// drops tokens, audio and metrics first.
	SlowReader SlowReaderPolicy
	// MaxQueue bounds the bytes that wait to be written: 256 KiB. Droppable
	// messages are dropped from half of it on; when it is full the client is
	// disconnected.
	MaxQueue int
	// WriteTimeout is how long one write may take: 10 s.
	WriteTimeout time.Duration

	// PingInterval is how often the client is asked for a sign of life: 20 s.
	// PongTimeout is how long it may take to answer: 10 s.
	PingInterval, PongTimeout time.Duration
	// ReadyTimeout is how long a client may take to send client-ready: 60 s.
	ReadyTimeout time.Duration
	// BotReadyTimeout is how long the session may take to answer it before the
	// client is told that it failed: 10 s.
	BotReadyTimeout time.Duration
	// CloseTimeout bounds the end, from the session's last frame to the closed
	// socket: 900 ms. What is queued is written in it and the client's farewell
	// awaited.
	CloseTimeout time.Duration
	// StopTimeout is how long [Conn.Run] waits for the session's end when the
	// client has gone: 10 s.
	StopTimeout time.Duration
}

// SlowReaderPolicy says what happens when a client does not read what it is sent.
type SlowReaderPolicy uint8

// The policies.
const (
	// DropThenClose drops droppable messages while the queue is more than half
	// full, and disconnects when it is full.
	DropThenClose SlowReaderPolicy = iota
	// CloseWhenFull drops nothing and disconnects when the queue is full.
	CloseWhenFull
)

// ErrConfig is wrapped by the errors of [NewUpgrader].
var ErrConfig = errors.New("websocket: wrong configuration")

// withDefaults fills in what is zero and checks the rest.
func (c Config) withDefaults() (Config, error) {
	var errs []error
	number := func(name string, v *int, value int) {
		if *v == 0 {
			*v = value
		}
		if *v < 0 {
			errs = append(errs, fmt.Errorf("%w: %s is %d; it must be positive", ErrConfig, name, *v))
		}
	}
	duration := func(name string, v *time.Duration, value time.Duration) {
		if *v == 0 {
			*v = value
		}
		if *v < 0 {
			errs = append(errs, fmt.Errorf("%w: %s is %s; it must be positive", ErrConfig, name, *v))
		}
	}
	number("MaxMessage", &c.MaxMessage, 1<<20)
	number("MaxText", &c.MaxText, 32<<10)
	number("MessageRate", &c.MessageRate, 100)
	number("MessageBurst", &c.MessageBurst, 400)
	number("AudioRate", &c.AudioRate, 150)
	number("AudioBurst", &c.AudioBurst, 3000)
	number("ByteRate", &c.ByteRate, 512<<10)
	number("ByteBurst", &c.ByteBurst, 4<<20)
	number("MaxQueue", &c.MaxQueue, 256<<10)
	duration("WriteTimeout", &c.WriteTimeout, 10*time.Second)
	duration("PingInterval", &c.PingInterval, 20*time.Second)
	duration("PongTimeout", &c.PongTimeout, 10*time.Second)
	duration("ReadyTimeout", &c.ReadyTimeout, time.Minute)
	duration("BotReadyTimeout", &c.BotReadyTimeout, 10*time.Second)
	duration("CloseTimeout", &c.CloseTimeout, 900*time.Millisecond)
	duration("StopTimeout", &c.StopTimeout, 10*time.Second)
	c.ByteBurst = max(c.ByteBurst, c.MaxMessage)
	if c.SlowReader > CloseWhenFull {
		errs = append(errs, fmt.Errorf("%w: SlowReader is %d; it must be DropThenClose or CloseWhenFull", ErrConfig, c.SlowReader))
	}
	for _, o := range c.AllowedOrigins {
		if err := origin.Check(o); err != nil {
			errs = append(errs, fmt.Errorf("%w: AllowedOrigins: %w", ErrConfig, err))
		}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, errors.Join(errs...)
}
