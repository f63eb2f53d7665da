package sqlite_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/turnwise/turnwise/flows/run"
	"github.com/turnwise/turnwise/flows/store/sqlite"
	"github.com/turnwise/turnwise/flows/store/storetest"
)

// open opens the store in a file and closes it at the end of the test.
func open(t testing.TB, cfg sqlite.Config) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestIsAStore(t *testing.T) {
	storetest.Test(t, func(t *testing.T) run.Store {
		return open(t, sqlite.Config{Path: filepath.Join(t.TempDir(), "runs.db")})
	})
}

func TestTwoProcessesShareAFile(t *testing.T) {
	// Two stores on one file are to each other what two processes are.
	storetest.Test(t, func(t *testing.T) run.Store {
		path := filepath.Join(t.TempDir(), "runs.db")
		return &pair{open(t, sqlite.Config{Path: path}), open(t, sqlite.Config{Path: path, Poll: 1e6})}
	})
}

// pair writes with one store and reads with another.
type pair struct {
	*sqlite.Store
	other *sqlite.Store
}

func (p *pair) Load(ctx context.Context, id string) (*run.Record, error) {
	return p.other.Load(ctx, id)
}

func (p *pair) Answer(ctx context.Context, id string, a run.Answer) (any, bool, error) {
	return p.other.Answer(ctx, id, a)
}

func TestAClosedStoreSaysSo(t *testing.T) {
	s, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "runs.db")})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Load(t.Context(), "r"); !errors.Is(err, sqlite.ErrClosed) {
		t.Error(err)
	}
	if err := s.PutFlow(t.Context(), "h", nil); !errors.Is(err, sqlite.ErrClosed) {
		t.Error(err)
	}
}
