package recording_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/wav"
	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
	"github.com/turnwise/turnwise/speech"
	"github.com/turnwise/turnwise/speech/recording"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tone is a source of a tone that is played in given seconds of a call.
type tone struct {
	rate    int
	n       int
	playing func(second int) bool
}

func (s *tone) Read(dst []int16) int {
	second := s.n / s.rate
	on := s.playing(second)
	for i := range dst {
		dst[i] = int16(8000 * math.Sin(2*math.Pi*500*float64(s.n+i)/float64(s.rate)))
	}
	s.n += len(dst)
	if !on {
		return 0
	}
	return len(dst)
}

// call holds a call of some seconds in virtual time: the caller speaks in even ones,
// the bot in odd ones.
func call(t *testing.T, r *recording.Recorder, rate, seconds int, each func(slot int)) {
	t.Helper()
	task, err := pipeline.NewTask(pipeline.MustNew(r.Listen()), pipeline.Params{})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- task.Run(context.Background()) }()
	source := r.Play(&tone{rate: rate, playing: func(s int) bool { return s%2 == 1 }})
	dst, mic := make([]int16, rate/50), make([]int16, 320)
	for i := range seconds * 50 {
		source.Read(dst)
		clear(mic)
		if i/50%2 == 0 {
			for k := range mic {
				mic[k] = int16(8000 * math.Sin(2*math.Pi*300*float64(i*320+k)/16000))
			}
		}
		task.QueueFrame(&frames.InputAudioFrame{PCM: frames.PCM{Samples: mic, Rate: 16000, Channels: 1}})
		synctest.Wait()
		if each != nil {
			each(i)
		}
		time.Sleep(20 * time.Millisecond)
	}
	task.Cancel("over")
	<-done
}

// sides reads a recording back.
func sides(t *testing.T, data []byte, rate int) (left, right []int16) {
	t.Helper()
	in, err := wav.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if f := in.Format(); f.Rate != rate || f.Channels != 2 {
		t.Fatalf("the recording has %v", f)
	}
	all, err := audio.ReadAll(in, 1<<26)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(all); i += 2 {
		left, right = append(left, all[i]), append(right, all[i+1])
	}
	return left, right
}

// heardIn lists the seconds in which a side is loud for most of the time.
func heardIn(side []int16, rate int) []int {
	var out []int
	for s := 0; (s+1)*rate <= len(side); s++ {
		if audio.Level(side[s*rate+rate/10:(s+1)*rate-rate/10]) > -30 {
			out = append(out, s)
		}
	}
	return out
}

func TestBothSidesAreRecordedWhenTheyWere(t *testing.T) {
	for _, rate := range []int{8000, 16000, 24000} {
		synctest.Test(t, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "call.wav")
			f, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			r, err := recording.New(recording.Config{Output: f, Rate: rate})
			if err != nil {
				t.Fatal(err)
			}
			call(t, r, rate, 6, nil)
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			left, right := sides(t, data, rate)
			if len(right) != 6*rate {
				t.Errorf("at %d Hz %d samples of six seconds", rate, len(right))
			}
			if got := heardIn(left, rate); len(got) != 3 || got[0] != 0 || got[1] != 2 || got[2] != 4 {
				t.Errorf("at %d Hz the caller is heard in the seconds %v", rate, got)
			}
			if got := heardIn(right, rate); len(got) != 3 || got[0] != 1 || got[1] != 3 || got[2] != 5 {
				t.Errorf("at %d Hz the bot is heard in the seconds %v", rate, got)
			}
			if r.Dropped() != 0 {
				t.Errorf("%d slots were dropped", r.Dropped())
			}
		})
	}
}

// ahead reads a source as a transport does that keeps its client 80 ms ahead: several
// times at once, and only for what is missing of a piece.
type ahead struct {
	source recording.Source
	frame  []int16
	have   int
	sent   int // pieces ahead
}

func (a *ahead) tick() {
	for a.sent = max(0, a.sent-1); a.sent < 4; a.sent++ {
		a.have += a.source.Read(a.frame[a.have:])
		if a.have < len(a.frame) && (a.sent > 0 || a.have == 0) {
			return
		}
		a.have = 0
	}
}

