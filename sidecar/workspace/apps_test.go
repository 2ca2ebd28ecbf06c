package workspace_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/workspace/rpc/rpctest"
)

// newAppWindow opens a window that shows apps, with a call of the tool that has one.
func newAppWindow(t *testing.T, env map[string]any) (w *window, messageID int64) {
	t.Helper()
	env["TOOLSERVER_APP"] = "1"
	program := installToolServer(t)
	w = openWindowThatCan(t, t.TempDir(), newEndpoint(t), configured{
		"servers": map[string]any{"t": map[string]any{"command": program, "env": env}},
	}, map[string]any{"elicitation": true, "sampling": true, "apps": true})
	w.call("task/create", map[string]any{}, &w.task)
	return w, w.runTool("view")
}

// runTool makes a call of the person and returns its message.
func (w *window) runTool(name string) int64 {
	w.t.Helper()
	var started protocol.StartCallResult
	w.call("call/start", map[string]any{
		"taskId": w.task.ID, "serverName": "t", "request": map[string]any{"type": "tools/call", "toolName": name, "arguments": map[string]any{}},
	}, &started)
	w.until("the end of the call", func() bool {
		call, ok := w.messages[started.MessageID].Body.(protocol.Call)
		return ok && call.Result != nil
	})
	return started.MessageID
}

// openApp opens the app of a call.
func (w *window) openApp(messageID int64, more ...any) (opened protocol.OpenAppResult, err error) {
	w.t.Helper()
	params := map[string]any{"taskId": w.task.ID, "messageId": messageID}
	for i := 0; i+1 < len(more); i += 2 {
		params[more[i].(string)] = more[i+1]
	}
	err = w.try("app/open", params, &opened)
	return opened, err
}

// requestApp makes a request of an app, and answers each ask that comes.
func (w *window) requestApp(appID, method string, params any, answers ...protocol.AskResponse) (json.RawMessage, error) {
	w.t.Helper()
	id := w.begin("app/request", map[string]any{"taskId": w.task.ID, "appId": appID, "method": method, "params": params})
	awaited := map[int]bool{id: true}
	for _, answer := range answers {
		awaited[w.begin("askResponse", map[string]any{"taskId": w.task.ID, "askId": w.open(1)[0].AskID, "askResponse": answer})] = true
	}
	var got rpctest.Message
	for len(awaited) > 0 { // the ask's answer may come last
		line := w.next()
		m := w.read(line)
		if m.ID == nil || m.Method != "" {
			w.hear(line)
			continue
		}
		delete(awaited, *m.ID)
		if *m.ID == id {
			got = m
		}
	}
	if got.Error != nil {
		return nil, got.Error
	}
	var result protocol.AppRequestResult
	w.decode(got.Result, &result)
	return result.Result, nil
}

// begin makes a request and returns its id.
func (w *window) begin(method string, params any) int {
	w.t.Helper()
	w.ids++
	request, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": w.ids, "method": method, "params": params})
	if err != nil {
		w.t.Fatal(err)
	}
	w.send(string(request))
	return w.ids
}

func TestAnAppIsOpened(t *testing.T) {
	w, view := newAppWindow(t, map[string]any{})
	if call := last[protocol.Call](w); call.AppURI != "ui://t/view" {
		t.Errorf("the call is %+v", call)
	}
	opened, err := w.openApp(view)
	if err != nil {
		t.Fatal(err)
	}
	if opened.Asks != nil || opened.Network != "" || opened.Border == nil || !*opened.Border || !strings.Contains(string(opened.Tool), `"name":"view"`) {
		t.Errorf("the app is %+v", opened)
	}
	if status, body := read(t, strings.Replace(opened.URL, "/frame/", "/app/", 1)); status != http.StatusOK || !strings.Contains(body, "<title>seats") {
		t.Errorf("the app's page: %d %s", status, body)
	}
	w.call("app/close", map[string]any{"taskId": w.task.ID, "appId": opened.AppID}, nil)
	w.call("app/close", map[string]any{"taskId": w.task.ID, "appId": opened.AppID}, nil)
	if status, _ := read(t, opened.URL); status != http.StatusNotFound {
		t.Errorf("a closed app: %d", status)
	}
	if _, err := w.openApp(w.runTool("echo")); err == nil || !strings.Contains(err.Error(), "is no call with an app") {
		t.Errorf("a tool without an app: %v", err)
	}
	w.done()
}

