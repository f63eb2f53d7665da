package telephony_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/turnwise/turnwise/transport/telephony"
)

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// FuzzStart checks that whatever comes first is either a call with a name and a stream
// or refused.
func FuzzStart(f *testing.F) {
	for _, sc := range scripts {
		f.Add(sc.begin[len(sc.begin)-1])
	}
	f.Add(`{"event":"connected"}`)
	f.Add(`{"event":"start","start":null}`)
	f.Add("\xff")
	exchange, err := telephony.NewExchange(telephony.Config{})
	if err != nil {
		f.Fatal(err)
	}
	infos := make(chan telephony.Info, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := exchange.Accept(w, r)
		if err != nil {
			infos <- telephony.Info{}
			return
		}
		infos <- conn.Info()
		conn.Reject("a test")
	}))
	f.Cleanup(func() {
		srv.Close()
		exchange.Close()
	})
	f.Fuzz(func(t *testing.T, text string) {
		ws, response, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(srv.URL, "http"), nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		for range 2 {
			_ = ws.WriteMessage(websocket.TextMessage, []byte(text)) // it may be refused at once
		}
		if info := <-infos; info.Carrier != "" && (info.Call == "" || info.Stream == "" || info.Encoding == "") {
			t.Errorf("%q gave %+v", text, info)
		}
		_ = ws.Close()
	})
}
