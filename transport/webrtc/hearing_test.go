package webrtc

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/opus"
	"github.com/turnwise/turnwise/audio/wav"
	"github.com/turnwise/turnwise/frames"
)

// rawPacket is an RTP packet as it comes.
func rawPacket(dst []byte, kind uint8, seq uint16, ts uint32, payload []byte) []byte {
	dst = append(dst, 0x80, kind)
	dst = binary.BigEndian.AppendUint16(dst, seq)
	dst = binary.BigEndian.AppendUint32(dst, ts)
	dst = binary.BigEndian.AppendUint32(dst, 42)
	return append(dst, payload...)
}

// ear is a hearing and what it heard.
type ear struct {
	*hearing
	samples []int16
	now     time.Time
}

func newEar(t testing.TB) *ear {
	t.Helper()
	cfg, err := Config{}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	e := &ear{now: time.Unix(1789000000, 0)}
	e.hearing = newHearing(&Engine{cfg: cfg}, map[uint8]codec{111: codecOpus, 0: codecPCMU}, func(f *frames.InputAudioFrame) {
		if f.Rate != 16000 || f.Channels != 1 {
			t.Errorf("sound at %d Hz with %d channels", f.Rate, f.Channels)
		}
		e.samples = append(e.samples, f.Samples...)
	})
	return e
}

// encoded is the packets of a tone, of d each.
func encoded(t testing.TB, format audio.Format, d time.Duration, fec bool, n int) [][]byte {
	t.Helper()
	enc, err := opus.NewEncoder(opus.EncoderConfig{Format: format, Frame: d, FEC: fec, Loss: 10, Bitrate: 32000})
	if err != nil {
		t.Fatal(err)
	}
	mono := sine(format.Rate, 440, d*time.Duration(n))
	samples := audio.AppendSpread(nil, mono, format.Channels)
	size := format.Samples(d)
	var out [][]byte
	for i := range n {
		p, err := enc.Encode(nil, samples[i*size:(i+1)*size])
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
	return out
}

// turns counts a tone's waves by its rising zero crossings.
func turns(samples []int16) int {
	n := 0
	for i := 1; i < len(samples); i++ {
		if samples[i-1] < 0 && samples[i] >= 0 {
			n++
		}
	}
	return n
}

func TestEveryFormOfOpusBecomesMono16k(t *testing.T) { // RT45
	for _, c := range []struct {
		name   string
		format audio.Format
		frame  time.Duration
	}{
		{"stereo at 48 kHz", audio.Format{Rate: 48000, Channels: 2}, 20 * time.Millisecond},
		{"mono at 24 kHz", audio.Mono(24000), 20 * time.Millisecond},
		{"mono at 8 kHz", audio.Mono(8000), 20 * time.Millisecond},
		{"packets of 10 ms", audio.Mono(48000), 10 * time.Millisecond},
		{"packets of 60 ms", audio.Mono(16000), 60 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newEar(t)
			n := int(3 * time.Second / c.frame)
			for i, p := range encoded(t, c.format, c.frame, false, n) {
				ts := uint32(i) * uint32(c.frame*48000/time.Second)
				e.packet(e.now.Add(time.Duration(i)*c.frame), rawPacket(nil, 111, uint16(i), ts, p))
			}
			if len(e.samples) != 3*16000 {
				t.Fatalf("three seconds became %d samples", len(e.samples))
			}
			// 440 Hz ± 1 % in the two seconds in the middle.
			if got := turns(e.samples[8000:40000]); got < 871 || got > 889 {
				t.Errorf("%d waves in two seconds, want 880", got)
			}
			if e.own != (Stats{}) {
				t.Errorf("%+v", e.own)
			}
		})
	}
}

// lossy has an ear hear packets of 20 ms one in ten of which is lost. Each lost one is
// followed by one that comes, as a copy is only of the packet before.
func lossy(t *testing.T, packets [][]byte) *ear {
	t.Helper()
	e := newEar(t)
	rnd := rand.New(rand.NewPCG(5, 6))
	lost, last := 0, false
	for i, p := range packets {
		now := e.now.Add(time.Duration(i) * 20 * time.Millisecond)
		e.tick(now)
		if last = i > 0 && i < len(packets)-1 && !last && rnd.IntN(9) == 0; last {
			lost++
			continue
		}
		e.packet(now, rawPacket(nil, 111, uint16(i), uint32(i*960), p))
	}
	e.tick(e.now.Add(20 * time.Second))
	var st Stats
	e.add(&st)
	if st.Lost != uint64(lost) || st.Recovered+st.Concealed != st.Lost {
		t.Errorf("%d were lost, %+v", lost, st)
	}
	if heard := len(e.samples) - int(st.Filled*16000/time.Second); heard != len(packets)*320 {
		t.Errorf("%d samples of %d packets", heard, len(packets))
	}
	return e
}

