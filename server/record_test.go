package server_test

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/wav"
	"github.com/turnwise/turnwise/server"
)

// tape is a file in memory.
type tape struct {
	bytes.Buffer
	closed chan struct{}
}

func (f *tape) Close() error {
	close(f.closed)
	return nil
}

func TestACallIsRecordedOnBothSides(t *testing.T) {
	file := &tape{closed: make(chan struct{})}
	var session string
	_, address := serve(t, server.Config{
		Voice: scripted("take_name please"), Record: func(id string) (io.WriteCloser, error) { session = id; return file, nil },
	})
	c := call(t, address)
	c.ready()
	c.hears("Who are you?")
	c.until("the bot has spoken", func(m message) bool { return m.Type == "bot-stopped-speaking" })
	c.speak(time.Second)
	c.hears("Goodbye, Ada.")
	c.leaves()
	select {
	case <-file.closed:
	case <-time.After(patience):
		t.Fatal("the recording was not finished")
	}
	in, err := wav.NewReader(&file.Buffer)
	if err != nil {
		t.Fatal(err)
	}
	all, err := audio.ReadAll(in, 1<<26)
	if err != nil {
		t.Fatal(err)
	}
	var loud [2]time.Duration
	part := in.Format().Rate / 50
	for i := 0; i+2*part <= len(all); i += 2 * part {
		for side := range loud {
			one := make([]int16, part)
			for k := range one {
				one[k] = all[i+2*k+side]
			}
			if audio.Level(one) > -40 {
				loud[side] += 20 * time.Millisecond
			}
		}
	}
	if loud[0] < 800*time.Millisecond || loud[0] > 1300*time.Millisecond {
		t.Errorf("%s of the caller's second is recorded", loud[0])
	}
	if loud[1] < 6*wordTime || loud[1] > 8*wordTime {
		t.Errorf("%s of the bot's seven words is recorded", loud[1])
	}
	if session == "" {
		t.Error("the session has no name")
	}
}

func TestACallThatCannotBeRecordedIsHeld(t *testing.T) {
	_, address := serve(t, server.Config{
		Voice: scripted(), Record: func(string) (io.WriteCloser, error) { return nil, errors.New("no space") },
	})
	c := call(t, address)
	c.ready()
	c.hears("Who are you?")
}
