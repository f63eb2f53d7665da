package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/turnwise/turnwise/flows/run"
)

// Prune forgets ended runs that were last touched before a time, at most limit of them,
// and flows kept before it that no run is pinned to. It gives the number of runs forgotten.
func (s *Store) Prune(ctx context.Context, before time.Time, limit int) (int, error) {
	if err := s.open(); err != nil {
		return 0, err
	}
	var n int64
	err := s.write.do(ctx, func(st *statements) error {
		const which = "SELECT id FROM runs WHERE status = ?1 AND touched < ?2 ORDER BY touched, id LIMIT ?3"
		for _, t := range []string{"records", "answers", "interrupts", "damaged"} {
			if _, err := st.conn.ExecContext(ctx, fmt.Sprintf("DELETE FROM %s WHERE run IN (%s)", t, which), string(run.StatusEnded), nanos(before), limit); err != nil {
				return err
			}
		}
		gone, err := st.conn.ExecContext(ctx, fmt.Sprintf("DELETE FROM runs WHERE id IN (%s)", which), string(run.StatusEnded), nanos(before), limit)
		if err != nil {
			return err
		}
		if n, err = gone.RowsAffected(); err != nil {
			return err
		}
		_, err = st.conn.ExecContext(ctx, "DELETE FROM flows WHERE kept < ? AND hash NOT IN (SELECT hash FROM runs)", nanos(before))
		return err
	})
	return int(n), wrapped(err, "forgetting runs")
}
