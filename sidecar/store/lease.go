package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"

	"assent/protocol"
)

// A task is live in one window at a time: its row names the sidecar that has it, and nobody else can write
// anything of the task ([ErrNotOwner]), whatever they believe. claimed grows with each claim and each
// release, so that whoever follows finds both without reading every task.
const leaseSchema = `
ALTER TABLE tasks ADD COLUMN owner TEXT; -- the id of the sidecar that has the task, or NULL
ALTER TABLE tasks ADD COLUMN owner_name TEXT NOT NULL DEFAULT ''; -- what to call its window
ALTER TABLE tasks ADD COLUMN owned_since INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tasks ADD COLUMN workspace TEXT; -- of the window that had it last, or NULL
ALTER TABLE tasks ADD COLUMN open_asks INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tasks ADD COLUMN claimed INTEGER NOT NULL DEFAULT 0;
CREATE INDEX tasks_by_owner ON tasks (owner) WHERE owner IS NOT NULL;
CREATE INDEX tasks_by_claim ON tasks (claimed);
`

// running is the condition of a task whose model is at work, or was when its sidecar died; see [readChat].
const running = `CASE WHEN json_valid(chat) THEN COALESCE(json_extract(chat, '$.running'), 0) ELSE 0 END`

// nextClaim is what claimed is after a claim or a release. It takes the end of an index.
const nextClaim = `(SELECT COALESCE(MAX(claimed), 0) + 1 FROM tasks)`

// ErrNotOwner says that nothing was written, because another sidecar has the task.
var ErrNotOwner = errors.New("another window has the task")

// OwnedError says which living window has the task that was claimed.
type OwnedError struct{ Elsewhere protocol.Elsewhere }

// Error implements error.
func (e *OwnedError) Error() string {
	return "the task is live in another window: " + e.Elsewhere.Window
}

// Window is how the window of this sidecar is known to others.
type Window struct {
	// Name is what to call it.
	Name string
	// Workspace is the same for windows that have the same servers: the calls of a task go on there only.
	Workspace string
}

// Introduce says which window the tasks are claimed for from now on.
func (s *Store) Introduce(w Window) { s.window.Store(&w) }

// introduced returns the window.
func (s *Store) introduced() Window {
	if w := s.window.Load(); w != nil {
		return *w
	}
	return Window{}
}

// Shared reports whether other sidecars may have the same store open.
func (s *Store) Shared() bool { return s.present() != nil }

// attend has this sidecar be known to others as one that lives, if it is not: before anything is written that is
// its own.
func (s *Store) attend() error {
	s.homeMu.Lock()
	defer s.homeMu.Unlock()
	if s.home.path == "" || s.home.presence != nil {
		return nil
	}
	var err error
	s.home.presence, err = attend(filepath.Dir(s.home.path), s.me)
	return err
}

// present proves to other sidecars that this one lives; nil where none can have the store open.
func (s *Store) present() *presence {
	s.homeMu.Lock()
	defer s.homeMu.Unlock()
	return s.home.presence
}

// Alive reports whether the sidecar of an id lives.
func (s *Store) Alive(owner string) bool {
	if owner == s.me {
		return true
	}
	p := s.present()
	return p != nil && p.alive(owner)
}

// Standing is a task, and whose it is.
type Standing struct {
	// Task has Elsewhere where it has live messages, or its model is at work, and this sidecar has not got it:
	// another living one, or none. A task in which nothing goes on is nowhere, whoever has it.
	Task protocol.Task
	// Mine: this sidecar has it.
	Mine bool
	// Owner is the id of the sidecar that has the task, dead or alive; empty where none has.
	Owner string
	// Claimed grows with each claim and release of any task.
	Claimed int64
}

