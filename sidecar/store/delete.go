package store

import (
	"context"
	"errors"
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
// before a time, in milliseconds since the Unix epoch. Nobody must save these any more. Each has a transaction of its
// own: whoever has to write waits for one task at the most, and one that cannot be removed keeps none of the others.
func (s *Store) Purge(ctx context.Context, before int64) error {
	found, err := s.standings(ctx, s.db, `WHERE deleted > 0`)
	if err != nil {
		return err
	}
	var errs []error
	for _, st := range found {
		if err := s.purge(ctx, st.Task.ID, before); err != nil {
			errs = append(errs, fmt.Errorf("remove the deleted task %q: %w", st.Task.ID, err))
		}
	}
	return errors.Join(errs...)
}

// purge is Purge for one task, as it stands by now.
func (s *Store) purge(ctx context.Context, taskID string, before int64) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // a no-op after Commit
	found, err := s.standings(ctx, tx, `WHERE id = ? AND deleted > 0`, taskID)
	if err != nil || len(found) == 0 {
		return err
	}
	st := found[0]
	if st.Mine && st.Task.DeletedAt >= before || !st.Mine && st.Owner != "" && s.Alive(st.Owner) {
		return nil // nobody has to look for what has not changed
	}
	for _, removal := range removals {
		if _, err := tx.ExecContext(ctx, removal, taskID); err != nil {
			return err
		}
	}
	return tx.Commit()
}
