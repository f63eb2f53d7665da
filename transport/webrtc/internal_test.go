package webrtc

import (
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/rtp"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/opus"
	"github.com/turnwise/turnwise/transport/internal/pacer"
)

// wire takes packets as a connection does.
type wire struct {
	mu      sync.Mutex
	packets []sentPacket
	reports [][]rtcp.Packet
	keep    bool // the payloads
	count   int
}

type sentPacket struct {
	rtp.Header
	at      time.Time
	payload []byte
}

func (w *wire) WriteRTP(h *rtp.Header, payload []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count++
	if w.keep {
		w.packets = append(w.packets, sentPacket{*h, time.Now(), append([]byte(nil), payload...)})
	}
	return len(payload), nil
}

func (*wire) Write([]byte) (int, error) { panic("not used") }

func (w *wire) writeRTCP(p []rtcp.Packet) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reports = append(w.reports, p)
	return nil
}

func (w *wire) sent() []sentPacket {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]sentPacket(nil), w.packets...)
}

// wired is a call that is connected to a wire.
func wired(t testing.TB, cfg Config, c codec) (*Conn, *wire, func()) {
	t.Helper()
	e, err := NewEngine(cfg)
	if err != nil {
		t.Fatal(err)
	}
	conn := newConn(e)
	w := &wire{keep: true}
	p := &peer{conn: conn, out: &track{}, writeRTCP: w.writeRTCP}
	p.out.bound.Store(&binding{writer: w, ssrc: 7, kind: 111, codec: c})
	conn.peer = p
	conn.connected(p)
	return conn, w, func() {
		conn.entry.Remove()
		conn.absent.Stop()
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

// queue is an [AudioSource] for tests.
type queue struct {
	mu      sync.Mutex
	samples []int16
	taken   int
}

func (q *queue) Read(dst []int16) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := copy(dst, q.samples)
	q.samples = q.samples[n:]
	q.taken += n
	return n
}

func (q *queue) put(s []int16) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.samples = append(q.samples, s...)
}

func (q *queue) clear() (taken int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.samples = nil
	return q.taken
}

func sine(rate int, hz float64, d time.Duration) []int16 {
	out := make([]int16, audio.Mono(rate).Samples(d))
	for i := range out {
		out[i] = int16(12000 * math.Sin(2*math.Pi*hz*float64(i)/float64(rate)))
	}
	return out
}

func TestAnHourOfACallHasEveryPacketWithItsTimestamp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, w, closeAll := wired(t, Config{Pacers: 1}, codecOpus)
		defer closeAll()
		q := &queue{}
		conn.Play(q)
		begin := time.Now()
		for range 60 {
			q.put(sine(24000, 440, 500*time.Millisecond))
			time.Sleep(time.Minute)
		}
		packets := w.sent()
		const want = int(time.Hour / (20 * time.Millisecond))
		if n := len(packets); n < want-1 || n > want+1 {
			t.Fatalf("%d packets in an hour, want %d ± 1", n, want)
		}
		for i, p := range packets {
			if i > 0 && (p.SequenceNumber != packets[i-1].SequenceNumber+1 || p.Timestamp != packets[i-1].Timestamp+960) {
				t.Fatalf("packet %d: number %d after %d, timestamp %d after %d", i,
					p.SequenceNumber, packets[i-1].SequenceNumber, p.Timestamp, packets[i-1].Timestamp)
			}
		}
		last := packets[len(packets)-1]
		played := time.Duration(last.Timestamp-packets[0].Timestamp) * time.Second / 48000
		if drift := (last.at.Sub(begin) - played).Abs(); drift > 20*time.Millisecond {
			t.Errorf("the timestamps are %v off after an hour", drift)
		}
		markers := 0
		for _, p := range packets {
			if p.Marker {
				markers++
			}
		}
		if markers != 60 && markers != 61 {
			t.Errorf("%d markers for 60 beginnings of speech", markers)
		}
		if n := len(w.reports); n < 718 || n > 721 {
			t.Errorf("%d reports in an hour, want one in 5 s", n)
		}
	})
}

// hold is a stream that keeps the pacer's goroutine busy once.
type hold struct {
	mu sync.Mutex
	d  time.Duration
}

func (h *hold) Tick(pacer.Tick) {
	h.mu.Lock()
	d := h.d
	h.d = 0
	h.mu.Unlock()
	time.Sleep(d)
}

func TestAMachineThatIsLateSendsNoBurstAndTellsTheTruthInTimestamps(t *testing.T) {
	for _, late := range []time.Duration{100 * time.Millisecond, 210 * time.Millisecond, 3 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			conn, w, closeAll := wired(t, Config{Pacers: 1}, codecOpus)
			defer closeAll()
			h := &hold{}
			entry := conn.engine.pacer.Add(h)
			defer entry.Remove()
			q := &queue{}
			conn.Play(q)
			q.put(sine(24000, 440, 10*time.Second))
			time.Sleep(time.Second)
			h.mu.Lock()
			h.d = late
			h.mu.Unlock()
			time.Sleep(5 * time.Second)
			packets := w.sent()
			for i := 1; i < len(packets); i++ {
				if d := packets[i].at.Sub(packets[i-1].at); d < 10*time.Millisecond {
					t.Fatalf("late by %v: two packets within %v", late, d)
				}
			}
			last := packets[len(packets)-1]
			played := time.Duration(last.Timestamp-packets[0].Timestamp) * time.Second / 48000
			if off := (last.at.Sub(packets[0].at) - played).Abs(); off > time.Millisecond {
				t.Errorf("late by %v: the timestamps are %v off", late, off)
			}
			skipped := int(conn.Stats().Skipped)
			if late < 200*time.Millisecond && skipped != 0 || late > 200*time.Millisecond && (skipped < int(late/(20*time.Millisecond))-2 || skipped > int(late/(20*time.Millisecond))) {
				t.Errorf("late by %v: %d slots were skipped", late, skipped)
			}
		})
	}
}

