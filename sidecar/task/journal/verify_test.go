package journal_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"assent/sidecar/task/journal"
	"assent/sidecar/task/store"
)

// chain makes a journal with that many records in a folder, and cuts off the first ones.
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
	if _, err := s.CutJournal(t.Context(), cut+1, length+1); err != nil {
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
		{0, 0, 0, 0, 0}, {6, 0, 6, 1, 6}, {6, 2, 5, 3, 7}, {6, 6, 1, 7, 7},
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
	// This changes one record like a person who knows how hashes are made.
	forge := func(t *testing.T, db *sql.DB, seq int64) {
		t.Helper()
		var prev string
		if err := db.QueryRow(`SELECT hash FROM journal WHERE seq = ?`, seq-1).Scan(&prev); err != nil {
			t.Fatal(err)
		}
		r := store.Record{Seq: seq, At: seq, Kind: "askOpened", Server: "s", Body: `{"forged":true}`}
		if _, err := db.Exec(`UPDATE journal SET kind = ?, server = ?, body = ?, hash = ? WHERE seq = ?`, r.Kind, r.Server, r.Body, r.Follow(prev), seq); err != nil {
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
		{"the newest taken out", `DELETE FROM journal WHERE seq = 7`, 0, 7, "record 7 is missing: the newest that Assent wrote is record 7"},
		{"all taken out", `DELETE FROM journal`, 0, 3, "records 3 to 7 are missing"},
		{"one put in at the end", `INSERT INTO journal SELECT 8, at, kind, task_id, ask_id, server, body, hash FROM journal WHERE seq = 7`, 0, 8, "record 8 was inserted"},
		{"one put in after a gap", `DELETE FROM journal WHERE seq = 7; INSERT INTO journal SELECT 8, at, kind, task_id, ask_id, server, body, hash FROM journal WHERE seq = 6`, 0, 7, "record 7 is missing"},
		{"one put in at the front", `INSERT INTO journal SELECT 2, at, kind, task_id, ask_id, server, body, hash FROM journal WHERE seq = 3`, 0, 2, "record 2 was inserted: the journal begins with record 3"},
		{"one put in between, the others moved", `UPDATE journal SET seq = -seq - 1 WHERE seq > 4; UPDATE journal SET seq = -seq WHERE seq < 0; INSERT INTO journal SELECT 5, at, kind, task_id, ask_id, server, body, hash FROM journal WHERE seq = 4`, 0, 5, "record 5"},
		{"two exchanged", `UPDATE journal SET seq = 0 WHERE seq = 4; UPDATE journal SET seq = 4 WHERE seq = 5; UPDATE journal SET seq = 5 WHERE seq = 0`, 0, 4, "record 4"},
		{"a record with its hash", ``, 4, 5, "if it is as you know it, record 4 before it was replaced together with its hash"},
		{"the newest with its hash", ``, 7, 7, "record 7 is not the one that Assent wrote last"},
		{"the front cut off", `UPDATE journal_ends SET (cut_seq, cut_hash) = (SELECT seq, hash FROM journal WHERE seq = 4); DELETE FROM journal WHERE seq <= 4`, 0, 3, "records 3 to 4 are missing, and no record says that Assent removed them"},
		{"all cut off", `UPDATE journal_ends SET (cut_seq, cut_hash) = (SELECT seq, hash FROM journal WHERE seq = 7); DELETE FROM journal`, 0, 1, "records 1 to 7 are missing, and no record says"},
		{"less cut off than there was", `UPDATE journal_ends SET cut_seq = 1`, 0, 2, "record 2 is missing"},
		{"another hash of what was cut off", `UPDATE journal_ends SET cut_hash = 'x'`, 0, 3, "record 3"},
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
			return len(slices.DeleteFunc(records, func(r store.Record) bool { return r.Kind != "" })) // without the records of cuts
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

// After a jump of the clock, nothing is removed, regardless of how often Assent starts, and the log
// says so.
func TestNothingIsRemovedBecauseTheClockHasJumped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := store.OpenMemory()
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		const day = 24 * time.Hour
		for range 60 {
			if err := s.AppendJournal(t.Context(), store.Record{At: time.Now().UnixMilli(), Body: "{}"}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(day)
		}
		ahead := time.Duration(0)
		// start runs a sidecar for a time, and returns the number of remaining records, and its log.
		start := func(runs time.Duration) (left int, logged string) {
			t.Helper()
			var log strings.Builder
			setting := make(chan int)
			ctx, end := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				journal.Keep(ctx, func() (*store.Store, error) { return s, nil }, setting, func() time.Time { return time.Now().Add(ahead) }, zerolog.New(&log))
			}()
			setting <- 90
			time.Sleep(runs)
			synctest.Wait()
			end()
			<-ended
			err := s.EachJournal(t.Context(), store.JournalFilter{}, func(store.Ends) error { return nil }, func(r *store.Record) error {
				if r.Kind == "" {
					left++
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := journal.Verify(t.Context(), s); err != nil {
				t.Error(err)
			}
			return left, log.String()
		}
		if left, logged := start(time.Minute); left != 60 || logged != "" {
			t.Errorf("before the clock jumped %d records are left, want 60: %s", left, logged)
		}
		ahead = 400 * day
		for range 5 {
			left, logged := start(time.Minute)
			if left != 60 || !strings.Contains(logged, "the clock is 400 days ahead of the last time that Assent was running") {
				t.Errorf("after the clock jumped %d records are left, want 60; logged: %s", left, logged)
			}
		}
		// If the clock stays ahead, the trusted time follows by a week per day: 42 days after 60, with 90 days
		// kept.
		if left, logged := start(6*day + time.Minute); left != 48 || !strings.Contains(logged, "days ahead") {
			t.Errorf("six days later %d records are left, want 48; logged: %s", left, logged)
		}
		ahead = 0
		if left, logged := start(time.Minute); left != 48 || logged != "" {
			t.Errorf("with the clock put right %d records are left, want 48: %s", left, logged)
		}
	})
}

// A journal that moved to another file verifies there, even if records were removed from either of the two.
func TestAMovedJournalIsWhole(t *testing.T) {
	opened := func(t *testing.T, dir string) *store.Store {
		t.Helper()
		s, err := store.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() }) // one that has become another is closed
		return s
	}
	move := func(t *testing.T, s, to *store.Store) {
		t.Helper()
		if err := s.Relocate(t.Context(), func() (*store.Store, error) { return to, nil }); err != nil {
			t.Fatal(err)
		}
	}
	// extend adds six records, and then removes the oldest.
	extend := func(t *testing.T, s *store.Store, removed int64) *store.Store {
		t.Helper()
		for at := range int64(6) {
			if err := s.AppendJournal(t.Context(), store.Record{At: at + 1, Kind: "k", Server: s.Path(), Body: "{}"}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.CutJournal(t.Context(), removed+1, 7); err != nil {
			t.Fatal(err)
		}
		return s
	}
	inMemory := func(t *testing.T) *store.Store {
		t.Helper()
		s, err := store.OpenMemory()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	for name, tt := range map[string]struct {
		move        func(t *testing.T) *store.Store
		first, last int64
	}{
		"to a new file": {func(t *testing.T) *store.Store {
			dir := t.TempDir() // made first, and so removed when both stores are closed
			s := extend(t, inMemory(t), 4)
			move(t, s, opened(t, dir))
			return s
		}, 5, 7},
		"to another journal": {func(t *testing.T) *store.Store {
			dir := t.TempDir()
			s := extend(t, inMemory(t), 4)
			move(t, s, extend(t, opened(t, dir), 2))
			return s
		}, 3, 9},
		"to its own beginning": {func(t *testing.T) *store.Store {
			dir := t.TempDir()
			s := extend(t, opened(t, dir), 2)
			move(t, s, opened(t, t.TempDir()))
			extend(t, s, 4)
			move(t, s, opened(t, dir))
			return s
		}, 5, 14},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := journal.Verify(t.Context(), tt.move(t))
			if err != nil || v.First != tt.first || v.Last != tt.last {
				t.Errorf("Verify = %+v, %v, want records %d to %d", v, err, tt.first, tt.last)
			}
		})
	}
}
