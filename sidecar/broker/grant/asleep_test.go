package grant_test

import (
	"strings"
	"testing"

	"assent/protocol"
	"assent/sidecar/broker/grant"
	"assent/sidecar/task/store"
)

// TestAGrantThatTheOrganisationPutsToSleepApprovesNothing, and wakes up as it was.
func TestAGrantThatTheOrganisationPutsToSleepApprovesNothing(t *testing.T) {
	s := openStore(t, t.TempDir())
	why := ""
	b := &book{Book: grant.NewBook(grant.Options{
		Store: func() (*store.Store, error) { return s, nil }, Asleep: func(*protocol.Grant) string { return why },
	})}
	terms := protocol.GrantTerms{ServerName: "s", Models: anyModel, MaxRequests: 5}
	b.create(t, terms)
	why = "Blocked by your organisation: a file."
	b.reserve(t, request(&free), why)
	if _, err := b.Create(t.Context(), terms, "a test"); err == nil || !strings.Contains(err.Error(), why) {
		t.Errorf("a grant that would sleep was made: %v", err)
	}
	why = ""
	if err := b.reserve(t, request(&free), "").Settle(nil); err != nil {
		t.Error(err)
	}
}
