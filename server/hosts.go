package server

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// guardHosts makes the server look at the Host header when l is reached from this
// machine alone. A page elsewhere can have its own name resolve to 127.0.0.1 (DNS
// rebinding); the browser then takes the server for that page's own, and Origin and
// Host agree. A server that others reach under names it cannot know does not look.
func (s *Server) guardHosts(l net.Listener) {
	addr, err := netip.ParseAddrPort(l.Addr().String())
	s.localOnly.Store(err == nil && addr.Addr().IsLoopback())
}

// hostKnown reports whether the server goes by the name that a request is for.
func (s *Server) hostKnown(host string) bool {
	if !s.localOnly.Load() {
		return true
	}
	name := strings.ToLower(host)
	if h, _, err := net.SplitHostPort(name); err == nil {
		name = h
	}
	name = strings.Trim(name, "[]")
	if name == "" || name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return true // what has no name cannot have been renamed
	}
	if s.public != nil && strings.EqualFold(name, s.public.Hostname()) {
		return true
	}
	for _, allowed := range s.cfg.AllowedHosts {
		if strings.EqualFold(allowed, name) {
			return true
		}
	}
	return false
}

// refuseHost answers a request for a name that is not the server's.
func (s *Server) refuseHost(w http.ResponseWriter, r *http.Request) {
	s.metrics.refused.Add(refusedHost, 1)
	refuse(w, http.StatusMisdirectedRequest, fmt.Sprintf(
		"This server listens on this machine alone and does not go by the name %q. Behind a proxy its operator says its public address.", r.Host))
}
