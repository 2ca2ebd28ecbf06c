package workspace_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"assent/protocol"
	"assent/sidecar/wire/wiretest"
	"assent/sidecar/workspace"
)

// twoWorkspaces returns two workspaces of one person, which are closed at the end of the test.
func twoWorkspaces(t *testing.T) (*workspace.Person, [2]*workspace.Workspace) {
	t.Helper()
	person, logins := &workspace.Person{}, t.TempDir()
	t.Cleanup(person.Close)
	var both [2]*workspace.Workspace
	for i := range both {
		both[i], _ = openWorkspace(t, workspace.Options{DataDir: t.TempDir(), SharedDirs: workspace.SharedDirs{LoginsDir: logins}, Person: person})
		t.Cleanup(both[i].Close)
	}
	return person, both
}

// inFolder is the configuration [demoServer] with a folder of this name. It is not trusted, so the server hears nothing of it.
func inFolder(name string) string {
	return strings.Replace(demoServer, "{", fmt.Sprintf(`{"workspaceFolders":[{"name":%q,"path":"/home/ada/%s","untrusted":true}],`, name, name), 1)
}

// inbox returns the open asks, as "workspace: server".
func (d *desk) inbox() (protocol.ListOpenAsksResult, string) {
	d.t.Helper()
	var list protocol.ListOpenAsksResult
	d.result(d.ask("ask/list", `{}`), &list)
	var lines []string
	for _, a := range list.Asks {
		lines = append(lines, a.Workspace+": "+a.Origin.ServerName)
	}
	return list, strings.Join(lines, ", ")
}

// othersChanged waits until the workspace says something of the others, and returns it.
func (d *desk) othersChanged() (p protocol.OthersChangedParams) {
	d.t.Helper()
	if err := json.Unmarshal(d.request("ask/othersChanged").Params, &p); err != nil {
		d.t.Fatal(err)
	}
	return p
}

func TestTheInboxHasTheAsksOfAllWorkspacesTheOwnFirst(t *testing.T) {
	wiretest.Write(t, asking)
	_, both := twoWorkspaces(t)
	api, web := seat(t, both[0], "a window", shows, inFolder("api")), seat(t, both[1], "a window", shows, inFolder("web"))
	api.begin()
	api.until(func() bool { return len(api.asks) == 1 })
	web.othersChanged()
	if _, got := web.inbox(); got != "api: demo" {
		t.Errorf("the inbox of the other workspace is %q", got)
	}
	web.begin()
	web.until(func() bool { return len(web.asks) == 1 })
	if _, got := web.inbox(); got != ": demo, api: demo" {
		t.Errorf("with an ask of its own, it is %q", got)
	}
	if list, _ := web.inbox(); list.Truncated {
		t.Error("a short inbox is said to be truncated")
	}
	var tasks protocol.ListTasksResult
	web.result(web.ask("task/list", `{}`), &tasks)
	if len(tasks.Tasks) != 1 || tasks.Tasks[0].Workspace != "" {
		t.Errorf("the tasks of the window are %+v", tasks.Tasks)
	}
	api.leave()
	web.leave()
}

