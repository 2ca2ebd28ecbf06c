package store_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"assent/protocol"
)

func TestATaskThatCannotBeRemovedKeepsNoOther(t *testing.T) {
	dir := t.TempDir()
	one := open(t, dir)
	for _, id := range []string{"a", "stuck", "z"} {
		save(t, one, protocol.Task{ID: id, DeletedAt: 1}, notice(1, 1, "said"))
	}
	save(t, one, protocol.Task{ID: "deleted later", DeletedAt: 2}, notice(1, 1, "said"))
	save(t, one, protocol.Task{ID: "not deleted"}, notice(1, 1, "said"))
	closed(t, one)
	db, err := sql.Open("sqlite", filepath.Join(dir, "assent.db"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(`CREATE TRIGGER stuck BEFORE DELETE ON messages WHEN OLD.task_id = 'stuck' BEGIN SELECT RAISE(ABORT, 'no'); END`)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}

	two := open(t, dir)
	if err := two.Purge(t.Context(), 2); err == nil || !strings.Contains(err.Error(), `"stuck"`) {
		t.Errorf("Purge = %v", err)
	}
	left, err := two.Tasks(t.Context())
	if err != nil || len(left) != 3 || left[0].ID != "stuck" || left[1].ID != "not deleted" || left[2].ID != "deleted later" {
		t.Errorf("Tasks = %v, %v", left, err)
	}
}