// standings reads tasks.
func (s *Store) standings(ctx context.Context, q querier, condition string, args ...any) (_ []Standing, err error) {
	rows, err := q.QueryContext(ctx, `
		SELECT id, created_at, title, closed, number, open_asks, COALESCE(owner, ''), owner_name, owned_since, claimed, chat, deleted,
			EXISTS (SELECT 1 FROM heads WHERE task_id = tasks.id AND message_id > 0) OR `+running+`
		FROM tasks CROSS JOIN heads ON task_id = id AND message_id = 0 `+condition, args...)
	if err != nil {
		return nil, fmt.Errorf("read tasks: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var all []Standing
	alive := map[string]bool{s.me: true, "": false}
	for rows.Next() {
		var st Standing
		var window string
		var since int64
		var live bool
		var chat []byte
		t := &st.Task
		if err := rows.Scan(&t.ID, &t.CreatedAt, &t.Title, &t.Closed, &t.LastNumber, &t.OpenAsks, &st.Owner, &window, &since, &st.Claimed, &chat, &t.DeletedAt, &live); err != nil {
			return nil, fmt.Errorf("read tasks: %w", err)
		}
		readChat(t, chat)
		lives, known := alive[st.Owner]
		if !known {
			lives = s.Alive(st.Owner)
			alive[st.Owner] = lives
		}
		st.Mine = st.Owner != "" && st.Owner == s.me
		if !st.Mine && live {
			t.Elsewhere = &protocol.Elsewhere{Window: window, Since: since, Gone: !lives}
		}
		all = append(all, st)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read tasks: %w", err)
	}
	return all, nil
}

// Task returns a task as it stands, or nil.
func (s *Store) Task(ctx context.Context, id string) (*Standing, error) {
	found, err := s.standings(ctx, s.db, `WHERE id = ?`, id)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// Moved returns the tasks that other sidecars have, and all that were claimed or released since; see
// [Standing.Claimed].
func (s *Store) Moved(ctx context.Context, since int64) ([]Standing, error) {
	return s.standings(ctx, s.db, `WHERE claimed > ? OR owner IS NOT NULL AND owner <> ?`, since, s.me)
}

// Version is another number when another sidecar has written to the store since.
func (s *Store) Version(ctx context.Context) (int64, error) {
	var version int64
	if err := s.db.QueryRowContext(ctx, `PRAGMA data_version`).Scan(&version); err != nil {
		return 0, fmt.Errorf("read whether the store has changed: %w", err)
	}
	return version, nil
}

// Claim makes a task this sidecar's; now is in milliseconds since the Unix epoch. Where another living
// sidecar has it and something goes on in it, that fails with an [OwnedError], unless it is forced: taken then
// reports that it was taken from one. Whether something goes on is read in the transaction that claims: what
// the other one begins after it is refused there. Of sidecars that claim a task at once, one has it in the end. The error is [sql.ErrNoRows] where
// there is no such task.
func (s *Store) Claim(ctx context.Context, taskID string, now int64, force bool) (_ *Standing, taken bool, err error) {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, false, fmt.Errorf("claim task: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // a no-op after Commit
	if err := s.attend(); err != nil {
		return nil, false, fmt.Errorf("claim task: %w", err)
	}
	found, err := s.standings(ctx, tx, `WHERE id = ?`, taskID)
	if err != nil {
		return nil, false, err
	}
	if len(found) == 0 {
		return nil, false, sql.ErrNoRows
	}
	st := &found[0]
	if st.Mine {
		return st, false, nil
	}
	if elsewhere := st.Task.Elsewhere; elsewhere != nil && !elsewhere.Gone {
		if taken = true; !force {
			return nil, false, &OwnedError{*elsewhere}
		}
	}
	if err := s.claim(ctx, tx, taskID, now); err != nil {
		return nil, false, err
	}
	claimed, err := s.standings(ctx, tx, `WHERE id = ?`, taskID)
	if err != nil {
		return nil, false, err
	}
	if err := tx.Commit(); err != nil {
		return nil, false, fmt.Errorf("claim task: %w", err)
	}
	return &claimed[0], taken, nil
}

func (s *Store) claim(ctx context.Context, tx *sql.Tx, taskID string, now int64) error {
	w := s.introduced()
	_, err := tx.ExecContext(ctx, `UPDATE tasks SET owner = ?, owner_name = ?, owned_since = ?, workspace = ?, claimed = `+nextClaim+` WHERE id = ?`,
		s.me, w.Name, now, w.Workspace, taskID)
	if err != nil {
		return fmt.Errorf("claim task: %w", err)
	}
	return nil
}

// ClaimLeft makes this sidecar's what others of its workspace left behind: the tasks with live messages, or
// whose model was at work, that no living sidecar has. It returns their ids.
func (s *Store) ClaimLeft(ctx context.Context, now int64) (_ []string, err error) {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("claim tasks: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // a no-op after Commit
	if err := s.attend(); err != nil {
		return nil, fmt.Errorf("claim tasks: %w", err)
	}
	found, err := s.standings(ctx, tx, `WHERE (id IN (SELECT task_id FROM heads WHERE message_id > 0) OR `+running+`)
		AND (workspace IS NULL OR workspace = ?)`, s.introduced().Workspace)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, st := range found {
		if st.Task.Elsewhere == nil || !st.Task.Elsewhere.Gone {
			continue
		}
		if err := s.claim(ctx, tx, st.Task.ID, now); err != nil {
			return nil, err
		}
		ids = append(ids, st.Task.ID)
	}
	if len(ids) == 0 {
		return nil, nil // nobody has to look for what has not changed
	}
	if err := tx.Commit(); err != nil {
		return nil, fmt.Errorf("claim tasks: %w", err)
	}
	return ids, nil
}

// Release gives up a task of this sidecar's, or all of them where taskID is empty.
func (s *Store) Release(ctx context.Context, taskID string) error {
	_, err := s.db.ExecContext(ctx, `UPDATE tasks SET owner = NULL, claimed = `+nextClaim+` WHERE owner = ? AND ? IN ('', id)`, s.me, taskID)
	if err != nil {
		return fmt.Errorf("release tasks: %w", err)
	}
	return nil
}

const (
	// Whether the row of this sidecar's task is as it is to be; NULL where it has no such task. And where the journal ends.
	saveQuery = `
SELECT number, hash, (SELECT (title, closed, chat, deleted) IS (?, ?, ?, ?) FROM tasks WHERE id = ? AND owner = ?)
FROM heads WHERE ` + ofJournal
	changeTaskQuery = `UPDATE tasks SET title = ?, closed = ?, chat = ?, deleted = ? WHERE id = ?`
	newTaskQuery    = `
INSERT INTO tasks (title, closed, chat, deleted, id, created_at, owner, owner_name, owned_since, workspace, claimed)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ` + nextClaim + `) ON CONFLICT (id) DO NOTHING`
	saveHeadsQuery = `
INSERT OR REPLACE INTO heads (task_id, message_id, number, open_asks, hash) VALUES (?, 0, ?, ?, NULL), ('', 0, ?, NULL, ?)`
)

// saveTask writes a task, but for its head, within a transaction, which has the writer's lock; its row only where
// it changes. It returns where the journal ends.
func (s *Store) saveTask(ctx context.Context, tx writer, task *protocol.Task) (end link, err error) {
	chat, err := chatOf(task)
	if err != nil {
		return end, err
	}
	row := [...]any{task.Title, task.Closed, chat, task.DeletedAt, task.ID, s.me}
	var same sql.NullBool
	err = tx.QueryRowContext(ctx, saveQuery, row[:]...).Scan(&end.seq, &end.hash, &same)
	switch {
	case err != nil:
	case !same.Valid:
		w := s.introduced()
		var saved sql.Result
		saved, err = tx.ExecContext(ctx, newTaskQuery, task.Title, task.Closed, chat, task.DeletedAt,
			task.ID, task.CreatedAt, s.me, w.Name, task.CreatedAt, w.Workspace)
		if err == nil && changedNothing(saved) {
			return end, ErrNotOwner
		}
	case !same.Bool:
		_, err = tx.ExecContext(ctx, changeTaskQuery, row[:5]...)
	}
	if err != nil {
		return end, fmt.Errorf("save task: %w", err)
	}
	return end, nil
}

// saveHeads writes the heads of a task and of the journal, which now ends there.
func saveHeads(ctx context.Context, tx writer, task *protocol.Task, end link) error {
	if _, err := tx.ExecContext(ctx, saveHeadsQuery, task.ID, task.LastNumber, task.OpenAsks, end.seq, end.hash); err != nil {
		return fmt.Errorf("save task: %w", err)
	}
	return nil
}

// changedNothing reports whether a statement changed no row. The driver always knows.
func changedNothing(done sql.Result) bool {
	n, err := done.RowsAffected()
	return err == nil && n == 0
}

// owned is the condition under which a row of a task may be written; its parameters are the task's id and
// the sidecar's.
const owned = `EXISTS (SELECT 1 FROM tasks WHERE id = ? AND owner = ?)`

// execOwned runs a statement that ends with the condition owned, and returns [ErrNotOwner] where that is why
// it changed nothing.
func (s *Store) execOwned(ctx context.Context, taskID, query string, args ...any) error {
	done, err := s.db.ExecContext(ctx, query, append(args, taskID, s.me)...)
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n > 0 {
		return err
	}
	var mine bool
	if err := s.db.QueryRowContext(ctx, `SELECT `+owned, taskID, s.me).Scan(&mine); err != nil {
		return err
	}
	if !mine {
		return ErrNotOwner
	}
	return nil
}
