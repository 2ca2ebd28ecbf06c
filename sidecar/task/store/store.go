// Package store keeps tasks, their messages, grants, rules about tools, and the journal in one SQLite file.
//
// It owns the file and its schema, and does not know what the rows mean: a message is stored as the JSON of
// [protocol.Message]. A Store may be used from any goroutine. Every change is one transaction.
//
// When a call returns, its changes survive the death of this process. An act of a person also survives a loss of power,
// together with all earlier changes: a message with [Entry.Act], a task's own data, a new or ended grant, a rule about
// a tool, and a decision about a server.
package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver

	"assent/protocol"
)

// Store is an open file, or a database in memory.
type Store struct {
	db        *sql.DB
	connector *connector

	fileMu sync.Mutex // guards file
	file   file
}

// Open opens the store in dir, and creates both if they are missing. This process then owns the folder until the store
// is closed. If another process owns it, Open waits a while, because that process may be ending, and then fails with
// [ErrInUse]. Open renames a store that is damaged, or of an unpublished version, and creates a new one; see
// [Store.SetAside]. It does not change a store that a newer version of Assent wrote; see [ErrNewer].
func Open(dir string) (*Store, error) { return openDir(dir, ownerTimeout) }

// OpenBeside opens the store in dir only for the person's decisions about servers ([Store.DecideServer]), even if
// another process owns the store. It fails if the owner is another version.
func OpenBeside(dir string) (*Store, error) {
	s, err := openDir(dir, 0) // wait 0: OpenBeside creates the store if it has no owner
	if err == nil {
		err = s.file.lock.release()
		s.file.lock = nil
		if err != nil {
			return nil, errors.Join(err, s.db.Close())
		}
		return s, nil
	}
	if !errors.Is(err, ErrInUse) {
		return nil, err
	}
	path, name, err := locate(dir)
	if err != nil {
		return nil, err
	}
	s, db := connect(name)
	if _, err := check(db); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), db.Close())
	}
	return s, nil
}

func openDir(dir string, wait time.Duration) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	path, name, err := locate(dir)
	if err != nil {
		return nil, err
	}
	s, err := openFile(path, name, wait)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return s, nil
}

// locate returns the path of the store in dir, and its name for SQLite.
func locate(dir string) (path, name string, err error) {
	if path, err = filepath.Abs(filepath.Join(dir, "assent.db")); err != nil {
		return "", "", err
	}
	return path, fileURI(filepath.ToSlash(path)), nil
}

// fileURI returns SQLite's name of a file with an absolute path: a URI, because a path may have characters that would
// begin a query. A drive's path, such as C:/x, gets the leading slash without which SQLite reads the drive as a host.
func fileURI(path string) string {
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// OpenReadOnly opens the store in dir for reading, also while another process owns it. It creates and changes nothing,
// and fails if there is no store or one of another version.
func OpenReadOnly(dir string) (_ *Store, err error) {
	path, name, err := locate(dir)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", name+"?mode=ro&_pragma=busy_timeout(5000)&_pragma=query_only(1)")
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	if _, err := check(db); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), db.Close())
	}
	return &Store{db: db}, nil
}

// OpenMemory opens a store in memory, which ends with the process.
func OpenMemory() (*Store, error) { return open("file::memory:") }

// busyTimeout is how long a statement waits for another process, in milliseconds.
const busyTimeout = 5000

// open opens a store, and gives an empty one its schema.
func open(name string) (*Store, error) {
	s, db := connect(name)
	if err := create(db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

func connect(name string) (*Store, *sql.DB) {
	// WAL with synchronous=NORMAL gives every commit to the system without an fsync: a killed process loses nothing,
	// and a server's ask is fast. An act of a person waits for an fsync; see [durability]. On macOS only fullfsync
	// empties the disk's cache. secure_delete zeroes deleted content: the stored answer to an MCP task's question has
	// its passwords until the server has received them; see [Store.Scrub]. Every transaction here writes, and takes
	// the writer's lock when it begins, so that no other process changes the rows that it read.
	pragmas := fmt.Sprintf("?_txlock=immediate&_pragma=busy_timeout(%d)&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_pragma=fullfsync(1)&_pragma=secure_delete(1)&_pragma=foreign_keys(1)", busyTimeout)
	to := &connector{name: name + pragmas}
	db := sql.OpenDB(to)
	// One connection: SQLite has one writer anyway, and a database in memory is its connection's.
	db.SetMaxOpenConns(1)
	return &Store{db: db, connector: to}, db
}

// Close closes the file. Another process may own it from then on.
func (s *Store) Close() error {
	err := s.db.Close()
	s.fileMu.Lock()
	defer s.fileMu.Unlock()
	err = errors.Join(err, s.file.lock.release())
	s.file.lock = nil
	return err
}

// Save saves a task and, unless entry is nil, one of its messages, together with the journal records of
// the change, in one transaction.
func (s *Store) Save(ctx context.Context, task protocol.Task, entry *Entry, records ...Record) error {
	if entry == nil {
		return s.SaveAll(ctx, task, nil, records...)
	}
	return s.SaveAll(ctx, task, []*Entry{entry}, records...)
}

// SaveAll is Save for any number of messages in the order of their numbers, on which [lately] depends, in one
// transaction.
func (s *Store) SaveAll(ctx context.Context, task protocol.Task, entries []*Entry, records ...Record) error {
	// Encoded before the transaction, for which all other writers wait.
	bodies := make([]strings.Builder, len(entries)) // a result may be large, and each copy of it counts
	for i, e := range entries {
		if err := json.NewEncoder(&bodies[i]).Encode(e.Message); err != nil {
			return fmt.Errorf("encode message: %w", err)
		}
	}
	// A change without messages is nearly always a person's, and rare.
	survives := durability(len(entries) == 0 || slices.ContainsFunc(entries, func(e *Entry) bool { return e.Act }))
	err := s.write(ctx, survives, func(w writer) error {
		end, err := saveTask(ctx, w, &task)
		if err != nil {
			return err
		}
		for i, e := range entries {
			if err := saveMessage(ctx, w, task.ID, e, strings.TrimSuffix(bodies[i].String(), "\n")); err != nil {
				return err
			}
		}
		// In the same transaction, so that no change is without its record, and no record without its change.
		if end, err = addRecords(ctx, w, "main.", end, records); err != nil {
			return err
		}
		return saveHeads(ctx, w, &task, end)
	})
	if err != nil {
		return fmt.Errorf("save task: %w", err)
	}
	return nil
}
