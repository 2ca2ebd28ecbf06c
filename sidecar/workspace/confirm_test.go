package workspace_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/workspace"
)

// confirmed is a window with one server, which a file of its workspace configures, and the person's answers.
type confirmed struct {
	*window
	folder, program string
	// asked holds the questions to the person, and decisions their answers, in order; "" is no decision.
	asked     []protocol.ConfirmServerParams
	decisions []protocol.ServerDecision
}

// newWorkspace opens a window on a folder that holds both the file and the conversations.
func newWorkspace(t *testing.T, folder string, program string) *confirmed {
	t.Helper()
	w := &confirmed{folder: folder, program: program, window: &window{
		frontEnd: newFrontEndOf(t, workspace.Options{DataDir: filepath.Join(folder, "data"), SharedDirs: workspace.SharedDirs{PolicyRoot: folder}}),
		messages: map[int64]protocol.Message{}, written: map[int64]string{}, model: newEndpoint(t),
	}}
	w.heard = w.confirm
	w.call("initialize", map[string]any{
		"protocolVersion": 1, "clientInfo": map[string]any{"name": "a window", "version": "1"},
		"capabilities": map[string]any{"elicitation": true, "confirmServers": true},
		"configuration": map[string]any{
			"workspaceFolders": []any{map[string]any{"name": "ws", "path": folder}},
			"model":            map[string]any{"endpoints": []any{map[string]any{"provider": "openai", "baseUrl": w.model.URL + "/v1", "models": []string{"gpt-test"}}}},
		},
	}, nil)
	w.call("task/create", map[string]any{}, &w.task)
	return w
}

// confirm answers a server/confirm, and reports whether the message was one.
func (w *confirmed) confirm(message string) bool {
	w.t.Helper()
	var request struct {
		ID     json.RawMessage
		Method string
		Params protocol.ConfirmServerParams
	}
	w.decode(json.RawMessage(message), &request)
	if request.Method != "server/confirm" {
		return false
	}
	w.asked = append(w.asked, request.Params)
	if len(w.decisions) == 0 {
		w.t.Fatalf("the person was asked once too often: %s", message)
	}
	decision := w.decisions[0]
	w.decisions = w.decisions[1:]
	answer, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": request.ID, "result": protocol.ConfirmServerResult{Decision: decision}})
	if err != nil {
		w.t.Fatal(err)
	}
	w.send(string(answer))
	return true
}

