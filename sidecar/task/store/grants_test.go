package store_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/task/store"
)

// schema3 is the schema of a version without grants.
const schema3 = `
CREATE TABLE tasks (id TEXT PRIMARY KEY, created_at INTEGER NOT NULL, title TEXT NOT NULL, closed INTEGER NOT NULL, last_number INTEGER NOT NULL) STRICT;
CREATE TABLE messages (
	task_id TEXT NOT NULL REFERENCES tasks (id), id INTEGER NOT NULL, number INTEGER NOT NULL, live INTEGER NOT NULL,
	ask_id TEXT, body TEXT NOT NULL, mcp_task INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (task_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX messages_by_number ON messages (task_id, number);
CREATE INDEX live_messages ON messages (task_id) WHERE live = 1;
CREATE UNIQUE INDEX messages_by_ask ON messages (ask_id) WHERE ask_id IS NOT NULL;
CREATE INDEX messages_by_mcp_task ON messages (mcp_task) WHERE mcp_task > 0;
INSERT INTO tasks VALUES ('t1', 1, 'One', 0, 9), ('t2', 1, 'Two', 0, 9);
INSERT INTO messages (task_id, id, number, live, ask_id, body) VALUES
	('t1', 1, 1, 0, NULL, '{"id":1,"time":100,"body":{"type":"notice","level":"info","text":"mcp_sampling"}}'),
	('t1', 2, 2, 0, 'a1', '{"id":2,"time":200,"body":{"type":"ask","askId":"a1","ask":"use_mcp_server","question":{"type":"mcp_sampling","serverName":"s","samplingRequest":{"maxTokens":1}}}}'),
	('t1', 3, 3, 0, 'a2', '{"id":3,"time":300,"body":{"type":"ask","askId":"a2","ask":"use_mcp_server","question":{"type":"mcp_elicitation","serverName":"s","elicitationRequest":{"message":"m"}}}}'),
	('t2', 1, 4, 0, 'a3', '{"id":1,"time":400,"body":{"type":"ask","askId":"a3","ask":"use_mcp_server","question":{"type":"mcp_sampling","serverName":"s","samplingRequest":{"maxTokens":1}}}}'),
	('t2', 2, 5, 0, 'a4', '{"id":2,"time":500,"body":{"type":"ask","askId":"a4","ask":"use_mcp_server","question":{"type":"mcp_sampling","serverName":"another","samplingRequest":{"maxTokens":1}}}}');
PRAGMA user_version = 3;`

func TestSamplingRequestsOfAnOlderStoreAreFound(t *testing.T) {
	dir := t.TempDir()
	db, err := sql.Open("sqlite", filepath.Join(dir, "assent.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(schema3); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}

	s := open(t, dir)
	fresh := store.Entry{
		Message: protocol.Message{ID: 3, Time: 250, Body: protocol.Ask{AskID: "a5", Ask: protocol.AskUseMcpServer, Question: protocol.McpSampling{
			Origin: protocol.Origin{ServerName: "s"}, SamplingRequest: protocol.McpSamplingRequest{MaxTokens: 1},
		}}},
		Number: 10, AskID: "a5", SamplingServer: "s",
	}
	save(t, s, protocol.Task{ID: "t2"}, fresh)
	save(t, s, protocol.Task{ID: "t2"}, notice(4, 11, "none"))

	want := []store.Place{{TaskID: "t2", MessageID: 1}, {TaskID: "t2", MessageID: 3}, {TaskID: "t1", MessageID: 2}}
	for _, limit := range []int{2, 10} {
		found, err := s.Samplings(t.Context(), "s", limit)
		if diff := cmp.Diff(want[:min(limit, len(want))], found); diff != "" || err != nil {
			t.Errorf("sampling requests, the newest first: %v (-want +got):\n%s", err, diff)
		}
	}
	if g, err := s.Grants(t.Context()); err != nil || len(g) != 0 {
		t.Errorf("Grants = %v, %v, want none", g, err)
	}
}

func TestGrantsAreKept(t *testing.T) {
	dir := t.TempDir()
	older := protocol.Grant{ID: "g1", GrantTerms: protocol.GrantTerms{ServerName: "s", Models: []string{"*"}, MaxRequests: 2}, By: "a test", CreatedAt: 1}
	newer := protocol.Grant{ID: "g2", GrantTerms: protocol.GrantTerms{ServerName: "s", ToolName: "t", Models: []string{"a:b"}, MaxCost: 0.5, Review: true}, By: "a test", CreatedAt: 2}
	other := protocol.Grant{ID: "g3", GrantTerms: protocol.GrantTerms{ServerName: "another", ExpiresAt: 7}, By: "a test", CreatedAt: 3}
	func() {
		s, err := store.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for _, g := range []protocol.Grant{newer, older, other} {
			if err := s.AddGrant(t.Context(), g); err != nil {
				t.Fatal(err)
			}
		}
	}()

	s := open(t, dir)
	err := s.ChangeGrants(t.Context(), "s", func(all []protocol.Grant) *protocol.Grant {
		if diff := cmp.Diff([]protocol.Grant{newer, older}, all); diff != "" {
			t.Errorf("the grants of s (-want +got):\n%s", diff)
		}
		all[1].Spent.Requests = 1
		return &all[1]
	})
	if err != nil {
		t.Fatal(err)
	}
	older.Spent.Requests = 1
	if err := s.ChangeGrants(t.Context(), "s", func([]protocol.Grant) *protocol.Grant { return nil }); err != nil {
		t.Error(err)
	}
	changed, err := s.ChangeGrant(t.Context(), "g3", func(g *protocol.Grant) { g.EndedAt = 9 })
	other.EndedAt = 9
	if diff := cmp.Diff(&other, changed); err != nil || diff != "" {
		t.Errorf("ChangeGrant: %v (-want +got):\n%s", err, diff)
	}
	all, err := s.Grants(t.Context())
	if diff := cmp.Diff([]protocol.Grant{other, newer, older}, all); err != nil || diff != "" {
		t.Errorf("Grants: %v (-want +got):\n%s", err, diff)
	}
	if g, err := s.Grant(t.Context(), "g1"); err != nil || g == nil || g.Spent.Requests != 1 {
		t.Errorf("Grant = %+v, %v", g, err)
	}
	if g, err := s.ChangeGrant(t.Context(), "g4", func(*protocol.Grant) { t.Error("there is none to change") }); g != nil || err != nil {
		t.Errorf("ChangeGrant of none = %+v, %v", g, err)
	}
}
