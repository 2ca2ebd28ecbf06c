package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"assent/protocol"
)

// Entry is a message with the values by which the store finds it.
type Entry struct {
	Message protocol.Message
	// Number is the number of the event that changed the message last.
	Number int64
	// Live messages may still change: an open ask, a call or a completion under way.
	Live bool
	// Act reports that the message is an act of a person, which must survive a loss of power. It is not stored.
	Act bool
	// AskID is the ask's id; empty if the message is no ask.
	AskID string
	// McpTask is when the message, a call, became an MCP task, in milliseconds since the Unix epoch; 0 if it did not.
	McpTask int64
	// McpTaskID is the server's id of that MCP task; empty if there is none.
	McpTaskID string
	// ResultGot is nil if the message has no result of an MCP task, 0 until a front end got the result, and the time of
	// that afterwards. It is written and not read; see [Store.ResultsGotBefore].
	ResultGot *int64
	// SamplingServer names the server if the message is a sampling request; empty otherwise.
	SamplingServer string
	// Size is the size of the stored message in bytes, if it was read within [Range.Bytes]. It is not written.
	Size int
	// Damaged reports that the stored message cannot be read. Message is then a notice that says so, and must not be
	// saved. It is read and not written.
	Damaged bool
}

// Range selects messages of a task.
type Range struct {
	// After selects messages that changed after this event number.
	After int64
	// Before selects messages with a smaller id; 0 selects all.
	Before int64
	// Limit bounds the selection to the messages with the greatest ids.
	Limit int
	// Bytes bounds the memory of the selection, in bytes as [Entry.Size] counts them; 0 is no bound. The selection ends with
	// the message that exceeds the bound, but has at least two messages if there are as many.
	Bytes int
}

var saveMessageQuery = fmt.Sprintf(`
INSERT INTO messages (task_id, id, number, live, ask_id, mcp_task, mcp_task_id, result_got, sampling_server, sampling_at, body, late)
VALUES (?, ?, ?, ?, NULLIF(?, ''), ?, NULLIF(?, ''), ?, NULLIF(?, ''), ?, ?,
	COALESCE((SELECT MAX(id) FROM messages WHERE task_id = ?), 0) - ? > %d)
ON CONFLICT (task_id, id) DO UPDATE SET number = excluded.number, live = excluded.live, mcp_task = excluded.mcp_task,
	mcp_task_id = excluded.mcp_task_id, result_got = excluded.result_got, body = excluded.body, late = late OR excluded.late`, lately)

// saveMessage writes a message, with its JSON in body, within a transaction.
func saveMessage(ctx context.Context, w writer, taskID string, e *Entry, body string) error {
	_, err := w.ExecContext(ctx, saveMessageQuery,
		taskID, e.Message.ID, e.Number, e.Live, e.AskID, e.McpTask, e.McpTaskID, e.ResultGot,
		e.SamplingServer, e.Message.Time, body, taskID, e.Message.ID)
	if err != nil {
		return fmt.Errorf("save message: %w", err)
	}
	return nil
}

// changedAfterQuery selects the messages that changed after an event; see [lately].
const changedAfterQuery = `
WITH tail (first) AS (
	SELECT (SELECT MAX(id) FROM messages WHERE task_id = ?1) - (number - ?2) - ?5 FROM heads WHERE task_id = ?1 AND message_id = 0)
SELECT id, number, live, ask_id, body FROM messages
	WHERE task_id = ?1 AND number > ?2 AND id < ?3 AND id >= (SELECT first FROM tail)
UNION ALL
SELECT id, number, live, ask_id, body FROM messages INDEXED BY late_messages
	WHERE task_id = ?1 AND number > ?2 AND id < ?3 AND id < (SELECT first FROM tail) AND late = 1
ORDER BY id DESC LIMIT ?4`

