package wire_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/turnwise/turnwise/transport/websocket/wire"
)

// unhex reads bytes written as in the protocol's description.
func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const (
	messageFixture = "22 04 0a 02 7b 7d"
	audioFixture   = "12 12 12 05 61 75 64 69 6f 1a 04 00 00 00 00 20 80 7d 28 01"
)

func TestMessageHasTheBytesOfTheProtocol(t *testing.T) {
	if got := wire.AppendMessage(nil, []byte("{}")); !bytes.Equal(got, unhex(t, messageFixture)) {
		t.Errorf("got % x", got)
	}
}

func TestAudioHasTheBytesOfTheProtocol(t *testing.T) {
	if got := wire.AppendAudio(nil, []int16{0, 0}, 16000, 1); !bytes.Equal(got, unhex(t, audioFixture)) {
		t.Errorf("got % x", got)
	}
	if got := wire.AppendAudio(nil, []int16{-2}, 24000, 1); !bytes.Contains(got, unhex(t, "fe ff 20 c0 bb 01")) {
		t.Errorf("got % x, want the sample in little endian and the rate as a varint", got)
	}
}

func TestDecodeReadsWhatBrowsersSend(t *testing.T) {
	f, err := wire.Decode(unhex(t, messageFixture))
	if err != nil || f.Kind != wire.Message || string(f.Data) != "{}" {
		t.Errorf("message: %+v, %v", f, err)
	}
	f, err = wire.Decode(unhex(t, audioFixture))
	if err != nil || f.Kind != wire.Audio || len(f.Audio) != 4 || f.Rate != 16000 || f.Channels != 1 || f.Name != "audio" {
		t.Errorf("audio: %+v, %v", f, err)
	}
}

func TestDecode(t *testing.T) {
	tests := []struct {
		name, hex string
		want      func(wire.Frame) bool
	}{
		{"an empty message is a frame of no kind", "", func(f wire.Frame) bool { return f.Kind == wire.None }},
		{"unknown fields outside are skipped", "3a 02 01 02 " + messageFixture, func(f wire.Frame) bool { return string(f.Data) == "{}" }},
		{"unknown fields inside are skipped", "22 07 0a 02 7b 7d 78 80 01", func(f wire.Frame) bool { return string(f.Data) == "{}" }},
		{"fixed-size unknown fields are skipped", "22 0d 79 01 02 03 04 05 06 07 08 0a 02 7b 7d", func(f wire.Frame) bool { return string(f.Data) == "{}" }},
		{"of two kinds the last counts", audioFixture + messageFixture, func(f wire.Frame) bool { return f.Kind == wire.Message && f.Audio == nil && f.Rate == 0 }},
		{"one kind twice is merged", "12 02 28 02 12 03 20 80 7d", func(f wire.Frame) bool { return f.Channels == 2 && f.Rate == 16000 }},
		{"a field of the wrong type is skipped", "22 02 08 05", func(f wire.Frame) bool { return f.Kind == wire.Message && f.Data == nil }},
		{"a text", "0a 05 08 07 1a 01 68", func(f wire.Frame) bool { return f.Kind == wire.Text && f.ID == 7 && f.Text == "h" }},
		{"a transcription", "1a 09 1a 01 68 22 01 75 2a 01 74", func(f wire.Frame) bool {
			return f.Kind == wire.Transcription && f.Text == "h" && f.UserID == "u" && f.Timestamp == "t"
		}},
		{"an interruption", "2a 00", func(f wire.Frame) bool { return f.Kind == wire.Interruption }},
		{"a presentation time of zero is one", "12 02 30 00", func(f wire.Frame) bool { return f.HasPTS && f.PTS == 0 }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := wire.Decode(unhex(t, tt.hex))
			if err != nil || !tt.want(f) {
				t.Errorf("got %+v, %v", f, err)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	tests := []struct{ name, hex string }{
		{"a cut tag", "80"},
		{"field number zero", "02 00"},
		{"a length beyond the end", "22 05 0a 02 7b 7d"},
		{"an inner length beyond the end", "22 04 0a 09 7b 7d"},
		{"a varint that never ends", "08 ff ff ff ff ff ff ff ff ff ff ff"},
		{"an end of a group that never began", "0c"},
		{"a string that is not UTF-8", "22 03 0a 01 ff"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if f, err := wire.Decode(unhex(t, tt.hex)); !errors.Is(err, wire.ErrMalformed) {
				t.Errorf("got %+v, %v, want ErrMalformed", f, err)
			}
		})
	}
}

func TestMicrophoneFramesAreDecodedWithoutAllocating(t *testing.T) {
	b := wire.AppendAudio(nil, make([]int16, 256), 16000, 1)
	if n := testing.AllocsPerRun(100, func() {
		if _, err := wire.Decode(b); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
