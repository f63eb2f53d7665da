// Package sqlite keeps runs in one SQLite file, for one machine.
//
// A commit is one row: the events, and now and then a snapshot of the run. A snapshot is
// written when the events since the last one take as many bytes as that one did, so what a
// commit costs does not grow with its run, and neither does, beyond the size of the run
// itself, what it costs to load it.
//
// All writes of a process go through one goroutine, which puts those that wait into one
// transaction. Several processes may use one file; the fence of each commit keeps them
// apart. A file on a network drive is not safe for that, see SQLite's own documentation.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/turnwise/turnwise/flows/run"
)

// Durability is what a commit that has returned survives.
type Durability string

const (
	// Process survives the end of the process, however it comes; a loss of power may take
	// the last commits, and leaves what was before.
	Process Durability = "process"
	// Power survives a loss of power, too: every commit waits for the disk.
	Power Durability = "power"
)

// The errors of this store, besides those of [run.Store].
var (
	// ErrClosed: the store has been closed.
	ErrClosed = errors.New("sqlite: the store is closed")
	// ErrDamaged: of this run there is no record left that can be read. What is there is
	// kept as it is.
	ErrDamaged = errors.New("sqlite: no record of the run can be read")
	// ErrNewer: the file was written by a later version of this program.
	ErrNewer = errors.New("sqlite: the file was written by a later version")
)

// Config is how a store is opened.
type Config struct {
	// Path of the file, which is made when there is none.
	Path string
	// Durability; [Process] when empty.
	Durability Durability
	// Poll is how long it takes at most until a commit of another process is seen by
	// [Store.Watch]; 500 ms when 0. Commits of this process are seen at once.
	Poll time.Duration
	// Logger is told of damaged records; nil discards it.
	Logger *slog.Logger
}

// Store is a [run.Store] in a file. It may be used from any goroutine.
type Store struct {
	cfg    Config
	read   *sql.DB
	write  *writer
	news   news
	closed chan struct{}
	once   sync.Once
}

var _ run.Store = (*Store)(nil)

// Open opens a store. [Store.Close] closes it.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	switch cfg.Durability {
	case "":
		cfg.Durability = Process
	case Process, Power:
	default:
		return nil, fmt.Errorf("sqlite: durability is %q; it is %q or %q", cfg.Durability, Process, Power)
	}
	if cfg.Path == "" {
		return nil, errors.New("sqlite: a store needs a path")
	}
	if cfg.Poll <= 0 {
		cfg.Poll = 500 * time.Millisecond
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	db, err := sql.Open("sqlite", dsn(cfg, true))
	if err != nil {
		return nil, fmt.Errorf("sqlite: %s: %w", cfg.Path, err)
	}
	db.SetMaxOpenConns(1)
	if err := migrate(ctx, db); err != nil {
		return nil, errors.Join(fmt.Errorf("sqlite: %s: %w", cfg.Path, err), db.Close())
	}
	read, err := sql.Open("sqlite", dsn(cfg, false))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("sqlite: %s: %w", cfg.Path, err), db.Close())
	}
	read.SetMaxOpenConns(4)
	s := &Store{cfg: cfg, read: read, closed: make(chan struct{})}
	if s.write, err = newWriter(ctx, db); err != nil {
		return nil, errors.Join(fmt.Errorf("sqlite: %s: %w", cfg.Path, err), read.Close(), db.Close())
	}
	return s, nil
}

// Close waits for the writes that have begun, ends every Watch, and closes the file.
// Calls after it fail with ErrClosed.
func (s *Store) Close() error {
	var err error
	s.once.Do(func() {
		close(s.closed)
		err = errors.Join(s.write.close(), s.read.Close())
	})
	return err
}

// open fails when the store has been closed.
func (s *Store) open() error {
	select {
	case <-s.closed:
		return ErrClosed
	default:
		return nil
	}
}

// dsn is the address of the file for the driver. In the mode WAL, readers do not wait for
// the writer; NORMAL syncs at checkpoints only, FULL at each commit.
func dsn(cfg Config, writes bool) string {
	q := url.Values{}
	sync := "NORMAL"
	if cfg.Durability == Power {
		sync = "FULL"
	}
	q.Add("_pragma", "busy_timeout(10000)")
	q.Add("_pragma", "journal_mode(WAL)")
	q.Add("_pragma", "synchronous("+sync+")")
	q.Add("_pragma", "temp_store(MEMORY)")
	if writes {
		q.Add("_txlock", "immediate")
	} else {
		q.Add("_pragma", "query_only(1)")
	}
	return (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: cfg.Path}).EscapedPath(), RawQuery: q.Encode()}).String()
}

// nanos is a time as a column; nil for none.
func nanos(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixNano()
}

// timeOf is a column as a time.
func timeOf(n sql.NullInt64) time.Time {
	if !n.Valid {
		return time.Time{}
	}
	return time.Unix(0, n.Int64).UTC()
}
