package offline_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/llm/offline"
)

// desk is a conversation with a few functions on offer.
func desk() *frames.LLMContext {
	convo := frames.NewLLMContext("You are the desk of a hotel.")
	none := json.RawMessage(`{"type":"object","properties":{}}`)
	convo.SetTools([]frames.Tool{
		{Name: "book_room", Description: "Book a room for a number of nights.", Parameters: json.RawMessage(`{"type":"object","properties":{"nights":{"type":"integer","minimum":1,"description":"Number of nights"}},"required":["nights"]}`)},
		{Name: "breakfast_hours", Description: "When breakfast is served.", Parameters: none},
		{Name: "wifi_password", Description: "Tells how to get on the internet.", Parameters: none, Examples: []string{"how do I get online?"}},
		{Name: "speak_to_person", Description: "Connects the guest with a person at the desk.", Parameters: none, Examples: []string{"an agent please"}},
		{Name: "cancel_booking", Description: "Cancels the guest's booking.", Parameters: none},
	})
	convo.Append(frames.Message{Role: frames.RoleDeveloper, Text: "Ask how many nights the guest wants to stay."})
	convo.AddAssistantMessage("How many nights do you want to stay?")
	return convo
}

func TestWordsCallForAFunction(t *testing.T) {
	m := offline.New(offline.Config{Now: wednesday})
	for words, want := range map[string]string{
		"three":               `book_room {"nights":3}`,
		"three nights please": `book_room {"nights":3}`,
		"I would like to reserve a room for two nights":      `book_room {"nights":2}`,
		"when do you serve breakfast?":                       "breakfast_hours {}",
		"What's the wifi password":                           "wifi_password {}",
		"how can I get online":                               "wifi_password {}",
		"can I talk to a human":                              "speak_to_person {}",
		"agent":                                              "speak_to_person {}",
		"I'd like to cancel my reservation":                  "cancel_booking {}",
		"please don't cancel anything":                       "",
		"my grandmother turned 80 yesterday and we had cake": "",
		"the weather is lovely today":                        "",
		"I read a book once":                                 "",
		"hello":                                              "",
		"yes":                                                "",
		"":                                                   "",
		"?!":                                                 "",
		"two nights, and when is breakfast served?": `book_room {"nights":2} + breakfast_hours {}`,
	} {
		convo := desk()
		convo.AddUserMessage(words)
		_, calls := ask(t, m, &llm.Request{Context: convo.Snapshot()})
		var got []string
		for _, c := range calls {
			got = append(got, fmt.Sprintf("%s %s", c.Name, c.Args))
		}
		if g := strings.Join(got, " + "); g != want {
			t.Errorf("%q calls %q, want %q\n%s", words, g, want, explained(m, convo))
		}
	}
}

func explained(m *offline.Model, convo *frames.LLMContext) string {
	d := m.Explain(&llm.Request{Context: convo.Snapshot()})
	var b strings.Builder
	for _, c := range d.Candidates {
		fmt.Fprintf(&b, "  %s %.2f %s\n", c.Name, c.Score, strings.Join(c.Reasons, "; "))
	}
	return b.String() + "  " + d.Text
}

func TestTheToolChoiceIsRespected(t *testing.T) {
	m := offline.New(offline.Config{Now: wednesday})
	for _, c := range []struct {
		choice      frames.ToolChoice
		words, want string
	}{
		{frames.ToolChoiceNone, "what's the wifi password", ""},
		{frames.ToolChoiceAuto, "what's the wifi password", "wifi_password"},
		{frames.ToolChoiceRequired, "is there something to eat in the morning", "breakfast_hours"},
		{"cancel_booking", "what's the wifi password", "cancel_booking"},
		{"book_room", "what's the wifi password", ""}, // it asks how many nights
		{"book_room", "for 4", "book_room"},
	} {
		convo := desk()
		convo.AddUserMessage(c.words)
		convo.SetToolChoice(c.choice)
		text, calls := ask(t, m, &llm.Request{Context: convo.Snapshot()})
		got := ""
		if len(calls) > 0 {
			got = calls[0].Name
		}
		if got != c.want {
			t.Errorf("with the choice %q, %q calls %q, want %q", c.choice, c.words, got, c.want)
		}
		if got == "" && text == "" {
			t.Errorf("with the choice %q, %q is met with silence", c.choice, c.words)
		}
	}
}

