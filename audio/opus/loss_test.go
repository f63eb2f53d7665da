package opus_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/opus"
)

// difference is the level of the difference of two signals relative to the first's.
func difference(want, got []int16) float64 {
	d := make([]int16, len(want))
	for i := range d {
		d[i] = audio.Clip(float32(want[i]) - float32(got[i]))
	}
	return audio.Level(d) - audio.Level(want)
}

func TestLossIsConcealed(t *testing.T) {
	format := audio.Mono(16000)
	packets := encodeAll(t, opus.EncoderConfig{Format: format}, tone(t, format, 440, 2*time.Second))
	want := decodeAll(t, format, packets)
	for i := 9; i < len(packets); i += 10 {
		packets[i] = nil
	}
	got := decodeAll(t, format, packets)
	if len(got) != len(want) {
		t.Fatalf("%d samples, want %d", len(got), len(want))
	}
	if d := difference(want, got); d > -6 {
		t.Errorf("10 %% loss of a tone leaves a difference of %.1f dB", d)
	}
}

func TestConcealmentFadesToSilence(t *testing.T) {
	format := audio.Mono(48000)
	packets := encodeAll(t, opus.EncoderConfig{Format: format}, tone(t, format, 440, 200*time.Millisecond))
	got := decodeAll(t, format, append(packets, make([][]byte, 50)...))
	if n := format.Samples(1200 * time.Millisecond); len(got) != n {
		t.Errorf("%d samples, want %d", len(got), n)
	}
	if level := audio.Level(got[len(got)-4800:]); level > -50 {
		t.Errorf("a second after the last packet there is sound of %.1f dBFS", level)
	}
}

func TestLossBeforeTheFirstPacketIsSilence(t *testing.T) {
	got := decodeAll(t, audio.Mono(16000), make([][]byte, 3))
	if len(got) != 960 || audio.Peak(got) != 0 {
		t.Errorf("%d samples, peak %d", len(got), audio.Peak(got))
	}
}

