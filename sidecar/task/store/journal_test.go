package store_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/task/store"
)

func record(at int64, server string) store.Record {
	return store.Record{At: at, Kind: "k", TaskID: "t1", AskID: "a1", Server: server, Body: fmt.Sprintf(`{"at":%d}`, at)}
}

// seqs returns the numbers of the remaining records, which must be a chain.
func seqs(t *testing.T, s *store.Store) (all []int64) {
	t.Helper()
	var ends store.Ends
	var hash string
	err := s.EachJournal(t.Context(), store.JournalFilter{}, func(e store.Ends) error {
		ends, hash = e, e.CutHash
		return nil
	}, func(r *store.Record) error {
		if want := r.Follow(hash); r.Hash != want {
			t.Errorf("record %d has the hash %s, want %s", r.Seq, r.Hash, want)
		}
		hash = r.Hash
		all = append(all, r.Seq)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if hash != ends.LastHash {
		t.Errorf("the last hash is %s, want %s", ends.LastHash, hash)
	}
	return all
}

// The hash must not change with later versions, because people note it. docs/journal.md defines it.
func TestTheHashIsMadeAsDocumented(t *testing.T) {
	r := store.Record{Seq: 7, At: 1000, Kind: "askOpened", TaskID: "t", AskID: "a", Server: "ä", Body: "{}"}
	sum := sha256.Sum256([]byte("3:abc1:74:10009:askOpened1:t1:a2:ä2:{}"))
	if got, want := r.Follow("abc"), hex.EncodeToString(sum[:]); got != want {
		t.Errorf("hash %s, want %s", got, want)
	}
}

func TestAMessageAndItsRecordAreKeptTogether(t *testing.T) {
	s := open(t, t.TempDir())
	e := notice(1, 1, "hello")
	if err := s.Save(t.Context(), protocol.Task{ID: "t1"}, &e, record(1, "s"), record(2, "s")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int64{1, 2}, seqs(t, s)); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	// If a record is refused, its change is not saved.
	db, err := sql.Open("sqlite", s.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_, err = db.Exec(`CREATE TRIGGER refused BEFORE INSERT ON journal WHEN NEW.server = 'refused' BEGIN SELECT RAISE(ABORT, 'refused'); END`)
	if err != nil {
		t.Fatal(err)
	}
	changed, added := notice(1, 2, "changed"), notice(2, 3, "added")
	err = s.SaveAll(t.Context(), protocol.Task{ID: "t1", Title: "changed"}, []*store.Entry{&changed, &added}, record(3, "s"), record(4, "refused"))
	if err == nil {
		t.Fatal("a record that was refused is kept")
	}
	if diff := cmp.Diff([]int64{1, 2}, seqs(t, s)); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	kept, err := s.Messages(t.Context(), "t1", store.Range{Limit: 10})
	if diff := cmp.Diff([]store.Entry{e}, kept); diff != "" || err != nil {
		t.Errorf("messages: %v (-want +got):\n%s", err, diff)
	}
	if got := taskOf(t, s, "t1"); got.Title != "" {
		t.Errorf("the task is %+v", got)
	}
	// A session grant is not saved; any other grant is saved with its record.
	if err := s.AddGrant(t.Context(), protocol.Grant{ID: "g"}, record(4, "s")); err != nil {
		t.Fatal(err)
	}
	if err := s.AddGrant(t.Context(), protocol.Grant{ID: "g"}, record(5, "s")); err == nil {
		t.Fatal("two grants have one id")
	}
	if diff := cmp.Diff([]int64{1, 2, 3}, seqs(t, s)); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

// A command saves decisions about servers in the store that the daemon has open.
func TestTwoProcessesExtendOneChain(t *testing.T) {
	dir := t.TempDir()
	owner := open(t, dir)
	beside, err := store.OpenBeside(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer beside.Close()
	stores := []*store.Store{owner, beside}
	const each = 50
	var wg sync.WaitGroup
	for _, s := range stores {
		wg.Go(func() {
			for i := range int64(each) {
				if err := s.AppendJournal(t.Context(), record(i, "s")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := seqs(t, stores[0]); len(got) != 2*each || got[len(got)-1] != 2*each {
		t.Errorf("records %v, want 1 to %d", got, 2*each)
	}
}

func TestTheFilterSelectsRecords(t *testing.T) {
	s := open(t, t.TempDir())
	all := []store.Record{record(10, "a"), record(20, "b"), record(30, "a"), record(40, "a")}
	all[3].Kind, all[0].TaskID = "other", "t2"
	if err := s.AppendJournal(t.Context(), all...); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		filter store.JournalFilter
		limit  int
		bytes  int
		want   []int64
		more   bool
	}{
		{"all", store.JournalFilter{}, 4, 99, []int64{1, 2, 3, 4}, false},
		{"the newest", store.JournalFilter{}, 2, 99, []int64{3, 4}, true},
		{"as many as have so many bytes", store.JournalFilter{}, 10, 3 * len(all[0].Body), []int64{2, 3, 4}, true},
		{"one at least", store.JournalFilter{}, 10, 1, []int64{4}, true},
		{"a page", store.JournalFilter{Before: 3}, 1, 99, []int64{2}, true},
		{"a server", store.JournalFilter{Server: "a"}, 10, 99, []int64{1, 3, 4}, false},
		{"a task", store.JournalFilter{TaskID: "t2"}, 10, 99, []int64{1}, false},
		{"a kind", store.JournalFilter{Kind: "other"}, 10, 99, []int64{4}, false},
		{"since", store.JournalFilter{Since: 20, Server: "a"}, 10, 99, []int64{3, 4}, false},
		{"what would end a query", store.JournalFilter{Server: "a' OR 1 --"}, 10, 99, nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			records, more, err := s.Journal(t.Context(), tt.filter, tt.limit, tt.bytes)
			if err != nil {
				t.Fatal(err)
			}
			if more != tt.more {
				t.Errorf("earlier ones are %v, want %v", more, tt.more)
			}
			var got []int64
			for _, r := range records {
				got = append(got, r.Seq)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("records (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOldRecordsAreCutOffTheFront(t *testing.T) {
	s := open(t, t.TempDir())
	var all []store.Record
	for i := range int64(1200) { // more than one batch
		all = append(all, record(i, "s"))
	}
	all = append(all, record(5000, "s"), record(7, "s"), record(5001, "s")) // the clock was put back
	if err := s.AppendJournal(t.Context(), all...); err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct{ cut, left int64 }{{1200, 3 + 3}, {0, 3 + 3}} { // three cuts removed records
		n, err := s.CutJournal(t.Context(), 5000, 6000)
		if got := int64(len(seqs(t, s))); n != want.cut || got != want.left || err != nil {
			t.Fatalf("%d records cut off, %d are left, %v, want %v", n, got, err, want)
		}
	}
	if n, err := s.CutJournal(t.Context(), 9000, 8000); n != 6 || err != nil {
		t.Fatalf("%d records cut off, %v, want 6", n, err)
	}
	if n, err := s.CutJournal(t.Context(), 9000, 9000); n != 0 || err != nil {
		t.Fatalf("%d records cut off, %v, want none: what is left says that the others were", n, err)
	}
	if err := s.AppendJournal(t.Context(), record(1, "s")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int64{1207, 1208}, seqs(t, s)); diff != "" {
		t.Errorf("the chain does not go on (-want +got):\n%s", diff)
	}
}

// If the record of a cut cannot be saved, nothing is removed. Verify would report such a journal as altered.
func TestACutWithoutItsRecordIsUndone(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if err := s.AppendJournal(t.Context(), record(1, "s"), record(2, "s")); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "assent.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`CREATE TRIGGER full BEFORE INSERT ON journal BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`); err != nil {
		t.Fatal(err)
	}
	if n, err := s.CutJournal(t.Context(), 5, 5); n != 0 || err == nil {
		t.Errorf("%d records cut off, %v, want an error", n, err)
	}
	if diff := cmp.Diff([]int64{1, 2}, seqs(t, s)); diff != "" {
		t.Errorf("the records that are left (-want +got):\n%s", diff)
	}
}

func TestAStoreIsReadWhileItIsWritten(t *testing.T) {
	dir := t.TempDir()
	if _, err := store.OpenReadOnly(dir); err == nil {
		t.Error("there is nothing to read")
	}
	writer := open(t, dir)
	reader, err := store.OpenReadOnly(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if err := writer.AppendJournal(t.Context(), record(1, "s")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int64{1}, seqs(t, reader)); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	if err := reader.AppendJournal(t.Context(), record(2, "s")); err == nil {
		t.Error("a reader wrote")
	}
}

// BenchmarkSaveAndRecord measures what a record adds to the cost of a change, in a journal of that many
// records.
func BenchmarkSaveAndRecord(b *testing.B) {
	for _, history := range []int{0, 10_000} {
		for _, records := range []int{0, 1} {
			b.Run(fmt.Sprintf("history=%d/records=%d", history, records), func(b *testing.B) {
				s, err := store.Open(b.TempDir())
				if err != nil {
					b.Fatal(err)
				}
				defer s.Close()
				if err := s.AppendJournal(b.Context(), make([]store.Record, history)...); err != nil {
					b.Fatal(err)
				}
				var id int64
				b.ReportAllocs()
				for b.Loop() {
					id++
					e := notice(id, id, "hello")
					if err := s.Save(context.Background(), protocol.Task{ID: "t"}, &e, make([]store.Record, records)...); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// saveAsks opens and settles n asks of a task; first is the message of the first one.
func saveAsks(tb testing.TB, s *store.Store, first, n int64) {
	tb.Helper()
	fields := []protocol.Field{protocol.StringField{FieldHead: protocol.FieldHead{Name: "answer", Title: "Answer", Required: true}}}
	ask := protocol.Ask{Ask: protocol.AskUseMcpServer, Question: protocol.McpElicitation{
		Origin: protocol.Origin{ServerName: "s"}, ElicitationRequest: protocol.McpElicitationRequest{Message: "?", Fields: fields},
	}}
	record := func(kind, id string) store.Record {
		return store.Record{Kind: kind, TaskID: "t", AskID: id, Server: "s", Body: `{"messageId":1,"request":{"message":"?"}}`}
	}
	task := protocol.Task{ID: "t"}
	ctx := context.Background() // as tasks save: database/sql would watch a context that can end at every statement
	for i := first; i < first+n; i++ {
		id := fmt.Sprint("ask-", i)
		open := ask
		open.AskID = id
		e := store.Entry{Message: protocol.Message{ID: i, Body: open}, Number: 2 * i, Live: true, AskID: id}
		task.LastNumber, task.OpenAsks = e.Number, 1
		if err := s.Save(ctx, task, &e, record("ask/opened", id)); err != nil {
			tb.Fatal(err)
		}
		open.Outcome = &protocol.Outcome{Reason: protocol.OutcomeAnswered, By: "a test"}
		e.Message.Body, e.Number, e.Live = open, 2*i+1, false
		task.LastNumber, task.OpenAsks = e.Number, 0
		if err := s.Save(ctx, task, &e, record("ask/settled", id)); err != nil {
			tb.Fatal(err)
		}
	}
}

// BenchmarkSaveAsk measures an ask in the store: it is opened and settled.
func BenchmarkSaveAsk(b *testing.B) {
	s, err := store.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	b.ReportAllocs()
	for i := int64(1); b.Loop(); i++ {
		saveAsks(b, s, i, 1)
	}
}
