package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/turnwise/turnwise/flows/run"
)

// Find lists runs, the one touched last first; those that are due, the one due first first.
func (s *Store) Find(ctx context.Context, q run.Query) ([]run.Summary, error) {
	if err := s.open(); err != nil {
		return nil, err
	}
	query, args := selection(q)
	rows, err := s.read.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, wrapped(err, "finding runs")
	}
	defer rows.Close()
	var all []run.Summary
	for rows.Next() {
		var one run.Summary
		var touched, due sql.NullInt64
		if err := rows.Scan(&one.ID, &one.Key, &one.Flow, &one.Status, &one.Node, &one.Outcome, &one.Waits, &one.Revision, &touched, &due); err != nil {
			return nil, wrapped(err, "finding runs")
		}
		one.Touched, one.Due = timeOf(touched), timeOf(due)
		all = append(all, one)
	}
	return all, wrapped(rows.Err(), "finding runs")
}

// selection is the SQL of a query.
func selection(q run.Query) (string, []any) {
	var where []string
	var args []any
	and := func(condition string, arg any) {
		where, args = append(where, condition), append(args, arg)
	}
	if q.Key != "" {
		and("key = ?", q.Key)
	}
	if q.Flow != "" {
		and("flow = ?", q.Flow)
	}
	if q.Status != "" {
		and("status = ?", string(q.Status))
	}
	order := "touched DESC, id"
	if !q.Due.IsZero() {
		and("due <= ?", nanos(q.Due))
		order = "due, id"
	}
	text := "SELECT id, key, flow, status, node, outcome, waits, revision, touched, due FROM runs"
	if len(where) > 0 {
		text += " WHERE " + strings.Join(where, " AND ")
	}
	limit := q.Limit
	if limit <= 0 {
		limit = 100
	}
	return text + " ORDER BY " + order + " LIMIT ?", append(args, limit)
}

// Flow is the document of a flow.
func (s *Store) Flow(ctx context.Context, hash string) ([]byte, error) {
	if err := s.open(); err != nil {
		return nil, err
	}
	var doc []byte
	err := s.read.QueryRowContext(ctx, "SELECT document FROM flows WHERE hash = ?", hash).Scan(&doc)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, run.ErrNoFlow
	}
	return doc, wrapped(err, "reading flow "+hash)
}
