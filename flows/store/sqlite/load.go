package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/turnwise/turnwise/flows/expr"
	"github.com/turnwise/turnwise/flows/run"
)

// Load gives a run as it was last committed.
//
// When records of it are damaged, they and those behind them are set aside, in the table
// damaged, and the run is at the last state that can be read; whoever still has the run at
// a later revision is fenced. When there is no such state, it fails with ErrDamaged and
// leaves everything as it is.
func (s *Store) Load(ctx context.Context, id string) (*run.Record, error) {
	if err := s.open(); err != nil {
		return nil, err
	}
	rec, bad, err := s.load(ctx, id)
	if err == nil && bad != nil {
		if err = s.setAside(ctx, id, bad); err == nil {
			rec, bad, err = s.load(ctx, id)
			if err == nil && bad != nil {
				err = bad
			}
		}
	}
	if err != nil {
		return nil, wrapped(err, "loading run "+id)
	}
	return rec, nil
}

// damage tells where a run's history cannot be read any more.
type damage struct {
	good     *run.Run // what it was before
	since    int64    // bytes of events since its last snapshot
	revision int64    // the first record that cannot be read
	cause    error
}

func (d *damage) Error() string { return fmt.Sprintf("record %d: %v", d.revision, d.cause) }

// load reads a run. Damage is told besides.
func (s *Store) load(ctx context.Context, id string) (*run.Record, *damage, error) {
	tx, err := s.read.BeginTx(ctx, nil) // one state of the file for all that is read
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = tx.Rollback() }() // it has only read
	rec := &run.Record{}
	if err := tx.QueryRowContext(ctx, "SELECT revision FROM runs WHERE id = ?", id).Scan(&rec.Revision); errors.Is(err, sql.ErrNoRows) {
		return nil, nil, run.ErrNoRun
	} else if err != nil {
		return nil, nil, err
	}
	var bad *damage
	if rec.Run, bad, err = history(ctx, tx, id, rec.Revision); err != nil || bad != nil {
		return nil, bad, err
	}
	rec.Answers, err = answers(ctx, tx, id)
	return rec, nil, err
}

// history gives the run at the last revision: the last good snapshot, and the events
// behind it.
func history(ctx context.Context, tx *sql.Tx, id string, last int64) (*run.Run, *damage, error) {
	r, from, err := lastSnapshot(ctx, tx, id)
	if err != nil {
		return nil, nil, err
	}
	rows, err := tx.QueryContext(ctx, "SELECT revision, last, events, snapshot, sum FROM records WHERE run = ? AND revision > ? ORDER BY revision", id, from)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	since := int64(0)
	at := from
	for rows.Next() {
		var one record
		if err := rows.Scan(&one.revision, &one.last, &one.events, &one.snapshot, &one.sum); err != nil {
			return nil, nil, err
		}
		next, err := one.onto(id, at+1, r)
		if err != nil {
			return nil, &damage{good: r, since: since, revision: at + 1, cause: err}, nil
		}
		r, at = next, one.revision
		since += int64(len(one.events))
	}
	if err := rows.Err(); err != nil {
		return nil, nil, err
	}
	if at < last {
		return nil, &damage{good: r, since: since, revision: at + 1, cause: errors.New("it is missing")}, nil
	}
	return r, nil, nil
}

// lastSnapshot gives the latest snapshot that is good, and its revision; nil and 0 when
// there is none.
func lastSnapshot(ctx context.Context, tx *sql.Tx, id string) (*run.Run, int64, error) {
	rows, err := tx.QueryContext(ctx, "SELECT revision, last, events, snapshot, sum FROM records WHERE run = ? AND snapshot IS NOT NULL ORDER BY revision DESC", id)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var one record
		if err := rows.Scan(&one.revision, &one.last, &one.events, &one.snapshot, &one.sum); err != nil {
			return nil, 0, err
		}
		if one.check(id) != nil {
			continue
		}
		if r, err := run.DecodeRun(one.snapshot); err == nil {
			return r, one.revision, nil
		}
	}
	return nil, 0, rows.Err()
}

