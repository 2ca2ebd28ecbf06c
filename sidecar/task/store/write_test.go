package store_test

import (
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"testing"

	"assent/protocol"
	"assent/sidecar/task/store"
)

// TestConcurrentSavesAreIndependent saves many tasks concurrently. Some are refused, and only those are not saved.
func TestConcurrentSavesAreIndependent(t *testing.T) {
	s := open(t, t.TempDir())
	const tasks, changes = 40, 10
	isRefused := func(task int) bool { return task%8 == 3 }
	name := func(task int) string { return fmt.Sprint("t", task) }
	for task := range tasks {
		if isRefused(task) {
			save(t, s, protocol.Task{ID: name(task), Title: "before"}, notice(1, 1, "before"))
		}
	}
	db, err := sql.Open("sqlite", s.Path())
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(`CREATE TRIGGER refused BEFORE UPDATE ON tasks WHEN OLD.title = 'before' BEGIN SELECT RAISE(ABORT, 'refused'); END`)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	var saving sync.WaitGroup
	for task := range tasks {
		saving.Go(func() {
			for i := range int64(changes) {
				e := notice(i+1, i+1, "ours")
				record := store.Record{Kind: "k", TaskID: name(task), Body: "{}"}
				err := s.Save(t.Context(), protocol.Task{ID: name(task), Title: "ours", LastNumber: i + 1}, &e, record)
				if isRefused(task) != (err != nil) {
					t.Errorf("Save of %s = %v", name(task), err)
				}
			}
		})
	}
	saving.Wait()
	for task := range tasks {
		saved := taskOf(t, s, name(task))
		messages, err := s.Messages(t.Context(), name(task), store.Range{Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		records, _, err := s.Journal(t.Context(), store.JournalFilter{TaskID: name(task)}, 100, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		title, kept, recorded := "ours", changes, changes
		if isRefused(task) {
			title, kept, recorded = "before", 1, 0
		}
		if saved.Title != title || len(messages) != kept || len(records) != recorded {
			t.Errorf("%s has the title %q, %d messages and %d records, want %q, %d and %d",
				name(task), saved.Title, len(messages), len(records), title, kept, recorded)
		}
	}
}

// BenchmarkSaveAtOnce measures concurrent changes of a hundred tasks.
func BenchmarkSaveAtOnce(b *testing.B) {
	s, err := store.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	b.SetParallelism(50)
	b.ReportAllocs()
	var mu sync.Mutex
	tasks := 0
	b.RunParallel(func(pb *testing.PB) {
		mu.Lock()
		tasks++
		name := fmt.Sprint("t", tasks)
		mu.Unlock()
		for i := int64(1); pb.Next(); i++ {
			e := notice(i, i, "said")
			if err := s.Save(b.Context(), protocol.Task{ID: name, LastNumber: i}, &e); err != nil {
				b.Error(err)
				return
			}
		}
	})
}
