package test

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"assent/protocol"
)

// adoption is a conversation with the sidecar about the store of an earlier version.
type adoption struct {
	*talk
	folder string // the servers'
	events []protocol.TaskEventParams
}

func adopt(t *testing.T, assent *exec.Cmd) *adoption {
	t.Helper()
	a := &adoption{talk: startTalk(t, assent), folder: t.TempDir()}
	a.Heard = func(method string, params json.RawMessage) {
		switch {
		case strings.HasPrefix(method, "storage/"):
			t.Errorf("%s: %s", method, params)
		case method == "task/event":
			var p protocol.TaskEventParams
			if err := json.Unmarshal(params, &p); err != nil {
				t.Error(err)
			}
			a.events = append(a.events, p)
		}
	}
	inquirer := func(era string) map[string]any {
		return map[string]any{"command": "inquirer", "env": map[string]any{"ERA": era, "LOG": filepath.Join(a.folder, "given")}}
	}
	a.do("initialize", map[string]any{
		"protocolVersion": 1, "clientInfo": map[string]any{"name": "a test", "version": "1"},
		"capabilities": map[string]any{"elicitation": true, "sampling": true},
		"configuration": map[string]any{"model": map[string]any{}, "servers": map[string]any{
			"legacy": inquirer("2025-06-18"), "modern": inquirer("2026-07-28"),
			"worker": map[string]any{"command": "worker", "cwd": a.folder},
		}},
	}, &struct{}{})
	return a
}

func (a *adoption) do(method string, params map[string]any, result any) {
	a.t.Helper()
	if err := a.Call(method, params, result); err != nil {
		a.t.Fatal(err)
	}
}

// until reads until an event is as wanted.
func (a *adoption) until(what string, match func(protocol.TaskEventParams) bool) protocol.TaskEventParams {
	a.t.Helper()
	for i := 0; ; i++ {
		for ; i < len(a.events); i++ {
			if match(a.events[i]) {
				return a.events[i]
			}
		}
		i--
		if _, err := a.Next(); err != nil {
			a.t.Fatalf("%s: %v", what, err)
		}
	}
}

// TestStoresOfEarlierVersionsAreAdopted opens what killed sidecars of earlier versions left, in the middle of everything.
func TestStoresOfEarlierVersionsAreAdopted(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "stores", "*.db.gz"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			home := newDaemonHome(t)
			dir := filepath.Join(home.folder, "data")
			unpack(t, file, dir)
			a := adopt(t, home.alone("--data-dir", dir))
			a.wantTasks("chat", "job", "legacy", "modern")
			opened := map[string]protocol.OpenTaskResult{}
			var listed protocol.ListTasksResult
			a.do("task/list", nil, &listed)
			for _, task := range listed.Tasks {
				var result protocol.OpenTaskResult
				a.do("task/open", map[string]any{"taskId": task.ID}, &result)
				opened[task.Title] = result
			}
			askIn := func(title string) (ask protocol.Ask) {
				for _, m := range opened[title].Messages {
					if body, ok := m.Body.(protocol.Ask); ok {
						ask = body
					}
				}
				if want := `{"a":"typed for ` + title + `"}`; string(ask.Draft) != want {
					t.Errorf("the draft of %s is %s, want %s", title, ask.Draft, want)
				}
				return ask
			}
			if ask := askIn("legacy"); ask.Outcome == nil || ask.Outcome.Reason != protocol.OutcomeRestarted {
				t.Errorf("the question of a legacy server is %+v", ask.Outcome)
			}
			ask := askIn("modern")
			if ask.Outcome != nil {
				t.Fatalf("the question of a modern server is %+v, want open", ask.Outcome)
			}
			if n := len(opened["chat"].Messages); n < 4 || opened["chat"].Task.Running {
				t.Errorf("the conversation has %d messages: %+v", n, opened["chat"].Task)
			}
			var policy protocol.ListPolicyResult
			a.do("policy/list", nil, &policy)
			var grants []protocol.Grant
			var rules []protocol.PolicyToolRule
			for _, e := range policy.Entries {
				switch e := e.(type) {
				case protocol.PolicyGrant:
					grants = append(grants, e.Grant)
				case protocol.PolicyToolRule:
					rules = append(rules, e)
				}
			}
			if len(grants) != 1 || grants[0].MaxRequests != 3 || grants[0].EndedAt != 0 {
				t.Errorf("the grants are %+v", grants)
			}
			if len(rules) == 0 || rules[0].Remember != protocol.RememberAlways {
				t.Errorf("the rules are %+v", rules)
			}

			// The call of the modern server goes on with the answer, and the MCP task to its end.
			task := opened["modern"].Task.ID
			a.do("askResponse", map[string]any{
				"taskId": task, "askId": ask.AskID, "askResponse": protocol.YesButtonClicked, "elicitationContent": map[string]any{"a": "answered"},
			}, &struct{}{})
			ended := func(task string) protocol.CallResult {
				p := a.until("the end of a call", func(p protocol.TaskEventParams) bool {
					_, ok := p.Event.(protocol.CallEnded)
					return ok && p.TaskID == task
				})
				return p.Event.(protocol.CallEnded).Result
			}
			if result, ok := ended(task).(protocol.ToolResult); !ok || result.IsError {
				t.Errorf("the call of the modern server ended with %+v", result)
			}
			given, err := os.ReadFile(filepath.Join(a.folder, "given"))
			if err != nil || !strings.Contains(string(given), `"a":"answered"`) {
				t.Errorf("the modern server was given %s, %v", given, err)
			}
			if err := os.WriteFile(filepath.Join(a.folder, "done"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if result, ok := ended(opened["job"].Task.ID).(protocol.ToolResult); !ok || len(result.Content) != 1 {
				t.Errorf("the MCP task ended with %+v", result)
			}
			a.kill()
			if said := home.run("journal", "verify", "--data-dir", dir); !strings.Contains(said, "whole") {
				t.Errorf("verify says %s", said)
			}
			if earlier := home.run("journal", "export", "--data-dir", dir, "--kind", "grantCreated"); !strings.Contains(earlier, `"maxRequests":3`) {
				t.Errorf("the journal does not have the grant of the earlier version: %s", earlier)
			}
		})
	}
}

// unpack puts a store into a new folder.
func unpack(t *testing.T, file, dir string) {
	t.Helper()
	packed, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	zip, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(zip)
	if err == nil {
		err = os.Mkdir(dir, 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "assent.db"), data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
