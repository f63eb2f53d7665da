package run

import (
	"context"
	"errors"
	"iter"
	"time"
)

// The refusals of a store.
var (
	// ErrNoRun: the store has no run of that id.
	ErrNoRun = errors.New("run: there is no such run")
	// ErrExists: the store has a run of that id already.
	ErrExists = errors.New("run: a run of that id exists already")
	// ErrFenced: somebody else has committed since the run was loaded. Nothing was
	// written; load it again.
	ErrFenced = errors.New("run: somebody else has carried the run on")
	// ErrNoFlow: the store has no flow of that hash.
	ErrNoFlow = errors.New("run: there is no flow of that hash")
)

// Store keeps runs. All methods may be called from any goroutine and any number of
// processes; a Run that goes in or comes out is not changed by anybody.
type Store interface {
	// Load gives a run as it was last committed, with the answers that have been
	// accepted and not been consumed. It fails with ErrNoRun.
	Load(ctx context.Context, id string) (*Record, error)
	// Commit writes one record, all of it or nothing, and gives the new revision. It
	// fails with ErrFenced when the revision is not the expected one, and with ErrExists
	// when a new run is not new. When it returns, the record is as durable as the store
	// promises.
	Commit(ctx context.Context, c Commit) (revision int64, err error)
	// Answer accepts the first valid answer to an open interrupt, without a lease and
	// without advancing the run. first tells whether it was this one; a later one gets
	// the value that was accepted, also when the interrupt is closed by now. When an
	// interrupt of the same id is opened again, after the first answer has been consumed,
	// it may be answered anew. It fails with ErrNoRun, ErrNoInterrupt and *InvalidAnswer.
	Answer(ctx context.Context, run string, a Answer) (accepted any, first bool, err error)
	// Watch gives the events after a number as they are committed, until ctx ends or the
	// run does. A run that cannot be read gives one error.
	Watch(ctx context.Context, run string, after int64) iter.Seq2[Event, error]
	// Find lists runs, the one touched last first; those that are due, the one due first
	// first.
	Find(ctx context.Context, q Query) ([]Summary, error)
	// Flow is the document of a flow by its hash; it fails with ErrNoFlow.
	Flow(ctx context.Context, hash string) ([]byte, error)
	// PutFlow keeps a document under its hash for as long as a run is pinned to it.
	PutFlow(ctx context.Context, hash string, document []byte) error
}

// Record is a run as a store has it.
type Record struct {
	Run      *Run
	Revision int64    // grows by one with each commit
	Answers  []Answer // accepted, in order; the next commit that has taken them says so
}

// Commit is one record to write.
type Commit struct {
	// Expect is the revision the run was loaded at; 0 for a new run.
	Expect int64
	// Run is the run as it is after the events. A store may keep it as a snapshot, or
	// the events alone.
	Run *Run
	// Events since the expected revision.
	Events []Event
	// Consumed are the interrupts whose accepted answers the events have taken.
	Consumed []string
	// Due is when the run must be advanced at the latest; zero when nothing is due.
	Due time.Time
}

// Query selects runs. Empty fields select all.
type Query struct {
	Key    string    // who they belong to
	Flow   string    // name of the flow
	Status Status    //
	Due    time.Time // those due at that time or before
	Limit  int       // most to give; 100 when 0
}

// Summary is a run in a list.
type Summary struct {
	ID, Key, Flow string
	Status        Status
	Node          string // of the flow's own scope
	Revision      int64
	Touched       time.Time
	Due           time.Time
	Waits         int    // open interrupts
	Outcome       string // empty until it has ended
}

// Summarize gives what a list tells of a run. It is what stores index runs by.
func Summarize(r *Run, revision int64, due time.Time) Summary {
	s := Summary{ID: r.ID, Key: r.Key, Flow: r.Flow, Status: r.Status, Revision: revision, Touched: r.Touched, Due: due, Waits: len(r.Interrupts)}
	if root := r.Scopes[""]; root != nil {
		s.Node = root.Node
	}
	if r.Outcome != nil {
		s.Outcome = r.Outcome.Name
	}
	return s
}
