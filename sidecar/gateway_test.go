package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"assent/protocol"
)

// rawHost is a host that writes its frames by itself. It is used by one goroutine.
type rawHost struct {
	t        *testing.T
	revision string
	assent   *exec.Cmd
	stdin    io.WriteCloser
	out      *bufio.Scanner
	last     int
}

// startHost starts "assent gateway" as a host does, and shakes hands in a revision of MCP.
func startHost(t *testing.T, revision string, gateway *exec.Cmd) *rawHost {
	t.Helper()
	h := &rawHost{t: t, revision: revision, assent: gateway}
	gateway.Stderr = os.Stderr
	var err error
	if h.stdin, err = gateway.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := gateway.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	h.out = bufio.NewScanner(out)
	if err := gateway.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = h.stdin.Close()
		if err := gateway.Wait(); err != nil {
			t.Errorf("assent gateway: %v", err)
		}
	})
	if h.isModern() {
		return h
	}
	h.call("initialize", `{"protocolVersion":"`+revision+`","capabilities":{},"clientInfo":{"name":"claude-code","version":"2"}}`)
	h.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return h
}

func (h *rawHost) isModern() bool { return h.revision >= "2026-07-28" }

func (h *rawHost) write(line string) {
	h.t.Helper()
	if _, err := io.WriteString(h.stdin, line+"\n"); err != nil {
		h.t.Fatal(err)
	}
}

// send sends a request whose params are an object, and returns its id.
func (h *rawHost) send(method, params string) int {
	h.t.Helper()
	h.last++
	if h.isModern() {
		meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + h.revision + `","io.modelcontextprotocol/clientInfo":` +
			`{"name":"claude-code","version":"2"},"io.modelcontextprotocol/clientCapabilities":{}}`
		if params != "{}" {
			meta += ","
		}
		params = "{" + meta + params[1:]
	}
	h.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, h.last, method, params))
	return h.last
}

// await returns the answer to a request.
func (h *rawHost) await(id int) string {
	h.t.Helper()
	for h.out.Scan() {
		var m struct {
			ID     int
			Method string
		}
		if err := json.Unmarshal(h.out.Bytes(), &m); err != nil {
			h.t.Fatalf("%v: %s", err, h.out.Bytes())
		}
		if m.Method == "" && m.ID == id {
			return h.out.Text()
		}
	}
	h.t.Fatalf("the gateway has ended: %v", h.out.Err())
	return ""
}

func (h *rawHost) call(method, params string) string {
	h.t.Helper()
	return h.await(h.send(method, params))
}

// gatewayOf returns "assent gateway SERVER" in a folder that configures an inquirer of each era, and the file in which these
// note what they were told.
func (h daemonHome) gatewayOf(server string) (gateway *exec.Cmd, log string) {
	h.t.Helper()
	log = filepath.Join(h.folder, "told")
	entry := func(era string) string {
		return fmt.Sprintf(`{"command":"inquirer","env":{"ERA":%q,"LOG":%q}}`, era, log)
	}
	folder := folderWith(h.t, `{"servers":{"legacy":`+entry("2025-06-18")+`,"modern":`+entry("2026-07-28")+`}}`)
	gateway = h.command("gateway", "--trust", "--data-dir", filepath.Join(h.folder, "host"))
	if server != "" {
		gateway.Args = append(gateway.Args, server)
	}
	gateway.Dir = folder
	return gateway, log
}

// awaitAsk returns the open ask of the other workspace, once there is one.
func awaitAsk(t *testing.T, window *talk) protocol.OpenAsk {
	t.Helper()
	heard := false // also while the list is awaited, which may then be from before
	window.Heard = func(string, json.RawMessage) { heard = true }
	for {
		heard = false
		var listed protocol.ListOpenAsksResult
		if err := window.Call("ask/list", map[string]any{}, &listed); err != nil {
			t.Fatal(err)
		}
		if len(listed.Asks) > 0 {
			return listed.Asks[0]
		}
		for !heard {
			if _, err := window.Next(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// accept answers a form.
func accept(t *testing.T, window *talk, ask protocol.OpenAsk) {
	t.Helper()
	err := window.Call("askResponse", map[string]any{
		"taskId": ask.TaskID, "askId": ask.AskID, "askResponse": protocol.YesButtonClicked,
		"elicitationContent": map[string]any{"a": "x"},
	}, &struct{}{})
	if err != nil {
		t.Fatal(err)
	}
}

// answersIn returns how many answers the servers noted.
func answersIn(t *testing.T, log string) int {
	t.Helper()
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(text), "\n")
}

func TestAQuestionOfAHostsServerIsAnsweredInAWindow(t *testing.T) {
	t.Parallel()
	for _, revision := range []string{"2024-11-05", "2025-06-18", "2026-07-28"} {
		for _, server := range []string{"legacy", "modern"} {
			t.Run(revision+" "+server, func(t *testing.T) {
				t.Parallel()
				h := newDaemonHome(t)
				window := h.serve()
				if err := window.shakeHands(); err != nil {
					t.Fatal(err)
				}
				gateway, log := h.gatewayOf(server)
				host := startHost(t, revision, gateway)
				if tools := host.call("tools/list", "{}"); !strings.Contains(tools, `{"name":"form","inputSchema":{"type":"object"}}`) {
					t.Errorf("the tools are %s", tools)
				}
				// The host answers in place of the person, and a server that believes it asks nobody.
				id := host.send("tools/call", `{"name":"form","arguments":{"n":1.50},"requestState":"s","inputResponses":{"q":{"action":"accept"}}}`)
				ask := awaitAsk(t, window)
				if want := "Claude Code in " + filepath.Base(gateway.Dir); ask.Title != want {
					t.Errorf("the conversation is %q, want %q", ask.Title, want)
				}
				accept(t, window, ask)
				if got := host.await(id); !strings.Contains(got, `"content":[]`) {
					t.Errorf("the host got %s", got)
				}
				if got := answersIn(t, log); got != 1 {
					t.Errorf("the server got %d answers", got)
				}
			})
		}
	}
}

func TestACallThatItsHostGaveUpIsJoined(t *testing.T) {
	t.Parallel()
	h := newDaemonHome(t)
	window := h.serve()
	if err := window.shakeHands(); err != nil {
		t.Fatal(err)
	}
	gateway, log := h.gatewayOf("modern")
	host := startHost(t, "2025-06-18", gateway)
	first := host.send("tools/call", `{"name":"form","arguments":{}}`)
	ask := awaitAsk(t, window)
	host.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, first))
	second := host.send("tools/call", `{"name":"form","arguments":{}}`)
	accept(t, window, ask)
	if got := host.await(second); !strings.Contains(got, `"content":[]`) {
		t.Errorf("the host got %s", got)
	}
	if got := answersIn(t, log); got != 1 {
		t.Errorf("the tool ran %d times", got)
	}
}

func TestAGatewayOutlivesTheDaemon(t *testing.T) {
	t.Parallel()
	h := newDaemonHome(t)
	gateway, _ := h.gatewayOf("")
	host := startHost(t, "2025-06-18", gateway)
	host.call("tools/list", "{}")
	h.run("daemon", "stop", "--force")
	// A list is asked for again if the daemon had gone. A call would fail: it may have run.
	host.call("tools/list", "{}")
	if got := host.call("tools/call", `{"name":"legacy__find_users"}`); !strings.Contains(got, `"content":[]`) {
		t.Errorf("after the daemon's end the host got %s", got)
	}
}
