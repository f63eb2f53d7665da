// Package interop proves that an application which uses the published RTVI client
// libraries, unmodified, can talk to a Turnwise server. The libraries run in a
// headless Chromium; the server runs in this process.
package interop

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/turnwise/turnwise/test/browser"
)

// limit bounds everything that one test does with its browser.
const limit = 2 * time.Minute

// event is one callback of the client library.
type event struct {
	Name string          `json:"name"`
	Data json.RawMessage `json:"data"`
}

// into decodes the event's data.
func (e event) into(t *testing.T, v any) {
	t.Helper()
	if err := json.Unmarshal(e.Data, v); err != nil {
		t.Fatalf("data of %s: %v: %s", e.Name, err, e.Data)
	}
}

// app is the application in the page.
type app struct {
	t    *testing.T
	page *browser.Page
}

// open loads the application; nothing is connected yet.
func open(t *testing.T, s *system) app {
	t.Helper()
	page := browser.Open(t, s.pageURL, limit)
	a := app{t: t, page: page}
	call[bool](a, "open")
	return a
}

// call calls a function of window.interop and returns what it resolves to.
func call[T any](a app, function string, args ...any) T {
	a.t.Helper()
	list := ""
	for i, arg := range args {
		text, err := json.Marshal(arg)
		if err != nil {
			a.t.Fatal(err)
		}
		if i > 0 {
			list += ", "
		}
		list += string(text)
	}
	return browser.Eval[T](a.t, a.page, fmt.Sprintf("window.interop.%s(%s)", function, list))
}

// position is how many callbacks there have been.
func (a app) position() int {
	a.t.Helper()
	return call[int](a, "position")
}

// until waits for a callback of that name with text in its data.
func (a app) until(name, text string, from int) event {
	a.t.Helper()
	return call[event](a, "until", name, text, from)
}

// none fails when there was a callback of that name.
func (a app) none(name string) {
	a.t.Helper()
	for _, e := range call[[]event](a, "events") {
		if e.Name == name {
			a.t.Errorf("unexpected %s: %s", name, e.Data)
		}
	}
}

type botReady struct {
	Version string `json:"version"`
	About   struct {
		Library string `json:"library"`
	} `json:"about"`
}

func TestAClientLibraryHoldsAConversation(t *testing.T) {
	s := start(t)
	a := open(t, s)

	ready := call[botReady](a, "connect", s.socketURL)
	if ready.Version != "2.1.0" || ready.About.Library != "turnwise" {
		t.Errorf("bot-ready says %+v, want protocol 2.1.0 of turnwise", ready)
	}
	if state := call[string](a, "state"); state != "ready" {
		t.Errorf("the client's state is %q, want ready", state)
	}

	// The bot greets first, in the flow's first node.
	a.until("onServerMessage", `"event":"node"`, 0)
	a.until("onBotLlmStarted", "", 0)
	a.until("onBotLlmText", "", 0)
	a.until("onBotOutput", `"aggregated_by":"sentence"`, 0)
	a.until("onBotLlmStopped", "", 0)

	// One turn moves it to the next node, through a function.
	here := a.position()
	call[bool](a, "sendText", "A table for four, please.")
	a.until("onUserLlmText", "A table for four, please.", here)
	started := a.until("onLLMFunctionCallStarted", "", here)
	progress := a.until("onLLMFunctionCallInProgress", "", here)
	stopped := a.until("onLLMFunctionCallStopped", "", here)
	checkCall(t, started, progress, stopped)
	a.until("onServerMessage", `"event":"node"`, here)
	a.until("onServerMessage", `"event":"state"`, here)
	a.until("onBotOutput", "", here)
	a.until("onBotLlmStopped", "", here)

	call[bool](a, "disconnect")
	if state := call[string](a, "state"); state != "disconnected" {
		t.Errorf("after disconnect the client's state is %q", state)
	}
	s.awaitNoSessions(t)
	a.none("onMessageError")
	if outside := a.page.ExternalRequests(); len(outside) > 0 {
		t.Errorf("the page asked for things outside this machine: %q", outside)
	}
}

// checkCall holds the three events of one function call against each other.
func checkCall(t *testing.T, started, progress, stopped event) {
	t.Helper()
	var begun struct {
		Name string `json:"function_name"`
	}
	var running struct {
		ID        string         `json:"tool_call_id"`
		Name      string         `json:"function_name"`
		Arguments map[string]any `json:"arguments"`
	}
	var ended struct {
		ID        string          `json:"tool_call_id"`
		Cancelled bool            `json:"cancelled"`
		Result    json.RawMessage `json:"result"`
	}
	started.into(t, &begun)
	progress.into(t, &running)
	stopped.into(t, &ended)
	if begun.Name == "" || begun.Name != running.Name {
		t.Errorf("the call started as %q and ran as %q", begun.Name, running.Name)
	}
	if running.ID == "" || running.ID != ended.ID {
		t.Errorf("the call ran as %q and ended as %q", running.ID, ended.ID)
	}
	if len(running.Arguments) == 0 || ended.Cancelled || len(ended.Result) == 0 {
		t.Errorf("arguments %v, cancelled %v, result %s; want arguments and a result", running.Arguments, ended.Cancelled, ended.Result)
	}
}

func TestAClientLibraryAsksWhereToConnectFirst(t *testing.T) {
	s := start(t)
	a := open(t, s)
	if ready := call[botReady](a, "startAndConnect", s.httpURL+"/start"); ready.Version != "2.1.0" {
		t.Errorf("bot-ready says %+v", ready)
	}
	a.until("onBotOutput", "", 0)
	call[bool](a, "disconnect")
	s.awaitNoSessions(t)
}

type answer struct {
	Response json.RawMessage `json:"response"`
	Error    string          `json:"error"`
}

func TestRequestsAreAnsweredOrRefused(t *testing.T) {
	s := start(t)
	a := open(t, s)
	call[botReady](a, "connect", s.socketURL)

	if got := call[answer](a, "request", "echo", map[string]any{"n": 7}); string(got.Response) != `{"n":7}` {
		t.Errorf("the answer to a request that the bot knows is %+v", got)
	}
	if got := call[answer](a, "request", "nonsense", nil); got.Error == "" {
		t.Errorf("the answer to a request that nobody knows is %+v, want an error", got)
	}
	here := a.position()
	id := call[string](a, "send", "no-such-type", map[string]any{"x": 1})
	refused := a.until("onMessageError", id, here)
	t.Logf("an unknown type was answered with %s", refused.Data)
	if state := call[string](a, "state"); state != "ready" {
		t.Errorf("after refusals the client's state is %q, want ready", state)
	}
	call[bool](a, "disconnect")
	s.awaitNoSessions(t)
}

func TestMicrophoneAudioDoesNotDisturbTheChat(t *testing.T) {
	s := start(t)
	a := open(t, s)
	call[botReady](a, "connect", s.socketURL)
	a.until("onBotLlmStopped", "", 0)

	call[bool](a, "enableMic", true)
	s.awaitAudio(t)
	here := a.position()
	call[bool](a, "sendText", "A table for four, please.")
	a.until("onBotOutput", "", here)
	call[bool](a, "disconnect")
	s.awaitNoSessions(t)
}

func TestTheBotCanEndTheSession(t *testing.T) {
	s := start(t)
	a := open(t, s)
	call[botReady](a, "connect", s.socketURL)
	a.until("onBotLlmStopped", "", 0)
	call[bool](a, "disconnectBot")
	a.until("onDisconnected", "", 0)
	s.awaitNoSessions(t)
}
