package rtvi_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/pipeline"
	"github.com/turnwise/turnwise/transport/rtvi"
)

// session is a pipeline of a feed, an output and a tail that runs in a bubble.
type session struct {
	*client
	task *pipeline.Task
	out  *rtvi.Output
	tail *tail
}

// during runs fn with a session, which is ended afterwards.
func during(t *testing.T, cfg rtvi.OutputConfig, fn func(t *testing.T, s *session)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &session{client: &client{t: t}, tail: &tail{}}
		var err error
		if s.out, err = rtvi.NewOutput(s.client, cfg); err != nil {
			t.Fatal(err)
		}
		s.task, err = pipeline.NewTask(pipeline.MustNew(&feed{}, s.out, s.tail), pipeline.Params{OnError: s.out.Report})
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		go func() { done <- s.task.Run(t.Context()) }()
		fn(t, s)
		s.task.End("test over")
		<-done
	})
}

// push has frames pushed before the output and waits until nothing moves.
func (s *session) push(f ...frames.Frame) {
	s.task.QueueFrame(&burst{push: f})
	synctest.Wait()
}

// queue hands frames to the session and waits until nothing moves.
func (s *session) queue(f ...frames.Frame) {
	for _, f := range f {
		s.task.QueueFrame(f)
	}
	synctest.Wait()
}

// reply is a whole response of the model.
func reply(n uint64, tokens ...string) []frames.Frame {
	all := []frames.Frame{&frames.LLMResponseStartFrame{Response: n}}
	for _, s := range tokens {
		all = append(all, &frames.LLMTextFrame{Text: s, Response: n})
	}
	return append(all, &frames.LLMResponseEndFrame{Response: n, Finish: llm.FinishStop})
}

func TestAReplyIsSentByTokensAndBySentences(t *testing.T) {
	during(t, rtvi.OutputConfig{}, func(t *testing.T, s *session) {
		s.queue(&frames.UserTextFrame{Text: "Hello?", Quiet: true})
		s.push(reply(1, "Hi", " there. How", " are you?")...)
		s.is(`
			user-llm-text {"text":"Hello?"}
			bot-llm-started
			bot-llm-text {"text":"Hi"}
			bot-llm-text {"text":" there. How"}
			bot-output {"text":"Hi there.","aggregated_by":"sentence","segment_id":1,"will_be_spoken":false}
			bot-transcription {"text":"Hi there."}
			bot-llm-text {"text":" are you?"}
			bot-output {"text":"How are you?","aggregated_by":"sentence","segment_id":2,"will_be_spoken":false}
			bot-transcription {"text":"How are you?"}
			bot-llm-stopped`)
	})
}

func TestAResponseWithoutTextIsOpenedAndClosed(t *testing.T) {
	during(t, rtvi.OutputConfig{}, func(t *testing.T, s *session) {
		s.push(reply(1)...)
		s.is("bot-llm-started\nbot-llm-stopped")
	})
}

func TestAnInterruptionSendsWhatWasUnderWayAndClosesIt(t *testing.T) {
	during(t, rtvi.OutputConfig{}, func(t *testing.T, s *session) {
		s.push(reply(1, "One. Two", " and")[:3]...)
		s.take()
		s.queue(&frames.UserTextFrame{Text: "Stop!"})
		s.is(`
			bot-output {"text":"Two and","aggregated_by":"sentence","segment_id":2,"will_be_spoken":false}
			bot-interrupted
			bot-llm-stopped`, rtvi.TypeBotTranscription)
		s.push(reply(2, "Fine.")...)
		s.is(`
			user-llm-text {"text":"Stop!"}
			bot-llm-started
			bot-llm-text {"text":"Fine."}
			bot-output {"text":"Fine.","aggregated_by":"sentence","segment_id":3,"will_be_spoken":false}
			bot-llm-stopped`, rtvi.TypeBotTranscription)
	})
}

func TestWhatPassedIsWhatWasSent(t *testing.T) {
	during(t, rtvi.OutputConfig{}, func(t *testing.T, s *session) {
		s.push(reply(1, "Hi.")...)
		var heard string
		for _, f := range s.tail.passed {
			if f, ok := f.(*frames.LLMTextFrame); ok {
				heard += f.Text
			}
		}
		if heard != "Hi." {
			t.Errorf("%q passed", heard)
		}
	})
}

