package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
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
	// write sends a frame. The frames of Assent come on frames, which is closed with the connection.
	write  func(frame string)
	frames chan string
	last   int
}

// startHost starts "assent gateway" as a host does, and shakes hands in a revision of MCP.
func startHost(t *testing.T, revision string, gateway *exec.Cmd) *rawHost {
	t.Helper()
	gateway.Stderr = os.Stderr
	stdin, err := gateway.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := gateway.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := gateway.Start(); err != nil {
		t.Fatal(err)
	}
	h := &rawHost{t: t, revision: revision, frames: make(chan string)}
	h.write = func(frame string) {
		if _, err := io.WriteString(stdin, frame+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	go func() {
		defer close(h.frames)
		for out := bufio.NewScanner(stdout); out.Scan(); {
			h.frames <- out.Text()
		}
	}()
	t.Cleanup(func() {
		_ = stdin.Close()
		for range h.frames {
		}
		if err := gateway.Wait(); err != nil {
			t.Errorf("assent gateway: %v", err)
		}
	})
	h.shakeHands()
	return h
}

// connectHost connects with an address of "assent hosts", and shakes hands.
func connectHost(t *testing.T, revision, address, token string) *rawHost {
	t.Helper()
	h := &rawHost{t: t, revision: revision, frames: make(chan string, 100)}
	var session string
	h.write = func(frame string) {
		var f struct {
			Method string
			Params struct{ Name string }
		}
		if err := json.Unmarshal([]byte(frame), &f); err != nil {
			t.Fatal(err)
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(frame))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{
			"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
			"Mcp-Protocol-Version": {revision}, "Mcp-Method": {f.Method}, "Mcp-Name": {f.Params.Name},
		}
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if response.StatusCode > http.StatusAccepted {
			text, _ := io.ReadAll(response.Body)
			t.Fatalf("%s: %s: %s", f.Method, response.Status, text)
		}
		session = cmp.Or(response.Header.Get("Mcp-Session-Id"), session)
		read := make(chan struct{})
		go func() {
			defer close(read)
			for body := bufio.NewScanner(response.Body); body.Scan(); {
				if data, ok := strings.CutPrefix(body.Text(), "data: "); ok && data != "" {
					h.frames <- data
				}
			}
		}()
		t.Cleanup(func() {
			_ = response.Body.Close()
			<-read
		})
	}
	h.shakeHands()
	return h
}

func (h *rawHost) shakeHands() {
	if !h.isModern() {
		h.call("initialize", `{"protocolVersion":"`+h.revision+`","capabilities":{},"clientInfo":{"name":"claude-code","version":"2"}}`)
		h.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	}
}

func (h *rawHost) isModern() bool { return h.revision >= "2026-07-28" }

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
	for frame := range h.frames {
		var m struct {
			ID     int
			Method string
		}
		if err := json.Unmarshal([]byte(frame), &m); err != nil {
			h.t.Fatalf("%v: %s", err, frame)
		}
		if m.Method == "" && m.ID == id {
			return frame
		}
	}
	h.t.Fatal("the gateway has ended")
	return ""
}

func (h *rawHost) call(method, params string) string {
	h.t.Helper()
	return h.await(h.send(method, params))
}

// hostFolder returns a folder that configures an inquirer of each era, and the file in which these note the answers that they got.
func (h daemonHome) hostFolder() (folder, log string) {
	h.t.Helper()
	log = filepath.Join(h.folder, "told")
	entry := func(era string) string {
		return fmt.Sprintf(`{"command":"inquirer","env":{"ERA":%q,"LOG":%q}}`, era, log)
	}
	return folderWith(h.t, `{"servers":{"legacy":`+entry("2025-06-18")+`,"modern":`+entry("2026-07-28")+`}}`), log
}

// gatewayOf returns "assent gateway SERVER" in such a folder.
func (h daemonHome) gatewayOf(server string) (gateway *exec.Cmd, log string) {
	h.t.Helper()
	gateway = h.command("gateway", "--trust", "--data-dir", filepath.Join(h.folder, "host"))
	if server != "" {
		gateway.Args = append(gateway.Args, server)
	}
	gateway.Dir, log = h.hostFolder()
	return gateway, log
}

// addHost returns the address and the token of a host over HTTP, in such a folder.
func (h daemonHome) addHost(server string) (folder, address, token, log string) {
	h.t.Helper()
	c := h.command("hosts", "add", "a host", "--server", server, "--trust", "--data-dir", filepath.Join(h.folder, "host"))
	c.Dir, log = h.hostFolder()
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		h.t.Fatal(err)
	}
	if _, err := fmt.Sscanf(string(out), "URL %s\nHeader Authorization: Bearer %s\n", &address, &token); err != nil {
		h.t.Fatalf("%v: %s", err, out)
	}
	return c.Dir, address, token, log
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
	for _, transport := range []string{"stdio", "http"} {
		for _, revision := range []string{"2024-11-05", "2025-06-18", "2026-07-28"} {
			if transport == "http" && revision == "2024-11-05" {
				continue // Streamable HTTP is newer
			}
			for _, server := range []string{"legacy", "modern"} {
				t.Run(transport+" "+revision+" "+server, func(t *testing.T) {
					t.Parallel()
					h := newDaemonHome(t)
					window := h.serve()
					if err := window.shakeHands(); err != nil {
						t.Fatal(err)
					}
					var host *rawHost
					var folder, log string
					if transport == "stdio" {
						var gateway *exec.Cmd
						gateway, log = h.gatewayOf(server)
						folder, host = gateway.Dir, startHost(t, revision, gateway)
					} else {
						var address, token string
						folder, address, token, log = h.addHost(server)
						host = connectHost(t, revision, address, token)
					}
					if tools := host.call("tools/list", "{}"); !strings.Contains(tools, `{"name":"form","inputSchema":{"type":"object"}}`) {
						t.Errorf("the tools are %s", tools)
					}
					// The host answers in place of the person. A server that got these members would not ask.
					id := host.send("tools/call", `{"name":"form","arguments":{"n":1.50},"requestState":"s","inputResponses":{"q":{"action":"accept"}}}`)
					ask := awaitAsk(t, window)
					if want := "Claude Code in " + filepath.Base(folder); ask.Title != want {
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
}

// A host keeps its address and its token over the daemon's end, and no other program has them.
func TestAHostOverHTTPOutlivesTheDaemon(t *testing.T) {
	t.Parallel()
	h := newDaemonHome(t)
	_, address, token, _ := h.addHost("modern")
	h.run("daemon", "stop", "--force")
	if listed := h.run("hosts", "list"); !strings.Contains(listed, "a host  modern  /") {
		t.Errorf("the hosts are %s", listed)
	}
	host := connectHost(t, "2026-07-28", address, token)
	if got := host.call("tools/call", `{"name":"find_users"}`); !strings.Contains(got, `"content":[]`) {
		t.Errorf("the host got %s", got)
	}
	h.run("hosts", "remove", "a host")
	response, err := http.Post(address, "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil || response.StatusCode != http.StatusUnauthorized {
		t.Errorf("a host that was removed: %s, %v", response.Status, err)
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
