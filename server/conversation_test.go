package server_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
	"github.com/turnwise/turnwise/server"
	"github.com/turnwise/turnwise/transport/rtvi"
)

func TestAConversationGoesFromTheGreetingToTheFarewell(t *testing.T) {
	srv, address := serve(t, server.Config{})
	c := dial(t, address)
	c.ready()
	c.hears("Who are you?")
	c.say("take_name please")
	c.hears("Goodbye, Ada.")
	if code := c.closed(); code != websocket.CloseNormalClosure {
		t.Errorf("the flow's end closed with %d", code)
	}

	var told []string
	for _, f := range c.flow() {
		if f.Kind != "flow" {
			t.Errorf("a flow message of the kind %q", f.Kind)
		}
		told = append(told, f.Event+" "+f.Node)
		if f.Event == server.FlowState && f.State["name"] != "Ada" {
			t.Errorf("the state is %v", f.State)
		}
		if f.Event == server.FlowNode && f.Node == "bye" && f.Previous != "hello" {
			t.Errorf("bye was entered from %q", f.Previous)
		}
	}
	all := strings.Join(told, ", ")
	for _, want := range []string{"node hello", "state", "node bye", "ended"} {
		if !strings.Contains(all, want) {
			t.Errorf("the client was not told %q; it was told %s", want, all)
		}
	}
	c.until("the call is told with its name and result", func(m message) bool {
		return m.Type == "llm-function-call-stopped" && strings.Contains(string(m.Data), "take_name") && strings.Contains(string(m.Data), "Ada")
	})
	eventually(t, "the place is free again", func() bool { return srv.Sessions() == 0 })
}

func TestFunctionsAreToldAsFarAsTheServerIsSetTo(t *testing.T) {
	for name, c := range map[string]struct {
		cfg          server.Config
		told, untold string
	}{
		"all with the page":       {server.Config{}, `"result":"Ada"`, "nothing"},
		"no names without it":     {server.Config{NoPage: true}, `"tool_call_id"`, "function_name"},
		"as much as is asked for": {server.Config{Functions: &rtvi.FunctionReport{Level: rtvi.ReportName}}, `"function_name":"take_name"`, `"result"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, address := serve(t, c.cfg)
			client := dial(t, address)
			client.ready()
			client.say("take_name")
			m := client.until("the call has ended", func(m message) bool { return m.Type == "llm-function-call-stopped" })
			if !strings.Contains(string(m.Data), c.told) || strings.Contains(string(m.Data), c.untold) {
				t.Errorf("the client was told %s", m.Data)
			}
		})
	}
}

func TestTypingInterruptsTheBot(t *testing.T) {
	gate := make(chan struct{}, 100)
	bot := testBot()
	bot.Model = &parrot{gate: gate}
	_, address := serve(t, server.Config{Bot: bot})
	c := dial(t, address)
	c.ready()
	gate <- struct{}{} // one word of the greeting
	c.until("the greeting begins", func(m message) bool { return m.Type == "bot-llm-text" })
	c.say("wait")
	c.until("the bot is interrupted", func(m message) bool { return m.Type == "bot-interrupted" })
	for range 10 {
		gate <- struct{}{}
	}
	c.hears("Who are you?")
}

func TestWhoTypesBeforeTheGreetingIsHeardInTheFlow(t *testing.T) {
	_, address := serve(t, server.Config{})
	for range 20 {
		c := dial(t, address)
		c.send("client-ready", map[string]any{"version": "2.1.0"})
		c.say("take_name")
		c.hears("Goodbye, Ada.")
	}
}

func TestEachClientHasASessionOfItsOwn(t *testing.T) {
	_, address := serve(t, server.Config{})
	a, b := dial(t, address), dial(t, address)
	a.ready()
	b.ready()
	a.say("take_name")
	a.hears("Goodbye")
	a.closed()
	b.hears("Who are you?")
	for _, f := range b.flow() {
		if f.Node == "bye" {
			t.Error("one client's flow moved on with the other's")
		}
	}
}

func TestTheTabThatIsClosedEndsItsSession(t *testing.T) {
	srv, address := serve(t, server.Config{})
	c := dial(t, address)
	c.ready()
	if srv.Sessions() != 1 {
		t.Fatalf("%d sessions", srv.Sessions())
	}
	_ = c.ws.Close()
	eventually(t, "the session ends", func() bool { return srv.Sessions() == 0 })
}

func TestABotThatCannotBeStartedHurtsNobodyElse(t *testing.T) {
	good := testBot()
	for name, broken := range map[string]func(s *server.Session) (*pipeline.Task, error){
		"an error":               func(*server.Session) (*pipeline.Task, error) { return nil, errors.New("no database") },
		"a panic":                func(*server.Session) (*pipeline.Task, error) { panic("oh") },
		"no task":                func(*server.Session) (*pipeline.Task, error) { return nil, nil },
		"an error when ready":    func(s *server.Session) (*pipeline.Task, error) { return failingWhenReady(good, s, false) },
		"a panic when ready":     func(s *server.Session) (*pipeline.Task, error) { return failingWhenReady(good, s, true) },
		"a panic in a processor": panicking,
	} {
		t.Run(name, func(t *testing.T) {
			first := true
			srv, address := serve(t, server.Config{Bot: server.BotFunc(func(s *server.Session) (*pipeline.Task, error) {
				if first {
					first = false
					return broken(s)
				}
				return good.Session(s)
			})})
			c := dial(t, address)
			// A session that cannot be built may be over before this is sent.
			_ = c.ws.WriteJSON(map[string]any{"label": "rtvi-ai", "type": "client-ready", "id": "1", "data": map[string]any{"version": "2.1.0"}})
			if name == "a panic in a processor" {
				c.say("boom")
			}
			c.until("the client is told that it is over", func(m message) bool {
				return m.Type == "error" && strings.Contains(string(m.Data), `"fatal":true`)
			})
			c.closed()
			for _, m := range c.types() {
				for _, private := range []string{"database", "panic", "goroutine", ".go:"} {
					if strings.Contains(m, private) {
						t.Errorf("the client was told private things: %s", m)
					}
				}
			}
			d := dial(t, address)
			d.ready()
			d.hears("Who are you?")
			eventually(t, "the place of the broken one is free", func() bool { return srv.Sessions() == 1 })
		})
	}
}

func failingWhenReady(good server.Bot, s *server.Session, panics bool) (*pipeline.Task, error) {
	task, err := good.Session(s)
	s.OnReady(func() error {
		if panics {
			panic("oh")
		}
		return errors.New("no database")
	})
	return task, err
}

type boom struct{ pipeline.Base }

func (b *boom) Process(f frames.Frame, dir pipeline.Direction) {
	if _, ok := f.(*frames.UserTextFrame); ok {
		panic("boom")
	}
	b.Push(f, dir)
}

func panicking(s *server.Session) (*pipeline.Task, error) {
	pipe, err := pipeline.New(&boom{}, s.Output())
	if err != nil {
		return nil, err
	}
	return pipeline.NewTask(pipe, s.Params())
}
