package store

import (
	"context"
	"errors"
	"fmt"
)

// removals remove a task and its own data. The journal is not part of it.
var removals = []string{
	`DELETE FROM drafts WHERE task_id = ?`,
	`DELETE FROM rounds WHERE task_id = ?`,
	`DELETE FROM host_calls WHERE task_id = ?`,
	`DELETE FROM tool_rules WHERE task_id = ?`,
	`DELETE FROM messages WHERE task_id = ?`,
	`DELETE FROM heads WHERE task_id = ?`,
	`DELETE FROM tasks WHERE id = ?`,
}

// Purge removes the tasks that were deleted before a time, in milliseconds since the Unix epoch. The caller must not
// save them again. Each task has its own transaction, so other writers wait for at most one task, and a failure affects
// only one.
func (s *Store) Purge(ctx context.Context, before int64) error {
	rows, err := s.db.QueryContext(ctx, `SELECT id FROM tasks WHERE deleted > 0 AND deleted < ?`, before)
	if err != nil {
		return fmt.Errorf("find deleted tasks: %w", err)
	}
	ids, err := scanIDs(rows)
	if err != nil {
		return fmt.Errorf("find deleted tasks: %w", err)
	}
	var errs []error
	for _, id := range ids {
		err := s.write(ctx, processDeath, func(w writer) error {
			for _, removal := range removals {
				if _, err := w.ExecContext(ctx, removal, id); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			errs = append(errs, fmt.Errorf("remove the deleted task %q: %w", id, err))
		}
	}
	return errors.Join(errs...)
}
