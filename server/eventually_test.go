package server_test

import (
	"testing"
	"time"
)

// eventually waits for something that happens on other goroutines and of which
// nothing tells.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	again := time.NewTicker(2 * time.Millisecond)
	defer again.Stop()
	for !is() {
		select {
		case <-again.C:
		case <-limit.C:
			t.Fatalf("waited %s until %s", patience, what)
		}
	}
}
