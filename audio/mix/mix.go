// Package mix puts background sound under speech: hold music, the hum of an office,
// a typing noise while the bot thinks.
//
// The background steps back while speech plays (ducking), starts and stops with a
// short fade, and the sum is limited softly rather than cut. Sample k of the
// background falls on sample k of the stream, however it is cut into pieces.
package mix

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/turnwise/turnwise/audio"
)

// Config sets up a [Mixer]. Zero fields other than Format take their defaults.
type Config struct {
	// Format is that of the stream and of every background. Required.
	Format audio.Format
	// Threshold is the level in dBFS from which a sample of the stream counts as
	// speech. Default -50.
	Threshold float64
	// Attack is about how long the background takes to step back when speech begins.
	// Default 30 ms.
	Attack time.Duration
	// Hold is how long speech must pause before the background returns. Default
	// 400 ms, longer than the pauses between words.
	Hold time.Duration
	// Release is about how long the return takes. Default 400 ms.
	Release time.Duration
	// Fade is how long a background fades in and out. Default 50 ms.
	Fade time.Duration
}

// Track is a background sound.
type Track struct {
	// Source gives the sound, in the mixer's format. It is read as the stream goes
	// on, by [Mixer.Mix], so it must not block. See [NewLoop] for one without end.
	Source audio.Source
	// Gain changes its level, in dB; -20 suits recordings of ordinary level.
	Gain float64
	// Duck is how much quieter it gets while speech plays, in dB, 0 or more.
	Duck float64
}

// Mixer adds a background to one stream. It is used by one goroutine at a time.
// Create it with [New].
type Mixer struct {
	format    audio.Format
	threshold int16
	hold      int     // sample times
	attack    float32 // share of the way to go in each sample time
	release   float32
	fade      float32 // change of a voice's level in each sample time

	playing, leaving *voice
	quiet            int     // sample times since speech
	ducked           float32 // 0 not at all, 1 wholly

	course []float32 // how far the piece's sample times are ducked
	sum    []float32 // the piece's background
	buf    []int16
}

// voice is a track that is being played.
type voice struct {
	track     Track
	gain      float32 // amplitude
	duck      float32 // further amplitude while ducked
	level     float32 // of the fade, 0 to 1
	direction float32 // of the fade: +1 in, -1 out
}

// New returns a Mixer without a background. The error names the field that is out of
// range.
func New(cfg Config) (*Mixer, error) {
	if err := cfg.Format.Validate(); err != nil {
		return nil, fmt.Errorf("mix: %w", err)
	}
	if cfg.Threshold == 0 {
		cfg.Threshold = -50
	}
	if cfg.Threshold > 0 {
		return nil, fmt.Errorf("mix: Config.Threshold is %g dBFS; use -70 to -30", cfg.Threshold)
	}
	for _, d := range []struct {
		name  string
		value *time.Duration
		def   time.Duration
	}{
		{"Attack", &cfg.Attack, 30 * time.Millisecond},
		{"Hold", &cfg.Hold, 400 * time.Millisecond},
		{"Release", &cfg.Release, 400 * time.Millisecond},
		{"Fade", &cfg.Fade, 50 * time.Millisecond},
	} {
		if *d.value < 0 || *d.value > time.Minute {
			return nil, fmt.Errorf("mix: Config.%s is %v; use 0 to 1m", d.name, *d.value)
		}
		if *d.value == 0 {
			*d.value = d.def
		}
	}
	rate := float64(cfg.Format.Rate)
	approach := func(d time.Duration) float32 {
		return float32(-math.Expm1(-3 / max(1, d.Seconds()*rate))) // 95 % of the way in d
	}
	hold := int(cfg.Hold.Seconds() * rate)
	return &Mixer{
		format:    cfg.Format,
		threshold: int16(audio.Amplitude(cfg.Threshold) * math.MaxInt16),
		hold:      hold,
		attack:    approach(cfg.Attack),
		release:   approach(cfg.Release),
		fade:      float32(1 / max(1, cfg.Fade.Seconds()*rate)),
		quiet:     hold,
	}, nil
}

