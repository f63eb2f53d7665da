// Package origin decides which web pages may talk to a server.
//
// A browser sends the origin of the page (RFC 6454) with every WebSocket handshake
// and with every request to another origin. What sends none is no browser, and
// could say anything.
package origin

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Any is the entry of a list that lets every page in.
const Any = "*"

// Errors that those of [Check] and [CheckHost] wrap.
var (
	ErrMalformed = errors.New("not an origin")
	ErrHost      = errors.New("not a host name")
)

// Check reports what is wrong with an entry of a list. An origin is scheme and host,
// with the port if it is not the scheme's own: https://app.example.org:8443.
func Check(entry string) error {
	if entry == Any {
		return nil
	}
	if _, ok := parse(entry); !ok {
		return fmt.Errorf("%q is %w; write scheme and host, as in https://app.example.org, or * for all", entry, ErrMalformed)
	}
	return nil
}

// CheckHost reports what is wrong with the name of a host.
func CheckHost(name string) error {
	if name == "" || strings.ContainsAny(name, ":/?#@[]*% \t") {
		return fmt.Errorf("%q is %w; write it without scheme and port, as in bot.internal", name, ErrHost)
	}
	return nil
}

// Own is where a server was reached: the request's Host header, and whether the
// connection to the server itself was encrypted. Behind a proxy it may be plain
// although the page is not.
type Own struct {
	// Host is host and port as the client wrote them.
	Host string
	// TLS tells that the request came encrypted.
	TLS bool
}

// Allowed reports whether a page of origin may use the server: one that the server
// itself gave out, or one on the list, whose entries have passed [Check]. No origin
// at all is allowed; an opaque one ("null") only when every page is.
func Allowed(origin string, own Own, list []string) bool {
	if origin == "" {
		return true
	}
	u, ok := parse(origin)
	if ok && strings.EqualFold(u.Host, own.Host) && (u.Scheme == "https" || u.Scheme == "http" && !own.TLS) {
		return true
	}
	for _, entry := range list {
		if entry == Any || ok && strings.EqualFold(entry, origin) {
			return true
		}
	}
	return false
}

// parse takes apart what is exactly an origin.
func parse(origin string) (*url.URL, bool) {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme == "" || u.Host == "" || u.Hostname() == "" {
		return nil, false
	}
	bare := url.URL{Scheme: u.Scheme, Host: u.Host}
	return u, strings.EqualFold(bare.String(), origin)
}