func TestAFunctionIsNotCalledAgainForItsResult(t *testing.T) {
	m := offline.New(offline.Config{Now: wednesday})
	for result, want := range map[string]string{
		"The password is swordfish":                           "The password is swordfish. How many nights do you want to stay?",
		`{"password":"swordfish","valid_until":"2026-06-09"}`: "Password: swordfish, valid until: Tuesday, 9 June. How many nights do you want to stay?",
		`{"error":"the router is off"}`:                       "I'm sorry, that did not work: the router is off. How many nights do you want to stay?",
		`{"status":"timeout","error":"x did not finish"}`:     "I'm sorry, that took too long. How many nights do you want to stay?",
		`{"status":"in progress"}`:                            "One moment, please.",
		`{"message":"Ask at the bar."}`:                       "Ask at the bar. How many nights do you want to stay?",
		`["swordfish","trout"]`:                               "Swordfish and trout. How many nights do you want to stay?",
		`"swordfish"`:                                         "Swordfish. How many nights do you want to stay?",
		"ok":                                                  "All right. How many nights do you want to stay?",
		"":                                                    "All right. How many nights do you want to stay?",
		"null":                                                "All right. How many nights do you want to stay?",
	} {
		convo := desk()
		convo.AddUserMessage("what's the wifi password")
		_, calls := ask(t, m, &llm.Request{Context: convo.Snapshot()})
		convo.Append(
			frames.Message{Role: frames.RoleAssistant, ToolCalls: calls},
			frames.Message{Role: frames.RoleTool, ToolCallID: calls[0].ID, Name: calls[0].Name, Text: result},
		)
		text, again := ask(t, m, &llm.Request{Context: convo.Snapshot()})
		if len(again) > 0 {
			t.Errorf("after the result %s it calls %s again", result, again[0].Name)
		}
		if text != want {
			t.Errorf("the result %s is told as %q, want %q", result, text, want)
		}
	}
}

func TestALateResultIsTold(t *testing.T) {
	m := offline.New(offline.Config{Now: wednesday})
	convo := desk()
	convo.AddUserMessage("what's the wifi password")
	_, calls := ask(t, m, &llm.Request{Context: convo.Snapshot()})
	convo.Append(
		frames.Message{Role: frames.RoleAssistant, ToolCalls: calls},
		frames.Message{Role: frames.RoleTool, ToolCallID: calls[0].ID, Name: "wifi_password", Text: `{"status":"running","note":"its result will be told"}`},
	)
	text, _ := ask(t, m, &llm.Request{Context: convo.Snapshot()})
	convo.AddAssistantMessage(text)
	convo.Append(frames.Message{Role: frames.RoleDeveloper, Text: `The function wifi_password (call c1) has ended with status ok. Its result: {"password":"swordfish"}`})
	if text, _ = ask(t, m, &llm.Request{Context: convo.Snapshot()}); text != "Password: swordfish. How many nights do you want to stay?" {
		t.Errorf("it says %q", text)
	}
}

func TestACallHasAnIDOfItsOwn(t *testing.T) {
	m := offline.New(offline.Config{Now: wednesday})
	seen := map[string]bool{}
	convo := desk()
	for range 5 {
		convo.AddUserMessage("what's the wifi password")
		_, calls := ask(t, m, &llm.Request{Context: convo.Snapshot()})
		_, same := ask(t, m, &llm.Request{Context: convo.Snapshot()})
		if calls[0].ID != same[0].ID {
			t.Error("the same request gives different ids")
		}
		if seen[calls[0].ID] {
			t.Errorf("the id %s is used twice", calls[0].ID)
		}
		seen[calls[0].ID] = true
		convo.Append(frames.Message{Role: frames.RoleAssistant, ToolCalls: calls}, frames.Message{Role: frames.RoleTool, ToolCallID: calls[0].ID, Text: "ok"})
	}
}

func TestItExplainsItself(t *testing.T) {
	m := offline.New(offline.Config{Now: wednesday})
	convo := desk()
	convo.AddUserMessage("three nights please")
	req := &llm.Request{Context: convo.Snapshot()}
	d := m.Explain(req)
	if len(d.Candidates) != 5 || d.Candidates[0].Name != "book_room" || d.Candidates[0].Args != `{"nights":3}` || len(d.Candidates[0].Reasons) == 0 {
		t.Errorf("the decision is %+v", d)
	}
	_, calls := ask(t, m, req)
	if len(calls) != 1 || len(d.Calls) != 1 || calls[0].ID != d.Calls[0].ID {
		t.Errorf("it does %v and explains %v", calls, d.Calls)
	}
}
