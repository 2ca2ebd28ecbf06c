package test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"assent/protocol"
	"assent/sidecar/terminal"
)

// callInTerminal is a command that asks line by line. It has a folder of its own, with the server "asker".
type callInTerminal struct {
	t      *testing.T
	assent *exec.Cmd
	stdin  io.WriteCloser
	stderr *bufio.Reader
	stdout strings.Builder
}

// callAsker starts a call of a tool that asks. The conversation is in the home's folder "data".
func callAsker(t *testing.T, h daemonHome, folder string, flags ...string) *callInTerminal {
	t.Helper()
	c := &callInTerminal{t: t, assent: h.command(append([]string{"call", "asker", "ask", "--trust"}, flags...)...)}
	c.assent.Dir, c.assent.Stdout = folder, &c.stdout
	var err error
	if c.stdin, err = c.assent.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stderr, err := c.assent.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.stderr = bufio.NewReader(stderr)
	if err := c.assent.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.assent.Process.Kill() // or it has ended
		_ = c.assent.Wait()
	})
	return c
}

// reads reads stderr until a line with a text.
func (c *callInTerminal) reads(text string) {
	c.t.Helper()
	var all strings.Builder
	for {
		line, err := c.stderr.ReadString('\n')
		all.WriteString(line)
		if strings.Contains(line, text) {
			return
		}
		if err != nil {
			c.t.Fatalf("stderr has no %q: %v\n%s", text, err, all.String())
		}
	}
}

// ends waits for the end, and returns the rest of stderr.
func (c *callInTerminal) ends(code int) (rest string) {
	c.t.Helper()
	left, err := io.ReadAll(c.stderr)
	if err != nil {
		c.t.Error(err)
	}
	_ = c.assent.Wait() // its code says more
	if got := c.assent.ProcessState.ExitCode(); got != code {
		c.t.Errorf("the command ended with %d, want %d: %s", got, code, left)
	}
	return string(left)
}

// askerFolder returns a folder that configures the server "asker".
func askerFolder(t *testing.T) string {
	t.Helper()
	return folderWith(t, `{"servers":{"asker":{"command":"asker"}}}`)
}

