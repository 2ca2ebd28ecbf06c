package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
)

// maxApprovals bounds the tools of all servers that are kept. The ones that were let run last stay.
const maxApprovals = 1000

// ToolApproval is a tool as it was when it was last let run.
type ToolApproval struct {
	ServerName string `json:"-"`
	ToolName   string `json:"-"`
	// At is in milliseconds since the Unix epoch.
	At int64 `json:"-"`
	// By names the front end in which the person let it run, or the host that called it.
	By string `json:"by"`
	// Identity is that of the server's definition.
	Identity string `json:"identity"`
	// Digest is that of all that the server says of the tool, and Described the same for a person to read, cut if it is long.
	Digest    string `json:"digest"`
	Described string `json:"described"`
}

// ApproveTool saves a tool that was let run, and replaces what was saved of it. Person reports that a person did it: the
// change then survives a loss of power.
func (s *Store) ApproveTool(ctx context.Context, a ToolApproval, person bool) error {
	body, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("encode an approved tool: %w", err)
	}
	err = s.write(ctx, durability(person), func(w writer) error {
		if _, err := w.ExecContext(ctx, `INSERT OR REPLACE INTO tool_approvals (server, tool, approved_at, body) VALUES (?, ?, ?, ?)`,
			a.ServerName, a.ToolName, a.At, string(body)); err != nil {
			return err
		}
		_, err := w.ExecContext(ctx, `DELETE FROM tool_approvals WHERE rowid IN
			(SELECT rowid FROM tool_approvals ORDER BY approved_at DESC LIMIT -1 OFFSET ?)`, maxApprovals)
		return err
	})
	if err != nil {
		return fmt.Errorf("save an approved tool: %w", err)
	}
	return nil
}

// ToolApproval returns what was saved of a tool, or nil if nothing was.
func (s *Store) ToolApproval(ctx context.Context, serverName, toolName string) (*ToolApproval, error) {
	a := ToolApproval{ServerName: serverName, ToolName: toolName}
	var body []byte
	err := s.db.QueryRowContext(ctx, `SELECT approved_at, body FROM tool_approvals WHERE server = ? AND tool = ?`, serverName, toolName).Scan(&a.At, &body)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read an approved tool: %w", err)
	}
	if err := json.Unmarshal(body, &a); err != nil {
		return nil, fmt.Errorf("an approved tool is damaged: %w", err)
	}
	return &a, nil
}
