package audio

import (
	"fmt"
	"time"
)

// NormaliserConfig sets up a [Normaliser]. Zero fields take their defaults.
type NormaliserConfig struct {
	// Format is the stream's shape. Required.
	Format Format
	// Target is the level in dBFS that speech is brought to. Default -20.
	Target float64
	// MaxGain is the largest gain in dB. Default 30. Gain never goes below -MaxGain.
	MaxGain float64
	// Floor is the level in dBFS below which a stretch is taken for background: it
	// neither raises nor lowers the gain. Default -60.
	Floor float64
}

// How fast the gain may move, in dB per second: down at once when a loud speaker
// follows a quiet one, up slowly so that pauses are not pumped up.
const (
	gainRise = 12.0
	gainFall = 120.0
)

// normaliserBlock is how much is measured before the gain moves.
const normaliserBlock = 10 * time.Millisecond

// Normaliser is a slow automatic gain: it brings quiet and loud speakers to about
// the same level, so that what comes after it (voice activity, a recognizer) can
// rely on one. The gain follows the level of what was heard and adds no delay; what
// would be too loud meanwhile is bent by [Limit]. Its output does not depend on how
// the stream is cut into pieces. Create it with [NewNormaliser].
type Normaliser struct {
	cfg      NormaliserConfig
	block    int     // samples in a block, all channels
	filled   int     // samples of the block seen
	energy   int64   // sum of squares of the block
	loudness float64 // mean square of speech, smoothed; 0 before any
	gain     float64 // dB at the end of the running block
	factor   float32 // at the current sample
	step     float32 // added to factor with every sample
}

// NewNormaliser returns a Normaliser with a gain of 0 dB, or an error that names
// the field that is out of range.
func NewNormaliser(cfg NormaliserConfig) (*Normaliser, error) {
	if err := cfg.Format.Validate(); err != nil {
		return nil, fmt.Errorf("normaliser: %w", err)
	}
	cfg.Target = orDefault(cfg.Target, -20)
	cfg.MaxGain = orDefault(cfg.MaxGain, 30)
	cfg.Floor = orDefault(cfg.Floor, -60)
	if cfg.Target > 0 || cfg.Target < SilenceLevel {
		return nil, fmt.Errorf("audio: NormaliserConfig.Target is %g dBFS; use -40 to -10", cfg.Target)
	}
	if cfg.MaxGain < 0 || cfg.MaxGain > 60 {
		return nil, fmt.Errorf("audio: NormaliserConfig.MaxGain is %g dB; use 0 to 60", cfg.MaxGain)
	}
	if cfg.Floor >= cfg.Target {
		return nil, fmt.Errorf("audio: NormaliserConfig.Floor %g dBFS is not below Target %g dBFS", cfg.Floor, cfg.Target)
	}
	n := &Normaliser{cfg: cfg, block: cfg.Format.Samples(normaliserBlock)}
	n.Reset()
	return n, nil
}

func orDefault(v, def float64) float64 {
	if v == 0 {
		return def
	}
	return v
}

// Process changes the samples in place. Pieces may have any length.
func (n *Normaliser) Process(samples []int16) {
	for i, s := range samples {
		n.energy += int64(s) * int64(s)
		samples[i] = Limit(float32(s) * n.factor)
		n.factor += n.step
		n.filled++
		if n.filled == n.block {
			n.endBlock()
		}
	}
}

// endBlock decides where the gain goes during the next block.
func (n *Normaliser) endBlock() {
	mean := float64(n.energy) / float64(n.block)
	n.filled, n.energy = 0, 0
	was := n.gain
	if powerLevel(mean) > n.cfg.Floor {
		n.follow(mean)
		want := n.cfg.Target - powerLevel(n.loudness)
		want = max(-n.cfg.MaxGain, min(n.cfg.MaxGain, want))
		seconds := normaliserBlock.Seconds()
		n.gain = max(was-gainFall*seconds, min(was+gainRise*seconds, want))
	}
	n.factor = float32(Amplitude(was))
	n.step = (float32(Amplitude(n.gain)) - n.factor) / float32(n.block)
}

// follow moves the remembered loudness towards a block's: in about 50 ms when it
// is louder, in about a second when it is quieter, so that it stays with the loud
// parts of speech.
func (n *Normaliser) follow(mean float64) {
	share := 0.01
	switch {
	case n.loudness == 0:
		share = 1
	case mean > n.loudness:
		share = 0.2
	}
	n.loudness += (mean - n.loudness) * share
}

// Gain is the present gain in dB.
func (n *Normaliser) Gain() float64 { return n.gain }

// Reset forgets the stream: the gain is 0 dB again.
func (n *Normaliser) Reset() {
	*n = Normaliser{cfg: n.cfg, block: n.block, factor: 1}
}
