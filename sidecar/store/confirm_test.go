package store_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"assent/protocol"
	"assent/sidecar/store"
)

// A loss of power must not undo what a person decided or allowed. SQLite says, within the transaction, whether the
// commit waits for the disk.
func TestDecisionsWaitForTheDisk(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if _, err := s.Grant(t.Context(), "none"); err != nil { // the file exists from its first use on
		t.Fatal(err)
	}
	for table, decide := range map[string]func() error{
		"server_decisions": func() error {
			return s.DecideServer(t.Context(), store.ServerDecision{Source: "mcp.json", ServerName: "s", Definition: "d", Decision: protocol.ServerAllowed})
		},
		"grants":     func() error { return s.AddGrant(t.Context(), protocol.Grant{ID: "g"}) },
		"tool_rules": func() error { return s.AddToolRule(t.Context(), protocol.ToolRule{ID: "r"}) },
	} {
		t.Run(table, func(t *testing.T) {
			db, err := sql.Open("sqlite", filepath.Join(dir, "assent.db"))
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			_, err = db.Exec(`
				CREATE TABLE levels_` + table + ` (synchronous INTEGER);
				CREATE TRIGGER seen_` + table + ` AFTER INSERT ON ` + table + ` BEGIN
					INSERT INTO levels_` + table + ` SELECT synchronous FROM pragma_synchronous;
				END`)
			if err != nil {
				t.Fatal(err)
			}
			if err := decide(); err != nil {
				t.Fatal(err)
			}
			const full = 2
			var level int
			if err := db.QueryRow(`SELECT synchronous FROM levels_` + table).Scan(&level); err != nil {
				t.Fatal(err)
			}
			if level != full {
				t.Errorf("synchronous = %d, want %d", level, full)
			}
		})
	}
}
