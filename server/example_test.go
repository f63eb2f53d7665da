package server_test

import (
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/turnwise/turnwise/flows"
	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/llm/offline"
	"github.com/turnwise/turnwise/pipeline"
	"github.com/turnwise/turnwise/server"
)

// A bot of one node, served inside a program's own HTTP server.
func ExampleServer_Handler() {
	srv, err := server.New(server.Config{Bot: &server.FlowBot{
		Title: "Greeter", Model: offline.New(offline.Config{}),
		Start: func() *flows.NodeConfig {
			return &flows.NodeConfig{Name: "hello", TaskMessages: []frames.Message{
				{Role: frames.RoleSystem, Text: "Greet the user and ask how they are."},
			}}
		},
	}})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/bot/", http.StripPrefix("/bot", srv.Handler()))
	hs := httptest.NewServer(mux)
	defer hs.Close()

	response, err := http.Get(hs.URL + "/bot/readyz")
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	fmt.Println(response.Status)
	// Output: 200 OK
}

// A bot without a flow builds its own pipeline around the session's output.
func ExampleBotFunc() {
	model := offline.New(offline.Config{})
	bot := server.BotFunc(func(s *server.Session) (*pipeline.Task, error) {
		convo := frames.NewLLMContext("You are a friendly clerk.")
		service, err := llm.NewService(llm.Config{Model: model, Context: convo})
		if err != nil {
			return nil, err
		}
		pipe, err := pipeline.New(llm.NewUserAggregator(convo), service, s.Output(), llm.NewAssistantAggregator(convo))
		if err != nil {
			return nil, err
		}
		task, err := pipeline.NewTask(pipe, s.Params())
		if err != nil {
			return nil, err
		}
		s.OnReady(func() error {
			task.QueueFrame(&frames.LLMRunFrame{}) // the bot speaks first
			return nil
		})
		return task, nil
	})
	srv, err := server.New(server.Config{Bot: bot, NoPage: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(srv.Sessions(), "conversations")
	// Output: 0 conversations
}
