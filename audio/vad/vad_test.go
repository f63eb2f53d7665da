package vad_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/resample"
	"github.com/turnwise/turnwise/audio/vad"
)

// scripted says what its script says, a letter a window of 10 ms at 8 kHz: s for
// speech, anything else for none. After the script it says none.
type scripted struct {
	script string
	heard  int
	sizes  map[int]bool
}

func (d *scripted) Rate() int   { return 8000 }
func (d *scripted) Window() int { return 80 }
func (d *scripted) Reset()      { d.heard = 0 }
func (d *scripted) Confidence(window []int16) float32 {
	if d.sizes == nil {
		d.sizes = make(map[int]bool)
	}
	d.sizes[len(window)] = true
	d.heard++
	if d.heard <= len(d.script) && d.script[d.heard-1] == 's' {
		return 0.9
	}
	return 0.1
}

func machine(t testing.TB, d vad.Detector, p vad.Params) *vad.Machine {
	t.Helper()
	m, err := vad.NewMachine(d, p)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// loud is sound of -20 dBFS.
func loud(t testing.TB, rate, n int) []int16 {
	t.Helper()
	tone, err := audio.NewTone(audio.Mono(rate), 300, -20)
	if err != nil {
		t.Fatal(err)
	}
	s := make([]int16, n)
	if _, err := tone.Read(s); err != nil {
		t.Fatal(err)
	}
	return s
}

// describe writes events as "starting@30/20": state, decided at, since, in ms.
func describe(events []vad.Event) string {
	var b strings.Builder
	for i, e := range events {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%v@%d/%d", e.To, e.At.Milliseconds(), e.Since.Milliseconds())
	}
	return b.String()
}

func TestMachineHearsUtterances(t *testing.T) {
	p := vad.Params{Start: ms(30), Stop: ms(40)}
	for _, c := range []struct{ name, script, want string }{
		{"silence changes nothing", "..........", ""},
		{"a click is not speech", "..s.......", "starting@30/20 quiet@40/30"},
		{"speech that lasts", "..ssssss......", "starting@30/20 speaking@50/20 stopping@90/80 quiet@120/80"},
		{"a short pause is no end", ".sssss...sss.....", "starting@20/10 speaking@40/10 stopping@70/60 speaking@100/90 stopping@130/120 quiet@160/120"},
		{"two clicks do not add up", "ss.ss.....", "starting@10/0 quiet@30/20 starting@40/30 quiet@60/50"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := machine(t, &scripted{script: c.script}, p)
			events := slices.Clone(m.Feed(loud(t, 8000, 80*len(c.script))))
			if got := describe(events); got != c.want {
				t.Errorf("heard %s\nwant  %s", got, c.want)
			}
			for i, e := range events {
				if i > 0 && events[i-1].To != e.From {
					t.Errorf("event %d comes from %v after %v", i, e.From, events[i-1].To)
				}
			}
		})
	}
}

func TestStartedAndStoppedMarkEachUtteranceOnce(t *testing.T) {
	script := ".s.ssss..ss.sss....ss......sssssss........"
	m := machine(t, &scripted{script: script}, vad.Params{Start: ms(30), Stop: ms(30)})
	var marks []string
	for _, e := range m.Feed(loud(t, 8000, 80*len(script))) {
		if e.Started() {
			marks = append(marks, "started")
		}
		if e.Stopped() {
			marks = append(marks, "stopped")
		}
	}
	if want := []string{"started", "stopped", "started", "stopped"}; !slices.Equal(marks, want) {
		t.Errorf("got %v, want %v", marks, want)
	}
}

func TestDefaultsAreTheConversationsUsual(t *testing.T) {
	m := machine(t, &scripted{script: strings.Repeat("s", 60)}, vad.Params{})
	events := m.Feed(loud(t, 8000, 80*100))
	want := "starting@10/0 speaking@200/0 stopping@610/600 quiet@800/600"
	if got := describe(events); got != want {
		t.Errorf("heard %s\nwant  %s", got, want)
	}
	if p := m.Params(); p != vad.DefaultParams() {
		t.Errorf("params %+v", p)
	}
}

func TestFaintSpeechIsNotForUs(t *testing.T) {
	script := strings.Repeat("s", 60)
	faint := loud(t, 8000, 80*60)
	audio.Gain(faint, -35) // -55 dBFS, volume 0.55
	if events := machine(t, &scripted{script: script}, vad.Params{}).Feed(faint); len(events) != 0 {
		t.Errorf("heard %s", describe(events))
	}
	if events := machine(t, &scripted{script: script}, vad.Params{MinVolume: -1}).Feed(faint); len(events) == 0 {
		t.Error("without a least volume nothing is heard")
	}
}

func TestEventsDoNotDependOnPieces(t *testing.T) {
	script := "..ssssssss.sssssss.........ss...ssssssss........"
	in := loud(t, 8000, 80*len(script))
	p := vad.Params{Start: ms(30), Stop: ms(40)}
	want := describe(machine(t, &scripted{script: script}, p).Feed(in))
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 3))
		d := &scripted{script: script}
		m := machine(t, d, p)
		var events []vad.Event
		for rest := in; len(rest) > 0; {
			n := min(len(rest), r.IntN(300))
			events = append(events, m.Feed(rest[:n])...)
			rest = rest[n:]
		}
		if got := describe(events); got != want {
			t.Errorf("seed %d: heard %s\nwant %s", seed, got, want)
		}
		if len(d.sizes) != 1 || !d.sizes[80] {
			t.Errorf("seed %d: windows of %v samples", seed, d.sizes)
		}
	}
}

