package task_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"assent/protocol"
	"assent/sidecar/store"
	"assent/sidecar/task"
	"assent/sidecar/task/tasktest"
)

// The answer to a question that outlives the sidecar is stored with its passwords until the server has it. After that
// no file of the store has them, not in a page that is free and not in the write-ahead log.
func TestAPasswordLeavesTheStoreWithItsAnswer(t *testing.T) {
	dir := t.TempDir()
	// files returns which files of the store have a text.
	files := func(text string) (have []string) {
		t.Helper()
		all, err := filepath.Glob(filepath.Join(dir, "assent.db*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range all {
			content, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if n := bytes.Count(content, []byte(text)); n > 0 {
				have = append(have, fmt.Sprintf("%s: %d", filepath.Base(name), n))
			}
		}
		return have
	}
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func() (*store.Store, error) { return store.Open(dir) })
		defer f.close(t)
		stop := f.keepStore(t)
		defer stop()
		login := form
		login.ElicitationRequest.Fields = []protocol.Field{
			protocol.StringField{FieldHead: protocol.FieldHead{Name: "password", Secret: true}},
			protocol.StringField{FieldHead: protocol.FieldHead{Name: "comment"}},
		}
		const password, asks = "correct-horse-battery-staple", 30
		call, err := f.task.StartCall("s", tool("t"))
		if err != nil {
			t.Fatal(err)
		}
		if !f.task.CallRound(call, &task.Round{Number: 1, Required: json.RawMessage(`{}`)}) {
			t.Fatal("the round was not kept")
		}
		var seen []string
		for i := range asks {
			q := question(login)
			q.Key = fmt.Sprintf("%s1\x00%d", task.RoundPrefix(call), i)
			done := f.ask(t.Context(), q)
			ask, _ := tasktest.AwaitAsk(t, f.events, seen...)
			seen = append(seen, ask.AskID)
			content := fmt.Sprintf(`{"password":"%s-%d","comment":"%s"}`, password, i, strings.Repeat("x", 300*(i%7)))
			_, err := f.task.Answer(t.Context(), &protocol.AskResponseParams{
				AskID: ask.AskID, AskResponse: protocol.YesButtonClicked, ElicitationContent: json.RawMessage(content),
			}, "a test")
			if err != nil {
				t.Fatal(err)
			}
			<-done
		}
		if len(files(password)) == 0 {
			t.Fatal("the answers are not kept for a restart")
		}
		f.task.Release(task.RoundPrefix(call), &task.Ended{Reason: protocol.OutcomeCallEnded})
		synctest.Wait()
		if have := files(password); len(have) > 0 {
			t.Errorf("the password is in %v", have)
		}
		if len(files(strings.Repeat("x", 300))) == 0 {
			t.Error("the rest of the answers is gone as well")
		}
	})
}