// folderWith returns a folder with an mcp.json.
func folderWith(t *testing.T, servers string) string {
	t.Helper()
	folder := t.TempDir()
	err := os.Mkdir(filepath.Join(folder, ".vscode"), 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, ".vscode", "mcp.json"), []byte(servers), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// openIn shakes hands as a window with a folder, which answers questions.
func (c *talk) openIn(folder string) {
	c.t.Helper()
	c.openAs(folder, protocol.FrontEndCapabilities{Elicitation: true})
}

func (c *talk) openAs(folder string, capabilities protocol.FrontEndCapabilities) {
	c.t.Helper()
	err := c.Call("initialize", protocol.InitializeParams{
		ProtocolVersion: protocol.Version, ClientInfo: protocol.Implementation{Name: "the window", Version: "1"},
		Capabilities: capabilities,
		// Without roots a terminal uses the connection by which the tools were listed.
		Configuration: protocol.Configuration{WorkspaceFolders: []protocol.WorkspaceFolder{{Name: "f", Path: folder, Confirmed: true, NoRoot: true}}},
	}, &struct{}{})
	if err != nil {
		c.t.Fatal(err)
	}
}

// asked waits for a question, and returns its task and its id.
func (c *talk) asked() (taskID, askID string) {
	c.t.Helper()
	hear := c.Heard
	defer func() { c.Heard = hear }()
	c.Heard = func(_ string, params json.RawMessage) {
		var event protocol.TaskEventParams
		if json.Unmarshal(params, &event) != nil {
			return // it is no event of a task
		}
		if added, ok := event.Event.(protocol.MessageAdded); ok {
			if ask, ok := added.Message.Body.(protocol.Ask); ok {
				taskID, askID = event.TaskID, ask.AskID
			}
		}
	}
	for askID == "" {
		if _, err := c.Next(); err != nil {
			c.t.Fatal(err)
		}
	}
	return taskID, askID
}

func (c *talk) accept(taskID, askID string) {
	c.t.Helper()
	err := c.Call("askResponse", map[string]any{
		"taskId": taskID, "askId": askID, "askResponse": "yesButtonClicked", "elicitationContent": map[string]any{"a": "b"},
	}, &struct{}{})
	if err != nil {
		c.t.Fatal(err)
	}
}

const acceptedB = `{"action":"accept","content":{"a":"b"}}` + "\n"

func TestAWindowAnswersWhatATerminalIsAsked(t *testing.T) {
	t.Parallel()
	h, folder := newDaemonHome(t), askerFolder(t)
	window := h.serve()
	window.openIn(folder)
	for _, flags := range [][]string{{"--plain"}, nil} { // with and without a person at the terminal
		c := callAsker(t, h, folder, append(flags, "--data-dir", filepath.Join(h.folder, "data"))...)
		taskID, askID := window.asked()
		c.reads("Question")
		window.accept(taskID, askID)
		if flags != nil {
			c.reads("The question was answered in the window.")
		}
		c.ends(terminal.ExitOK)
		if got := c.stdout.String(); got != acceptedB {
			t.Errorf("the tool returned %s", got)
		}
	}
}

func TestATerminalSaysThatItsServerWaitsForAWindow(t *testing.T) {
	t.Parallel()
	h := newDaemonHome(t)
	folder := folderWith(t, `{"servers":{"asker":{"command":"asker","env":{"KEY":"${input:key}"}}},"inputs":[{"type":"promptString","id":"key"}]}`)
	browser, window := h.serve(), h.serve()
	browser.openIn(folder)
	window.openAs(folder, protocol.FrontEndCapabilities{Inputs: true})
	if err := window.Call("server/list", nil, &struct{}{}); err != nil { // it is attached by then
		t.Fatal(err)
	}
	window.kill()
	c := callAsker(t, h, folder, "--data-dir", filepath.Join(h.folder, "data"))
	c.reads(`… The server "asker" does not start yet. It waits for a window of this workspace to ask you for an input.`)

	window = h.serve()
	window.openAs(folder, protocol.FrontEndCapabilities{Inputs: true})
	for prompted := false; !prompted; {
		m, err := window.Next()
		if err != nil {
			t.Fatal(err)
		}
		if prompted = m.Method == "input/prompt"; prompted {
			if err := window.Answer(*m.ID, json.RawMessage(`{"value":{"secret":"x"}}`)); err != nil {
				t.Fatal(err)
			}
		}
	}
	browser.accept(browser.asked())
	c.ends(terminal.ExitOK)
	if got := c.stdout.String(); got != acceptedB {
		t.Errorf("the tool returned %s", got)
	}
}

func TestATerminalLeavesAWindowItsServers(t *testing.T) {
	t.Parallel()
	h, folder := newDaemonHome(t), askerFolder(t)
	window := h.serve()
	window.openIn(folder)
	data := filepath.Join(h.folder, "data")
	for _, args := range [][]string{
		{"call", "ask", "--data-dir", data, "--", "asker"},
		{"call", "asker", "ask", "--data-dir", data}, // of another folder
	} {
		c := h.command(args...)
		c.Dir = askerFolder(t)
		out, err := c.CombinedOutput()
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != terminal.ExitUsage || !strings.Contains(string(out), "in use by the window") {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
	h.run("tasks", "--data-dir", data)
	var list protocol.ServersChangedParams
	if err := window.Call("server/list", map[string]any{}, &list); err != nil || len(list.Servers) != 1 || !strings.HasPrefix(list.Servers[0].Source, folder) {
		t.Errorf("the window has the servers %+v, %v", list.Servers, err)
	}
}

func TestATerminalIsNotAskedWhatAnotherConversationIs(t *testing.T) {
	t.Parallel()
	h, folder := newDaemonHome(t), askerFolder(t)
	window := h.serve()
	window.openIn(folder)
	c := callAsker(t, h, folder, "--plain", "--data-dir", filepath.Join(h.folder, "data"))
	c.reads("Question 1?")
	window.asked()
	var task protocol.Task
	err := window.Call("task/create", map[string]any{}, &task)
	if err == nil {
		err = window.Call("call/start", map[string]any{
			"taskId": task.ID, "serverName": "asker", "request": map[string]any{"type": "tools/call", "toolName": "ask"},
		}, &struct{}{})
	}
	if err != nil {
		t.Fatal(err)
	}
	if taskID, _ := window.asked(); taskID != task.ID {
		t.Errorf("the window is asked in the task %s, want %s", taskID, task.ID)
	}
	if _, err := fmt.Fprint(c.stdin, "b\nyes\n"); err != nil {
		t.Fatal(err)
	}
	if rest := c.ends(terminal.ExitOK); strings.Contains(rest, "Question 2?") {
		t.Errorf("the command said %s", rest)
	}
	if got := c.stdout.String(); got != acceptedB {
		t.Errorf("the tool returned %s", got)
	}
}

func TestACallGoesOnWithoutItsTerminal(t *testing.T) {
	t.Parallel()
	h, folder := newDaemonHome(t), askerFolder(t)
	c := callAsker(t, h, folder, "--plain", "--data-dir", filepath.Join(h.folder, "data"))
	c.reads("Question")
	if err := c.assent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	c.ends(-1)
	if got := h.status().Busy; got != "a question is open, a call runs" {
		t.Errorf("without the terminal, the daemon is busy with %q", got)
	}
	window := h.serve()
	window.openIn(folder)
	var open protocol.ListOpenAsksResult
	if err := window.Call("ask/list", map[string]any{}, &open); err != nil || len(open.Asks) != 1 {
		t.Fatalf("the window finds the open questions %+v, %v", open, err)
	}
}

func TestATerminalSaysThatTheDaemonHasEnded(t *testing.T) {
	t.Parallel()
	h := newDaemonHome(t)
	c := callAsker(t, h, askerFolder(t), "--plain")
	c.reads("Question")
	h.run("daemon", "stop", "--force")
	if got, want := c.ends(terminal.ExitEnded), "assent call: the daemon has ended in the middle: run the command again\n"; !strings.HasSuffix(got, want) || strings.Count(got, "daemon") != 1 {
		t.Errorf("the command said %s", got)
	}
}

func TestATerminalWithoutADaemon(t *testing.T) {
	t.Parallel()
	h := newDaemonHome(t)
	c := callAsker(t, h, askerFolder(t), "--plain", "--standalone")
	c.reads("Question")
	// Another one begins and ends during it.
	other := callAsker(t, h, askerFolder(t), "--plain", "--standalone")
	other.reads("Question")
	if _, err := fmt.Fprint(other.stdin, "b\nyes\n"); err != nil {
		t.Fatal(err)
	}
	other.ends(terminal.ExitOK)
	if _, err := fmt.Fprint(c.stdin, "b\nyes\n"); err != nil {
		t.Fatal(err)
	}
	c.ends(terminal.ExitOK)
	if got := c.stdout.String(); got != acceptedB {
		t.Errorf("the tool returned %s", got)
	}
}

// The last lines come from what ends after the result is there.
func TestATerminalHasItsLogToTheEnd(t *testing.T) {
	t.Parallel()
	h := newDaemonHome(t)
	other := callAsker(t, h, askerFolder(t), "--plain")
	other.reads("Question")
	for range 10 {
		c := h.command("tools", "--log-level", "info", "--", "asker")
		c.Dir = t.TempDir()
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		var workspace string
		for _, message := range []string{"front end attached", "starting server", "server ended"} {
			var line struct{ Message, Workspace string }
			rest := string(out)
			for n := range strings.SplitSeq(rest, "\n") {
				if strings.Contains(n, message) {
					if err := json.Unmarshal([]byte(n), &line); err != nil {
						t.Error(err)
					}
				}
			}
			if line.Message != message || workspace != "" && line.Workspace != workspace {
				t.Errorf("the log has no line %q of the workspace %q:\n%s", message, workspace, out)
			}
			workspace = line.Workspace
		}
		if n := strings.Count(string(out), "front end attached"); n != 1 {
			t.Errorf("%d front ends attached:\n%s", n, out)
		}
	}
}
