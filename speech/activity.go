package speech

import (
	"fmt"
	"time"

	"github.com/turnwise/turnwise/audio/resample"
	"github.com/turnwise/turnwise/audio/vad"
	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
)

// The roles of the processors that listen, in a pipeline's wiring.
const (
	RoleActivity    = "voice activity"
	RoleRecognition = "recognition"
	RoleTurns       = "turn taking"
)

// ActivityConfig is an [Activity]'s settings. Detector is required.
type ActivityConfig struct {
	// Detector judges the audio. It belongs to this session.
	Detector vad.Detector
	// Params say when sound counts as speech; zero fields have their defaults.
	Params vad.Params
	// LostAfter is how long no audio may come in before speech counts as over, as
	// when the microphone is switched off in mid-sentence; the default is 1 s.
	LostAfter time.Duration
	// Filters shares the filters of sample rate conversion between sessions; nil
	// makes them for this one.
	Filters *resample.Filters
}

// Activity finds in the microphone's audio where somebody speaks. It pushes
// VADStartedFrame and VADStoppedFrame, each behind the audio that it was found in,
// and passes the audio on. Audio of any rate and number of channels is taken.
//
// It judges on the session loop, so a detector has to be fast: package
// audio/vad/silero takes some 0.2 ms for 32 ms of sound.
type Activity struct {
	pipeline.Base
	cfg     ActivityConfig
	machine *vad.Machine
	mono    monoStream
	last    time.Time // when audio came in
	lost    *pipeline.Timer
	warned  bool
}

// NewActivity makes the processor.
func NewActivity(cfg ActivityConfig) (*Activity, error) {
	if cfg.Detector == nil {
		return nil, fmt.Errorf("%w: ActivityConfig.Detector is required", ErrConfig)
	}
	m, err := vad.NewMachine(cfg.Detector, cfg.Params)
	if err != nil {
		return nil, fmt.Errorf("%w: ActivityConfig: %w", ErrConfig, err)
	}
	setDefault(&cfg.LostAfter, time.Second)
	if cfg.Filters == nil {
		cfg.Filters = &resample.Filters{}
	}
	return &Activity{cfg: cfg, machine: m, mono: monoStream{rate: cfg.Detector.Rate(), filters: cfg.Filters}}, nil
}

// Name is "voice activity".
func (*Activity) Name() string { return RoleActivity }

// Wiring places it in front of those that listen.
func (*Activity) Wiring() pipeline.Wiring {
	return pipeline.Wiring{Role: RoleActivity, Single: true, Before: []string{RoleRecognition, RoleTurns, roleUserAggregator}}
}

// Process judges microphone audio and passes everything on.
func (a *Activity) Process(f frames.Frame, dir pipeline.Direction) {
	var events []vad.Event
	if dir == pipeline.Downstream {
		switch f := f.(type) {
		case *frames.InputAudioFrame:
			events = a.judge(&f.PCM)
		case *TurnSettingsFrame:
			a.settings(f.Settings)
		}
	}
	a.Push(f, dir)
	for _, e := range events {
		a.event(e)
	}
}

func (a *Activity) judge(pcm *frames.PCM) []vad.Event {
	samples, err := a.mono.take(pcm)
	if err != nil {
		if !a.warned {
			a.warned = true
			a.Logger().Warn("microphone audio is ignored", "err", err)
		}
		return nil
	}
	events := a.machine.Feed(samples)
	if a.machine.Speaking() {
		a.last = time.Now()
	}
	return events
}

func (a *Activity) event(e vad.Event) {
	switch {
	case e.Started():
		a.last = time.Now()
		a.watch(a.cfg.LostAfter)
		a.Push(&frames.VADStartedFrame{Ago: e.At - e.Since}, pipeline.Downstream)
	case e.Stopped():
		a.lost.Stop()
		a.Push(&frames.VADStoppedFrame{Ago: e.At - e.Since}, pipeline.Downstream)
	}
}

// watch ends speech whose audio does not go on.
func (a *Activity) watch(after time.Duration) {
	if a.lost != nil {
		a.lost.Reset(after)
		return
	}
	a.lost = a.After(pipeline.SessionScope, after, func() {
		silent := time.Since(a.last)
		if silent < a.cfg.LostAfter {
			a.lost.Reset(a.cfg.LostAfter - silent)
			return
		}
		if e, ok := a.machine.Stop(); ok && e.Stopped() {
			a.Push(&frames.VADStoppedFrame{Ago: silent + e.At - e.Since}, pipeline.Downstream)
		}
	})
}

// settings changes when sound counts as speech.
func (a *Activity) settings(s *TurnSettings) {
	params := a.cfg.Params
	if s != nil && s.Activity != nil {
		params = *s.Activity
	}
	if err := a.machine.SetParams(params); err != nil {
		a.Logger().Error("settings for voice activity are ignored", "err", err)
	}
}
