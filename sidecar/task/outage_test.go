package task_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/task"
	"assent/sidecar/task/store"
	"assent/sidecar/task/tasktest"
)

// allowWrites ends refuseWrites.
func allowWrites(t *testing.T, dir string) {
	t.Helper()
	alter(t, dir, notFull)
}

// alter changes a store in a way that Assent does not.
func alter(t *testing.T, dir, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "assent.db"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(statement)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// keepStore maintains the store until the returned function is called.
func (f *fixture) keepStore(t *testing.T) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.registry.KeepStore(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}

// told returns the reports about the store: "failed: " or "recovered: " and the message.
func (f *fixture) told() []string {
	var said []string
	for _, e := range f.events.All() {
		switch e := e.(type) {
		case protocol.StorageFailedParams:
			said = append(said, "failed: "+e.Message)
		case protocol.StorageRecoveredParams:
			said = append(said, "recovered: "+e.Message)
		}
	}
	return said
}

// wantTold checks the reports about the store: each begins and contains these texts, in this order.
func (f *fixture) wantTold(t *testing.T, want ...[2]string) {
	t.Helper()
	said := f.told()
	ok := len(said) == len(want)
	for i := range min(len(said), len(want)) {
		ok = ok && strings.HasPrefix(said[i], want[i][0]) && strings.Contains(said[i], want[i][1])
	}
	if !ok {
		t.Errorf("told %q, want %q", said, want)
	}
}

// onDisk opens a store as the next sidecar does.
func onDisk(t *testing.T, dir string, read func(*store.Store)) {
	t.Helper()
	s, err := store.OpenReadOnly(dir)
	if err != nil {
		t.Fatal(err)
	}
	read(s)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// live makes one change of every kind, and returns a check of the store.
func (f *fixture) live(t *testing.T) (check func(*store.Store)) {
	t.Helper()
	call, err := f.task.StartCall("s", tool("ends"))
	if err != nil {
		t.Fatal(err)
	}
	f.task.EndCall(call, protocol.CallCancelled{})
	round, err := f.task.StartCall("s", tool("has a round"))
	if err != nil {
		t.Fatal(err)
	}
	f.task.CallRound(round, &task.Round{Number: 1, Required: json.RawMessage(`{"x":1}`)})
	seen := []string{}
	for _, e := range f.events.All() {
		if p, ok := e.(protocol.TaskEventParams); ok {
			if added, ok := p.Event.(protocol.MessageAdded); ok {
				if a, ok := added.Message.Body.(protocol.Ask); ok {
					seen = append(seen, a.AskID)
				}
			}
		}
	}
	answered := f.ask(t.Context(), question(form))
	first, firstMessage := tasktest.AwaitAsk(t, f.events, seen...)
	if _, err := f.task.Answer(t.Context(), &protocol.AskResponseParams{AskID: first.AskID, AskResponse: protocol.NoButtonClicked}, "me"); err != nil {
		t.Fatal(err)
	}
	<-answered
	ctx, giveUp := context.WithCancel(t.Context())
	open := f.ask(ctx, question(form))
	second, _ := tasktest.AwaitAsk(t, f.events, append(seen, first.AskID)...)
	if err := f.task.SaveDraft(t.Context(), second.AskID, json.RawMessage(`{"typed":"x"}`)); err != nil {
		t.Fatal(err)
	}
	for _, m := range f.messages(t) {
		if a, ok := m.Body.(protocol.Ask); ok && a.AskID == second.AskID && string(a.Draft) != `{"typed":"x"}` {
			t.Errorf("the draft in memory = %s", a.Draft)
		}
	}
	giveUp()
	<-open // the server ends the ask; the draft stays
	info := f.task.Info()
	return func(s *store.Store) {
		t.Helper()
		tasks, err := s.Tasks(t.Context())
		if err != nil || len(tasks) == 0 {
			t.Fatalf("Tasks = %v, %v", tasks, err)
		}
		for _, kept := range tasks {
			if kept.ID == info.ID && kept.LastNumber < info.LastNumber {
				t.Errorf("the task has the number %d, want %d at least", kept.LastNumber, info.LastNumber)
			}
		}
		message := func(id int64) protocol.Body {
			e, err := s.Message(t.Context(), info.ID, id)
			if err != nil || e == nil {
				t.Fatalf("message %d is not on disk: %v", id, err)
			}
			return e.Message.Body
		}
		if c := message(call).(protocol.Call); c.Result == nil {
			t.Errorf("the call that ended = %+v", c)
		}
		if c := message(round).(protocol.Call); c.Result != nil {
			t.Errorf("the call that goes on = %+v", c)
		}
		if a := message(firstMessage.ID).(protocol.Ask); a.Outcome == nil || a.Outcome.Reason != protocol.OutcomeDeclined {
			t.Errorf("the ask = %+v", a)
		}
		drafts, err := s.Drafts(t.Context(), info.ID)
		if err != nil || string(drafts[second.AskID]) != `{"typed":"x"}` {
			t.Errorf("Drafts = %s, %v", drafts, err)
		}
		rounds, err := s.Rounds(t.Context(), info.ID)
		if err != nil || rounds[round].Number != 1 {
			t.Errorf("Rounds = %v, %v", rounds, err)
		}
		records, _, err := s.Journal(t.Context(), store.JournalFilter{TaskID: info.ID}, 1000, 1<<20)
		settled := 0
		for _, r := range records {
			if r.AskID == first.AskID {
				settled++
			}
		}
		if err != nil || settled != 2 { // opened and settled
			t.Errorf("the journal has %d records of the ask, %v", settled, err)
		}
	}
}

func TestRefusedChangesAreSavedWithTheNextWrite(t *testing.T) {
	dir := t.TempDir()
	f := newFixture(t, func() (*store.Store, error) { return store.Open(dir) })
	before := f.live(t)
	refuseWrites(t, dir)
	during := f.live(t)
	onDisk(t, dir, before) // the store is intact
	allowWrites(t, dir)
	if _, err := f.task.Rename("The disk works"); err != nil {
		t.Fatal(err)
	}
	// Nothing was closed, but the changes are on disk.
	onDisk(t, dir, before)
	onDisk(t, dir, during)
	f.close(t)
	f.wantTold(t, [2]string{"failed: ", "the disk is full"}, [2]string{"recovered: Tasks are saved on disk again", ""})
}

func TestRefusedChangesAreSavedWhenTheDiskWorksAgain(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func() (*store.Store, error) { return store.Open(dir) })
		stop := f.keepStore(t)
		defer f.close(t)
		defer stop()
		refuseWrites(t, dir)
		check := f.live(t)
		time.Sleep(time.Hour)
		synctest.Wait()
		f.wantTold(t, [2]string{"failed: Tasks cannot be saved on disk", "the disk is full"})
		if said := f.registry.StorageFailure(); !strings.Contains(said, "the disk is full") {
			t.Errorf("StorageFailure = %q", said)
		}
		if !f.registry.Unsaved() {
			t.Error("while the disk is full, nothing is unsaved")
		}
		allowWrites(t, dir)
		time.Sleep(time.Minute)
		synctest.Wait()
		f.wantTold(t, [2]string{"failed: ", ""}, [2]string{"recovered: Tasks are saved on disk again", ""})
		if said := f.registry.StorageFailure(); said != "" {
			t.Errorf("StorageFailure = %q", said)
		}
		if f.registry.Unsaved() {
			t.Error("once the disk works again, something is unsaved")
		}
		onDisk(t, dir, check)

		refuseWrites(t, dir) // and again
		if _, err := f.task.Rename("x"); err != nil {
			t.Fatal(err)
		}
		allowWrites(t, dir)
		time.Sleep(time.Minute)
		synctest.Wait()
		if said := f.told(); len(said) != 4 {
			t.Errorf("of two failures was told %q", said)
		}
	})
}

