package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

const (
	// applicationID marks the file as a store of a published version: "Asnt".
	applicationID = 0x41736e74
	// schemaVersion is stored in the file's user_version.
	schemaVersion = 1
)

var setVersion = fmt.Sprintf("PRAGMA user_version = %d", schemaVersion)

// schema has in the table heads the values that change with every ask, so that a change writes few pages: of the table
// of messages, of the journal, and of this small one. Each table or index in a transaction costs at least one page of
// 4 kB, in the write-ahead log and again in the file.
//
// An ask is found by a search through its task's messages, the newest first. That is needed only for an answer to a
// settled ask. Messages that changed after an event are found by their position; see [lately].
const schema = `
CREATE TABLE tasks (
	id         TEXT PRIMARY KEY,
	created_at INTEGER NOT NULL,
	title      TEXT NOT NULL,
	closed     INTEGER NOT NULL,
	chat       TEXT, -- JSON of chat, or NULL where there is nothing to say
	deleted    INTEGER NOT NULL DEFAULT 0 -- in milliseconds since the Unix epoch, or 0; the rows go later
) STRICT;
CREATE INDEX tasks_by_deletion ON tasks (deleted) WHERE deleted > 0;

CREATE TABLE messages (
	task_id         TEXT NOT NULL REFERENCES tasks (id),
	id              INTEGER NOT NULL,
	number          INTEGER NOT NULL, -- of the event that changed the message last
	live            INTEGER NOT NULL, -- 1 while the message may still change
	late            INTEGER NOT NULL, -- see lately
	ask_id          TEXT,
	mcp_task        INTEGER NOT NULL, -- when the call became one, or 0
	mcp_task_id     TEXT, -- the server's id of that MCP task
	result_got      INTEGER, -- see Entry.ResultGot
	sampling_server TEXT, -- whose sampling request it is, or NULL
	sampling_at     INTEGER NOT NULL, -- when it came
	body            TEXT NOT NULL,
	UNIQUE (task_id, id)
) STRICT;
CREATE INDEX late_messages ON messages (task_id, number) WHERE late = 1;
CREATE INDEX messages_by_mcp_task ON messages (mcp_task) WHERE mcp_task > 0;
CREATE INDEX messages_by_mcp_task_id ON messages (mcp_task_id) WHERE mcp_task_id IS NOT NULL;
CREATE INDEX messages_by_result ON messages (result_got, task_id, id) WHERE result_got IS NOT NULL;
CREATE INDEX messages_by_sampling ON messages (sampling_server, sampling_at) WHERE sampling_server IS NOT NULL;

-- A row is the head of a task if message_id is 0; or of the journal if there is no task either; or it names a message
-- that may still change. Triggers maintain the latter, like an index.
CREATE TABLE heads (
	task_id    TEXT NOT NULL,
	message_id INTEGER NOT NULL,
	number     INTEGER, -- of the newest event, or the newest record
	open_asks  INTEGER,
	hash       TEXT,    -- of the newest record, so that records cannot be removed from the end unnoticed
	PRIMARY KEY (task_id, message_id)
) STRICT, WITHOUT ROWID;
INSERT INTO heads (task_id, message_id, number, hash) VALUES ('', 0, 0, '');
CREATE TRIGGER live_added AFTER INSERT ON messages WHEN NEW.live BEGIN
	INSERT OR IGNORE INTO heads (task_id, message_id) VALUES (NEW.task_id, NEW.id);
END;
CREATE TRIGGER live_again AFTER UPDATE OF live ON messages WHEN NEW.live AND NOT OLD.live BEGIN
	INSERT OR IGNORE INTO heads (task_id, message_id) VALUES (NEW.task_id, NEW.id);
END;
CREATE TRIGGER live_ended AFTER UPDATE OF live ON messages WHEN OLD.live AND NOT NEW.live BEGIN
	DELETE FROM heads WHERE task_id = NEW.task_id AND message_id = NEW.id;
END;

CREATE TABLE drafts ( -- what was typed into an ask and not sent
	ask_id  TEXT PRIMARY KEY,
	task_id TEXT NOT NULL REFERENCES tasks (id),
	body    TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX drafts_by_task ON drafts (task_id);
CREATE TABLE rounds ( -- where a call is whose server has answered with questions
	task_id    TEXT NOT NULL REFERENCES tasks (id),
	message_id INTEGER NOT NULL,
	number     INTEGER NOT NULL,
	required   TEXT NOT NULL,
	PRIMARY KEY (task_id, message_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE host_calls ( -- a host's call to which the host can come back
	task_id    TEXT NOT NULL REFERENCES tasks (id),
	message_id INTEGER NOT NULL,
	body       TEXT NOT NULL,
	PRIMARY KEY (task_id, message_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE grants (
	id         TEXT PRIMARY KEY,
	server     TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	body       TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX grants_by_server ON grants (server, created_at);
CREATE TABLE tool_rules ( -- remembered answers about tools
	id         TEXT PRIMARY KEY,
	server     TEXT NOT NULL,
	task_id    TEXT NOT NULL, -- empty where the rule is for all
	created_at INTEGER NOT NULL,
	body       TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX tool_rules_by_server ON tool_rules (server, created_at);
CREATE TABLE tool_approvals ( -- each tool as it was when it was last let run, so that a change of it is seen
	server      TEXT NOT NULL,
	tool        TEXT NOT NULL,
	approved_at INTEGER NOT NULL,
	body        TEXT NOT NULL,
	PRIMARY KEY (server, tool)
) STRICT;
CREATE INDEX tool_approvals_by_time ON tool_approvals (approved_at);
CREATE TABLE server_decisions ( -- the person's, about servers that a file of the workspace configures
	source     TEXT NOT NULL, -- the file that configures the server
	server     TEXT NOT NULL,
	definition TEXT NOT NULL, -- a hash
	decided_at INTEGER NOT NULL,
	body       TEXT NOT NULL,
	PRIMARY KEY (source, server, definition)
) STRICT, WITHOUT ROWID;

-- The journal is a chain: each record's hash is over the hash before it and all of its own columns. When old records
-- are cut off its front, journal_ends gets the number and the hash of the last of them, and the same transaction adds a
-- record of the cut to the chain; see Cut. Assent makes no cut without such a record.
CREATE TABLE journal (
	seq     INTEGER PRIMARY KEY, -- from 1, without gaps
	at      INTEGER NOT NULL,
	kind    TEXT NOT NULL,
	task_id TEXT NOT NULL, -- these may be empty
	ask_id  TEXT NOT NULL,
	server  TEXT NOT NULL,
	body    TEXT NOT NULL, -- JSON
	hash    TEXT NOT NULL  -- hexadecimal
) STRICT;
CREATE TABLE journal_ends (
	one      INTEGER PRIMARY KEY CHECK (one = 1),
	cut_seq  INTEGER NOT NULL, -- of the last record that was cut off, or 0
	cut_hash TEXT NOT NULL
) STRICT;
INSERT INTO journal_ends (one, cut_seq, cut_hash) VALUES (1, 0, '');
CREATE TABLE retention_clock ( -- the newest time that retention trusts; see Store.RetentionTime
	one     INTEGER PRIMARY KEY CHECK (one = 1),
	trusted INTEGER NOT NULL, -- in milliseconds since the Unix epoch; 0 before the first call
	doubted INTEGER NOT NULL  -- the system's time when a jump was found or trusted last moved after one; else 0
) STRICT;
INSERT INTO retention_clock (one, trusted, doubted) VALUES (1, 0, 0);
`

