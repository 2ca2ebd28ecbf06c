package store

import (
	"context"
	"encoding/json"
	"fmt"
)

// HostCall is a call to which its host can come back. The gateway writes and reads the body.
type HostCall struct {
	Place
	Body json.RawMessage
}

// SaveHostCall saves the state of a host's call, and replaces its earlier state. A nil body deletes it.
func (s *Store) SaveHostCall(ctx context.Context, p Place, body json.RawMessage) error {
	query, args := `DELETE FROM host_calls WHERE task_id = ? AND message_id = ?`, []any{p.TaskID, p.MessageID}
	if body != nil {
		query = `INSERT OR REPLACE INTO host_calls (task_id, message_id, body) VALUES (?, ?, ?)`
		args = append(args, string(body))
	}
	if _, err := s.db.ExecContext(ctx, query, args...); err != nil {
		return fmt.Errorf("save a host's call: %w", err)
	}
	return nil
}

// HostCalls returns the saved calls of hosts. It leaves out damaged ones.
func (s *Store) HostCalls(ctx context.Context) (calls []HostCall, err error) {
	rows, err := s.db.QueryContext(ctx, `SELECT task_id, message_id, body FROM host_calls`)
	if err != nil {
		return nil, fmt.Errorf("read hosts' calls: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var c HostCall
		var body []byte
		if err := rows.Scan(&c.TaskID, &c.MessageID, &body); err != nil {
			return nil, fmt.Errorf("read hosts' calls: %w", err)
		}
		if json.Valid(body) {
			c.Body = body
			calls = append(calls, c)
		}
	}
	return calls, rows.Err()
}
