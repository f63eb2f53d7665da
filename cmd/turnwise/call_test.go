package main

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/turnwise/turnwise/speech/local"
	"github.com/turnwise/turnwise/test/browser"
	"github.com/turnwise/turnwise/test/peer"
)

// stopWithin is how long the bot may be heard, in seconds, after the page was told that
// the user speaks. Package server measures it more closely; here recognizer, synthesizer
// and browser share the machine.
const stopWithin = 0.4

func click(t *testing.T, p *browser.Page, id string) {
	t.Helper()
	if err := chromedp.Do(p.Context, chromedp.Click(chromedp.ID(id))); err != nil {
		t.Fatal(err)
	}
}

// state is a JavaScript expression: the page shows a variable with a value.
func state(name, value string) string {
	return `document.getElementById('state').innerText.replace(/\s+/g, ' ').toLowerCase().includes('` + name + ` ` + value + `')`
}

func TestATableIsBookedByVoiceInTheBrowser(t *testing.T) {
	if r := local.Find(t.Context()); len(r.Install()) > 0 {
		peer.Missing(t, "no local voice: "+r.String())
	}
	address := serving(t, 0, "serve", "--addr", "127.0.0.1:0", "--log-level", "warn", "--drain", "10s")
	p := browser.Open(t, address, 4*time.Minute, browser.Calls()...)
	at(t, p, "greeting")
	shows(t, p, "the microphone", `!document.getElementById('talk').hidden`)
	line := browser.OpenLine(t, p)
	// understood says something until the page shows what it leads to. Who is not
	// understood, on a machine that is busy with other things, says it again.
	understood := func(text, what, expression string) {
		t.Helper()
		samples, rate := peer.Speech(t, text)
		for range 3 {
			line.Say(t, samples, rate)
			line.Mark(t) // the bot may have been heard while it was talked over
			answered := line.Spoken(300*time.Millisecond, 1200*time.Millisecond)
			shows(t, p, what, expression+" || "+answered)
			if browser.Eval[bool](t, p, expression) {
				return
			}
			t.Logf("%q was not understood", text)
		}
		shows(t, p, what, expression)
	}
	answered := func() {
		t.Helper()
		shows(t, p, "that the bot has answered", line.Spoken(500*time.Millisecond, 1200*time.Millisecond))
	}
	click(t, p, "talk")
	shows(t, p, "a call", `!document.getElementById('call-bar').hidden && document.getElementById('status').dataset.state === 'ready'`)
	shows(t, p, "that the bot speaks", `document.getElementById('call-state').dataset.who === 'bot'`)
	answered()

	understood("we need a table for four people", "the size of the party", state("party size", "4"))
	answered()
	keep(t, p, "call")
	understood("tomorrow at half past seven", "the time", state("time", "19:30"))
	answered()
	understood("my name is robert johnson", "the name", state("name", "robert johnson"))

	// The booking is read back at length: the answer comes in the middle of it.
	shows(t, p, "that it is being read back", line.Spoken(1500*time.Millisecond, 0))
	over := len(line.Report(t).Said)
	understood("yes that is right", "the reference", `document.getElementById('state').innerText.toLowerCase().includes('reference')`)
	shows(t, p, "the farewell", `[...document.querySelectorAll('.message.bot .body')].at(-1).textContent.includes('Goodbye')`)
	shows(t, p, "that the call is over", `document.getElementById('call-bar').hidden && !document.getElementById('after').hidden`)
	for name, value := range map[string]string{"party size": "4", "time": "19:30", "name": "robert johnson"} {
		shows(t, p, name, state(name, value))
	}
	shows(t, p, "no trouble", `!document.querySelector('.trouble')`)
	if e := p.ExternalRequests(); len(e) > 0 {
		t.Errorf("the page asked elsewhere: %v", e)
	}
	stopsWhenTalkedOver(t, line.Report(t), over)
}

// stopsWhenTalkedOver checks that what was said over the bot stopped it at once.
func stopsWhenTalkedOver(t *testing.T, r browser.LineReport, over int) {
	t.Helper()
	begun := r.Said[over]
	told := r.Told("user-started-speaking", begun[0])
	// What the bot says next, or goes on with after words that were none, is heard after a
	// pause: for how long it is silent is the user's and the recognizer's affair.
	last := r.SilentFrom(begun[0], 0.5)
	if told == 0 || last == 0 {
		t.Fatalf("the bot was not interrupted: the user spoke from %.2f to %.2f s, was noticed at %.2f s, and the bot last heard at %.2f s", begun[0], begun[1], told, last)
	}
	t.Logf("talked over: noticed after %.0f ms, the bot silent %.0f ms after that", 1000*(told-begun[0]), 1000*(last-told))
	if last-told > stopWithin {
		t.Errorf("the bot was heard for %.0f ms after the page was told that the user speaks", 1000*(last-told))
	}
	var words []string
	for _, m := range r.Messages {
		if m.Type == "bot-output" {
			words = append(words, m.Text())
		}
	}
	if all := strings.Join(words, " "); strings.Count(all, "everything right") > 1 {
		t.Errorf("the bot repeated itself: %s", all)
	}
}
