package store_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/task/store"
)

// Earlier versions kept the names of variables and headers alone.
func TestADecisionOfAnEarlierVersionHasItsNames(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	d := store.ServerDecision{Source: "/ws/.vscode/mcp.json", ServerName: "s", Definition: "d", Decision: protocol.ServerAllowed}
	if err := s.DecideServer(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "assent.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), `UPDATE server_decisions SET body = json_set(body, '$.shown', json('{"transport": "stdio", "envNames": ["A"], "headerNames": ["B"]}'))`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = store.Open(dir); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	last, err := s.LastAllowed(t.Context(), d.Source, d.ServerName)
	if err != nil {
		t.Fatal(err)
	}
	want := protocol.ServerDefinition{
		Transport: protocol.TransportStdio,
		Env:       []protocol.DefinedValue{{Name: "A", Value: "(not shown then)"}}, Headers: []protocol.DefinedValue{{Name: "B", Value: "(not shown then)"}},
	}
	if diff := cmp.Diff(want, last.Shown); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
