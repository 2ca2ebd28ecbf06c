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
	"time"

	"assent/protocol"
	"assent/sidecar/task"
	"assent/sidecar/task/ask"
	"assent/sidecar/task/store"
	"assent/sidecar/task/tasktest"
)

// filesWith returns the files of the store in a folder that contain a text.
func filesWith(t *testing.T, dir, text string) (have []string) {
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

// The answer to a question that outlives the sidecar is stored with its passwords until the server has it. After
// that, no file of the store has them: neither a free page nor the write-ahead log.
func TestAPasswordLeavesTheStoreWithItsAnswer(t *testing.T) {
	const password, asks = "correct-horse-battery-staple", 30
	login := form
	login.ElicitationRequest.Fields = []protocol.Field{
		protocol.StringField{FieldHead: protocol.FieldHead{Name: "password", Secret: true}},
		protocol.StringField{FieldHead: protocol.FieldHead{Name: "comment"}},
	}
	for name, leave := range map[string]func(t *testing.T, f *fixture, dir string, release func()) string{
		"at once": func(t *testing.T, f *fixture, dir string, release func()) string {
			t.Helper()
			t.Cleanup(f.keepStore(t))
			release()
			return dir
		},
		"once the disk works again": func(t *testing.T, f *fixture, dir string, release func()) string {
			t.Helper()
			t.Cleanup(f.keepStore(t))
			refuseWrites(t, dir)
			release()
			synctest.Wait()
			allowWrites(t, dir)
			tasktest.Await(t, f.events, func(protocol.StorageRecoveredParams) bool { return true })
			return dir
		},
		"at the start after a kill": func(t *testing.T, f *fixture, dir string, release func()) string {
			t.Helper()
			release()
			killed := t.TempDir() // the files after a kill
			for _, file := range []string{"assent.db", "assent.db-wal"} {
				content, err := os.ReadFile(filepath.Join(dir, file))
				if err == nil {
					err = os.WriteFile(filepath.Join(killed, file), content, 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if len(filesWith(t, killed, password)) == 0 {
				t.Fatal("the kill leaves no password")
			}
			next := newFixture(t, func() (*store.Store, error) { return store.Open(killed) })
			t.Cleanup(func() { next.close(t) })
			t.Cleanup(next.keepStore(t))
			time.Sleep(time.Minute) // of the bubble's clock
			return killed
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, func() (*store.Store, error) { return store.Open(dir) })
				t.Cleanup(func() { f.close(t) })
				call, err := f.task.StartCall("s", tool("t"))
				if err != nil {
					t.Fatal(err)
				}
				f.task.CallRound(call, &task.Round{Number: 1, Required: json.RawMessage(`{}`)})
				var seen []string
				for i := range asks {
					q := question(login)
					q.Key = fmt.Sprintf("%s1\x00%d", ask.RoundPrefix(call), i)
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
				if len(filesWith(t, dir, password)) == 0 {
					t.Fatal("the answers are not kept for a restart")
				}
				left := leave(t, f, dir, func() { f.task.Release(ask.RoundPrefix(call), &task.Ended{Reason: protocol.OutcomeCallEnded}) })
				synctest.Wait()
				if have := filesWith(t, left, password); len(have) > 0 {
					t.Errorf("the password is in %v", have)
				}
				if len(filesWith(t, left, strings.Repeat("x", 300))) == 0 {
					t.Error("the rest of the answers is gone as well")
				}
			})
		})
	}
}

// A draft is saved before the person marks a field as secret. It leaves the store with the answer.
func TestADraftOfAMarkedFieldLeavesTheStore(t *testing.T) {
	const password = "correct-horse-battery-staple"
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func() (*store.Store, error) { return store.Open(dir) })
		defer f.close(t)
		defer f.keepStore(t)()
		q := form
		q.ElicitationRequest.Fields = []protocol.Field{protocol.StringField{FieldHead: protocol.FieldHead{Name: "word"}}}
		asked := question(q)
		check := asked.Check
		asked.Check = func(p *protocol.AskResponseParams) (*task.Answer, error) {
			answer, err := check(p)
			answer.SecretFields = p.SecretFields
			return answer, err
		}
		done := f.ask(t.Context(), asked)
		ask, _ := tasktest.AwaitAsk(t, f.events)
		typed := json.RawMessage(`{"word":"` + password + `"}`)
		if err := f.task.SaveDraft(t.Context(), ask.AskID, typed); err != nil {
			t.Fatal(err)
		}
		if len(filesWith(t, dir, password)) == 0 {
			t.Fatal("the draft is not saved")
		}
		_, err := f.task.Answer(t.Context(), &protocol.AskResponseParams{
			AskID: ask.AskID, AskResponse: protocol.YesButtonClicked, ElicitationContent: typed, SecretFields: []string{"word"},
		}, "a test")
		if err != nil {
			t.Fatal(err)
		}
		<-done
		synctest.Wait()
		if have := filesWith(t, dir, password); len(have) > 0 {
			t.Errorf("the password is in %v", have)
		}
	})
}
