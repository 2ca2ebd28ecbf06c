package task_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/store"
)

func isDeleted(t protocol.Task) bool { return t.DeletedAt > 0 }

// ids returns the tasks that a window lists, and those that it can restore.
func (w *window) ids(t *testing.T) (listed, deleted []string) {
	t.Helper()
	all, err := w.List()
	if err != nil {
		t.Fatal(err)
	}
	gone, err := w.Deleted()
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range all {
		listed = append(listed, info.ID)
	}
	for _, info := range gone {
		deleted = append(deleted, info.ID)
	}
	return listed, deleted
}

// remove creates a task with a call that has ended, and deletes it.
func (w *window) remove(t *testing.T) string {
	t.Helper()
	info, err := w.Create("a task")
	if err != nil {
		t.Fatal(err)
	}
	tk, err := w.Get(info.ID)
	if err != nil {
		t.Fatal(err)
	}
	id, err := tk.StartCall("s", tool("one"))
	if err != nil {
		t.Fatal(err)
	}
	tk.EndCall(id, text("much", false))
	if _, err := tk.Delete("a person"); err != nil {
		t.Fatal(err)
	}
	return info.ID
}

// records returns what the journal has of a task.
func (w *window) records(t *testing.T, id string) []store.Record {
	t.Helper()
	records, _, err := w.store.Journal(t.Context(), store.JournalFilter{TaskID: id}, 100, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return records
}

func TestATaskIsDeletedAndRestored(t *testing.T) {
	f := newFixture(t, nil)
	defer f.close(t)
	id := f.task.Info().ID
	call, err := f.task.StartCall("s", tool("one"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.task.Delete("a person")
	wantCode(t, "Delete while a call runs", err, protocol.CodeTaskBusy)
	quiet := make(chan error, 1)
	go func() { quiet <- f.task.AwaitQuiet(t.Context()) }()
	f.task.EndCall(call, text("much", false))
	if err := <-quiet; err != nil {
		t.Fatal(err)
	}
	if info, err := f.task.Delete("a person"); err != nil || !isDeleted(info) {
		t.Fatal(info, err)
	}
	// Whoever has it in their hands, and whoever asks for it, is refused.
	_, err = f.task.StartCall("s", tool("two"))
	wantCode(t, "StartCall", err, protocol.CodeUnknownTask)
	_, err = f.task.Rename("other")
	wantCode(t, "Rename", err, protocol.CodeUnknownTask)
	_, err = f.registry.Get(id)
	wantCode(t, "Get", err, protocol.CodeUnknownTask)
	_, err = f.registry.Own(t.Context(), id)
	wantCode(t, "Own", err, protocol.CodeUnknownTask)
	if all, err := f.registry.List(); len(all) != 0 || err != nil {
		t.Errorf("List = %v, %v", all, err)
	}
	if info, err := f.registry.Restore(t.Context(), id, "a person"); err != nil || isDeleted(info) {
		t.Fatal(info, err)
	}
	if _, err := f.task.StartCall("s", tool("two")); err != nil {
		t.Error(err)
	}
}

func TestADeletedTaskLeavesEveryWindow(t *testing.T) {
	dir := t.TempDir()
	one, two := openWindow(t, dir, "one", "w"), openWindow(t, dir, "two", "w")
	two.follows(t)
	id := one.remove(t)
	two.followed(t, isDeleted)
	if listed, deleted := two.ids(t); len(listed) != 0 || !cmp.Equal(deleted, []string{id}) {
		t.Errorf("the other window lists %v, and can restore %v", listed, deleted)
	}
	if _, err := two.Restore(t.Context(), id, "two"); err != nil {
		t.Fatal(err)
	}
	if got := two.read(t, id).Messages; len(got) != 1 {
		t.Errorf("restored with %d messages", len(got))
	}
}

func TestADeletedTaskIsRemovedAtTheNextStart(t *testing.T) {
	dir := t.TempDir()
	one := openWindow(t, dir, "one", "w")
	id := one.remove(t)
	two := openWindow(t, dir, "two", "w") // while the first can still restore it
	if _, deleted := two.ids(t); !cmp.Equal(deleted, []string{id}) {
		t.Fatalf("the second window can restore %v", deleted)
	}
	before := one.records(t, id)
	one.kill(t)
	three := openWindow(t, dir, "three", "w")
	if listed, deleted := three.ids(t); listed != nil || deleted != nil {
		t.Errorf("after a start: listed %v, deleted %v", listed, deleted)
	}
	if left, err := three.store.Messages(t.Context(), id, store.Range{Limit: 10}); len(left) != 0 || err != nil {
		t.Errorf("of the task there is still %v, %v", left, err)
	}
	if diff := cmp.Diff(before, three.records(t, id)); diff != "" || len(before) == 0 {
		t.Errorf("what the journal has of the task (-before +after):\n%s", diff)
	}
	_, err := two.Restore(t.Context(), id, "two")
	wantCode(t, "Restore", err, protocol.CodeUnknownTask)
}

func TestADeletedTaskIsRemovedAfterADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil)
		defer f.close(t)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			f.registry.KeepDeleted(ctx)
		}()
		id := f.task.Info().ID
		if _, err := f.task.Delete("a person"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(23 * time.Hour)
		synctest.Wait()
		if deleted, err := f.registry.Deleted(); len(deleted) != 1 || err != nil {
			t.Fatal("after less than a day", deleted, err)
		}
		time.Sleep(3 * time.Hour)
		synctest.Wait()
		if deleted, err := f.registry.Deleted(); len(deleted) != 0 || err != nil {
			t.Error("after a day", deleted, err)
		}
		_, err := f.registry.Restore(t.Context(), id, "a person")
		wantCode(t, "Restore", err, protocol.CodeUnknownTask)
		if _, err := f.task.Rename("other"); err == nil {
			t.Error("a task that was removed was written anew")
		}
		cancel()
		<-ended
	})
}

func TestNobodyWaitsLongerThanTheyWantForQuiet(t *testing.T) {
	f := newFixture(t, nil)
	defer f.close(t)
	if _, err := f.task.StartCall("s", tool("one")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.task.AwaitQuiet(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
