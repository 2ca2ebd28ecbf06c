package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"assent/protocol"
	"assent/sidecar/task/store"
)

func TestSamplingRequestsAreFound(t *testing.T) {
	s := open(t, t.TempDir())
	asked := func(id, at int64, server string) store.Entry {
		return store.Entry{
			Message: protocol.Message{ID: id, Time: at, Body: protocol.Ask{AskID: uuid.NewString(), Ask: protocol.AskUseMcpServer, Question: protocol.McpSampling{
				Origin: protocol.Origin{ServerName: server}, SamplingRequest: protocol.McpSamplingRequest{MaxTokens: 1},
			}}},
			Number: id, SamplingServer: server,
		}
	}
	save(t, s, protocol.Task{ID: "t1"}, notice(1, 1, "mcp_sampling"))
	save(t, s, protocol.Task{ID: "t1"}, asked(2, 200, "s"))
	save(t, s, protocol.Task{ID: "t2"}, asked(1, 400, "s"))
	save(t, s, protocol.Task{ID: "t2"}, asked(2, 500, "another"))
	save(t, s, protocol.Task{ID: "t2"}, asked(3, 250, "s"))
	save(t, s, protocol.Task{ID: "t2"}, notice(4, 11, "none"))

	want := []store.Place{{TaskID: "t2", MessageID: 1}, {TaskID: "t2", MessageID: 3}, {TaskID: "t1", MessageID: 2}}
	for _, limit := range []int{2, 10} {
		found, err := s.Samplings(t.Context(), "s", limit)
		if diff := cmp.Diff(want[:min(limit, len(want))], found); diff != "" || err != nil {
			t.Errorf("sampling requests, the newest first: %v (-want +got):\n%s", err, diff)
		}
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
