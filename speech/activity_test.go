package speech_test

import (
	"context"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/vad"
	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
	"github.com/turnwise/turnwise/pipeline/pipelinetest"
	"github.com/turnwise/turnwise/speech"
)

// loud is a detector that takes every loud window for speech.
type loud struct{}

func (loud) Rate() int   { return rate }
func (loud) Window() int { return 512 }
func (loud) Reset()      {}
func (loud) Confidence(w []int16) float32 {
	if audio.Peak(w) > 1000 {
		return 1
	}
	return 0
}

// noise is d of sound or silence at a rate.
func noise(d time.Duration, r, channels int, on bool) frames.PCM {
	s := make([]int16, int(d*time.Duration(r)/time.Second)*channels)
	for i := range s {
		if on {
			s[i] = 8000
			if (i/channels)%16 < 8 {
				s[i] = -8000
			}
		}
	}
	return frames.PCM{Samples: s, Rate: r, Channels: channels}
}

// talk sends sound or silence in real time.
func talk(s *pipelinetest.Session, d time.Duration, r, channels int, on bool) {
	for ; d > 0; d -= 20 * time.Millisecond {
		s.Send(&frames.InputAudioFrame{PCM: noise(20*time.Millisecond, r, channels, on)})
		time.Sleep(20 * time.Millisecond)
		synctest.Wait()
	}
}

func within(d, want, tolerance time.Duration) bool {
	return d >= want-tolerance && d <= want+tolerance
}

func TestActivityTellsWhenSomebodySpeaks(t *testing.T) {
	for _, shape := range []struct{ rate, channels int }{{16000, 1}, {48000, 2}, {8000, 1}} {
		t.Run(fmt.Sprintf("%d Hz, %d channels", shape.rate, shape.channels), func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				s := pipelinetest.Start(t, pipeline.Params{}, must(speech.NewActivity(speech.ActivityConfig{Detector: loud{}})))
				talk(s, time.Second, shape.rate, shape.channels, false)
				talk(s, time.Second, shape.rate, shape.channels, true)
				talk(s, time.Second, shape.rate, shape.channels, false)
				var at []time.Duration
				var now time.Duration
				var ago []time.Duration
				for _, f := range s.Out().Down {
					switch f := f.(type) {
					case *frames.InputAudioFrame:
						now += f.Duration()
					case *frames.VADStartedFrame:
						at, ago = append(at, now), append(ago, f.Ago)
					case *frames.VADStoppedFrame:
						at, ago = append(at, now), append(ago, f.Ago)
					}
				}
				if now != 3*time.Second {
					t.Errorf("%s of audio passed", now)
				}
				const step = 64 * time.Millisecond // two windows
				if len(at) != 2 || !within(at[0]-ago[0], time.Second, step) || !within(at[1]-ago[1], 2*time.Second, step) {
					t.Fatalf("told at %v about %v before", at, ago)
				}
				if !within(ago[0], 200*time.Millisecond, step) || !within(ago[1], 200*time.Millisecond, step) {
					t.Errorf("told %v late", ago)
				}
				s.End()
			})
		})
	}
}

func TestSpeechEndsWithTheMicrophone(t *testing.T) { // RT44
	virtual(t, func(t *testing.T) {
		s := pipelinetest.Start(t, pipeline.Params{}, must(speech.NewActivity(speech.ActivityConfig{Detector: loud{}})))
		talk(s, time.Second, rate, 1, true)
		time.Sleep(960 * time.Millisecond)
		synctest.Wait()
		if n := len(pipelinetest.Only[*frames.VADStoppedFrame](s.Out().Down)); n != 0 {
			t.Error("speech ended too soon")
		}
		time.Sleep(40 * time.Millisecond)
		synctest.Wait()
		stops := pipelinetest.Only[*frames.VADStoppedFrame](s.Out().Down)
		if len(stops) != 1 || !within(stops[0].Ago, time.Second, 60*time.Millisecond) {
			t.Errorf("stops: %+v", stops)
		}
		time.Sleep(time.Minute)
		talk(s, time.Second, rate, 1, true)
		if n := len(pipelinetest.Only[*frames.VADStartedFrame](s.Out().Down)); n != 2 {
			t.Errorf("speech began %d times", n)
		}
		s.End()
	})
}

