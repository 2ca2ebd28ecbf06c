package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"assent/protocol"
)

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
