//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/textproto"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"assent/protocol"
)

// sidecar is a process of the real binary, with a window's front end.
type sidecar struct {
	t     *testing.T
	cmd   *exec.Cmd
	stdin io.WriteCloser
	read  sync.WaitGroup
	next  int

	mu      sync.Mutex // guards the fields below
	said    []map[string]json.RawMessage
	changed chan struct{}
}

func startSidecar(t *testing.T, data, folder string) *sidecar {
	t.Helper()
	s := &sidecar{t: t, cmd: exec.Command("assent", "serve", "--data-dir", data), changed: make(chan struct{})}
	s.cmd.Stderr = t.Output()
	var err error
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.read.Go(func() { s.listen(bufio.NewReader(out)) })
	t.Cleanup(func() {
		_ = s.stdin.Close()
		s.read.Wait()
		_ = s.cmd.Wait() // it may have been killed
	})
	s.ask("initialize", map[string]any{
		"protocolVersion": protocol.Version,
		"clientInfo":      map[string]any{"name": "a test", "version": "1"},
		"capabilities":    map[string]any{"elicitation": true},
		"configuration": map[string]any{
			"model": map[string]any{}, "workspaceFolders": []any{map[string]any{"name": filepath.Base(folder), "path": folder}},
			"servers": map[string]any{"asker": map[string]any{"command": "asker"}},
		},
	}, nil)
	return s
}

func (s *sidecar) listen(r *bufio.Reader) {
	for {
		header, err := textproto.NewReader(r).ReadMIMEHeader()
		if err != nil {
			return
		}
		length, err := strconv.Atoi(header.Get("Content-Length"))
		if err != nil {
			s.t.Error(err)
			return
		}
		body := make([]byte, length)
		var message map[string]json.RawMessage
		if _, err := io.ReadFull(r, body); err != nil {
			return
		}
		if err := json.Unmarshal(body, &message); err != nil {
			s.t.Error(err)
			return
		}
		s.mu.Lock()
		s.said = append(s.said, message)
		close(s.changed)
		s.changed = make(chan struct{})
		s.mu.Unlock()
	}
}

// await returns the first message that match accepts.
func (s *sidecar) await(what string, match func(map[string]json.RawMessage) bool) map[string]json.RawMessage {
	s.t.Helper()
	deadline := time.After(2 * time.Minute)
	for seen := 0; ; {
		s.mu.Lock()
		said, changed := s.said, s.changed
		s.mu.Unlock()
		for _, m := range said[seen:] {
			if match(m) {
				return m
			}
		}
		seen = len(said)
		select {
		case <-changed:
		case <-deadline:
			s.t.Fatalf("waited in vain for %s", what)
		}
	}
}

// ask makes a request, and returns the code of the error that answers it, or 0.
func (s *sidecar) ask(method string, params, result any) protocol.ErrorCode {
	s.t.Helper()
	s.next++
	id := strconv.Itoa(s.next)
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": s.next, "method": method, "params": params})
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := fmt.Fprintf(s.stdin, "Content-Length: %d\r\n\r\n%s", len(body), body); err != nil {
		s.t.Fatal(err)
	}
	answer := s.await("the answer to "+method, func(m map[string]json.RawMessage) bool { return m["method"] == nil && string(m["id"]) == id })
	if answer["error"] != nil {
		var e struct{ Code protocol.ErrorCode }
		if err := json.Unmarshal(answer["error"], &e); err != nil {
			s.t.Fatal(err)
		}
		return e.Code
	}
	if result != nil {
		if err := json.Unmarshal(answer["result"], result); err != nil {
			s.t.Fatal(err)
		}
	}
	return 0
}

// followed waits until the sidecar tells of a task of another window in these words.
func (s *sidecar) followed(words ...string) {
	s.t.Helper()
	s.await("an event with "+strings.Join(words, ", "), func(m map[string]json.RawMessage) bool {
		params := string(m["params"])
		for _, w := range append(words, `"type":"taskFollowed"`) {
			if !strings.Contains(params, w) {
				return false
			}
		}
		return string(m["method"]) == `"task/event"`
	})
}

// kill is a SIGKILL.
func (s *sidecar) kill() {
	s.t.Helper()
	if err := s.cmd.Process.Kill(); err != nil {
		s.t.Fatal(err)
	}
	s.read.Wait()
	_ = s.cmd.Wait() // that it was killed is no news
}

