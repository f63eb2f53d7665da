package pipeline_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/turnwise/turnwise/pipeline"
)

// R7: wiring is checked when the pipeline is built.

type part struct {
	stage
	wiring pipeline.Wiring
}

func (p *part) Wiring() pipeline.Wiring { return p.wiring }

func wired(name string, w pipeline.Wiring) *part { return &part{stage: stage{name: name}, wiring: w} }

func TestWrongWiringSaysWhatToMove(t *testing.T) {
	hearing := func() pipeline.Processor { return wired("hearing", pipeline.Wiring{Role: "stt", InRate: 16000}) }
	model := func() pipeline.Processor {
		return wired("model", pipeline.Wiring{Role: "llm", After: []string{"stt"}, Single: true})
	}
	voice := func() pipeline.Processor {
		return wired("voice", pipeline.Wiring{Role: "tts", Needs: []string{"llm"}, OutRate: 24000})
	}
	output := func() pipeline.Processor {
		return wired("output", pipeline.Wiring{Role: "output", InRate: 48000, Before: []string{"memory"}})
	}
	memory := func() pipeline.Processor { return wired("memory", pipeline.Wiring{Role: "memory"}) }
	twice := &stage{name: "twice"}
	used := &stage{name: "used"}
	pipeline.MustNew(used)
	if _, err := pipeline.NewTask(pipeline.MustNew(used), pipeline.Params{}); err != nil {
		t.Fatal(err)
	}
	resampler := func() pipeline.Processor { return wired("resampler", pipeline.Wiring{InRate: 24000, OutRate: 48000}) }

	for name, c := range map[string]struct {
		procs []pipeline.Processor
		want  []string
	}{
		"right":                       {[]pipeline.Processor{hearing(), model(), voice(), resampler(), output(), memory()}, nil},
		"nothing":                     {nil, nil},
		"model before hearing":        {[]pipeline.Processor{model(), hearing()}, []string{"model stands before hearing; move it behind"}},
		"output behind memory":        {[]pipeline.Processor{memory(), output()}, []string{"output stands behind memory; move it before"}},
		"voice without model":         {[]pipeline.Processor{voice()}, []string{`voice needs a processor with the role "llm" in the pipeline; add one`}},
		"two models":                  {[]pipeline.Processor{model(), model()}, []string{`model#2 is the second with the role "llm", after model; remove one`}},
		"rates that do not fit":       {[]pipeline.Processor{model(), voice(), output()}, []string{"output takes audio at 48000 Hz but voice gives 24000 Hz; put a resampler between them"}},
		"every fault at once":         {[]pipeline.Processor{memory(), voice(), output()}, []string{"voice needs", "output stands behind", "output takes audio"}},
		"a processor twice":           {[]pipeline.Processor{twice, twice}, []string{"twice stands in the pipeline twice"}},
		"a processor of another task": {[]pipeline.Processor{used}, []string{"used belongs to another pipeline already"}},
		"nil":                         {[]pipeline.Processor{&stage{}, nil}, []string{"processor 2 is nil"}},
		"a nil pointer":               {[]pipeline.Processor{(*stage)(nil)}, []string{"processor 1 is nil"}},
		"no branches":                 {[]pipeline.Processor{pipeline.Parallel()}, []string{"parallel has no branches"}},
		"order within a branch": {[]pipeline.Processor{pipeline.Parallel(pipeline.Branch{model(), hearing()})},
			[]string{"model stands before hearing"}},
		"order across branches": {[]pipeline.Processor{pipeline.Parallel(pipeline.Branch{model()}, pipeline.Branch{hearing()})}, nil},
		"order around a section": {[]pipeline.Processor{pipeline.Parallel(pipeline.Branch{model()}, pipeline.Branch{}), hearing()},
			[]string{"model stands before hearing"}},
		"rates of one branch": {[]pipeline.Processor{model(), voice(), pipeline.Parallel(pipeline.Branch{resampler()}, pipeline.Branch{output()})},
			[]string{"output takes audio at 48000 Hz but voice gives 24000 Hz"}},
		"rates behind branches that agree": {[]pipeline.Processor{model(), voice(), pipeline.Parallel(pipeline.Branch{}, pipeline.Branch{}), output()},
			[]string{"output takes audio at 48000 Hz but voice gives 24000 Hz"}},
		"rates behind branches that differ": {[]pipeline.Processor{model(), voice(), pipeline.Parallel(pipeline.Branch{resampler()}, pipeline.Branch{}), output()}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := pipeline.New(c.procs...)
			if (err == nil) != (c.want == nil) || (err != nil && !errors.Is(err, pipeline.ErrWiring)) {
				t.Fatalf("New gave %v", err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error does not say %q: %v", want, err)
				}
			}
		})
	}
}

func TestStringPrintsTheChain(t *testing.T) {
	p := pipeline.MustNew(&stage{name: "in"}, &bomb{}, &bomb{},
		pipeline.Parallel(
			pipeline.Branch{&stage{name: "a"}, pipeline.Parallel(pipeline.Branch{&stage{name: "x"}}, pipeline.Branch{})},
			pipeline.Branch{&stage{name: "b"}}),
		pipeline.Filter(nil), pipeline.Serial(&blocker{}), &stage{name: "out"})
	const want = "in → bomb → bomb#2 → (a → (x | ) | b) → filter → blocker → out"
	if p.String() != want {
		t.Errorf("prints %s\nwant   %s", p, want)
	}
	task, err := pipeline.NewTask(p, pipeline.Params{SessionID: "s1"})
	if err != nil {
		t.Fatal(err)
	}
	if task.String() != want || task.SessionID() != "s1" {
		t.Errorf("the task prints %s", task)
	}
}
