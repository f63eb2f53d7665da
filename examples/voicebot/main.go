// Command voicebot is a bot to call from the browser: it takes an order in a café. It
// hears and speaks with programs of this machine (turnwise doctor tells which), and an
// offline stand-in plays the language model.
//
//	go run ./examples/voicebot        then open http://localhost:8080 and press the microphone
package main

import (
	"context"
	"fmt"
	"log"
	"os/signal"
	"syscall"

	"github.com/turnwise/turnwise/flows"
	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm/offline"
	"github.com/turnwise/turnwise/server"
	"github.com/turnwise/turnwise/speech/local"
)

type order struct {
	Drink string `json:"drink" jsonschema:"what to drink" enum:"coffee,tea,water"`
	Cups  int    `json:"cups" jsonschema:"how many cups" minimum:"1" maximum:"6"`
}

func ask() *flows.NodeConfig {
	return &flows.NodeConfig{
		Name:         "ask",
		RoleMessage:  "You are the friendly voice of a small café. Keep it short.",
		TaskMessages: []frames.Message{{Role: frames.RoleSystem, Text: "Greet the guest and ask what they would like to drink, and how many cups."}},
		Functions:    []flows.NodeFunction{flows.Func("order", "The guest has said what to drink.", take, flows.WithTargets("thank"))},
	}
}

func take(_ context.Context, o order, _ *flows.FlowManager) (string, *flows.NodeConfig, error) {
	return fmt.Sprintf("%d × %s ordered", o.Cups, o.Drink), thank(), nil
}

func thank() *flows.NodeConfig {
	return &flows.NodeConfig{
		Name:         "thank",
		TaskMessages: []frames.Message{{Role: frames.RoleSystem, Text: "Repeat the order and thank the guest."}},
		PostActions:  []flows.Action{flows.EndConversation("")},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	bot := &server.FlowBot{Title: "Café", Model: offline.New(offline.Config{}), Start: ask, Nodes: []*flows.NodeConfig{thank()}}
	srv, err := server.New(server.Config{Bot: bot, Addr: "localhost:8080", Voice: func() server.Voice { return server.LocalVoice(local.Find(ctx)) }})
	if err != nil {
		log.Fatal(err)
	}
	if err := srv.Run(ctx); err != nil {
		log.Fatal(err)
	}
}
