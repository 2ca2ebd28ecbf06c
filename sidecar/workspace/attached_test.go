package workspace_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/wire/auth"
	"assent/sidecar/wire/wiretest"
	"assent/sidecar/workspace"
	"assent/sidecar/workspace/rpc/rpctest"
)

// sharedBy returns a workspace that is closed at the end of the test, after its front ends have detached.
func sharedBy(t *testing.T) *workspace.Workspace {
	t.Helper()
	w, _ := openWorkspace(t, workspace.Options{DataDir: t.TempDir()})
	t.Cleanup(w.Close)
	return w
}

// seat attaches a front end with capabilities and a configuration, both JSON, and waits until it is attached.
func seat(t *testing.T, w *workspace.Workspace, name, capabilities, configuration string) *desk {
	t.Helper()
	d := newDesk(t, w)
	d.answer(d.ask("initialize", fmt.Sprintf(`{"protocolVersion":1,"clientInfo":{"name":%q,"version":"1"},"capabilities":%s,"configuration":%s}`, name, capabilities, configuration)))
	// The workspace attaches a front end after it has answered the handshake, and before it reads the next request.
	d.answerOnly(d.ask("server/list", "null"))
	return d
}

// answerOnly waits for the answer to a request. It does not consume the messages before it.
func (d *desk) answerOnly(id int) rpctest.Message {
	d.t.Helper()
	var before []string
	for d.answers[id].ID == nil {
		line := d.next()
		m := d.read(line)
		if m.Method == "" {
			d.answers[*m.ID] = m
		} else {
			before = append(before, line)
		}
	}
	d.early = append(before, d.early...)
	return d.answers[id]
}

// demoServer is the configuration with the server of [wiretest].
const demoServer = `{"servers":{"demo":{"command":"rawserver","args":["demo"]}},"model":{}}`

// leave detaches.
func (d *desk) leave() {
	d.t.Helper()
	if err := d.toServer.Close(); err != nil {
		d.t.Error(err)
	}
	if err := <-d.served; err != nil {
		d.t.Errorf("Attach = %v", err)
	}
	for range d.messages { // messages that were on their way
	}
}

// request waits for the workspace's next request of a method, and returns it.
func (d *desk) request(method string) rpctest.Message {
	d.t.Helper()
	for {
		m := d.read(d.next())
		if m.Method == method {
			return m
		}
		if m.ID != nil {
			d.answers[*m.ID] = m
		}
	}
}

// serve answers a request of the workspace.
func (d *desk) serve(request rpctest.Message, result string) {
	d.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%s}`, *request.ID, result))
}

// begin creates a task and starts the call in it during which the server asks.
func (d *desk) begin() (taskID string) {
	d.t.Helper()
	var task protocol.Task
	d.result(d.ask("task/create", `{"title":"Shared"}`), &task)
	d.answer(d.ask("call/start", fmt.Sprintf(`{"taskId":%q,"serverName":"demo","request":{"type":"tools/call","toolName":"ask"}}`, task.ID)))
	return task.ID
}

func (d *desk) accept(taskID, askID string) int {
	return d.ask("askResponse", fmt.Sprintf(`{"taskId":%q,"askId":%q,"askResponse":"yesButtonClicked","elicitationContent":{}}`, taskID, askID))
}

const shows = `{"elicitation":true,"sampling":true}`

func TestTheFirstFrontEndToAnswerSettlesAnAsk(t *testing.T) {
	wiretest.Write(t, asking)
	w := sharedBy(t)
	left, right := seat(t, w, "the left window", shows, demoServer), seat(t, w, "the right window", shows, demoServer)
	taskID := left.begin()
	left.until(func() bool { return len(left.asks) == 1 })
	right.until(func() bool { return len(right.asks) == 1 })
	if diff := cmp.Diff(left.asks, right.asks); diff != "" {
		t.Errorf("the windows were told of different asks (-left +right):\n%s", diff)
	}
	right.answer(right.accept(taskID, right.asks[0].AskID))
	left.until(func() bool { return left.settled == 1 })
	left.refused(left.accept(taskID, left.asks[0].AskID), protocol.CodeAskSettled, "the right window")
	left.until(func() bool { return len(left.asks) == 2 })
	left.leave()
	right.until(func() bool { return len(right.asks) == 2 })
	right.answer(right.ask("task/close", fmt.Sprintf(`{"taskId":%q}`, taskID)))
	right.leave()
}

func TestWorkOutlivesItsFrontEnd(t *testing.T) {
	wiretest.Write(t, strings.ReplaceAll(strings.ReplaceAll(asking, `"$ANSWER"`, `{"action":"accept","content":{}}`), `"$ANSWER2"`, `{"action":"accept","content":{}}`)+`