func TestFixedLinesAreSegments(t *testing.T) {
	during(t, rtvi.OutputConfig{}, func(t *testing.T, s *session) {
		s.push(&frames.SpeakFrame{Text: "One moment. I look."}, &frames.TextFrame{Text: "Free text"})
		s.is(`
			bot-output {"text":"One moment.","aggregated_by":"sentence","segment_id":1,"will_be_spoken":false}
			bot-output {"text":"I look.","aggregated_by":"sentence","segment_id":2,"will_be_spoken":false}
			bot-output {"text":"Free text","aggregated_by":"sentence","segment_id":3,"will_be_spoken":false}`, rtvi.TypeBotTranscription)
	})
}

func TestALineBetweenTokensEndsTheSentenceBeforeIt(t *testing.T) {
	during(t, rtvi.OutputConfig{}, func(t *testing.T, s *session) {
		r := reply(1, "Let me see", " it is four.")
		s.push(r[0], r[1], &frames.SpeakFrame{Text: "Still here."}, r[2], r[3])
		s.is(`
			bot-output {"text":"Let me see","aggregated_by":"sentence","segment_id":1,"will_be_spoken":false}
			bot-output {"text":"Still here.","aggregated_by":"sentence","segment_id":2,"will_be_spoken":false}
			bot-output {"text":"it is four.","aggregated_by":"sentence","segment_id":3,"will_be_spoken":false}`,
			rtvi.TypeBotTranscription, rtvi.TypeBotLLMText, rtvi.TypeBotLLMStarted, rtvi.TypeBotLLMStopped)
	})
}

func TestSegmentsMadeElsewhereKeepTheirKind(t *testing.T) {
	during(t, rtvi.OutputConfig{}, func(t *testing.T, s *session) {
		s.push(&frames.AggregatedTextFrame{Text: "x := 1", By: "code"})
		s.is(`bot-output {"text":"x := 1","aggregated_by":"code","segment_id":1,"will_be_spoken":false}`, rtvi.TypeBotTranscription)
	})
}

func TestClientReadyIsAnsweredWithItsID(t *testing.T) {
	greeted := 0
	var s *session
	cfg := rtvi.OutputConfig{About: rtvi.Library{Library: "tw", LibraryVersion: "1"}, OnClientReady: func() {
		greeted++
		if got := brief(s.take()); !strings.HasPrefix(got, "bot-ready") {
			t.Errorf("before the greeting the client was sent %q", got)
		}
	}}
	during(t, cfg, func(t *testing.T, session *session) {
		s = session
		answered := false
		s.queue(&rtvi.ClientReadyFrame{ID: "ab", Version: "2.1.0", Answered: func() { answered = true }})
		if greeted != 1 || !answered {
			t.Errorf("greeted %d times, answered %v", greeted, answered)
		}
		s.queue(&rtvi.ClientReadyFrame{ID: "cd", Version: "2.1.0"})
		got := s.take()
		if len(got) != 1 || got[0].ID != "cd" || string(got[0].Data) != `{"version":"2.1.0","about":{"library":"tw","library_version":"1"}}` {
			t.Errorf("got %s with ids %+v", brief(got), got)
		}
		if greeted != 1 {
			t.Errorf("greeted %d times", greeted)
		}
	})
}

func TestOldClientsGetTheirVersionAndMessages(t *testing.T) {
	during(t, rtvi.OutputConfig{}, func(t *testing.T, s *session) {
		s.queue(&rtvi.ClientReadyFrame{ID: "ab", Version: "1.2.0"})
		s.push(reply(1, "Hi there.")...)
		s.is(`
			bot-ready {"version":"1.2.0","about":{"library":"turnwise"}}
			bot-llm-started
			bot-llm-text {"text":"Hi there."}
			bot-output {"text":"Hi there.","aggregated_by":"sentence","spoken":false}
			bot-transcription {"text":"Hi there."}
			bot-llm-stopped`)
	})
}

