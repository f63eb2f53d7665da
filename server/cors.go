package server

import (
	"net/http"

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
	if !origin.Allowed(from, origin.Own{Host: r.Host, TLS: r.TLS != nil}, s.origins) {
		s.metrics.refused.Add(refusedOrigin, 1)
		refuse(w, http.StatusForbidden, "Pages of "+from+" may not use this server. Its operator can allow them.")
		return false
	}
	w.Header().Set("Access-Control-Allow-Origin", from)
	return true
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
