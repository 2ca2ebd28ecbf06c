package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"sync"
)

// A transaction takes the writer's lock when it begins, so that no other process changes what it read before it writes.
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

// durability says what a committed transaction survives.
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

// write runs f in a transaction, which is kept unless f fails. It is what [sql.DB.BeginTx] does, without the
// goroutine that this starts for each: handing a change over to it and back took longer than writing it.
func (s *Store) write(ctx context.Context, survives durability, f func(writer) error) (err error) {
	conn, err := s.db.Conn(ctx) // the only one
	if err != nil {
		return err
	}
	kept := false
	defer func() {
		if !kept {
			// Some failures end the transaction by themselves: then there is none to roll back.
			_, _ = conn.ExecContext(context.WithoutCancel(ctx), rollback)
		}
		if survives == powerLoss { // if this fails, the next transaction waits for the disk as well
			_, _ = conn.ExecContext(context.WithoutCancel(ctx), syncNormal)
		}
		if closeErr := conn.Close(); !errors.Is(closeErr, sql.ErrConnDone) { // as it is where the connection was lost
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

// mostJoined bounds how many changes wait for each other.
const mostJoined = 64

// joined holds the changes of all tasks that wait for the store.
type joined struct {
	writing sync.Mutex // held while changes are written

	mu      sync.Mutex // guards waiting
	waiting []*change
}

// change is one of them. The holder of writing sets done and err.
type change struct {
	survives durability
	write    func(context.Context, writer) error
	done     bool
	err      error
}

var errUnwritten = errors.New("what was written together with it has panicked")

// writeJoined is as write, but writes all changes that wait at this moment in one transaction, which costs little more than
// one change. If that fails, it writes each in a transaction of its own, so that one change cannot have another refused.
// Another goroutine may call f, and f is called again after a failure. Once f is called, the end of ctx does not stop it,
// because the transaction has changes of other callers.
func (s *Store) writeJoined(ctx context.Context, survives durability, f func(context.Context, writer) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c := &change{survives: survives, write: f, err: errUnwritten}
	s.joined.mu.Lock()
	s.joined.waiting = append(s.joined.waiting, c)
	s.joined.mu.Unlock()
	s.joined.writing.Lock()
	defer s.joined.writing.Unlock()
	for !c.done {
		s.writeWaiting()
	}
	return c.err
}

// writeWaiting writes the changes that have waited longest. The lock writing must be held.
func (s *Store) writeWaiting() {
	ctx := context.Background()
	s.joined.mu.Lock()
	n := min(len(s.joined.waiting), mostJoined)
	changes := s.joined.waiting[:n:n]
	if s.joined.waiting = s.joined.waiting[n:]; len(s.joined.waiting) == 0 {
		s.joined.waiting = nil
	}
	s.joined.mu.Unlock()
	defer func() {
		for _, c := range changes {
			c.done = true
		}
	}()
	survives := durability(slices.ContainsFunc(changes, func(c *change) bool { return c.survives == powerLoss }))
	err := s.write(ctx, survives, func(w writer) error {
		for _, c := range changes {
			if err := c.write(ctx, w); err != nil {
				return err
			}
		}
		return nil
	})
	for _, c := range changes {
		if c.err = err; err != nil && len(changes) > 1 {
			c.err = s.write(ctx, c.survives, func(w writer) error { return c.write(ctx, w) })
		}
	}
}
