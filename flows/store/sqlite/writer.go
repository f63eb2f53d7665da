package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"
)

const (
	// maxGroup is how many writes share one transaction.
	maxGroup = 256
	// maxWaiting is how many may wait to be put into the next.
	maxWaiting = 1024
)

// refused is what a write returns that wrote nothing and is not to be tried again.
type refused struct{ error }

func (r refused) Unwrap() error { return r.error }

// write is one write and where its outcome goes.
type write struct {
	do   func(*statements) error
	err  error
	done chan struct{}
}

// writer does all writes of a store in one goroutine, those that wait together in one
// transaction.
type writer struct {
	db     *sql.DB
	st     *statements
	queue  chan *write
	mu     sync.RWMutex // held for writing by close, so that nobody sends afterwards
	closed bool
	ended  chan struct{}
}

func newWriter(ctx context.Context, db *sql.DB) (*writer, error) {
	st, err := prepare(ctx, db)
	if err != nil {
		return nil, err
	}
	w := &writer{db: db, st: st, queue: make(chan *write, maxWaiting), ended: make(chan struct{})}
	go w.run()
	return w, nil
}

// do has a write done and waits for it. When ctx ends first, the write may still be done.
func (w *writer) do(ctx context.Context, do func(*statements) error) error {
	one := &write{do: do, done: make(chan struct{})}
	if err := w.send(ctx, one); err != nil {
		return err
	}
	select {
	case <-one.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	var r refused
	if errors.As(one.err, &r) {
		return r.error
	}
	return one.err
}

// send queues a write.
func (w *writer) send(ctx context.Context, one *write) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.closed {
		return ErrClosed
	}
	select {
	case w.queue <- one:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *writer) close() error {
	w.mu.Lock()
	w.closed = true
	close(w.queue)
	w.mu.Unlock()
	<-w.ended
	return errors.Join(w.st.close(), w.db.Close())
}

// run does the writes until the queue is closed.
func (w *writer) run() {
	defer close(w.ended)
	group := make([]*write, 0, maxGroup)
	for one := range w.queue {
		group = append(group[:0], one)
		for len(group) < maxGroup && len(w.queue) > 0 {
			group = append(group, <-w.queue)
		}
		w.doAll(group)
		for _, one := range group {
			close(one.done)
		}
	}
}

// doAll does a group of writes in one transaction. A refused one has written nothing and
// does not concern the others; when one fails, each is done by itself.
func (w *writer) doAll(group []*write) {
	if err := w.transaction(group); err == nil {
		return
	} else if len(group) == 1 {
		group[0].err = err
		return
	}
	for i := range group {
		if err := w.transaction(group[i : i+1]); err != nil {
			group[i].err = err
		}
	}
}

// transaction does writes and commits, or fails and has written nothing.
func (w *writer) transaction(group []*write) error {
	if _, err := w.st.begin.Exec(); err != nil {
		return err
	}
	wrote := false
	for _, one := range group {
		one.err = one.do(w.st)
		if one.err != nil && !isRefused(one.err) {
			_, undo := w.st.rollback.Exec()
			return errors.Join(one.err, undo)
		}
		wrote = wrote || one.err == nil
	}
	end := w.st.commit
	if !wrote {
		end = w.st.rollback
	}
	if _, err := end.Exec(); err != nil {
		_, undo := w.st.rollback.Exec()
		return errors.Join(err, undo)
	}
	return nil
}

func isRefused(err error) bool {
	var r refused
	return errors.As(err, &r)
}

// statements are what the writer executes, on its one connection.
type statements struct {
	conn                                    *sql.Conn
	begin, commit, rollback                 *sql.Stmt
	revision, insertRun, updateRun, record  *sql.Stmt
	openInterrupt, closeInterrupt, closeAll *sql.Stmt
	interrupt, accepted, accept, consume    *sql.Stmt
	forget, putFlow                         *sql.Stmt
}

func prepare(ctx context.Context, db *sql.DB) (*statements, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	s := &statements{conn: conn}
	for into, text := range map[**sql.Stmt]string{
		&s.begin:    "BEGIN IMMEDIATE",
		&s.commit:   "COMMIT",
		&s.rollback: "ROLLBACK",
		&s.revision: "SELECT revision, since, snapshot FROM runs WHERE id = ?",
		&s.insertRun: `INSERT INTO runs (key, flow, hash, status, node, outcome, waits, revision, touched, due, since, snapshot, id)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		&s.updateRun: `UPDATE runs SET key = ?, flow = ?, hash = ?, status = ?, node = ?, outcome = ?, waits = ?, revision = ?, touched = ?, due = ?,
			since = ?, snapshot = ? WHERE id = ?`,
		&s.record:         "INSERT INTO records (run, revision, last, events, snapshot, sum) VALUES (?, ?, ?, ?, ?, ?)",
		&s.openInterrupt:  "INSERT OR REPLACE INTO interrupts (run, id, data) VALUES (?, ?, ?)",
		&s.closeInterrupt: "DELETE FROM interrupts WHERE run = ? AND id = ?",
		&s.closeAll:       "DELETE FROM interrupts WHERE run = ?",
		&s.interrupt:      "SELECT data FROM interrupts WHERE run = ? AND id = ?",
		&s.accepted:       "SELECT value FROM answers WHERE run = ? AND interrupt = ?",
		&s.accept: `INSERT INTO answers (run, interrupt, place, value, by, consumed)
			VALUES (?1, ?2, (SELECT COUNT(*) FROM answers WHERE run = ?1), ?3, ?4, 0)`,
		&s.consume: "UPDATE answers SET consumed = 1 WHERE run = ? AND interrupt = ?",
		&s.forget:  "DELETE FROM answers WHERE run = ? AND interrupt = ? AND consumed = 1",
		&s.putFlow: "INSERT INTO flows (hash, document, kept) VALUES (?, ?, ?) ON CONFLICT (hash) DO UPDATE SET kept = excluded.kept",
	} {
		if *into, err = conn.PrepareContext(ctx, text); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return s, nil
}

// close gives the connection back; its statements end with it.
func (st *statements) close() error { return st.conn.Close() }
