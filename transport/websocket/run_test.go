package websocket_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	gorilla "github.com/gorilla/websocket"
	"go.uber.org/goleak"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
	"github.com/turnwise/turnwise/transport/rtvi"
	"github.com/turnwise/turnwise/transport/websocket"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type echo struct{ pipeline.Base }

func (e *echo) Process(f frames.Frame, dir pipeline.Direction) {
	e.Push(f, dir)
	if t, ok := f.(*frames.UserTextFrame); ok {
		e.Push(&frames.SpeakFrame{Text: "You said: " + t.Text}, pipeline.Downstream)
	}
}

func TestSmoke(t *testing.T) {
	up, err := websocket.NewUpgrader(websocket.Config{})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := up.Upgrade(w, r)
		if err != nil {
			return
		}
		out, _ := rtvi.NewOutput(conn, rtvi.OutputConfig{})
		pipe, err := pipeline.New(&echo{}, out)
		if err != nil {
			panic(err)
		}
		task, _ := pipeline.NewTask(pipe, pipeline.Params{OnError: out.Report})
		ended <- conn.Run(r.Context(), task)
	}))
	defer srv.Close()
	ws, resp, err := gorilla.DefaultDialer.Dial("ws"+strings.TrimPrefix(srv.URL, "http"), nil)
	if err != nil {
		t.Fatal(err, resp)
	}
	ws.WriteMessage(1, []byte(`{"label":"rtvi-ai","type":"client-ready","id":"a","data":{"version":"2.1.0","about":{"library":"x"}}}`))
	ws.WriteMessage(1, []byte(`{"label":"rtvi-ai","type":"send-text","id":"b","data":{"content":"hello. There"}}`))
	ws.SetReadDeadline(time.Now().Add(2 * time.Second))
	for range 5 {
		_, b, err := ws.ReadMessage()
		t.Log(string(b), err)
	}
	ws.WriteMessage(1, []byte(`{"label":"rtvi-ai","type":"disconnect-bot","id":"b"}`))
	_, b, err := ws.ReadMessage()
	t.Log(string(b), err)
	ws.Close()
	if err := <-ended; err != nil && !errors.Is(err, websocket.ErrPeerGone) {
		t.Fatal(err)
	}
}

type pass struct{ pipeline.Base }

func (p *pass) Process(f frames.Frame, dir pipeline.Direction) { p.Push(f, dir) }
