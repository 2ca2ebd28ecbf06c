package store_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"assent/protocol"
	"assent/sidecar/task/store"
)

// A grant, a rule or a decision of a person is on the disk before it is acknowledged. The usage of a grant need not
// be. The test asks SQLite for its level of synchronous, within each transaction.
func TestStandingDecisionsWaitForTheDisk(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	db, err := sql.Open("sqlite", filepath.Join(dir, "assent.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const note = ` BEGIN INSERT INTO commits SELECT synchronous >= 2 FROM pragma_synchronous; END;`
	_, err = db.Exec(`CREATE TABLE commits (full INTEGER);
		CREATE TRIGGER granted AFTER INSERT ON grants` + note + `
		CREATE TRIGGER regranted AFTER UPDATE ON grants` + note + `
		CREATE TRIGGER ruled AFTER INSERT ON tool_rules` + note + `
		CREATE TRIGGER unruled AFTER DELETE ON tool_rules` + note + `
		CREATE TRIGGER decided AFTER INSERT ON server_decisions` + note)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		name string
		full bool
		do   func() error
	}{
		{"a new grant", true, func() error {
			return s.AddGrant(t.Context(), protocol.Grant{ID: "g", GrantTerms: protocol.GrantTerms{ServerName: "s"}})
		}},
		{"what a grant has spent", false, func() error {
			return s.ChangeGrants(t.Context(), "s", func(found []protocol.Grant) *protocol.Grant { return &found[0] })
		}},
		{"the end of a grant", true, func() error {
			_, err := s.ChangeGrant(t.Context(), "g", func(*protocol.Grant) {})
			return err
		}},
		{"a rule about a tool", true, func() error { return s.AddToolRule(t.Context(), protocol.ToolRule{ID: "r"}) }},
		{"the end of a rule", true, func() error {
			_, err := s.RemoveToolRule(t.Context(), "r", func(protocol.ToolRule) store.Record { return store.Record{Body: "{}"} })
			return err
		}},
		{"a decision about a server", true, func() error { return s.DecideServer(t.Context(), store.ServerDecision{ServerName: "s"}) }},
	} {
		t.Run(step.name, func(t *testing.T) {
			if err := step.do(); err != nil {
				t.Fatal(err)
			}
			var commits int
			var full bool
			if err := db.QueryRow(`SELECT COUNT(*), MAX(full) FROM commits`).Scan(&commits, &full); err != nil {
				t.Fatal(err)
			}
			if commits != 1 || full != step.full {
				t.Errorf("%d commits, and that they waited for the disk is %v, want %v", commits, full, step.full)
			}
			if _, err := db.Exec(`DELETE FROM commits`); err != nil {
				t.Fatal(err)
			}
		})
	}
}
