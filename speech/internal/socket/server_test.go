package socket_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/turnwise/turnwise/speech/internal/socket"
)

var errConfig = errors.New("invalid")

func TestServersAreChecked(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*socket.Server)
		want   string
	}{
		"as it should be":         {func(*socket.Server) {}, ""},
		"a socket's address":      {func(s *socket.Server) { s.BaseURL = "ws://127.0.0.1:9/prefix/" }, ""},
		"no key":                  {func(s *socket.Server) { s.APIKey = "" }, "APIKey"},
		"a key with a line break": {func(s *socket.Server) { s.APIKey = "abc\n" }, "APIKey"},
		"no address":              {func(s *socket.Server) { s.BaseURL = "" }, "BaseURL"},
		"no scheme":               {func(s *socket.Server) { s.BaseURL = "host:80" }, "BaseURL"},
		"a file":                  {func(s *socket.Server) { s.BaseURL = "file://host/x" }, "BaseURL"},
		"a query":                 {func(s *socket.Server) { s.BaseURL = "https://host/?a=b" }, "BaseURL"},
		"a password":              {func(s *socket.Server) { s.BaseURL = "https://a:secret@host" }, "BaseURL"},
		"a header that is none":   {func(s *socket.Server) { s.Headers = map[string]string{"a b": "secret"} }, "Headers"},
		"two headers in one":      {func(s *socket.Server) { s.Headers = map[string]string{"a": "secret\r\nb: c"} }, "Headers"},
		"the connection's own":    {func(s *socket.Server) { s.Headers = map[string]string{"upgrade": "secret"} }, "Headers: Upgrade"},
	} {
		t.Run(name, func(t *testing.T) {
			s := socket.Server{APIKey: key, BaseURL: "https://host.test"}
			c.change(&s)
			err := s.Validate(errConfig, "Config")
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), "Config."+c.want) || !errors.Is(err, errConfig) || strings.Contains(err.Error(), "secret")):
				t.Errorf("error is %v", err)
			}
		})
	}
}

func TestAddressesAndHeadersOfAServer(t *testing.T) {
	s := socket.Server{APIKey: key, BaseURL: "https://host.test/prefix/", Headers: map[string]string{"x-own": "1", "authorization": "mine"}}
	c := s.Config("/v1/listen", url.Values{"model": {"a b"}}, map[string]string{"Authorization": "Token " + key})
	if c.URL != "wss://host.test/prefix/v1/listen?model=a+b" {
		t.Errorf("address is %s", c.URL)
	}
	if c.Header.Get("Authorization") != "mine" || c.Header.Get("X-Own") != "1" || c.Header.Get("User-Agent") != "turnwise" {
		t.Errorf("headers are %v", c.Header)
	}
	if text := c.Failures.Text("it was " + key); strings.Contains(text, key) {
		t.Errorf("errors would say %q", text)
	}
}