func TestLostPacketsLeaveNoHoles(t *testing.T) {
	const n = 500
	e := lossy(t, encoded(t, audio.Mono(16000), 20*time.Millisecond, false, n))
	holes := 0
	for at := 3200; at+320 <= n*320; at += 320 {
		if audio.Level(e.samples[at:at+320]) < -30 {
			holes++
		}
	}
	if holes > 2 {
		t.Errorf("%d of %d pieces of a tone are silent; some 50 were lost", holes, n)
	}
}

func TestLostPacketsOfSpeechAreRecoveredFromTheNextOne(t *testing.T) {
	f, err := os.Open("../../audio/vad/silero/testdata/speech16k.wav")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	file, err := wav.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	speech, err := audio.ReadAll(file, 1<<24)
	if err != nil {
		t.Fatal(err)
	}
	enc, err := opus.NewEncoder(opus.EncoderConfig{Format: audio.Mono(16000), FEC: true, Loss: 10})
	if err != nil {
		t.Fatal(err)
	}
	var packets [][]byte
	copies := 0
	for ; len(speech) >= 320; speech = speech[320:] {
		p, err := enc.Encode(nil, speech[:320])
		if err != nil {
			t.Fatal(err)
		}
		packets = append(packets, p)
		if hasCopy(p) {
			copies++
		}
	}
	e := lossy(t, packets)
	var st Stats
	e.add(&st)
	share := float64(copies) / float64(len(packets))
	if got := float64(st.Recovered) / float64(st.Lost); share < 0.3 || got < share-0.2 {
		t.Errorf("%.0f %% of the packets hold a copy, and %.0f %% of %d lost ones were recovered", 100*share, 100*got, st.Lost)
	}
	t.Logf("%.0f %% of the packets hold a copy; %d of %d lost ones were recovered", 100*share, st.Recovered, st.Lost)
}

func TestPacketsThatAreNoneOfOursDoNoHarm(t *testing.T) {
	e := newEar(t)
	good := encoded(t, audio.Mono(16000), 20*time.Millisecond, false, 2)
	for _, raw := range [][]byte{
		nil, {0x80}, make([]byte, 11), make([]byte, 12),
		rawPacket(nil, 101, 1, 1, []byte{1, 2, 3, 4}),    // keypad tones
		rawPacket(nil, 111, 1, 1, nil),                   // padding alone
		append(rawPacket(nil, 111, 1, 1, nil), 255)[:13], // no payload to speak of
		{0xa0, 111, 0, 1, 0, 0, 0, 1, 0, 0, 0, 42, 200},  // more padding than there is
		{0x9f, 111, 0, 1, 0, 0, 0, 1, 0, 0, 0, 42},       // an extension beyond the end
	} {
		e.packet(e.now, raw)
	}
	if len(e.samples) != 0 {
		t.Errorf("%d samples of nothing", len(e.samples))
	}
	e.packet(e.now, rawPacket(nil, 111, 10, 960, good[0]))
	if len(e.samples) != 320 {
		t.Errorf("%d samples of one packet", len(e.samples))
	}
}

func TestTheCodecMayChangeDuringACall(t *testing.T) {
	e := newEar(t)
	for i, p := range encoded(t, audio.Mono(16000), 20*time.Millisecond, false, 10) {
		e.packet(e.now, rawPacket(nil, 111, uint16(i), uint32(i*960), p))
	}
	for i := range 10 {
		e.packet(e.now, rawPacket(nil, 0, uint16(i+10), uint32(i*160), make([]byte, 160)))
	}
	var st Stats
	e.add(&st)
	if st.Received != 20 || st.Lost != 0 || len(e.samples) < 20*320-100 {
		t.Errorf("%d samples, %+v", len(e.samples), st)
	}
}

func TestReportsTellWhatWasLost(t *testing.T) {
	e := newEar(t)
	p := encoded(t, audio.Mono(16000), 20*time.Millisecond, false, 1)[0]
	now := e.now
	for i := range 100 {
		now = now.Add(20 * time.Millisecond)
		e.tick(now)
		if i%4 != 2 {
			e.packet(now, rawPacket(nil, 111, uint16(65500+i), uint32(i*960), p))
		}
	}
	e.reported(42, 0x12345678, now)
	r := e.report(nil, now.Add(time.Second))[0]
	if r.SSRC != 42 || r.TotalLost != 25 || r.FractionLost < 60 || r.FractionLost > 68 {
		t.Errorf("%+v, want a quarter lost", r)
	}
	if r.LastSequenceNumber != 65599 || r.LastSenderReport != 0x12345678 || r.Delay != 65536 {
		t.Errorf("%+v", r)
	}
	if r := e.report(nil, now)[0]; r.FractionLost != 0 || r.TotalLost != 25 {
		t.Errorf("nothing came since: %+v", r)
	}
}