// The page is asked for once, and again when the person wants it.
func TestAPageIsKept(t *testing.T) {
	w, view := newAppWindow(t, map[string]any{})
	title := func(more ...any) string {
		opened, err := w.openApp(view, more...)
		if err != nil {
			t.Fatal(err)
		}
		_, body := read(t, strings.Replace(opened.URL, "/frame/", "/app/", 1))
		return body
	}
	first := title()
	if again := title(); again != first {
		t.Errorf("the page was read again: %s and %s", first, again)
	}
	if reloaded := title("reload", true); reloaded == first {
		t.Error("the page was not read again")
	}
	w.close()
}

func TestAnAppsNetworkNeedsConsent(t *testing.T) {
	w, view := newAppWindow(t, map[string]any{"TOOLSERVER_DOMAINS": `["https://b.example.com","https://a.example.com","https://localhost"]`})
	asked, err := w.openApp(view)
	if err != nil {
		t.Fatal(err)
	}
	want := protocol.OpenAppResult{Asks: []string{"https://a.example.com", "https://b.example.com"}, Refused: []string{"https://localhost"}}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("the question (-want +got):\n%s", diff)
	}
	policy := func(more ...any) string {
		opened, err := w.openApp(view, more...)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.Get(strings.Replace(opened.URL, "/frame/", "/app/", 1))
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		return response.Header.Get("Content-Security-Policy")
	}
	for _, answer := range []any{"without", nil} {
		more := []any{"network", answer}
		if answer == nil {
			more = nil // remembered
		}
		if got := policy(more...); strings.Contains(got, "example.com") {
			t.Errorf("without the network, the policy is %s", got)
		}
	}
	for _, more := range [][]any{{"network", "allow"}, nil} {
		if got := policy(more...); !strings.Contains(got, "connect-src blob: data: https://b.example.com https://a.example.com;") {
			t.Errorf("with the network, the policy is %s", got)
		}
	}
	if _, err := w.openApp(view, "network", "all"); err == nil || !strings.Contains(err.Error(), "is none of allow and without") {
		t.Errorf("an answer that is none: %v", err)
	}

	var list protocol.ListPolicyResult
	w.call("policy/list", nil, &list)
	var rules []protocol.PolicyToolRule
	for _, e := range list.Entries {
		if rule, ok := e.(protocol.PolicyToolRule); ok {
			rules = append(rules, rule)
		}
	}
	if len(rules) != 1 || rules[0].Remember != protocol.RememberAlways || rules[0].Effect != protocol.EffectApprove || len(rules[0].AppDomains) != 2 {
		t.Fatalf("the rules are %+v", rules)
	}
	w.call("toolRule/remove", map[string]any{"ruleId": rules[0].RuleID}, nil)
	if asked, err := w.openApp(view); err != nil || len(asked.Asks) != 2 {
		t.Errorf("after the rule was removed: %+v, %v", asked, err)
	}
	w.close()
}

func TestAnAppsCallIsApproved(t *testing.T) {
	w, view := newAppWindow(t, map[string]any{})
	opened, err := w.openApp(view)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := w.requestApp(opened.AppID, "tools/call", map[string]any{"name": "refresh", "arguments": map[string]any{"n": 1}}, protocol.YesButtonClicked)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(raw), `"fresh":true`) {
		t.Errorf("the app got %s", raw)
	}
	question := last[protocol.Ask](w).Question.(protocol.UseMcpTool)
	if !question.FromApp || question.MessageID != view || question.ServerName != "t" || string(question.Arguments) != `{"n":1}` {
		t.Errorf("the question is %+v", question)
	}
	w.until("the end of the call", func() bool { return last[protocol.Call](w).Result != nil })
	call := last[protocol.Call](w)
	if call.FromApp != view || call.AppURI != "" || call.ToolUse != nil || call.Result.(protocol.ToolResult).Content == nil {
		t.Errorf("the call is %+v", call)
	}
	w.done()
}

