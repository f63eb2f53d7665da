// Package browser opens pages of a server under test in a headless Chromium.
//
// Every page has a browser and a profile of its own, a microphone that is a
// tone generator, and no way out: each request that is not for this machine is
// noted, see Page.ExternalRequests. Tests that use it need Chromium, and end as
// package peer says without it.
package browser

import (
	"context"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/turnwise/turnwise/test/peer"
)

// Page is one tab. Its methods are safe for concurrent use.
type Page struct {
	// Context is what chromedp's functions take to act on this tab. It ends
	// when the test does.
	Context context.Context

	mu       sync.Mutex
	external []string
	console  []string
}

// Open starts a browser, loads address in it and returns the page. Limit bounds
// all that the test does with the page; when it is over, every action fails.
// The browser has ended when the test has. More are further settings of it.
func Open(t testing.TB, address string, limit time.Duration, more ...chromedp.ExecAllocatorOption) *Page {
	t.Helper()
	path := peer.Program(t, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path),
		chromedp.NoSandbox, // CI runs as root, where Chromium's own sandbox does not start
		chromedp.DisableGPU,
		chromedp.WSURLReadTimeout(60*time.Second),
		chromedp.WindowSize(1280, 900),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("use-fake-ui-for-media-stream", true),
		chromedp.Flag("use-fake-device-for-media-stream", true),
		chromedp.Flag("autoplay-policy", "no-user-gesture-required"),
	)
	options = append(options, more...)
	page := &Page{}
	timed, cancelTimed := context.WithTimeout(context.Background(), limit)
	allocator, cancelAllocator := chromedp.NewExecAllocator(timed, options...)
	tab, cancelTab := chromedp.NewContext(allocator, chromedp.WithListener(page.observe))
	page.Context = tab
	t.Cleanup(func() {
		cancelTab()
		cancelAllocator()
		cancelTimed()
		if t.Failed() {
			for _, line := range page.Console() {
				if !strings.HasPrefix(line, "debug:") {
					t.Log("page console: " + line)
				}
			}
		}
	})

	if err := chromedp.Do(tab, chromedp.Navigate(address)); err != nil {
		t.Fatalf("open %s in Chromium: %v", address, err)
	}
	return page
}

// ExternalRequests returns the addresses outside this machine that the page
// asked for, whether it got an answer or not.
func (p *Page) ExternalRequests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.external)
}

// Console returns what the page wrote to its console, and the exceptions that
// nothing caught, each as "kind: text".
func (p *Page) Console() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.console)
}

// Eval evaluates a JavaScript expression in the page, waits for it when it is a
// promise, and decodes its value into a T.
func Eval[T any](t testing.TB, p *Page, expression string) T {
	t.Helper()
	value, err := chromedp.Run(p.Context, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("in the page, %s: %v", expression, err)
	}
	return value
}

// observe is called on chromedp's reading goroutine with every event of the tab.
func (p *Page) observe(event any) {
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		p.requested(e.Request.URL)
	case *network.EventWebSocketCreated:
		p.requested(e.URL)
	case *runtime.EventConsoleAPICalled:
		text := string(e.Type) + ":"
		for _, arg := range e.Args {
			text += " " + remoteText(arg)
		}
		p.log(text)
	case *runtime.EventExceptionThrown:
		text := "exception: " + e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + remoteText(e.ExceptionDetails.Exception)
		}
		p.log(text)
	}
}

func (p *Page) requested(address string) {
	if local(address) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.external = append(p.external, address)
}

func (p *Page) log(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.console = append(p.console, line)
}

func remoteText(o *runtime.RemoteObject) string {
	if len(o.Value) > 0 {
		return string(o.Value)
	}
	return o.Description
}

// local reports whether the address stays on this machine: a loopback host, or
// a scheme that makes no request at all.
func local(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	switch u.Scheme {
	case "data", "blob", "about", "chrome":
		return true
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || (ip != nil && ip.IsLoopback())
}
