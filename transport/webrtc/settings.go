package webrtc

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/pion/ice/v4"
	"github.com/pion/interceptor"
	"github.com/pion/logging"
	"github.com/pion/webrtc/v4"
)

const (
	// failedAfter is when a connection is past saving without a new one; it is longer
	// than a caller is waited for.
	failedAfter = 5 * time.Minute
	// keepAlive is the distance of the packets that keep routers' tables filled.
	keepAlive = 2 * time.Second
)

// newAPI makes what peer connections are made with.
func newAPI(cfg *Config, mux ice.UDPMux) (*webrtc.API, error) {
	s := webrtc.SettingEngine{LoggerFactory: library{cfg.Logger}}
	s.DetachDataChannels()
	s.DisableActiveTCP(true)
	s.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4, webrtc.NetworkTypeUDP6})
	s.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	s.SetICETimeouts(cfg.LostAfter, failedAfter, min(keepAlive, cfg.LostAfter/2))
	s.SetSTUNGatherTimeout(cfg.GatherTimeout)
	s.SetIncludeLoopbackCandidate(cfg.Loopback)
	s.SetSCTPMaxMessageSize(uint32(cfg.MaxMessage))
	if keep := interfaceFilter(cfg); keep != nil {
		s.SetInterfaceFilter(keep)
	}
	if keep := addressFilter(cfg); keep != nil {
		s.SetIPFilter(keep)
	}
	if cfg.PortMax != 0 {
		if err := s.SetEphemeralUDPPortRange(cfg.PortMin, cfg.PortMax); err != nil {
			return nil, fmt.Errorf("%w: PortMin and PortMax: %w", ErrConfig, err)
		}
	}
	if len(cfg.PublicIPs) > 0 {
		rule := webrtc.ICEAddressRewriteRule{External: cfg.PublicIPs, AsCandidateType: webrtc.ICECandidateTypeHost}
		if err := s.SetICEAddressRewriteRules(rule); err != nil {
			return nil, fmt.Errorf("%w: PublicIPs: %w", ErrConfig, err)
		}
	}
	if mux != nil {
		s.SetICEUDPMux(mux)
	}
	m, err := mediaEngine()
	if err != nil {
		return nil, err
	}
	// Reports are made and read here: the library's interceptors would take two
	// goroutines and several allocations for each packet.
	return webrtc.NewAPI(webrtc.WithSettingEngine(s), webrtc.WithMediaEngine(m), webrtc.WithInterceptorRegistry(&interceptor.Registry{})), nil
}

// interfaceFilter is nil when all interfaces are used.
func interfaceFilter(cfg *Config) func(string) bool {
	if len(cfg.Interfaces) == 0 {
		return nil
	}
	return func(name string) bool { return slices.Contains(cfg.Interfaces, name) }
}

// addressFilter is nil when all addresses are used.
func addressFilter(cfg *Config) func(net.IP) bool {
	if len(cfg.Networks) == 0 {
		return nil
	}
	return func(ip net.IP) bool {
		addr, ok := netip.AddrFromSlice(ip)
		if !ok {
			return false
		}
		addr = addr.Unmap()
		return slices.ContainsFunc(cfg.Networks, func(p netip.Prefix) bool { return p.Contains(addr) })
	}
}

// sharedPort listens at the port that all calls use.
func sharedPort(cfg *Config) (ice.UDPMux, error) {
	options := []ice.UDPMuxFromPortOption{ice.UDPMuxFromPortWithLogger(library{cfg.Logger}.NewLogger("ice"))}
	if keep := interfaceFilter(cfg); keep != nil {
		options = append(options, ice.UDPMuxFromPortWithInterfaceFilter(keep))
	}
	if keep := addressFilter(cfg); keep != nil {
		options = append(options, ice.UDPMuxFromPortWithIPFilter(keep))
	}
	if cfg.Loopback {
		options = append(options, ice.UDPMuxFromPortWithLoopback())
	}
	mux, err := ice.NewMultiUDPMuxFromPort(int(cfg.Port), options...)
	if err != nil {
		return nil, fmt.Errorf("webrtc: cannot use UDP port %d for all calls: %w", cfg.Port, err)
	}
	return mux, nil
}

// configuration is what one peer connection is made with.
func (e *Engine) configuration() (webrtc.Configuration, error) {
	cert, err := e.certificate()
	if err != nil {
		return webrtc.Configuration{}, err
	}
	c := webrtc.Configuration{Certificates: []webrtc.Certificate{cert}}
	for _, s := range e.cfg.ICEServers {
		server := webrtc.ICEServer{URLs: s.URLs, Username: s.Username}
		if s.Credential != "" {
			server.Credential = s.Credential
		}
		c.ICEServers = append(c.ICEServers, server)
	}
	return c, nil
}

// library hands the WebRTC library's log to ours, at the level for debugging: what it
// warns of is a matter of networks, and told in our own terms where it counts.
type library struct{ log *slog.Logger }

func (l library) NewLogger(scope string) logging.LeveledLogger {
	return libraryLog{l.log, scope}
}

type libraryLog struct {
	log   *slog.Logger
	scope string
}

func (l libraryLog) emit(format string, args ...any) {
	ctx := context.Background()
	if !l.log.Enabled(ctx, slog.LevelDebug) {
		return
	}
	if len(args) > 0 {
		format = fmt.Sprintf(format, args...)
	}
	l.log.DebugContext(ctx, format, "scope", l.scope)
}

func (libraryLog) Trace(string)                {}
func (libraryLog) Tracef(string, ...any)       {}
func (libraryLog) Debug(string)                {}
func (libraryLog) Debugf(string, ...any)       {}
func (libraryLog) Info(string)                 {}
func (libraryLog) Infof(string, ...any)        {}
func (l libraryLog) Warn(msg string)           { l.emit(msg) }
func (l libraryLog) Warnf(f string, a ...any)  { l.emit(f, a...) }
func (l libraryLog) Error(msg string)          { l.emit(msg) }
func (l libraryLog) Errorf(f string, a ...any) { l.emit(f, a...) }