// TestTwoWindows runs two sidecars on one store, as two windows do: one asks its person something while the
// other starts, is killed, comes back, and loses its task to the other.
func TestTwoWindows(t *testing.T) {
	dir := t.TempDir()
	data, web, api := filepath.Join(dir, "data"), filepath.Join(dir, "web"), filepath.Join(dir, "api")
	for _, folder := range []string{web, api} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var info protocol.Task
	begin := func(s *sidecar) {
		t.Helper()
		s.ask("task/create", map[string]any{"title": "shared"}, &info)
		if code := s.ask("call/start", map[string]any{
			"taskId": info.ID, "serverName": "asker", "request": map[string]any{"type": "tools/call", "toolName": "ask", "arguments": map[string]any{}},
		}, nil); code != 0 {
			t.Fatalf("call/start: %d", code)
		}
		s.await("the question", func(m map[string]json.RawMessage) bool {
			return strings.Contains(string(m["params"]), `"messageAdded"`) && strings.Contains(string(m["params"]), "Question ") && strings.Contains(string(m["params"]), info.ID)
		})
	}
	inbox := func(s *sidecar, want ...bool) protocol.OpenAsk {
		t.Helper()
		var list struct{ Asks []protocol.OpenAsk }
		s.ask("ask/list", nil, &list)
		if len(list.Asks) != len(want) {
			t.Fatalf("%d asks are open, want %d", len(list.Asks), len(want))
		}
		for i, a := range list.Asks {
			if a.Elsewhere != want[i] {
				t.Errorf("ask %d: elsewhere is %v", i, a.Elsewhere)
			}
		}
		if len(want) == 0 {
			return protocol.OpenAsk{}
		}
		return list.Asks[0]
	}
	word := func(askID string) map[string]any {
		return map[string]any{"taskId": info.ID, "askId": askID, "askResponse": "yesButtonClicked", "elicitationContent": map[string]any{"a": "so"}}
	}

	one := startSidecar(t, data, web)
	begin(one)
	two := startSidecar(t, data, api)
	ask := inbox(two, true)
	inbox(one, false)
	if code := two.ask("askResponse", word(ask.AskID), nil); code != protocol.CodeTaskElsewhere {
		t.Errorf("an answer in the other window = %d", code)
	}
	if code := one.ask("askResponse", word(ask.AskID), nil); code != 0 {
		t.Errorf("an answer where it was asked = %d", code)
	}
	two.followed(info.ID, `"openAsks":0`)

	// The first is killed while it asks again. The other lives on, leaves the task alone, and says so.
	begin(one)
	two.followed(info.ID, `"openAsks":1`)
	one.kill()
	two.followed(info.ID, `"openAsks":1`, `"gone":true`)
	inbox(two, true)
	one = startSidecar(t, data, web)
	inbox(one)
	inbox(two) // at once: what one sidecar has acknowledged, the other lists
	two.followed(info.ID, `"openAsks":0`)

	// What the first asks now ends with the other taking over.
	begin(one)
	ask = inbox(one, false)
	if code := two.ask("task/takeOver", map[string]any{"taskId": info.ID}, nil); code != 0 {
		t.Fatalf("task/takeOver = %d", code)
	}
	one.followed(info.ID, `"openAsks":0`)
	if code := one.ask("askResponse", word(ask.AskID), nil); code != protocol.CodeAskSettled {
		t.Errorf("an answer in the window that lost the task = %d", code)
	}
	var opened struct {
		Task     protocol.Task
		Messages []struct {
			Body struct {
				Type    string
				Outcome struct{ Reason protocol.OutcomeReason }
				Result  struct{ Type string }
			}
		}
	}
	for name, s := range map[string]*sidecar{"one": one, "two": two} {
		s.ask("task/open", map[string]any{"taskId": info.ID}, &opened)
		if opened.Task.Elsewhere != nil || len(opened.Messages) != 2 { // nothing goes on in it any more
			t.Fatalf("%s sees %+v", name, opened)
		}
		if r := opened.Messages[0].Body.Result.Type; r != "lost" {
			t.Errorf("%s sees that the call ended as %q", name, r)
		}
		if r := opened.Messages[1].Body.Outcome.Reason; r != protocol.OutcomeTakenOver {
			t.Errorf("%s sees that the question ended as %q", name, r)
		}
	}

	// The window closes; what it had is free.
	if err := two.stdin.Close(); err != nil {
		t.Fatal(err)
	}
	two.read.Wait()
	if code := one.ask("task/rename", map[string]any{"taskId": info.ID, "title": "mine again"}, nil); code != 0 {
		t.Errorf("task/rename = %d", code)
	}
}
