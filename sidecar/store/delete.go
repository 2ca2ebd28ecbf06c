package store

import (
	"context"
	"database/sql"
	"fmt"
)

// deletionSchema keeps when a task was deleted: until its rows are removed it can be restored.
const deletionSchema = `
ALTER TABLE tasks ADD COLUMN deleted INTEGER NOT NULL DEFAULT 0; -- in milliseconds since the Unix epoch, or 0
CREATE INDEX tasks_by_deletion ON tasks (deleted) WHERE deleted > 0;
`

// removals remove a task and what belongs to it alone; the journal is not part of it.
var removals = []string{
	`DELETE FROM drafts WHERE task_id = ?`,
	`DELETE FROM rounds WHERE task_id = ?`,
	`DELETE FROM tool_rules WHERE task_id = ?`,
	`DELETE FROM messages WHERE task_id = ?`,
	`DELETE FROM heads WHERE task_id = ?`,
	`DELETE FROM tasks WHERE id = ?`,
}

// Purge removes for good the deleted tasks that no living sidecar has, and those of this one that were deleted
// before a time, in milliseconds since the Unix epoch. Nobody must save these any more.
func (s *Store) Purge(ctx context.Context, before int64) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("remove deleted tasks: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // a no-op after Commit
	found, err := s.standings(ctx, tx, `WHERE deleted > 0`)
	if err != nil {
		return err
	}
	removed := false
	for _, st := range found {
		if st.Mine && st.Task.DeletedAt >= before || !st.Mine && st.Owner != "" && s.Alive(st.Owner) {
			continue
		}
		if err := remove(ctx, tx, st.Task.ID); err != nil {
			return err
		}
		removed = true
	}
	if !removed {
		return nil // nobody has to look for what has not changed
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("remove deleted tasks: %w", err)
	}
	return nil
}

func remove(ctx context.Context, tx *sql.Tx, taskID string) error {
	for _, removal := range removals {
		if _, err := tx.ExecContext(ctx, removal, taskID); err != nil {
			return fmt.Errorf("remove the task %q: %w", taskID, err)
		}
	}
	return nil
}