-- server demo --
{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"done"}]}}
`)
	w := sharedBy(t)
	d := seat(t, w, "a window", shows, demoServer)
	taskID := d.begin()
	d.until(func() bool { return len(d.asks) == 1 })
	d.leave()
	if got := w.Busy(); got != "a question is open, a call runs" {
		t.Errorf("with nobody attached, the workspace is busy with %q", got)
	}

	back := seat(t, w, "the same window, reloaded", shows, demoServer)
	var opened protocol.OpenTaskResult
	back.result(back.ask("task/open", fmt.Sprintf(`{"taskId":%q}`, taskID)), &opened)
	ask, ok := opened.Messages[len(opened.Messages)-1].Body.(protocol.Ask)
	if !ok || ask.Outcome != nil || ask.AskID != d.asks[0].AskID {
		t.Fatalf("after the reload the conversation ends with %+v", opened.Messages[len(opened.Messages)-1])
	}
	back.answer(back.accept(taskID, ask.AskID))
	back.until(func() bool { return len(back.asks) == 1 })
	back.answerOnly(back.accept(taskID, back.asks[0].AskID)) // the call may have ended before it
	heard := back.hears(`"callEnded"`)
	if line := heard[len(heard)-1]; !strings.Contains(line, `"text":"done"`) {
		t.Errorf("the call ended with %s", line)
	}
	if got := w.Busy(); got != "" {
		t.Errorf("after the call, the workspace is busy with %q", got)
	}
	back.leave()
}

func TestAFrontEndIsAskedForWhatItCan(t *testing.T) {
	const input = `{"servers":{"demo":{"command":"no-such-program","env":{"KEY":"${input:key}"}}},"inputs":[{"type":"promptString","id":"key","description":"The key"}],"model":{}}`
	const prompts = `{"inputs":true}`
	start := func(d *desk) int { return d.ask("server/start", `{"serverName":"demo"}`) }
	noProgram := func(d *desk, id int) { d.refused(id, protocol.CodeServerFailed, "no-such-program") }

	t.Run("the one that was used last", func(t *testing.T) {
		w := sharedBy(t)
		blind, first, second := seat(t, w, "a browser", `{}`, input), seat(t, w, "first", prompts, input), seat(t, w, "second", prompts, input)
		first.answer(first.ask("policy/list", `{}`)) // which a window does by itself
		first.send(`{"jsonrpc":"2.0","method":"window/didFocus"}`)
		first.answer(first.ask("task/list", `{}`)) // after it
		id := start(blind)
		first.serve(first.request("input/prompt"), `{"value":{"secret":"x"}}`)
		noProgram(blind, id)
		for _, d := range []*desk{blind, first, second} {
			d.leave()
		}
	})
	t.Run("another one, if it goes in the middle", func(t *testing.T) {
		w := sharedBy(t)
		blind, first, second := seat(t, w, "a browser", `{}`, input), seat(t, w, "first", prompts, input), seat(t, w, "second", prompts, input)
		id := start(blind)
		second.request("input/prompt")
		second.leave()
		first.serve(first.request("input/prompt"), `{"value":{"secret":"x"}}`)
		noProgram(blind, id)
		blind.leave()
		first.leave()
	})
	t.Run("one that comes", func(t *testing.T) {
		w := sharedBy(t)
		blind, first := seat(t, w, "a browser", `{}`, input), seat(t, w, "first", prompts, input)
		first.leave()
		id := start(blind)
		const waits = `"reason":"It waits for a window of this workspace`
		for told := ""; !strings.Contains(told, waits); {
			told = string(blind.request("server/changed").Params)
		}
		second := seat(t, w, "second", prompts, input)
		for told := waits; strings.Contains(told, waits); {
			told = string(blind.request("server/changed").Params)
		}
		second.serve(second.request("input/prompt"), `{"value":{"secret":"x"}}`)
		noProgram(blind, id)
		blind.leave()
		second.leave()
	})
}