func TestAnAskOfAnotherWorkspaceIsAnsweredFromHere(t *testing.T) {
	wiretest.Write(t, strings.ReplaceAll(strings.ReplaceAll(asking, `"$ANSWER"`, `{"action":"accept","content":{}}`), `"$ANSWER2"`, `{"action":"accept","content":{}}`)+`
-- server demo --
{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"done"}]}}
`)
	_, both := twoWorkspaces(t)
	api, web := seat(t, both[0], "VS Code", shows, inFolder("api")), seat(t, both[1], "VS Code", shows, inFolder("web"))
	taskID := api.begin()
	api.until(func() bool { return len(api.asks) == 1 })
	web.othersChanged()

	var opened protocol.OpenTaskResult
	web.result(web.ask("task/open", fmt.Sprintf(`{"taskId":%q}`, taskID)), &opened)
	if opened.Task.Workspace != "api" || len(opened.Messages) < 2 {
		t.Fatalf("opened from the other workspace, the task is %+v", opened)
	}
	web.answer(web.ask("task/search", fmt.Sprintf(`{"taskId":%q,"text":"demo"}`, taskID)))
	web.refused(web.ask("task/search", `{"taskId":"nobody's","text":"demo"}`), protocol.CodeUnknownTask, "")
	web.answer(web.ask("ask/draft", fmt.Sprintf(`{"taskId":%q,"askId":%q,"draft":{"a":"typed there"}}`, taskID, api.asks[0].AskID)))
	api.result(api.ask("task/open", fmt.Sprintf(`{"taskId":%q}`, taskID)), &opened)
	if got, _ := json.Marshal(opened.Messages); !strings.Contains(string(got), "typed there") {
		t.Errorf("the draft did not follow: %s", got)
	}
	web.answer(web.accept(taskID, api.asks[0].AskID))
	web.until(func() bool { return web.settled == 1 && len(web.asks) == 1 }) // it gets the events of the task
	api.until(func() bool { return len(api.asks) == 2 })
	if e := api.refused(api.accept(taskID, api.asks[0].AskID), protocol.CodeAskSettled, "by VS Code: web"); e == nil {
		t.Error("a second answer was taken")
	}
	var renamed protocol.Task
	web.result(web.ask("task/rename", fmt.Sprintf(`{"taskId":%q,"title":"Another"}`, taskID)), &renamed)
	if renamed.Workspace != "api" {
		t.Errorf("the renamed task is %+v", renamed)
	}
	api.answer(api.ask("task/rename", fmt.Sprintf(`{"taskId":%q,"title":"A third"}`, taskID)))
	for event := ""; !strings.Contains(event, `"A third"`); {
		event = string(web.request("task/event").Params)
		if !strings.Contains(event, `"workspace":"api"`) {
			t.Errorf("an event of another workspace's task does not say so: %s", event)
		}
	}
	web.answer(web.accept(taskID, web.asks[0].AskID))
	api.until(func() bool { return api.settled == 2 })
	api.leave()
	web.leave()
}

func TestAFrontEndHearsNothingOfTasksThatItDidNotOpen(t *testing.T) {
	wiretest.Write(t, asking)
	_, both := twoWorkspaces(t)
	api, web := seat(t, both[0], "a window", shows, inFolder("api")), seat(t, both[1], "a window", shows, inFolder("web"))
	taskID := api.begin()
	api.until(func() bool { return len(api.asks) == 1 })
	var other protocol.Task
	api.result(api.ask("task/create", `{"title":"the one that is opened"}`), &other)
	var opened protocol.OpenTaskResult
	web.result(web.ask("task/open", fmt.Sprintf(`{"taskId":%q}`, other.ID)), &opened)
	if !both[0].Shown() || both[1].Shown() {
		t.Errorf("shown by a front end of another workspace: %v, %v; want the first", both[0].Shown(), both[1].Shown())
	}
	api.answer(api.ask("task/rename", fmt.Sprintf(`{"taskId":%q,"title":"secret"}`, taskID)))
	api.answer(api.ask("task/rename", fmt.Sprintf(`{"taskId":%q,"title":"seen"}`, other.ID)))
	api.answer(api.ask("task/close", fmt.Sprintf(`{"taskId":%q}`, taskID)))
	api.answer(api.ask("task/rename", fmt.Sprintf(`{"taskId":%q,"title":"the end"}`, other.ID)))
	for event := ""; !strings.Contains(event, `"the end"`); {
		if event = web.next(); strings.Contains(event, taskID) {
			t.Errorf("it heard of a task that it did not open: %s", event)
		}
	}
	web.leave()
	if both[0].Shown() {
		t.Error("after it has left, a task is still shown")
	}
	api.leave()
}

func TestATaskOfNoWorkspaceIsUnknown(t *testing.T) {
	_, both := twoWorkspaces(t)
	d := seat(t, both[0], "a window", shows, demoServer)
	for _, method := range []string{"task/open", "task/rename", "askResponse", "chat/stop"} {
		d.refused(d.ask(method, `{"taskId":"nobody's","title":"x","askId":"a","askResponse":"yesButtonClicked"}`), protocol.CodeUnknownTask, `no task "nobody's"`)
	}
	d.refused(d.ask("ask/claim", `{"id":"nobody's","dismiss":true}`), protocol.CodeUnknownAsk, "nobody's")
	d.leave()
}

