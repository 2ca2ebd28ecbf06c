package store_test

import (
	"bytes"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assent/protocol"
	"assent/sidecar/task/store"
)

// filled returns a folder with a closed store of that many messages.
func filled(t *testing.T, messages int64) string {
	t.Helper()
	dir := t.TempDir()
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for id := int64(1); id <= messages; id++ {
		save(t, s, protocol.Task{ID: "t1"}, notice(id, id, strings.Repeat("x", 1000)))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestADamagedStoreIsSetAside(t *testing.T) {
	sound := read(t, filepath.Join(filled(t, 50), "assent.db"))
	scratched := bytes.Clone(sound)
	copy(scratched[len(sound)/2:], bytes.Repeat([]byte("scratch"), 1000))
	tests := map[string][]byte{
		"a text file":          []byte(strings.Repeat("This is no store. ", 100)),
		"a short text file":    []byte("no"),
		"pages of zeros":       make([]byte, 8*4096),
		"a scratch":            scratched,
		"its first page":       sound[:4096],
		"half its first page":  sound[:2048],
		"half":                 sound[:len(sound)/2],
		"nothing in its front": append(make([]byte, 100), sound[100:]...),
	}
	for name, damaged := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "assent.db")
			write(t, path, damaged)
			s := open(t, dir)
			aside := s.SetAside()
			if !strings.HasPrefix(aside, path+".damaged-") {
				t.Fatalf("SetAside = %q", aside)
			}
			if !bytes.Equal(read(t, aside), damaged) {
				t.Error("what was set aside is not what was there")
			}
			isNew(t, s, dir)
		})
	}
}

// SQLite deletes the log of an empty or missing store, although the log may have all data.
func TestALogWithoutItsStoreIsSetAside(t *testing.T) {
	for name, spoil := range map[string]func(string) error{
		"empty":   func(path string) error { return os.Truncate(path, 0) },
		"missing": os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			dir, log := killed(t)
			if err := spoil(filepath.Join(dir, "assent.db")); err != nil {
				t.Fatal(err)
			}
			s := open(t, dir)
			if !bytes.Equal(read(t, s.SetAside()+"-wal"), log) {
				t.Error("what was set aside is not the log that was there")
			}
		})
	}
}

// killed returns a folder as a killed sidecar leaves it, and the log in it.
func killed(t *testing.T) (dir string, log []byte) {
	t.Helper()
	living := t.TempDir()
	s := open(t, living)
	for id := int64(1); id <= 5; id++ {
		save(t, s, protocol.Task{ID: "t1"}, notice(id, id, "in the log"))
	}
	dir = t.TempDir()
	log = read(t, filepath.Join(living, "assent.db-wal"))
	write(t, filepath.Join(dir, "assent.db"), read(t, filepath.Join(living, "assent.db")))
	write(t, filepath.Join(dir, "assent.db-wal"), log)
	return dir, log
}

func TestADamagedStoreThatIsInUseIsLeftWhereItIs(t *testing.T) {
	dir := filled(t, 50)
	path := filepath.Join(dir, "assent.db")
	living, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	damaged := make([]byte, len(read(t, path)))
	write(t, path, damaged)
	_, err = store.OpenNow(dir)
	if !errors.Is(err, store.ErrInUse) || !strings.Contains(err.Error(), path) {
		t.Fatalf("Open = %v, want an error that names the file and says that it is in use", err)
	}
	if !bytes.Equal(read(t, path), damaged) {
		t.Error("the file was changed")
	}
	_ = living.Close() // it is damaged
	if open(t, dir).SetAside() == "" {
		t.Error("it was not set aside once nobody had it open")
	}
}

// A large store is not read whole at every start. Damage in it hides only the damaged messages, and the
// next start sets the store aside.
func TestDamageThatIsFoundLater(t *testing.T) {
	dir := filled(t, 50)
	path := filepath.Join(dir, "assent.db")
	data := read(t, path)
	page := bytes.Index(data, []byte(`"id":20,`)) / 4096 * 4096
	copy(data[page:page+4096], bytes.Repeat([]byte{0xff}, 4096))
	write(t, path, data)
	if err := os.Truncate(path, 65<<20); err != nil { // SQLite ignores data after its pages
		t.Fatal(err)
	}

	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if s.SetAside() != "" {
		t.Fatal("it was read whole: this test proves nothing")
	}
	got, err := s.Messages(t.Context(), "t1", store.Range{Limit: 100})
	if !store.Damaged(err) || len(got) < 20 || len(got) > 30 || got[len(got)-1].Message.ID != 50 {
		t.Fatalf("%d messages, %v; want the newest and that the store is damaged", len(got), err)
	}
	if err := errors.Join(s.Suspect(), s.Close()); err != nil {
		t.Fatal(err)
	}
	if open(t, dir).SetAside() == "" {
		t.Error("the next start did not set it aside")
	}
}

func TestASuspectStoreThatIsSoundStays(t *testing.T) {
	dir := filled(t, 5)
	s := open(t, dir)
	if err := s.Suspect(); err != nil {
		t.Fatal(err)
	}
	closed(t, s)
	if again := open(t, dir); again.SetAside() != "" {
		t.Errorf("it was set aside as %s", again.SetAside())
	}
	if _, err := os.Stat(filepath.Join(dir, "assent.db.suspect")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still suspect: %v", err)
	}
}

