package store

import (
	"context"
	"encoding/json"
	"fmt"
)

// Round is the state of a call that its server has answered with questions (2026-07-28, "Multi
// Round-Trip Requests").
type Round struct {
	// Number counts the call's rounds from 0.
	Number int
	// Required is the server's InputRequiredResult, byte for byte.
	Required json.RawMessage
}

// SaveRound saves the round of a call, and replaces an earlier one; nil deletes it.
func (s *Store) SaveRound(ctx context.Context, taskID string, messageID int64, round *Round) error {
	query, args := `DELETE FROM rounds WHERE task_id = ? AND message_id = ?`, []any{taskID, messageID}
	if round != nil {
		query = `INSERT INTO rounds (task_id, message_id, number, required) VALUES (?, ?, ?, ?)
			ON CONFLICT (task_id, message_id) DO UPDATE SET number = excluded.number, required = excluded.required`
		args = append(args, round.Number, string(round.Required))
	}
	if _, err := s.db.ExecContext(ctx, query, args...); err != nil {
		return fmt.Errorf("save round: %w", err)
	}
	return nil
}

// Rounds returns the rounds of a task's calls, by message.
func (s *Store) Rounds(ctx context.Context, taskID string) (map[int64]Round, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT message_id, number, required FROM rounds WHERE task_id = ?`, taskID)
	if err != nil {
		return nil, fmt.Errorf("read rounds: %w", err)
	}
	defer rows.Close()
	rounds := map[int64]Round{}
	for rows.Next() {
		var messageID int64
		var r Round
		var required []byte
		if err := rows.Scan(&messageID, &r.Number, &required); err != nil {
			return nil, fmt.Errorf("read rounds: %w", err)
		}
		if json.Valid(required) { // a call with a damaged round cannot continue: it is lost
			r.Required = required
			rounds[messageID] = r
		}
	}
	return rounds, rows.Err()
}
