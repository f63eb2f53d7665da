package openai_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/turnwise/turnwise/llm"
)

// BenchmarkRoundTrip is a whole response over loopback: a request with five
// tools, the server (in the same process) reads it all and answers with a call.
func BenchmarkRoundTrip(b *testing.B) {
	answer := []byte(delta(`"role":"assistant","content":null`) +
		call(`"index":0,"id":"call_1","type":"function","function":{"name":"party_size","arguments":""}`) +
		call(`"index":0,"function":{"arguments":"{\"size\""}`) + call(`"index":0,"function":{"arguments":":4}"}`) +
		finish("tool_calls") + usageEvent + doneEvent)
	s := newServer(b, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(answer)
	})
	m := newModel(b, s.URL)
	for _, messages := range []int{10, 1000} {
		convo := longConversation(messages)
		b.Run(fmt.Sprintf("messages=%d", messages), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := collect(b.Context(), m, &llm.Request{Context: convo.Snapshot()})
				if r.Err != nil || len(r.Calls) != 1 {
					b.Fatalf("got %v, %v", r, r.Err)
				}
			}
		})
	}
}

// BenchmarkStream is what a piece of streamed text costs, without a network.
func BenchmarkStream(b *testing.B) {
	const pieces = 200
	stream := ""
	for range pieces {
		stream += delta(`"content":" token"`)
	}
	stream += finish("stop") + usageEvent + doneEvent
	f := &wireFake{pieces: []string{stream}, err: io.EOF}
	m := newModel(b, "http://fake.test", withTransport(f))
	req := ask("hello")
	b.ReportAllocs()
	for b.Loop() {
		if r := collect(b.Context(), m, req); r.Err != nil {
			b.Fatal(r.Err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/pieces, "ns/piece")
}
