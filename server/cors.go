package server

import (
	"net/http"
	"net/url"
	"strings"
)

// allowOrigin lets web pages of other origins call /connect, /start and
// /api/offer when they are on the list. A request it does not let through has been answered.
func (s *Server) allowOrigin(w http.ResponseWriter, r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	w.Header().Add("Vary", "Origin")
	if !s.originAllowed(origin, r.Host) {
		s.metrics.refused.Add(refusedOrigin, 1)
		refuse(w, http.StatusForbidden, "Pages of "+origin+" may not use this server. Its operator can allow them.")
		return false
	}
	w.Header().Set("Access-Control-Allow-Origin", origin)
	return true
}

// originAllowed lets in the server's own pages and those on the list.
func (s *Server) originAllowed(origin, host string) bool {
	u, err := url.Parse(origin)
	if err != nil {
		return false
	}
	if strings.EqualFold(u.Host, host) || (s.public != nil && strings.EqualFold(u.Host, s.public.Host)) {
		return true
	}
	for _, allowed := range s.cfg.AllowedOrigins {
		if allowed == "*" || strings.EqualFold(allowed, origin) {
			return true
		}
	}
	return false
}

// servePreflight answers a browser that asks what it may send.
func (s *Server) servePreflight(w http.ResponseWriter, r *http.Request) {
	if !s.allowOrigin(w, r) {
		return
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", "POST, PATCH, OPTIONS")
	headers := r.Header.Get("Access-Control-Request-Headers")
	if headers == "" {
		headers = "Content-Type"
	}
	h.Add("Vary", "Access-Control-Request-Headers")
	h.Set("Access-Control-Allow-Headers", headers)
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
}
