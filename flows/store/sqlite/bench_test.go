package sqlite_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnwise/turnwise/flows/run"
	"github.com/turnwise/turnwise/flows/store/sqlite"
)

// BenchmarkCommit is steps of 64 runs at once, each committed before the next of its run.
func BenchmarkCommit(b *testing.B) {
	for _, d := range []sqlite.Durability{sqlite.Process, sqlite.Power} {
		b.Run(string(d), func(b *testing.B) {
			store := open(b, sqlite.Config{Path: filepath.Join(b.TempDir(), "runs.db"), Durability: d})
			b.ReportAllocs()
			b.SetParallelism(32)
			var number atomic.Int64
			b.RunParallel(func(pb *testing.PB) {
				one := begin(b, store, fmt.Sprint("run-", number.Add(1)))
				for pb.Next() {
					one.note(one.rec.Revision)
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "steps/s")
		})
	}
}

// BenchmarkCommitAsARunGrows is one commit of a run that has many events already.
func BenchmarkCommitAsARunGrows(b *testing.B) {
	for _, events := range []int64{10, 1000, 10000} {
		b.Run(fmt.Sprint(events, " events"), func(b *testing.B) {
			store := open(b, sqlite.Config{Path: filepath.Join(b.TempDir(), "runs.db")})
			one := begin(b, store, "r")
			for one.rec.Run.Seq < events {
				one.note(one.rec.Revision)
			}
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				one.note(one.rec.Revision)
			}
		})
	}
}

// BenchmarkLoad is what resuming reads of a run of a hundred turns.
func BenchmarkLoad(b *testing.B) {
	store := open(b, sqlite.Config{Path: filepath.Join(b.TempDir(), "runs.db")})
	one := begin(b, store, "r")
	for range 50 {
		one.note(one.rec.Revision)
		one.turn("What the user says is a sentence of some words, like this one.", "And what the bot says is another.")
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := store.Load(b.Context(), "r"); err != nil {
			b.Fatal(err)
		}
	}
}

// turn commits an exchange.
func (b *book) turn(user, bot string) {
	b.Helper()
	now := time.Unix(1+b.rec.Revision, 0).UTC()
	r, events, err := b.plan.Advance(b.rec.Run, run.Input{Now: now, Responses: []run.Response{run.UserTurn{Text: user}, run.BotTurn{Text: bot}}})
	if err != nil {
		b.Fatal(err)
	}
	b.commit(run.Commit{Expect: b.rec.Revision, Run: r, Events: events})
}

// BenchmarkFindDue is finding the hundred runs that are due among a million that wait.
func BenchmarkFindDue(b *testing.B) {
	path := filepath.Join(b.TempDir(), "runs.db")
	store := open(b, sqlite.Config{Path: path})
	db, err := sql.Open("sqlite", path)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000)
		INSERT INTO runs SELECT 'run-' || i, '', 'f', 'h', 'waiting', 'n', '', 1, 1, i, (i * 7919) % 1000003, 0, 0 FROM n`); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		found, err := store.Find(b.Context(), run.Query{Due: time.Unix(0, 1000), Limit: 100})
		if err != nil || len(found) != 100 {
			b.Fatal(len(found), err)
		}
	}
}
