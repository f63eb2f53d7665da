package server

import (
	"net/http"
	"strings"

	"github.com/turnwise/turnwise/internal/origin"
)

// allowOrigin lets in what is no browser, the server's own pages, and those on the
// list. A request it does not let through has been answered.
func (s *Server) allowOrigin(w http.ResponseWriter, r *http.Request) bool {
	from := r.Header.Get("Origin")
	if from == "" {
		return true
	}
	w.Header().Add("Vary", "Origin")
	if !origin.Allowed(from, origin.Own{Host: r.Host, TLS: s.secure(r)}, s.origins) {
		s.metrics.refused.Add(refusedOrigin, 1)
		refuse(w, http.StatusForbidden, "Pages of "+from+" may not use this server. Its operator can allow them.")
		return false
	}
	w.Header().Set("Access-Control-Allow-Origin", from)
	return true
}

// secure reports whether the client speaks to the server over TLS, as far as that can
// be known: the connection itself is, a proxy says so, or it is for the public
// address and that is.
func (s *Server) secure(r *http.Request) bool {
	return r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https") ||
		s.public != nil && s.public.Scheme == "https" && strings.EqualFold(s.public.Host, r.Host)
}

// servePreflight answers a browser that asks what it may send; methods are those of
// the address.
func (s *Server) servePreflight(w http.ResponseWriter, r *http.Request, methods string) {
	if !s.allowOrigin(w, r) {
		return
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", methods)
	headers := r.Header.Get("Access-Control-Request-Headers")
	if headers == "" {
		headers = "Content-Type"
	}
	h.Add("Vary", "Access-Control-Request-Headers")
	h.Set("Access-Control-Allow-Headers", headers)
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
}
