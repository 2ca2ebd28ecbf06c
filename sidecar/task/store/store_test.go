package store_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/task/store"
)

func open(t *testing.T, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// look opens a store for reading, even if it is open.
func look(t *testing.T, dir string) *store.Store {
	t.Helper()
	s, err := store.OpenReadOnly(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// taskOf returns a task as saved.
func taskOf(t *testing.T, s *store.Store, id string) protocol.Task {
	t.Helper()
	all, err := s.Tasks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(task protocol.Task) bool { return task.ID == id })
	if i < 0 {
		t.Fatalf("there is no task %q among %v", id, all)
	}
	return all[i]
}

// closed closes a store.
func closed(t *testing.T, s *store.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// save saves a notice as message id, changed by event number.
func save(t *testing.T, s *store.Store, task protocol.Task, e store.Entry) {
	t.Helper()
	task.LastNumber = e.Number
	if err := s.Save(t.Context(), task, &e); err != nil {
		t.Fatal(err)
	}
}

func notice(id, number int64, text string) store.Entry {
	return store.Entry{
		Message: protocol.Message{ID: id, Time: 1000 + id, Body: protocol.Notice{Level: protocol.NoticeInfo, Text: text}},
		Number:  number,
	}
}

func TestSavedDataIsThereAfterReopening(t *testing.T) {
	// These characters have a meaning in the URI for SQLite.
	dir := filepath.Join(t.TempDir(), "a b=c#d%41")
	ask := store.Entry{
		Message: protocol.Message{ID: 2, Time: 7, Body: protocol.Ask{
			AskID: "ask-1", Ask: protocol.AskUseMcpServer,
			Question: protocol.McpElicitation{
				Origin: protocol.Origin{ServerName: "s", ToolNames: []string{"t"}},
				ElicitationRequest: protocol.McpElicitationRequest{
					Message: "m", Fields: []protocol.Field{protocol.BooleanField{FieldHead: protocol.FieldHead{Name: "b"}}},
				},
			},
		}},
		Number: 3, Live: true, AskID: "ask-1",
	}
	task := protocol.Task{ID: "t1", Title: "One", CreatedAt: 5, LastNumber: 3}
	func() {
		s, err := store.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		save(t, s, task, notice(1, 2, "hello"))
		save(t, s, task, ask)
	}()

	s := open(t, dir)
	tasks, err := s.Tasks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]protocol.Task{task}, tasks); diff != "" {
		t.Errorf("Tasks (-want +got):\n%s", diff)
	}
	got, err := s.Messages(t.Context(), "t1", store.Range{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]store.Entry{notice(1, 2, "hello"), ask}, got); diff != "" {
		t.Errorf("Messages (-want +got):\n%s", diff)
	}
	found, err := s.Ask(t.Context(), "t1", "ask-1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&ask, found); diff != "" {
		t.Errorf("Ask (-want +got):\n%s", diff)
	}
	if found, err := s.Ask(t.Context(), "another task", "ask-1"); err != nil || found != nil {
		t.Errorf("Ask of another task = %v, %v, want nothing", found, err)
	}
	live, err := s.Live(t.Context(), "t1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]store.Entry{ask}, live); diff != "" {
		t.Errorf("Live (-want +got):\n%s", diff)
	}
	if tasks, err := s.LiveTasks(t.Context()); err != nil || !slices.Equal(tasks, []string{"t1"}) {
		t.Errorf("LiveTasks = %q, %v, want t1", tasks, err)
	}
	if last, err := s.LastMessage(t.Context(), "t1"); err != nil || last != 2 {
		t.Errorf("LastMessage = %d, %v, want 2", last, err)
	}
}

func TestMessagesSelects(t *testing.T) {
	s := open(t, t.TempDir())
	task := protocol.Task{ID: "t1"}
	for id := int64(1); id <= 6; id++ {
		save(t, s, task, notice(id, id, "first"))
	}
	save(t, s, task, notice(2, 7, "second")) // changed later
	save(t, s, protocol.Task{ID: "t2"}, notice(1, 8, "another task's"))

	tests := []struct {
		name string
		r    store.Range
		want []int64
	}{
		{"newest", store.Range{Limit: 3}, []int64{4, 5, 6}},
		{"all", store.Range{Limit: 100}, []int64{1, 2, 3, 4, 5, 6}},
		{"a page before", store.Range{Before: 4, Limit: 2}, []int64{2, 3}},
		{"before the first", store.Range{Before: 1, Limit: 2}, nil},
		{"changed after", store.Range{After: 5, Limit: 10}, []int64{2, 6}},
		{"changed after, limited to the newest", store.Range{After: 4, Limit: 2}, []int64{5, 6}},
		{"changed after the last", store.Range{After: 7, Limit: 10}, nil},
		{"two and one more of some 75 bytes", store.Range{Limit: 100, Bytes: 160}, []int64{4, 5, 6}},
		{"one and one more", store.Range{Limit: 100, Bytes: 1}, []int64{5, 6}},
		{"changed after, bounded", store.Range{After: 1, Limit: 100, Bytes: 1}, []int64{5, 6}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			entries, err := s.Messages(t.Context(), "t1", tt.r)
			if err != nil {
				t.Fatal(err)
			}
			var got []int64
			for _, e := range entries {
				got = append(got, e.Message.ID)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("ids (-want +got):\n%s", diff)
			}
		})
	}
}

func BenchmarkSave(b *testing.B) {
	s, err := store.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	task := protocol.Task{ID: "t1"}
	body := protocol.Call{ServerName: "s", Request: protocol.CallToolRequest{ToolName: "t", Arguments: json.RawMessage("{}")}}
	b.ReportAllocs()
	for i := int64(1); b.Loop(); i++ {
		task.LastNumber = i
		e := store.Entry{Message: protocol.Message{ID: i, Body: body}, Number: i}
		if err := s.Save(context.Background(), task, &e); err != nil {
			b.Fatal(err)
		}
	}
}
