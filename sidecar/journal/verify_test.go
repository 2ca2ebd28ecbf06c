package journal_test

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"assent/sidecar/journal"
	"assent/sidecar/store"
)

// chain makes a journal of so many records in a folder, the first of which are cut off.
func chain(t *testing.T, length, cut int64) string {
	t.Helper()
	dir := t.TempDir()
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := range length {
		if err := s.AppendJournal(t.Context(), store.Record{At: i + 1, Kind: "askOpened", Server: "s", Body: fmt.Sprintf(`{"n":%d}`, i+1)}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.CutJournal(t.Context(), cut+1); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func verify(t *testing.T, dir string) (*journal.Verified, error) {
	t.Helper()
	s, err := store.OpenReadOnly(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	return journal.Verify(t.Context(), s)
}

func TestAWholeJournalIsVerified(t *testing.T) {
	for _, tt := range []struct{ length, cut, records, first, last int64 }{
		{0, 0, 0, 0, 0}, {6, 0, 6, 1, 6}, {6, 2, 4, 3, 6}, {6, 6, 0, 0, 0},
	} {
		v, err := verify(t, chain(t, tt.length, tt.cut))
		if err != nil {
			t.Errorf("%+v: %v", tt, err)
			continue
		}
		if v.Records != tt.records || v.First != tt.first || v.Last != tt.last || v.Cut != tt.cut || (v.Hash == "") != (tt.length == 0) {
			t.Errorf("Verify = %+v, want %+v", v, tt)
		}
	}
}

func TestTheFirstAlteredRecordIsFound(t *testing.T) {
	// What somebody who knows how hashes are made would do to a single record.
	forge := func(t *testing.T, db *sql.DB, seq int64) {
		t.Helper()
		var prev string
		if err := db.QueryRow(`SELECT hash FROM journal WHERE seq = ?`, seq-1).Scan(&prev); err != nil {
			t.Fatal(err)
		}
		r := store.Record{Seq: seq, At: seq, Kind: "askOpened", Server: "s", Body: `{"forged":true}`}
		if _, err := db.Exec(`UPDATE journal SET body = ?, hash = ? WHERE seq = ?`, r.Body, r.Follow(prev), seq); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name, alter string
		forge       int64
		seq         int64
		want        string
	}{
		{"a byte of a body", `UPDATE journal SET body = '{"n":9}' WHERE seq = 4`, 0, 4, "record 4 (askOpened of 1970-01-01T00:00:00Z) was altered"},
		{"white space, which means nothing", `UPDATE journal SET body = body || ' ' WHERE seq = 5`, 0, 5, "record 5 (askOpened"},
		{"a time", `UPDATE journal SET at = 0 WHERE seq = 4`, 0, 4, "record 4"},
		{"a kind", `UPDATE journal SET kind = 'x' WHERE seq = 4`, 0, 4, "record 4"},
		{"a server", `UPDATE journal SET server = 'x' WHERE seq = 4`, 0, 4, "record 4"},
		{"a task", `UPDATE journal SET task_id = 'x' WHERE seq = 4`, 0, 4, "record 4"},
		{"from one column to the next", `UPDATE journal SET kind = 'askOpene', task_id = 'd' WHERE seq = 4`, 0, 4, "record 4"},
		{"a hash", `UPDATE journal SET hash = 'x' WHERE seq = 4`, 0, 4, "record 4"},
		{"two, of which it is the first", `UPDATE journal SET at = 0 WHERE seq IN (6, 4)`, 0, 4, "record 4"},
		{"one taken out", `DELETE FROM journal WHERE seq = 4`, 0, 4, "record 4 is missing: record 5 comes after record 3"},
		{"some taken out", `DELETE FROM journal WHERE seq IN (4, 5)`, 0, 4, "records 4 to 5 are missing"},
		{"the first taken out", `DELETE FROM journal WHERE seq = 3`, 0, 3, "record 3 is missing: record 4 comes after record 2"},
		{"the newest taken out", `DELETE FROM journal WHERE seq = 6`, 0, 6, "record 6 is missing: the newest that Assent wrote is record 6"},
		{"all taken out", `DELETE FROM journal`, 0, 3, "records 3 to 6 are missing"},
		{"one put in at the end", `INSERT INTO journal SELECT 7, at, kind, task_id, ask_id, server, body, hash FROM journal WHERE seq = 6`, 0, 7, "record 7 was inserted"},
		{"one put in after a gap", `DELETE FROM journal WHERE seq = 6; INSERT INTO journal SELECT 7, at, kind, task_id, ask_id, server, body, hash FROM journal WHERE seq = 5`, 0, 6, "record 6 is missing"},
		{"one put in at the front", `INSERT INTO journal SELECT 2, at, kind, task_id, ask_id, server, body, hash FROM journal WHERE seq = 3`, 0, 2, "record 2 was inserted: the journal begins with record 3"},
		{"one put in between, the others moved", `UPDATE journal SET seq = -seq - 1 WHERE seq > 4; UPDATE journal SET seq = -seq WHERE seq < 0; INSERT INTO journal SELECT 5, at, kind, task_id, ask_id, server, body, hash FROM journal WHERE seq = 4`, 0, 5, "record 5"},
		{"two exchanged", `UPDATE journal SET seq = 0 WHERE seq = 4; UPDATE journal SET seq = 4 WHERE seq = 5; UPDATE journal SET seq = 5 WHERE seq = 0`, 0, 4, "record 4"},
		{"a record with its hash", ``, 4, 5, "if it is as you know it, record 4 before it was replaced together with its hash"},
		{"the newest with its hash", ``, 6, 6, "record 6 is not the one that Assent wrote last"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := chain(t, 6, 2)
			db, err := sql.Open("sqlite", filepath.Join(dir, "assent.db"))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.Exec(tt.alter); err != nil {
				t.Fatal(err)
			}
			if tt.forge > 0 {
				forge(t, db, tt.forge)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			_, err = verify(t, dir)
			var broken *journal.Broken
			if !errors.As(err, &broken) || broken.Seq != tt.seq || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Verify = %v, want record %d: %s", err, tt.seq, tt.want)
			}
		})
	}
}

func TestRecordsAreKeptForAsManyDaysAsAreSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := store.OpenMemory()
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		const day = 24 * time.Hour
		add := func() {
			if err := s.AppendJournal(t.Context(), store.Record{At: time.Now().UnixMilli()}); err != nil {
				t.Fatal(err)
			}
		}
		left := func() int {
			records, _, err := s.Journal(t.Context(), store.JournalFilter{}, 10, 1000)
			if err != nil {
				t.Fatal(err)
			}
			return len(records)
		}
		setting := make(chan int)
		go journal.Keep(t.Context(), func() (*store.Store, error) { return s, nil }, setting, time.Now, zerolog.Nop())
		add()
		time.Sleep(3*day + time.Minute)
		add()
		for _, tt := range []struct {
			name string
			days int
			wait time.Duration
			want int
		}{{"for ever", 0, 5 * day, 2}, {"long enough", 30, 0, 2}, {"set to less", 6, 0, 1}, {"a day later", 6, 2 * day, 0}} {
			setting <- tt.days
			time.Sleep(tt.wait)
			synctest.Wait()
			if got := left(); got != tt.want {
				t.Errorf("%s: %d records are left, want %d", tt.name, got, tt.want)
			}
		}
	})
}
