package rtvi

import (
	"fmt"

	"github.com/turnwise/turnwise/frames"
)

// Bounds of audio from clients.
const (
	minRate, maxRate = 8000, 48000
	maxChannels      = 2
)

// audioReader turns a stream of PCM16 bytes, cut anywhere, into samples. The frame
// it fills is used again: the session's door copies the samples.
type audioReader struct {
	frame   frames.InputAudioFrame
	carry   byte
	carried bool
}

// keepSamples is the largest number of samples that room is kept for between two
// messages.
const keepSamples = 8 << 10

// read takes the next bytes and returns the whole samples among them.
func (a *audioReader) read(data []byte, rate, channels int) *frames.InputAudioFrame {
	if rate != a.frame.Rate || channels != a.frame.Channels {
		a.carried = false
		a.frame.Rate, a.frame.Channels = rate, channels
	}
	samples := a.frame.Samples[:0]
	if a.carried && len(data) > 0 {
		samples = append(samples, int16(uint16(a.carry)|uint16(data[0])<<8))
		data, a.carried = data[1:], false
	}
	for ; len(data) >= 2; data = data[2:] {
		samples = append(samples, int16(uint16(data[0])|uint16(data[1])<<8))
	}
	if len(data) == 1 {
		a.carry, a.carried = data[0], true
	}
	a.frame.Samples = samples
	return &a.frame
}

// trim gives back what one odd message needed. Queueing has copied the samples.
func (a *audioReader) trim() {
	if cap(a.frame.Samples) > keepSamples {
		a.frame.Samples = nil
	}
}

// Audio handles microphone audio that travels beside the messages: 16-bit
// little-endian PCM, cut anywhere. 0 channels count as one. An error tells that
// the session is over. The caller may use data again.
func (in *Input) Audio(data []byte, rate, channels int) error {
	if channels == 0 {
		channels = 1
	}
	if err := checkAudio(rate, channels); err != nil {
		in.warn("microphone audio was ignored", "why", err.Error())
		return nil
	}
	f := in.audio.read(data, rate, channels)
	if len(f.Samples) == 0 {
		return nil
	}
	err := in.cfg.Queue(f)
	in.audio.trim()
	return err
}

func (in *Input) rawAudio(e *Envelope) error {
	var d RawAudio
	if err := read(e, &d); err != nil {
		return err
	}
	if d.NumChannels == 0 {
		d.NumChannels = 1
	}
	if err := checkAudio(d.SampleRate, d.NumChannels); err != nil {
		return err
	}
	for _, piece := range append([][]byte{d.Base64Audio}, d.Base64AudioBatch...) {
		if err := in.Audio(piece, d.SampleRate, d.NumChannels); err != nil {
			return err
		}
	}
	return nil
}

func checkAudio(rate, channels int) error {
	if rate < minRate || rate > maxRate {
		return refusal(fmt.Sprintf("A sample rate of %d Hz is not supported; give %d to %d.", rate, minRate, maxRate))
	}
	if channels < 1 || channels > maxChannels {
		return refusal(fmt.Sprintf("%d channels are not supported; give 1 or %d.", channels, maxChannels))
	}
	return nil
}