// write configures the server in the folder's file.
func write(t *testing.T, folder string, server map[string]any) {
	t.Helper()
	text, err := json.Marshal(map[string]any{"servers": map[string]any{"t": server}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(folder, ".vscode"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, ".vscode", "mcp.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// every way in which a server can be started.
var starts = map[string]func(w *confirmed) error{
	"the list of tools": func(w *confirmed) error { return w.try("tools/list", map[string]any{"serverName": "t"}, nil) },
	"the list of resources": func(w *confirmed) error {
		return w.try("resources/list", map[string]any{"serverName": "t"}, nil)
	},
	"start":   func(w *confirmed) error { return w.try("server/start", map[string]any{"serverName": "t"}, nil) },
	"restart": func(w *confirmed) error { return w.try("server/restart", map[string]any{"serverName": "t"}, nil) },
	"a call": func(w *confirmed) error {
		w.call("call/start", map[string]any{
			"taskId": w.task.ID, "serverName": "t", "request": map[string]any{"type": "tools/call", "toolName": "echo", "arguments": map[string]any{}},
		}, nil)
		w.until("the end of the call", func() bool {
			return len(of[protocol.Call](w.window)) > 0 && last[protocol.Call](w.window).Result != nil
		})
		if lost, ok := last[protocol.Call](w.window).Result.(protocol.CallLost); ok {
			return protocol.Errorf(protocol.CodeServerFailed, "%s", lost.Reason)
		}
		if failed, ok := last[protocol.Call](w.window).Result.(protocol.CallError); ok {
			return protocol.Errorf(protocol.CodeServerFailed, "%s", failed.Message)
		}
		return nil
	},
	"a message": func(w *confirmed) error {
		w.model.then(says("Hello."))
		w.say("Hi.")
		w.idle()
		for _, n := range of[protocol.Notice](w.window) {
			return protocol.Errorf(protocol.CodeServerFailed, "%s", n.Text)
		}
		return nil
	},
}

func TestNothingOfAWorkspaceRunsUnconfirmed(t *testing.T) {
	program := installToolServer(t)
	for name, start := range starts {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			mark := filepath.Join(folder, "ran")
			write(t, folder, map[string]any{"command": program, "env": map[string]any{"TOOLSERVER_MARK": mark}})
			ran := func() bool {
				_, err := os.Stat(mark)
				return err == nil
			}
			w := newWorkspace(t, folder, program)
			w.decisions = []protocol.ServerDecision{protocol.ServerRefused}
			if err := start(w); err == nil || !strings.Contains(err.Error(), "ou refused to run it as configured in ") {
				t.Errorf("the start of a refused server: %v", err)
			}
			if ran() || len(w.asked) != 1 {
				t.Fatalf("it ran: %v; the person was asked %d times", ran(), len(w.asked))
			}
			// Nothing but the person's own start asks again.
			if err := starts["the list of tools"](w); err == nil || ran() || len(w.asked) != 1 {
				t.Errorf("a refused server: %v, it ran: %v, asked %d times", err, ran(), len(w.asked))
			}
			w.decisions = []protocol.ServerDecision{protocol.ServerAllowed}
			if err := starts["start"](w); err != nil || !ran() {
				t.Errorf("a confirmed server: %v, it ran: %v", err, ran())
			}
			w.close()
		})
	}
}

func TestADefinitionIsConfirmedOnce(t *testing.T) {
	program := installToolServer(t)
	folder := t.TempDir()
	first := map[string]any{"command": program, "args": []string{"--", "--token", "hunter2hunter2", "a"}, "env": map[string]any{"MODE": "clear-value"}}
	second := map[string]any{"command": program, "args": []string{"--", "--token", "hunter2hunter2", "b"}, "env": map[string]any{"MODE": "clear-value"}}
	third := map[string]any{"command": program, "args": []string{"--", "--token", "hunter2hunter2", "b"}, "env": map[string]any{"MODE": "another"}}
	shown := func(last, mode string) protocol.ServerDefinition {
		return protocol.ServerDefinition{
			Transport: protocol.TransportStdio, Command: program, Args: []string{"--", "--token", "hunter2hunter2", last}, Cwd: folder, Env: []protocol.DefinedValue{{Name: "MODE", Value: mode}},
			Program: program,
		}
	}
	was := func(last, mode string) *protocol.ServerDefinition {
		d := shown(last, mode)
		return &d
	}
	masked := was("a", "clear-value")
	masked.Args[2] = "…"
	tests := []struct {
		name   string
		server map[string]any
		asked  []protocol.ConfirmServerParams
	}{
		{"new", first, []protocol.ConfirmServerParams{{Definition: shown("a", "clear-value")}}},
		{"the same, in a later window", first, nil},
		{"another argument", second, []protocol.ConfirmServerParams{{Definition: shown("b", "clear-value"), Earlier: masked}}},
		{"another value in the environment", third, []protocol.ConfirmServerParams{{Definition: shown("b", "another"), Earlier: was("b", "clear-value")}}},
		{"as it was first", first, nil},
	}
	for _, tt := range tests {
		write(t, folder, tt.server)
		w := newWorkspace(t, folder, program)
		for range tt.asked {
			w.decisions = append(w.decisions, protocol.ServerAllowed)
		}
		for range 2 {
			if err := starts["restart"](w); err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
		}
		for i := range tt.asked {
			tt.asked[i].ServerName, tt.asked[i].Source, tt.asked[i].Line = "t", filepath.Join(folder, ".vscode", "mcp.json"), 1
		}
		if diff := cmp.Diff(tt.asked, w.asked); diff != "" {
			t.Errorf("%s: what the person was asked (-want +got):\n%s", tt.name, diff)
		}
		if tt.name == "as it was first" {
			var journal protocol.ListJournalResult
			w.call("journal/list", map[string]any{"kind": protocol.JournalServerDecided}, &journal)
			if len(journal.Records) != 3 || !strings.Contains(journal.Lines[0], "allowed in a window: to run it as configured in "+folder) {
				t.Errorf("the journal has %q", journal.Lines)
			}
		}
		w.close()
	}
	for _, file := range []string{"assent.db", "assent.db-wal"} {
		kept, err := os.ReadFile(filepath.Join(folder, "data", file))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		for _, secret := range []string{"hunter2hunter2"} {
			if strings.Contains(string(kept), secret) {
				t.Errorf("%s has the value %s", file, secret)
			}
		}
	}
}

func TestAServerIsNotConfirmedByAFrontEndThatCannotAsk(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, map[string]any{"command": installToolServer(t)})
	f := newFrontEnd(t)
	folders, err := json.Marshal([]any{map[string]any{"name": "ws", "path": folder}})
	if err != nil {
		t.Fatal(err)
	}
	f.result(0, "initialize", `{"protocolVersion":1,"clientInfo":{"name":"a test","version":"1"},"capabilities":{},"configuration":{"workspaceFolders":`+string(folders)+`,"model":{}}}`, &protocol.InitializeResult{})
	f.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"serverName":"t"}}`)
	for {
		if m := f.next(); strings.Contains(m, `"id":1`) {
			if !strings.Contains(m, "you cannot be asked here whether it may run") {
				t.Errorf("the sidecar said %s", m)
			}
			break
		}
	}
	f.close()
}

// A person who has gone away has decided nothing; they are asked again at their own start, and not at every message.
func TestAQuestionThatIsPutAwayIsNotAskedAtEveryMessage(t *testing.T) {
	program := installToolServer(t)
	folder := t.TempDir()
	write(t, folder, map[string]any{"command": program})
	w := newWorkspace(t, folder, program)
	w.decisions = []protocol.ServerDecision{""}
	for range 2 {
		if err := starts["the list of tools"](w); err == nil || !strings.Contains(err.Error(), "ou did not decide") {
			t.Errorf("a server that nobody confirmed: %v", err)
		}
	}
	w.decisions = []protocol.ServerDecision{protocol.ServerAllowed}
	if err := starts["start"](w); err != nil {
		t.Error(err)
	}
	w.close()
}
