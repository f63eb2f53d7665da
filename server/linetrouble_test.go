package server_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/turnwise/turnwise/server"
	"github.com/turnwise/turnwise/speech/speechtest"
	"github.com/turnwise/turnwise/test/browser"
)

// openCall opens the page of a server and calls the bot.
func openCall(t *testing.T, cfg server.Config) (*server.Server, *browser.Page, *browser.Line) {
	t.Helper()
	srv, address := serve(t, cfg)
	p := browser.Open(t, address, pageLimit, browser.Calls()...)
	shows(t, p, "the microphone", `!document.getElementById('talk').hidden`)
	loses(t, p, 0) // a connection made before is not touched by what it is to lose
	line := browser.OpenLine(t, p)
	press(t, p, "talk")
	shows(t, p, "a call", `!document.getElementById('call-bar').hidden && document.getElementById('status').dataset.state === 'ready'`)
	return srv, p, line
}

func press(t *testing.T, p *browser.Page, id string) {
	t.Helper()
	if err := chromedp.Do(p.Context, chromedp.Click(chromedp.ID(id))); err != nil {
		t.Fatal(err)
	}
}

// loses has the network between page and server lose that share of a call's packets.
func loses(t *testing.T, p *browser.Page, percent float64) {
	t.Helper()
	_, err := chromedp.Call(p.Context, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
		MatchedNetworkConditions: []*network.Conditions{{DownloadThroughput: 1e7, UploadThroughput: 1e7, PacketLoss: percent}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestACallFromThePageComesBackWhenTheNetworkDoes(t *testing.T) {
	srv, p, line := openCall(t, server.Config{Voice: scripted("take_name please")})
	shows(t, p, "the greeting", bubble("bot", "Who are you?"))
	before := browser.Eval[int](t, p, `document.querySelectorAll('.message').length`)
	loses(t, p, 100)
	shows(t, p, "that the connection is lost", `document.getElementById('status').dataset.state === 'away' && !document.getElementById('call-bar').hidden`)
	loses(t, p, 0)
	shows(t, p, "that it is there again", `document.getElementById('status').dataset.state === 'ready'`)
	if after := browser.Eval[int](t, p, `document.querySelectorAll('.message').length`); after != before || srv.Sessions() != 1 {
		t.Errorf("of %d messages there are %d, in %d conversations", before, after, srv.Sessions())
	}
	line.Say(t, speechtest.Hum(16000, 300, time.Second), 16000)
	shows(t, p, "the answer", bubble("bot", "Goodbye, Ada."))
	shows(t, p, "that it was heard", line.Spoken(2*wordTime-100*time.Millisecond, 0))
	shows(t, p, "how long it took", `document.querySelector('.message.bot .latency')?.textContent.startsWith('answered after')`)
	shows(t, p, "no trouble", `!document.querySelector('.trouble')`)
}

func TestACallFromThePageThatIsLostForLongIsOver(t *testing.T) {
	voice := scripted()
	srv, p, _ := openCall(t, server.Config{Voice: func() server.Voice {
		v := voice()
		v.WebRTC.LostAfter, v.WebRTC.ReattachWindow = 500*time.Millisecond, 500*time.Millisecond
		return v
	}})
	shows(t, p, "the greeting", bubble("bot", "Who are you?"))
	loses(t, p, 100)
	shows(t, p, "that it is over", `document.getElementById('status').dataset.state === 'failed' && document.getElementById('call-bar').hidden`)
	shows(t, p, "why", `document.querySelector('.trouble')?.textContent.includes('The connection was lost')`)
	shows(t, p, "a way on", `!document.getElementById('after').hidden && !document.getElementById('talk').hidden`)
	eventually(t, "the place is free", func() bool { return srv.Sessions() == 0 })
}

func TestWithoutAMicrophoneThePageSaysSoAndTheChatGoesOn(t *testing.T) {
	for fault, words := range map[string]string{
		"NotAllowedError":  "The microphone may not be used. Allow it for this page",
		"NotFoundError":    "There is no microphone. Connect one",
		"NotReadableError": "perhaps another program has it",
		"AbortError":       "The microphone cannot be used.",
	} {
		t.Run(fault, func(t *testing.T) {
			p := open(t, server.Config{Voice: scripted()})
			shows(t, p, "the greeting", bubble("bot", "Who are you?"))
			browser.Eval[bool](t, p, `(navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('no', '`+fault+`')), true)`)
			press(t, p, "talk")
			shows(t, p, "why there is no call", `document.querySelector('.trouble')?.textContent.includes('`+words+`')`)
			shows(t, p, "no call", `document.getElementById('call-bar').hidden && !document.getElementById('talk').disabled`)
			types(t, p, "take_name")
			shows(t, p, "the answer to what is typed", bubble("bot", "Goodbye, Ada."))
		})
	}
}

func TestWhoHangsUpInThePageCanTypeOrCallAgain(t *testing.T) {
	srv, p, line := openCall(t, server.Config{Voice: scripted("take_name please")})
	shows(t, p, "the greeting", bubble("bot", "Who are you?"))
	press(t, p, "mute")
	shows(t, p, "that it is muted", `document.getElementById('mute').getAttribute('aria-pressed') === 'true'`)
	press(t, p, "hang-up")
	shows(t, p, "that the call is over", `document.getElementById('call-bar').hidden && !document.getElementById('after').hidden`)
	eventually(t, "the place is free", func() bool { return srv.Sessions() == 0 })
	origin := browser.Eval[string](t, p, `location.origin`)
	if m := do(t, http.MethodGet, origin+"/metrics").body; !strings.Contains(m, `turnwise_sessions_total{end="left"} 2`) {
		t.Error("of a chat and a call that the user left, not both are counted as left")
	}
	press(t, p, "talk")
	shows(t, p, "another call", `document.getElementById('status').dataset.state === 'ready' && document.getElementById('mute').getAttribute('aria-pressed') === 'false'`)
	shows(t, p, "the greeting", bubble("bot", "Who are you?"))
	shows(t, p, "that the greeting is over", line.Spoken(4*wordTime, 300*time.Millisecond))
	line.Say(t, speechtest.Hum(16000, 300, time.Second), 16000)
	shows(t, p, "the answer", bubble("bot", "Goodbye, Ada."))
}