// record is a row.
type record struct {
	revision, last        int64
	events, snapshot, sum []byte
}

// check tells whether the record is as it was written.
func (r *record) check(id string) error {
	if !bytes.Equal(r.sum, checksum(id, r.revision, r.last, r.events, r.snapshot)) {
		return errors.New("it is damaged")
	}
	return nil
}

// onto gives the run after the record's events.
func (r *record) onto(id string, revision int64, before *run.Run) (*run.Run, error) {
	if r.revision != revision {
		return nil, errors.New("it is missing")
	}
	if err := r.check(id); err != nil {
		return nil, err
	}
	events, err := run.DecodeEvents(r.events)
	if err != nil {
		return nil, err
	}
	if before == nil {
		return run.Replay(events)
	}
	return run.ReplayFrom(before, events)
}

// answers are those accepted and not consumed.
func answers(ctx context.Context, tx *sql.Tx, id string) ([]run.Answer, error) {
	rows, err := tx.QueryContext(ctx, "SELECT interrupt, value, by FROM answers WHERE run = ? AND consumed = 0 ORDER BY place", id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []run.Answer
	for rows.Next() {
		var a run.Answer
		var raw []byte
		if err := rows.Scan(&a.Interrupt, &raw, &a.By); err != nil {
			return nil, err
		}
		if a.Value, err = expr.Decode(raw); err != nil {
			return nil, fmt.Errorf("reading the answer to %s: %w", a.Interrupt, err)
		}
		all = append(all, a)
	}
	return all, rows.Err()
}

// setAside takes the records from the damaged one on out of a run's history.
func (s *Store) setAside(ctx context.Context, id string, d *damage) error {
	if d.good == nil {
		return fmt.Errorf("%w: %w", ErrDamaged, d)
	}
	s.cfg.Logger.LogAttrs(ctx, slog.LevelError, "a run's records are damaged; it goes on from the last good one",
		slog.String("run", id), slog.Int64("revision", d.revision), slog.String("cause", d.cause.Error()))
	return s.write.do(ctx, func(st *statements) error { return st.setAside(ctx, id, d) })
}

func (st *statements) setAside(ctx context.Context, id string, d *damage) error {
	var revision, since, size int64
	if err := st.revision.QueryRow(id).Scan(&revision, &since, &size); err != nil {
		return err
	}
	// The state begins anew with a record of no events and a snapshot, one revision later
	// than any that somebody may have loaded.
	snapshot, err := json.Marshal(d.good)
	if err != nil {
		return err
	}
	revision++
	// When it is due is not in the record; it is due now, and who advances it says more.
	line := run.Summarize(d.good, revision, time.Now())
	for _, query := range []string{
		"INSERT INTO damaged SELECT run, revision, last, events, snapshot, sum FROM records WHERE run = ? AND revision >= ?",
		"DELETE FROM records WHERE run = ? AND revision >= ?",
	} {
		if _, err := st.conn.ExecContext(ctx, query, id, d.revision); err != nil {
			return err
		}
	}
	none := []byte("[]")
	if _, err := st.record.Exec(id, revision, d.good.Seq, none, snapshot, checksum(id, revision, d.good.Seq, none, snapshot)); err != nil {
		return err
	}
	if _, err := st.updateRun.Exec(line.Key, line.Flow, d.good.Hash, string(line.Status), line.Node, line.Outcome, line.Waits, revision,
		nanos(line.Touched), nanos(line.Due), 0, len(snapshot), id); err != nil {
		return err
	}
	return st.reopen(id, d.good)
}

// reopen makes the open interrupts those of a run.
func (st *statements) reopen(id string, r *run.Run) error {
	if _, err := st.closeAll.Exec(id); err != nil {
		return err
	}
	for _, i := range r.Interrupts {
		raw, err := json.Marshal(i)
		if err != nil {
			return err
		}
		if _, err := st.openInterrupt.Exec(id, i.ID, raw); err != nil {
			return err
		}
	}
	return nil
}