func TestOneOfSeveralWindowsNotifies(t *testing.T) {
	wiretest.Write(t, asking)
	_, both := twoWorkspaces(t)
	const notifies = `{"elicitation":true,"sampling":true,"attention":true}`
	left := seat(t, both[0], "VS Code", notifies, inFolder("api"))
	right := seat(t, both[0], "VS Code", notifies, inFolder("api"))
	if got := left.othersChanged(); !got.Quiet {
		t.Errorf("with a newer window on the folder, the older one is told %+v", got)
	}
	left.send(`{"jsonrpc":"2.0","method":"window/didFocus"}`)
	if got := right.othersChanged(); !got.Quiet {
		t.Errorf("once the other window has the focus, this one is told %+v", got)
	}
	if got := left.othersChanged(); got.Quiet {
		t.Errorf("the window with the focus is told %+v", got)
	}

	web := seat(t, both[1], "VS Code", notifies, inFolder("web"))
	web.begin()
	web.until(func() bool { return len(web.asks) == 1 })
	left.othersChanged() // it lists again, and has nothing to notify of
	web.leave()
	for got := (protocol.OthersChangedParams{}); got.Unattended != 1; got = left.othersChanged() {
		if got.Quiet {
			t.Errorf("the window with the focus is told %+v", got)
		}
	}
	right.send(`{"jsonrpc":"2.0","method":"window/didFocus"}`)
	for got := (protocol.OthersChangedParams{}); got.Unattended != 1; got = right.othersChanged() {
		continue
	}
	for got := left.othersChanged(); got.Unattended != 0; got = left.othersChanged() {
		continue
	}
	web = seat(t, both[1], "VS Code", notifies, inFolder("web"))
	for got := right.othersChanged(); got.Unattended != 0; got = right.othersChanged() {
		continue
	}
	for _, d := range []*desk{left, right, web} {
		d.leave()
	}
}

func TestTwoWindowsHaveTwoNames(t *testing.T) {
	for name, want := range map[string]string{"VS Code": "by VS Code (2)", "": "by a front end (2)"} {
		t.Run(want, func(t *testing.T) {
			wiretest.Write(t, asking)
			_, both := twoWorkspaces(t)
			left, right := seat(t, both[0], name, shows, demoServer), seat(t, both[0], name, shows, demoServer)
			taskID := left.begin()
			left.until(func() bool { return len(left.asks) == 1 })
			right.answer(right.accept(taskID, left.asks[0].AskID))
			left.refused(left.accept(taskID, left.asks[0].AskID), protocol.CodeAskSettled, want)
			left.leave()
			right.leave()
		})
	}
}

func TestSigningOutForgetsSecretsInAllWorkspaces(t *testing.T) {
	ctx := context.Background()
	const keeps = `{"secrets":true}`
	person, both := twoWorkspaces(t)
	seat(t, both[0], "a window", keeps, demoServer).leave()
	if err := both[0].Secrets().Set(ctx, "key", &protocol.Secret{Secret: "s3cret"}); err != nil { // no window keeps it yet
		t.Errorf("with no window, Set = %v", err)
	}
	other := seat(t, both[1], "a window", keeps, demoServer)
	late := other.request("secret/set") // it is on its way to the window, which signs out
	signedOut := other.ask("login/forget", `null`)
	other.answer(other.ask("server/list", `null`))
	other.serve(late, `{}`)
	removed := other.request("secret/set")
	if got, want := string(removed.Params), `{"key":"key","value":null}`; got != want {
		t.Errorf("at signing out the window was told to keep %s, want %s", got, want)
	}
	other.serve(removed, `{}`)
	other.answer(signedOut)
	other.leave()
	if got, err := both[0].Secrets().Get(ctx, "key"); err != nil || got != nil {
		t.Errorf("after signing out, Get = %v, %v", got, err)
	}
	if got := person.Busy(); got != "" {
		t.Errorf("after signing out, Busy = %q", got)
	}
}

func TestASecretWaitsForAWindowOfAnyWorkspace(t *testing.T) {
	ctx := context.Background()
	const keeps = `{"secrets":true}`
	person, both := twoWorkspaces(t)
	seat(t, both[0], "a window", keeps, demoServer).leave()
	if err := both[0].Secrets().Set(ctx, "key", &protocol.Secret{Secret: "rotated"}); err != nil {
		t.Errorf("with no window, Set = %v", err)
	}
	if got, want := person.Busy(), "a login waits for a window that keeps it"; got != want {
		t.Errorf("with a secret in memory alone, Busy = %q, want %q", got, want)
	}
	if got, err := both[1].Secrets().Get(ctx, "key"); err != nil || got == nil || got.Secret != "rotated" {
		t.Errorf("in the other workspace, Get = %v, %v", got, err)
	}
	other := seat(t, both[1], "a window", keeps, demoServer)
	other.serve(other.request("secret/set"), `{}`)
	done := make(chan struct{})
	go func() { defer close(done); other.serve(other.request("secret/set"), `{}`) }()
	if err := both[0].Secrets().Set(ctx, "other", nil); err != nil { // after the first
		t.Errorf("with a window of the other workspace, Set = %v", err)
	}
	if got := person.Busy(); got != "" {
		t.Errorf("once all is kept, Busy = %q", got)
	}
	<-done
	other.leave()
}

