package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"assent/protocol"
)

// leaseSchema is from a version in which windows had sidecars of their own and a task was live in one of them, which
// its row named. See ownerlessSchema.
const leaseSchema = `
ALTER TABLE tasks ADD COLUMN owner TEXT; -- the id of the sidecar that has the task, or NULL
ALTER TABLE tasks ADD COLUMN owner_name TEXT NOT NULL DEFAULT ''; -- what to call its window
ALTER TABLE tasks ADD COLUMN owned_since INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tasks ADD COLUMN workspace TEXT; -- of the window that had it last, or NULL
ALTER TABLE tasks ADD COLUMN open_asks INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tasks ADD COLUMN claimed INTEGER NOT NULL DEFAULT 0;
CREATE INDEX tasks_by_owner ON tasks (owner) WHERE owner IS NOT NULL;
CREATE INDEX tasks_by_claim ON tasks (claimed);
`

// ownerlessSchema drops the owner of a task, because one process owns the store; see [Open].
const ownerlessSchema = `
DROP INDEX tasks_by_owner;
DROP INDEX tasks_by_claim;
ALTER TABLE tasks DROP COLUMN owner;
ALTER TABLE tasks DROP COLUMN owner_name;
ALTER TABLE tasks DROP COLUMN owned_since;
ALTER TABLE tasks DROP COLUMN workspace;
ALTER TABLE tasks DROP COLUMN claimed;
`

// Tasks returns every task, the most recently created first.
func (s *Store) Tasks(ctx context.Context) (_ []protocol.Task, err error) {
	rows, err := s.db.QueryContext(ctx, `
		SELECT id, created_at, title, closed, number, open_asks, chat, deleted
		FROM tasks CROSS JOIN heads ON task_id = id AND message_id = 0 ORDER BY created_at DESC, id DESC`)
	if err != nil {
		return nil, fmt.Errorf("read tasks: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var all []protocol.Task
	for rows.Next() {
		var t protocol.Task
		var chat []byte
		if err := rows.Scan(&t.ID, &t.CreatedAt, &t.Title, &t.Closed, &t.LastNumber, &t.OpenAsks, &chat, &t.DeletedAt); err != nil {
			return nil, fmt.Errorf("read tasks: %w", err)
		}
		readChat(&t, chat)
		all = append(all, t)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read tasks: %w", err)
	}
	return all, nil
}

// LiveTasks returns the ids of the tasks with messages that may still change.
func (s *Store) LiveTasks(ctx context.Context) ([]string, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT DISTINCT task_id FROM heads WHERE message_id > 0`)
	if err != nil {
		return nil, fmt.Errorf("find live messages: %w", err)
	}
	ids, err := scanIDs(rows)
	if err != nil {
		return nil, fmt.Errorf("find live messages: %w", err)
	}
	return ids, nil
}

// scanIDs reads the rows of a query of ids.
func scanIDs(rows *sql.Rows) (ids []string, err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

const (
	// Whether the row of the task is unchanged; NULL if there is no such task. And the end of the journal.
	saveQuery = `
SELECT number, hash, (SELECT (title, closed, chat, deleted) IS (?, ?, ?, ?) FROM tasks WHERE id = ?)
FROM heads WHERE ` + ofJournal
	changeTaskQuery = `UPDATE tasks SET title = ?, closed = ?, chat = ?, deleted = ? WHERE id = ?`
	newTaskQuery    = `INSERT INTO tasks (title, closed, chat, deleted, id, created_at) VALUES (?, ?, ?, ?, ?, ?)`
	saveHeadsQuery  = `
INSERT OR REPLACE INTO heads (task_id, message_id, number, open_asks, hash) VALUES (?, 0, ?, ?, NULL), ('', 0, ?, NULL, ?)`
)

// saveTask writes a task, except for its head, within a transaction, which has the writer's lock. It writes the
// row only if it has changed. It returns the end of the journal.
func saveTask(ctx context.Context, tx writer, task *protocol.Task) (end link, err error) {
	chat, err := chatOf(task)
	if err != nil {
		return end, err
	}
	row := []any{task.Title, task.Closed, chat, task.DeletedAt, task.ID}
	var same sql.NullBool
	err = tx.QueryRowContext(ctx, saveQuery, row...).Scan(&end.seq, &end.hash, &same)
	switch {
	case err != nil:
	case !same.Valid:
		_, err = tx.ExecContext(ctx, newTaskQuery, append(row, task.CreatedAt)...)
	case !same.Bool:
		_, err = tx.ExecContext(ctx, changeTaskQuery, row...)
	}
	if err != nil {
		return end, fmt.Errorf("save task: %w", err)
	}
	return end, nil
}

// saveHeads writes the heads of a task and of the journal, with its new end.
func saveHeads(ctx context.Context, tx writer, task *protocol.Task, end link) error {
	if _, err := tx.ExecContext(ctx, saveHeadsQuery, task.ID, task.LastNumber, task.OpenAsks, end.seq, end.hash); err != nil {
		return fmt.Errorf("save task: %w", err)
	}
	return nil
}
