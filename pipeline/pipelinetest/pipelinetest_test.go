package pipelinetest_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
	"github.com/turnwise/turnwise/pipeline/pipelinetest"
)

type shout struct{ pipeline.Base }

func (s *shout) Process(f frames.Frame, dir pipeline.Direction) {
	if t, ok := f.(*frames.TextFrame); ok {
		t.Text = strings.ToUpper(t.Text)
		s.Push(&frames.ErrorFrame{Public: "too loud"}, pipeline.Upstream)
	}
	s.Push(f, dir)
}

func TestRunReturnsWhatCameOutAtBothEnds(t *testing.T) {
	out := pipelinetest.Run(t, []pipeline.Processor{&shout{}}, &frames.TextFrame{Text: "a"}, &frames.TextFrame{Text: "b"})
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	if got := pipelinetest.Texts(out.Down); !slices.Equal(got, []string{"A", "B"}) {
		t.Errorf("downstream came %v", got)
	}
	if got := pipelinetest.Only[*frames.ErrorFrame](out.Up); len(got) != 2 {
		t.Errorf("upstream came %d errors", len(got))
	}
	if len(out.Down) != 2 {
		t.Errorf("the session's own frames are among %v", out.Down)
	}
}

func TestASessionCanBeLookedAtWhileItRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := pipelinetest.Start(t, pipeline.Params{}, &shout{})
		s.Send(&frames.TextFrame{Text: "a"})
		synctest.Wait()
		if got := pipelinetest.Texts(s.Out().Down); !slices.Equal(got, []string{"A"}) {
			t.Errorf("downstream came %v", got)
		}
		if err := s.Cancel().Err; err == nil {
			t.Error("a cancelled session ended gracefully")
		}
	})
}
