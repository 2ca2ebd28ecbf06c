package test

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"assent/protocol"
	"assent/sidecar/daemon"
)

// rawHost is a host that writes its frames by itself. It is used by one goroutine.
type rawHost struct {
	t        *testing.T
	revision string
	// write sends a frame. The frames of Assent come on frames, which is closed with the connection.
	write  func(frame string)
	frames chan string
	last   int
	// answer returns the result of a request of Assent; nil leaves all requests open.
	answer func(method string) string
	// token is the progress token of the next requests, or "".
	token string
	// tasks reports that the host takes MCP tasks.
	tasks bool
	// declares are the capabilities of a host that are not [hostCapabilities].
	declares string
	// name is the client's.
	name   string
	isHTTP bool
	// meta are members of _meta of the next requests, or "".
	meta string
	// cancel cancels a request.
	cancel func(id int)
	// listen has a host hear of lists that change.
	listen func()
	// leave ends a host over stdio, so that its shim ends too; kill also kills the shim. A host over HTTP ends its session.
	leave, kill func()
	killed      bool
	// heard are Assent's notifications, and the requests that were left open: the method and the params.
	heard []string
	// asked are Assent's requests that were answered: the method and the params.
	asked []string
	// requests are those of the host that Assent has not answered, as method and params.
	requests map[int][2]string
	// early are answers that came while another one was awaited.
	early map[int]string
}

// hostCapabilities are those of every raw host.
const hostCapabilities = `{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}},"roots":{}}`

// startHost starts "assent gateway" as a host does, and shakes hands in a revision of MCP.
func startHost(t *testing.T, revision string, gateway *exec.Cmd) *rawHost {
	t.Helper()
	return startHostThat(t, revision, hostCapabilities, gateway)
}

// startHostThat starts a host that declares capabilities.
func startHostThat(t *testing.T, revision, declares string, gateway *exec.Cmd) *rawHost {
	t.Helper()
	return startHostNamed(t, "claude-code", revision, declares, gateway)
}

// startHostNamed starts a host with a name.
func startHostNamed(t *testing.T, name, revision, declares string, gateway *exec.Cmd) *rawHost {
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
	h := &rawHost{t: t, name: name, revision: revision, declares: declares, frames: make(chan string), requests: map[int][2]string{}, early: map[int]string{}}
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
	h.cancel = func(id int) {
		h.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id))
	}
	h.listen = func() {
		if h.isModern() {
			h.send("subscriptions/listen", `{"notifications":{"toolsListChanged":true}}`)
		}
	}
	h.leave = sync.OnceFunc(func() {
		_, _ = stdin.Close(), stdout.Close() // or it has ended; with the second open, the answers would be awaited
		for range h.frames {
		}
		if err := gateway.Wait(); err != nil && !h.killed {
			t.Errorf("assent gateway: %v", err)
		}
	})
	h.kill = func() {
		h.killed = true
		_ = gateway.Process.Kill() // or it has ended
		h.leave()
	}
	t.Cleanup(h.leave)
	h.shakeHands()
	return h
}

// connectHost connects with an address of "assent hosts", and shakes hands.
func connectHost(t *testing.T, revision, address, token string) *rawHost {
	t.Helper()
	return connectHostNamed(t, "claude-code", revision, address, token)
}

// connectHostNamed connects a host with a name.
func connectHostNamed(t *testing.T, name, revision, address, token string) *rawHost {
	t.Helper()
	h := &rawHost{t: t, name: name, isHTTP: true, revision: revision, declares: hostCapabilities, frames: make(chan string, 100), requests: map[int][2]string{}, early: map[int]string{}}
	var session string
	streams := map[int]func(){} // ends the stream of a request
	h.cancel = func(id int) {
		if h.isModern() {
			streams[id]()
			return
		}
		h.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id))
	}
	// do sends an HTTP request, and has the frames of the answer come on frames.
	do := func(method, frame string, header http.Header) (*http.Response, func()) {
		r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(frame))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = header
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Mcp-Protocol-Version", revision)
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if response.StatusCode > http.StatusNoContent {
			text, _ := io.ReadAll(response.Body)
			t.Fatalf("%s: %s: %s", frame, response.Status, text)
		}
		read := make(chan struct{})
		go func() {
			defer close(read)
			for body := bufio.NewScanner(response.Body); body.Scan(); {
				if data, ok := strings.CutPrefix(body.Text(), "data: "); ok && data != "" {
					h.frames <- data
				}
			}
		}()
		end := func() {
			_ = response.Body.Close()
			<-read
		}
		t.Cleanup(end)
		return response, end
	}
	h.write = func(frame string) {
		var f struct {
			ID     int
			Method string
			Params struct{ Name, TaskID string }
		}
		if err := json.Unmarshal([]byte(frame), &f); err != nil {
			t.Fatal(err)
		}
		response, end := do(http.MethodPost, frame, http.Header{
			"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
			"Mcp-Method": {f.Method}, "Mcp-Name": {cmp.Or(f.Params.Name, f.Params.TaskID)},
		})
		session = cmp.Or(response.Header.Get("Mcp-Session-Id"), session)
		streams[f.ID] = end
	}
	h.listen = func() {
		if h.isModern() {
			h.send("subscriptions/listen", `{"notifications":{"toolsListChanged":true}}`)
			return
		}
		do(http.MethodGet, "", http.Header{"Accept": {"text/event-stream"}})
	}
	h.leave = func() {
		if !h.isModern() {
			do(http.MethodDelete, "", http.Header{})
		}
	}
	h.shakeHands()
	return h
}

