package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"time"
)

// lock is held on a file beside the store's by every sidecar that has the store open, together; and alone,
// by the one that sets a damaged store aside. SQLite's own locks on the store would do, had the file not
// to be read for them. The lock is a transaction on an empty database: it works wherever SQLite does, and
// ends with the process.
type lock struct {
	db *sql.DB
}

// share waits until nobody has the lock of the store at path alone.
func share(ctx context.Context, path string) (*lock, error) {
	return take(ctx, path, patience, "BEGIN; SELECT count(*) FROM sqlite_schema")
}

// alone takes the lock of the store at path if nobody else has it. It does not wait: whoever waits to be alone
// keeps the others from sharing.
func alone(ctx context.Context, path string) (*lock, error) {
	l, err := take(ctx, path, 0, "BEGIN EXCLUSIVE")
	if err != nil {
		return nil, fmt.Errorf("another window has it open (%w): close the other windows and start this one again", err)
	}
	return l, nil
}

func take(ctx context.Context, path string, patience time.Duration, begin string) (*lock, error) {
	name := (&url.URL{Scheme: "file", Path: filepath.ToSlash(path + ".lock")}).String()
	name += fmt.Sprintf("?_pragma=busy_timeout(%d)", patience.Milliseconds())
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // whose transaction the lock is
	if _, err := db.ExecContext(ctx, begin); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &lock{db}, nil
}

// release gives the lock back. A nil lock is none.
func (l *lock) release() error {
	if l == nil {
		return nil
	}
	return l.db.Close()
}
