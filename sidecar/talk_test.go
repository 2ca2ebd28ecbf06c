package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/textproto"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"assent/protocol"
)

// talk is a front end's conversation with a sidecar that is a process. It is used by one goroutine.
type talk struct {
	t      *testing.T
	assent *exec.Cmd
	stdin  io.WriteCloser
	out    *bufio.Reader
	log    *os.File
	last   int // the id of the last request
	// heard is called with every notification.
	heard func(method string, params json.RawMessage)
	// step is called before every frame, in either direction.
	step func()
	once sync.Once
}

// message is a frame.
type message struct {
	ID     *int            `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// startTalk starts a sidecar, whose stderr goes to a file unless the test has another place for it.
func startTalk(t *testing.T, assent *exec.Cmd) *talk {
	t.Helper()
	c := &talk{t: t, assent: assent, heard: func(string, json.RawMessage) {}, step: func() {}}
	var err error
	if c.log, err = os.CreateTemp(t.TempDir(), "log"); err != nil {
		t.Fatal(err)
	}
	if c.assent.Stderr == nil {
		c.assent.Stderr = c.log
	}
	if c.stdin, err = c.assent.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.assent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.out = bufio.NewReader(out)
	if err := c.assent.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.kill)
	return c
}

// kill ends the sidecar as nothing is allowed to do, and waits until it has.
func (c *talk) kill() {
	c.once.Do(func() {
		_ = c.assent.Process.Kill() // or it has ended
		_ = c.assent.Wait()         // which says that it was killed
		if c.t.Failed() {
			log, err := os.ReadFile(c.log.Name())
			c.t.Logf("the sidecar's log: %v\n%s", err, log)
		}
		_ = c.log.Close()
	})
}

// send sends a request and returns its id. It fails where the sidecar has ended.
func (c *talk) send(method string, params any) (int, error) {
	c.last++
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.last, "method": method, "params": params})
	if err != nil {
		return 0, err
	}
	c.step()
	_, err = fmt.Fprintf(c.stdin, "Content-Length: %d\r\n\r\n%s", len(body), body)
	return c.last, err
}

// next returns the next frame, which heard has heard of. It fails where the sidecar has ended.
func (c *talk) next() (*message, error) {
	c.step()
	header, err := textproto.NewReader(c.out).ReadMIMEHeader()
	if err != nil {
		return nil, err
	}
	length, err := strconv.Atoi(header.Get("Content-Length"))
	if err != nil {
		return nil, err
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(c.out, body); err != nil {
		return nil, err
	}
	m := &message{}
	if err := json.Unmarshal(body, m); err != nil {
		c.t.Errorf("the sidecar said %s: %v", body, err)
		return nil, err
	}
	if m.ID == nil {
		c.heard(m.Method, m.Params)
	} else if m.Method == "window/openUrl" {
		if err := c.serve(*m.ID, `{"opened":true}`); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// serve answers a request of the sidecar.
func (c *talk) serve(id int, result string) error {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%s}`, id, result)
	_, err := fmt.Fprintf(c.stdin, "Content-Length: %d\r\n\r\n%s", len(body), body)
	return err
}

// refused is a request's error.
type refused struct{ method, message string }

func (r *refused) Error() string { return r.method + ": " + r.message }

// call sends a request and reads its result. It fails with a refused where the sidecar refused it, and else
// where the sidecar has ended.
func (c *talk) call(method string, params, result any) error {
	id, err := c.send(method, params)
	if err != nil {
		return err
	}
	return c.await(id, method, result)
}

// await reads the result of a request.
func (c *talk) await(id int, method string, result any) error {
	for {
		m, err := c.next()
		if err != nil {
			return err
		}
		if m.Method != "" || m.ID == nil || *m.ID != id {
			continue
		}
		if m.Error != nil {
			return &refused{method, m.Error.Message}
		}
		return json.Unmarshal(m.Result, result)
	}
}

// shakeHands begins the conversation, with a server that asks; see [asker].
func (c *talk) shakeHands() error {
	return c.call("initialize", map[string]any{
		"protocolVersion": 1, "clientInfo": map[string]any{"name": "a test", "version": "1"},
		"capabilities":  map[string]any{"elicitation": true, "sampling": true},
		"configuration": map[string]any{"servers": map[string]any{"asker": map[string]any{"command": "asker"}}, "model": map[string]any{}},
	}, &struct{}{})
}

func (c *talk) create(title string) {
	c.t.Helper()
	if err := c.call("task/create", map[string]any{"title": title}, &protocol.Task{}); err != nil {
		c.t.Fatal(err)
	}
}

func (c *talk) wantTasks(want ...string) {
	c.t.Helper()
	var listed protocol.ListTasksResult
	if err := c.call("task/list", map[string]any{}, &listed); err != nil {
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

// asker is an MCP server without an SDK: every call of its tool asks the person, and returns what they said.
func asker() {
	in := bufio.NewScanner(os.Stdin)
	say := func(format string, v ...any) { fmt.Printf(`{"jsonrpc":"2.0",`+format+"}\n", v...) }
	for asked := 0; in.Scan(); {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				ProtocolVersion string `json:"protocolVersion"`
			} `json:"params"`
			Result json.RawMessage `json:"result"`
		}
		if err := json.Unmarshal(in.Bytes(), &m); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return
		}
		switch m.Method {
		case "initialize":
			say(`"id":%s,"result":{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"asker","version":"1"}}`, m.ID, m.Params.ProtocolVersion)
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
			if m.ID != nil {
				say(`"id":%s,"error":{"code":-32601,"message":"Method not found"}`, m.ID)
			}
		}
	}
}
