package webrtc_test

import (
	"net/http"
	"testing"
	"time"

	pion "github.com/pion/webrtc/v4"

	"github.com/turnwise/turnwise/transport/webrtc"
)

// BenchmarkCallSetUp is the time from the offer to the first packet of the bot's voice,
// with both ends and the network between them on this machine.
func BenchmarkCallSetUp(b *testing.B) {
	s := serve(b, webrtc.Config{})
	var total, answered time.Duration
	for b.Loop() {
		c := newClient(b, s.URL+"/api/offer", options{})
		offer := c.offer()
		begin := time.Now()
		status, reply := post(b, "POST", c.url, map[string]any{"sdp": offer, "type": "offer"})
		answered += time.Since(begin)
		if status != http.StatusOK {
			b.Fatal(reply)
		}
		if err := c.pc.SetRemoteDescription(pion.SessionDescription{Type: pion.SDPTypeAnswer, SDP: reply["sdp"].(string)}); err != nil {
			b.Fatal(err)
		}
		<-c.tracks // which is there with its first packet
		total += time.Since(begin)
		s.take(b)
		_ = c.pc.GracefulClose()
	}
	b.ReportMetric(float64(total.Microseconds())/float64(b.N)/1000, "ms/call")
	b.ReportMetric(float64(answered.Microseconds())/float64(b.N)/1000, "ms/answer")
}
