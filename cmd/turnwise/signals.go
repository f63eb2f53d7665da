package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// untilStopped ends with the first SIGINT or SIGTERM. The second one then does what
// it does to any process.
func untilStopped(ctx context.Context) (context.Context, func()) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// interrupts passes on every Ctrl-C from now on until stop is called.
func interrupts() (breaks <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 2)
	signal.Notify(c, os.Interrupt)
	return c, func() { signal.Stop(c) }
}
