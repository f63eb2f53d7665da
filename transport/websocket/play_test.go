package websocket_test

import (
	"testing"
	"time"

	gorilla "github.com/gorilla/websocket"

	"github.com/turnwise/turnwise/speech"
	"github.com/turnwise/turnwise/transport/rtvi"
	"github.com/turnwise/turnwise/transport/websocket"
	"github.com/turnwise/turnwise/transport/websocket/wire"
)

// sounds are the pieces of sound that a client was sent, and when.
type sounds struct {
	at      []time.Duration
	last    time.Duration // when the last one with sound came
	samples int           // of sound
	silent  int           // samples behind the last sound
}

// listen reads until the connection ends.
func (s *sounds) listen(p *peer, since time.Time) {
	for {
		kind, raw, err := p.ReadMessage()
		if err != nil {
			return
		}
		if kind != gorilla.BinaryMessage {
			continue
		}
		f, err := wire.Decode(raw)
		if err != nil || f.Kind != wire.Audio {
			continue
		}
		if f.Rate != websocket.PlaybackRate || f.Channels != 1 {
			p.t.Errorf("sound of %d Hz, %d channels", f.Rate, f.Channels)
		}
		s.at = append(s.at, time.Since(since))
		for i := 0; i+1 < len(f.Audio); i += 2 {
			if f.Audio[i] == 0 && f.Audio[i+1] == 0 {
				s.silent++
				continue
			}
			s.last = time.Since(since)
			s.samples += s.silent + 1
			s.silent = 0
		}
	}
}

// loud is d of sound without a zero in it.
func loud(d time.Duration) []int16 {
	out := make([]int16, int(d*websocket.PlaybackRate/time.Second))
	for i := range out {
		out[i] = int16(1 + i%1000)
	}
	return out
}

// playing runs a connection to which a buffer is played; act happens in it.
func playing(t *testing.T, act func(b *speech.Buffer)) *sounds {
	t.Helper()
	s := &sounds{}
	inHouse(t, websocket.Config{}, echo(), func(t *testing.T, h *house) {
		pace := websocket.NewPacer()
		defer pace.Close()
		p := h.dial()
		p.binary("client-ready", clientReady)
		p.until(rtvi.TypeBotReady)
		buffer := &speech.Buffer{}
		(<-h.conns).Play(buffer, pace)
		done := make(chan struct{})
		begun := time.Now()
		go func() {
			defer close(done)
			s.listen(p, begun)
		}()
		act(buffer)
		p.binary("disconnect-bot", "")
		<-done
		_ = p.Close()
		<-h.ended
	})
	return s
}

func TestSoundIsSentAtThePaceAtWhichItIsPlayed(t *testing.T) {
	s := playing(t, func(b *speech.Buffer) {
		b.Append(loud(2*time.Second + 7*time.Millisecond))
		time.Sleep(3 * time.Second)
	})
	if want := len(loud(2*time.Second + 7*time.Millisecond)); s.samples != want {
		t.Errorf("%d samples of %d came", s.samples, want)
	}
	// Players keep a remainder below 128 samples until more comes.
	if s.silent < websocket.PlaybackRate*6/1000 {
		t.Errorf("%d samples of silence came behind it", s.silent)
	}
	for i, at := range s.at {
		due := time.Duration(i) * 20 * time.Millisecond // when it is played, at the earliest
		if ahead := due - (at - s.at[0]); ahead > 120*time.Millisecond || ahead < 0 {
			t.Fatalf("piece %d came at %s, %s ahead", i, at, ahead)
		}
	}
	if s.at[3] != s.at[0] {
		t.Errorf("the first pieces came at %v, not together", s.at[:5])
	}
}

func TestSoundThatIsTakenBackIsNotSent(t *testing.T) {
	s := playing(t, func(b *speech.Buffer) {
		b.Append(loud(30 * time.Second))
		time.Sleep(time.Second)
		if played := b.Clear(); played > uint64(len(loud(1120*time.Millisecond))) {
			t.Errorf("%d samples were taken in a second", played)
		}
		time.Sleep(time.Second)
	})
	if most := len(loud(1120 * time.Millisecond)); s.samples > most {
		t.Errorf("%d samples came, more than %d", s.samples, most)
	}
	if s.last > time.Second {
		t.Errorf("the last sound came at %s", s.last)
	}
}

// A synthesizer that gives its sound bit by bit, in pieces of any size: no silence gets
// into it.
func TestSoundThatComesBitByBitIsSentAsItComes(t *testing.T) {
	s := playing(t, func(b *speech.Buffer) {
		b.Append(loud(90 * time.Millisecond))
		for range 70 {
			b.Append(loud(13 * time.Millisecond))
			time.Sleep(13 * time.Millisecond)
		}
		time.Sleep(500 * time.Millisecond)
	})
	if want := len(loud(90*time.Millisecond)) + 70*len(loud(13*time.Millisecond)); s.samples != want {
		t.Errorf("%d samples of %d came, %d behind", s.samples, want, s.silent)
	}
}
