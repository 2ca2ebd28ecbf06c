package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"assent/protocol"
)

// ServerDecision is a person's decision whether one definition of a server may run.
type ServerDecision struct {
	Source     string `json:"source"`
	ServerName string `json:"serverName"`
	// Definition is the hash of the whole definition, and Shown the definition without secrets.
	Definition string                    `json:"definition"`
	Shown      protocol.ServerDefinition `json:"shown"`
	Decision   protocol.ServerDecision   `json:"decision"`
	// By names the front end in which the person decided.
	By string `json:"by"`
	// At is the time of the decision in milliseconds since the Unix epoch.
	At int64 `json:"at"`
}

// DecideServer saves a decision and its journal records in one transaction. The decision replaces an earlier one about the
// same definition.
func (s *Store) DecideServer(ctx context.Context, d ServerDecision, records ...Record) error {
	body, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("encode the decision: %w", err)
	}
	err = s.write(ctx, powerLoss, func(w writer) error {
		_, err := w.ExecContext(ctx, `INSERT OR REPLACE INTO server_decisions (source, server, definition, decided_at, body) VALUES (?, ?, ?, ?, ?)`,
			d.Source, d.ServerName, d.Definition, d.At, string(body))
		if err != nil {
			return err
		}
		return appendJournal(ctx, w, records)
	})
	if err != nil {
		return fmt.Errorf("save the decision: %w", err)
	}
	return nil
}

// DecisionOf returns the decision about a definition of a server, or nil if there is none.
func (s *Store) DecisionOf(ctx context.Context, source, serverName, definition string) (*ServerDecision, error) {
	return s.serverDecision(ctx, `SELECT body FROM server_decisions WHERE source = ? AND server = ? AND definition = ?`, source, serverName, definition)
}

// LastAllowed returns the latest decision that allowed a server, of any definition, or nil if there is none.
func (s *Store) LastAllowed(ctx context.Context, source, serverName string) (*ServerDecision, error) {
	return s.serverDecision(ctx, `SELECT body FROM server_decisions WHERE source = ? AND server = ? AND json_extract(body, '$.decision') = ?
		ORDER BY decided_at DESC LIMIT 1`, source, serverName, string(protocol.ServerAllowed))
}

func (s *Store) serverDecision(ctx context.Context, query string, args ...any) (*ServerDecision, error) {
	var body []byte
	err := s.db.QueryRowContext(ctx, query, args...).Scan(&body)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	var d ServerDecision
	if err == nil {
		err = json.Unmarshal(body, &d)
	}
	if err != nil {
		return nil, fmt.Errorf("read the decision about a server: %w", err)
	}
	return &d, nil
}