// An app that asks again and again is refused before it asks.
func TestAPersonDeclinesAnAppThreeTimes(t *testing.T) {
	w, view := newAppWindow(t, map[string]any{})
	opened, err := w.openApp(view)
	if err != nil {
		t.Fatal(err)
	}
	call := map[string]any{"name": "refresh"}
	for _, answer := range []protocol.AskResponse{protocol.NoButtonClicked, protocol.CancelButtonClicked, protocol.NoButtonClicked} {
		if _, err := w.requestApp(opened.AppID, "tools/call", call, answer); err == nil || !strings.Contains(err.Error(), "The call was not made") {
			t.Errorf("after %s: %v", answer, err)
		}
	}
	if _, err := w.requestApp(opened.AppID, "tools/call", call); err == nil || !strings.Contains(err.Error(), "You declined 3 calls of this app in a row") {
		t.Errorf("the fourth time: %v", err)
	}
	again, err := w.openApp(view)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.requestApp(again.AppID, "tools/call", call, protocol.YesButtonClicked); err != nil {
		t.Errorf("after it was opened again: %v", err)
	}
	w.close()
}

func TestWhatAnAppMayAskFor(t *testing.T) {
	w, view := newAppWindow(t, map[string]any{})
	opened, err := w.openApp(view)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method string
		params any
		want   string
	}{
		{"resources/read", map[string]any{"uri": "memo://note"}, `"text":"Buy milk."`},
		{"resources/list", map[string]any{}, `"uri":"memo://note"`},
		{"resources/templates/list", nil, `"resourceTemplates"`},
		{"ui/open-link", map[string]any{"url": "https://example.com/a?b#c"}, `{"url":"https://example.com/a?b#c"}`},
	} {
		raw, err := w.requestApp(opened.AppID, c.method, c.params)
		if err != nil || !strings.Contains(string(raw), c.want) {
			t.Errorf("%s: %s, %v", c.method, raw, err)
		}
	}
	for _, c := range []struct {
		method string
		params any
		want   string
	}{
		{"tools/call", map[string]any{"name": "secret"}, `t has no tool "secret" for its app.`},
		{"tools/call", map[string]any{"name": "none"}, `t has no tool "none" for its app.`},
		{"tools/call", map[string]any{"name": "refresh", "arguments": []any{}}, "not a JSON object"},
		{"tools/call", []any{}, "cannot be read"},
		{"tools/call", map[string]any{"name": "refresh", "arguments": map[string]any{"x": strings.Repeat("x", 1<<20)}}, "more than 1024 KiB"},
		{"resources/read", map[string]any{"uri": "memo://none"}, "not found"},
		{"sampling/createMessage", map[string]any{}, `cannot ask for "sampling/createMessage"`},
		{"tools/list", map[string]any{}, `cannot ask for "tools/list"`},
		{"ui/download-file", map[string]any{}, `cannot ask for "ui/download-file"`},
		{"ui/open-link", map[string]any{"url": "javascript:alert(1)"}, "Only an http or https link"},
		{"ui/open-link", map[string]any{"url": "file:///etc/passwd"}, "Only an http or https link"},
		{"ui/open-link", map[string]any{"url": "https://user:pass@example.com"}, "Only an http or https link"},
		{"ui/open-link", map[string]any{"url": "https://example.com\\@evil.example"}, "Only an http or https link"},
		{"ui/open-link", map[string]any{"url": "https://example.com/" + strings.Repeat("x", 2000)}, "Only an http or https link"},
		{"ui/open-link", map[string]any{"url": "vscode://x/y"}, "Only an http or https link"},
	} {
		if raw, err := w.requestApp(opened.AppID, c.method, c.params); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: %s, %v, want %q", c.method, c.params, raw, err, c.want)
		}
	}
	if _, err := w.requestApp("another", "resources/list", nil); err == nil || !strings.Contains(err.Error(), "not open any more") {
		t.Errorf("another app: %v", err)
	}
	w.call("app/close", map[string]any{"taskId": w.task.ID, "appId": opened.AppID}, nil)
	if _, err := w.requestApp(opened.AppID, "resources/list", nil); err == nil || !strings.Contains(err.Error(), "not open any more") {
		t.Errorf("a closed app: %v", err)
	}
	w.close()
}

