package server_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/turnwise/turnwise/server"
	"github.com/turnwise/turnwise/test/browser"
)

// pageLimit bounds what one test does in the browser.
const pageLimit = 4 * time.Minute

// open opens the page of a test server.
func open(t *testing.T, cfg server.Config) *browser.Page {
	t.Helper()
	_, address := serve(t, cfg)
	return browser.Open(t, address, pageLimit)
}

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

// bubble is a JavaScript expression: some message of who's has the text.
func bubble(who, text string) string {
	return fmt.Sprintf(`[...document.querySelectorAll('.message.%s .body')].some((e) => e.textContent.includes(%q))`, who, text)
}

// types types a message and sends it with Enter, as a user does.
func types(t *testing.T, p *browser.Page, text string) {
	t.Helper()
	shows(t, p, "a field to type in", `!document.getElementById('message').disabled`)
	if err := chromedp.Do(p.Context, chromedp.Focus(chromedp.ID("message")), chromedp.KeyEvent(text+"\r")); err != nil {
		t.Fatal(err)
	}
}

// resize gives the page a screen of that size.
func resize(t *testing.T, p *browser.Page, width, height int64) {
	t.Helper()
	_, err := chromedp.Call(p.Context, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: width, Height: height, DeviceScaleFactor: 1, Mobile: width < 500,
	})
	if err != nil {
		t.Fatal(err)
	}
}

