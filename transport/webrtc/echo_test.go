package webrtc_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/opus"
	"github.com/turnwise/turnwise/audio/resample"
	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/transport/webrtc"
)

// callers has the test program be the callers of the one that started it.
var callers = flag.String("callers", "", "where to call; used by the echo benchmark itself")

// echoCalls is how many calls the echo benchmark holds at once.
const echoCalls = 16

// echo is a session that says what it hears.
type echo struct {
	*session
	out     *source
	convert *resample.Resampler
	buf     []int16
}

func (e *echo) QueueFrame(f frames.Frame) {
	if a, ok := f.(*frames.InputAudioFrame); ok {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.buf = e.convert.Append(e.buf[:0], a.Samples)
		e.out.put(e.buf)
		return
	}
	e.session.QueueFrame(f)
}

func (e *echo) Enqueue(_ context.Context, f frames.Frame) error {
	e.QueueFrame(f)
	return nil
}

// cpu is the processor time that this process has taken.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkEcho is the processor time of an echo call with Opus both ways, at 16 calls
// whose callers are another process, and the memory of one.
func BenchmarkEcho(b *testing.B) {
	for _, rate := range []int{16000, 24000} {
		b.Run(strconv.Itoa(rate), func(b *testing.B) { benchmarkEcho(b, rate) })
	}
}

func benchmarkEcho(b *testing.B, rate int) {
	s := serve(b, webrtc.Config{OutputRate: rate, ReadyTimeout: time.Hour})
	var filters resample.Filters
	filter, err := filters.Get(webrtc.InputRate, rate)
	if err != nil {
		b.Fatal(err)
	}
	s.wrap = func(conn *webrtc.Conn, plain *session) webrtc.Session {
		e := &echo{session: plain, out: &source{}, convert: filter.New(1)}
		conn.Play(e.out)
		return e
	}
	before := memory()
	cmd := exec.Command(os.Args[0], "-test.run=^$", "-callers="+s.URL+"/api/offer")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	var calls []*call
	for range echoCalls {
		calls = append(calls, s.take(b))
	}
	time.Sleep(2 * time.Second) // until all have connected and talk
	begin, used := time.Now(), cpu()
	var mallocs runtime.MemStats
	runtime.ReadMemStats(&mallocs)
	objects := mallocs.Mallocs
	for b.Loop() {
		time.Sleep(time.Second)
	}
	took := time.Since(begin)
	used = cpu() - used
	runtime.ReadMemStats(&mallocs)
	var sent, received uint64
	for _, c := range calls {
		st := c.conn.Stats()
		sent, received = sent+st.Sent, received+st.Received
	}
	if want := uint64(took/(20*time.Millisecond)) * echoCalls; sent < want || received < want*9/10 {
		b.Errorf("only %d packets were sent and %d received in %v", sent, received, took)
	}
	b.ReportMetric(used.Seconds()/took.Seconds()/echoCalls, "cores/call")
	b.ReportMetric(float64(mallocs.Mallocs-objects)/took.Seconds()/echoCalls/50, "allocs/slot")
	b.ReportMetric(float64(memory()-before)/echoCalls/(1<<20), "MB/call")
}

// memory is what the process has in use.
func memory() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// callOften calls so many times and talks until it is killed.
func callOften(url string) {
	enc, err := opus.NewEncoder(opus.EncoderConfig{Format: audio.Mono(48000)})
	if err != nil {
		panic(err)
	}
	var packets [][]byte
	for sound := tone(48000, 440, time.Second); len(sound) >= 960; sound = sound[960:] {
		p, err := enc.Encode(nil, sound[:960])
		if err != nil {
			panic(err)
		}
		packets = append(packets, p)
	}
	var all sync.WaitGroup
	for range echoCalls {
		c := newClient(loud{}, url, options{}).connect()
		track := <-c.tracks
		go func() {
			buf := make([]byte, 1500)
			for {
				if _, _, err := track.Read(buf); err != nil {
					return
				}
			}
		}()
		all.Go(func() {
			tick := time.NewTicker(20 * time.Millisecond)
			for n := 0; ; n++ {
				<-tick.C
				_ = c.mic.WriteRTP(rtpPacket(n, 960, packets[n%len(packets)]))
			}
		})
	}
	all.Wait()
}

// loud is a testing.TB for a process without a test: what fails ends it.
type loud struct{ testing.TB }

func (loud) Helper()                   {}
func (loud) Cleanup(func())            {}
func (loud) Fatal(args ...any)         { panic(fmt.Sprint(args...)) }
func (loud) Fatalf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }
func (loud) Name() string              { return "callers " + strconv.Itoa(os.Getpid()) }
