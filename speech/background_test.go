package speech_test

import (
	"errors"
	"testing"

	"github.com/turnwise/turnwise/speech"
)

// murmur adds one to every sample, until it fails.
type murmur struct{ err error }

func (m *murmur) Mix(samples []int16) error {
	if m.err != nil {
		return m.err
	}
	for i := range samples {
		samples[i]++
	}
	return nil
}

func TestABedIsHeardWithAndWithoutTheBotUntilItFails(t *testing.T) {
	buffer, under := &speech.Buffer{}, &murmur{}
	var told error
	bed := &speech.Bed{Speech: buffer, Under: under, OnError: func(err error) { told = err }}
	packet := make([]int16, 4)
	if n := bed.Read(packet); n != 4 || packet[0] != 1 || packet[3] != 1 {
		t.Errorf("while nobody speaks there are %d of %v", n, packet)
	}
	buffer.Append([]int16{10, 20})
	if n := bed.Read(packet); n != 4 || packet[0] != 11 || packet[1] != 21 || packet[2] != 1 {
		t.Errorf("under the bot there are %d of %v", n, packet)
	}
	under.err = errors.New("the file is broken")
	buffer.Append([]int16{30})
	if n := bed.Read(packet); n != 1 || packet[0] != 30 || !errors.Is(told, under.err) {
		t.Errorf("after the failure there are %d of %v, and %v was told", n, packet, told)
	}
}
