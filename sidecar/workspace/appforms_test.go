package workspace_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"assent/protocol"
)

// newFormWindow opens a window that shows the apps of forms, with a call that asks by one.
func newFormWindow(t *testing.T, env map[string]any, capabilities map[string]any) (w *window, messageID int64) {
	t.Helper()
	env["TOOLSERVER_APP"] = "1"
	w = openWindowThatCan(t, t.TempDir(), newEndpoint(t), configured{
		"servers": map[string]any{"t": map[string]any{"command": installToolServer(t), "env": env}},
	}, capabilities)
	w.call("task/create", map[string]any{}, &w.task)
	w.call("call/start", map[string]any{
		"taskId": w.task.ID, "serverName": "t", "request": map[string]any{"type": "tools/call", "toolName": "book", "arguments": map[string]any{}},
	}, nil)
	w.open(1)
	for id, m := range w.messages {
		if _, ok := m.Body.(protocol.Ask); ok {
			messageID = id
		}
	}
	return w, messageID
}

// showsForms are the capabilities of a front end that shows the apps of forms.
var showsForms = map[string]any{"elicitation": true, "sampling": true, "apps": true, "appForms": true}

// endForm answers the open ask and waits for the end of its call.
func (w *window) endForm(response protocol.AskResponse, content map[string]any) {
	w.t.Helper()
	if err := w.answer(w.open(1)[0], response, "elicitationContent", content); err != nil {
		w.t.Fatal(err)
	}
	w.until("the end of the call", func() bool { return last[protocol.Call](w).Result != nil })
}

func TestTheAppOfAFormIsOpened(t *testing.T) {
	w, ask := newFormWindow(t, map[string]any{}, showsForms)
	request := last[protocol.Ask](w).Question.(protocol.McpElicitation).ElicitationRequest
	var meta map[string]any
	w.decode(request.Meta, &meta)
	if request.AppURI != "ui://t/view" || meta["t/free"] == nil {
		t.Errorf("the request is %+v", request)
	}
	opened, err := w.openApp(ask)
	if err != nil {
		t.Fatal(err)
	}
	if opened.Tool != nil || opened.Asks != nil {
		t.Errorf("the app is %+v", opened)
	}
	if status, body := read(t, strings.Replace(opened.URL, "/frame/", "/app/", 1)); status != http.StatusOK || !strings.Contains(body, "<title>seats") {
		t.Errorf("the app's page: %d %s", status, body)
	}
	w.endForm(protocol.YesButtonClicked, map[string]any{"seat": "3A"})
	if text := resultText(t, last[protocol.Call](w)); !strings.Contains(text, `"content":{"seat":"3A"}`) {
		t.Errorf("the server got %s", text)
	}
	w.close()
}

// The app of a form fills in the form, and does nothing else.
func TestTheAppOfAFormMayOnlyRead(t *testing.T) {
	w, ask := newFormWindow(t, map[string]any{}, showsForms)
	opened, err := w.openApp(ask)
	if err != nil {
		t.Fatal(err)
	}
	for method, want := range map[string]string{"resources/read": "Buy milk.", "resources/list": "memo://note"} {
		if raw, err := w.requestApp(opened.AppID, method, map[string]any{"uri": "memo://note"}); err != nil || !strings.Contains(string(raw), want) {
			t.Errorf("%s: %s, %v", method, raw, err)
		}
	}
	askID := w.open(1)[0].AskID
	for method, params := range map[string]any{
		"tools/call":             map[string]any{"name": "refresh"},
		"ui/open-link":           map[string]any{"url": "https://example.com"},
		"ui/message":             map[string]any{"role": "user"},
		"prompts/list":           nil,
		"elicitation/create":     map[string]any{"message": "?"},
		"sampling/createMessage": map[string]any{},
		"askResponse":            map[string]any{"taskId": w.task.ID, "askId": askID, "askResponse": "yesButtonClicked"},
	} {
		if _, err := w.requestApp(opened.AppID, method, params); err == nil || !strings.Contains(err.Error(), "The app of a question cannot ask for") {
			t.Errorf("%s: %v", method, err)
		}
	}
	if w.open(1)[0].AskID != askID {
		t.Error("the ask is another one")
	}
	w.endForm(protocol.NoButtonClicked, nil)
	if _, err := w.requestApp(opened.AppID, "resources/list", nil); err == nil || !strings.Contains(err.Error(), "The question of the app has ended.") {
		t.Errorf("after the end of the ask: %v", err)
	}
	if status, _ := read(t, opened.URL); status != http.StatusNotFound {
		t.Errorf("the app's frame after that: %d", status)
	}
	if _, err := w.openApp(ask); err == nil || !strings.Contains(err.Error(), "no open ask with one") {
		t.Errorf("opened again: %v", err)
	}
	w.close()
}

