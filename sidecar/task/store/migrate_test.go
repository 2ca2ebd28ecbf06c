package store_test

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/task/store"
)

// A store of every earlier version gets the schema of a new one, and keeps its data.
func TestAStoreOfEveryEarlierVersionIsMigrated(t *testing.T) {
	want := schemaOf(t, filled(t, 0))
	for version := 1; version < len(store.Migrations); version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			dir := t.TempDir()
			db, err := sql.Open("sqlite", filepath.Join(dir, "assent.db"))
			if err != nil {
				t.Fatal(err)
			}
			for i, migration := range store.Migrations[:version] {
				if _, err := db.Exec(migration); err != nil {
					t.Fatal(err)
				}
				if i > 0 {
					continue
				}
				_, err = db.Exec(`
					INSERT INTO tasks (id, created_at, title, closed, last_number) VALUES ('t1', 5, 'One', 1, 7);
					INSERT INTO messages (task_id, id, number, live, ask_id, body) VALUES
						('t1', 1, 7, 0, NULL, '{"id":1,"time":1001,"body":{"type":"notice","level":"info","text":"kept"}}'),
						('t1', 2, 6, 1, 'a1', 'damaged')`)
				if err != nil {
					t.Fatal(err)
				}
			}
			_, err = db.Exec(fmt.Sprintf(`PRAGMA user_version = %d`, version))
			if err := errors.Join(err, db.Close()); err != nil {
				t.Fatal(err)
			}
			s, err := store.Open(dir)
			if err != nil || s.SetAside() != "" {
				t.Fatal(err, s.SetAside())
			}
			tasks, err := s.Tasks(t.Context())
			left := protocol.Task{ID: "t1", CreatedAt: 5, Title: "One", Closed: true, LastNumber: 7}
			if diff := cmp.Diff([]protocol.Task{left}, tasks); diff != "" || err != nil {
				t.Errorf("Tasks (-want +got): %v\n%s", err, diff)
			}
			got, err := s.Message(t.Context(), "t1", 1)
			if entry := notice(1, 7, "kept"); err != nil || got == nil || !cmp.Equal(*got, entry) {
				t.Errorf("Message = %+v, %v", got, err)
			}
			save(t, s, left, notice(3, 8, "new"))
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, schemaOf(t, dir)); diff != "" {
				t.Errorf("the schema (-new +migrated):\n%s", diff)
			}
		})
	}
}

// schemaOf returns the objects of a closed store's schema, by name.
func schemaOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "assent.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(`SELECT name, COALESCE(sql, '') FROM sqlite_schema UNION ALL SELECT 'user_version', user_version FROM pragma_user_version`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	schema := map[string]string{}
	for rows.Next() {
		var name, text string
		if err := rows.Scan(&name, &text); err != nil {
			t.Fatal(err)
		}
		schema[name] = text
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return schema
}