// Messages returns the selected messages of a task in ascending order of id. With an error that is [Damaged],
// it returns those with the greatest ids that could be read.
func (s *Store) Messages(ctx context.Context, taskID string, r Range) ([]Entry, error) {
	before := r.Before
	if before == 0 {
		before = 1<<63 - 1
	}
	// The newest messages of a task are a scan backwards. Messages that changed after a number are among
	// them or in an index, so the cost does not grow with the history.
	query := `SELECT id, number, live, ask_id, body FROM messages WHERE task_id = ? AND id < ? ORDER BY id DESC LIMIT ?`
	args := []any{taskID, before, r.Limit}
	if r.After > 0 {
		query, args = changedAfterQuery, []any{taskID, r.After, before, r.Limit, lately}
	}
	return s.entriesWithin(ctx, r.Bytes, query, args...)
}

// Live returns the messages of a task that may still change.
func (s *Store) Live(ctx context.Context, taskID string) ([]Entry, error) {
	return s.entries(ctx, `SELECT id, messages.number, live, ask_id, body FROM heads CROSS JOIN messages USING (task_id)
		WHERE task_id = ? AND message_id > 0 AND id = message_id ORDER BY message_id DESC`, taskID)
}

// Ask returns the message of a task's ask, or nil if there is none.
func (s *Store) Ask(ctx context.Context, taskID, askID string) (*Entry, error) {
	entries, err := s.entries(ctx, `SELECT id, number, live, ask_id, body FROM messages WHERE task_id = ? AND ask_id = ? ORDER BY id DESC LIMIT 1`, taskID, askID)
	if err != nil || len(entries) == 0 {
		return nil, err
	}
	return &entries[0], nil
}

// McpTaskPlace is the place of a call that became an MCP task, with its sort keys.
type McpTaskPlace struct {
	Place
	// Live and McpTask are as in [Entry].
	Live    bool
	McpTask int64
}

// McpTasks returns the places of the calls that became MCP tasks: first those that run, then those that have
// ended, each the newest first. After, unless it is nil, is the last place of the previous page.
func (s *Store) McpTasks(ctx context.Context, after *McpTaskPlace, limit int) ([]McpTaskPlace, error) {
	if after == nil {
		after = &McpTaskPlace{Live: true, McpTask: math.MaxInt64}
	}
	rows, err := s.db.QueryContext(ctx, `SELECT task_id, id, live, mcp_task FROM messages INDEXED BY messages_by_mcp_task
		WHERE mcp_task > 0 AND (live, mcp_task, task_id, id) < (?, ?, ?, ?)
		ORDER BY live DESC, mcp_task DESC, task_id DESC, id DESC LIMIT ?`,
		after.Live, after.McpTask, after.TaskID, after.MessageID, limit)
	if err != nil {
		return nil, fmt.Errorf("find MCP tasks: %w", err)
	}
	defer rows.Close()
	var places []McpTaskPlace
	for rows.Next() {
		var p McpTaskPlace
		if err := rows.Scan(&p.TaskID, &p.MessageID, &p.Live, &p.McpTask); err != nil {
			return nil, fmt.Errorf("find MCP tasks: %w", err)
		}
		places = append(places, p)
	}
	return places, rows.Err()
}

// McpTasksNamed returns the places of the calls that became an MCP task with this prefix of its id, the newest
// first.
func (s *Store) McpTasksNamed(ctx context.Context, beginning string) ([]Place, error) {
	return s.places(ctx, `SELECT task_id, id FROM messages INDEXED BY messages_by_mcp_task_id
		WHERE mcp_task_id IS NOT NULL AND substr(mcp_task_id, 1, length(?1)) = ?1
		ORDER BY mcp_task DESC, task_id DESC, id DESC`, beginning)
}

// McpTask returns the calls of all tasks that became an MCP task of this id, for all servers.
func (s *Store) McpTask(ctx context.Context, mcpTaskID string) ([]Entry, error) {
	return s.entries(ctx, `SELECT id, number, live, ask_id, body FROM messages WHERE mcp_task_id = ?`, mcpTaskID)
}

// Samplings returns the places of a server's sampling requests, the newest first.
func (s *Store) Samplings(ctx context.Context, serverName string, limit int) ([]Place, error) {
	return s.places(ctx, `SELECT task_id, id FROM messages INDEXED BY messages_by_sampling
		WHERE sampling_server = ? ORDER BY sampling_at DESC, task_id DESC, id DESC LIMIT ?`, serverName, limit)
}

