package speech_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/turnwise/turnwise/audio/vad"
	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/pipeline"
	"github.com/turnwise/turnwise/speech"
)

func TestConfigurationsNameWhatIsWrong(t *testing.T) {
	turns := func(s speech.TurnSettings) error {
		_, err := speech.NewTurns(speech.TurnsConfig{Settings: s})
		return err
	}
	second := func(_ any, err error) error { return err }
	cases := map[string]error{
		"PlayoutConfig.Buffer":          second(speech.NewPlayout(speech.PlayoutConfig{Rate: rate})),
		"PlayoutConfig.Rate":            second(speech.NewPlayout(speech.PlayoutConfig{Buffer: &speech.Buffer{}})),
		"PlayoutConfig.Ahead":           second(speech.NewPlayout(speech.PlayoutConfig{Buffer: &speech.Buffer{}, Rate: rate, Ahead: -1})),
		"SynthesisConfig.Synthesizer":   second(speech.NewSynthesis(speech.SynthesisConfig{})),
		"RecognitionConfig.Recognizer":  second(speech.NewRecognition(speech.RecognitionConfig{})),
		"SegmentedConfig.Transcriber":   second(speech.NewSegmented(speech.SegmentedConfig{})),
		"SegmentedConfig: Rate":         second(speech.NewSegmented(speech.SegmentedConfig{Transcriber: &scribe{}, Rate: -1})),
		"ActivityConfig.Detector":       second(speech.NewActivity(speech.ActivityConfig{})),
		"Confidence":                    second(speech.NewActivity(speech.ActivityConfig{Detector: loud{}, Params: vad.Params{Confidence: 2}})),
		"RepromptConfig":                second(speech.NewReprompt(speech.RepromptConfig{})),
		"TurnsConfig.Latency":           second(speech.NewTurns(speech.TurnsConfig{Latency: -1})),
		"TurnSettings.Watchdog":         turns(speech.TurnSettings{Watchdog: -1}),
		"TurnSettings.Noise":            turns(speech.TurnSettings{Noise: -1}),
		"TurnSettings.FalseAlarm":       turns(speech.TurnSettings{FalseAlarm: -1}),
		"TurnSettings.Recovery":         turns(speech.TurnSettings{Recovery: 99}),
		"TurnSettings.Activity: vad: i": turns(speech.TurnSettings{Activity: &vad.Params{Start: -1}}),
	}
	for name, err := range cases {
		if !errors.Is(err, speech.ErrConfig) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAChainInTheWrongOrderIsRefused(t *testing.T) {
	convo := frames.NewLLMContext("")
	activity := must(speech.NewActivity(speech.ActivityConfig{Detector: loud{}}))
	hearing := must(speech.NewRecognition(speech.RecognitionConfig{Recognizer: &hearing{}}))
	turns := must(speech.NewTurns(speech.TurnsConfig{}))
	user := llm.NewUserAggregator(convo)
	service := must(llm.NewService(llm.Config{Model: &model{}, Context: convo}))
	synthesis := must(speech.NewSynthesis(speech.SynthesisConfig{Synthesizer: &voice{}}))
	playout := must(speech.NewPlayout(speech.PlayoutConfig{Buffer: &speech.Buffer{}, Rate: rate}))
	right := []pipeline.Processor{activity, hearing, turns, user, service, synthesis, playout, llm.NewAssistantAggregator(convo)}
	for i := range len(right) - 2 {
		wrong := append([]pipeline.Processor(nil), right...)
		wrong[i], wrong[i+1] = wrong[i+1], wrong[i]
		if _, err := pipeline.New(wrong...); !errors.Is(err, pipeline.ErrWiring) {
			t.Errorf("%d and %d changed places: %v", i, i+1, err)
		}
	}
	if _, err := pipeline.New(synthesis); !errors.Is(err, pipeline.ErrWiring) {
		t.Errorf("a synthesis without a playout: %v", err)
	}
	if _, err := pipeline.New(right...); err != nil {
		t.Error(err)
	}
}

func TestSettingsThatAreWrongAreIgnored(t *testing.T) {
	virtual(t, func(t *testing.T) {
		c := dial(t, setup{})
		c.queue(&speech.TurnSettingsFrame{Settings: &speech.TurnSettings{Watchdog: -time.Second}})
		c.says("hello", time.Second)
		c.sleep(4 * time.Second)
		want(t, "history", c.history(), "user: hello", "assistant: Answer 1.")
		c.end()
	})
}
