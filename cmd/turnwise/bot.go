package main

import (
	"github.com/turnwise/turnwise/examples/tablebooking/booking"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/pipeline"
	"github.com/turnwise/turnwise/server"
)

// newBot is the table booking example with a model.
func newBot(model llm.Model, info server.ModelInfo) *server.FlowBot {
	flow := booking.New(booking.Config{})
	return &server.FlowBot{
		Name: booking.Name, Title: booking.Title, Model: model, Info: info,
		Start: flow.Start, Nodes: flow.Nodes(), GlobalFunctions: flow.GlobalFunctions(),
	}
}

// lateBot is a bot that is built for the first who needs it, so that the server is
// ready sooner. The function gives the same bot every time.
type lateBot func() *server.FlowBot

// Session builds a conversation.
func (b lateBot) Session(s *server.Session) (*pipeline.Task, error) { return b().Session(s) }

// Describe outlines the flow.
func (b lateBot) Describe() server.Flow { return b().Describe() }
