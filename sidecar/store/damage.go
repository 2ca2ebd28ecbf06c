package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"assent/protocol"
)

// checkedWhole bounds the files that are read whole at every opening, in bytes: that takes some 30 ms. Of
// a greater one damage shows when it is read; see [Store.Suspect].
const checkedWhole = 64 << 20

// ErrNewer is what Open fails with where a newer Assent wrote the store. Trying again is of no use.
var ErrNewer = errors.New("the store was written by a newer Assent")

// Damaged reports whether an error says that the store's file is damaged, or is no store at all.
func Damaged(err error) bool {
	if errors.Is(err, errDamaged) {
		return true
	}
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code() & 0xff { // the rest says where SQLite noticed
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return true
	default:
		return e.Code() == sqlite3.SQLITE_IOERR_SHORT_READ // the end of the file is missing
	}
}

// Unacceptable reports whether an error says that the store works and will never take what it was given.
func Unacceptable(err error) bool {
	var value *json.UnsupportedValueError
	var marshaler *json.MarshalerError
	if errors.As(err, &value) || errors.As(err, &marshaler) {
		return true
	}
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_MISMATCH:
		return true
	default:
		return false
	}
}

// busy reports whether an error says that somebody else has a lock.
func busy(err error) bool {
	var e *sqlite.Error
	return errors.Is(err, errBusy) || errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_BUSY
}

var errDamaged = errors.New("the store is damaged")

// SetAside returns the path to which Open moved a damaged store, in whose place this one began, or an
// empty one.
func (s *Store) SetAside() string {
	s.homeMu.Lock()
	defer s.homeMu.Unlock()
	return s.home.setAside
}

// Suspect has the next Open read the whole file, however large it is: something in it was found damaged.
func (s *Store) Suspect() error {
	path := s.Path()
	if path == "" {
		return nil
	}
	return os.WriteFile(path+".suspect", nil, 0o600)
}

// patience is for how long another sidecar may look at a damaged store, or set it aside; and glance, how long
// it is left alone for that.
const (
	patience = 2 * time.Second
	glance   = 20 * time.Millisecond
)

// openFile opens the store at path, and sets a damaged one aside.
func openFile(path, name string) (*Store, error) {
	for began := time.Now(); ; time.Sleep(glance) {
		s, err := openSound(path, name)
		if !Damaged(err) {
			return s, err
		}
		aside, asideErr := setAside(path, name)
		if asideErr == nil {
			if s, err = openSound(path, name); err == nil {
				s.home.setAside = aside
			}
			return s, err
		}
		if !busy(asideErr) || time.Since(began) > patience {
			return nil, fmt.Errorf("%w, and could not be set aside: %w", err, asideErr)
		}
	}
}

// openSound opens the store at path, or fails with an error that is [Damaged].
func openSound(path, name string) (_ *Store, err error) {
	ctx := context.Background()
	lock, lockErr := share(ctx, path)
	defer func() {
		if err != nil {
			err = errors.Join(err, lock.release())
		}
	}()
	if busy(lockErr) {
		return nil, fmt.Errorf("another window is setting it aside: %w", lockErr)
	}
	// Where else no lock is to be had, nobody could set the store aside either.
	whole, err := toBeReadWhole(path)
	if err != nil {
		return nil, err
	}
	keepPrivate(path)
	s, err := open(name)
	if err != nil {
		return nil, err
	}
	if whole {
		err = s.readWhole(ctx)
	}
	var file os.FileInfo
	if err == nil {
		file, err = os.Stat(path)
	}
	if err != nil {
		return nil, errors.Join(err, s.db.Close())
	}
	if whole {
		_ = os.Remove(path + ".suspect") // or it is read whole once more
	}
	s.home = home{path: path, file: file, lock: lock}
	return s, nil
}

// toBeReadWhole reports whether the store at path is to be read whole, and fails where it is damaged in a
// way that SQLite would take for a store that has not begun, whose write-ahead log it deletes.
func toBeReadWhole(path string) (bool, error) {
	size, err := sizeOf(path)
	if err != nil {
		return false, err
	}
	if size == 0 {
		log, err := sizeOf(path + "-wal")
		if err == nil && log > 0 {
			err = fmt.Errorf("%w: its file is empty or missing, its write-ahead log is not", errDamaged)
		}
		return false, err
	}
	_, err = os.Stat(path + ".suspect")
	return size <= checkedWhole || err == nil, nil
}

// sizeOf returns the size of a file in bytes; 0 where there is none.
func sizeOf(path string) (int64, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// readWhole reads every page, and what holds them together.
func (s *Store) readWhole(ctx context.Context) error {
	var found string
	if err := s.db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&found); err != nil {
		return err
	}
	if found != "ok" {
		return fmt.Errorf("%w: %s", errDamaged, found)
	}
	return nil
}

// setAside moves the damaged store at path away with its log, deleting nothing, and returns where it is.
// Nobody else has the store open then. Where another sidecar was first, the path is empty.
func setAside(path, name string) (_ string, err error) {
	lock, err := alone(path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, lock.release()) }()
	if sound, err := stillDamaged(path, name); sound || err != nil {
		return "", err
	}
	aside := path + ".damaged-" + time.Now().UTC().Format("20060102T150405.000Z")
	// The log goes first: alone, SQLite would delete it. What is killed in between is done again.
	for _, suffix := range []string{"-wal", "-shm", "", ".suspect"} {
		err := os.Rename(path+suffix, aside+suffix)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return aside, nil
}

// stillDamaged looks at the store again, under the lock. It fails where that cannot be told.
func stillDamaged(path, name string) (sound bool, err error) {
	_, err = toBeReadWhole(path)
	if err == nil {
		var s *Store
		if s, err = open(name); err == nil {
			err = errors.Join(s.readWhole(context.Background()), s.db.Close())
		}
	}
	switch {
	case err == nil:
		return true, nil
	case Damaged(err):
		return false, nil
	default:
		return false, err
	}
}

// damagedMessage is what is shown in the place of a message that cannot be read.
func damagedMessage(id int64, body []byte) protocol.Message {
	m := protocol.Message{ID: id, Body: protocol.Notice{
		Level: protocol.NoticeWarning, Text: "What was here cannot be read: the store is damaged.",
	}}
	var kept struct{ Time int64 }
	if json.Unmarshal(body, &kept) == nil {
		m.Time = kept.Time
	}
	return m
}