func (h *rawHost) shakeHands() {
	if !h.isModern() {
		h.call("initialize", `{"protocolVersion":"`+h.revision+`","capabilities":`+h.declares+`,"clientInfo":{"name":"`+h.name+`","version":"2"}}`)
		h.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	}
}

func (h *rawHost) isModern() bool { return h.revision >= "2026-07-28" }

// isSessionless reports whether nothing tells the host from another of the same program.
func (h *rawHost) isSessionless() bool { return h.isHTTP && h.isModern() }

// capabilities are those that a request declares since 2026-07-28.
func (h *rawHost) capabilities() string {
	if !h.tasks {
		return h.declares
	}
	return h.declares[:len(h.declares)-1] + `,"extensions":{"io.modelcontextprotocol/tasks":{}}}`
}

// send sends a request with an object as params, and returns its id.
func (h *rawHost) send(method, params string) int {
	h.t.Helper()
	h.last++
	h.requests[h.last] = [2]string{method, params}
	var meta []string
	if h.isModern() {
		meta = append(meta, `"io.modelcontextprotocol/protocolVersion":"`+h.revision+`"`,
			`"io.modelcontextprotocol/clientInfo":{"name":"`+h.name+`","version":"2"}`,
			`"io.modelcontextprotocol/clientCapabilities":`+h.capabilities())
	}
	if h.token != "" {
		meta = append(meta, fmt.Sprintf(`"progressToken":%q`, h.token))
	}
	if h.meta != "" {
		meta = append(meta, h.meta)
	}
	if len(meta) > 0 {
		members := `"_meta":{` + strings.Join(meta, ",") + `}`
		if params != "{}" {
			members += ","
		}
		params = "{" + members + params[1:]
	}
	h.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, h.last, method, params))
	return h.last
}

