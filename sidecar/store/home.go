package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// home is where a store is. Its connection is made anew when the store moves.
type home struct {
	// path is of the file; empty where the store is in memory.
	path string
	// file is what path named when the store was opened.
	file os.FileInfo
	// lock tells other sidecars that the file is in use; nil in memory, and where the disk takes none.
	lock *lock
	// presence tells other sidecars that this one lives; nil in memory.
	presence *presence
	// setAside is where a damaged file went; see [Store.SetAside].
	setAside string
}

// connector opens connections to whatever file the store is in now.
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

// Path returns the path of the file, or an empty one where the store is in memory.
func (s *Store) Path() string {
	s.homeMu.Lock()
	defer s.homeMu.Unlock()
	return s.home.path
}

// Gone reports whether the file was deleted, moved or replaced since the store was opened. What is saved
// then goes where nobody finds it, for SQLite holds the file and not its path. A path of which the system
// does not say what is there is not gone.
func (s *Store) Gone() bool {
	s.homeMu.Lock()
	defer s.homeMu.Unlock()
	if s.home.path == "" {
		return false
	}
	file, err := os.Stat(s.home.path)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
	}
	return !os.SameFile(s.home.file, file)
}

// Probe fails where the file cannot be written. It changes nothing.
func (s *Store) Probe(ctx context.Context) error {
	err := s.probe(ctx)
	var e *sqlite.Error
	if errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_READONLY && !s.Gone() {
		// SQLite opened what it could not write then, and would never write it.
		err = errors.Join(s.reconnect(ctx), s.probe(ctx))
	}
	if err != nil {
		return fmt.Errorf("write to the store: %w", err)
	}
	return nil
}

// probe writes the version that is there: a newer Assent may have changed it while this one runs.
func (s *Store) probe(ctx context.Context) error {
	return s.write(ctx, processDeath, func(w writer) error {
		var version int
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

// reconnect has the next query open the file anew.
func (s *Store) reconnect(ctx context.Context) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	return forget(conn)
}

// forget closes a connection, the only one, and the pool makes another when it needs one.
func forget(conn *sql.Conn) error {
	if err := conn.Raw(func(any) error { return driver.ErrBadConn }); !errors.Is(err, driver.ErrBadConn) {
		return errors.Join(fmt.Errorf("leave the old file: %w", err), conn.Close())
	}
	return nil
}

// MoveTo copies everything into the file of another store and goes on there, in whatever file (or none) it
// was. What both have stays as it is in the newer state. The other store must not be used after: it is
// closed, or has become this one. Where MoveTo fails, this store is what it was.
func (s *Store) MoveTo(ctx context.Context, other *Store) error {
	path := other.Path()
	if err := s.moveTo(ctx, other); err != nil {
		return errors.Join(fmt.Errorf("move the store to %s: %w", path, err), other.Close())
	}
	return nil
}

func (s *Store) moveTo(ctx context.Context, other *Store) (err error) {
	conn, err := s.db.Conn(ctx) // the only one: whoever saves meanwhile waits, and saves there
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := conn.Close(); !errors.Is(closeErr, sql.ErrConnDone) { // as it is where all went well
			err = errors.Join(err, closeErr)
		}
	}()
	if err := copyInto(ctx, conn, other.connector.name); err != nil {
		return err
	}
	presence, err := s.attendAt(other)
	if err != nil {
		return err
	}
	s.connector.set(other.connector.name)
	if err := forget(conn); err != nil {
		return err
	}
	other.homeMu.Lock()
	to := other.home
	other.home = home{}
	other.homeMu.Unlock()
	s.homeMu.Lock()
	from := s.home
	left := to.presence
	s.home = to
	s.home.presence = presence
	s.homeMu.Unlock()
	return errors.Join(left.leave(), from.lock.release(), other.db.Close())
}

// attendAt has this sidecar be known, under the id that its tasks have, where another store of it is.
func (s *Store) attendAt(other *Store) (*presence, error) {
	if p := s.present(); p.isThere() {
		return p, nil
	}
	return attend(filepath.Dir(other.Path()), s.me)
}
