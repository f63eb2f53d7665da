package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/turnwise/turnwise/internal/origin"
)

// check finds values of flags that make no sense. They are told in the words of the
// command line, which the server's own errors do not know.
func (c *serveCmd) check() error {
	err := errors.Join(
		between("max-sessions", c.MaxSessions, 1, 1_000_000),
		between("connect-rate", c.ConnectRate, 1, 1_000_000),
		notNegative("drain", c.Drain),
		notNegative("idle-timeout", c.IdleTimeout),
	)
	for _, o := range c.AllowedOrigins {
		if bad := origin.Check(o); bad != nil {
			err = errors.Join(err, fmt.Errorf("--allow-origin: %w", bad))
		}
	}
	for _, h := range c.AllowedHosts {
		if bad := origin.CheckHost(h); bad != nil {
			err = errors.Join(err, fmt.Errorf("--allow-host: %w", bad))
		}
	}
	if err != nil {
		return usageError(err.Error())
	}
	return nil
}

func between(flag string, v, low, high int) error {
	if v < low || v > high {
		return usageError(fmt.Sprintf("--%s is %d; it must be from %d to %d", flag, v, low, high))
	}
	return nil
}

func notNegative(flag string, v time.Duration) error {
	if v < 0 {
		return usageError(fmt.Sprintf("--%s is %s; it must not be negative", flag, v))
	}
	return nil
}