// prefer sets what the user prefers, such as a colour scheme.
func prefer(t *testing.T, p *browser.Page, feature, value string) {
	t.Helper()
	_, err := chromedp.Call(p.Context, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: feature, Value: value}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// keep writes a picture of the page to the folder TURNWISE_SCREENSHOTS, if it is
// set, for people to look at.
func keep(t *testing.T, p *browser.Page, name string) {
	t.Helper()
	dir := os.Getenv("TURNWISE_SCREENSHOTS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(p.Context, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestThePageShowsAConversation(t *testing.T) {
	p := open(t, server.Config{})
	shows(t, p, "the greeting", bubble("bot", "Hello there. Who are you?"))
	shows(t, p, "the flow's title", `document.getElementById('flow-title').textContent === 'Test flow'`)
	shows(t, p, "that it is connected", `document.getElementById('status').dataset.state === 'ready'`)
	shows(t, p, "where the flow is", `document.querySelector('.node.current')?.dataset.node === 'hello'`)

	types(t, p, "take_name")
	shows(t, p, "what the user wrote", bubble("user", "take_name"))
	shows(t, p, "the answer", bubble("bot", "Goodbye, Ada."))
	shows(t, p, "where the flow is now", `document.querySelector('.node.current')?.dataset.node === 'bye'`)
	shows(t, p, "where it was", `document.querySelector('.node.visited')?.dataset.node === 'hello'`)
	shows(t, p, "the way it took", `document.querySelector('.edge.taken')?.dataset.to === 'bye'`)
	shows(t, p, "the state", `document.querySelector('#state tbody').innerText.replace(/\s+/g, ' ').trim() === 'name Ada'`)
	shows(t, p, "the call", `document.querySelector('.call[data-state="done"]')?.innerText.includes('take_name')`)
	shows(t, p, "that it is over", `!document.getElementById('after').hidden && document.getElementById('message').disabled`)
	shows(t, p, "no message twice", `document.querySelectorAll('.message').length === 3`)
	shows(t, p, "no trouble", `!document.querySelector('.trouble')`)
	keep(t, p, "ended")

	if err := chromedp.Do(p.Context, chromedp.Click(chromedp.CSS("#after button"))); err != nil {
		t.Fatal(err)
	}
	shows(t, p, "a new conversation", `document.querySelectorAll('.message').length === 1 && `+bubble("bot", "Who are you?"))
	shows(t, p, "the flow at its start", `document.querySelector('.node.current')?.dataset.node === 'hello' && !document.querySelector('.visited, .taken')`)
	if e := p.ExternalRequests(); len(e) > 0 {
		t.Errorf("the page asked elsewhere: %v", e)
	}
	if c := p.Console(); len(c) > 0 {
		t.Errorf("the page complained: %v", c)
	}
}

func TestReloadingThePageBeginsAnew(t *testing.T) {
	p := open(t, server.Config{})
	shows(t, p, "the greeting", bubble("bot", "Who are you?"))
	types(t, p, "hm")
	shows(t, p, "what was said", bubble("user", "hm"))
	if err := chromedp.Do(p.Context, chromedp.Reload()); err != nil {
		t.Fatal(err)
	}
	shows(t, p, "the greeting alone", `document.querySelectorAll('.message').length === 1 && `+bubble("bot", "Who are you?"))
}

func TestTypingInThePageInterruptsTheBot(t *testing.T) {
	gate := make(chan struct{}, 100)
	bot := testBot()
	bot.Model = &parrot{gate: gate}
	p := open(t, server.Config{Bot: bot})
	gate <- struct{}{}
	shows(t, p, "a message under way", `document.querySelector('.message.bot.streaming .body')?.textContent.trim() === 'Hello'`)
	types(t, p, "stop")
	shows(t, p, "an empty field again", `document.getElementById('message').value === ''`)
	shows(t, p, "that it was cut", `document.querySelector('.message.bot.interrupted')?.textContent.includes('interrupted')`)
	keep(t, p, "interrupted")
	for range 10 {
		gate <- struct{}{}
	}
	shows(t, p, "the answer", bubble("bot", "Who are you?"))
	shows(t, p, "no message twice", `document.querySelectorAll('.message').length === 3`)
	shows(t, p, "the cut message as it was", `document.querySelector('.message.interrupted .body').textContent.trim() === 'Hello'`)
}

func TestThePageSaysWhyThereIsNoConversation(t *testing.T) {
	srv, address := serve(t, server.Config{MaxSessions: 1})
	c := dial(t, address)
	c.ready()
	p := browser.Open(t, address, pageLimit)
	shows(t, p, "that the server is full", `document.querySelector('.trouble')?.textContent.includes('All lines are busy')`)
	shows(t, p, "the same to screen readers", `document.getElementById('alarm').textContent.includes('All lines are busy')`)
	keep(t, p, "full")
	_ = c.ws.Close()
	eventually(t, "the place is free", func() bool { return srv.Sessions() == 0 })
	if err := chromedp.Do(p.Context, chromedp.Click(chromedp.ID("restart"))); err != nil {
		t.Fatal(err)
	}
	shows(t, p, "the greeting", bubble("bot", "Who are you?"))
	shows(t, p, "no trouble any more", `!document.querySelector('.trouble')`)

	go srv.Drain(t.Context(), 0)
	shows(t, p, "that the conversation has ended", `!document.getElementById('after').hidden`)
}

func TestThePageSaysThatAStandInAnswers(t *testing.T) {
	bot := testBot()
	bot.Info = server.ModelInfo{Name: "parrot", StandIn: true, Note: "It repeats what it is told."}
	p := open(t, server.Config{Bot: bot})
	shows(t, p, "the notice", `!document.getElementById('notice').hidden && document.getElementById('notice').textContent.includes('It repeats what it is told.')`)
}

func TestThePageFitsEveryScreenInBothColours(t *testing.T) {
	p := open(t, server.Config{})
	shows(t, p, "the greeting", bubble("bot", "Who are you?"))
	grounds := map[string]bool{}
	for _, scheme := range []string{"light", "dark"} {
		for _, size := range []struct{ width, height int64 }{{1280, 800}, {800, 900}, {390, 780}, {320, 560}} {
			resize(t, p, size.width, size.height)
			prefer(t, p, "prefers-color-scheme", scheme)
			name := fmt.Sprintf("%s-%d", scheme, size.width)
			shows(t, p, name+" without a horizontal scroll bar", `document.documentElement.scrollWidth <= innerWidth`)
			shows(t, p, name+" with the field on the screen", `(() => {
				const b = document.getElementById('message').getBoundingClientRect();
				return b.width > 100 && b.bottom <= innerHeight && b.right <= innerWidth;
			})()`)
			grounds[browser.Eval[string](t, p, `getComputedStyle(document.body).backgroundColor`)] = true
			keep(t, p, name)
			if size.width > 500 {
				continue
			}
			click := chromedp.Click(chromedp.ID("inside-toggle"))
			if err := chromedp.Do(p.Context, click); err != nil {
				t.Fatal(err)
			}
			shows(t, p, name+" with the inside", `document.getElementById('graph').getBoundingClientRect().height > 50
				&& document.getElementById('inside-toggle').getAttribute('aria-expanded') === 'true'`)
			shows(t, p, name+" with the field still on the screen", `document.getElementById('message').getBoundingClientRect().bottom <= innerHeight`)
			keep(t, p, name+"-inside")
			if err := chromedp.Do(p.Context, click); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(grounds) != 2 {
		t.Errorf("light and dark have the grounds %v", grounds)
	}
}

func TestThePageIsUsableByKeyboardAndScreenReader(t *testing.T) {
	p := open(t, server.Config{})
	shows(t, p, "the greeting", bubble("bot", "Who are you?"))
	for what, expression := range map[string]string{
		"a language":                    `document.documentElement.lang === 'en'`,
		"one main part":                 `document.querySelectorAll('main').length === 1`,
		"one h1":                        `document.querySelectorAll('h1').length === 1`,
		"a name on every field":         `[...document.querySelectorAll('input, textarea, select')].every((e) => e.labels.length || e.ariaLabel)`,
		"a name on every button":        `[...document.querySelectorAll('button')].every((e) => e.textContent.trim() || e.ariaLabel)`,
		"an alternative for every img":  `[...document.querySelectorAll('img')].every((e) => e.hasAttribute('alt'))`,
		"a name on the graph":           `document.querySelector('#graph svg').getAttribute('role') === 'img' && document.querySelector('#graph svg').getAttribute('aria-label').length > 5`,
		"a live region for the bot":     `document.querySelector('#announce[aria-live="polite"]').textContent.includes('Who are you?')`,
		"a live region for the trouble": `document.querySelector('#alarm[role="alert"]') !== null`,
		"unique ids":                    `new Set([...document.querySelectorAll('[id]')].map((e) => e.id)).size === document.querySelectorAll('[id]').length`,
		"headings in order":             `[...document.querySelectorAll('h1, h2, h3')].every((e, i, all) => i === 0 || e.tagName[1] - all[i - 1].tagName[1] <= 1)`,
		"targets that labels point to":  `[...document.querySelectorAll('[aria-controls], [aria-labelledby], [aria-describedby]')].every((e) => ['aria-controls', 'aria-labelledby', 'aria-describedby'].every((a) => !e.hasAttribute(a) || document.getElementById(e.getAttribute(a))))`,
	} {
		shows(t, p, what, expression)
	}
	var order []string
	for range 5 {
		if err := chromedp.Do(p.Context, chromedp.KeyEvent("\t")); err != nil {
			t.Fatal(err)
		}
		order = append(order, browser.Eval[string](t, p, `document.activeElement.id || document.activeElement.className`))
		if !browser.Eval[bool](t, p, `(() => {
			const s = getComputedStyle(document.activeElement);
			const field = getComputedStyle(document.activeElement.closest('.field') ?? document.activeElement);
			return s.outlineStyle !== 'none' || field.outlineStyle !== 'none';
		})()`) {
			t.Errorf("the focus on %s cannot be seen", order[len(order)-1])
		}
	}
	want := []string{"skip", "restart", "scroll", "message"}
	if !slices.Equal(order[:4], want) {
		t.Errorf("the tabulator goes through %v, not %v", order, want)
	}
	if low := lowContrast(t, p); low != "" {
		t.Errorf("too little contrast: %s", low)
	}
}

// lowContrast names texts whose contrast with their ground is below 4.5 to 1 in
// the light or the dark page.
func lowContrast(t *testing.T, p *browser.Page) string {
	t.Helper()
	var low []string
	for _, scheme := range []string{"light", "dark"} {
		prefer(t, p, "prefers-color-scheme", scheme)
		low = append(low, browser.Eval[[]string](t, p, `(() => {
			const rgb = (s) => s.match(/[\d.]+/g).map(Number);
			const lum = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
				.reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
			const ground = (e) => {
				for (; e; e = e.parentElement) {
					const c = rgb(getComputedStyle(e).backgroundColor);
					if (c.length === 3 || c[3] > 0) return c;
				}
				return [255, 255, 255];
			};
			const out = [];
			for (const e of document.querySelectorAll('body *:not(svg *):not(script):not(noscript)')) {
				const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
				if (!own || !e.checkVisibility() || e.disabled) continue;
				const [a, b] = [lum(rgb(getComputedStyle(e).color)), lum(ground(e))];
				const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
				if (ratio < 4.5) out.push(e.className + ' ' + e.textContent.trim().slice(0, 20) + ' ' + ratio.toFixed(2));
			}
			return out;
		})()`)...)
	}
	return strings.Join(low, "; ")
}
