package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// file is the file of a store. When the store moves, it opens a new connection.
type file struct {
	// path is the path of the file; empty in memory.
	path string
	// info describes the file at path when the store was opened.
	info os.FileInfo
	// lock is nil for a store in memory, if the lock is not available (see own), and for a store opened beside
	// its owner.
	lock *lock
	// setAside is the path to which another file was moved, and why; see [Store.SetAside].
	setAside string
	why      error
}

// connector opens connections to the store's current file.
type connector struct {
	mu   sync.Mutex // guards name
	name string
}

var _ driver.Connector = (*connector)(nil)

// Connect implements [driver.Connector].
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	c.mu.Lock()
	name := c.name
	c.mu.Unlock()
	to, err := sqlite.NewConnector(name)
	if err != nil {
		return nil, err
	}
	conn, err := to.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return keepStatements(conn)
}

// Driver implements [driver.Connector].
func (c *connector) Driver() driver.Driver { return &sqlite.Driver{} }

func (c *connector) set(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.name = name
}

// Path returns the path of the file; empty if the store is in memory.
func (s *Store) Path() string {
	s.fileMu.Lock()
	defer s.fileMu.Unlock()
	return s.file.path
}

// Replaced reports whether the file was deleted, moved or replaced since the store was opened. SQLite still writes into
// the open file, and changes there are lost. Replaced returns false if the system does not tell.
func (s *Store) Replaced() bool {
	s.fileMu.Lock()
	defer s.fileMu.Unlock()
	if s.file.path == "" {
		return false
	}
	info, err := os.Stat(s.file.path)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
	}
	return !os.SameFile(s.file.info, info)
}

// Probe fails if the file cannot be written. It changes nothing.
func (s *Store) Probe(ctx context.Context) error {
	err := s.probe(ctx)
	var e *sqlite.Error
	if errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_READONLY && !s.Replaced() {
		// The file could not be written when SQLite opened it. SQLite does not try again on that connection.
		err = errors.Join(s.reconnect(ctx), s.probe(ctx))
	}
	if err != nil {
		return fmt.Errorf("write to the store: %w", err)
	}
	return nil
}

// probe writes the file's version to it, unless a newer Assent has changed the version while this one runs.
func (s *Store) probe(ctx context.Context) error {
	return s.write(ctx, processDeath, func(w writer) error {
		var version int64
		if err := w.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
			return err
		}
		if version > schemaVersion {
			return newerError(version)
		}
		_, err := w.ExecContext(ctx, setVersion)
		return err
	})
}

// reconnect makes the next query open the file again.
func (s *Store) reconnect(ctx context.Context) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	return forget(conn)
}

// forget closes the only connection. The pool opens another when it needs one.
func forget(conn *sql.Conn) error {
	if err := conn.Raw(func(any) error { return driver.ErrBadConn }); !errors.Is(err, driver.ErrBadConn) {
		return errors.Join(fmt.Errorf("leave the old file: %w", err), conn.Close())
	}
	return nil
}

// Relocate copies everything from this store, in a file or in memory, into the file of the store that open opens, and
// continues there. If both stores have an item, the newer state stays. If Relocate fails, this store is unchanged.
// During the call, this store does not own its folder, because open may open the same folder.
func (s *Store) Relocate(ctx context.Context, open func() (*Store, error)) error {
	s.fileMu.Lock()
	err := s.file.lock.release()
	s.file.lock = nil
	s.fileMu.Unlock()
	if err != nil {
		return fmt.Errorf("move the store: %w", err)
	}
	other, err := open()
	if err == nil {
		path := other.Path()
		if err = s.relocate(ctx, other); err == nil {
			return nil
		}
		err = errors.Join(fmt.Errorf("move the store to %s: %w", path, err), other.Close())
	}
	if path := s.Path(); path != "" {
		s.fileMu.Lock()
		defer s.fileMu.Unlock()
		s.file.lock, _ = own(ctx, path, 0) // otherwise another process has it by now
	}
	return err
}

func (s *Store) relocate(ctx context.Context, other *Store) (err error) {
	conn, err := s.db.Conn(ctx) // the only one: other changes wait for it, and are saved in the new file
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := conn.Close(); !errors.Is(closeErr, sql.ErrConnDone) { // ErrConnDone is the result of a successful move
			err = errors.Join(err, closeErr)
		}
	}()
	if err := copyInto(ctx, conn, other.connector.name); err != nil {
		return err
	}
	// The pool opens its next connection in the new file.
	s.connector.set(other.connector.name)
	if err := forget(conn); err != nil {
		return err
	}
	other.fileMu.Lock()
	to := other.file
	other.file = file{}
	other.fileMu.Unlock()
	s.fileMu.Lock()
	s.file = to
	s.fileMu.Unlock()
	return other.db.Close()
}
