package webrtc

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	"github.com/turnwise/turnwise/audio"
)

// Config is an [Engine]'s settings. The zero value is usable: each field that is zero
// gets the default named with it.
type Config struct {
	// ICEServers help to find a way between the peers: STUN and TURN servers. This
	// side asks them for addresses of its own, which a server with a public address
	// does not need. Default none.
	ICEServers []ICEServer
	// ClientICEServers are those that clients are told of; nil means ICEServers.
	ClientICEServers []ICEServer
	// Interfaces are the names of the network interfaces to use; empty means all.
	Interfaces []string
	// Networks are the local addresses to use, as in "10.0.0.0/8"; empty means all.
	Networks []netip.Prefix
	// Loopback offers loopback addresses too, for calls on one machine.
	Loopback bool
	// PortMin and PortMax bound the UDP ports of calls; 0 leaves them to the system.
	PortMin, PortMax uint16
	// PublicIPs are the addresses that the outside world knows this machine by, when
	// a router translates them one to one. They take the place of the local ones.
	PublicIPs []string
	// SharedPort has all calls use one UDP port on each address: Port, or one that
	// the system chooses when that is 0.
	SharedPort bool
	// Port is the shared UDP port.
	Port uint16

	// OutputRate is the rate in Hz, mono, at which [AudioSource]s give sound: 24000.
	// 8000, 12000, 16000 and 48000 are possible too.
	OutputRate int
	// MaxBitrate is what the bot's voice may take in bits per second: 32000. It goes
	// down to MinBitrate, 24000, when packets are lost.
	MinBitrate, MaxBitrate int
	// Complexity trades processor time for quality, 1 to 10: 5.
	Complexity int
	// MinHold and MaxHold bound how long sound is held back while an earlier packet
	// is missing: 40 ms and 400 ms. In between, the network decides.
	MinHold, MaxHold time.Duration
	// Pacers is the number of goroutines that send sound; 0 means one for each
	// processor.
	Pacers int

	// MaxMessage bounds one incoming message in bytes: 64 KiB.
	MaxMessage int
	// MaxText bounds one typed text in bytes: 32 KiB.
	MaxText int
	// MessageRate is how many messages a second a client may send in the long run:
	// 100. MessageBurst is how many at once: 400.
	MessageRate, MessageBurst int
	// MaxQueue bounds the bytes of messages that wait to be sent: 256 KiB.
	// Droppable messages are dropped from half of it on; when it is full the client
	// is disconnected.
	MaxQueue int
	// WriteTimeout is how long a client may take no messages while some wait: 10 s.
	WriteTimeout time.Duration

	// GatherTimeout is how long this side's own addresses may take: 2 s.
	GatherTimeout time.Duration
	// ConnectTimeout is how long a caller may take from the answer to the first
	// connection: 30 s.
	ConnectTimeout time.Duration
	// LostAfter is after how long without any packet a caller counts as lost: 5 s.
	LostAfter time.Duration
	// PingTimeout is how long a client that sends pings may be without: 15 s.
	PingTimeout time.Duration
	// ReattachWindow is how long the session of a lost caller is kept: 15 s.
	ReattachWindow time.Duration
	// ReadyTimeout is how long a client may take to send client-ready: 60 s.
	ReadyTimeout time.Duration
	// BotReadyTimeout is how long the session may take to answer it: 10 s.
	BotReadyTimeout time.Duration
	// CloseTimeout bounds the end, from the session's last frame to the closed
	// connection: 900 ms.
	CloseTimeout time.Duration
	// StopTimeout is how long [Conn.Run] waits for the session's end when the caller
	// has gone: 10 s.
	StopTimeout time.Duration

	// Logger takes what concerns calls; nil discards it.
	Logger *slog.Logger
}

// ICEServer is a STUN or TURN server, in the form that browsers take.
type ICEServer struct {
	// URLs are as in "stun:stun.example.org:3478".
	URLs []string `json:"urls"`
	// Username and Credential are for TURN servers.
	Username   string `json:"username,omitempty"`
	Credential string `json:"credential,omitempty"`
}

// ErrConfig is wrapped by the errors of [NewEngine] about its configuration.
var ErrConfig = errors.New("webrtc: wrong configuration")

// InputRate is the rate in Hz, mono, of the sound that sessions get.
const InputRate = 16000

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
	number("OutputRate", &c.OutputRate, 24000)
	number("MinBitrate", &c.MinBitrate, 24000)
	number("MaxBitrate", &c.MaxBitrate, 32000)
	number("Complexity", &c.Complexity, 5)
	number("MaxMessage", &c.MaxMessage, 64<<10)
	number("MaxText", &c.MaxText, 32<<10)
	number("MessageRate", &c.MessageRate, 100)
	number("MessageBurst", &c.MessageBurst, 400)
	number("MaxQueue", &c.MaxQueue, 256<<10)
	duration("MinHold", &c.MinHold, 40*time.Millisecond)
	duration("MaxHold", &c.MaxHold, 400*time.Millisecond)
	duration("WriteTimeout", &c.WriteTimeout, 10*time.Second)
	duration("GatherTimeout", &c.GatherTimeout, 2*time.Second)
	duration("ConnectTimeout", &c.ConnectTimeout, 30*time.Second)
	duration("LostAfter", &c.LostAfter, 5*time.Second)
	duration("PingTimeout", &c.PingTimeout, 15*time.Second)
	duration("ReattachWindow", &c.ReattachWindow, 15*time.Second)
	duration("ReadyTimeout", &c.ReadyTimeout, time.Minute)
	duration("BotReadyTimeout", &c.BotReadyTimeout, 10*time.Second)
	duration("CloseTimeout", &c.CloseTimeout, 900*time.Millisecond)
	duration("StopTimeout", &c.StopTimeout, 10*time.Second)
	if c.ClientICEServers == nil {
		c.ClientICEServers = c.ICEServers
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, errors.Join(append(errs, c.check()...)...)
}

// check reports what does not fit together.
func (c *Config) check() []error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("%w: "+format, append([]any{ErrConfig}, args...)...))
	}
	switch {
	case c.PortMin > c.PortMax:
		bad("PortMin %d is above PortMax %d; give both, the lower one first", c.PortMin, c.PortMax)
	case c.SharedPort && c.PortMax != 0:
		bad("SharedPort takes Port, not PortMin and PortMax")
	case !c.SharedPort && c.Port != 0:
		bad("Port is only for SharedPort; set that too, or PortMin and PortMax")
	}
	for _, ip := range c.PublicIPs {
		if _, err := netip.ParseAddr(ip); err != nil {
			bad("PublicIPs has %q, which is no IP address", ip)
		}
	}
	if c.MaxHold < c.MinHold {
		bad("MaxHold %s is below MinHold %s", c.MaxHold, c.MinHold)
	}
	if c.MinBitrate > c.MaxBitrate {
		bad("MinBitrate %d is above MaxBitrate %d", c.MinBitrate, c.MaxBitrate)
	}
	for _, rate := range []int{c.MinBitrate, c.MaxBitrate} {
		cfg := voice(c, audio.Format{Rate: c.OutputRate, Channels: 1})
		cfg.Bitrate = rate
		if err := cfg.Validate(); err != nil {
			bad("%w", err)
			break
		}
	}
	return errs
}
