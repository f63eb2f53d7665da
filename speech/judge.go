package speech

import (
	"context"
	"time"

	"github.com/turnwise/turnwise/audio/resample"
	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
)

const (
	// judgeRate and judgeWindow are what an [EndOfTurnModel] gets.
	judgeRate   = 16000
	judgeWindow = 8 * time.Second
	// judgeLimit bounds a judgement.
	judgeLimit = 3 * time.Second
)

// judge keeps the audio of the turn for an end-of-turn model and its judgement.
type judge struct {
	model    EndOfTurnModel // nil for none
	mono     monoStream
	window   []int16
	number   int // of the silence that is being judged
	judged   bool
	finished float64
	cancel   context.CancelFunc
}

// hear keeps the last seconds of audio.
func (j *judge) hear(f *frames.InputAudioFrame) {
	if j.model == nil {
		return
	}
	if j.mono.rate == 0 {
		j.mono = monoStream{rate: judgeRate, filters: &resample.Filters{}}
	}
	samples, err := j.mono.take(&f.PCM)
	if err != nil {
		return
	}
	size := samplesIn(judgeWindow, judgeRate)
	j.window = append(j.window, samples...)
	if len(j.window) > 2*size {
		n := copy(j.window, j.window[len(j.window)-size:])
		j.window = j.window[:n]
	}
}

// forget drops a judgement: the user speaks again.
func (j *judge) forget() {
	j.number++
	j.judged, j.finished = false, 0
	if j.cancel != nil {
		j.cancel()
		j.cancel = nil
	}
}

// judgedFrame brings a judgement to the loop.
type judgedFrame struct {
	frames.SystemFrame
	number   int
	finished float64
	err      error
}

// askModel has the model judge the silence that has begun.
func (t *Turns) askModel() {
	j := &t.judge
	j.forget()
	if j.model == nil || t.turn == nil {
		return
	}
	heard := j.window[max(0, len(j.window)-samplesIn(judgeWindow, judgeRate)):]
	heard = append([]int16(nil), heard...)
	ctx, cancel := context.WithTimeout(t.Context(pipeline.SessionScope), judgeLimit)
	j.cancel = cancel
	model, number := j.model, j.number
	t.Go(pipeline.SessionScope, func(job *pipeline.Job) {
		defer cancel()
		p, err := model.Finished(ctx, heard)
		_ = job.Post(&judgedFrame{number: number, finished: p, err: err})
	})
}

// Receive takes the model's judgement.
func (t *Turns) Receive(f frames.Frame) {
	r, ok := f.(*judgedFrame)
	if !ok || r.number != t.judge.number {
		return
	}
	if r.err != nil {
		t.Logger().Warn("the end-of-turn model failed", "err", r.err)
		return
	}
	t.judge.judged, t.judge.finished = true, r.finished
	t.decide()
}
