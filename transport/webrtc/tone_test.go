package webrtc_test

import (
	"flag"
	"math"
	"math/cmplx"
	"sync"
	"testing"
	"time"

	pion "github.com/pion/webrtc/v4"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/g711"
	"github.com/turnwise/turnwise/audio/opus"
	"github.com/turnwise/turnwise/transport/webrtc"
)

// toneFor is how long the tone sounds that goes through a call.
var toneFor = flag.Duration("tone", 4*time.Second, "how long the tone of the end-to-end test sounds; 60s proves more")

// tone is a sine at -9 dBFS.
func tone(rate int, hz float64, d time.Duration) []int16 {
	src, err := audio.NewTone(audio.Mono(rate), hz, -9)
	if err != nil {
		panic(err)
	}
	samples := make([]int16, audio.Mono(rate).Samples(d))
	if _, err := src.Read(samples); err != nil {
		panic(err)
	}
	return samples
}

// source is a queue of sound, as a speech.Buffer.
type source struct {
	mu      sync.Mutex
	samples []int16
	taken   int
}

func (s *source) Read(dst []int16) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := copy(dst, s.samples)
	s.samples = s.samples[n:]
	s.taken += n
	return n
}

func (s *source) put(samples []int16) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.samples = append(s.samples, samples...)
}

// left is how many samples wait.
func (s *source) left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.samples)
}

// trace is a tone's frequency and where it is not steady.
type trace struct {
	hz    float64
	gaps  int     // blocks that are much quieter than the rest, or out of phase
	worst float64 // the largest jump of the phase from block to block, in turns
}

// follow measures a tone of about hz in blocks of 10 ms.
func follow(samples []int16, rate int, hz float64) trace {
	n := rate / 100
	var blocks []complex128
	for at := 0; at+n <= len(samples); at += n {
		var sum complex128
		for i, v := range samples[at : at+n] {
			sum += complex(float64(v), 0) * cmplx.Rect(1, -2*math.Pi*hz*float64(at+i)/float64(rate))
		}
		blocks = append(blocks, sum/complex(float64(n), 0))
	}
	mean := 0.0
	for _, b := range blocks {
		mean += cmplx.Abs(b) / float64(len(blocks))
	}
	out, turns := trace{}, 0.0
	for i := 1; i < len(blocks); i++ {
		step := cmplx.Phase(blocks[i]/blocks[i-1]) / (2 * math.Pi)
		turns += step
		out.worst = max(out.worst, math.Abs(step))
		if cmplx.Abs(blocks[i]) < mean/2 || math.Abs(step) > 0.1 {
			out.gaps++
		}
	}
	out.hz = hz + turns/(float64(len(blocks)-1)/100)
	return out
}

func checkTone(t *testing.T, samples []int16, rate int, hz, tolerance float64) {
	t.Helper()
	got := follow(samples, rate, hz)
	if math.Abs(got.hz-hz) > hz*tolerance {
		t.Errorf("the tone has %.3f Hz, want %.1f ± %.1f %%", got.hz, hz, tolerance*100)
	}
	if got.gaps > 0 {
		t.Errorf("the tone has %d gaps; the largest jump of its phase is %.3f turns", got.gaps, got.worst)
	}
}

func TestTheMeasureOfTonesSeesWhatIsWrong(t *testing.T) {
	good := tone(16000, 440, 2*time.Second)
	if got := follow(good, 16000, 440); math.Abs(got.hz-440) > 0.01 || got.gaps != 0 {
		t.Errorf("a clean tone: %+v", got)
	}
	if got := follow(tone(16000, 441, 2*time.Second), 16000, 440); math.Abs(got.hz-441) > 0.01 {
		t.Errorf("a tone of 441 Hz: %+v", got)
	}
	cut := append(append([]int16(nil), good[:8000]...), good[8320+13:]...)
	if got := follow(cut, 16000, 440); got.gaps == 0 {
		t.Errorf("20 ms are missing: %+v", got)
	}
}

func TestAToneGoesThroughACallBothWays(t *testing.T) {
	s := serve(t, webrtc.Config{})
	src := &source{}
	s.source = src
	c := newClient(t, s.URL+"/api/offer", options{}).connect()
	call := s.take(t)
	c.ready()
	stop := make(chan struct{})
	spoken := make(chan struct{})
	go func() {
		defer close(spoken)
		c.speak(tone(48000, 440, *toneFor+time.Second), 48000, stop)
	}()
	src.put(tone(24000, 440, *toneFor+500*time.Millisecond))
	heard := listen(t, <-c.tracks, func(done int) bool { return done >= int(toneFor.Seconds()*16000) })
	checkTone(t, heard[1600:], 16000, 440, 0.001)
	eventually(t, "the caller's tone", func() bool { return len(call.session.heard()) >= int(toneFor.Seconds()*16000) })
	close(stop)
	<-spoken
	checkTone(t, call.session.heard()[3200:int(toneFor.Seconds()*16000)], 16000, 440, 0.001)
	st := call.conn.Stats()
	if st.Lost > 0 || st.Failed > 0 {
		t.Errorf("packets were lost on the way to oneself: %+v", st)
	}
}

// listen decodes what the bot says, from the first sound on, until enough was heard.
func listen(t *testing.T, track *pion.TrackRemote, enough func(samples int) bool) []int16 {
	t.Helper()
	dec, err := opus.NewDecoder(audio.Mono(16000))
	if err != nil {
		t.Fatal(err)
	}
	var heard, buf []int16
	for !enough(len(heard)) {
		p, _, err := track.ReadRTP()
		if err != nil {
			t.Fatal(err)
		}
		if buf, err = dec.Decode(buf[:0], p.Payload); err != nil {
			t.Fatal(err)
		}
		if len(heard) > 0 || audio.Level(buf) > -20 {
			heard = append(heard, buf...)
		}
	}
	return heard
}

func TestACallFallsBackToTheCodecsOfTelephones(t *testing.T) {
	for name, mime := range map[string]string{"PCMU": pion.MimeTypePCMU, "PCMA": pion.MimeTypePCMA} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, webrtc.Config{})
			src := &source{}
			s.source = src
			c := newClient(t, s.URL+"/api/offer", options{codec: mime}).connect()
			call := s.take(t)
			encode, decode := g711.AppendULaw, g711.AppendFromULaw
			if mime == pion.MimeTypePCMA {
				encode, decode = g711.AppendALaw, g711.AppendFromALaw
			}
			src.put(tone(24000, 440, 2*time.Second))
			for i := 0; i < 8000; i += 160 {
				_ = c.mic.WriteRTP(rtpPacket(i/160, 160, encode(nil, tone(8000, 440, time.Second)[i:i+160])))
			}
			eventually(t, "the caller's tone", func() bool { return len(call.session.heard()) >= 15000 })
			checkTone(t, call.session.heard()[160:15000], 16000, 440, 0.001)
			track := <-c.tracks
			var heard []int16
			for len(heard) < 8000 {
				p, _, err := track.ReadRTP()
				if err != nil {
					t.Fatal(err)
				}
				if len(p.Payload) != 160 {
					t.Fatalf("a packet has %d bytes", len(p.Payload))
				}
				if piece := decode(nil, p.Payload); len(heard) > 0 || audio.Level(piece) > -20 {
					heard = append(heard, piece...)
				}
			}
			checkTone(t, heard[160:], 8000, 440, 0.001)
		})
	}
}
