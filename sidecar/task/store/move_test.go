package store_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/task/store"
)

// opened returns a function that opens an already open store.
func opened(s *store.Store) func() (*store.Store, error) {
	return func() (*store.Store, error) { return s, nil }
}

// fill saves rows of every kind under a name.
func fill(t *testing.T, s *store.Store, name string) {
	t.Helper()
	e := notice(1, 1, name)
	err := s.Save(t.Context(), protocol.Task{ID: name, Title: name, LastNumber: 1}, &e, store.Record{At: time.Now().UnixNano(), Kind: "k", TaskID: name, Body: "{}"})
	err = errors.Join(err,
		s.SaveDraft(t.Context(), name, "ask of "+name, json.RawMessage(`{}`)),
		s.SaveRound(t.Context(), name, 1, &store.Round{Required: json.RawMessage(`{}`)}),
		s.AddGrant(t.Context(), protocol.Grant{ID: "grant of " + name}),
		s.DecideServer(t.Context(), store.ServerDecision{Source: name, ServerName: "s", Definition: "d", Decision: protocol.ServerAllowed}))
	if err != nil {
		t.Fatal(err)
	}
}

// wantFilled checks the rows of fill.
func wantFilled(t *testing.T, s *store.Store, names ...string) {
	t.Helper()
	tasks, err := s.Tasks(t.Context())
	grants, grantsErr := s.Grants(t.Context())
	if err := errors.Join(err, grantsErr); err != nil || len(tasks) != len(names) || len(grants) != len(names) {
		t.Errorf("%d tasks, %d grants, %v; want %d", len(tasks), len(grants), err, len(names))
	}
	for _, name := range names {
		m, err := s.Message(t.Context(), name, 1)
		drafts, draftsErr := s.Drafts(t.Context(), name)
		rounds, roundsErr := s.Rounds(t.Context(), name)
		decision, decisionErr := s.DecisionOf(t.Context(), name, "s", "d")
		if err := errors.Join(err, draftsErr, roundsErr, decisionErr); err != nil || m == nil || len(drafts) != 1 || len(rounds) != 1 || decision == nil {
			t.Errorf("of %s: message %v, %d drafts, %d rounds, decision %v, %v", name, m, len(drafts), len(rounds), decision, err)
		}
	}
}

// wantChain checks for a journal without gaps, with records of these tasks.
func wantChain(t *testing.T, s *store.Store, names ...string) {
	t.Helper()
	var got []string
	prev := store.Ends{}
	var ends store.Ends
	err := s.EachJournal(t.Context(), store.JournalFilter{}, func(e store.Ends) error {
		ends, prev = e, store.Ends{LastSeq: e.CutSeq, LastHash: e.CutHash}
		return nil
	}, func(r *store.Record) error {
		if r.Seq != prev.LastSeq+1 || r.Hash != r.Follow(prev.LastHash) {
			return fmt.Errorf("record %d of %s does not follow record %d", r.Seq, r.TaskID, prev.LastSeq)
		}
		prev = store.Ends{LastSeq: r.Seq, LastHash: r.Hash}
		got = append(got, r.TaskID)
		return nil
	})
	if err != nil || prev.LastSeq != ends.LastSeq || prev.LastHash != ends.LastHash {
		t.Errorf("the journal is no chain: %v, its end %+v is said to be %+v", err, prev, ends)
	}
	if diff := cmp.Diff(names, got); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

func TestAStoreInMemoryMovesToDisk(t *testing.T) {
	for name, earlier := range map[string][]string{"that is empty": nil, "that has tasks": {"earlier", "before that"}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			to, err := store.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range earlier {
				fill(t, to, name)
			}
			s, err := store.OpenMemory()
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			fill(t, s, "in memory")
			if s.Path() != "" || s.Replaced() {
				t.Errorf("a store in memory has the path %q", s.Path())
			}
			if err := s.Relocate(t.Context(), opened(to)); err != nil {
				t.Fatal(err)
			}
			if want := filepath.Join(dir, "assent.db"); s.Path() != want || s.Replaced() {
				t.Errorf("it is at %q, replaced = %v; want %q", s.Path(), s.Replaced(), want)
			}
			fill(t, s, "after that")
			for _, s := range []*store.Store{s, look(t, dir)} {
				wantFilled(t, s, append(earlier, "in memory", "after that")...)
				wantChain(t, s, append(earlier, "in memory", "after that")...)
			}
		})
	}
}

// A move does not replace newer rows.
func TestMovingUndoesNothing(t *testing.T) {
	dir := t.TempDir()
	late, err := store.OpenMemory()
	if err != nil {
		t.Fatal(err)
	}
	defer late.Close()
	fill(t, late, "t")
	first := open(t, dir)
	fill(t, first, "t")
	newer := notice(1, 2, "newer")
	newer.Number = 2
	save(t, first, protocol.Task{ID: "t", Title: "newer"}, newer)
	if err := first.SaveRound(t.Context(), "t", 1, nil); err != nil { // the answers are being sent
		t.Fatal(err)
	}
	if err := late.Relocate(t.Context(), opened(first)); err != nil {
		t.Fatal(err)
	}
	m, err := late.Message(t.Context(), "t", 1)
	if err != nil || m == nil || m.Number != 2 {
		t.Errorf("the message is %+v, %v; want the newer one", m, err)
	}
	tasks, err := late.Tasks(t.Context())
	if err != nil || len(tasks) != 1 || tasks[0].Title != "newer" || tasks[0].LastNumber != 2 {
		t.Errorf("Tasks = %+v, %v", tasks, err)
	}
	if rounds, err := late.Rounds(t.Context(), "t"); err != nil || len(rounds) != 0 {
		t.Errorf("Rounds = %v, %v; want none, for its answers would be sent again", rounds, err)
	}
	wantChain(t, late, "t", "t") // two histories, one chain
}

func TestAStoreThatCannotMoveStaysWhatItIs(t *testing.T) {
	s, err := store.OpenMemory()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	fill(t, s, "t")
	to := open(t, t.TempDir())
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Dir(to.Path())); err != nil {
		t.Fatal(err)
	}
	if err := s.Relocate(t.Context(), opened(to)); err == nil {
		t.Fatal("it moved to where nothing is")
	}
	fill(t, s, "u")
	wantFilled(t, s, "t", "u")
}
