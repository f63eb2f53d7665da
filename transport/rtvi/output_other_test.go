package rtvi_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/pipeline"
	"github.com/turnwise/turnwise/transport/rtvi"
)

func TestApplicationMessagesAndAnswers(t *testing.T) {
	during(t, rtvi.OutputConfig{}, func(t *testing.T, s *session) {
		s.queue(
			&frames.ServerMessageFrame{Data: map[string]int{"n": 1}},
			&frames.ServerMessageFrame{ReplyTo: "q", Type: "sum", Data: 3},
			&frames.ServerMessageFrame{ReplyTo: "r", Type: "sum", Err: "no sum"},
			&frames.ServerMessageFrame{ReplyTo: "x", Type: "sum", Data: func() {}},
			&frames.ServerMessageFrame{Data: func() {}},
			&rtvi.MessageFrame{Type: rtvi.TypeUICommand, Data: rtvi.UICommand{Command: "toast", Payload: "hi"}},
		)
		got := s.take()
		ids := ""
		for _, m := range got {
			ids += m.ID + ","
		}
		if ids != ",q,r,x,," {
			t.Errorf("ids %s", ids)
		}
		s.in = got
		s.is(`
			server-message {"n":1}
			server-response {"t":"sum","d":3}
			error-response {"error":"no sum"}
			error-response {"error":"The answer could not be sent."}
			ui-command {"command":"toast","payload":"hi"}`)
	})
}

// behind pushes an application's message upstream, from behind the output.
type behind struct{ pipeline.Base }

func (p *behind) Process(f frames.Frame, dir pipeline.Direction) {
	if _, ok := f.(*frames.ClientMessageFrame); ok {
		p.Push(&frames.ServerMessageFrame{Data: "up"}, pipeline.Upstream)
	}
	p.Push(f, dir)
}

func TestMessagesFromBehindTheOutputAreSentToo(t *testing.T) {
	c := &client{t: t}
	out, err := rtvi.NewOutput(c, rtvi.OutputConfig{})
	if err != nil {
		t.Fatal(err)
	}
	task, err := pipeline.NewTask(pipeline.MustNew(out, &behind{}), pipeline.Params{})
	if err != nil {
		t.Fatal(err)
	}
	task.QueueFrame(&frames.ClientMessageFrame{})
	task.End("")
	if err := task.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.is(`server-message "up"`)
}

func TestErrorsShowTheirPublicTextAlone(t *testing.T) {
	c := &client{t: t}
	out, err := rtvi.NewOutput(c, rtvi.OutputConfig{})
	if err != nil {
		t.Fatal(err)
	}
	secret := errors.New("key sk-123 at 10.0.0.1")
	out.Report(&frames.ErrorFrame{Public: "The model is busy.", Err: secret})
	out.Report(&frames.ErrorFrame{Err: secret, Fatal: true})
	got := c.take()
	if got[0].priority != rtvi.Essential || got[1].priority != rtvi.Final {
		t.Errorf("priorities %d, %d", got[0].priority, got[1].priority)
	}
	c.in = got
	c.is(`
		error {"error":"The model is busy.","fatal":false}
		error {"error":"Something went wrong on the server.","fatal":true}`)
}

func TestTokensAndMeasurementsAreDroppableAndWordsAreNot(t *testing.T) {
	during(t, rtvi.OutputConfig{}, func(t *testing.T, s *session) {
		s.push(append(reply(1, "Hi."), &frames.MetricsFrame{TTFB: 1})...)
		for _, m := range s.take() {
			droppable := m.Type == rtvi.TypeBotLLMText || m.Type == rtvi.TypeMetrics || m.Type == rtvi.TypeBotTranscription
			if (m.priority == rtvi.Droppable) != droppable {
				t.Errorf("%s has priority %d", m.Type, m.priority)
			}
		}
	})
}

func TestAudioGoesToSendersThatCarryIt(t *testing.T) {
	during(t, rtvi.OutputConfig{}, func(t *testing.T, s *session) {
		s.push(&frames.OutputAudioFrame{PCM: frames.PCM{Samples: []int16{1}, Rate: 24000}})
		if len(s.au) != 1 || s.au[0].Rate != 24000 {
			t.Errorf("got %v", s.au)
		}
		s.is("")
	})
}

func TestTheOutputKnowsItsPlace(t *testing.T) {
	convo := frames.NewLLMContext("")
	place := func(order func(user, out, assistant pipeline.Processor) []pipeline.Processor) error {
		out, err := rtvi.NewOutput(&client{t: t}, rtvi.OutputConfig{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = pipeline.New(order(&service{}, out, llm.NewAssistantAggregator(convo))...)
		return err
	}
	if err := place(func(s, o, a pipeline.Processor) []pipeline.Processor { return []pipeline.Processor{s, o, a} }); err != nil {
		t.Errorf("the right order: %v", err)
	}
	for name, order := range map[string]func(s, o, a pipeline.Processor) []pipeline.Processor{
		"before the service":    func(s, o, a pipeline.Processor) []pipeline.Processor { return []pipeline.Processor{o, s, a} },
		"behind the aggregator": func(s, o, a pipeline.Processor) []pipeline.Processor { return []pipeline.Processor{s, a, o} },
	} {
		if err := place(order); !errors.Is(err, pipeline.ErrWiring) || !strings.Contains(err.Error(), "rtvi-output") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// service stands in for the model service.
type service struct{ feed }

func (*service) Wiring() pipeline.Wiring { return pipeline.Wiring{Role: llm.RoleService} }

func TestNewOutputNeedsASender(t *testing.T) {
	if _, err := rtvi.NewOutput(nil, rtvi.OutputConfig{}); err == nil {
		t.Error("no error")
	}
}
