package socket

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/turnwise/turnwise/internal/secret"
	"github.com/turnwise/turnwise/speech/internal/failure"
)

// Server is how a configuration says where a service is.
type Server struct {
	// Provider names it in errors.
	Provider string
	// APIKey is its key, and BaseURL its address, with a scheme of http, https, ws or
	// wss and perhaps a path.
	APIKey, BaseURL string
	// Headers are sent with the handshake and replace others.
	Headers map[string]string
	// Dial makes network connections; nil means the usual way.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Validate checks the fields, which are those of a configuration. Errors wrap sentinel,
// name the field and hold no secrets.
func (s Server) Validate(sentinel error, configuration string) error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s.%s", sentinel, configuration, fmt.Sprintf(format, args...))
	}
	if s.APIKey == "" {
		return wrong("APIKey is required")
	}
	if strings.ContainsFunc(s.APIKey, unprintable) {
		return wrong("APIKey holds a space or a control character")
	}
	u, err := url.Parse(s.BaseURL)
	if err != nil || u.Host == "" || schemes[u.Scheme] == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return wrong("BaseURL must be an address such as https://host or wss://host:port/path, without user, query and fragment")
	}
	for name, value := range s.Headers {
		switch {
		case name == "" || strings.ContainsFunc(name, func(r rune) bool { return unprintable(r) || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r) }):
			return wrong("Headers: %q is no name of a header", name)
		case strings.ContainsFunc(value, func(r rune) bool { return r != ' ' && r != '\t' && unprintable(r) }):
			return wrong("Headers: the value of %q holds a control character", name)
		}
		switch canonical := http.CanonicalHeaderKey(name); {
		case strings.HasPrefix(canonical, "Sec-Websocket-"), canonical == "Connection", canonical == "Upgrade", canonical == "Host":
			return wrong("Headers: %s belongs to the connection", canonical)
		}
	}
	return nil
}

// schemes are those of sockets for addresses.
var schemes = map[string]string{"http": "ws", "https": "wss", "ws": "ws", "wss": "wss"}

func unprintable(r rune) bool { return r <= ' ' || r >= 0x7f }

// Config is how to connect to a path, which is appended to the base address, with
// headers of the protocol. The server must be valid.
func (s Server) Config(path string, query url.Values, protocol map[string]string) Config {
	u, err := url.Parse(s.BaseURL)
	if err != nil {
		u = &url.URL{} // it is not valid
	}
	u = u.JoinPath(path)
	u.Scheme, u.RawQuery = schemes[u.Scheme], query.Encode()
	header := http.Header{"User-Agent": {"turnwise"}}
	for _, headers := range []map[string]string{protocol, s.Headers} {
		for name, value := range headers {
			header.Set(name, value)
		}
	}
	return Config{
		URL: u.String(), Header: header, Dial: s.Dial,
		Failures: failure.New(s.Provider, s.BaseURL, secret.Of(s.APIKey, s.Headers)),
	}
}