func TestRefusedChangesAreSavedAtTheEnd(t *testing.T) {
	dir := t.TempDir()
	f := newFixture(t, func() (*store.Store, error) { return store.Open(dir) })
	refuseWrites(t, dir)
	check := f.live(t)
	allowWrites(t, dir)
	f.close(t)
	onDisk(t, dir, check)
}

// A change that the store never accepts does not keep the rest of its task from the disk.
func TestAMessageThatCannotBeSavedIsAlone(t *testing.T) {
	dir := t.TempDir()
	f := newFixture(t, func() (*store.Store, error) { return store.Open(dir) })
	defer f.close(t)
	id, err := f.task.StartCall("s", protocol.CallToolRequest{ToolName: "t", Arguments: json.RawMessage("{")})
	if err != nil {
		t.Fatal(err)
	}
	f.task.EndCall(id, protocol.CallCancelled{})
	onDisk(t, dir, f.live(t))
	if m := f.messages(t); len(m) == 0 || m[0].ID != id {
		t.Error("it is not in memory either")
	}
	if !f.registry.Unsaved() {
		t.Error("it is not unsaved")
	}
	if said := f.told(); len(said) != 1 {
		t.Errorf("told %q", said)
	}
}

// inTheWay makes a file where the store's folder should be, so that no process can open a store there,
// not even root's.
func inTheWay(t *testing.T) (dir string, remove func()) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, func() {
		t.Helper()
		if err := os.Remove(dir); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAStoreThatCouldNotBeOpenedTakesEverythingWhenItCan(t *testing.T) {
	dir, remove := inTheWay(t)
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func() (*store.Store, error) { return store.Open(dir) })
		stop := f.keepStore(t)
		defer f.close(t)
		defer stop()
		f.wantTold(t, [2]string{"failed: Tasks cannot be saved on disk", dir})
		check := f.live(t)
		wantUnsaved := func(want bool) {
			t.Helper()
			for _, m := range f.messages(t) {
				if m.Unsaved != want {
					t.Errorf("that message %d is unsaved is %v, want %v", m.ID, m.Unsaved, want)
				}
			}
		}
		wantUnsaved(true) // although the store in memory has them
		if !f.registry.Unsaved() {
			t.Error("with the store in memory, nothing is unsaved")
		}
		remove()
		time.Sleep(time.Minute)
		synctest.Wait()
		f.wantTold(t, [2]string{"failed: ", ""}, [2]string{"recovered: Tasks are saved on disk again", ""})
		wantUnsaved(false)
		onDisk(t, dir, check)
		onDisk(t, dir, f.live(t))
	})
}

func TestANewerStoreIsNotTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		f := newFixture(t, func() (*store.Store, error) {
			tries++
			return nil, fmt.Errorf("open it: %w: update Assent", store.ErrNewer)
		})
		stop := f.keepStore(t)
		defer f.close(t)
		defer stop()
		f.live(t)
		time.Sleep(time.Hour)
		synctest.Wait()
		f.wantTold(t, [2]string{"failed: ", "newer Assent: update Assent"})
		if tries != 1 {
			t.Errorf("it was opened %d times", tries)
		}
	})
}

// If the store refuses a change of a finished message, the change stays in memory like others.
func TestAPageThatIsDoneWhileTheDiskIsFull(t *testing.T) {
	dir := t.TempDir()
	f := newFixture(t, func() (*store.Store, error) { return store.Open(dir) })
	defer f.close(t)
	done := f.ask(t.Context(), question(protocol.McpURLElicitation{Origin: protocol.Origin{ServerName: "s"}, URL: "https://example.com"}))
	ask, m := tasktest.AwaitAsk(t, f.events)
	if _, err := f.task.Answer(t.Context(), &protocol.AskResponseParams{AskID: ask.AskID, AskResponse: protocol.YesButtonClicked}, "me"); err != nil {
		t.Fatal(err)
	}
	<-done
	refuseWrites(t, dir)
	defer allowWrites(t, dir)
	f.task.Completed(m.ID)
	if o := f.messages(t)[0].Body.(protocol.Ask).Outcome; o.CompletedAt == 0 {
		t.Errorf("the page is not done: %+v", o)
	}
}

