package webrtc

import (
	"errors"
	"sync/atomic"

	"github.com/pion/webrtc/v4"
)

// track is the bot's voice as the WebRTC library sees it. It writes packets straight
// to the connection, so that nothing is allocated for them.
type track struct{ bound atomic.Pointer[binding] }

// binding is where the packets go, and in which form.
type binding struct {
	writer webrtc.TrackLocalWriter
	ssrc   uint32
	kind   uint8 // the payload type
	codec  codec
}

var errNoCodec = errors.New("webrtc: no codec in common")

// Bind implements [webrtc.TrackLocal].
func (t *track) Bind(ctx webrtc.TrackLocalContext) (webrtc.RTPCodecParameters, error) {
	for _, p := range ctx.CodecParameters() {
		if c := codecOf(p.MimeType); c != codecNone {
			t.bound.Store(&binding{writer: ctx.WriteStream(), ssrc: uint32(ctx.SSRC()), kind: uint8(p.PayloadType), codec: c})
			return p, nil
		}
	}
	return webrtc.RTPCodecParameters{}, errNoCodec
}

// Unbind implements [webrtc.TrackLocal].
func (t *track) Unbind(webrtc.TrackLocalContext) error {
	t.bound.Store(nil)
	return nil
}

// ID implements [webrtc.TrackLocal].
func (*track) ID() string { return "voice" }

// RID implements [webrtc.TrackLocal].
func (*track) RID() string { return "" }

// StreamID implements [webrtc.TrackLocal].
func (*track) StreamID() string { return "bot" }

// Kind implements [webrtc.TrackLocal].
func (*track) Kind() webrtc.RTPCodecType { return webrtc.RTPCodecTypeAudio }
