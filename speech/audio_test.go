package speech_test

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/turnwise/turnwise/speech"
)

func TestAudioDropsTheOldestAndKeepsMarks(t *testing.T) {
	a := speech.NewAudio(100)
	a.Mark(speech.SpeechStarted)
	ok := true
	for i := range 10 {
		s := make([]int16, 30)
		for k := range s {
			s[k] = int16(30*i + k)
		}
		ok = a.Write(s) && ok
	}
	a.Mark(speech.SpeechStopped)
	a.Close()
	var got []string
	for {
		e, err := a.Next(context.Background())
		if err == io.EOF {
			break
		}
		if e.Mark != 0 {
			got = append(got, fmt.Sprint("mark ", e.Mark))
			continue
		}
		got = append(got, fmt.Sprintf("%d from %d", len(e.Samples), e.Samples[0]))
	}
	want(t, "read", got, "mark 1", "100 from 200", "mark 2")
	if ok || a.Dropped() != 200 {
		t.Errorf("%d samples were dropped", a.Dropped())
	}
}

func TestFeedingARecognizerAllocatesNothing(t *testing.T) {
	a := speech.NewAudio(16000)
	s := make([]int16, 320)
	ctx := context.Background()
	cycle := func() {
		a.Write(s)
		if _, err := a.Next(ctx); err != nil {
			t.Fatal(err)
		}
	}
	cycle()
	if n := testing.AllocsPerRun(1000, cycle); n != 0 {
		t.Errorf("%v allocations for each 20 ms", n)
	}
}

func BenchmarkAudio20ms(b *testing.B) {
	a := speech.NewAudio(160000)
	s := make([]int16, 320)
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		a.Write(s)
		if _, err := a.Next(ctx); err != nil {
			b.Fatal(err)
		}
	}
}

// hum adds one to every sample.
type hum struct{}

func (hum) Mix(s []int16) error {
	for i := range s {
		s[i]++
	}
	return nil
}

func TestAPacketIsSpeechAndSilenceWithABackground(t *testing.T) {
	var b speech.Buffer
	b.Append([]int16{10, 20, 30})
	packet := []int16{9, 9, 9, 9, 9}
	if n, err := b.Fill(packet, hum{}); n != 3 || err != nil || fmt.Sprint(packet) != "[11 21 31 1 1]" {
		t.Errorf("%v, %d of it speech, %v", packet, n, err)
	}
	if n, _ := b.Fill(packet, nil); n != 0 || fmt.Sprint(packet) != "[0 0 0 0 0]" {
		t.Errorf("%v, %d of it speech", packet, n)
	}
}
