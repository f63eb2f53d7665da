package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/turnwise/turnwise/examples/tablebooking/booking"
	"github.com/turnwise/turnwise/server"
)

// run serves until it is stopped.
func (c *serveCmd) run(ctx context.Context, w *world, g *cli) error {
	log, err := g.logger(w.stderr, slog.LevelInfo)
	if err != nil {
		return err
	}
	if err := c.check(); err != nil {
		return err
	}
	model, info, err := c.model(w, log, defaultPace)
	if err != nil {
		return err
	}
	voice, hangUp, err := c.voice(ctx, w)
	if err != nil {
		return err
	}
	defer hangUp()
	phone, err := c.phone(w)
	if err != nil {
		return err
	}
	record, err := c.recordings()
	if err != nil {
		return err
	}
	bot := lateBot(sync.OnceValue(func() *server.FlowBot { return newBot(model, info) }))
	idle := c.IdleTimeout
	if idle == 0 {
		idle = -1
	}
	srv, err := server.New(server.Config{
		Bot: bot, Voice: voice, Phone: phone, Record: record, Logger: log, Version: version(),
		MaxSessions: c.MaxSessions, ConnectRate: c.ConnectRate, ConnectBurst: 2 * c.ConnectRate,
		IdleTimeout: idle, Drain: max(c.Drain, time.Nanosecond),
		AllowedOrigins: c.AllowedOrigins, AllowedHosts: c.AllowedHosts, PublicURL: c.PublicURL, NoMetrics: c.NoMetrics,
	})
	if errors.Is(err, server.ErrConfig) {
		return usageError(err.Error())
	}
	if err != nil {
		return err
	}
	ctx, stop := untilStopped(ctx)
	defer stop()
	l, err := net.Listen("tcp", c.Addr)
	if err != nil {
		return fmt.Errorf("cannot listen at %s: %w; choose another address with --addr", c.Addr, err)
	}
	who := info.Name
	if info.StandIn {
		who = "the offline stand-in"
	}
	fmt.Fprintf(w.stdout, "Turnwise serves %q at %s; %s answers. Ctrl-C stops.\n", booking.Title, pageURL(l.Addr()), who)
	return srv.Serve(ctx, l)
}

// pageURL is where a browser on this machine finds the page.
func pageURL(a net.Addr) string {
	host, port, err := net.SplitHostPort(a.String())
	if err != nil {
		return a.String()
	}
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() || ip.IsLoopback() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port)
}