func TestSpeechEventsAreTold(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.FixedZone("", 3600))
	during(t, rtvi.OutputConfig{}, func(t *testing.T, s *session) {
		s.queue(
			&frames.UserStartedSpeakingFrame{Quiet: true},
			&frames.InterimTranscriptionFrame{Text: "a tab", UserID: "u", Time: at},
			&frames.TranscriptionFrame{Text: "a table", UserID: "u", Time: at},
			&frames.TranscriptionFrame{Text: "for four", UserID: "u", Time: at},
			&frames.UserStoppedSpeakingFrame{},
			&frames.BotStartedSpeakingFrame{}, &frames.BotStoppedSpeakingFrame{},
		)
		s.push(reply(1)...)
		s.is(`
			user-started-speaking
			user-transcription {"text":"a tab","user_id":"u","timestamp":"2026-01-02T02:04:05.678Z","final":false}
			user-transcription {"text":"a table","user_id":"u","timestamp":"2026-01-02T02:04:05.678Z","final":true}
			user-transcription {"text":"for four","user_id":"u","timestamp":"2026-01-02T02:04:05.678Z","final":true}
			user-stopped-speaking
			bot-started-speaking
			bot-stopped-speaking
			user-llm-text {"text":"a table for four"}
			bot-llm-started
			bot-llm-stopped`)
	})
}

func TestFunctionCallsAreToldByLevel(t *testing.T) {
	call := frames.ToolCall{ID: "c1", Name: "book", Args: []byte(`{"n":4}`)}
	other := frames.ToolCall{ID: "c2", Name: "secret", Args: []byte(`{broken`)}
	run := func(s *session) {
		s.push(&frames.FunctionCallsStartedFrame{Calls: []frames.ToolCall{call, other}},
			&frames.FunctionCallInProgressFrame{Call: call}, &frames.FunctionCallInProgressFrame{Call: other},
			&frames.FunctionCallResultFrame{Call: call, Status: frames.FunctionOK, Result: "booked"},
			&frames.FunctionCallResultFrame{Call: other, Status: frames.FunctionCancelled, Result: `{"x":1}`})
	}
	tests := []struct {
		name string
		cfg  rtvi.FunctionReport
		want string
	}{
		{"ids only, by default", rtvi.FunctionReport{}, `
			llm-function-call-started {}
			llm-function-call-started {}
			llm-function-call-in-progress {"tool_call_id":"c1"}
			llm-function-call-in-progress {"tool_call_id":"c2"}
			llm-function-call-stopped {"tool_call_id":"c1","cancelled":false}
			llm-function-call-stopped {"tool_call_id":"c2","cancelled":true}`},
		{"names", rtvi.FunctionReport{Level: rtvi.ReportName, ByName: map[string]rtvi.ReportLevel{"secret": rtvi.ReportDisabled}}, `
			llm-function-call-started {"function_name":"book"}
			llm-function-call-in-progress {"tool_call_id":"c1","function_name":"book"}
			llm-function-call-stopped {"tool_call_id":"c1","cancelled":false,"function_name":"book"}`},
		{"everything", rtvi.FunctionReport{Level: rtvi.ReportFull}, `
			llm-function-call-started {"function_name":"book"}
			llm-function-call-started {"function_name":"secret"}
			llm-function-call-in-progress {"tool_call_id":"c1","function_name":"book","arguments":{"n":4}}
			llm-function-call-in-progress {"tool_call_id":"c2","function_name":"secret","arguments":"{broken"}
			llm-function-call-stopped {"tool_call_id":"c1","cancelled":false,"function_name":"book","result":"booked"}
			llm-function-call-stopped {"tool_call_id":"c2","cancelled":true,"function_name":"secret","result":{"x":1}}`},
		{"nothing", rtvi.FunctionReport{Level: rtvi.ReportDisabled}, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			during(t, rtvi.OutputConfig{Functions: tt.cfg}, func(t *testing.T, s *session) {
				run(s)
				s.is(tt.want)
			})
		})
	}
}

func TestMetricsAreToldInSeconds(t *testing.T) {
	measured := []frames.Frame{
		&frames.MetricsFrame{Processor: "llm", Model: "m", TTFB: 250 * time.Millisecond},
		&frames.MetricsFrame{Processor: "llm", Usage: &frames.TokenUsage{Prompt: 3, Completion: 4, Total: 7, CachedPrompt: 2}},
		&frames.MetricsFrame{Processor: "nothing"},
	}
	during(t, rtvi.OutputConfig{}, func(t *testing.T, s *session) {
		s.push(measured...)
		s.is(`
			metrics {"ttfb":[{"processor":"llm","model":"m","value":0.25}]}
			metrics {"tokens":[{"processor":"llm","prompt_tokens":3,"completion_tokens":4,"total_tokens":7,"cache_read_input_tokens":2}]}`)
	})
	during(t, rtvi.OutputConfig{NoMetrics: true}, func(t *testing.T, s *session) {
		s.push(measured...)
		s.is("")
	})
}
