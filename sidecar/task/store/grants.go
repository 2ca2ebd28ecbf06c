package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"assent/protocol"
)

// AddGrant saves a new grant, together with its journal records.
func (s *Store) AddGrant(ctx context.Context, grant protocol.Grant, records ...Record) error {
	body, err := json.Marshal(grant)
	if err != nil {
		return fmt.Errorf("encode grant: %w", err)
	}
	err = s.write(ctx, powerLoss, func(w writer) error {
		_, err := w.ExecContext(ctx, `INSERT INTO grants (id, server, created_at, body) VALUES (?, ?, ?, ?)`,
			grant.ID, grant.ServerName, grant.CreatedAt, string(body))
		if err != nil {
			return err
		}
		return appendJournal(ctx, w, records)
	})
	if err != nil {
		return fmt.Errorf("save grant: %w", err)
	}
	return nil
}

// Grants returns every grant, the newest first.
func (s *Store) Grants(ctx context.Context) ([]protocol.Grant, error) {
	return grants(ctx, s.db, `SELECT body FROM grants ORDER BY created_at DESC, id DESC`)
}

// Grant returns a grant, or nil.
func (s *Store) Grant(ctx context.Context, id string) (*protocol.Grant, error) {
	found, err := grants(ctx, s.db, `SELECT body FROM grants WHERE id = ?`, id)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// ChangeGrants calls choose with the grants of a server, the newest first, and saves the changed grant
// that it returns, if any. No other process or goroutine changes a grant in between. Choose must not
// call the store.
func (s *Store) ChangeGrants(ctx context.Context, serverName string, choose func([]protocol.Grant) *protocol.Grant) error {
	return s.changeGrants(ctx, processDeath, choose, `SELECT body FROM grants WHERE server = ? ORDER BY created_at DESC, id DESC`, serverName)
}

// ChangeGrant is ChangeGrants for one grant that a person changes. It returns the changed grant, or nil if there is
// none.
func (s *Store) ChangeGrant(ctx context.Context, id string, change func(*protocol.Grant)) (*protocol.Grant, error) {
	var changed *protocol.Grant
	err := s.changeGrants(ctx, powerLoss, func(found []protocol.Grant) *protocol.Grant {
		if len(found) > 0 {
			changed = &found[0]
			change(changed)
		}
		return changed
	}, `SELECT body FROM grants WHERE id = ?`, id)
	if err != nil {
		return nil, err
	}
	return changed, nil
}

func (s *Store) changeGrants(ctx context.Context, survives durability, choose func([]protocol.Grant) *protocol.Grant, query string, args ...any) error {
	err := s.write(ctx, survives, func(w writer) error {
		found, err := grants(ctx, w, query, args...)
		if err != nil {
			return err
		}
		changed := choose(found)
		if changed == nil {
			return nil
		}
		body, err := json.Marshal(changed)
		if err != nil {
			return fmt.Errorf("encode it: %w", err)
		}
		_, err = w.ExecContext(ctx, `UPDATE grants SET body = ? WHERE id = ?`, string(body), changed.ID)
		return err
	})
	if err != nil {
		return fmt.Errorf("change grant: %w", err)
	}
	return nil
}

func grants(ctx context.Context, q querier, query string, args ...any) (_ []protocol.Grant, err error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read grants: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var found []protocol.Grant
	for rows.Next() {
		var body []byte
		var g protocol.Grant
		if err := rows.Scan(&body); err != nil {
			return nil, fmt.Errorf("read grants: %w", err)
		}
		if json.Unmarshal(body, &g) != nil {
			continue // a damaged grant approves nothing, and must not hide others
		}
		found = append(found, g)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read grants: %w", err)
	}
	return found, nil
}
