package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"assent/protocol"
)

// AddToolRule saves a rule with its journal records, and replaces the rules for the same server, task and
// tool, resource, or domains of an app.
func (s *Store) AddToolRule(ctx context.Context, rule protocol.ToolRule, records ...Record) error {
	body, err := json.Marshal(rule)
	if err != nil {
		return fmt.Errorf("encode tool rule: %w", err)
	}
	domains := []byte("")
	if rule.AppDomains != nil {
		if domains, err = json.Marshal(rule.AppDomains); err != nil {
			return fmt.Errorf("encode tool rule: %w", err)
		}
	}
	err = s.write(ctx, powerLoss, func(w writer) error {
		_, err := w.ExecContext(ctx, `DELETE FROM tool_rules WHERE server = ? AND task_id = ?
			AND COALESCE(json_extract(body, '$.toolName'), '') = ? AND COALESCE(json_extract(body, '$.resourceUri'), '') = ?
			AND COALESCE(json_extract(body, '$.appDomains'), '') = ?`,
			rule.ServerName, rule.TaskID, rule.ToolName, rule.ResourceURI, string(domains))
		if err != nil {
			return err
		}
		_, err = w.ExecContext(ctx, `INSERT INTO tool_rules (id, server, task_id, created_at, body) VALUES (?, ?, ?, ?, ?)`,
			rule.ID, rule.ServerName, rule.TaskID, rule.CreatedAt, string(body))
		if err != nil {
			return err
		}
		return appendJournal(ctx, w, records)
	})
	if err != nil {
		return fmt.Errorf("save tool rule: %w", err)
	}
	return nil
}

// RemoveToolRule removes a rule, saves its journal record, and returns the rule; nil if there is none.
func (s *Store) RemoveToolRule(ctx context.Context, id string, record func(protocol.ToolRule) Record) (*protocol.ToolRule, error) {
	var removed *protocol.ToolRule
	err := s.write(ctx, powerLoss, func(w writer) error {
		found, err := toolRules(ctx, w, `SELECT body FROM tool_rules WHERE id = ?`, id)
		if err != nil || len(found) == 0 {
			return err
		}
		removed = &found[0]
		if _, err := w.ExecContext(ctx, `DELETE FROM tool_rules WHERE id = ?`, id); err != nil {
			return err
		}
		return appendJournal(ctx, w, []Record{record(*removed)})
	})
	if err != nil {
		return nil, fmt.Errorf("remove tool rule: %w", err)
	}
	return removed, nil
}

// ToolRules returns the rules of a server, or all rules if serverName is empty, the newest first.
func (s *Store) ToolRules(ctx context.Context, serverName string) ([]protocol.ToolRule, error) {
	return toolRules(ctx, s.db, `SELECT body FROM tool_rules WHERE server = ? OR ? = '' ORDER BY created_at DESC, id DESC`, serverName, serverName)
}

func toolRules(ctx context.Context, q querier, query string, args ...any) (_ []protocol.ToolRule, err error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read tool rules: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var found []protocol.ToolRule
	for rows.Next() {
		var body []byte
		var r protocol.ToolRule
		if err := rows.Scan(&body); err != nil {
			return nil, fmt.Errorf("read tool rules: %w", err)
		}
		if err := json.Unmarshal(body, &r); err != nil {
			return nil, fmt.Errorf("a tool rule is damaged: %w", err)
		}
		found = append(found, r)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read tool rules: %w", err)
	}
	return found, nil
}
