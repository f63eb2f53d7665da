// Command phone is the table booking bot behind a telephone number. Twilio asks what to do
// with a call, and streams it here.
//
//	go run ./examples/phone --url https://bot.example --token 0123456789abcdef
//
// At Twilio, set the number's "a call comes in" to
// https://bot.example/phone/twilio?token=0123456789abcdef. The address has to reach this
// program at port 8080, through a tunnel or a proxy that ends TLS. Telnyx and Plivo ask
// at /phone/telnyx and /phone/plivo; Exotel is given wss://bot.example/phone/stream?token=….
package main

import (
	"context"
	"flag"
	"log"
	"log/slog"
	"os/signal"
	"syscall"

	"github.com/turnwise/turnwise/examples/tablebooking/booking"
	"github.com/turnwise/turnwise/llm/offline"
	"github.com/turnwise/turnwise/server"
	"github.com/turnwise/turnwise/speech/local"
)

func main() {
	url := flag.String("url", "", "the address at which Twilio reaches this program")
	token := flag.String("token", "", "a secret of at least 16 characters, part of the address Twilio asks")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	srv, err := newServer(ctx, *url, *token)
	if err != nil {
		log.Fatal(err)
	}
	if err := srv.Run(ctx); err != nil {
		log.Fatal(err)
	}
}

// newServer is a server that takes calls by telephone. The bot hears and speaks with
// programs of this machine.
func newServer(ctx context.Context, url, token string) (*server.Server, error) {
	flow := booking.New(booking.Config{})
	return server.New(server.Config{
		Bot: &server.FlowBot{
			Title: booking.Title, Model: offline.New(offline.Config{}),
			Start: flow.Start, Nodes: flow.Nodes(), GlobalFunctions: flow.GlobalFunctions(),
		},
		Voice:     func() server.Voice { return server.LocalVoice(local.Find(ctx)) },
		Phone:     &server.Phone{Token: token},
		PublicURL: url, Logger: slog.Default(),
	})
}
