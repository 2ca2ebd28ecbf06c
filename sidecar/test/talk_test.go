package test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"assent/protocol"
	"assent/sidecar/workspace/rpc/rpctest"
)

// talk is a front end's conversation with a sidecar that is a process. It is used by one goroutine.
type talk struct {
	*rpctest.FrontEnd
	t    *testing.T
	log  *os.File
	once sync.Once
}

// startTalk starts a sidecar. Its stderr goes to a file unless the test has set it.
func startTalk(t *testing.T, assent *exec.Cmd) *talk {
	t.Helper()
	log, err := os.CreateTemp(t.TempDir(), "log")
	if err != nil {
		t.Fatal(err)
	}
	if assent.Stderr == nil {
		assent.Stderr = log
	}
	f, err := rpctest.Start(assent)
	if err != nil {
		t.Fatal(err)
	}
	f.Serve = func(method string, _ json.RawMessage) (any, error) {
		if method != "window/openUrl" {
			return nil, nil
		}
		return protocol.OpenURLResult{Opened: true}, nil
	}
	f.Garbled = func(err error) { t.Error(err) }
	c := &talk{FrontEnd: f, t: t, log: log}
	t.Cleanup(c.kill)
	return c
}

// kill ends the sidecar as nothing is allowed to do, and waits until it has.
func (c *talk) kill() {
	c.once.Do(func() {
		_ = c.Cmd.Process.Kill() // or it has ended
		_ = c.Cmd.Wait()         // which says that it was killed
		if c.t.Failed() {
			log, err := os.ReadFile(c.log.Name())
			c.t.Logf("the sidecar's log: %v\n%s", err, log)
		}
		_ = c.log.Close()
	})
}

// shakeHands begins the conversation, with a server that asks; see [asker].
func (c *talk) shakeHands() error {
	return c.Call("initialize", map[string]any{
		"protocolVersion": 1, "clientInfo": map[string]any{"name": "a test", "version": "1"},
		"capabilities":  map[string]any{"elicitation": true, "sampling": true},
		"configuration": map[string]any{"servers": map[string]any{"asker": map[string]any{"command": "asker"}}, "model": map[string]any{}},
	}, &struct{}{})
}

func (c *talk) create(title string) {
	c.t.Helper()
	if err := c.Call("task/create", map[string]any{"title": title}, &protocol.Task{}); err != nil {
		c.t.Fatal(err)
	}
}

func (c *talk) wantTasks(want ...string) {
	c.t.Helper()
	var listed protocol.ListTasksResult
	if err := c.Call("task/list", map[string]any{}, &listed); err != nil {
		c.t.Fatal(err)
	}
	var got []string
	for _, task := range listed.Tasks {
		got = append(got, task.Title)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		c.t.Errorf("the tasks are %q, want %q", got, want)
	}
}

// asker is an MCP server without an SDK. Every call of its tool asks the person, and returns the answer.
func asker() {
	asked := 0
	for m := range hears() {
		switch m.Method {
		case "initialize":
			m.initialized("asker", `{"tools":{}}`)
		case "tools/list":
			say(`"id":%s,"result":{"tools":[{"name":"ask","inputSchema":{"type":"object"}}]}`, m.ID)
		case "tools/call":
			asked++
			say(`"id":%s,"method":"elicitation/create","params":{"message":"Question %d?","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}`,
				strconv.Quote("asks "+string(m.ID)), asked)
		case "":
			var question string
			if json.Unmarshal(m.ID, &question) != nil {
				continue
			}
			text, err := json.Marshal(string(m.Result))
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				return
			}
			say(`"id":%s,"result":{"content":[{"type":"text","text":%s}]}`, strings.TrimPrefix(question, "asks "), text)
		default:
			m.unknown()
		}
	}
}
