//go:build unix

// Windows does not delete a file that a process has open.

package task_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"assent/sidecar/task/store"
)

func TestADeletedStoreIsCreatedAtTheNextWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	f := newFixture(t, func() (*store.Store, error) { return store.Open(dir) })
	before := f.live(t)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	after := f.live(t)
	// Nothing was closed, but the changes are on disk.
	onDisk(t, dir, before)
	onDisk(t, dir, after)
	f.close(t)
	f.wantTold(t, [2]string{"recovered: ", filepath.Join(dir, "assent.db") + " was deleted or moved away"})
}

func TestADeletedStoreIsCreatedSoon(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func() (*store.Store, error) { return store.Open(dir) })
		stop := f.keepStore(t)
		defer f.close(t)
		defer stop()
		check := f.live(t)
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		onDisk(t, dir, check)
		f.wantTold(t, [2]string{"recovered: ", "was deleted or moved away"})
	})
}

func TestADeletedStoreThatCannotBeCreatedWaits(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func() (*store.Store, error) { return store.Open(dir) })
		stop := f.keepStore(t)
		defer f.close(t)
		defer stop()
		before := f.live(t)
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(dir, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		during := f.live(t)
		time.Sleep(time.Hour)
		if err := os.Remove(dir); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		f.wantTold(t, [2]string{"failed: ", filepath.Join(dir, "assent.db") + " was deleted"}, [2]string{"recovered: ", "created again"})
		onDisk(t, dir, before)
		onDisk(t, dir, during)
	})
}

func TestTheEndCreatesADeletedStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	f := newFixture(t, func() (*store.Store, error) { return store.Open(dir) })
	check := f.live(t)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	f.close(t)
	onDisk(t, dir, check)
}
