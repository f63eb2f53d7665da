package rtvi

import (
	"encoding/base64"
	"strconv"

	"github.com/turnwise/turnwise/frames"
)

// AppendTTSAudio appends a bot-tts-audio message, for clients that have no other
// way to get audio.
func AppendTTSAudio(dst []byte, pcm frames.PCM) []byte {
	dst = appendHead(dst, TypeBotTTSAudio, "")
	dst = append(dst, `,"data":{"audio":"`...)
	// Pieces of whole triples of bytes join without padding.
	var piece [768]byte
	for samples := pcm.Samples; len(samples) > 0; {
		n := min(len(samples), len(piece)/2)
		for i, s := range samples[:n] {
			piece[2*i], piece[2*i+1] = byte(s), byte(uint16(s)>>8)
		}
		dst = base64.StdEncoding.AppendEncode(dst, piece[:2*n])
		samples = samples[n:]
	}
	dst = append(dst, `","sample_rate":`...)
	dst = strconv.AppendInt(dst, int64(pcm.Rate), 10)
	dst = append(dst, `,"num_channels":`...)
	dst = strconv.AppendInt(dst, int64(max(pcm.Channels, 1)), 10)
	return append(dst, `}}`...)
}
