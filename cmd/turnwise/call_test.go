package main

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/turnwise/turnwise/speech/local"
	"github.com/turnwise/turnwise/test/browser"
	"github.com/turnwise/turnwise/test/peer"
)

func TestATableIsAskedForAloudInTheBrowser(t *testing.T) {
	if r := local.Find(t.Context()); len(r.Install()) > 0 || !r.Flite.Found() {
		peer.Missing(t, "no local voice: "+r.String())
	}
	flite, sox := peer.Program(t, "flite"), peer.Program(t, "sox")
	dir := t.TempDir()
	said, microphone := filepath.Join(dir, "said.wav"), filepath.Join(dir, "mic.wav")
	// The sound starts with the call: the user waits for the greeting to be over.
	for _, args := range [][]string{
		{flite, "-voice", "rms", "-o", said, "-t", "i would like to book a table for four people"},
		{sox, said, "-r", "48000", "-c", "1", "-b", "16", microphone, "norm", "-4", "pad", "9", "2"},
	} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	address := serving(t, 0, "serve", "--addr", "127.0.0.1:0", "--log-level", "warn", "--drain", "1ms")
	p := browser.Open(t, address, 3*time.Minute,
		chromedp.Flag("use-file-for-fake-audio-capture", microphone+"%noloop"),
		chromedp.Flag("allow-loopback-in-peer-connection", true),
		chromedp.Flag("disable-features", "WebRtcHideLocalIpsWithMdns"))
	at(t, p, "greeting")
	shows(t, p, "the microphone", `!document.getElementById('talk').hidden`)
	if err := chromedp.Do(p.Context, chromedp.Click(chromedp.ID("talk"))); err != nil {
		t.Fatal(err)
	}
	shows(t, p, "a call", `!document.getElementById('call-bar').hidden && document.getElementById('status').dataset.state === 'ready'`)
	shows(t, p, "that the bot speaks", `document.getElementById('call-state').dataset.who === 'bot'`)
	shows(t, p, "what was heard", `document.querySelector('.message.user .body')?.textContent.includes('table')`)
	shows(t, p, "the flow a step further", `document.querySelector('.node.current')?.dataset.node === 'date_time'`)
	shows(t, p, "the size of the party", `document.getElementById('state').innerText.replace(/\s+/g, ' ').includes('party size 4')`)
	shows(t, p, "that the bot answers aloud", `document.getElementById('call-state').dataset.who === 'bot'`)
	keep(t, p, "call")
	if err := chromedp.Do(p.Context, chromedp.Click(chromedp.ID("mute"))); err != nil {
		t.Fatal(err)
	}
	shows(t, p, "that it is muted", `document.getElementById('mute').getAttribute('aria-pressed') === 'true'`)
	if err := chromedp.Do(p.Context, chromedp.Click(chromedp.ID("hang-up"))); err != nil {
		t.Fatal(err)
	}
	shows(t, p, "that the call is over", `document.getElementById('call-bar').hidden && !document.getElementById('after').hidden`)
	shows(t, p, "no trouble", `!document.querySelector('.trouble')`)
}
