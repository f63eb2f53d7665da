package main

import (
	"errors"
	"sync"
)

// The ways a chat fails; each makes the command's exit code exitFailure.
var (
	errModelFailed = errors.New("the model failed")
	errInput       = errors.New("the input cannot be read on")
	errOutput      = errors.New("the output cannot be written")
)

// faults keeps the first thing that went wrong of each kind in a chat that goes on
// nevertheless. It is safe for concurrent use.
type faults struct {
	mu   sync.Mutex
	errs []error
}

// add notes err, which wraps kind, unless there is one of the kind already. It
// reports whether it was the first.
func (f *faults) add(kind, err error) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if errors.Is(errors.Join(f.errs...), kind) {
		return false
	}
	f.errs = append(f.errs, err)
	return true
}

// err is everything that went wrong, nil for nothing.
func (f *faults) err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return errors.Join(f.errs...)
}
