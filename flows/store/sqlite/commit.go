package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/turnwise/turnwise/flows/expr"
	"github.com/turnwise/turnwise/flows/run"
)

// minSnapshot is how many bytes of events come before a snapshot is worth its while.
const minSnapshot = 16 << 10

// Commit writes a record.
func (s *Store) Commit(ctx context.Context, c run.Commit) (int64, error) {
	if err := s.open(); err != nil {
		return 0, err
	}
	events, err := run.EncodeEvents(c.Events)
	if err != nil {
		return 0, err
	}
	opened, err := openedBy(c.Events)
	if err != nil {
		return 0, err
	}
	var revision int64
	err = s.write.do(ctx, func(st *statements) error {
		var err error
		revision, err = st.commitRun(c, events, opened)
		return err
	})
	if err != nil {
		return 0, wrapped(err, "committing run "+c.Run.ID)
	}
	s.news.tell(c.Run.ID)
	return revision, nil
}

// commitRun checks the fence and writes.
func (st *statements) commitRun(c run.Commit, events []byte, opened map[string][]byte) (int64, error) {
	var revision, since, size int64
	err := st.revision.QueryRow(c.Run.ID).Scan(&revision, &since, &size)
	fresh := errors.Is(err, sql.ErrNoRows)
	switch {
	case err != nil && !fresh:
		return 0, err
	case fresh && c.Expect != 0:
		return 0, refused{run.ErrNoRun}
	case !fresh && c.Expect == 0:
		return 0, refused{run.ErrExists}
	case revision != c.Expect:
		return 0, refused{run.ErrFenced}
	}
	revision++
	var snapshot []byte
	if since += int64(len(events)); since >= max(minSnapshot, size) {
		if snapshot, err = json.Marshal(c.Run); err != nil {
			return 0, fmt.Errorf("writing the run: %w", err)
		}
		since, size = 0, int64(len(snapshot))
	}
	sum := checksum(c.Run.ID, revision, c.Run.Seq, events, snapshot)
	if _, err := st.record.Exec(c.Run.ID, revision, c.Run.Seq, events, snapshot, sum); err != nil {
		return 0, err
	}
	put := st.updateRun
	if fresh {
		put = st.insertRun
	}
	line := run.Summarize(c.Run, revision, c.Due)
	if _, err := put.Exec(line.Key, line.Flow, c.Run.Hash, string(line.Status), line.Node, line.Outcome, line.Waits, revision,
		nanos(line.Touched), nanos(line.Due), since, size, line.ID); err != nil {
		return 0, err
	}
	return revision, st.project(c, opened)
}

// project keeps the tables of interrupts and answers in step with a record.
func (st *statements) project(c run.Commit, opened map[string][]byte) error {
	id := c.Run.ID
	for _, interrupt := range c.Consumed {
		if _, err := st.consume.Exec(id, interrupt); err != nil {
			return err
		}
	}
	for i := range c.Events {
		var err error
		switch e := &c.Events[i]; e.Type {
		case run.EventInterrupt:
			if _, err = st.openInterrupt.Exec(id, e.Interrupt.ID, opened[e.Interrupt.ID]); err == nil {
				_, err = st.forget.Exec(id, e.Interrupt.ID)
			}
		case run.EventAnswered:
			_, err = st.closeInterrupt.Exec(id, e.Name)
		case run.EventEnded:
			_, err = st.closeAll.Exec(id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// openedBy are the interrupts that events open, as JSON.
func openedBy(events []run.Event) (map[string][]byte, error) {
	var all map[string][]byte
	for i := range events {
		e := &events[i]
		if e.Type != run.EventInterrupt {
			continue
		}
		raw, err := json.Marshal(e.Interrupt)
		if err != nil {
			return nil, fmt.Errorf("sqlite: writing interrupt %s: %w", e.Interrupt.ID, err)
		}
		if all == nil {
			all = map[string][]byte{}
		}
		all[e.Interrupt.ID] = raw
	}
	return all, nil
}

// checksum covers all of a record, so that a damaged one is not taken for a good one.
func checksum(id string, revision, last int64, events, snapshot []byte) []byte {
	h := sha256.New()
	var n [8]byte
	part := func(b []byte) {
		binary.BigEndian.PutUint64(n[:], uint64(len(b)))
		h.Write(n[:])
		h.Write(b)
	}
	part([]byte(id))
	for _, v := range []int64{revision, last} {
		binary.BigEndian.PutUint64(n[:], uint64(v))
		h.Write(n[:])
	}
	part(events)
	part(snapshot)
	return h.Sum(nil)[:16]
}

// Answer accepts the first valid answer to an open interrupt.
func (s *Store) Answer(ctx context.Context, id string, a run.Answer) (accepted any, first bool, err error) {
	if err := s.open(); err != nil {
		return nil, false, err
	}
	value, err := json.Marshal(a.Value)
	if err != nil {
		return nil, false, &run.InvalidAnswer{Interrupt: a.Interrupt, Reason: "it is not JSON"}
	}
	err = s.write.do(ctx, func(st *statements) error {
		var err error
		accepted, first, err = st.answer(id, a, value)
		return err
	})
	if err != nil {
		return nil, false, wrapped(err, "answering run "+id)
	}
	if first {
		s.news.tell(id)
	}
	return accepted, first, nil
}

func (st *statements) answer(id string, a run.Answer, value []byte) (any, bool, error) {
	var was, data []byte
	switch err := st.accepted.QueryRow(id, a.Interrupt).Scan(&was); {
	case err == nil:
		v, err := expr.Decode(was)
		return v, false, err
	case !errors.Is(err, sql.ErrNoRows):
		return nil, false, err
	}
	if err := st.interrupt.QueryRow(id, a.Interrupt).Scan(&data); errors.Is(err, sql.ErrNoRows) {
		var revision, since, size int64
		if err := st.revision.QueryRow(id).Scan(&revision, &since, &size); errors.Is(err, sql.ErrNoRows) {
			return nil, false, refused{run.ErrNoRun}
		} else if err != nil {
			return nil, false, err
		}
		return nil, false, refused{run.ErrNoInterrupt}
	} else if err != nil {
		return nil, false, err
	}
	var open run.Interrupt
	if err := json.Unmarshal(data, &open); err != nil {
		return nil, false, fmt.Errorf("reading interrupt %s: %w", a.Interrupt, err)
	}
	if err := open.Check(a.Value); err != nil {
		return nil, false, refused{err}
	}
	if _, err := st.accept.Exec(id, a.Interrupt, value, a.By); err != nil {
		return nil, false, err
	}
	v, err := expr.Decode(value)
	return v, true, err
}

// PutFlow keeps a document under its hash.
func (s *Store) PutFlow(ctx context.Context, hash string, document []byte) error {
	if err := s.open(); err != nil {
		return err
	}
	err := s.write.do(ctx, func(st *statements) error {
		_, err := st.putFlow.Exec(hash, document, time.Now().UnixNano())
		return err
	})
	return wrapped(err, "keeping flow "+hash)
}

// wrapped says what was being done, of errors that callers do not tell apart.
func wrapped(err error, what string) error {
	var invalid *run.InvalidAnswer
	switch {
	case err == nil, errors.As(err, &invalid), errors.Is(err, ErrClosed), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return fmt.Errorf("sqlite: %s: %w", what, err)
}
