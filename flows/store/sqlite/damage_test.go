package sqlite_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/turnwise/turnwise/flows/run"
	"github.com/turnwise/turnwise/flows/store/sqlite"
)

// noting is a flow that notes what it is given.
const noting = `{"turnwise": 1, "flow": "noting", "start": "ask", "state": {"note": {}},
"nodes": {"ask": {"task": "Ask.", "functions": {"note": {"description": "Note.", "parameters": {"note": {}}, "save": {"note": "{{ args.note }}"}}}}}}`

// book is a run under way in a store.
type book struct {
	testing.TB
	plan  *run.Plan
	store run.Store
	rec   *run.Record
	past  []*run.Run // as it was at each revision, from 1
}

// begin starts a run.
func begin(t testing.TB, store run.Store, id string) *book {
	t.Helper()
	p, err := run.Compile([]byte(noting), run.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := &book{TB: t, plan: p, store: store, rec: &run.Record{}}
	r, events, err := p.Start(run.Start{ID: id}, run.Input{Now: time.Unix(1, 0).UTC()})
	if err != nil {
		t.Fatal(err)
	}
	b.commit(run.Commit{Run: r, Events: events})
	return b
}

// note commits one advance with a note.
func (b *book) note(v any) {
	b.Helper()
	call := run.FunctionCall{ID: fmt.Sprint("call-", b.rec.Revision), Name: "note", Args: map[string]any{"note": v}}
	r, events, err := b.plan.Advance(b.rec.Run, run.Input{Now: time.Unix(1+b.rec.Revision, 0).UTC(), Responses: []run.Response{call}})
	if err != nil {
		b.Fatal(err)
	}
	b.commit(run.Commit{Expect: b.rec.Revision, Run: r, Events: events})
}

func (b *book) commit(c run.Commit) {
	b.Helper()
	revision, err := b.store.Commit(b.Context(), c)
	if err != nil {
		b.Fatal(err)
	}
	b.rec = &run.Record{Run: c.Run, Revision: revision}
	b.past = append(b.past, c.Run)
}

// state is what is noted.
func state(r *run.Run) any { return r.Scopes[""].State["note"] }

// spoil executes SQL on a file that no store has open.
func spoil(t *testing.T, path, query string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(query); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestTheLastGoodStateIsUsedWhenRecordsAreDamaged(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil string
		notes int
		want  any // what is noted in the last good state
	}{
		{"the last record has another bit", "UPDATE records SET events = CAST(replace(CAST(events AS TEXT), '5', '6') AS BLOB) WHERE revision = 6", 5, int64(4)},
		{"a record in the middle is cut short", "UPDATE records SET events = substr(events, 1, 40) WHERE revision = 4", 5, int64(2)},
		{"a record in the middle is missing", "DELETE FROM records WHERE revision = 4", 5, int64(2)},
		{"the last record is missing", "DELETE FROM records WHERE revision = 6", 5, int64(4)},
		{"the last snapshot is garbage", "UPDATE records SET snapshot = x'00' WHERE revision = (SELECT max(revision) FROM records WHERE snapshot IS NOT NULL)", 300, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "runs.db")
			store, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
			if err != nil {
				t.Fatal(err)
			}
			b := begin(t, store, "r")
			for i := range c.notes {
				b.note(int64(i + 1))
			}
			if err := store.Close(); err != nil {
				t.Fatal(err)
			}
			spoil(t, path, c.spoil)
			store = open(t, sqlite.Config{Path: path})
			rec, err := store.Load(t.Context(), "r")
			if err != nil {
				t.Fatal(err)
			}
			got := state(rec.Run)
			if c.want != nil && got != c.want {
				t.Fatalf("noted %v, want %v", got, c.want)
			}
			if n, is := got.(int64); !is || state(b.past[n]) != got {
				t.Fatalf("noted %v, which it never was", got)
			}
			// Whoever still has the run is fenced, and the run goes on.
			stale := run.Commit{Expect: b.rec.Revision, Run: b.rec.Run}
			if _, err := store.Commit(t.Context(), stale); !errors.Is(err, run.ErrFenced) {
				t.Fatalf("a commit on what is lost: %v", err)
			}
			b.store, b.rec = store, rec
			b.note("again")
			if rec, err = store.Load(t.Context(), "r"); err != nil || state(rec.Run) != "again" {
				t.Fatalf("noted %v after going on, %v", state(rec.Run), err)
			}
		})
	}
}

func TestARunOfWhichNothingCanBeReadIsLeftAsItIs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	begin(t, store, "r").note("n")
	other := begin(t, store, "other")
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	spoil(t, path, "UPDATE records SET events = x'ff' WHERE revision = 1 AND run = 'r'")
	store = open(t, sqlite.Config{Path: path})
	for range 2 {
		if _, err := store.Load(t.Context(), "r"); !errors.Is(err, sqlite.ErrDamaged) {
			t.Fatalf("loading: %v", err)
		}
	}
	if _, err := store.Load(t.Context(), "other"); err != nil {
		t.Errorf("another run: %v", err)
	}
	other.store = store
	other.note("goes on")
}

func TestAFileThatIsNoDatabaseIsRefusedAndKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	text := []byte("This is a letter to my aunt, and it is longer than a page header of SQLite, which has a hundred bytes in it, or a few more.")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(t.Context(), sqlite.Config{Path: path}); err == nil {
		t.Fatal("it was opened")
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != string(text) {
		t.Errorf("the file is now %q, %v", got, err)
	}
}

func TestAFileOfALaterVersionIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	spoil(t, path, "PRAGMA user_version = 1000")
	if _, err := sqlite.Open(t.Context(), sqlite.Config{Path: path}); !errors.Is(err, sqlite.ErrNewer) {
		t.Fatal(err)
	}
}

func TestPruningForgetsWhatHasEndedLongAgoAndNothingElse(t *testing.T) {
	store := open(t, sqlite.Config{Path: filepath.Join(t.TempDir(), "runs.db")})
	alive := begin(t, store, "alive")
	ended := begin(t, store, "ended")
	if err := store.PutFlow(t.Context(), ended.plan.Hash(), []byte(noting)); err != nil {
		t.Fatal(err)
	}
	if err := store.PutFlow(t.Context(), "unused", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	r, events, err := ended.plan.Advance(ended.rec.Run, run.Input{Now: time.Unix(9, 0).UTC(), Responses: []run.Response{run.Cancel{}}})
	if err != nil {
		t.Fatal(err)
	}
	ended.commit(run.Commit{Expect: 1, Run: r, Events: events})
	if n, err := store.Prune(t.Context(), time.Unix(1, 0), 10); n != 0 || err != nil {
		t.Errorf("%d runs forgotten that were touched since, %v", n, err)
	}
	if n, err := store.Prune(t.Context(), time.Now().Add(time.Hour), 10); n != 1 || err != nil {
		t.Errorf("%d runs forgotten, want 1, %v", n, err)
	}
	if _, err := store.Load(t.Context(), "ended"); !errors.Is(err, run.ErrNoRun) {
		t.Errorf("the run that has ended: %v", err)
	}
	if _, err := store.Flow(t.Context(), "unused"); !errors.Is(err, run.ErrNoFlow) {
		t.Errorf("the flow nobody is pinned to: %v", err)
	}
	if _, err := store.Flow(t.Context(), alive.plan.Hash()); err != nil {
		t.Errorf("the flow of a run: %v", err)
	}
	alive.note("goes on")
}
