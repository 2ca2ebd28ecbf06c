package workspace_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/workspace"
	"assent/sidecar/workspace/rpc/rpctest"
)

// endpoint is a model that is scripted: each request takes the next step of the script.
type endpoint struct {
	*httptest.Server
	steps chan func(w http.ResponseWriter, r *http.Request)

	mu       sync.Mutex // guards requests
	requests []map[string]any
}

func newEndpoint(t *testing.T) *endpoint {
	t.Helper()
	e := &endpoint{steps: make(chan func(http.ResponseWriter, *http.Request), 100)}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		e.mu.Lock()
		e.requests = append(e.requests, body)
		e.mu.Unlock()
		select {
		case step := <-e.steps:
			step(w, r)
		default:
			t.Errorf("the model was asked once too often: %v", body["messages"])
			w.WriteHeader(http.StatusTeapot)
		}
	}))
	t.Cleanup(e.Close)
	return e
}

// asked are the requests so far.
func (e *endpoint) asked() []map[string]any {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.requests)
}

// then adds steps.
func (e *endpoint) then(steps ...func(http.ResponseWriter, *http.Request)) {
	for _, s := range steps {
		e.steps <- s
	}
}

type chunk map[string]any

// stream writes chunks in OpenAI's format, and their end.
func stream(w http.ResponseWriter, finish string, deltas ...chunk) {
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(choice chunk) {
		data, err := json.Marshal(chunk{"id": "1", "model": "gpt-test-1", "choices": []chunk{choice}})
		if err != nil {
			panic(err)
		}
		_, _ = fmt.Fprintf(w, "data: %s\n\n", data) // a client may stop reading
		w.(http.Flusher).Flush()
	}
	for _, d := range deltas {
		send(chunk{"index": 0, "delta": d})
	}
	if finish != "" {
		send(chunk{"index": 0, "delta": chunk{}, "finish_reason": finish})
		_, _ = io.WriteString(w, "data: [DONE]\n\n")
	}
}

// says answers with a text.
func says(text string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) { stream(w, "stop", chunk{"content": text}) }
}

// uses answers with calls of tools: pairs of a name and arguments.
func uses(pairs ...string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		var calls []chunk
		for i := 0; i < len(pairs); i += 2 {
			calls = append(calls, chunk{
				"index": i / 2, "id": fmt.Sprintf("u%d", i/2+1), "type": "function",
				"function": chunk{"name": pairs[i], "arguments": pairs[i+1]},
			})
		}
		stream(w, "tool_calls", chunk{"tool_calls": calls})
	}
}

