package sqlite

import (
	"context"
	"database/sql"
	"fmt"
)

// migrations make the tables, one step a version; the version of a file is its pragma
// user_version. A step that has been released is not changed, another is added.
var migrations = [...]string{`
CREATE TABLE flows (
	hash     TEXT PRIMARY KEY,
	document BLOB NOT NULL,
	kept     INTEGER NOT NULL -- when it was put here last
) WITHOUT ROWID;

CREATE TABLE runs (
	id       TEXT PRIMARY KEY,
	key      TEXT NOT NULL,
	flow     TEXT NOT NULL,
	hash     TEXT NOT NULL,
	status   TEXT NOT NULL,
	node     TEXT NOT NULL,
	outcome  TEXT NOT NULL,
	waits    INTEGER NOT NULL,
	revision INTEGER NOT NULL,
	touched  INTEGER,
	due      INTEGER,
	since    INTEGER NOT NULL, -- bytes of events since the last snapshot
	snapshot INTEGER NOT NULL  -- bytes of the last snapshot
);
CREATE INDEX runs_due     ON runs (due) WHERE due IS NOT NULL;
CREATE INDEX runs_touched ON runs (touched);
CREATE INDEX runs_key     ON runs (key, touched) WHERE key <> '';
CREATE INDEX runs_flow    ON runs (flow, touched);
CREATE INDEX runs_status  ON runs (status, touched);
CREATE INDEX runs_hash    ON runs (hash);

CREATE TABLE records (
	run      TEXT NOT NULL,
	revision INTEGER NOT NULL,
	last     INTEGER NOT NULL, -- number of the last event in it
	events   BLOB NOT NULL,    -- JSON
	snapshot BLOB,             -- JSON of the run after them
	sum      BLOB NOT NULL,    -- see checksum
	PRIMARY KEY (run, revision)
);
CREATE INDEX records_last ON records (run, last);

CREATE TABLE damaged (
	run      TEXT NOT NULL,
	revision INTEGER NOT NULL,
	last     INTEGER NOT NULL,
	events   BLOB,
	snapshot BLOB,
	sum      BLOB
);

CREATE TABLE interrupts ( -- the open ones
	run  TEXT NOT NULL,
	id   TEXT NOT NULL,
	data BLOB NOT NULL, -- JSON
	PRIMARY KEY (run, id)
) WITHOUT ROWID;

CREATE TABLE answers (
	run       TEXT NOT NULL,
	interrupt TEXT NOT NULL,
	place     INTEGER NOT NULL, -- in the order of acceptance
	value     BLOB NOT NULL,    -- JSON
	by        TEXT NOT NULL,
	consumed  INTEGER NOT NULL,
	PRIMARY KEY (run, interrupt)
) WITHOUT ROWID;
`}

// migrate brings a file up to the last version.
func migrate(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	var version int
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version > len(migrations) {
		return fmt.Errorf("%w: it is of version %d, this program knows %d", ErrNewer, version, len(migrations))
	}
	if version == len(migrations) {
		return nil
	}
	for ; version < len(migrations); version++ {
		if _, err := tx.ExecContext(ctx, migrations[version]); err != nil {
			return fmt.Errorf("to version %d: %w", version+1, err)
		}
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", version)); err != nil {
		return err
	}
	return tx.Commit()
}