// GotResults records that a front end has received the results of MCP tasks among the messages first to last of a task.
// It does not change results that were received earlier.
func (s *Store) GotResults(ctx context.Context, taskID string, first, last, now int64) error {
	_, err := s.db.ExecContext(ctx, `UPDATE messages SET result_got = ?
		WHERE result_got = 0 AND task_id = ? AND id BETWEEN ? AND ?`, now, taskID, first, last)
	if err != nil {
		return fmt.Errorf("note that results were got: %w", err)
	}
	return nil
}

// ResultsGotBefore returns the places of the results of MCP tasks that a front end received before a
// time.
func (s *Store) ResultsGotBefore(ctx context.Context, before int64) ([]Place, error) {
	return s.places(ctx, `SELECT task_id, id FROM messages INDEXED BY messages_by_result
		WHERE result_got > 0 AND result_got < ? ORDER BY result_got`, before)
}

// places runs a query that selects the ids of tasks and messages.
func (s *Store) places(ctx context.Context, query string, args ...any) ([]Place, error) {
	rows, err := s.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("find messages: %w", err)
	}
	defer rows.Close()
	var places []Place
	for rows.Next() {
		var p Place
		if err := rows.Scan(&p.TaskID, &p.MessageID); err != nil {
			return nil, fmt.Errorf("find messages: %w", err)
		}
		places = append(places, p)
	}
	return places, rows.Err()
}

// Place is the place of a message.
type Place struct {
	TaskID    string
	MessageID int64
}

// Message returns one message of a task, or nil.
func (s *Store) Message(ctx context.Context, taskID string, id int64) (*Entry, error) {
	entries, err := s.entries(ctx, `SELECT id, number, live, ask_id, body FROM messages WHERE task_id = ? AND id = ?`, taskID, id)
	if err != nil || len(entries) == 0 {
		return nil, err
	}
	return &entries[0], nil
}

// LastMessage returns the greatest message id of a task, or 0.
func (s *Store) LastMessage(ctx context.Context, taskID string) (int64, error) {
	var id int64
	err := s.db.QueryRowContext(ctx, `SELECT COALESCE(MAX(id), 0) FROM messages WHERE task_id = ?`, taskID).Scan(&id)
	if err != nil {
		return 0, fmt.Errorf("read messages: %w", err)
	}
	return id, nil
}

// entries runs a query that selects in descending order of id, and returns its rows ascending. With an
// error, it returns those that could be read.
func (s *Store) entries(ctx context.Context, query string, args ...any) ([]Entry, error) {
	return s.entriesWithin(ctx, 0, query, args...)
}

// entriesWithin is entries with the bound of [Range.Bytes].
func (s *Store) entriesWithin(ctx context.Context, bytes int, query string, args ...any) ([]Entry, error) {
	rows, err := s.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read messages: %w", err)
	}
	defer rows.Close()
	var entries []Entry
	size := 0
	for (size <= bytes || len(entries) == 1) && rows.Next() { // without a bound, size stays 0
		var e Entry
		var id int64
		var askID sql.NullString
		var body []byte
		if err := rows.Scan(&id, &e.Number, &e.Live, &askID, &body); err != nil {
			return nil, fmt.Errorf("read messages: %w", err)
		}
		// A message that cannot be read keeps its place: the neighbours stay readable, and no number is missing.
		if err := json.Unmarshal(body, &e.Message); err != nil || e.Message.ID != id {
			e.Message, e.Damaged = damagedMessage(id, body), true
		}
		e.AskID = askID.String
		if bytes > 0 {
			e.Size = len(body)
			size += e.Size
		}
		entries = append(entries, e)
	}
	slices.Reverse(entries)
	if err := rows.Err(); err != nil {
		return entries, fmt.Errorf("read messages: %w", err)
	}
	return entries, nil
}

// lately is the maximum number of messages after a changed one for which the search by position finds it.
// Messages that change later are in an index. Nearly all asks are settled earlier.
//
// Messages get their ids in the order of the events that add them. So if the newest event is L and the newest
// message is M, the messages that changed after event N and are not late are after the message M-(L-N)-lately.
const lately = 1000