// fails answers with a status.
func fails(status int, header ...string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"error":{"message":"no more today"}}`)
	}
}

// hangs writes a text and then nothing until it is given up; began is closed when the text is sent.
func hangs(text string) (step func(http.ResponseWriter, *http.Request), began chan struct{}) {
	began = make(chan struct{})
	return func(w http.ResponseWriter, r *http.Request) {
		stream(w, "", chunk{"content": text})
		close(began)
		<-r.Context().Done()
	}, began
}

// window is a front end that folds events, as the panel does.
type window struct {
	*frontEnd
	model    *endpoint
	ids      int
	task     protocol.Task
	messages map[int64]protocol.Message
	written  map[int64]string // the pieces
	settings configured
	// heard, if it is set, gets each message first, and reports whether it has handled the
	// message.
	heard func(message string) bool
}

// configured is what a window is configured with: parts of the configuration, and the table of models.
type configured map[string]any

// newWindow opens a window on a data directory, with the tool server as "t", and a task.
func newWindow(t *testing.T, settings configured) *window {
	t.Helper()
	w := openWindow(t, t.TempDir(), newEndpoint(t), settings)
	w.call("task/create", map[string]any{}, &w.task)
	return w
}

func openWindow(t *testing.T, dir string, model *endpoint, settings configured) *window {
	t.Helper()
	return openWindowThatCan(t, dir, model, settings, map[string]any{"elicitation": true, "sampling": true})
}

// openWindowThatCan is openWindow with other capabilities.
func openWindowThatCan(t *testing.T, dir string, model *endpoint, settings configured, capabilities map[string]any) *window {
	t.Helper()
	w := &window{
		frontEnd: newFrontEndOf(t, workspace.Options{DataDir: dir}), model: model, settings: settings,
		messages: map[int64]protocol.Message{}, written: map[int64]string{},
	}
	w.call("initialize", map[string]any{
		"protocolVersion": 1, "clientInfo": map[string]any{"name": "a window", "version": "1"},
		"capabilities": capabilities, "configuration": w.configuration(),
	}, nil)
	return w
}

// configuration is what the settings come to.
func (w *window) configuration() map[string]any {
	c := map[string]any{
		"servers": map[string]any{"t": map[string]any{"command": installToolServer(w.t)}},
		"model":   map[string]any{"endpoints": []any{map[string]any{"provider": "openai", "baseUrl": w.model.URL + "/v1", "models": []string{"gpt-test"}}}, "table": w.settings["table"]},
	}
	maps.Copy(c, w.settings)
	return c
}

// configure replaces the servers, and waits until the sidecar has them.
func (w *window) configure(servers map[string]any) {
	w.t.Helper()
	w.settings = maps.Clone(w.settings)
	w.settings["servers"] = servers
	params, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "method": "workspace/didChangeConfiguration", "params": w.configuration()})
	if err != nil {
		w.t.Fatal(err)
	}
	w.send(string(params))
	for configured := false; !configured; {
		message := w.next()
		w.hear(message)
		configured = strings.Contains(message, `"method":"servers/changed"`)
	}
}

// call makes a request that must succeed.
func (w *window) call(method string, params, result any) {
	w.t.Helper()
	if err := w.try(method, params, result); err != nil {
		w.t.Fatalf("%s: %v", method, err)
	}
}

// try makes a request.
func (w *window) try(method string, params, result any) error {
	w.t.Helper()
	w.ids++
	request, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": w.ids, "method": method, "params": params})
	if err != nil {
		w.t.Fatal(err)
	}
	w.send(string(request))
	answer := w.await(w.ids, func(line string, m rpctest.Message) {
		if m.ID != nil && (m.Method == "" || w.heard == nil) {
			w.t.Fatalf("the sidecar answered %s", line)
		}
		w.hear(line)
	})
	if answer.Error != nil {
		return protocol.Errorf(answer.Error.Code, "%s", answer.Error.Message)
	}
	if result != nil {
		w.decode(answer.Result, result)
	}
	return nil
}

// hear folds a notification.
func (w *window) hear(message string) {
	w.t.Helper()
	if w.heard != nil && w.heard(message) {
		return
	}
	n := w.read(message)
	switch n.Method {
	case "chat/progress":
		var p protocol.ChatProgressParams
		w.decode(n.Params, &p)
		if p.TaskID == w.task.ID {
			w.written[p.MessageID] += p.Chunk
		}
	case "task/event":
		var p protocol.TaskEventParams
		w.decode(n.Params, &p)
		if p.TaskID == w.task.ID {
			w.fold(p)
		}
	}
}

func (w *window) decode(raw json.RawMessage, into any) {
	w.t.Helper()
	if err := json.Unmarshal(raw, into); err != nil {
		w.t.Fatal(err)
	}
}

func (w *window) fold(p protocol.TaskEventParams) {
	w.t.Helper()
	change := func(id int64, edit func(protocol.Body) protocol.Body) {
		m := w.messages[id]
		m.Body = edit(m.Body)
		w.messages[id] = m
	}
	switch e := p.Event.(type) {
	case protocol.TaskChanged:
		w.task = e.Task
	case protocol.MessageAdded:
		w.messages[e.Message.ID] = e.Message
	case protocol.ModelMessageEnded:
		change(e.MessageID, func(protocol.Body) protocol.Body { return e.ModelMessage })
	case protocol.ToolUseFailed:
		change(e.MessageID, func(b protocol.Body) protocol.Body {
			said := b.(protocol.ModelMessage)
			for i, use := range said.ToolUses {
				if use.ID == e.ToolUseID {
					said.ToolUses[i].Error = e.Error
				}
			}
			return said
		})
	case protocol.AskSettled:
		change(e.MessageID, func(b protocol.Body) protocol.Body {
			ask := b.(protocol.Ask)
			ask.Outcome = &e.Outcome
			switch q := ask.Question.(type) {
			case protocol.UseMcpTool:
				q.SentArguments = e.SentArguments
				ask.Question = q
			case protocol.McpElicitation:
				q.ElicitationResponse = e.ElicitationResponse
				ask.Question = q
			}
			return ask
		})
	case protocol.CallAppFound:
		change(e.MessageID, func(b protocol.Body) protocol.Body {
			call := b.(protocol.Call)
			call.AppURI = e.AppURI
			return call
		})
	case protocol.CallEnded:
		change(e.MessageID, func(b protocol.Body) protocol.Body {
			call := b.(protocol.Call)
			call.EndedAt, call.Result, call.Progress = e.EndedAt, e.Result, nil
			return call
		})
	}
	w.task.LastNumber = p.Number
	w.task.OpenAsks = p.OpenAsks
}

// until handles messages until a condition holds.
func (w *window) until(what string, holds func() bool) {
	w.t.Helper()
	for !holds() {
		message := w.next()
		if strings.Contains(message, `"result"`) && !strings.Contains(message, `"method"`) {
			w.t.Fatalf("the sidecar answered %s while %s was awaited", message, what)
		}
		w.hear(message)
	}
}

// say sends a message and returns its id.
func (w *window) say(text string) int64 {
	w.t.Helper()
	var result protocol.SendChatResult
	w.call("chat/send", map[string]any{"taskId": w.task.ID, "text": text}, &result)
	return result.MessageID
}

// idle waits for the end of the turn.
func (w *window) idle() {
	w.t.Helper()
	w.until("the end of the turn", func() bool { return !w.task.Running })
}

// sorted are the messages in their order.
func (w *window) sorted() []protocol.Message {
	var all []protocol.Message
	for _, m := range w.messages {
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b protocol.Message) int { return int(a.ID - b.ID) })
	return all
}

// of are the bodies of one kind, in their order.
func of[T any](w *window) []T {
	var all []T
	for _, m := range w.sorted() {
		if body, ok := m.Body.(T); ok {
			all = append(all, body)
		}
	}
	return all
}

// last is the newest body of a kind.
func last[T any](w *window) T {
	w.t.Helper()
	all := of[T](w)
	if len(all) == 0 {
		var none T
		w.t.Fatalf("there is no %T", none)
	}
	return all[len(all)-1]
}

// open waits for so many open asks, and returns them.
func (w *window) open(count int) []protocol.Ask {
	w.t.Helper()
	var asks []protocol.Ask
	w.until("an ask", func() bool {
		asks = nil
		for _, a := range of[protocol.Ask](w) {
			if a.Outcome == nil {
				asks = append(asks, a)
			}
		}
		return len(asks) >= count
	})
	return asks
}

// answer answers an ask.
func (w *window) answer(ask protocol.Ask, response protocol.AskResponse, more ...any) error {
	w.t.Helper()
	params := map[string]any{"taskId": w.task.ID, "askId": ask.AskID, "askResponse": response}
	for i := 0; i+1 < len(more); i += 2 {
		params[more[i].(string)] = more[i+1]
	}
	return w.try("askResponse", params, nil)
}

// approve says yes to the next open ask.
func (w *window) approve(more ...any) protocol.Ask {
	w.t.Helper()
	ask := w.open(1)[0]
	if err := w.answer(ask, protocol.YesButtonClicked, more...); err != nil {
		w.t.Fatal(err)
	}
	return ask
}

// done ends the window after it has compared its state with the stored one.
func (w *window) done() {
	w.t.Helper()
	var kept protocol.OpenTaskResult
	w.call("task/open", map[string]any{"taskId": w.task.ID}, &kept)
	if diff := cmp.Diff(kept.Messages, w.sorted()); diff != "" {
		w.t.Errorf("what the window was told is not what is kept (-kept +told):\n%s", diff)
	}
	if diff := cmp.Diff(kept.Task, w.task); diff != "" {
		w.t.Errorf("the task is not what is kept (-kept +told):\n%s", diff)
	}
	w.close()
}

// ends are how the messages of models ended.
func ends(w *window) []protocol.ModelEndReason {
	var all []protocol.ModelEndReason
	for _, m := range of[protocol.ModelMessage](w) {
		all = append(all, m.End.Reason)
	}
	return all
}