// serverNames returns the names of the servers that are configured.
func serverNames(d *desk) string {
	d.t.Helper()
	var list protocol.ServersChangedParams
	d.result(d.ask("server/list", `{}`), &list)
	var all []string
	for _, s := range list.Servers {
		all = append(all, s.Name)
	}
	return strings.Join(all, " ")
}

func TestAFolderIsTrustedAsInTheWindowThatTrustsItLeast(t *testing.T) {
	folder := t.TempDir()
	quoted, err := json.Marshal(folder)
	if err != nil {
		t.Fatal(err)
	}
	configured := func(untrusted bool) string {
		return fmt.Sprintf(`{"workspaceFolders":[{"name":"f","path":%s,"untrusted":%t,"confirmed":true}],"model":{}}`, quoted, untrusted)
	}
	if err := os.MkdirAll(filepath.Join(folder, ".vscode"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, ".vscode", "mcp.json"), []byte(`{"servers":{"demo":{"command":"demo"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	w := sharedBy(t)
	trusting := seat(t, w, "a window that trusts", `{}`, configured(false))
	if got := serverNames(trusting); got != "demo" {
		t.Errorf("in a trusted folder the servers are %q", got)
	}
	careful := seat(t, w, "a window that does not", `{}`, configured(true))
	trusting.send(`{"jsonrpc":"2.0","method":"workspace/didChangeConfiguration","params":` + configured(false) + `}`)
	if got := serverNames(trusting); got != "" {
		t.Errorf("with a window that does not trust the folder, the servers are %q", got)
	}
	careful.leave()
	if got := serverNames(trusting); got != "demo" {
		t.Errorf("after that window has gone, the servers are %q", got)
	}
	trusting.leave()

	w = sharedBy(t)
	seat(t, w, "a window that does not", `{}`, configured(true)).leave()
	trusting = seat(t, w, "the same window, once it does", `{}`, configured(false))
	if got := serverNames(trusting); got != "demo" {
		t.Errorf("in a folder that the only window trusts, the servers are %q", got)
	}
	trusting.leave()
}

func TestTheLastConfigurationStaysUntilTheNextWindow(t *testing.T) {
	w := sharedBy(t)
	for _, server := range []string{"old", "new"} {
		configuration := fmt.Sprintf(`{"servers":{%q:{"command":"demo"}},"model":{}}`, server)
		seat(t, w, "a window", `{}`, configuration).leave()
		list, err := w.ListServers(t.Context())
		if err != nil || len(list.Servers) != 1 || list.Servers[0].Name != server {
			t.Errorf("after a window with the server %s has gone, the servers are %+v, %v", server, list, err)
		}
	}
}

func TestSecretsAreInMemoryWhileNoWindowIsOpen(t *testing.T) {
	const keeps = `{"secrets":true}`
	ctx := context.Background()
	w := sharedBy(t)
	kept := w.Secrets()
	if err := kept.Set(ctx, "key", &protocol.Secret{Secret: "nobody keeps it"}); !errors.Is(err, auth.ErrNotKept) {
		t.Errorf("with no front end that keeps secrets, Set = %v", err)
	}

	first := seat(t, w, "first", keeps, demoServer)
	set := func(d *desk) string {
		t.Helper()
		request := d.request("secret/set")
		d.serve(request, `{}`)
		return string(request.Params)
	}
	if got, want := set(first), `{"key":"key","value":{"secret":"nobody keeps it"}}`; got != want {
		t.Errorf("the first window was told to keep %s, want %s", got, want)
	}
	first.leave()

	if err := kept.Set(ctx, "key", &protocol.Secret{Secret: "newer"}); err != nil {
		t.Errorf("with no window, Set = %v", err)
	}
	if got, err := kept.Get(ctx, "key"); err != nil || got == nil || got.Secret != "newer" {
		t.Errorf("with no window, Get = %v, %v", got, err)
	}
	second := seat(t, w, "second", keeps, demoServer)
	if got, want := set(second), `{"key":"key","value":{"secret":"newer"}}`; got != want {
		t.Errorf("the second window was told to keep %s, want %s", got, want)
	}
	second.leave()
}

// held is a log that waits with a line that has a text.
type held struct {
	text       string
	came, goOn chan struct{}
}

func (h held) Write(line []byte) (int, error) {
	if strings.Contains(string(line), h.text) {
		close(h.came)
		<-h.goOn
	}
	return len(line), nil
}

func TestAModelOfVSCodeNeedsAWindow(t *testing.T) {
	const away, lends = "VS Code's models can answer while a window of this workspace is open", `{"languageModels":true}`
	_, both := twoWorkspaces(t)
	seat(t, both[0], "a window", lends, inFolder("api")).leave()
	if err := both[0].AskForModel(t.Context()); err == nil || !strings.Contains(err.Error(), away) {
		t.Errorf("with no window, asking for a model = %v", err)
	}

	blind, other := seat(t, both[0], "a browser", `{}`, inFolder("api")), seat(t, both[1], "a window", lends, inFolder("web"))
	var task protocol.Task
	blind.result(blind.ask("task/create", `{}`), &task)
	listed := func(d *desk, taskID string) (list protocol.ListModelsResult) {
		t.Helper()
		d.result(d.ask("model/list", fmt.Sprintf(`{"taskId":%q}`, taskID)), &list)
		return list
	}
	if got := listed(blind, ""); got.Away != away+"." {
		t.Errorf("with no window that has models, the list says %q", got.Away)
	}
	if got := listed(other, task.ID); got.Away != away+"." {
		t.Errorf("for a task of the other workspace, the list says %q", got.Away)
	}
	own := other.ask("model/list", `{}`)
	other.serve(other.request("languageModel/list"), `{"models":[{"id":"copilot","name":"Copilot","vendor":"copilot","family":"gpt"}]}`)
	var list protocol.ListModelsResult
	if other.result(own, &list); list.Away != "" || !slices.ContainsFunc(list.Models, func(m protocol.Model) bool { return m.ID == "vscode:copilot" }) {
		t.Errorf("with a window that has models, the list is %+v", list)
	}
	other.refused(other.ask("model/list", `{"taskId":"nobody's"}`), protocol.CodeUnknownTask, "nobody's")
	blind.leave()
	other.leave()
}

func TestModelsStayWhenAnotherWindowIsConfiguredDuringAHandshake(t *testing.T) {
	log := held{`"frontEnd":"provider"`, make(chan struct{}), make(chan struct{})}
	w := workspace.Open(workspace.Options{DataDir: t.TempDir(), Version: "test", Log: zerolog.New(log)})
	t.Cleanup(w.Close)
	blind := seat(t, w, "a browser", `{}`, demoServer)
	provider := newDesk(t, w)
	handshake := provider.ask("initialize", `{"protocolVersion":1,"clientInfo":{"name":"provider","version":"1"},"capabilities":{"languageModels":true},"configuration":`+demoServer+`}`)
	<-log.came
	blind.send(`{"jsonrpc":"2.0","method":"workspace/didChangeConfiguration","params":{"servers":{},"model":{}}}`)
	blind.answer(blind.ask("server/list", `{}`)) // after it
	close(log.goOn)
	provider.answer(handshake)
	provider.answer(provider.ask("server/list", `{}`)) // it is attached

	id := blind.ask("model/list", `{}`)
	listed := make(chan struct{})
	go func() {
		defer close(listed)
		blind.answer(id)
	}()
	models := false
	for !models {
		select {
		case line := <-provider.messages:
			if models = strings.Contains(line, `"languageModel/list"`); models {
				provider.serve(provider.read(line), `{"models":[]}`)
			}
		case <-listed:
			t.Fatal("the models were listed without those of the window that has some")
		}
	}
	<-listed
	blind.leave()
	provider.leave()
}

func TestAnOlderSecretDoesNotOvertakeANewerOne(t *testing.T) {
	ctx := context.Background()
	w := sharedBy(t)
	kept := w.Secrets()
	for _, key := range []string{"a", "b"} {
		if err := kept.Set(ctx, key, &protocol.Secret{Secret: "old"}); !errors.Is(err, auth.ErrNotKept) {
			t.Fatal(err)
		}
	}
	d := seat(t, w, "a window", `{"secrets":true}`, demoServer)
	stored := map[string]string{}
	keep := func(request rpctest.Message) (key string) {
		var params protocol.SetSecretParams
		if err := json.Unmarshal(request.Params, &params); err != nil {
			t.Fatal(err)
		}
		stored[params.Key] = params.Value.Secret
		d.serve(request, `{}`)
		return params.Key
	}
	first := d.request("secret/set") // of one of them; the other one waits
	other := "a"
	if strings.Contains(string(first.Params), `"key":"a"`) {
		other = "b"
	}
	set := make(chan error, 1)
	go func() { set <- kept.Set(ctx, other, &protocol.Secret{Secret: "new"}) }()
	for value := (*protocol.Secret)(nil); value == nil || value.Secret != "new"; runtime.Gosched() {
		var err error
		if value, err = kept.Get(ctx, other); err != nil {
			t.Fatal(err)
		}
	}
	keep(first)
	keep(d.request("secret/set"))
	if err := <-set; err != nil {
		t.Errorf("Set = %v", err)
	}
	go func() { set <- kept.Set(ctx, "last", &protocol.Secret{Secret: "last"}) }()
	for keep(d.request("secret/set")) != "last" {
	}
	if err := <-set; err != nil {
		t.Errorf("Set = %v", err)
	}
	if got := stored[other]; got != "new" {
		t.Errorf("the window keeps the %s value, want the new one", got)
	}
	d.leave()
}

func TestAFrontEndThatDoesNotReadIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := openWorkspace(t, workspace.Options{DataDir: t.TempDir(), SharedDirs: workspace.SharedDirs{Unwatched: true}})
		t.Cleanup(w.Close)
		stdin, toServer := io.Pipe()
		fromServer, stdout := io.Pipe()
		detached := make(chan error, 1)
		go func() { detached <- w.Attach(context.Background(), stdin, stdout) }()
		if _, err := io.WriteString(toServer, rpctest.Frame(initialize)); err != nil {
			t.Fatal(err)
		}
		if _, err := fromServer.Read(make([]byte, 1<<10)); err != nil { // it reads the handshake, and nothing more
			t.Fatal(err)
		}

		d := seat(t, w, "a window", shows, demoServer)
		for i := range 3 { // both are told of each change
			big := fmt.Sprintf(`{"servers":{"big":{"command":"%d%s"}},"model":{}}`, i, strings.Repeat("x", 3<<20))
			d.send(`{"jsonrpc":"2.0","method":"workspace/didChangeConfiguration","params":` + big + `}`)
			d.request("servers/changed")
		}
		if err := <-detached; err == nil || !strings.Contains(err.Error(), "does not read its messages") {
			t.Errorf("Attach = %v", err)
		}
		d.leave()
	})
}
