package websocket_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	gorilla "github.com/gorilla/websocket"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
	"github.com/turnwise/turnwise/transport/rtvi"
	"github.com/turnwise/turnwise/transport/websocket"
)

// Parrot repeats what the user types.
type Parrot struct{ pipeline.Base }

func (p *Parrot) Process(f frames.Frame, dir pipeline.Direction) {
	p.Push(f, dir)
	if t, ok := f.(*frames.UserTextFrame); ok {
		p.Push(&frames.SpeakFrame{Text: t.Text + "!"}, pipeline.Downstream)
	}
}

// One session from the request to its end, and a client that talks to it.
func Example() {
	upgrader, err := websocket.NewUpgrader(websocket.Config{})
	if err != nil {
		panic(err)
	}
	ended := make(chan error)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := upgrader.Upgrade(w, r)
		if err != nil {
			return // the client has been told
		}
		output, err := rtvi.NewOutput(conn, rtvi.OutputConfig{})
		if err != nil {
			conn.Reject("The bot cannot be started.")
			return
		}
		task, err := pipeline.NewTask(pipeline.MustNew(&Parrot{}, output), pipeline.Params{OnError: output.Report})
		if err != nil {
			conn.Reject("The bot cannot be started.")
			return
		}
		// On a goroutine of its own a session needs less memory than in the
		// handler, whose request would be kept.
		go func() { ended <- conn.Run(context.Background(), task) }()
	}))
	defer server.Close()

	client, _, err := gorilla.DefaultDialer.Dial("ws"+strings.TrimPrefix(server.URL, "http"), nil)
	if err != nil {
		panic(err)
	}
	for _, message := range []string{
		`{"label":"rtvi-ai","type":"client-ready","id":"1","data":{"version":"2.1.0"}}`,
		`{"label":"rtvi-ai","type":"send-text","id":"2","data":{"content":"Hello"}}`,
		`{"label":"rtvi-ai","type":"disconnect-bot","id":"3"}`,
	} {
		if err := client.WriteMessage(gorilla.TextMessage, []byte(message)); err != nil {
			panic(err)
		}
	}
	for {
		_, message, err := client.ReadMessage()
		if err != nil {
			break
		}
		if e, err := rtvi.Decode(message); err == nil && e.Type == rtvi.TypeBotOutput {
			fmt.Println(string(e.Data))
		}
	}
	fmt.Println("ended with", <-ended)
	// Output:
	// {"text":"Hello!","aggregated_by":"sentence","segment_id":1,"will_be_spoken":false}
	// ended with <nil>
}
