package openai

import (
	"net"
	"net/http"
	"time"
)

// NewTransport makes a transport suited to a busy session server: it keeps many
// connections to the one model server, finds a dead one, and passes events on as
// they come. It does not read proxy settings from the environment; set Proxy to
// [http.ProxyFromEnvironment] for that.
func NewTransport() *http.Transport {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}
	return &http.Transport{
		DialContext:           dialer.DialContext,
		ForceAttemptHTTP2:     true,
		TLSHandshakeTimeout:   10 * time.Second,
		ExpectContinueTimeout: time.Second,
		IdleConnTimeout:       90 * time.Second,
		MaxIdleConnsPerHost:   1024,
		DisableCompression:    true, // a compressed stream may hold events back
		WriteBufferSize:       16 << 10,
	}
}

func defaultClient() *http.Client {
	return &http.Client{
		Transport: NewTransport(),
		// A redirect would turn the request into another one, or carry headers
		// to a server they are not meant for.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
