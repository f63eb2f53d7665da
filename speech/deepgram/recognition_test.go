package deepgram_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
	"github.com/turnwise/turnwise/pipeline/pipelinetest"
	"github.com/turnwise/turnwise/speech"
)

// The connection breaks while the caller speaks: it is made again, what was said is
// heard once more, and the words come although late.
func TestACallOutlivesAConnectionThatBreaksInMidSentence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, func(c *call, kind string) {
			switch {
			case c.Number == 1 && c.samples >= 8000:
				c.results("book a")
				c.Drop()
			case c.Number == 2 && kind == "Finalize":
				c.results("book a table", "is_final", "from_finalize")
			}
		})
		recognition, err := speech.NewRecognition(speech.RecognitionConfig{Recognizer: newRecognizer(t, f)})
		if err != nil {
			t.Fatal(err)
		}
		s := pipelinetest.Start(t, pipeline.Params{}, recognition)
		s.Send(&frames.VADStartedFrame{})
		for range 75 { // a second and a half
			s.Send(&frames.InputAudioFrame{PCM: frames.PCM{Samples: make([]int16, 320), Rate: 16000, Channels: 1}})
			time.Sleep(20 * time.Millisecond)
		}
		s.Send(&frames.VADStoppedFrame{})
		time.Sleep(time.Second)
		var words []string
		for _, f := range pipelinetest.Only[*frames.TranscriptionFrame](s.Out().Down) {
			words = append(words, f.Text)
		}
		if len(words) != 1 || words[0] != "book a table" || f.Connections() != 2 {
			t.Errorf("heard %q on %d connections", words, f.Connections())
		}
		if n := f.seen().samples; n < 8000 {
			t.Errorf("the second connection got only %d samples", n)
		}
		if out := s.End(); out.Err != nil {
			t.Error(out.Err)
		}
	})
}