// Format is that of the stream.
func (m *Mixer) Format() audio.Format { return m.format }

// Play starts a background with the next sample. One that is playing fades out
// meanwhile. The error says what is wrong with the track.
func (m *Mixer) Play(track Track) error {
	if track.Source == nil {
		return errors.New("mix: Track.Source is missing")
	}
	if f := track.Source.Format(); f != m.format {
		return fmt.Errorf("mix: the background has %v, the stream %v; convert it first", f, m.format)
	}
	if track.Duck < 0 {
		return fmt.Errorf("mix: Track.Duck is %g dB; use 0 or more", track.Duck)
	}
	m.Stop()
	m.playing = &voice{
		track:     track,
		gain:      float32(audio.Amplitude(track.Gain)),
		duck:      float32(audio.Amplitude(-track.Duck)),
		direction: 1,
	}
	return nil
}

// Stop fades the background out.
func (m *Mixer) Stop() {
	if m.playing != nil {
		m.leaving, m.playing = m.playing, nil
		m.leaving.direction = -1
	}
}

// Playing reports whether a background plays that has not been stopped and has not
// come to its end.
func (m *Mixer) Playing() bool { return m.playing != nil }

// Mix adds the background to the samples, in place: the next piece of the stream,
// with whole sample times, silence where nobody speaks. Without a background the
// samples stay as they are. A background that fails is stopped, and the failure
// returned; the samples are good all the same.
func (m *Mixer) Mix(samples []int16) error {
	samples = samples[:len(samples)-len(samples)%m.format.Channels]
	if len(samples) == 0 || m.playing == nil && m.leaving == nil {
		return nil
	}
	m.follow(samples)
	m.sum = slices.Grow(m.sum[:0], len(samples))[:len(samples)]
	clear(m.sum)
	err := m.add(&m.leaving)
	if playErr := m.add(&m.playing); playErr != nil {
		err = playErr
	}
	for i, b := range m.sum {
		if b != 0 {
			samples[i] = audio.Limit(float32(samples[i]) + b)
		}
	}
	return err
}

// follow works out how far to duck at each sample time.
func (m *Mixer) follow(samples []int16) {
	m.course = m.course[:0]
	for ; len(samples) > 0; samples = samples[m.format.Channels:] {
		m.quiet++
		for _, s := range samples[:m.format.Channels] {
			if s >= m.threshold || s <= -m.threshold {
				m.quiet = 0
			}
		}
		if m.quiet < m.hold {
			m.ducked += (1 - m.ducked) * m.attack
		} else if m.ducked -= m.ducked * m.release; m.ducked < 1e-6 {
			m.ducked = 0 // numbers much smaller are slow to compute with
		}
		m.course = append(m.course, m.ducked)
	}
}

// add adds a voice to the sum, and drops it at its end.
func (m *Mixer) add(slot **voice) error {
	v := *slot
	if v == nil {
		return nil
	}
	n, err := m.read(v.track.Source, len(m.sum))
	for i := 0; i < n; i += m.format.Channels {
		gain := v.gain * v.level * (1 - m.course[i/m.format.Channels]*(1-v.duck))
		for c := range m.format.Channels {
			m.sum[i+c] += gain * float32(m.buf[i+c])
		}
		v.level = max(0, min(1, v.level+v.direction*m.fade))
	}
	if err != nil || v.direction < 0 && v.level == 0 {
		*slot = nil
	}
	if err == nil || err == io.EOF {
		return nil
	}
	return fmt.Errorf("mix: background: %w", err)
}

// read fills the buffer with n samples of the source, or fewer and an error.
func (m *Mixer) read(source audio.Source, n int) (int, error) {
	if len(m.buf) < n {
		m.buf = make([]int16, n)
	}
	have := 0
	for have < n {
		k, err := source.Read(m.buf[have:n])
		have += k
		if err != nil {
			return have, err
		}
		if k == 0 {
			return have, io.ErrNoProgress
		}
	}
	return have, nil
}
