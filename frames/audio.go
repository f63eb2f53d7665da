package frames

import "time"

// PCM is signed 16-bit little-endian audio as samples, interleaved when it has
// more than one channel.
type PCM struct {
	// Samples holds the interleaved samples.
	Samples []int16
	// Rate is the sample rate in Hz.
	Rate int
	// Channels is the number of interleaved channels; 0 counts as 1.
	Channels int
}

// Duration is the playing time of the samples.
func (p PCM) Duration() time.Duration {
	channels := max(p.Channels, 1)
	if p.Rate <= 0 {
		return 0
	}
	return time.Duration(len(p.Samples)/channels) * time.Second / time.Duration(p.Rate)
}

// InputAudioFrame is live microphone audio. A session keeps it in a bounded ring
// of its own: queueing copies the samples, and the frame that processors see is
// valid only until Process returns. Whoever keeps it calls [InputAudioFrame.Clone].
type InputAudioFrame struct {
	DataFrame
	PCM
}

// Clone returns a copy that stays valid.
func (f *InputAudioFrame) Clone() *InputAudioFrame {
	c := &InputAudioFrame{PCM: f.PCM}
	c.Samples = append([]int16(nil), f.Samples...)
	return c
}

// OutputAudioFrame is audio for the user.
type OutputAudioFrame struct {
	DataFrame
	PCM
	// Response is the response the audio speaks; 0 if none.
	Response uint64
}