func TestANodeSaysWhenSoundIsSpeech(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s := pipelinetest.Start(t, pipeline.Params{}, must(speech.NewActivity(speech.ActivityConfig{Detector: loud{}})))
		s.Send(&speech.TurnSettingsFrame{Settings: &speech.TurnSettings{Activity: &vad.Params{Start: 600 * time.Millisecond}}})
		synctest.Wait()
		talk(s, 400*time.Millisecond, rate, 1, true)
		talk(s, 400*time.Millisecond, rate, 1, false)
		if n := len(pipelinetest.Only[*frames.VADStartedFrame](s.Out().Down)); n != 0 {
			t.Error("too short a sound counted as speech")
		}
		s.Send(&speech.TurnSettingsFrame{})
		synctest.Wait()
		talk(s, 400*time.Millisecond, rate, 1, true)
		if n := len(pipelinetest.Only[*frames.VADStartedFrame](s.Out().Down)); n != 1 {
			t.Error("the session's settings did not come back")
		}
		s.End()
	})
}

func TestAudioThatCannotBeUsedPassesAndIsLoggedOnce(t *testing.T) {
	out := pipelinetest.Run(t, []pipeline.Processor{must(speech.NewActivity(speech.ActivityConfig{Detector: loud{}}))},
		&frames.InputAudioFrame{PCM: frames.PCM{Samples: make([]int16, 10), Rate: -5}})
	if out.Err != nil || len(out.Down) != 1 {
		t.Errorf("%+v", out)
	}
}

// TestACallFromMouthToEar runs the whole chain: sound, words, turn, answer, sound.
func TestACallFromMouthToEar(t *testing.T) {
	virtual(t, func(t *testing.T) {
		heard := 0
		h := &hearing{script: func(_ int, ctx context.Context, in *speech.Audio, emit func(speech.Transcript) error) error {
			for {
				e, err := in.Next(ctx)
				if err == io.EOF {
					return nil
				}
				if err != nil {
					return err
				}
				if e.Mark == speech.SpeechStopped {
					time.Sleep(100 * time.Millisecond)
					heard++
					if err := emit(speech.Transcript{Text: fmt.Sprintf("utterance %d", heard), Final: true}); err != nil {
						return err
					}
				}
			}
		}}
		c := dial(t, setup{
			front: []pipeline.Processor{
				must(speech.NewActivity(speech.ActivityConfig{Detector: loud{}})),
				must(speech.NewRecognition(speech.RecognitionConfig{Recognizer: h})),
			},
			turns:   speech.TurnsConfig{Latency: h.Latency()},
			answers: [][]any{{numbers(20)}, {"Goodbye."}},
		})
		mic := func(d time.Duration, on bool) {
			for ; d > 0; d -= 20 * time.Millisecond {
				c.queue(&frames.InputAudioFrame{PCM: noise(20*time.Millisecond, rate, 1, on)})
				c.sleep(20 * time.Millisecond)
			}
		}
		mic(time.Second, false)
		mic(time.Second, true)
		mic(3*time.Second, false) // the bot speaks
		if c.count("bot started") != 1 {
			t.Fatalf("events: %q", c.log())
		}
		n := c.ear.count()
		mic(time.Second, true) // barge-in
		if over := c.ear.count() - n; over > samples(260*time.Millisecond) {
			t.Errorf("%d samples were heard over the user", over)
		}
		mic(4*time.Second, false)
		lines := c.history()
		if len(lines) != 4 || lines[0] != "user: utterance 1" || lines[2] != "user: utterance 2" || lines[3] != "assistant: Goodbye." {
			t.Errorf("history: %q", lines)
		}
		if len(c.lags) != 2 || c.lags[0].Total() < 700*time.Millisecond || c.lags[0].Total() > time.Second {
			t.Errorf("latencies: %+v", c.lags)
		}
		c.end()
	})
}
