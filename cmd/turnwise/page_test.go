package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/turnwise/turnwise/test/browser"
)

// shows waits until a JavaScript expression is true in the page.
func shows(t *testing.T, p *browser.Page, what, expression string) {
	t.Helper()
	ok := browser.Eval[bool](t, p, fmt.Sprintf(`new Promise((done) => {
		const begun = performance.now();
		const look = () => {
			if (%s) return done(true);
			if (performance.now() - begun > 40000) return done(false);
			setTimeout(look, 20);
		};
		look();
	})`, expression))
	if !ok {
		t.Fatalf("the page does not show %s; it shows:\n%s", what, browser.Eval[string](t, p, `document.body.innerText`))
	}
}

// says types a message and sends it.
func says(t *testing.T, p *browser.Page, text string) {
	t.Helper()
	shows(t, p, "a field to type in", `!document.getElementById('message').disabled && document.getElementById('status').dataset.state === 'ready'`)
	if err := chromedp.Do(p.Context, chromedp.Focus(chromedp.ID("message")), chromedp.KeyEvent(text+"\r")); err != nil {
		t.Fatal(err)
	}
}

// at waits until the flow is at a node and the bot has said what it says there.
func at(t *testing.T, p *browser.Page, node string) {
	t.Helper()
	shows(t, p, "the flow at "+node, fmt.Sprintf(`document.querySelector('.node.current')?.dataset.node === %q
		&& !document.querySelector('.message.streaming, .message.waiting')`, node))
}

// keep writes a picture of the page to the folder TURNWISE_SCREENSHOTS, if it is
// set.
func keep(t *testing.T, p *browser.Page, name string) {
	t.Helper()
	dir := os.Getenv("TURNWISE_SCREENSHOTS")
	if dir == "" {
		return
	}
	// Colours that fade are to be settled.
	browser.Eval[bool](t, p, `Promise.all(document.getAnimations().filter((a) => a.effect.getTiming().iterations === 1).map((a) => a.finished)).then(() => true)`)
	png, err := chromedp.Run(p.Context, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestATableIsBookedInTheBrowser(t *testing.T) {
	address := serving(t, 0, "serve", "--addr", "127.0.0.1:0", "--log-level", "warn")
	p := browser.Open(t, address, 4*time.Minute)
	if err := chromedp.Do(p.Context, chromedp.EmulateViewport(1280, 1000)); err != nil {
		t.Fatal(err)
	}
	shows(t, p, "that a stand-in answers", `document.getElementById('notice').textContent.includes('offline stand-in')`)
	at(t, p, "greeting")
	says(t, p, "a table for four please")
	at(t, p, "date_time")
	shows(t, p, "the size of the party", `document.getElementById('state').innerText.replace(/\s+/g, ' ').includes('party size 4')`)
	says(t, p, "tomorrow at half past seven")
	at(t, p, "name")
	says(t, p, "Ada Lovelace")
	at(t, p, "confirm")
	shows(t, p, "that it is read back", `[...document.querySelectorAll('.message.bot .body')].at(-1).textContent.includes('Ada Lovelace')`)
	keep(t, p, "chat")
	says(t, p, "yes")
	shows(t, p, "the farewell", `[...document.querySelectorAll('.message.bot .body')].at(-1).textContent.includes('Goodbye')`)
	shows(t, p, "the end", `!document.getElementById('after').hidden && document.querySelector('.node.current').classList.contains('end')`)
	shows(t, p, "the calls", `document.querySelectorAll('.call[data-state="done"]').length >= 4 && !document.querySelector('.call[data-state="running"]')`)
	shows(t, p, "no trouble", `!document.querySelector('.trouble')`)
	keep(t, p, "booked")
	if e := p.ExternalRequests(); len(e) > 0 {
		t.Errorf("the page asked elsewhere: %v", e)
	}
	if c := p.Console(); len(c) > 0 {
		t.Errorf("the page complained: %v", c)
	}
}
