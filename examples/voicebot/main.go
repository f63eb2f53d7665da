// Command voicebot takes orders in a café, by voice: go run ./examples/voicebot, open http://localhost:8080
// and press the microphone. Programs of this machine hear and speak; turnwise doctor tells which.
package main

import (
	"context"
	"fmt"
	"log"
	"log/slog"
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
		Name: "ask", RoleMessage: "You are the friendly voice of a small café. Keep it short.",
		TaskMessages: []frames.Message{{Role: frames.RoleSystem, Text: "Greet the guest and ask what they would like to drink, and how many cups."}},
		Functions:    []flows.NodeFunction{flows.Func("order", "The guest has said what to drink.", take, flows.WithTargets("thank"))},
	}
}

func take(_ context.Context, o order, _ *flows.FlowManager) (string, *flows.NodeConfig, error) {
	return fmt.Sprintf("%d × %s ordered", o.Cups, o.Drink), thank(), nil
}

func thank() *flows.NodeConfig {
	return &flows.NodeConfig{
		Name: "thank", TaskMessages: []frames.Message{{Role: frames.RoleSystem, Text: "Repeat the order and thank the guest."}},
		PostActions: []flows.Action{flows.EndConversation("")},
	}
}

func newServer(ctx context.Context) (*server.Server, error) {
	bot := &server.FlowBot{Title: "Café", Model: offline.New(offline.Config{}), Start: ask, Nodes: []*flows.NodeConfig{thank()}}
	return server.New(server.Config{Bot: bot, Addr: "localhost:8080", Logger: slog.Default(), Voice: func() server.Voice { return server.LocalVoice(local.Find(ctx)) }})
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	srv, err := newServer(ctx)
	if err == nil {
		err = srv.Run(ctx)
	}
	if err != nil {
		log.Fatal(err)
	}
}
