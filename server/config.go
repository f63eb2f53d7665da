package server

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"time"

	"github.com/turnwise/turnwise/internal/origin"
	"github.com/turnwise/turnwise/transport/rtvi"
)

// Config is a server's settings. Bot is required; the rest has defaults.
type Config struct {
	// Bot makes the conversations.
	Bot Bot
	// Voice gives what the bot can be called with; nil means that it is only typed
	// to. It is called once, for the first who asks, so that what takes time or
	// memory need not be there before.
	Voice func() Voice
	// Phone takes calls that carriers stream; nil takes none.
	Phone *Phone
	// Record, when not nil, has every call recorded as a stereo WAV stream: the caller
	// on the left, the bot on the right. It gives the file for a session, which is
	// closed at the end of the call; an error has the call go on without.
	Record func(session string) (io.WriteCloser, error)
	// Addr is where [Server.Run] listens, e.g. ":8080" (the default) or
	// "127.0.0.1:0".
	Addr string
	// Logger takes the log; nil discards it.
	Logger *slog.Logger

	// MaxSessions is the largest number of conversations at a time; the default
	// is 1000. Further clients are refused with status 503.
	MaxSessions int
	// ConnectRate is how many conversations may begin in a second in the long
	// run, and ConnectBurst how many at once; the defaults are 500 and 1000.
	// What comes faster is refused with status 503, before it costs anything.
	ConnectRate, ConnectBurst int
	// ReadyTimeout is how long a client may take to say that it is ready; the
	// default is 15 s.
	ReadyTimeout time.Duration
	// IdleTimeout ends a conversation in which nothing is said for so long; the
	// default is 15 min, negative never does.
	IdleTimeout time.Duration
	// Drain is how long conversations may go on when the server is asked to stop;
	// the default is 20 s. Those that are still there are then ended.
	Drain time.Duration

	// Functions says how much of the function calls clients are told; nil means
	// everything on a server with the page, which shows it, and no more than
	// that a call runs on one without.
	Functions *rtvi.FunctionReport
	// Version is what clients are told of the server's; may be empty.
	Version string
	// AllowedOrigins are the web origins besides the server's own that may
	// connect, e.g. "https://shop.example"; "*" allows all.
	AllowedOrigins []string
	// AllowedHosts are the host names, without a port, that the server goes by
	// besides localhost, addresses and that of PublicURL. It looks at them only when
	// it listens at a loopback address.
	AllowedHosts []string
	// PublicURL is the address clients reach the server at when it stands behind
	// a proxy, e.g. "https://bot.example/chat"; the default is what the request
	// says.
	PublicURL string
	// NoPage leaves out the page.
	NoPage bool
	// NoMetrics leaves out /metrics, for servers whose address is public.
	NoMetrics bool
}

// maxMaxSessions is more conversations than one process can hold, and maxRate more
// than can begin in it in a second.
const (
	maxMaxSessions = 1_000_000
	maxRate        = 1_000_000
)

// ErrConfig is wrapped by every error about a configuration.
var ErrConfig = errors.New("server: invalid configuration")

// Validate names the first field that is missing or out of range.
func (c *Config) Validate() error {
	switch {
	case c.Bot == nil:
		return fmt.Errorf("%w: Bot is required", ErrConfig)
	case c.MaxSessions < 0 || c.MaxSessions > maxMaxSessions:
		return fmt.Errorf("%w: MaxSessions is %d; it must be from 1 to %d", ErrConfig, c.MaxSessions, maxMaxSessions)
	case c.ConnectRate < 0 || c.ConnectRate > maxRate:
		return fmt.Errorf("%w: ConnectRate is %d; it must be from 1 to %d", ErrConfig, c.ConnectRate, maxRate)
	case c.ConnectBurst < 0 || c.ConnectBurst > 2*maxRate:
		return fmt.Errorf("%w: ConnectBurst is %d; it must be from 1 to %d", ErrConfig, c.ConnectBurst, 2*maxRate)
	case c.ReadyTimeout < 0:
		return fmt.Errorf("%w: ReadyTimeout is %s; it must be positive", ErrConfig, c.ReadyTimeout)
	case c.Drain < 0:
		return fmt.Errorf("%w: Drain is %s; it must be positive", ErrConfig, c.Drain)
	}
	if c.Phone != nil {
		if err := c.Phone.validate(c.Voice != nil); err != nil {
			return err
		}
	}
	for _, o := range c.AllowedOrigins {
		if err := origin.Check(o); err != nil {
			return fmt.Errorf("%w: AllowedOrigins: %w", ErrConfig, err)
		}
	}
	for _, h := range c.AllowedHosts {
		if err := origin.CheckHost(h); err != nil {
			return fmt.Errorf("%w: AllowedHosts: %w", ErrConfig, err)
		}
	}
	if c.PublicURL != "" {
		u, err := url.Parse(c.PublicURL)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			return fmt.Errorf("%w: PublicURL %q is not an http or https address", ErrConfig, c.PublicURL)
		}
	}
	return nil
}

// defaults fills in what was left open.
func (c *Config) defaults() {
	set(&c.MaxSessions, 1000)
	set(&c.ConnectRate, 500)
	set(&c.ConnectBurst, 1000)
	set(&c.ReadyTimeout, 15*time.Second)
	set(&c.IdleTimeout, 15*time.Minute)
	set(&c.Drain, 20*time.Second)
	if c.Functions == nil {
		c.Functions = &rtvi.FunctionReport{Level: rtvi.ReportFull}
		if c.NoPage {
			c.Functions.Level = rtvi.ReportNone
		}
	}
	if c.Addr == "" {
		c.Addr = ":8080"
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
}

func set[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
