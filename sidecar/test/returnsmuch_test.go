package test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"assent/protocol"
)

// returnsMuch is a server with a tool that returns a text: its second argument, so often as its first says.
func returnsMuch() {
	times, err := strconv.Atoi(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	for m := range hears() {
		switch m.Method {
		case "initialize":
			m.initialized("returns-much", `{"tools":{}}`)
		case "tools/list":
			say(`"id":%s,"result":{"tools":[{"name":"give","inputSchema":{"type":"object"}}]}`, m.ID)
		case "tools/call":
			say(`"id":%s,"result":{"content":[{"type":"text","text":"%s"}]}`, m.ID, strings.Repeat(os.Args[2], times))
		}
	}
}

// TestAGreatResultReachesAFrontEndThatReads has small messages before and behind the result.
func TestAGreatResultReachesAFrontEndThatReads(t *testing.T) {
	t.Parallel()
	const size = 15 << 20
	window := startTalk(t, newDaemonHome(t).alone("--data-dir", filepath.Join(t.TempDir(), "data")))
	began := window.Call("initialize", map[string]any{
		"protocolVersion": 1, "clientInfo": map[string]any{"name": "a test", "version": "1"}, "capabilities": map[string]any{},
		"configuration": map[string]any{"servers": map[string]any{
			"returns-much": map[string]any{"command": "returns-much", "args": []string{strconv.Itoa(size), "x"}},
		}, "model": map[string]any{}},
	}, &struct{}{})
	var created protocol.Task
	if began == nil {
		began = window.Call("task/create", map[string]any{"title": "A task"}, &created)
	}
	if began == nil {
		began = window.Call("call/start", map[string]any{
			"taskId": created.ID, "serverName": "returns-much", "request": map[string]any{"type": "tools/call", "toolName": "give"},
		}, &protocol.StartCallResult{})
	}
	if began != nil {
		t.Fatal(began)
	}
	for arrived := false; !arrived; {
		if _, err := window.Send("task/list", map[string]any{}); err != nil {
			t.Fatal(err)
		}
		body, err := window.NextBody()
		if err != nil {
			t.Fatalf("the connection ended before the result: %v", err)
		}
		arrived = len(body) > size
		if arrived && !json.Valid(body) {
			t.Error("the result is not JSON")
		}
	}
	window.create("after it")
	if err := window.Close(); err != nil {
		t.Errorf("the sidecar ended with %v", err)
	}
}

// TestAGreatResultReachesATerminal has characters that need many bytes in a frame.
func TestAGreatResultReachesATerminal(t *testing.T) {
	t.Parallel()
	const times = 3 << 19
	call := newDaemonHome(t).command("call", "give", "--", "returns-much", strconv.Itoa(times), "<&")
	call.Dir = t.TempDir()
	var out bytes.Buffer
	call.Stdout = &out
	if err := call.Start(); err != nil {
		t.Fatal(err)
	}
	limit := time.AfterFunc(2*time.Minute, func() { _ = call.Process.Kill() }) // a result that was refused never comes
	defer limit.Stop()
	if err := call.Wait(); err != nil {
		t.Errorf("the call ended with %v", err)
	}
	if got := bytes.Count(out.Bytes(), []byte("<&")); got != times {
		t.Errorf("the text came %d times, want %d", got, times)
	}
}
