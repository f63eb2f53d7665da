package webrtc_test

import (
	"net"
	"sync/atomic"
	"testing"

	"github.com/pion/ice/v4"
	"github.com/pion/logging"
	pion "github.com/pion/webrtc/v4"
)

// sockets is a client's network, which can be cut.
type sockets struct{ down atomic.Bool }

func (s *sockets) cut() { s.down.Store(true) }

// use has a client send and receive through it.
func (s *sockets) use(t testing.TB) func(*pion.SettingEngine) {
	udp, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	mux := ice.NewUDPMuxDefault(ice.UDPMuxParams{
		UDPConn: &cable{udp, s}, Logger: logging.NewDefaultLoggerFactory().NewLogger("ice"),
	})
	t.Cleanup(func() { _ = mux.Close() })
	return func(e *pion.SettingEngine) { e.SetICEUDPMux(mux) }
}

// cable is a socket whose packets vanish when the network is down.
type cable struct {
	*net.UDPConn
	net *sockets
}

func (c *cable) WriteTo(p []byte, to net.Addr) (int, error) {
	if c.net.down.Load() {
		return len(p), nil
	}
	return c.UDPConn.WriteTo(p, to)
}

func (c *cable) ReadFrom(p []byte) (int, net.Addr, error) {
	for {
		n, from, err := c.UDPConn.ReadFrom(p)
		if err != nil || !c.net.down.Load() {
			return n, from, err
		}
	}
}