// scratch damages the page of a closed store that contains a text. It makes the file so large that Open does
// not read all of it.
func scratch(t *testing.T, dir, text string) {
	t.Helper()
	path := filepath.Join(dir, "assent.db")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.LastIndex(data, []byte(text))
	if at < 0 {
		t.Fatalf("the store has no %q", text)
	}
	page := at / 4096 * 4096
	copy(data[page:page+4096], bytes.Repeat([]byte{0xff}, 4096))
	if err := errors.Join(os.WriteFile(path, data, 0o600), os.Truncate(path, 65<<20)); err != nil {
		t.Fatal(err)
	}
}

func TestDamageThatIsFoundWhileRunning(t *testing.T) {
	dir := t.TempDir()
	f := newFixture(t, func() (*store.Store, error) { return store.Open(dir) })
	for range 40 {
		id, err := f.task.StartCall("s", tool(strings.Repeat("x", 800)))
		if err != nil {
			t.Fatal(err)
		}
		f.task.EndCall(id, protocol.CallCancelled{})
	}
	f.close(t)
	scratch(t, dir, `{"id":21,`)

	synctest.Test(t, func(t *testing.T) {
		r, events := tasktest.Registry(t, func() (*store.Store, error) { return store.Open(dir) })
		tk, err := r.Get("id-1")
		if err != nil {
			t.Fatal(err)
		}
		f := &fixture{r, events, tk}
		stop := f.keepStore(t)
		defer stop()
		f.wantTold(t)
		messages := f.messages(t)
		if len(messages) < 10 || len(messages) > 25 {
			t.Fatalf("%d messages can be read", len(messages))
		}
		if n, ok := messages[0].Body.(protocol.Notice); !ok || !strings.Contains(n.Text, "damaged") {
			t.Errorf("in the place of the others is %+v", messages[0])
		}
		f.wantTold(t, [2]string{"failed: The store is damaged", "The next start sets the store aside"})
		if _, err := tk.StartCall("s", tool("in memory")); err != nil {
			t.Fatal(err)
		}
		if n := len(f.messages(t)); n != len(messages)+1 {
			t.Errorf("then %d messages can be read, want %d", n, len(messages)+1)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		f.wantTold(t, [2]string{"failed: ", ""})
		stop()
		_ = r.Close() // it is damaged

		r, events = tasktest.Registry(t, func() (*store.Store, error) { return store.Open(dir) })
		f = &fixture{registry: r, events: events}
		if tasks, err := r.List(); err != nil || len(tasks) != 0 {
			t.Errorf("the next start has %d tasks, %v", len(tasks), err)
		}
		f.wantTold(t, [2]string{"recovered: The store was damaged. It was set aside as ", filepath.Join(dir, "assent.db.damaged-")})
		f.close(t)
	})
}

func TestDamageThatIsFoundByTheFirstReads(t *testing.T) {
	dir := t.TempDir()
	f := newFixture(t, func() (*store.Store, error) { return store.Open(dir) })
	if _, err := f.task.Rename("to be scratched"); err != nil {
		t.Fatal(err)
	}
	f.close(t)
	scratch(t, dir, "to be scratched")
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func() (*store.Store, error) { return store.Open(dir) })
		stop := f.keepStore(t)
		defer f.close(t)
		defer stop()
		f.wantTold(t, [2]string{"failed: Tasks cannot be saved on disk", "malformed"})
		check := f.live(t)
		time.Sleep(time.Minute)
		synctest.Wait()
		f.wantTold(t, [2]string{"failed: ", ""}, [2]string{"recovered: Tasks are saved on disk again", "set aside as " + dir})
		onDisk(t, dir, check)
	})
}