func TestARefusedSecretDoesNotWait(t *testing.T) {
	ctx := context.Background()
	const keeps = `{"secrets":true}`
	person, both := twoWorkspaces(t)
	window := seat(t, both[0], "a window", keeps, demoServer)
	window.answer(window.ask("server/list", `null`)) // it is attached
	set := make(chan error, 1)
	go func() { set <- both[0].Secrets().Set(ctx, "key", &protocol.Secret{Secret: "old"}) }()
	window.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":{"code":-32603,"message":"the keyring is locked"}}`, *window.request("secret/set").ID))
	if err := <-set; err == nil || !strings.Contains(err.Error(), "locked") {
		t.Errorf("Set = %v", err)
	}
	if got := person.Busy(); got != "" {
		t.Errorf("after the window refused it, Busy = %q", got)
	}
	window.leave()
	if err := both[0].Secrets().Set(ctx, "key", &protocol.Secret{Secret: "new"}); err != nil {
		t.Errorf("with no window, Set = %v", err)
	}
	if got := person.Busy(); got == "" {
		t.Error("a newer secret waits for nobody")
	}
	other := seat(t, both[1], "a window", keeps, demoServer) // is asked to keep it
	asked := other.request("secret/set")
	if got, want := string(asked.Params), `{"key":"key","value":{"secret":"new"}}`; got != want {
		t.Errorf("the next window was told to keep %s, want %s", got, want)
	}
	other.serve(asked, `{}`)
	other.leave()
}

func TestASecretThatIsSetWhileItIsReadIsTheNewOne(t *testing.T) {
	ctx := context.Background()
	_, both := twoWorkspaces(t)
	window := seat(t, both[0], "a window", `{"secrets":true}`, demoServer)
	window.answer(window.ask("server/list", `null`)) // it is attached
	got := make(chan *protocol.Secret, 1)
	go func() {
		value, err := both[1].Secrets().Get(ctx, "key")
		if err != nil {
			t.Error(err)
		}
		got <- value
	}()
	read := window.request("secret/get")
	set := make(chan error, 1)
	go func() { set <- both[0].Secrets().Set(ctx, "key", &protocol.Secret{Secret: "new"}) }()
	window.serve(window.request("secret/set"), `{}`)
	if err := <-set; err != nil {
		t.Error(err)
	}
	window.serve(read, `{"value":{"secret":"old"}}`)
	if value := <-got; value == nil || value.Secret != "new" {
		t.Errorf("it was read as %v", value)
	}
	window.leave()
}

func TestTheLoginsOfAWorkspaceOfTransientFrontEndsEndWithIt(t *testing.T) {
	const keeps = `{"secrets":true}`
	for _, tt := range []struct {
		name      string
		transient string
		want      string
	}{
		{"a window may come back", "", "a login waits for a window that keeps it"},
		{"only transient front ends came", `,"transient":true`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			person := &workspace.Person{}
			defer person.Close()
			w, _ := openWorkspace(t, workspace.Options{DataDir: t.TempDir(), Person: person})
			seat(t, w, "a front end", keeps+tt.transient, demoServer).leave()
			if err := w.Secrets().Set(t.Context(), "key", &protocol.Secret{Secret: "rotated"}); err != nil {
				t.Error(err)
			}
			w.Close()
			if got := person.Busy(); got != tt.want {
				t.Errorf("Busy = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAPanicInARequestOfARemoteViewDoesNotKeepTheWorkspaceOpen(t *testing.T) {
	w, _ := openWorkspace(t, workspace.Options{DataDir: t.TempDir()})
	func() {
		defer func() { _ = recover() }()
		w.Host(func() { panic("on purpose") })
	}()
	w.Close() // returns
	if w.Host(func() {}) {
		t.Error("a closed workspace served a remote view")
	}
}

func TestAFrontEndLetsGoOfAWorkspaceThatIsClosed(t *testing.T) {
	person, both := twoWorkspaces(t)
	window := seat(t, both[0], "a window", shows, demoServer)
	missing := func() {
		t.Helper()
		window.refused(window.ask("task/open", `{"taskId":"none"}`), protocol.CodeUnknownTask, "")
	}
	passing, _ := openWorkspace(t, workspace.Options{DataDir: t.TempDir(), Person: person})
	missing()
	if got := both[0].Visited(); got != 2 {
		t.Errorf("it was a remote view of %d workspaces, want 2", got)
	}
	passing.Close()
	missing()
	if got := both[0].Visited(); got != 1 {
		t.Errorf("after one of them was closed, it is a remote view of %d", got)
	}
	window.leave()
}
