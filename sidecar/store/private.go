package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// keepPrivate takes the folder of the store at path, and its files, from everybody but their owner: the conversations of
// a person are in them. An earlier version, or a copy, may have left them open. It creates the file that is missing, so
// that SQLite does not create it for everybody; SQLite gives the others the same mode. A mode that cannot be changed
// stays: not every file system has modes, and the owner may be somebody else.
func keepPrivate(path string) {
	// Whoever gives a folder for temporary files shares it on purpose.
	if info, err := os.Stat(filepath.Dir(path)); err == nil && info.Mode()&os.ModeSticky == 0 {
		closeToOthers(filepath.Dir(path), info)
	}
	if file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err == nil {
		_ = file.Close() // it is empty
	}
	files, _ := filepath.Glob(filepath.Join(filepath.Dir(path), filepath.Base(path)+"*")) // the name is no bad pattern
	for _, name := range files {
		if info, err := os.Lstat(name); err == nil && info.Mode().IsRegular() {
			closeToOthers(name, info)
		}
	}
}

func closeToOthers(name string, info os.FileInfo) {
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		_ = os.Chmod(name, mode&^0o077)
	}
}

// Scrub empties the write-ahead log: what was deleted in the database is zeroed there, but the log may still have it.
// It fails if another process reads or writes at this moment. Everybody waits meanwhile, so it does not try for long.
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
		return fmt.Errorf("empty the write-ahead log: %w", errBusy)
	}
	return nil
}
