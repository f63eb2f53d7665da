package run_test

import (
	"testing"

	"github.com/turnwise/turnwise/flows/run"
	"github.com/turnwise/turnwise/flows/store/storetest"
)

func TestMemoryIsAStore(t *testing.T) {
	storetest.Test(t, func(*testing.T) run.Store { return &run.Memory{} })
}
