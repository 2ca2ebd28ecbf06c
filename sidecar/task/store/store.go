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

// schemaVersion is stored in the file's user_version.
const schemaVersion = 17

var setVersion = fmt.Sprintf("PRAGMA user_version = %d", schemaVersion)

// migrations change each version of the schema to the next.
var migrations = [schemaVersion]string{`
CREATE TABLE tasks (
	id          TEXT PRIMARY KEY,
	created_at  INTEGER NOT NULL,
	title       TEXT NOT NULL,
	closed      INTEGER NOT NULL,
	last_number INTEGER NOT NULL
) STRICT;
CREATE TABLE messages (
	task_id TEXT NOT NULL REFERENCES tasks (id),
	id      INTEGER NOT NULL,
	number  INTEGER NOT NULL, -- of the event that changed the message last
	live    INTEGER NOT NULL, -- 1 while the message may still change
	ask_id  TEXT,
	body    TEXT NOT NULL,
	PRIMARY KEY (task_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX messages_by_number ON messages (task_id, number);
CREATE INDEX live_messages ON messages (task_id) WHERE live = 1;
CREATE UNIQUE INDEX messages_by_ask ON messages (ask_id) WHERE ask_id IS NOT NULL;
`, `
ALTER TABLE messages ADD COLUMN mcp_task INTEGER NOT NULL DEFAULT 0; -- when the call became one, or 0
CREATE INDEX messages_by_mcp_task ON messages (mcp_task) WHERE mcp_task > 0;
`, `
-- A completion's content, once a block, is a list of them.
UPDATE messages SET body = json_set(body, '$.body.question.result.content', json_array(json_extract(body, '$.body.question.result.content')))
	WHERE ask_id IS NOT NULL AND json_valid(body) AND json_type(body, '$.body.question.result.content') = 'object';
UPDATE messages SET body = json_set(body, '$.body.question.samplingResponse.content', json_array(json_extract(body, '$.body.question.samplingResponse.content')))
	WHERE ask_id IS NOT NULL AND json_valid(body) AND json_type(body, '$.body.question.samplingResponse.content') = 'object';
UPDATE messages SET body = json_set(body, '$.body.question.sentResponse.content', json_array(json_extract(body, '$.body.question.sentResponse.content')))
	WHERE ask_id IS NOT NULL AND json_valid(body) AND json_type(body, '$.body.question.sentResponse.content') = 'object';
`, `
ALTER TABLE messages ADD COLUMN mcp_task_id TEXT; -- the server's id of that MCP task
ALTER TABLE messages ADD COLUMN result_got INTEGER; -- see Entry.ResultGot
UPDATE messages SET
	mcp_task_id = json_extract(body, '$.body.task.taskId'),
	result_got = CASE json_extract(body, '$.body.result.type') WHEN 'result' THEN 0 END
WHERE mcp_task > 0 AND json_valid(body);
CREATE INDEX messages_by_mcp_task_id ON messages (mcp_task_id) WHERE mcp_task_id IS NOT NULL;
CREATE INDEX messages_by_result ON messages (result_got, task_id, id) WHERE result_got IS NOT NULL;
`, `
CREATE TABLE grants (
	id         TEXT PRIMARY KEY,
	server     TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	body       TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX grants_by_server ON grants (server, created_at);
ALTER TABLE messages ADD COLUMN sampling_server TEXT; -- whose sampling request it is, or NULL
ALTER TABLE messages ADD COLUMN sampling_at INTEGER NOT NULL DEFAULT 0; -- when it came
UPDATE messages SET sampling_server = json_extract(body, '$.body.question.serverName'), sampling_at = json_extract(body, '$.time')
	WHERE ask_id IS NOT NULL AND json_valid(body) AND json_extract(body, '$.body.question.type') = 'mcp_sampling';
CREATE INDEX messages_by_sampling ON messages (sampling_server, sampling_at) WHERE sampling_server IS NOT NULL;
`, `
CREATE TABLE drafts ( -- what was typed into an ask and not sent
	ask_id  TEXT PRIMARY KEY,
	task_id TEXT NOT NULL REFERENCES tasks (id),
	body    TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX drafts_by_task ON drafts (task_id);
`, `
CREATE TABLE rounds ( -- where a call is whose server has answered with questions
	task_id    TEXT NOT NULL REFERENCES tasks (id),
	message_id INTEGER NOT NULL,
	number     INTEGER NOT NULL,
	required   TEXT NOT NULL,
	PRIMARY KEY (task_id, message_id)
) STRICT, WITHOUT ROWID;
`, journalSchema, leaseSchema, chatSchema, deletionSchema, headsSchema, retentionSchema, confirmSchema, ownerlessSchema, hostCallsSchema, approvalsSchema}

