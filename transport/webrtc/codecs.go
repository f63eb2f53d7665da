package webrtc

import (
	"fmt"
	"strings"
	"time"

	"github.com/pion/sdp/v3"
	"github.com/pion/webrtc/v4"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/opus"
)

// opusParameters are what this side tells of how it wants Opus: with error
// correction, and nothing in silence.
const opusParameters = "minptime=10;useinbandfec=1;usedtx=1"

// mediaEngine knows the codecs. Opus is registered without parameters, so that
// whatever a client says of its own fits.
func mediaEngine() (*webrtc.MediaEngine, error) {
	m := &webrtc.MediaEngine{}
	for _, c := range []webrtc.RTPCodecParameters{
		{PayloadType: 111, RTPCodecCapability: webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeOpus, ClockRate: 48000, Channels: 2}},
		{PayloadType: 0, RTPCodecCapability: webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypePCMU, ClockRate: 8000}},
		{PayloadType: 8, RTPCodecCapability: webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypePCMA, ClockRate: 8000}},
	} {
		if err := m.RegisterCodec(c, webrtc.RTPCodecTypeAudio); err != nil {
			return nil, fmt.Errorf("webrtc: register %s: %w", c.MimeType, err)
		}
	}
	// Pictures are declined, but a line must have a codec for that: one without is
	// rejected for good, and clients then fail when a camera is switched on.
	for kind, mime := range map[webrtc.PayloadType]string{96: webrtc.MimeTypeVP8, 102: webrtc.MimeTypeH264} {
		c := webrtc.RTPCodecParameters{PayloadType: kind, RTPCodecCapability: webrtc.RTPCodecCapability{MimeType: mime, ClockRate: 90000}}
		if err := m.RegisterCodec(c, webrtc.RTPCodecTypeVideo); err != nil {
			return nil, fmt.Errorf("webrtc: register %s: %w", mime, err)
		}
	}
	// Offers without SSRCs tell by this extension which line a packet belongs to.
	if err := m.RegisterHeaderExtension(webrtc.RTPHeaderExtensionCapability{URI: sdp.SDESMidURI}, webrtc.RTPCodecTypeAudio); err != nil {
		return nil, fmt.Errorf("webrtc: register a header extension: %w", err)
	}
	return m, nil
}

// codec is one that calls use.
type codec uint8

const (
	codecNone codec = iota
	codecOpus
	codecPCMU
	codecPCMA
)

func codecOf(mime string) codec {
	switch {
	case strings.EqualFold(mime, webrtc.MimeTypeOpus):
		return codecOpus
	case strings.EqualFold(mime, webrtc.MimeTypePCMU):
		return codecPCMU
	case strings.EqualFold(mime, webrtc.MimeTypePCMA):
		return codecPCMA
	}
	return codecNone
}

// clockRate is that of the codec's timestamps in Hz.
func (c codec) clockRate() int {
	if c == codecOpus {
		return opus.ClockRate
	}
	return 8000
}

// prefer orders the codecs that both sides know: Opus first, the rest as the client
// has them.
func prefer(codecs []webrtc.RTPCodecParameters) []webrtc.RTPCodecParameters {
	var first, rest []webrtc.RTPCodecParameters
	for _, c := range codecs {
		switch codecOf(c.MimeType) {
		case codecOpus:
			c.SDPFmtpLine = opusParameters
			first = append(first, c)
		case codecPCMU, codecPCMA:
			rest = append(rest, c)
		}
	}
	return append(first, rest...)
}

// voice is how the bot's voice is encoded.
func voice(cfg *Config, format audio.Format) opus.EncoderConfig {
	return opus.EncoderConfig{
		Format: format, Frame: 20 * time.Millisecond, Bitrate: cfg.MaxBitrate, Complexity: cfg.Complexity, FEC: true,
	}
}
