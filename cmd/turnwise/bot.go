package main

import (
	"log/slog"
	"time"

	"github.com/turnwise/turnwise/examples/tablebooking/booking"
	"github.com/turnwise/turnwise/server"
)

// bot is the table booking example with the model that the flags choose. Pace is
// the offline model's when the flags do not say.
func (f *modelFlags) bot(w *world, log *slog.Logger, pace time.Duration) (*server.FlowBot, error) {
	if f.Pace != nil {
		pace = *f.Pace
	}
	model, info, err := f.model(w, log, pace)
	if err != nil {
		return nil, err
	}
	flow := booking.New(booking.Config{})
	return &server.FlowBot{
		Name: booking.Name, Title: booking.Title, Model: model, Info: info,
		Start: flow.Start, Nodes: flow.Nodes(), GlobalFunctions: flow.GlobalFunctions(),
	}, nil
}
