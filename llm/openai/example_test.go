package openai_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/llm/openai"
)

func ExampleModel_Stream() {
	// Stands for any OpenAI-compatible server.
	server := httptest.NewServer(sse(twoCalls))
	defer server.Close()

	model, err := openai.New(openai.Config{
		Model:   "llama3.2",
		BaseURL: server.URL + "/v1", // Ollama's is http://localhost:11434/v1
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer model.Close()

	convo := frames.NewLLMContext("You help travellers.")
	convo.SetTools([]frames.Tool{{Name: "get_weather"}, {Name: "get_time"}})
	convo.AddUserMessage("How is Paris?")
	for chunk, err := range model.Stream(context.Background(), &llm.Request{Context: convo.Snapshot()}) {
		var failure *llm.Error
		switch {
		case errors.As(err, &failure):
			fmt.Println(failure.Category, failure.RetryAfter)
		case chunk.Text != "":
			fmt.Printf("%q\n", chunk.Text)
		case chunk.Call != nil:
			fmt.Println(chunk.Call.Name, string(chunk.Call.Args))
		case chunk.Usage != nil:
			fmt.Println(chunk.Usage.Total, "tokens")
		case chunk.Finish != "":
			fmt.Println("finished:", chunk.Finish)
		}
	}
	// Output:
	// "Grüße 👋, "
	// "moment."
	// get_weather {"city":"Paris"}
	// get_time {"zone":1}
	// 17 tokens
	// finished: tool_calls
}