// A damaged message is shown as such, and is not overwritten, so that it can be recovered by other
// means.
func TestADamagedMessageIsNotWrittenOver(t *testing.T) {
	dir := t.TempDir()
	f := newFixture(t, func() (*store.Store, error) { return store.Open(dir) })
	if _, err := f.task.StartCall("s", tool("t")); err != nil {
		t.Fatal(err)
	}
	f.close(t)
	alter(t, dir, `UPDATE messages SET body = 'half of what'`)
	for range 2 {
		r, _ := tasktest.Registry(t, func() (*store.Store, error) { return store.Open(dir) })
		tk, err := r.Get("id-1")
		if err != nil {
			t.Fatal(err)
		}
		opened, err := tk.Open(t.Context(), 0, 0, 0)
		if err != nil || len(opened.Messages) != 1 {
			t.Fatalf("%d messages, %v", len(opened.Messages), err)
		}
		if n, ok := opened.Messages[0].Body.(protocol.Notice); !ok || n.Level != protocol.NoticeWarning {
			t.Errorf("the message = %+v", opened.Messages[0])
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	onDisk(t, dir, func(s *store.Store) {
		e, err := s.Message(t.Context(), "id-1", 1)
		if err != nil || e == nil || !e.Damaged {
			t.Errorf("the message on disk = %+v, %v", e, err)
		}
	})
}

// An act of a person counts while the store cannot be written. Until it is on disk, its result, its event and its
// message report that it is unsaved.
func TestAnActThatIsNotSavedSaysSo(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func() (*store.Store, error) { return store.Open(dir) })
		defer f.close(t)
		stop := f.keepStore(t)
		defer stop()
		var done [2]<-chan asked
		var asks [2]protocol.Ask
		for i := range done {
			done[i] = f.ask(t.Context(), question(form))
			asks[i], _ = tasktest.AwaitAsk(t, f.events, asks[0].AskID)
		}
		// unsaved returns the messages that report it: in a reading of the task, and in the newest
		// event of each.
		unsaved := func() (read, told []int64) {
			t.Helper()
			for _, m := range f.messages(t) {
				if m.Unsaved {
					read = append(read, m.ID)
				}
			}
			newest := map[int64]bool{}
			for _, e := range f.events.All() {
				p, ok := e.(protocol.TaskEventParams)
				if !ok {
					continue
				}
				switch event := p.Event.(type) {
				case protocol.MessageAdded:
					newest[event.Message.ID] = p.Unsaved
				case protocol.AskSettled:
					newest[event.MessageID] = p.Unsaved
				}
			}
			for id := range int64(10) {
				if newest[id] {
					told = append(told, id)
				}
			}
			return read, told
		}
		answer := func(i int, want bool) {
			t.Helper()
			got, err := f.task.Answer(t.Context(), &protocol.AskResponseParams{AskID: asks[i].AskID, AskResponse: protocol.YesButtonClicked}, "a test")
			if err != nil || got.Unsaved != want {
				t.Errorf("Answer = %+v, %v, want that it is unsaved: %v", got, err, want)
			}
			<-done[i]
		}
		answer(0, false)
		refuseWrites(t, dir)
		answer(1, true)
		if _, err := f.task.Say(protocol.UserMessage{Text: "hello"}); err != nil {
			t.Fatal(err)
		}
		want := []int64{2, 3}
		if read, told := unsaved(); !cmp.Equal(read, want) || !cmp.Equal(told, want) {
			t.Errorf("unsaved are %v as they are read, and %v as they were announced, want %v", read, told, want)
		}
		allowWrites(t, dir)
		tasktest.Await(t, f.events, func(protocol.StorageRecoveredParams) bool { return true })
		if read, _ := unsaved(); len(read) > 0 {
			t.Errorf("the disk works again, and %v are unsaved", read)
		}
	})
}

func TestAStoreThatIsMovedBackIsAtItsPathAgain(t *testing.T) {
	home := t.TempDir()
	dir, away := filepath.Join(home, "data"), filepath.Join(home, "away")
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func() (*store.Store, error) { return store.Open(dir) })
		stop := f.keepStore(t)
		defer f.close(t)
		defer stop()
		if err := errors.Join(os.Rename(dir, away), os.WriteFile(dir, nil, 0o600)); err != nil { // it cannot be written again
			t.Fatal(err)
		}
		if _, err := f.task.Rename("away"); err != nil {
			t.Fatal(err)
		}
		if !f.registry.Unsaved() {
			t.Error("while the file is elsewhere, nothing is unsaved")
		}
		if err := errors.Join(os.Remove(dir), os.Rename(away, dir)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if f.registry.Unsaved() {
			t.Error("once the file is back, something is unsaved")
		}
	})
}