// Store is an open file, or a database in memory.
type Store struct {
	db        *sql.DB
	connector *connector

	fileMu sync.Mutex // guards file
	file   file
}

// Open opens the store in dir, and creates both if they are missing. This process then owns the folder until the store
// is closed. If another process owns it, Open waits a while, because that process may be ending, and then fails with
// [ErrInUse]. Open renames a damaged store and creates a new one; see [Store.SetAside]. It does not change a store that
// a newer version of Assent wrote; see [ErrNewer].
func Open(dir string) (*Store, error) { return openDir(dir, patience) }

// OpenBeside opens the store in dir only for the person's decisions about servers ([Store.DecideServer]), even if
// another process owns the store. It fails if the owner has not migrated the file to this version.
func OpenBeside(dir string) (*Store, error) {
	s, err := openDir(dir, 0) // wait 0: OpenBeside creates and migrates the store if it has no owner
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
	if err := checkVersion(db); err != nil {
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
	if err := checkVersion(db); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), db.Close())
	}
	return &Store{db: db}, nil
}

// checkVersion fails if the store has another version.
func checkVersion(db *sql.DB) error {
	var version int
	err := db.QueryRow("PRAGMA user_version").Scan(&version)
	switch {
	case err != nil:
		return err
	case version > schemaVersion:
		return newerError(version)
	case version < schemaVersion:
		return fmt.Errorf("the store was written by an older Assent (schema %d, this one knows %d): start Assent once, which brings it up to date", version, schemaVersion)
	default:
		return nil
	}
}

func newerError(version int) error {
	return fmt.Errorf("%w (schema %d, this one knows %d): update Assent", ErrNewer, version, schemaVersion)
}

// OpenMemory opens a store in memory, which ends with the process.
func OpenMemory() (*Store, error) { return open("file::memory:") }

// busyTimeout is how long a statement waits for another process, in milliseconds.
const busyTimeout = 5000

// open opens a store and migrates it.
func open(name string) (*Store, error) {
	s, db := connect(name)
	if err := migrate(db); err != nil {
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

func migrate(db *sql.DB) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // a no-op after Commit
	var version int
	if err := tx.QueryRow("PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	switch {
	case version == schemaVersion:
		return nil
	case version > schemaVersion:
		return newerError(version)
	case version == headsVersion-1 || version == retentionVersion-1:
		// A sidecar of the version before heads that still runs sets the version back when it probes the store. Cuts
		// by older versions are recorded only once, even if a person sets the version back.
		err := tx.QueryRow(`SELECT CASE WHEN NOT EXISTS (SELECT 1 FROM pragma_table_info('tasks') WHERE name = 'owner') THEN ?
			WHEN EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'retention_clock') THEN ?
			WHEN EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'heads') THEN ? ELSE ? END`,
			schemaVersion, retentionVersion, headsVersion, version).Scan(&version)
		if err != nil {
			return err
		}
	}
	for _, migration := range migrations[version:] {
		if _, err := tx.Exec(migration); err != nil {
			return err
		}
	}
	if version < retentionVersion {
		if err := recordEarlierCut(tx); err != nil {
			return err
		}
	}
	if _, err := tx.Exec(setVersion); err != nil {
		return err
	}
	return tx.Commit()
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
	bodies := make([][]byte, len(entries))
	for i, e := range entries {
		var err error
		if bodies[i], err = json.Marshal(e.Message); err != nil {
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
			if err := saveMessage(ctx, w, task.ID, e, bodies[i]); err != nil {
				return err
			}
		}
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
