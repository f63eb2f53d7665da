// Package server serves conversations over HTTP: it admits clients, gives each a
// session of its own, shows a page to talk to the bot with, tells operators how it
// is doing, and lets conversations finish when it is asked to stop.
//
// What a conversation is made of is up to a [Bot]. For a flow there is [FlowBot]:
//
//	srv, err := server.New(server.Config{
//		Addr: ":8080",
//		Bot:  &server.FlowBot{Title: "Table booking", Model: model, Start: greeting},
//	})
//	if err != nil {
//		log.Fatal(err)
//	}
//	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
//	defer stop()
//	log.Fatal(srv.Run(ctx))
//
// The addresses it answers:
//
//	GET  /                   the page
//	GET  /ws                 a conversation over a WebSocket: RTVI as JSON or protobuf
//	POST /connect, /start    where to connect to: {"wsUrl": …}
//	POST, PATCH /api/offer   a call over WebRTC, on a server with a [Voice]
//	GET  /api/flow           the flow as JSON, see [Flow]
//	GET  /api/flow/graph.svg its drawing
//	GET  /healthz            200 while the process lives
//	GET  /readyz             200 while it takes conversations, 503 while it drains
//	GET  /metrics            Prometheus
//
// Refusals are JSON with a "detail" that may be shown to people.
package server
