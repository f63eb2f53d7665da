package offline_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/llm/offline"
)

// heard is what the model does with an utterance that answers a question, with one
// function on offer: the arguments, or what it says.
func heard(t *testing.T, question, schema, utterance string) string {
	t.Helper()
	m := offline.New(offline.Config{Now: wednesday})
	convo := frames.NewLLMContext("")
	convo.SetTools([]frames.Tool{{Name: "record_it", Description: "Record it.", Parameters: json.RawMessage(schema)}})
	convo.Append(frames.Message{Role: frames.RoleSystem, Text: question})
	text, _ := ask(t, m, &llm.Request{Context: convo.Snapshot()})
	convo.AddAssistantMessage(text)
	convo.AddUserMessage(utterance)
	text, calls := ask(t, m, &llm.Request{Context: convo.Snapshot()})
	if len(calls) == 0 {
		return text
	}
	return string(calls[0].Args)
}

func object(property string) string {
	return fmt.Sprintf(`{"type":"object","properties":{"it":%s},"required":["it"]}`, property)
}

func TestSlotsAreFilled(t *testing.T) {
	for _, c := range []struct{ question, property, utterance, want string }{
		{"Ask how many bottles.", `{"type":"integer","description":"How many bottles"}`, "twenty-one", `{"it":21}`},
		{"Ask how many bottles.", `{"type":"integer","description":"How many bottles"}`, "I'd like a couple of bottles", `{"it":2}`},
		{"Ask how many guests.", `{"type":"integer","description":"Number of guests"}`, "two adults and three kids", `{"it":5}`},
		{"Ask how many guests.", `{"type":"integer","description":"Number of guests"}`, "just me", `{"it":1}`},
		{"Ask how many guests.", `{"type":"integer","description":"Number of guests"}`, "four or five", "Is it 4 or 5?"},
		{"Ask how many guests.", `{"type":"integer","description":"Number of guests"}`, "four, no, make it six", `{"it":6}`},
		{"Ask how many guests.", `{"type":"integer","minimum":1,"description":"Number of guests"}`, "zero", "Sorry, 0 is too few: it has to be 1 at least. How many guests?"},
		{"Ask how many guests.", `{"type":"integer","exclusiveMaximum":9,"description":"Number of guests"}`, "nine", "Sorry, 9 is too many: it can be 8 at most. How many guests?"},
		{"Ask for the weight in kilos.", `{"type":"number","description":"Weight in kilos"}`, "two and a half kilos", `{"it":2.5}`},
		{"Ask for the price.", `{"type":"number","description":"The price"}`, "1,200.50", `{"it":1200.5}`},
		{"Ask whether they want a receipt.", `{"type":"boolean","description":"Whether they want a receipt"}`, "yes please", `{"it":true}`},
		{"Ask whether they want a receipt.", `{"type":"boolean","description":"Whether they want a receipt"}`, "no thanks", `{"it":false}`},
		{"Ask whether they want a receipt.", `{"type":"boolean","description":"Whether they want a receipt"}`, "I don't think so", `{"it":false}`},
		{"Ask whether they want a receipt.", `{"type":"boolean","description":"Whether they want a receipt"}`, "I have a cat", "Sorry, I didn't get that. Do you want a receipt?"},
		{"Ask for the size of the pizza.", `{"type":"string","enum":["small","medium","large"],"description":"Size of the pizza"}`, "A large one", `{"it":"large"}`},
		{"Ask for the colour.", `{"enum":["light_blue","dark_blue"],"description":"The colour"}`, "light blue please", `{"it":"light_blue"}`},
		{"Ask for the colour.", `{"enum":["light_blue","dark_blue"],"description":"The colour"}`, "the dark one", `{"it":"dark_blue"}`},
		{"Ask for the colour.", `{"enum":["light_blue","dark_blue"],"description":"The colour"}`, "blue", "Is it light blue or dark blue?"},
		{"Ask for the colour.", `{"enum":["red","green"],"description":"The colour"}`, "not red, green", `{"it":"green"}`},
		{"Ask for the colour.", `{"enum":["red","green"],"description":"The colour"}`, "the first", `{"it":"red"}`},
		{"Ask for the fruit.", `{"enum":["Apple","Pear"],"description":"The fruit"}`, "apples", `{"it":"Apple"}`},
		{"Ask for the time.", `{"enum":["18:00","19:30"],"description":"The time"}`, "half past seven", `{"it":"19:30"}`},
		{"Ask for the floor.", `{"enum":[1,2,3],"description":"The floor"}`, "two", `{"it":2}`},
		{"Ask for the plan.", `{"oneOf":[{"const":"a1","title":"Basic"},{"const":"b2","title":"Premium"}],"description":"The plan"}`, "premium", `{"it":"b2"}`},
		{"Ask for the date.", `{"type":"string","format":"date"}`, "next friday", `{"it":"2026-06-12"}`},
		{"Ask for the date.", `{"type":"string","description":"Date, YYYY-MM-DD"}`, "the 3rd of May", `{"it":"2027-05-03"}`},
		{"Ask for the time.", `{"type":"string","description":"Time, HH:MM"}`, "19:30", `{"it":"19:30"}`},
		{"Ask at what time the dinner is.", `{"type":"string","description":"Time of the dinner"}`, "eight", `{"it":"20:00"}`},
		{"Ask for the time.", `{"type":"string","format":"time"}`, "half past seven in the evening", `{"it":"19:30:00Z"}`},
		{"Ask when it is.", `{"type":"string","format":"date-time","description":"When it is"}`, "tomorrow at noon", `{"it":"2026-06-04T12:00:00Z"}`},
		{"Ask when it is.", `{"type":"string","format":"date-time","description":"When it is"}`, "tomorrow", "And at what time?"},
		{"Ask for the name.", `{"type":"string","description":"The guest's name"}`, "anna van der berg", `{"it":"Anna van der Berg"}`},
		{"Ask for the e-mail address.", `{"type":"string","format":"email"}`, "it's anna at example dot com", `{"it":"anna@example.com"}`},
		{"Ask for the phone number.", `{"type":"string","description":"Phone number"}`, "+44 20 7946 0958", `{"it":"+442079460958"}`},
		{"Ask for the code.", `{"type":"string","pattern":"^[A-Z]{2}[0-9]{4}$"}`, "a b one two three four", `{"it":"AB1234"}`},
		{"Ask them to describe the damage.", `{"type":"string","description":"Description of the damage"}`, "The screen is cracked.", `{"it":"The screen is cracked."}`},
		{"Ask which toppings they want.", `{"type":"array","items":{"enum":["ham","olives","onion"]},"description":"The toppings"}`, "ham and an onion", `{"it":["ham","onion"]}`},
		{"Ask which toppings they want.", `{"type":"array","items":{"type":"string"},"description":"The toppings"}`, "basil, rocket and garlic", `{"it":["basil","rocket","garlic"]}`},
		{"Ask which numbers they pick.", `{"type":"array","items":{"type":"integer"},"maxItems":3,"description":"The numbers"}`, "3, seven and 12", `{"it":[3,7,12]}`},
	} {
		if got := heard(t, c.question, object(c.property), c.utterance); got != c.want {
			t.Errorf("%s %q with %s gives\n  %s, want\n  %s", c.question, c.utterance, c.property, got, c.want)
		}
	}
}

