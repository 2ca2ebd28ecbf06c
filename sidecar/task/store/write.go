package store

import (
	"context"
	"database/sql"
	"errors"
)

// A transaction takes the writer's lock when it begins, so that no other process changes the rows that it reads.
const (
	begin    = "BEGIN IMMEDIATE"
	commit   = "COMMIT"
	rollback = "ROLLBACK"
)

// querier is a database or a transaction of it.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// writer is a transaction, or the connection that is in one.
type writer interface {
	querier
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// durability is what a committed transaction survives.
type durability bool

const (
	// processDeath: the system has the transaction. A loss of power may undo it, together with all later ones.
	processDeath durability = false
	// powerLoss: the disk has the transaction and all earlier ones.
	powerLoss durability = true
)

// The levels of synchronous. SQLite ignores a change of the level within a transaction.
const (
	syncFull   = "PRAGMA synchronous = FULL"
	syncNormal = "PRAGMA synchronous = NORMAL"
)

// write runs f in a transaction, which is committed unless f fails. It replaces [sql.DB.BeginTx], which
// starts a goroutine for each transaction: the hand-over to it takes longer than the write.
func (s *Store) write(ctx context.Context, survives durability, f func(writer) error) (err error) {
	conn, err := s.db.Conn(ctx) // the only one
	if err != nil {
		return err
	}
	kept := false
	defer func() {
		if !kept {
			// Some failures end the transaction, so there may be nothing to roll back.
			_, _ = conn.ExecContext(context.WithoutCancel(ctx), rollback)
		}
		if survives == powerLoss { // if this fails, the next transaction waits for the disk as well
			_, _ = conn.ExecContext(context.WithoutCancel(ctx), syncNormal)
		}
		if closeErr := conn.Close(); !errors.Is(closeErr, sql.ErrConnDone) { // ErrConnDone means that the connection was lost
			err = errors.Join(err, closeErr)
		}
	}()
	if survives == powerLoss {
		if _, err := conn.ExecContext(ctx, syncFull); err != nil {
			return err
		}
	}
	if _, err := conn.ExecContext(ctx, begin); err != nil {
		return err
	}
	if err := f(conn); err != nil {
		return err
	}
	// Not ctx: a caller that has given up must not get an error for a commit that succeeds.
	_, err = conn.ExecContext(context.Background(), commit)
	kept = err == nil
	return err
}
