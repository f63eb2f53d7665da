package offline_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/llm/offline"
)

func TestItAnswersSmallTalkAndComesBackToTheNode(t *testing.T) {
	m := offline.New(offline.Config{Now: wednesday})
	const question = " How many nights do you want to stay?"
	for words, want := range map[string]string{
		"hello":                 "Hello!" + question,
		"thank you":             "You're welcome." + question,
		"sorry, what?":          "Sorry, I don't know that." + question,
		"are you a robot?":      "I'm a small built-in stand-in, not an AI model: I follow this conversation by simple rules, without any network." + question,
		"could you repeat that": "How many nights do you want to stay?",
		"what can you do?":      "Here I know about: book room, breakfast hours, wifi password, speak to person and cancel booking." + question,
		"bye":                   "Goodbye!",
	} {
		convo := desk()
		convo.AddUserMessage(words)
		if text, _ := ask(t, m, &llm.Request{Context: convo.Snapshot()}); text != want {
			t.Errorf("%q is answered by %q, want %q", words, text, want)
		}
	}
}

func TestItSpeaksWithoutInstructions(t *testing.T) {
	m := offline.New(offline.Config{})
	convo := frames.NewLLMContext("")
	if text, _ := ask(t, m, &llm.Request{Context: convo.Snapshot()}); text != "Hello! How can I help you?" {
		t.Errorf("it says %q", text)
	}
	if text, _ := ask(t, m, &llm.Request{}); text == "" {
		t.Error("it is silent")
	}
}

func TestInstructionsMayHaveTheUsersRole(t *testing.T) {
	m := offline.New(offline.Config{})
	convo := frames.NewLLMContext("You are a host.")
	convo.AddUserMessage("Greet the guest and ask for their name.")
	if text, _ := ask(t, m, &llm.Request{Context: convo.Snapshot()}); text != "Hello! May I have your name, please?" {
		t.Errorf("it says %q", text)
	}
}

func TestItSummarizes(t *testing.T) {
	m := offline.New(offline.Config{})
	convo := frames.NewLLMContext("Summarize the conversation below for an assistant that carries it on. Write a few plain sentences.")
	convo.AddUserMessage("Assistant: How many?\nUser: four people\nResult of record: ok\nUser: tomorrow at seven\n")
	want := `The user said: "four people"; "tomorrow at seven".`
	if text, _ := ask(t, m, &llm.Request{Context: convo.Snapshot()}); text != want {
		t.Errorf("the summary is %q, want %q", text, want)
	}
}

func TestASummaryInTheHistoryIsNotTheTask(t *testing.T) {
	m := offline.New(offline.Config{})
	convo := frames.NewLLMContext("")
	convo.Append(
		frames.Message{Role: frames.RoleDeveloper, Text: "Summary of the conversation so far: The user asked how many people fit."},
		frames.Message{Role: frames.RoleDeveloper, Text: "Ask for the name."},
	)
	if text, _ := ask(t, m, &llm.Request{Context: convo.Snapshot()}); text != "May I have the name, please?" {
		t.Errorf("it says %q", text)
	}
}

func TestAResponseComesWordByWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := offline.New(offline.Config{WordDelay: time.Second})
		convo := frames.NewLLMContext("Ask for the name.")
		var pieces []string
		start := time.Now()
		for chunk, err := range m.Stream(t.Context(), &llm.Request{Context: convo.Snapshot()}) {
			if err != nil {
				t.Fatal(err)
			}
			if chunk.Text != "" {
				pieces = append(pieces, chunk.Text)
			}
			if chunk.Finish != "" && (chunk.Usage == nil || chunk.Usage.Total == 0 || chunk.Finish != llm.FinishStop) {
				t.Errorf("the end is %+v", chunk)
			}
		}
		if got := strings.Join(pieces, "|"); got != "May |I |have |the |name, |please?" {
			t.Errorf("the pieces are %q", got)
		}
		if d := time.Since(start); d != 6*time.Second {
			t.Errorf("six words took %v", d)
		}
	})
}

func TestAResponseEndsWithItsContext(t *testing.T) {
	m := offline.New(offline.Config{WordDelay: time.Hour})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var last error
	for _, err := range m.Stream(ctx, &llm.Request{}) {
		last = err
	}
	var typed *llm.Error
	if !errors.As(last, &typed) || !errors.Is(last, context.Canceled) {
		t.Errorf("the error is %v", last)
	}
}

func TestAResponseIsCutToItsLimit(t *testing.T) {
	m := offline.New(offline.Config{})
	convo := frames.NewLLMContext("Ask for the name of the guest who wants to book.")
	var text, finish string
	for chunk := range m.Stream(t.Context(), &llm.Request{Context: convo.Snapshot(), MaxTokens: 2}) {
		text += chunk.Text
		finish = chunk.Finish
	}
	if len(text) > 8 || finish != llm.FinishLength {
		t.Errorf("it says %q and ends by %q", text, finish)
	}
}
