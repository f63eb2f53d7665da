package browser

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestAddressesOnThisMachineAreLocalAndOthersAreNot(t *testing.T) {
	for address, want := range map[string]bool{
		"http://127.0.0.1:8080/":      true,
		"ws://localhost:8080/ws":      true,
		"http://[::1]:1/":             true,
		"data:text/html,hello":        true,
		"blob:http://127.0.0.1/1":     true,
		"https://example.com/x.js":    false,
		"http://localhost.evil.test/": false,
		"http://10.0.0.1/":            false,
		"//":                          false,
	} {
		if got := local(address); got != want {
			t.Errorf("local(%q) = %v, want %v", address, got, want)
		}
	}
}

func TestAPageRunsScriptsAndItsConsoleAndRequestsAreNoted(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<!doctype html><link rel=icon href="data:,"><h1>here</h1>`))
	}))
	t.Cleanup(server.Close)

	page := Open(t, server.URL, time.Minute)
	if title := Eval[string](t, page, `Promise.resolve(document.querySelector("h1").textContent)`); title != "here" {
		t.Errorf("heading is %q, want %q", title, "here")
	}
	if got := page.ExternalRequests(); len(got) != 0 {
		t.Errorf("a page without outside references asked for %q", got)
	}

	Eval[bool](t, page, `(console.warn("mind", 3), fetch("http://turnwise.invalid/x").then(() => false, () => true))`)
	if got := page.ExternalRequests(); len(got) != 1 || got[0] != "http://turnwise.invalid/x" {
		t.Errorf("outside requests are %q, want the one that was made", got)
	}
	if got := strings.Join(page.Console(), "\n"); !strings.Contains(got, `warning: "mind" 3`) {
		t.Errorf("console is %q, want the warning in it", got)
	}
}