// await returns the answer to a request. While it waits, it answers Assent's requests.
func (h *rawHost) await(id int) string {
	h.t.Helper()
	if frame, ok := h.early[id]; ok {
		delete(h.early, id)
		return frame
	}
	for frame := range h.frames {
		var m struct {
			ID     *int
			Method string
			Params json.RawMessage
			Result struct {
				InputRequests map[string]struct {
					Method string
					Params json.RawMessage
				}
				RequestState string
			}
		}
		if err := json.Unmarshal([]byte(frame), &m); err != nil {
			h.t.Fatalf("%v: %s", err, frame)
		}
		switch {
		case m.Method != "" && m.ID != nil && h.answer != nil:
			h.asked = append(h.asked, m.Method+" "+string(m.Params))
			h.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%s}`, *m.ID, h.answer(m.Method)))
		case m.Method != "" || m.ID == nil:
			h.heard = append(h.heard, m.Method+" "+string(m.Params))
		case *m.ID == id && m.Result.RequestState != "":
			var responses []string
			for name, asked := range m.Result.InputRequests {
				if h.answer != nil {
					h.asked = append(h.asked, asked.Method+" "+string(asked.Params))
					responses = append(responses, fmt.Sprintf("%q:%s", name, h.answer(asked.Method)))
				}
			}
			again := h.requests[id]
			id = h.send(again[0], fmt.Sprintf(`{"requestState":%q,"inputResponses":{%s},%s`, m.Result.RequestState, strings.Join(responses, ","), again[1][1:]))
			h.requests[id] = again
		case *m.ID == id:
			return frame
		default:
			h.early[*m.ID] = frame
		}
	}
	h.t.Fatal("the gateway has ended")
	return ""
}

// follow follows the MCP task of a call to its end and answers its questions. It returns the answer to the call, or the
// state of a task that has failed.
func (h *rawHost) follow(created string) string {
	h.t.Helper()
	_, id, _ := strings.Cut(created, `"taskId":"`)
	id, _, _ = strings.Cut(id, `"`)
	if id == "" {
		h.t.Fatalf("the call became no MCP task: %s", created)
	}
	params := fmt.Sprintf(`{"taskId":%q}`, id)
	if !h.isModern() {
		return h.call("tasks/result", params)
	}
	h.heard = nil
	h.send("subscriptions/listen", fmt.Sprintf(`{"notifications":{"taskIds":[%q]}}`, id))
	h.awaitNotification("notifications/subscriptions/acknowledged")
	state := h.call("tasks/get", params)
	answered := map[string]bool{}
	for {
		var m struct {
			Result, Params struct {
				Status        string
				InputRequests map[string]struct{ Method string }
			}
		}
		if err := json.Unmarshal([]byte(state), &m); err != nil {
			h.t.Fatalf("%v: %s", err, state)
		}
		now := m.Params
		if now.Status == "" {
			now = m.Result
		}
		if now.Status != "working" && now.Status != "input_required" {
			return state
		}
		for name, asked := range now.InputRequests {
			if h.answer != nil && !answered[name] {
				answered[name] = true
				h.call("tasks/update", fmt.Sprintf(`{"taskId":%q,"inputResponses":{%q:%s}}`, id, name, h.answer(asked.Method)))
			}
		}
		isOfTask := func(heard string) bool {
			return strings.HasPrefix(heard, "notifications/tasks ") && strings.Contains(heard, id)
		}
		if at := slices.IndexFunc(h.heard, isOfTask); at >= 0 {
			state = `{"params":` + strings.TrimPrefix(h.heard[at], "notifications/tasks ") + `}`
			h.heard = slices.Delete(h.heard, at, at+1)
		} else {
			state = h.awaitNotification(id)
		}
	}
}

// awaitNotification returns the next notification with a text in it.
func (h *rawHost) awaitNotification(text string) string {
	h.t.Helper()
	for frame := range h.frames {
		if strings.Contains(frame, text) {
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

// hostFolder returns a folder that configures a server "logs-answers" of each era, and the file in which these note the answers that they got.
func (h daemonHome) hostFolder() (folder, log string) {
	h.t.Helper()
	log = filepath.Join(h.folder, "told")
	entry := func(era string) string {
		return fmt.Sprintf(`{"command":"logs-answers","env":{"ERA":%q,"LOG":%q}}`, era, log)
	}
	return folderWith(h.t, `{"servers":{"legacy":`+entry("2025-11-25")+`,"modern":`+entry("2026-07-28")+`}}`), log
}

// gatewayOf returns "assent gateway SERVER" in such a folder.
func (h daemonHome) gatewayOf(server string, flags ...string) (gateway *exec.Cmd, log string) {
	h.t.Helper()
	gateway = h.command(append([]string{"gateway", "--trust", "--data-dir", filepath.Join(h.folder, "host")}, flags...)...)
	if server != "" {
		gateway.Args = append(gateway.Args, server)
	}
	gateway.Dir, log = h.hostFolder()
	return gateway, log
}

// addHost returns the address and the token of a host over HTTP, in such a folder.
func (h daemonHome) addHost(server string, flags ...string) (folder, address, token, log string) {
	h.t.Helper()
	c := h.command(append([]string{"hosts", "add", "a host", "--server", server, "--trust", "--data-dir", filepath.Join(h.folder, "host")}, flags...)...)
	c.Dir, log = h.hostFolder()
	address, token = h.added(c)
	return c.Dir, address, token, log
}

// added runs "assent hosts add" and returns what it says.
func (h daemonHome) added(add *exec.Cmd) (address, token string) {
	h.t.Helper()
	add.Stderr = os.Stderr
	out, err := add.Output()
	if err != nil {
		h.t.Fatal(err)
	}
	if _, err := fmt.Sscanf(string(out), "URL %s\nHeader Authorization: Bearer %s\n", &address, &token); err != nil {
		h.t.Fatalf("%v: %s", err, out)
	}
	return address, token
}

// awaitLeaving waits until the daemon has heard that no host is there that started a gateway.
func (h daemonHome) awaitLeaving() {
	h.t.Helper()
	isHost := func(a daemon.Attached) bool { return a.Client == daemon.Host }
	for slices.ContainsFunc(h.status().Attached, isHost) {
	}
}

// attachHost returns a host that is connected over a transport, its folder, and the log of its servers.
func (h daemonHome) attachHost(transport, revision, server string, flags ...string) (host *rawHost, folder, log string) {
	h.t.Helper()
	if transport == "stdio" {
		gateway, log := h.gatewayOf(server, flags...)
		return startHost(h.t, revision, gateway), gateway.Dir, log
	}
	folder, address, token, log := h.addHost(server, flags...)
	return connectHost(h.t, revision, address, token), folder, log
}

// awaitAsk returns the open ask of the other workspace, once there is one.
func awaitAsk(t *testing.T, window *talk) protocol.OpenAsk {
	t.Helper()
	return awaitAsks(t, window, 1)[0]
}

// awaitAsks returns the open asks of the other workspace, once there are so many.
func awaitAsks(t *testing.T, window *talk, many int) []protocol.OpenAsk {
	t.Helper()
	heard := false // also while the list is awaited, which may then be from before
	window.Heard = func(string, json.RawMessage) { heard = true }
	for {
		heard = false
		var listed protocol.ListOpenAsksResult
		if err := window.Call("ask/list", map[string]any{}, &listed); err != nil {
			t.Fatal(err)
		}
		if len(listed.Asks) >= many {
			return listed.Asks
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
	acceptWith(t, window, ask, "x")
}

// acceptWith answers a form with a text.
func acceptWith(t *testing.T, window *talk, ask protocol.OpenAsk, text string) {
	t.Helper()
	err := window.Call("askResponse", map[string]any{
		"taskId": ask.TaskID, "askId": ask.AskID, "askResponse": protocol.YesButtonClicked,
		"elicitationContent": map[string]any{"a": text},
	}, &struct{}{})
	if err != nil {
		t.Fatal(err)
	}
}

// answersIn returns the answers that the servers noted.
func answersIn(t *testing.T, log string) []string {
	t.Helper()
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
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
					host, folder, log := h.attachHost(transport, revision, server)
					if tools := host.call("tools/list", "{}"); !strings.Contains(tools, `{"name":"form","inputSchema":{"type":"object"}}`) {
						t.Errorf("the tools are %s", tools)
					}
					// The host answers in place of the person. A server that got these members would not ask.
					forged := `"inputResponses":{"q":{"action":"accept"}}`
					if !host.isModern() {
						forged += `,"requestState":"s"` // a modern host gets an error
					}
					id := host.send("tools/call", `{"name":"form","arguments":{"n":1.50},`+forged+`}`)
					ask := awaitAsk(t, window)
					if want := "Claude Code in " + filepath.Base(folder); ask.Title != want {
						t.Errorf("the conversation is %q, want %q", ask.Title, want)
					}
					if ask.Host != "Claude Code" {
						t.Errorf("the ask is of the host %q, want Claude Code", ask.Host)
					}
					accept(t, window, ask)
					if got := host.await(id); !strings.Contains(got, `"content":[]`) {
						t.Errorf("the host got %s", got)
					}
					if got := len(answersIn(t, log)); got != 1 {
						t.Errorf("the server got %d answers", got)
					}
				})
			}
		}
	}
}

// kinds are what servers ask, with what the host answers, and what the server is told if the host answers and if a window does.
// An empty answer of the window means that the host is asked in any case.
var kinds = []struct{ tool, hostSays, fromHost, fromWindow string }{
	{"form", `{"action":"accept","content":{"a":"host"}}`, `"a":"host"`, `"a":"x"`},
	{"url", `{"action":"decline"}`, `decline`, `accept`},
	{"sample", `{"role":"assistant","content":{"type":"text","text":"host"},"model":"m"}`, `"text":"host"`, `"text":"x"`},
	{"roots", `{"roots":[{"uri":"file:///host"}]}`, `file:///host`, ``},
	{"tools", `{"role":"assistant","content":{"type":"tool_use","id":"1","name":"t","input":{"host":1}},"model":"m","stopReason":"toolUse"}`, `"input":{"host":1}`, `none`},
}

// answerInWindow answers any ask.
func answerInWindow(t *testing.T, window *talk, ask protocol.OpenAsk) {
	t.Helper()
	params := map[string]any{"taskId": ask.TaskID, "askId": ask.AskID, "askResponse": protocol.YesButtonClicked}
	switch ask.Wants {
	case protocol.WantsForm:
		params["elicitationContent"] = map[string]any{"a": "x"}
	case protocol.WantsCompletion:
		params["handWritten"] = map[string]any{"text": "x", "model": "m"}
	}
	if err := window.Call("askResponse", params, &struct{}{}); err != nil {
		t.Fatal(err)
	}
}

// Every question of a server is answered in the place that the person chose, by a host of either era for a server
// of either era.
func TestAQuestionIsAnsweredWhereThePersonWants(t *testing.T) {
	t.Parallel()
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		for _, server := range []string{"legacy", "modern"} {
			for _, where := range []string{"assent", "host", "first, the host", "first, a window"} {
				for _, transport := range []string{"stdio", "http"} {
					t.Run(strings.Join([]string{revision, server, where, transport}, " "), func(t *testing.T) {
						t.Parallel()
						h := newDaemonHome(t)
						window := h.serve()
						if err := window.shakeHands(); err != nil {
							t.Fatal(err)
						}
						answerIn, _, _ := strings.Cut(where, ",")
						host, _, log := h.attachHost(transport, revision, server, "--answer-in", answerIn)
						for _, kind := range kinds {
							host.answer = func(string) string { return kind.hostSays }
							want := kind.fromHost
							byWindow := where == "assent" || where == "first, a window"
							if byWindow && kind.fromWindow == "none" {
								continue // no model of this test calls tools
							}
							if byWindow && kind.fromWindow != "" {
								want, host.answer = kind.fromWindow, nil
							}
							id := host.send("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{}}`, kind.tool))
							if host.answer == nil {
								answerInWindow(t, window, awaitAsk(t, window))
							}
							if got := host.await(id); !strings.Contains(got, `"content":[]`) {
								t.Errorf("%s: the host got %s", kind.tool, got)
							}
							all := answersIn(t, log)
							if last := all[len(all)-1]; !strings.Contains(last, want) {
								t.Errorf("%s: the server got %s, want %s", kind.tool, last, want)
							}
						}
						host.token, host.heard = "mine", nil
						host.call("tools/call", `{"name":"progress","arguments":{}}`)
						if want := `{"progressToken":"mine","progress":1,"note":"half"}`; !slices.Contains(host.heard, "notifications/progress "+want) {
							t.Errorf("the host heard %q, want progress %s", host.heard, want)
						}
					})
				}
			}
		}
	}
}

// The trace context of a host reaches the server, and that of the server's question the host, as each wrote it.
func TestTraceContextPasses(t *testing.T) {
	t.Parallel()
	for _, era := range [][2]string{{"2025-11-25", "legacy"}, {"2026-07-28", "modern"}, {"2026-07-28", "legacy"}} {
		t.Run(era[0]+" "+era[1], func(t *testing.T) {
			t.Parallel()
			host, _, log := newDaemonHome(t).attachHost("stdio", era[0], era[1], "--answer-in", "host")
			host.answer = func(string) string { return `{"action":"accept","content":{}}` }
			context := []string{`"traceparent":"00-a-1-00"`, `"tracestate":"v=1.0,w=\u0061"`, `"baggage":"k=v"`}
			host.await(host.send("tools/call", `{"name":"traced","arguments":{},"_meta":{`+strings.Join(context, ",")+`}}`))
			calls := strings.Join(answersIn(t, log+".calls"), "\n")
			for _, member := range context {
				if !strings.Contains(calls, member) {
					t.Errorf("the server got %s, want %s", calls, member)
				}
			}
			if asked := strings.Join(host.asked, "\n"); !strings.Contains(asked, `"traceparent":"00-b-2-01"`) {
				t.Errorf("the host was asked %s, want the server's trace context", asked)
			}
		})
	}
}

// awaitNoAsk returns once nothing is asked.
func awaitNoAsk(t *testing.T, window *talk) {
	t.Helper()
	heard := false // also while the list is awaited, which may then be from before
	window.Heard = func(string, json.RawMessage) { heard = true }
	for {
		heard = false
		var listed protocol.ListOpenAsksResult
		if err := window.Call("ask/list", map[string]any{}, &listed); err != nil {
			t.Fatal(err)
		}
		if len(listed.Asks) == 0 {
			return
		}
		for !heard {
			if _, err := window.Next(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// eventually waits for a condition that no event reports.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	deadline := time.After(2 * time.Minute)
	for !done() {
		select {
		case <-deadline:
			t.Fatalf("waited in vain for %s", what)
		case <-time.Tick(5 * time.Millisecond):
		}
	}
}

// A host can have each call as an MCP task, whether or not its server makes one of it, and cancel it. A host that gives up a
// call cancels it, too, unless a person is asked.
func TestMCPTasksAndCancellation(t *testing.T) {
	t.Parallel()
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		for _, server := range []string{"legacy", "modern"} {
			for _, where := range []string{"assent", "host", "first, the host", "first, a window"} {
				for _, transport := range []string{"stdio", "http"} {
					t.Run(strings.Join([]string{revision, server, where, transport}, " "), func(t *testing.T) {
						t.Parallel()
						h := newDaemonHome(t)
						window := h.serve()
						if err := window.shakeHands(); err != nil {
							t.Fatal(err)
						}
						answerIn, _, _ := strings.Cut(where, ",")
						host, _, log := h.attachHost(transport, revision, server, "--answer-in", answerIn)
						host.call("tools/list", "{}")
						isToldOfCancellation := func() {
							t.Helper()
							host.answer = nil
							if got := host.call("tools/call", `{"name":"told","arguments":{}}`); !strings.Contains(got, `"content":[]`) {
								t.Errorf("the host got %s", got)
							}
						}

						// A call that asks nothing.
						host.token = "mine"
						stuck := host.send("tools/call", `{"name":"stuck","arguments":{}}`)
						host.awaitNotification("notifications/progress")
						host.cancel(stuck)
						isToldOfCancellation()
						host.token = ""

						host.tasks = true
						byWindow := where == "assent" || where == "first, a window"
						for _, tool := range []string{"form", "job"} {
							host.answer = nil
							want := `"a":"x"`
							created := host.call("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{},"task":{}}`, tool))
							if byWindow {
								answerInWindow(t, window, awaitAsk(t, window))
							} else {
								want = `"a":"host"`
								host.answer = func(string) string { return `{"action":"accept","content":{"a":"host"}}` }
							}
							if got := host.follow(created); !strings.Contains(got, `"content":[]`) {
								t.Errorf("%s: the host got %s", tool, got)
							}
							all := answersIn(t, log)
							if last := all[len(all)-1]; !strings.Contains(last, want) {
								t.Errorf("%s: the server got %s, want %s", tool, last, want)
							}
						}
						answers := len(answersIn(t, log))
						for _, tool := range []string{"form", "job"} {
							host.answer = nil
							created := host.call("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{},"task":{}}`, tool))
							_, id, _ := strings.Cut(created, `"taskId":"`)
							id, _, _ = strings.Cut(id, `"`)
							switch { // a server that asks after the cancellation would ask the person
							case byWindow:
								awaitAsk(t, window)
							case !host.isModern():
								host.send("tasks/result", fmt.Sprintf(`{"taskId":%q}`, id))
								host.awaitNotification("elicitation/create")
							}
							host.call("tasks/cancel", fmt.Sprintf(`{"taskId":%q}`, id))
							if got := host.call("tasks/get", fmt.Sprintf(`{"taskId":%q}`, id)); !strings.Contains(got, `"status":"cancelled"`) {
								t.Errorf("%s: the MCP task is %s", tool, got)
							}
							awaitNoAsk(t, window)
							if server == "legacy" || tool == "job" { // else no request to the server is open
								isToldOfCancellation()
							}
						}
						for _, answer := range answersIn(t, log)[answers:] {
							if strings.Contains(answer, "accept") {
								t.Errorf("the server of a cancelled call got %s", answer)
							}
						}
					})
				}
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

// A session gets its lists without the servers, which start at the first call. A modern server has one process for all
// sessions, a legacy one has one for each.
func TestServersStartAtTheFirstUse(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		server string
		starts int
	}{{"legacy", 2}, {"modern", 1}} {
		t.Run(test.server, func(t *testing.T) {
			t.Parallel()
			h := newDaemonHome(t)
			gateway, log := h.gatewayOf(test.server)
			again := func() *rawHost {
				same := h.command(gateway.Args[1:]...)
				same.Dir = gateway.Dir
				return startHost(t, "2025-11-25", same)
			}
			started := func(when string, want int) {
				t.Helper()
				if got := len(answersIn(t, log+".starts")); got != want {
					t.Errorf("%s: %d processes have started, want %d", when, got, want)
				}
			}
			first := again()
			tools := first.call("tools/list", "{}")
			started("the first session of all", 1)
			first.leave()
			h.run("daemon", "stop") // in order: one that is killed may not have kept the lists
			sessions := []*rawHost{again(), again(), again()}
			for _, host := range sessions {
				if got := host.call("tools/list", "{}"); after(got, "result") != after(tools, "result") {
					t.Errorf("the list is %s, it was %s", got, tools)
				}
			}
			started("sessions that call nothing", 1)
			for _, host := range sessions[:2] {
				for range 2 {
					if got := host.call("tools/call", `{"name":"find_users","arguments":{}}`); !strings.Contains(got, `"content":[]`) {
						t.Errorf("the host got %s", got)
					}
				}
			}
			started("two sessions that call", 1+test.starts)
		})
	}
}

func TestAResourceThatChanges(t *testing.T) {
	t.Parallel()
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		for _, server := range []string{"legacy", "modern"} {
			t.Run(revision+" "+server, func(t *testing.T) {
				t.Parallel()
				host, _, _ := newDaemonHome(t).attachHost("stdio", revision, server)
				if host.isModern() {
					host.send("subscriptions/listen", `{"notifications":{"resourceSubscriptions":["memo://1"]}}`)
				} else {
					host.send("resources/subscribe", `{"uri":"memo://1"}`)
				}
				host.awaitNotification(`"method":"notifications/resources/updated","params":{`)
			})
		}
	}
}

// after returns what follows a member's name.
func after(frame, name string) string {
	_, rest, _ := strings.Cut(frame, `"`+name+`"`)
	return rest
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
	if got := len(answersIn(t, log)); got != 1 {
		t.Errorf("the tool ran %d times", got)
	}
}

// openTask returns a task's messages.
func openTask(t *testing.T, window *talk, taskID string) []protocol.Message {
	t.Helper()
	var opened protocol.OpenTaskResult
	if err := window.Call("task/open", map[string]any{"taskId": taskID}, &opened); err != nil {
		t.Fatal(err)
	}
	return opened.Messages
}

// A call that comes again is shown at the first one, and a person can run it on its own.
func TestACallThatCameAgainRunsSeparately(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		transport, revision string
		cancels             bool
	}{{"stdio", "2025-06-18", false}, {"stdio", "2025-06-18", true}, {"http", "2025-06-18", false}} {
		t.Run(fmt.Sprint(test), func(t *testing.T) {
			t.Parallel()
			h := newDaemonHome(t)
			window := h.serve()
			if err := window.shakeHands(); err != nil {
				t.Fatal(err)
			}
			host, _, log := h.attachHost(test.transport, test.revision, "modern")
			first := host.send("tools/call", `{"name":"form","arguments":{}}`)
			ask := awaitAsk(t, window)
			if test.cancels {
				host.cancel(first)
			}
			second := host.send("tools/call", `{"name":"form","arguments":{}}`)
			at := map[string]any{"taskId": ask.TaskID, "messageId": ask.Origin.MessageID}
			call := h.awaitJoined(window, ask)
			if want := (protocol.JoinedCall{GivenUp: test.cancels, Separable: true}); *call.Joined != want {
				t.Errorf("the call is joined as %+v, want %+v", *call.Joined, want)
			}
			for _, want := range []bool{true, false} {
				var result protocol.RunSeparatelyResult
				if err := window.Call("call/runSeparately", at, &result); err != nil || result.Started != want {
					t.Errorf("it started: %v, %v; want %v", result.Started, err, want)
				}
			}
			accept(t, window, ask)
			accept(t, window, awaitAsk(t, window))
			if got := host.await(second); !strings.Contains(got, `"content":[]`) {
				t.Errorf("the host got %s", got)
			}
			// The host need not wait for the first call, which has its answer some time after the person gave it.
			eventually(t, "both answers", func() bool { return len(answersIn(t, log)) == 2 })
		})
	}
}

// A person in a terminal is told of a call that came again, and can run it on its own.
func TestACallThatCameAgainRunsSeparatelyFromATerminal(t *testing.T) {
	t.Parallel()
	for _, server := range []string{"legacy", "modern"} {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			h := newDaemonHome(t)
			window := h.serve()
			if err := window.shakeHands(); err != nil {
				t.Fatal(err)
			}
			host, _, log := h.attachHost("stdio", "2025-06-18", server)
			const job = `{"name":"job","arguments":{}}`
			host.send("tools/call", job)
			ask := awaitAsk(t, window)
			inTerminal := func(args ...string) string {
				t.Helper()
				c := h.command(append([]string{"tasks"}, append(args, "--data-dir", filepath.Join(h.folder, "data"))...)...)
				c.Dir = t.TempDir()
				out, _ := c.CombinedOutput()
				return string(out)
			}
			if said := inTerminal("separate", "job"); !strings.Contains(said, "no call waits") {
				t.Fatalf("before it came again: %s", said)
			}
			host.send("tools/call", job)
			h.awaitJoined(window, ask)
			if said := inTerminal(); !strings.Contains(said, "The same call came again. Your answer is for both. To run it on its own: assent tasks separate job ") {
				t.Fatalf("the list says %s", said)
			}
			if said := inTerminal("separate", "job"); !strings.Contains(said, "it runs on its own") {
				t.Fatalf("separate says %s", said)
			}
			awaitAsks(t, window, 2)
			if got := len(answersIn(t, log+".runs")); got != 2 {
				t.Errorf("the tool ran %d times", got)
			}
		})
	}
}

// awaitJoined waits until an equal call has joined the call that asks, and returns that.
func (h daemonHome) awaitJoined(window *talk, ask protocol.OpenAsk) (call protocol.Call) {
	h.t.Helper()
	heard := false // also while the task is opened, which may then be from before
	window.Heard = func(string, json.RawMessage) { heard = true }
	for call.Joined == nil {
		heard = false
		for _, m := range openTask(h.t, window, ask.TaskID) {
			if m.ID == ask.Origin.MessageID {
				call = m.Body.(protocol.Call)
			}
		}
		for call.Joined == nil && !heard {
			if _, err := window.Next(); err != nil {
				h.t.Fatal(err)
			}
		}
	}
	return call
}

// restart ends the daemon, by force or in order, and starts another.
func (h daemonHome) restart(isKilled bool) {
	h.t.Helper()
	if isKilled {
		h.kill()
	} else {
		h.run("daemon", "stop", "--force")
	}
	h.run("hosts", "list")
	http.DefaultClient.CloseIdleConnections() // those to the daemon that has gone
}

// kill kills the daemon.
func (h daemonHome) kill() {
	h.t.Helper()
	a, err := daemon.Locate()
	if err != nil {
		h.t.Fatal(err)
	}
	for _, path := range []*string{&a.Lock, &a.Holder} {
		*path = filepath.Join(h.folder, filepath.Base(*path))
	}
	if _, err := daemon.Kill(h.t.Context(), daemon.Options{Address: a}); err != nil && !errors.Is(err, daemon.ErrNone) {
		h.t.Fatal(err)
	}
}

// lost is what a host hears of a call that cannot go on after the daemon's restart.
const lost = "Whether the tool did its work is not known, and it was not called again."

// A host comes back to its call after the daemon's restart: with the answers to questions that it got in a result, or to its
// MCP task. The call of a modern server goes on, and runs once. That of a legacy server has died.
func TestAHostComesBackAfterTheDaemonsRestart(t *testing.T) {
	t.Parallel()
	const answer = `{"action":"accept","content":{"a":"host"}}`
	for _, test := range []struct {
		revision, transport, answerIn string
		tasks                         bool
	}{
		{"2026-07-28", "stdio", "host", false},
		{"2026-07-28", "http", "host", false},
		{"2026-07-28", "stdio", "first", false}, // the question is open in Assent, too
		{"2026-07-28", "stdio", "host", true},
		{"2026-07-28", "http", "host", true},
		{"2025-11-25", "stdio", "host", true},
	} {
		for _, server := range []string{"legacy", "modern"} {
			for _, how := range []string{"killed", "stopped"} {
				t.Run(fmt.Sprintf("%s %s %s tasks=%t %s %s", test.revision, test.transport, test.answerIn, test.tasks, server, how), func(t *testing.T) {
					t.Parallel()
					h := newDaemonHome(t)
					host, _, log := h.attachHost(test.transport, test.revision, server, "--answer-in", test.answerIn)
					host.tasks = test.tasks
					host.answer = func(string) string { return answer }
					id := host.send("tools/call", `{"name":"form","arguments":{"n":1},"task":{}}`)
					var got string
					if test.tasks {
						created := host.await(id)
						if !host.isModern() {
							host.awaitNotification(`"input_required"`)
						}
						h.restart(how == "killed")
						got = host.follow(created)
					} else {
						asked := host.awaitNotification(`"requestState"`)
						_, state, _ := strings.Cut(asked, `"requestState":"`)
						state, _, _ = strings.Cut(state, `"`)
						h.restart(how == "killed")
						host.answer = func(string) string {
							t.Error("the host was asked again")
							return answer
						}
						got = host.call("tools/call", fmt.Sprintf(`{"name":"form","arguments":{"n":1},"requestState":%q,"inputResponses":{"q":%s}}`, state, answer))
						if again := host.call("tools/call", fmt.Sprintf(`{"name":"form","arguments":{"n":1},"requestState":%q,"inputResponses":{}}`, state)); !strings.Contains(again, "there is no such call") {
							t.Errorf("a state of a call that has ended: %s", again)
						}
					}
					want, answers := lost, 0
					if server == "modern" {
						want, answers = `"content":[]`, 1
					} else if how == "stopped" {
						want = "error"
					}
					if !strings.Contains(got, want) {
						t.Errorf("the host got %s, want %s", got, want)
					}
					if got := len(answersIn(t, log+".runs")); got != 1 {
						t.Errorf("the tool ran %d times", got)
					}
					text, _ := os.ReadFile(log)
					if got := strings.Count(string(text), `"a":"host"`); got != answers {
						t.Errorf("the server got %d answers, want %d: %s", got, answers, text)
					}
				})
			}
		}
	}
}

// An MCP task of a server that goes on without the daemon is still the host's after the restart, with its result.
func TestAnMCPTaskGoesOnAfterTheDaemonsRestart(t *testing.T) {
	t.Parallel()
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		for _, how := range []string{"killed", "stopped"} {
			t.Run(revision+" "+how, func(t *testing.T) {
				t.Parallel()
				h := newDaemonHome(t)
				files := t.TempDir()
				folder := folderWith(t, fmt.Sprintf(`{"servers":{"worker":{"command":"worker","cwd":%q,"env":{"SAYS":"It works hard."}}}}`, files))
				gateway := h.command("gateway", "--trust", "--data-dir", filepath.Join(h.folder, "host"), "worker")
				gateway.Dir = folder
				host := startHost(t, revision, gateway)
				host.tasks = true
				created := host.call("tools/call", `{"name":"research","arguments":{},"task":{}}`)
				if !strings.Contains(created, "It works hard.") {
					host.awaitNotification("It works hard.")
				}
				h.restart(how == "killed")
				if err := os.WriteFile(filepath.Join(files, "done"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
				if got := host.follow(created); !strings.Contains(got, `"text":"42"`) {
					t.Errorf("the host got %s", got)
				}
				if _, err := os.Stat(filepath.Join(files, "stopped")); err == nil {
					t.Error("the server's MCP task was cancelled")
				}
			})
		}
	}
}

// A host hears of servers that are configured while it runs, and of another one under the same name.
func TestAHostHearsOfServers(t *testing.T) {
	t.Parallel()
	h := newDaemonHome(t)
	entry := func(kind string) string {
		return fmt.Sprintf(`{"command":"neighbour","env":{"KIND":%q,"LOG":%q}}`, kind, filepath.Join(h.folder, "log"))
	}
	folder := folderWith(t, `{"servers":{"one":`+entry("healthy")+`}}`)
	start := func(server ...string) *rawHost {
		gateway := h.command(append([]string{"gateway", "--trust", "--data-dir", filepath.Join(h.folder, "host")}, server...)...)
		gateway.Dir = folder
		return startHost(t, "2025-11-25", gateway)
	}
	all, one := start(), start("one")
	all.listed("one__now")
	one.listed("now")
	configure := func(servers string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, ".vscode", "mcp.json"), []byte(servers), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const changed = `"notifications/tools/list_changed"`
	configure(`{"servers":{"one":` + entry("healthy") + `,"two":` + entry("healthy") + `}}`)
	all.awaitNotification(changed)
	all.listed("two__now")
	configure(`{"servers":{"one":` + entry("another") + `,"two":` + entry("healthy") + `}}`)
	all.awaitNotification(changed)
	one.awaitNotification(changed)
}

// Two hosts in one folder that take their servers from different files each have their own, at the same time.
func TestHostsWithDifferentFiles(t *testing.T) {
	t.Parallel()
	p := newPerson(t, `{}`)
	folder := p.project()
	for _, file := range []string{"a", "b"} {
		servers := fmt.Sprintf(`{"servers":{%q:{"command":"neighbour","env":{"KIND":"healthy","LOG":%q}}}}`, file, filepath.Join(p.home, "log"))
		if err := os.WriteFile(filepath.Join(folder, file+".json"), []byte(servers), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"a", "b"} {
		host := startHost(t, "2025-11-25", p.in(folder, "gateway", "--trust", "--config", file+".json", file))
		if got := host.call("tools/list", "{}"); !strings.Contains(got, `"name":"now"`) {
			t.Errorf("the host of %s.json got %s", file, got)
		}
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
