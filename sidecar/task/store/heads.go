package store

// headsVersion is the first version of the schema with heads.
const headsVersion = 12

// headsSchema stores in one table the values that change with every ask, so that a change writes few pages: of
// the tree of messages, of the journal, and of this small table. Each table or index in a transaction costs at
// least one page of 4 kB, in the write-ahead log and again in the file.
//
// A row is the head of a task if message_id is 0; or of the journal if there is no task either; or it names a
// message that may still change. Triggers maintain the latter, like an index.
//
// An ask is found by a search through its task's messages, the newest first. That is needed only for an
// answer to a settled ask. Messages that changed after an event are found by their position; see
// [lately].
const headsSchema = `
CREATE TABLE heads (
	task_id    TEXT NOT NULL,
	message_id INTEGER NOT NULL,
	number     INTEGER, -- of the newest event, or the newest record
	open_asks  INTEGER,
	hash       TEXT,    -- of the newest record
	PRIMARY KEY (task_id, message_id)
) STRICT, WITHOUT ROWID;
INSERT INTO heads (task_id, message_id, number, open_asks) SELECT id, 0, last_number, open_asks FROM tasks;
INSERT INTO heads (task_id, message_id, number, hash) SELECT '', 0, last_seq, last_hash FROM journal_ends;
INSERT INTO heads (task_id, message_id) SELECT task_id, id FROM messages INDEXED BY live_messages WHERE live = 1;
CREATE TABLE new_messages (
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
INSERT INTO new_messages
	SELECT task_id, id, number, live, 1, ask_id, mcp_task, mcp_task_id, result_got, sampling_server, sampling_at, body FROM messages;
DROP TABLE messages;
ALTER TABLE new_messages RENAME TO messages;
CREATE INDEX late_messages ON messages (task_id, number) WHERE late = 1;
CREATE INDEX messages_by_mcp_task ON messages (mcp_task) WHERE mcp_task > 0;
CREATE INDEX messages_by_mcp_task_id ON messages (mcp_task_id) WHERE mcp_task_id IS NOT NULL;
CREATE INDEX messages_by_result ON messages (result_got, task_id, id) WHERE result_got IS NOT NULL;
CREATE INDEX messages_by_sampling ON messages (sampling_server, sampling_at) WHERE sampling_server IS NOT NULL;
CREATE TRIGGER live_added AFTER INSERT ON messages WHEN NEW.live BEGIN
	INSERT OR IGNORE INTO heads (task_id, message_id) VALUES (NEW.task_id, NEW.id);
END;
CREATE TRIGGER live_again AFTER UPDATE OF live ON messages WHEN NEW.live AND NOT OLD.live BEGIN
	INSERT OR IGNORE INTO heads (task_id, message_id) VALUES (NEW.task_id, NEW.id);
END;
CREATE TRIGGER live_ended AFTER UPDATE OF live ON messages WHEN OLD.live AND NOT NEW.live BEGIN
	DELETE FROM heads WHERE task_id = NEW.task_id AND message_id = NEW.id;
END;
ALTER TABLE tasks DROP COLUMN last_number;
ALTER TABLE tasks DROP COLUMN open_asks;
ALTER TABLE journal_ends DROP COLUMN last_seq;
ALTER TABLE journal_ends DROP COLUMN last_hash;
`

// lately is the maximum number of messages after a changed one for which the search by position finds it.
// Messages that change later are in an index. Nearly all asks are settled earlier.
//
// Messages get their ids in the order of the events that add them. So if the newest event is L and the newest
// message is M, the messages that changed after event N and are not late are after the message M-(L-N)-lately.
const lately = 1000