func TestASentenceMayFillSeveralSlots(t *testing.T) {
	schema := `{"type":"object","properties":{
		"people":{"type":"integer","minimum":1,"maximum":12,"description":"Number of people"},
		"date":{"type":"string","format":"date"},"time":{"type":"string","description":"Time, HH:MM"},
		"name":{"type":"string","description":"Name of the guest"},
		"vegetarian":{"type":"boolean","description":"Whether somebody is vegetarian"},
		"seat":{"type":"string","enum":["inside","terrace"],"description":"Where to sit"}},
		"required":["people","date","time","name"]}`
	got := heard(t, "Take the booking.", schema, "A table for four on the terrace tomorrow at half past seven, my name is Anna, one vegetarian")
	want := `{"people":4,"date":"2026-06-04","time":"19:30","name":"Anna","vegetarian":true,"seat":"terrace"}`
	if got != want {
		t.Errorf("the arguments are %s, want %s", got, want)
	}
}

func TestReferencesInSchemasAreFollowed(t *testing.T) {
	schema := `{"type":"object","$defs":{"n":{"type":"integer","description":"How many"}},"properties":{"it":{"$ref":"#/$defs/n"}},"required":["it"]}`
	if got := heard(t, "Ask how many.", schema, "four"); got != `{"it":4}` {
		t.Errorf("got %s", got)
	}
}