// A front end has each proposal of the app checked before it fills in the form. Nothing that the check refuses can be sent.
func TestWhatTheAppOfAFormProposesIsChecked(t *testing.T) {
	w, _ := newFormWindow(t, map[string]any{}, showsForms)
	ask := w.open(1)[0]
	fields := ask.Question.(protocol.McpElicitation).ElicitationRequest.Fields
	for content, want := range map[string]string{
		`{"seat":"3A"}`:              "",
		`{}`:                         `[{"name":"seat","message":"This is required.","keyword":"required"}]`,
		`{"seat":3}`:                 `"name":"seat"`,
		`{"seat":null}`:              `"name":"seat"`,
		`{"seat":"3A","admin":true}`: `[{"name":"admin","message":"The form has no such field."}]`,
		`{"seat":"3A","__proto__":{"seat":"1A"}}`: `[{"name":"__proto__","message":"The form has no such field."}]`,
		`{"__proto__":{"seat":"3A"}}`:             `"name":"__proto__"`,
		`{"Seat":"3A"}`:                           `"name":"Seat"`,
		`{"seat":"3A","seat":"1A"}`:               "occurs twice",
		`["3A"]`:                                  "cannot be read",
	} {
		var checked protocol.CheckFormResult
		w.call("ask/check", map[string]any{"fields": fields, "content": json.RawMessage(content)}, &checked)
		problems, err := json.Marshal(checked.Problems)
		if err != nil {
			t.Fatal(err)
		}
		if (want == "") != (checked.Problems == nil) || !strings.Contains(string(problems), want) && want != "" {
			t.Errorf("%s: %s, want %s", content, problems, want)
		}
		if want == "" {
			continue
		}
		if err := w.answer(ask, protocol.YesButtonClicked, "elicitationContent", json.RawMessage(content)); err == nil {
			t.Fatalf("%s was sent", content)
		}
	}
	w.endForm(protocol.YesButtonClicked, map[string]any{"seat": "3A"})
	w.close()
}

// The person decides about the addresses, as for any app of the server.
func TestTheAppOfAFormAsksForItsAddresses(t *testing.T) {
	w, ask := newFormWindow(t, map[string]any{"TOOLSERVER_DOMAINS": `["https://a.example.com"]`}, showsForms)
	asked, err := w.openApp(ask)
	if err != nil || len(asked.Asks) != 1 || asked.AppID != "" {
		t.Errorf("the question is %+v, %v", asked, err)
	}
	if opened, err := w.openApp(ask, "network", "without"); err != nil || opened.Network != protocol.AppNetworkWithout {
		t.Errorf("the app is %+v, %v", opened, err)
	}
	w.endForm(protocol.CancelButtonClicked, nil)
	w.close()
}

// Without a front end for it, the ask is a plain form, whatever the server says.
func TestNoAppOfAFormWithoutAFrontEndForIt(t *testing.T) {
	w, ask := newFormWindow(t, map[string]any{}, map[string]any{"elicitation": true, "apps": true})
	if request := last[protocol.Ask](w).Question.(protocol.McpElicitation).ElicitationRequest; request.AppURI != "" || request.Meta != nil || len(request.Fields) != 1 {
		t.Errorf("the request is %+v", request)
	}
	if _, err := w.openApp(ask); err == nil || !strings.Contains(err.Error(), "no open ask with one") {
		t.Errorf("an app without a URI: %v", err)
	}
	w.endForm(protocol.YesButtonClicked, map[string]any{"seat": "1C"})
	w.close()
}

// resultText returns the text of a call's result.
func resultText(t *testing.T, call protocol.Call) string {
	t.Helper()
	raw, err := json.Marshal(call.Result)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(raw), `\"`, `"`)
}