func TestADamagedRowHidesNothingElse(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	task := protocol.Task{ID: "t1"}
	for id := int64(1); id <= 4; id++ {
		e := notice(id, id, "sound")
		e.Live = true
		save(t, s, task, e)
	}
	for i, err := range []error{
		s.SaveDraft(t.Context(), "t1", "a1", []byte(`{"sound":1}`)), s.SaveDraft(t.Context(), "t1", "a2", []byte(`{}`)),
		s.SaveRound(t.Context(), "t1", 1, &store.Round{Required: []byte(`{}`)}), s.SaveRound(t.Context(), "t1", 2, &store.Round{Required: []byte(`{}`)}),
		s.AddGrant(t.Context(), protocol.Grant{ID: "g1"}), s.AddGrant(t.Context(), protocol.Grant{ID: "g2"}),
	} {
		if err != nil {
			t.Fatal(i, err)
		}
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "assent.db"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(`
		UPDATE messages SET body = substr(body, 1, 20) WHERE id = 2;
		UPDATE messages SET body = json_set(body, '$.body.type', 'never heard of') WHERE id = 3;
		UPDATE drafts SET body = '{' WHERE ask_id = 'a2';
		UPDATE rounds SET required = '{' WHERE message_id = 2;
		UPDATE grants SET body = '{' WHERE id = 'g2';
		UPDATE tasks SET chat = '{' WHERE id = 't1'`)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}

	for name, list := range map[string]func() ([]store.Entry, error){
		"Messages": func() ([]store.Entry, error) { return s.Messages(t.Context(), "t1", store.Range{Limit: 10}) },
		"Live":     func() ([]store.Entry, error) { return s.Live(t.Context(), "t1") },
	} {
		got, err := list()
		if err != nil || len(got) != 4 {
			t.Fatalf("%s = %d entries, %v; want 4", name, len(got), err)
		}
		for _, e := range got {
			shown, ok := e.Message.Body.(protocol.Notice)
			damaged := e.Message.ID == 2 || e.Message.ID == 3
			if !ok || e.Damaged != damaged || damaged != strings.Contains(shown.Text, "damaged") {
				t.Errorf("%s: message %d = %+v, damaged = %v", name, e.Message.ID, e.Message.Body, e.Damaged)
			}
			if e.Message.ID == 3 && e.Message.Time != 1003 {
				t.Errorf("%s: what can be read of message 3 was not: its time is %d", name, e.Message.Time)
			}
		}
	}
	tasks, err := s.Tasks(t.Context())
	if err != nil || len(tasks) != 1 {
		t.Errorf("Tasks = %v, %v", tasks, err)
	}
	drafts, err := s.Drafts(t.Context(), "t1")
	if err != nil || len(drafts) != 1 || drafts["a1"] == nil {
		t.Errorf("Drafts = %v, %v", drafts, err)
	}
	rounds, err := s.Rounds(t.Context(), "t1")
	if _, ok := rounds[1]; err != nil || len(rounds) != 1 || !ok {
		t.Errorf("Rounds = %v, %v", rounds, err)
	}
	grants, err := s.Grants(t.Context())
	if err != nil || len(grants) != 1 || grants[0].ID != "g1" {
		t.Errorf("Grants = %v, %v", grants, err)
	}
}

func TestANewerStoreIsNotTouched(t *testing.T) {
	dir := filled(t, 5)
	path := filepath.Join(dir, "assent.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec("PRAGMA user_version = 999; CREATE TABLE future (x)")
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	before := read(t, path)
	for range 2 {
		if _, err := store.Open(dir); !errors.Is(err, store.ErrNewer) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "update Assent") {
			t.Errorf("Open = %v, want ErrNewer, the file's name and the way out", err)
		}
	}
	if !bytes.Equal(read(t, path), before) {
		t.Error("the file was changed")
	}
}

// A store of an unpublished version is set aside whole, and the next one says so; so is a database of another program.
func TestAStoreOfAnUnpublishedVersionIsSetAside(t *testing.T) {
	for name, change := range map[string]string{
		"of the first schema": `DROP TABLE heads; PRAGMA application_id = 0; PRAGMA user_version = 1`,
		"of a later schema":   `PRAGMA application_id = 0; PRAGMA user_version = 17`,
		"without a version":   `PRAGMA application_id = 0; PRAGMA user_version = 0`,
		"of another program":  `PRAGMA application_id = 5`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := filled(t, 5)
			path := filepath.Join(dir, "assent.db")
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			_, err = db.Exec(change)
			if err := errors.Join(err, db.Close()); err != nil {
				t.Fatal(err)
			}
			before := read(t, path)
			if _, err := store.OpenReadOnly(dir); err == nil || !strings.Contains(err.Error(), "unpublished version") {
				t.Errorf("OpenReadOnly = %v, want that it is of an unpublished version", err)
			}
			s := open(t, dir)
			aside := s.SetAside()
			if !strings.HasPrefix(aside, path+".unpublished-") || !bytes.Equal(read(t, aside), before) {
				t.Fatalf("SetAside = %q, want the whole file there", aside)
			}
			if note := s.SetAsideNote(); !strings.Contains(note, "unpublished version of Assent") || !strings.Contains(note, aside) {
				t.Errorf("SetAsideNote = %q", note)
			}
			isNew(t, s, dir)
		})
	}
}

// isNew checks that a store is empty, can be used, and is opened again.
func isNew(t *testing.T, s *store.Store, dir string) {
	t.Helper()
	if tasks, err := s.Tasks(t.Context()); err != nil || len(tasks) != 0 {
		t.Errorf("Tasks = %v, %v, want none", tasks, err)
	}
	save(t, s, protocol.Task{ID: "new"}, notice(1, 1, "new"))
	closed(t, s)
	if again := open(t, dir); again.SetAside() != "" {
		t.Errorf("the new store was set aside too, as %s", again.SetAside())
	}
}