func TestFECRecoversWhatConcealmentCannot(t *testing.T) {
	format := audio.Mono(16000)
	s := speech(t, 16000)
	packets := encodeAll(t, opus.EncoderConfig{Format: format, Bitrate: 32000, FEC: true, Loss: 20}, s)
	want := decodeAll(t, format, packets)
	plain, recovering := decoder(t, format), decoder(t, format)
	var concealed, recovered []int16
	for i := range packets {
		var err error
		if i%5 != 4 {
			concealed, err = plain.Decode(concealed, packets[i])
			if err == nil {
				recovered, err = recovering.Decode(recovered, packets[i])
			}
		} else {
			concealed, err = plain.Decode(concealed, nil)
			if err == nil && i+1 < len(packets) {
				recovered, err = recovering.Recover(recovered, packets[i+1])
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	n := min(len(want), len(concealed), len(recovered))
	c, r := difference(want[:n], concealed[:n]), difference(want[:n], recovered[:n])
	t.Logf("20 %% loss: difference %.1f dB concealed, %.1f dB recovered", c, r)
	if r > c-2 {
		t.Errorf("recovering leaves %.1f dB, concealing %.1f dB", r, c)
	}
}

func TestRecoverWithoutACopyConceals(t *testing.T) {
	format := audio.Mono(16000)
	packets := encodeAll(t, opus.EncoderConfig{Format: format}, tone(t, format, 440, time.Second))
	d := decoder(t, format)
	var out []int16
	for _, p := range packets[:10] {
		var err error
		if out, err = d.Decode(out, p); err != nil {
			t.Fatal(err)
		}
	}
	out, err := d.Recover(out, packets[11])
	if err != nil {
		t.Fatal(err)
	}
	if len(out) != 11*320 || audio.Level(out[10*320:]) < -25 {
		t.Errorf("%d samples, level %.1f dBFS", len(out), audio.Level(out[10*320:]))
	}
	if _, err := d.Recover(nil, nil); !errors.Is(err, opus.ErrPacket) {
		t.Errorf("an empty next packet gives %v", err)
	}
}

func TestDTXStopsSendingInSilence(t *testing.T) {
	format := audio.Mono(16000)
	s := append(speech(t, 16000), make([]int16, 2*16000)...)
	packets := encodeAll(t, opus.EncoderConfig{Format: format, DTX: true}, s)
	silent := 0
	for _, p := range packets[len(packets)-50:] {
		if opus.Silent(p) {
			silent++
		}
	}
	if silent < 40 {
		t.Errorf("%d of the last 50 packets of silence need not be sent", silent)
	}
	for _, p := range packets[45:100] {
		if opus.Silent(p) {
			t.Error("a packet in the middle of speech is not sent")
			break
		}
	}
	for i, p := range packets { // what is not sent is lost to the decoder
		if opus.Silent(p) {
			packets[i] = nil
		}
	}
	got := decodeAll(t, format, packets)
	if len(got) != len(s)/320*320 {
		t.Errorf("%d samples, want %d", len(got), len(s))
	}
	if level := audio.Level(got[len(got)-8000:]); level > -60 {
		t.Errorf("the silence has %.1f dBFS", level)
	}
}

func TestGarbageIsAnErrorAndTheStreamGoesOn(t *testing.T) {
	format := audio.Mono(48000)
	packets := encodeAll(t, opus.EncoderConfig{Format: format}, tone(t, format, 440, time.Second))
	d := decoder(t, format)
	r := rand.New(rand.NewPCG(1, 1))
	for i, p := range packets {
		garbage := make([]byte, r.IntN(100))
		for k := range garbage {
			garbage[k] = byte(r.Uint32())
		}
		before := []int16{1, 2, 3}
		if out, err := d.Decode(before, garbage); err != nil && (!errors.Is(err, opus.ErrPacket) || len(out) != 3) {
			t.Fatalf("packet %d: %d samples, %v", i, len(out), err)
		}
		if out, err := d.Decode(nil, p); err != nil || len(out) != 960 {
			t.Fatalf("good packet %d after garbage: %d samples, %v", i, len(out), err)
		}
	}
	for name, p := range map[string][]byte{"empty": {}, "no count": {3}, "no frames": {3, 0}, "too many frames": {3<<3 | 3, 48}} {
		if _, err := d.Decode(nil, p); !errors.Is(err, opus.ErrPacket) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func FuzzDecoder(f *testing.F) {
	for _, cfg := range []opus.EncoderConfig{
		{Format: audio.Mono(16000), FEC: true, Loss: 10},
		{Format: audio.Format{Rate: 48000, Channels: 2}, Music: true, Bitrate: 96000},
		{Format: audio.Mono(24000), DTX: true},
	} {
		packets := encodeAll(f, cfg, tone(f, cfg.Format, 440, 60*time.Millisecond))
		f.Add(packets[0], packets[2])
	}
	f.Add([]byte{3, 0}, []byte{0xff, 0x7f, 1})
	f.Fuzz(func(t *testing.T, first, second []byte) {
		d := decoder(t, audio.Mono(16000))
		for _, p := range [][]byte{first, second} {
			if p == nil {
				p = []byte{}
			}
			out, err := d.Decode(nil, p)
			if err != nil && !errors.Is(err, opus.ErrPacket) {
				t.Fatalf("error %v does not wrap ErrPacket", err)
			}
			if duration, e := opus.Duration(p); err == nil && (e != nil || len(out) != audio.Mono(16000).Samples(duration)) {
				t.Fatalf("%d samples, but the packet says %v, %v", len(out), duration, e)
			}
			if _, err := d.Recover(nil, p); err != nil && !errors.Is(err, opus.ErrPacket) {
				t.Fatalf("error %v does not wrap ErrPacket", err)
			}
			if out, err := d.Decode(nil, nil); err == nil && len(out) == 0 {
				t.Fatal("nothing concealed")
			}
		}
	})
}