// What is read ahead, and in parts, is in the recording without a gap, and when it is
// played: the sound begins when it was read, and goes on after it was.
func TestASourceThatIsReadAheadIsRecordedAsItIsPlayed(t *testing.T) {
	const rate = 24000
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		r, err := recording.New(recording.Config{Output: &out, Rate: rate})
		if err != nil {
			t.Fatal(err)
		}
		buffer := &speech.Buffer{}
		a := &ahead{source: r.Play(buffer), frame: make([]int16, rate/50)}
		loud := make([]int16, rate/100*7) // 70 ms
		for i := range loud {
			loud[i] = 9000
		}
		for i := range 200 { // four seconds; the bot speaks in the second and the third
			if at := time.Duration(i) * 20 * time.Millisecond; at >= time.Second && at < 3*time.Second && i%7 == 1 {
				buffer.Append(loud)
				buffer.Append(loud) // 140 ms for 140 ms
			}
			a.tick()
			time.Sleep(20 * time.Millisecond)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		_, right := sides(t, out.Bytes(), rate)
		if len(right) != 4*rate {
			t.Errorf("%d samples of four seconds", len(right))
		}
		first, last, gaps := -1, -1, 0
		for i, s := range right {
			switch {
			case s == 0:
				continue
			case first < 0:
				first = i
			case last < i-1:
				gaps++
			}
			last = i
		}
		if gaps != 0 {
			t.Errorf("%d gaps in what was said", gaps)
		}
		begun, over := time.Duration(first)*time.Second/rate, time.Duration(last)*time.Second/rate
		if begun < time.Second || begun > 1200*time.Millisecond || over < 2900*time.Millisecond || over > 3200*time.Millisecond {
			t.Errorf("the bot speaks from %s to %s", begun, over)
		}
	})
}

// The machine stands still, or there is no connection for a while: the time is in the
// recording all the same.
func TestAPauseOfTheTransportIsSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		r, err := recording.New(recording.Config{Output: &out, Rate: 8000})
		if err != nil {
			t.Fatal(err)
		}
		call(t, r, 8000, 6, func(slot int) {
			if slot == 99 {
				time.Sleep(3 * time.Second)
			}
		})
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		_, right := sides(t, out.Bytes(), 8000)
		if d := len(right) - 9*8000; d > 160 || d < -160 {
			t.Errorf("%d samples of nine seconds", len(right))
		}
		if got := heardIn(right, 8000); len(got) != 3 || got[0] != 1 || got[1] != 6 {
			t.Errorf("the bot is heard in the seconds %v", got)
		}
	})
}

// slow is a disk that takes its time for each write.
type slow struct {
	bytes.Buffer
	each time.Duration
}

func (s *slow) Write(p []byte) (int, error) {
	time.Sleep(s.each)
	return s.Buffer.Write(p)
}

func TestADiskThatIsTooSlowDelaysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &slow{each: 100 * time.Millisecond}
		r, err := recording.New(recording.Config{Output: disk, Rate: 8000})
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		call(t, r, 8000, 20, nil)
		if took := time.Since(begun); took != 20*time.Second {
			t.Errorf("the call took %s", took)
		}
		if r.Dropped() == 0 {
			t.Error("nothing was dropped")
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		sides(t, disk.Bytes(), 8000)
	})
}

// full is a disk without room.
type full struct{ left int }

func (f *full) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errors.New("no space left on device")
	}
	return len(p), nil
}

func TestAFullDiskIsToldOnceAndTheCallGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := make(chan error, 10)
		r, err := recording.New(recording.Config{Output: &full{left: 20_000}, Rate: 8000, OnError: func(err error) { told <- err }})
		if err != nil {
			t.Fatal(err)
		}
		call(t, r, 8000, 6, nil)
		if err := r.Close(); err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("Close gave %v", err)
		}
		if len(told) != 1 {
			t.Errorf("it was told %d times", len(told))
		}
	})
}

// What was written when the process was killed is a readable file.
func TestARecordingThatWasNeverClosedCanBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "call.wav")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		r, err := recording.New(recording.Config{Output: f, Rate: 8000})
		if err != nil {
			t.Fatal(err)
		}
		call(t, r, 8000, 4, nil)
		data, err := os.ReadFile(path) // as the disk has it now
		if err != nil {
			t.Fatal(err)
		}
		if _, right := sides(t, data, 8000); len(right) < 3*8000 {
			t.Errorf("%d samples of four seconds", len(right))
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestALongCallTakesNoMoreMemoryThanAShortOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := recording.New(recording.Config{Output: struct{ io.Writer }{io.Discard}, Rate: 8000})
		if err != nil {
			t.Fatal(err)
		}
		heap := func() uint64 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		var early uint64
		call(t, r, 8000, 600, func(slot int) {
			if slot == 30*50 {
				early = heap()
			}
		})
		if late := heap(); late > early+1<<20 {
			t.Errorf("%d bytes after half a minute, %d after ten", early, late)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestConfigurationsNameWhatIsWrong(t *testing.T) {
	for field, cfg := range map[string]recording.Config{"Output": {Rate: 8000}, "Rate": {Output: io.Discard}} {
		if _, err := recording.New(cfg); !errors.Is(err, recording.ErrConfig) || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
}