// TestTelephoneAudioIsJudgedWhole: 20 ms pieces of 8 kHz, resampled to 16 kHz, come
// as 0 to 321 samples; the machine takes them all, and a window with every 512.
func TestTelephoneAudioIsJudgedWhole(t *testing.T) { // RT47
	d, err := vad.NewEnergy(16000)
	if err != nil {
		t.Fatal(err)
	}
	counted := &counting{Detector: d}
	m := machine(t, counted, vad.Params{})
	r, err := resample.New(8000, 16000, 1)
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	in := loud(t, 8000, 160*100)
	for ; len(in) > 0; in = in[160:] {
		out := r.Append(nil, in[:160])
		total += len(out)
		m.Feed(out)
		m.Feed(nil)
		if counted.windows != total/512 {
			t.Fatalf("%d windows after %d samples", counted.windows, total)
		}
	}
	if !m.Speaking() {
		t.Error("two seconds of sound are not heard")
	}
}

type counting struct {
	vad.Detector
	windows int
}

func (c *counting) Confidence(window []int16) float32 {
	c.windows++
	return c.Detector.Confidence(window)
}

func TestStopEndsSpeechFromOutside(t *testing.T) {
	m := machine(t, &scripted{script: "ssssssss"}, vad.Params{Start: ms(20), Stop: ms(20)})
	if _, ok := m.Stop(); ok {
		t.Error("stopping in silence is an event")
	}
	m.Feed(loud(t, 8000, 80*5+7))
	e, ok := m.Stop()
	if !ok || !e.Stopped() || e.Since != ms(50) || m.State() != vad.Quiet || m.Confidence() != 0 {
		t.Errorf("event %+v, %v, state %v", e, ok, m.State())
	}
	if events := m.Feed(loud(t, 8000, 80)); describe(events) != "starting@60/50" {
		t.Errorf("afterwards heard %s", describe(events))
	}
}

func TestParamsChangeBetweenNodes(t *testing.T) {
	m := machine(t, &scripted{script: "ssssssss"}, vad.Params{Start: ms(20), Stop: ms(20)})
	m.Feed(loud(t, 8000, 80*8))
	if err := m.SetParams(vad.Params{Start: ms(20), Stop: ms(100)}); err != nil {
		t.Fatal(err)
	}
	if got := describe(m.Feed(loud(t, 8000, 80*12))); got != "stopping@90/80 quiet@180/80" {
		t.Errorf("heard %s", got)
	}
	m.Reset()
	if m.State() != vad.Quiet || m.Volume() != 0 {
		t.Errorf("after Reset: %v, volume %v", m.State(), m.Volume())
	}
	if got := describe(m.Feed(loud(t, 8000, 80))); got != "starting@10/0" {
		t.Errorf("after Reset heard %s", got)
	}
}

func TestParamsOutOfRangeAreNamed(t *testing.T) {
	for field, p := range map[string]vad.Params{
		"Confidence": {Confidence: 1.5},
		"Start":      {Start: -1},
		"Stop":       {Stop: time.Hour},
		"MinVolume":  {MinVolume: 2},
		"Smoothing":  {Smoothing: 1},
	} {
		_, err := vad.NewMachine(&scripted{}, p)
		if !errors.Is(err, vad.ErrParams) || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: error %v", field, err)
		}
		if err := machine(t, &scripted{}, vad.Params{}).SetParams(p); !errors.Is(err, vad.ErrParams) {
			t.Errorf("SetParams with a bad %s: error %v", field, err)
		}
	}
}

func TestEnergyHearsWhatStandsOut(t *testing.T) {
	e, err := vad.NewEnergy(16000)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	hum := func() []int16 { // about -50 dBFS
		s := make([]int16, e.Window())
		for i := range s {
			s[i] = int16(r.NormFloat64() * 104)
		}
		return s
	}
	for range 5 * 31 { // five seconds to learn the background
		e.Confidence(hum())
	}
	if c := e.Confidence(hum()); c > 0.2 {
		t.Errorf("the background has confidence %.2f", c)
	}
	for range 31 { // a second of speech does not become background
		if c := e.Confidence(loud(t, 16000, e.Window())); c < 0.9 {
			t.Fatalf("speech has confidence %.2f", c)
		}
	}
	if c := e.Confidence(hum()); c > 0.3 {
		t.Errorf("after speech the background has confidence %.2f", c)
	}
	e.Reset()
	if c := e.Confidence(make([]int16, e.Window())); c != 0 {
		t.Errorf("silence has confidence %.2f", c)
	}
	if _, err := vad.NewEnergy(0); !errors.Is(err, audio.ErrFormat) {
		t.Errorf("a rate of 0 gives %v", err)
	}
}

func TestFeedAllocatesNothing(t *testing.T) {
	e, err := vad.NewEnergy(16000)
	if err != nil {
		t.Fatal(err)
	}
	m := machine(t, e, vad.Params{})
	in := append(loud(t, 16000, 8000), make([]int16, 8000)...)
	m.Feed(in)
	at := 0
	if n := testing.AllocsPerRun(200, func() {
		m.Feed(in[at : at+320])
		at = (at + 320) % (len(in) - 320)
	}); n != 0 {
		t.Errorf("%v allocations a piece", n)
	}
}
