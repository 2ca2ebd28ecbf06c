package store_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assent/protocol"
	"assent/sidecar/task/store"
)

// pageSize is small, so that a frame of the log has few bytes. Its header has frameHead.
const (
	pageSize  = 512
	logHead   = 32
	frameHead = 24
)

// TestATornLogHasAllAcknowledgedSaves cuts the log of a killed sidecar at every byte of its last
// frame and at the edges of the others, and also alters it there. The store then has the state after one of the saves:
// all of that one, and all before it.
func TestATornLogHasAllAcknowledgedSaves(t *testing.T) {
	living := t.TempDir()
	path := filepath.Join(living, "assent.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(fmt.Sprintf("PRAGMA page_size = %d; VACUUM", pageSize))
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(living)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil { // the schema is now in the file, and the rest will be in the log
		t.Fatal(err)
	}
	s = open(t, living)
	before := stateOf(t, s)
	acknowledged, ends := []string{before}, []int{0}
	for i := range int64(6) {
		e := notice(1+i/2, i+1, strings.Repeat(fmt.Sprint(i), 300))
		e.Live = i%2 == 0
		record := store.Record{At: i, Kind: "k", TaskID: "t1", Body: fmt.Sprintf(`{"i":%d}`, i)}
		if err := s.Save(t.Context(), protocol.Task{ID: "t1", Title: fmt.Sprint(i), LastNumber: i + 1}, &e, record); err != nil {
			t.Fatal(err)
		}
		acknowledged = append(acknowledged, stateOf(t, s))
		ends = append(ends, len(read(t, path+"-wal")))
	}
	file, log := read(t, path), read(t, path+"-wal")
	last := len(acknowledged) - 1
	if ends[last] != len(log) || (len(log)-logHead)%(frameHead+pageSize) != 0 {
		t.Fatalf("the log has %d bytes after the last save and %d now", ends[last], len(log))
	}
	// If the file was cut, the log may have all that is missing. Otherwise the store is set aside.
	setAside := 0
	for at := 0; at < len(file); at += pageSize * stride {
		switch got := reopened(t, file[:at], log); got {
		case "set aside":
			setAside++
		case acknowledged[last]:
		default:
			t.Errorf("the file cut at byte %d of %d:\n%s", at, len(file), got)
		}
	}
	if setAside == 0 {
		t.Error("no file that was cut was set aside")
	}
	for _, at := range torn(len(log)) {
		// If the log was cut, all complete transactions are there.
		whole := last
		for ends[whole] > at {
			whole--
		}
		if got := reopened(t, file, log[:at]); got != acknowledged[whole] {
			t.Errorf("cut at byte %d of %d:\n%s\nwant\n%s", at, len(log), got, acknowledged[whole])
		}
		if at == len(log) || at > len(log)-pageSize && at%8 != 0 {
			continue
		}
		// Frames after an altered byte are ignored, and frames before it are read.
		falsified := bytes.Clone(log)
		falsified[at] ^= 0x40
		if at < logHead {
			whole = 0
		}
		got := reopened(t, file, falsified)
		if harmless := at < 4 || at >= 8 && at < 16; got != acknowledged[whole] && (!harmless || !slices.Contains(acknowledged, got)) {
			t.Errorf("byte %d of %d falsified:\n%s\nwant\n%s", at, len(log), got, acknowledged[whole])
		}
	}
}

// torn returns every position in a log's last frame, those at the edges of the frames before it, and some
// within.
func torn(length int) []int {
	const frame = frameHead + pageSize
	var places []int
	for at := range length + 1 {
		within := (at - logHead) % frame
		switch {
		case at >= length-frame && at%stride == 0, at < logHead && at%4 == 0, within == 0, stride == 1 && (within == 1 || within == frameHead || within == frame-1), at%(199*stride) == 0:
			places = append(places, at)
		}
	}
	return places
}

// reopened returns the state of a store with these files.
func reopened(t *testing.T, file, log []byte) string {
	t.Helper()
	dir, err := os.MkdirTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	write(t, filepath.Join(dir, "assent.db"), file)
	write(t, filepath.Join(dir, "assent.db-wal"), log)
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.SetAside() != "" {
		return "set aside"
	}
	return stateOf(t, s)
}

// stateOf returns the whole state of a store.
func stateOf(t *testing.T, s *store.Store) string {
	t.Helper()
	tasks, err := s.Tasks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	messages, err := s.Messages(t.Context(), "t1", store.Range{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	records, _, err := s.Journal(t.Context(), store.JournalFilter{}, 100, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%+v\n%+v\n%+v", tasks, messages, records)
}
