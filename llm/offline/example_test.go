package offline_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/llm/offline"
)

// The model speaks for the instructions and turns the user's words into a call.
func Example() {
	model := offline.New(offline.Config{Now: wednesday})
	convo := frames.NewLLMContext("Greet the guest and ask on which day they want to come.")
	convo.SetTools([]frames.Tool{{
		Name: "record_day", Description: "Record the day of the visit.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"day":{"type":"string","format":"date"}},"required":["day"]}`),
	}})
	respond := func() {
		for chunk, err := range model.Stream(context.Background(), &llm.Request{Context: convo.Snapshot()}) {
			if err != nil {
				fmt.Println(err)
				return
			}
			fmt.Print(chunk.Text)
			if chunk.Call != nil {
				fmt.Print(chunk.Call.Name, string(chunk.Call.Args))
			}
		}
		fmt.Println()
	}
	respond()
	convo.AddAssistantMessage("Hello! On which day do you want to come?")
	convo.AddUserMessage("next friday please")
	respond()
	// Output:
	// Hello! On which day do you want to come?
	// record_day{"day":"2026-06-12"}
}

// Explain shows why.
func ExampleModel_Explain() {
	model := offline.New(offline.Config{Now: wednesday})
	convo := frames.NewLLMContext("Ask how many people are coming.")
	convo.SetTools([]frames.Tool{{Name: "opening_hours", Description: "Tells when we are open."}})
	convo.AddUserMessage("are you open?")
	d := model.Explain(&llm.Request{Context: convo.Snapshot()})
	fmt.Println(d.Why)
	fmt.Println(d.Candidates[0].Reasons)
	// Output:
	// the words call for opening_hours
	// ["open" speaks for it (1.00)]
}
