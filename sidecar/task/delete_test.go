package task_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/task/store"
	"assent/sidecar/task/tasktest"
)

func isDeleted(t protocol.Task) bool { return t.DeletedAt > 0 }

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
	// Code that still has the task, and code that asks for it, gets an error.
	_, err = f.task.StartCall("s", tool("two"))
	wantCode(t, "StartCall", err, protocol.CodeUnknownTask)
	_, err = f.task.Rename("other")
	wantCode(t, "Rename", err, protocol.CodeUnknownTask)
	_, err = f.registry.Get(id)
	wantCode(t, "Get", err, protocol.CodeUnknownTask)
	if all, err := f.registry.List(); len(all) != 0 || err != nil {
		t.Errorf("List = %v, %v", all, err)
	}
	if info, err := f.registry.Restore(id, "a person"); err != nil || isDeleted(info) {
		t.Fatal(info, err)
	}
	if _, err := f.task.StartCall("s", tool("two")); err != nil {
		t.Error(err)
	}
}

func TestADeletedTaskIsRemovedAtTheNextStart(t *testing.T) {
	dir := t.TempDir()
	open := func() (*store.Store, error) { return store.Open(dir) }
	f := newFixture(t, open)
	id := f.task.Info().ID
	call, err := f.task.StartCall("s", tool("one"))
	if err != nil {
		t.Fatal(err)
	}
	f.task.EndCall(call, text("much", false))
	if _, err := f.task.Delete("a person"); err != nil {
		t.Fatal(err)
	}
	records := func() []store.Record {
		t.Helper()
		s, err := f.registry.Store()
		if err != nil {
			t.Fatal(err)
		}
		records, _, err := s.Journal(t.Context(), store.JournalFilter{TaskID: id}, 100, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		return records
	}
	before := records()
	f.close(t)

	f.registry, f.events = tasktest.Registry(t, open)
	defer f.close(t)
	listed, err := f.registry.List()
	deleted, deletedErr := f.registry.Deleted()
	if err := errors.Join(err, deletedErr); err != nil || len(listed) != 0 || deleted != nil {
		t.Errorf("after a start: listed %v, deleted %v, %v", listed, deleted, err)
	}
	s, err := f.registry.Store()
	if err != nil {
		t.Fatal(err)
	}
	if left, err := s.Messages(t.Context(), id, store.Range{Limit: 10}); len(left) != 0 || err != nil {
		t.Errorf("of the task there is still %v, %v", left, err)
	}
	if diff := cmp.Diff(before, records()); diff != "" || len(before) == 0 {
		t.Errorf("what the journal has of the task (-before +after):\n%s", diff)
	}
	_, err = f.registry.Restore(id, "a person")
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
		_, err := f.registry.Restore(id, "a person")
		wantCode(t, "Restore", err, protocol.CodeUnknownTask)
		if _, err := f.task.Rename("other"); err == nil {
			t.Error("a task that was removed was written anew")
		}
		cancel()
		<-ended
	})
}

func TestAwaitQuietEndsWithItsContext(t *testing.T) {
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