// ErrNewer is the error of Open if a newer Assent wrote the store. Another attempt fails, too.
var ErrNewer = errors.New("the store was written by a newer Assent")

// errUnpublished is the error for a store of a version of Assent from before the first release, or for another
// program's database. Open sets it aside.
var errUnpublished = errors.New("the store is of an unpublished version of Assent, and this version cannot read it")

// create gives an empty database the schema. It fails with [ErrNewer] or errUnpublished for the store of another version.
func create(db *sql.DB) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // a no-op after Commit
	empty, err := check(tx)
	if err != nil || !empty {
		return err
	}
	if _, err := tx.Exec(schema + fmt.Sprintf("PRAGMA application_id = %d;", applicationID) + setVersion); err != nil {
		return err
	}
	return tx.Commit()
}

// check reports whether a database is empty. It fails if the database is neither that nor a store of this version.
func check(db interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
},
) (empty bool, err error) {
	var id, version, objects int64
	err = db.QueryRowContext(context.Background(), `SELECT application_id, user_version, (SELECT COUNT(*) FROM sqlite_schema)
		FROM pragma_application_id, pragma_user_version`).Scan(&id, &version, &objects)
	switch {
	case err != nil:
		return false, err
	case id == 0 && objects == 0:
		return true, nil
	case id != applicationID || version < schemaVersion:
		return false, errUnpublished
	case version > schemaVersion:
		return false, newerError(version)
	default:
		return false, nil
	}
}

func newerError(version int64) error {
	return fmt.Errorf("%w (schema %d, this one knows %d): update Assent", ErrNewer, version, schemaVersion)
}
