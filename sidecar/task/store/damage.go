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

// checkedWhole is the size in bytes up to which a file is read whole at every opening, which takes about 30 ms. Damage
// to a larger file is found when the damaged part is read; see [Store.Suspect].
const checkedWhole = 64 << 20

// Damaged reports whether an error says that the store's file is damaged, or is not a store.
func Damaged(err error) bool {
	if errors.Is(err, errDamaged) {
		return true
	}
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code() & 0xff { // the rest says where SQLite found the damage
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return true
	default:
		return e.Code() == sqlite3.SQLITE_IOERR_SHORT_READ // the end of the file is missing
	}
}

// Unacceptable reports whether an error says that the store works, and will refuse the same change every time.
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

var errDamaged = errors.New("the store is damaged")

// SetAside returns the path to which Open moved the store that this one replaced; empty if there was none.
func (s *Store) SetAside() string {
	s.fileMu.Lock()
	defer s.fileMu.Unlock()
	return s.file.setAside
}

// SetAsideNote says in a sentence for the person why and where Open moved the store that this one replaced; empty if
// there was none.
func (s *Store) SetAsideNote() string {
	s.fileMu.Lock()
	defer s.fileMu.Unlock()
	switch {
	case s.file.setAside == "":
		return ""
	case errors.Is(s.file.why, errUnpublished):
		return fmt.Sprintf("The store is of an unpublished version of Assent, and this version cannot read it. It was set aside whole as %s, and a new one was created.", s.file.setAside)
	default:
		return fmt.Sprintf("The store was damaged. It was set aside as %s, with its readable contents, and a new one was created.", s.file.setAside)
	}
}

// Suspect makes the next Open read the whole file, regardless of its size. It is called when damage was
// found.
func (s *Store) Suspect() error {
	path := s.Path()
	if path == "" {
		return nil
	}
	return os.WriteFile(path+".suspect", nil, 0o600)
}

// openFile opens the store at path, and owns it if it gets the lock within the given time. It sets a store aside that is
// damaged or of an unpublished version, and opens a new one.
func openFile(path, name string, wait time.Duration) (_ *Store, err error) {
	lock, err := own(context.Background(), path, wait)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, lock.release())
		}
	}()
	// The store is set aside under its lock: another process may have a damaged file open, and still write to it.
	s, err := openSound(path, name)
	if why := err; Damaged(why) || errors.Is(why, errUnpublished) {
		aside, asideErr := setAside(path, why, lock)
		if asideErr != nil {
			return nil, fmt.Errorf("%w, and could not be set aside: %w", err, asideErr)
		}
		if s, err = openSound(path, name); err == nil {
			s.file.setAside, s.file.why = aside, why
		}
	}
	if err != nil {
		return nil, err
	}
	s.file.lock = lock
	return s, nil
}

// openSound opens the store at path, or fails with an error that is [Damaged].
func openSound(path, name string) (*Store, error) {
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
		err = s.readWhole(context.Background())
	}
	var info os.FileInfo
	if err == nil {
		info, err = os.Stat(path)
	}
	if err != nil {
		return nil, errors.Join(err, s.db.Close())
	}
	if whole {
		_ = os.Remove(path + ".suspect") // otherwise it would be read whole again
	}
	s.file = file{path: path, info: info}
	return s, nil
}

// toBeReadWhole reports whether the store at path must be read whole. It fails if the file is empty or missing but its
// write-ahead log is not: SQLite would take that for a new store, and delete the log.
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

// sizeOf returns the size of a file in bytes; 0 if it does not exist.
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

// readWhole checks every page and the structure of the database.
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

// setAside renames the store at path and its log, deletes nothing, and returns the new path, which says why. It fails
// without the store's lock: another process may have the store open then.
func setAside(path string, why error, lock *lock) (string, error) {
	if lock == nil {
		return "", errors.New("its folder cannot be locked")
	}
	kind := ".damaged-"
	if errors.Is(why, errUnpublished) {
		kind = ".unpublished-"
	}
	aside := path + kind + time.Now().UTC().Format("20060102T150405.000Z")
	// The log is renamed first, because SQLite would delete a log without its database. If Assent is killed in
	// between, the next start renames the rest.
	for _, suffix := range []string{"-wal", "-shm", "", ".suspect"} {
		err := os.Rename(path+suffix, aside+suffix)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return aside, nil
}

// damagedMessage returns the notice that stands for a message that cannot be read.
func damagedMessage(id int64, body []byte) protocol.Message {
	m := protocol.Message{ID: id, Body: protocol.Notice{
		Level: protocol.NoticeWarning, Text: "This message cannot be read: the store is damaged.",
	}}
	var kept struct{ Time int64 }
	if json.Unmarshal(body, &kept) == nil {
		m.Time = kept.Time
	}
	return m
}
