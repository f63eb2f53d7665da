package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/turnwise/turnwise/llm/offline"
)

// run serves the offline model as an OpenAI-compatible server until it is stopped.
func (c *offlineLLMCmd) run(ctx context.Context, w *world, g *cli) error {
	log, err := g.logger(w.stderr, slog.LevelInfo)
	if err != nil {
		return err
	}
	if err := notNegative("pace", c.Pace); err != nil {
		return err
	}
	ctx, stop := untilStopped(ctx)
	defer stop()
	l, err := net.Listen("tcp", c.Addr)
	if err != nil {
		return fmt.Errorf("cannot listen at %s: %w; choose another address with --addr", c.Addr, err)
	}
	hs := &http.Server{
		Handler:           offline.Handler(offline.New(offline.Config{WordDelay: c.Pace})),
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second, WriteTimeout: 2 * time.Minute, IdleTimeout: time.Minute,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	fmt.Fprintf(w.stdout, "The offline stand-in answers at %s/v1 as the model %q; it is no language model. Ctrl-C stops.\n", pageURL(l.Addr()), offline.Name)
	failed := make(chan error, 1)
	go func() { failed <- hs.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err = hs.Shutdown(closing)
	<-failed
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.New("responses were cut off by the end")
	}
	return err
}
