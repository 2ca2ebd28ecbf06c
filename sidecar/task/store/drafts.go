package store

import (
	"context"
	"encoding/json"
	"fmt"
)

// SaveDraft saves the draft of an answer, and replaces an earlier one; nil deletes it.
func (s *Store) SaveDraft(ctx context.Context, taskID, askID string, draft json.RawMessage) error {
	query, args := `DELETE FROM drafts WHERE ask_id = ?`, []any{askID}
	if draft != nil {
		query = `INSERT INTO drafts (ask_id, task_id, body) VALUES (?, ?, ?) ON CONFLICT (ask_id) DO UPDATE SET body = excluded.body`
		args = append(args, taskID, string(draft))
	}
	if _, err := s.db.ExecContext(ctx, query, args...); err != nil {
		return fmt.Errorf("save draft: %w", err)
	}
	return nil
}

// Drafts returns the drafts of a task, by ask.
func (s *Store) Drafts(ctx context.Context, taskID string) (map[string]json.RawMessage, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT ask_id, body FROM drafts WHERE task_id = ?`, taskID)
	if err != nil {
		return nil, fmt.Errorf("read drafts: %w", err)
	}
	defer rows.Close()
	drafts := map[string]json.RawMessage{}
	for rows.Next() {
		var askID string
		var body []byte
		if err := rows.Scan(&askID, &body); err != nil {
			return nil, fmt.Errorf("read drafts: %w", err)
		}
		if json.Valid(body) { // a damaged draft must not hide the task
			drafts[askID] = body
		}
	}
	return drafts, rows.Err()
}