// What the model cannot read it cannot fill, but it asks for it in words.
func TestWhatCannotBeReadIsAskedForAllTheSame(t *testing.T) {
	for property, want := range map[string]string{
		`{"$ref":"#"}`:               "What is the branch?",
		`{"$ref":"#/$defs/branch"}`:  "What is the branch?",
		`{"$ref":"#/$defs/missing"}`: "What is the branch?",
		`{"$ref":"#/properties/branch","description":"Branch of the tree"}`: "What is the branch of the tree?",
		`{"anyOf":[{"$ref":"#/$defs/branch"}]}`:                             "What is the branch?",
		`{"type":"array","items":{"$ref":"#"}}`:                             "What is the branch?",
		`true`:                                                              "What is the branch?",
		`{"type":"string","minLength":"two"}`:                               "What is the branch?",
	} {
		schema := fmt.Sprintf(`{"type":"object","properties":{"branch":%s},"required":["branch"],"$defs":{"branch":{"$ref":"#/$defs/branch"}}}`, property)
		convo := frames.NewLLMContext("")
		convo.SetTools([]frames.Tool{{Name: "record_tree", Description: "Record the tree.", Parameters: json.RawMessage(schema)}})
		convo.AddUserMessage("Please record the tree.")
		if got, _ := ask(t, offline.New(offline.Config{Now: wednesday}), &llm.Request{Context: convo.Snapshot()}); got != want {
			t.Errorf("%s is asked for by %q, want %q", property, got, want)
		}
	}
}

func TestSlotsAreRememberedOverTurns(t *testing.T) {
	m := offline.New(offline.Config{Now: wednesday})
	convo := frames.NewLLMContext("")
	convo.SetTools([]frames.Tool{{
		Name: "book_table", Description: "Book a table.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"people":{"type":"integer","description":"Number of people"},
			"day":{"type":"string","format":"date","description":"Day of the booking"},"name":{"type":"string","description":"The guest's name"}},"required":["people","day","name"]}`),
	}})
	convo.Append(frames.Message{Role: frames.RoleSystem, Text: "Help the guest to book a table."})
	for _, step := range []struct{ user, bot string }{
		{"I'd like to book a table for tomorrow", "What is the number of people?"},
		{"four people", "What is your name?"},
		{"Anna", `{"people":4,"day":"2026-06-04","name":"Anna"}`},
	} {
		convo.AddUserMessage(step.user)
		text, calls := ask(t, m, &llm.Request{Context: convo.Snapshot()})
		if len(calls) > 0 {
			text = string(calls[0].Args)
		}
		if text != step.bot {
			t.Fatalf("%q was answered by %q, want %q", step.user, text, step.bot)
		}
		convo.AddAssistantMessage(text)
	}
}

func TestTheClockIsTheOneGiven(t *testing.T) {
	place := time.FixedZone("", 2*3600)
	m := offline.New(offline.Config{Now: func() time.Time { return time.Date(2030, 12, 31, 23, 0, 0, 0, place) }})
	convo := frames.NewLLMContext("Ask when it is.")
	convo.SetTools([]frames.Tool{{Name: "set_when", Parameters: json.RawMessage(object(`{"type":"string","format":"date-time","description":"When it is"}`))}})
	convo.AddUserMessage("tomorrow at 9 am")
	_, calls := ask(t, m, &llm.Request{Context: convo.Snapshot()})
	if len(calls) != 1 || string(calls[0].Args) != `{"it":"2031-01-01T09:00:00+02:00"}` {
		t.Errorf("the calls are %v", calls)
	}
}
