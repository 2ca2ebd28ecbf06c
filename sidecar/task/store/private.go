package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// keepPrivate removes the access of other users to the store at path: to its folder and to its files. They hold a
// person's conversations, and an earlier version or a copy may have left them open. A missing database file is created
// first: SQLite would create it with the mode of the umask, and gives the -wal and -shm files the mode of the database.
// A mode that cannot be changed stays, because some file systems have none and the owner may be another user.
func keepPrivate(path string) {
	dir, name := filepath.Split(path)
	// A folder with the sticky bit, such as /tmp, is shared on purpose.
	if info, err := os.Stat(dir); err == nil && info.Mode()&os.ModeSticky == 0 {
		closeToOthers(dir, info)
	}
	if file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err == nil {
		_ = file.Close() // it is empty
	}
	entries, _ := os.ReadDir(dir) // SQLite fails with a better error if the folder cannot be read
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), name) {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			closeToOthers(filepath.Join(dir, e.Name()), info)
		}
	}
}

func closeToOthers(name string, info os.FileInfo) {
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		_ = os.Chmod(name, mode&^0o077)
	}
}

// Scrub empties the write-ahead log. SQLite zeroes deleted content in the database, but a copy may stay in the log.
// Scrub fails if another process reads or writes at this moment. It waits for 100 ms at most, since it blocks all other
// calls of the store.
func (s *Store) Scrub(ctx context.Context) (err error) {
	conn, err := s.db.Conn(ctx) // the only one
	if err != nil {
		return fmt.Errorf("empty the write-ahead log: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if _, err := conn.ExecContext(ctx, "PRAGMA busy_timeout = 100"); err != nil {
		return fmt.Errorf("empty the write-ahead log: %w", err)
	}
	defer func() {
		_, resetErr := conn.ExecContext(context.WithoutCancel(ctx), fmt.Sprintf("PRAGMA busy_timeout = %d", busyTimeout))
		err = errors.Join(err, resetErr)
	}()
	var locked, frames, copied int
	if err := conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&locked, &frames, &copied); err != nil {
		return fmt.Errorf("empty the write-ahead log: %w", err)
	}
	if locked != 0 {
		return errors.New("empty the write-ahead log: another process reads it")
	}
	return nil
}