func TestAfterTheSourceIsClearedNoFurtherPacketHasItsSound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, w, closeAll := wired(t, Config{Pacers: 1}, codecOpus)
		defer closeAll()
		q := &queue{}
		conn.Play(q)
		q.put(sine(24000, 440, 30*time.Second)) // whatever is queued
		time.Sleep(time.Second + 7*time.Millisecond)
		taken := q.clear()
		decided := time.Now()
		time.Sleep(time.Second)
		if now := q.clear(); now != taken {
			t.Errorf("%d samples were sent after the decision", now-taken)
		}
		dec, err := opus.NewDecoder(audio.Mono(16000))
		if err != nil {
			t.Fatal(err)
		}
		var buf []int16
		after := 0
		for _, p := range w.sent() {
			if buf, err = dec.Decode(buf[:0], p.payload); err != nil {
				t.Fatal(err)
			}
			if !p.at.After(decided) {
				continue
			}
			// The first packet holds the few milliseconds that the codec looks
			// ahead; from the second on there is nothing.
			if after++; after > 1 && audio.Level(buf) > -50 {
				t.Fatalf("packet %d after the decision has a level of %.0f dB", after, audio.Level(buf))
			}
		}
		if after < 49 {
			t.Errorf("only %d packets in the second after the decision", after)
		}
	})
}

// TestSilenceThatIsNotEncodedSoundsLikeSilence has a decoder hear speech, a long pause
// and speech again.
func TestSilenceThatIsNotEncodedSoundsLikeSilence(t *testing.T) {
	cfg, err := Config{}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	enc, err := newEncoder(codecOpus, &cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	dec, err := opus.NewDecoder(audio.Mono(16000))
	if err != nil {
		t.Fatal(err)
	}
	var heard []int16
	packets := map[string]int{}
	play := func(samples []int16, silent bool) {
		for ; len(samples) >= 480; samples = samples[480:] {
			p, err := enc.encode(nil, samples[:480], silent)
			if err != nil {
				t.Fatal(err)
			}
			if silent {
				packets[string(p)]++
			}
			if heard, err = dec.Decode(heard, p); err != nil {
				t.Fatal(err)
			}
		}
	}
	second := make([]int16, 24000)
	play(second, true)
	for range 3 {
		play(sine(24000, 440, time.Second), false)
		play(second, true)
		play(second, true)
	}
	for s := range 10 {
		part := heard[s*16000+3200 : (s+1)*16000]
		level := audio.Level(part)
		if talks := s > 0 && s%3 == 1; talks != (level > -20) || !talks && level > -60 {
			t.Errorf("second %d has a level of %.1f dB", s, level)
		}
	}
	if repeated := packets[string(opusSilence[:])]; repeated != 50 {
		t.Errorf("%d packets of the first second needed no encoder", repeated)
	}
	most := 0
	for _, n := range packets {
		most = max(most, n)
	}
	if most < 3*(100-settleAfter) {
		t.Logf("packets of silence: %d kinds, the most frequent one %d times", len(packets), most)
	}
}

func TestTheVoiceFollowsTheCallersReports(t *testing.T) {
	conn, _, closeAll := wired(t, Config{Pacers: 1}, codecOpus)
	defer closeAll()
	now := time.Now()
	p := conn.peer
	tell := func(lost float64, times int) tuning {
		for range times {
			p.reports(now, []rtcp.ReceptionReport{{SSRC: 7, FractionLost: uint8(lost * 256)}, {SSRC: 99, FractionLost: 255}})
		}
		return unpack(conn.voice.wanted.Load())
	}
	if got := tell(0, 3); got != (tuning{bitrate: 32000}) {
		t.Errorf("without loss: %+v", got)
	}
	if got := tell(0.1, 20); got.loss < 9 || got.loss > 10 || got.bitrate >= 30000 || got.bitrate < 24000 {
		t.Errorf("with 10 %% loss: %+v", got)
	}
	if got := tell(0.5, 20); got.bitrate != 24000 {
		t.Errorf("with heavy loss: %+v", got)
	}
	if got := tell(0, 30); got != (tuning{bitrate: 32000}) {
		t.Errorf("when the loss is over: %+v", got)
	}
	sr := middle(now.Add(-100 * time.Millisecond))
	p.reports(now, []rtcp.ReceptionReport{{SSRC: 7, LastSenderReport: sr, Delay: 65536 / 20}})
	if rtt := conn.Stats().RTT; (rtt - 50*time.Millisecond).Abs() > time.Millisecond {
		t.Errorf("the round trip takes %v, want 50 ms", rtt)
	}
}