// The requests of a closed app are cancelled, and the person is not asked any more.
func TestAClosedAppAsksNothing(t *testing.T) {
	w, view := newAppWindow(t, map[string]any{})
	opened, err := w.openApp(view)
	if err != nil {
		t.Fatal(err)
	}
	id := w.begin("app/request", map[string]any{
		"taskId": w.task.ID, "appId": opened.AppID, "method": "tools/call", "params": map[string]any{"name": "refresh"},
	})
	w.open(1)
	closing := w.begin("app/close", map[string]any{"taskId": w.task.ID, "appId": opened.AppID})
	closed := false
	refused := w.await(id, func(line string, m rpctest.Message) {
		closed = closed || m.Answers(closing)
		w.hear(line)
	})
	if !closed { // the two answers come in either order
		w.await(closing, func(line string, _ rpctest.Message) { w.hear(line) })
	}
	if refused.Error == nil || !strings.Contains(refused.Error.Message, "The call was not made") {
		t.Errorf("the app got %s", refused.Result)
	}
	w.call("task/list", nil, nil) // after the events
	if last[protocol.Ask](w).Outcome == nil {
		t.Error("the ask is open")
	}
	if call := last[protocol.Call](w); call.FromApp != 0 {
		t.Errorf("the call was made: %+v", call)
	}
	w.close()
}

// A model is not offered what a server keeps for its app.
func TestAToolForAppsIsNotForModels(t *testing.T) {
	w, _ := newAppWindow(t, map[string]any{})
	w.model.then(uses("t__view", `{}`), says("Done."))
	w.say("Show it.")
	w.approve()
	w.idle()
	for _, tool := range w.model.asked()[0]["tools"].([]any) {
		if name := tool.(map[string]any)["function"].(map[string]any)["name"]; name == "t__refresh" {
			t.Errorf("the model is offered %s", name)
		}
	}
	if call := last[protocol.Call](w); call.ToolUse == nil || call.AppURI != "ui://t/view" {
		t.Errorf("the model's call is %+v", call)
	}
	w.done()
}

// Without a front end that shows apps, a call has none.
func TestNoAppWithoutAFrontEndForIt(t *testing.T) {
	w := newWindow(t, configured{"servers": map[string]any{"t": map[string]any{
		"command": installToolServer(t), "env": map[string]any{"TOOLSERVER_APP": "1"},
	}}})
	if call := w.messages[w.runTool("view")].Body.(protocol.Call); call.AppURI != "" {
		t.Errorf("the call is %+v", call)
	}
	w.done()
}

func TestAPageThatIsNoApp(t *testing.T) {
	for kind, want := range map[string]string{
		"plain": `The app of t cannot be shown: the server's page has the type "text/html"`,
		"none":  "The app of t cannot be read:",
	} {
		w, view := newAppWindow(t, map[string]any{"TOOLSERVER_PAGE": kind})
		_, err := w.openApp(view)
		var refused *protocol.Error
		if !errors.As(err, &refused) || refused.Code != protocol.CodeServerFailed || !strings.Contains(refused.Message, want) {
			t.Errorf("%s: %v, want %q", kind, err, want)
		}
		w.close()
	}
}

func read(t *testing.T, url string) (status int, body string) {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(raw)
}
