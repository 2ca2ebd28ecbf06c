package workspace_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/wire/wiretest"
)

func TestAConversationUsesTools(t *testing.T) {
	w := newWindow(t, nil)
	w.model.then(uses("t__echo", `{"text":"hi"}`), says("It said hi."))
	w.say("Say hi to the echo, please.")
	ask := w.open(1)[0]
	question, ok := ask.Question.(protocol.UseMcpTool)
	if !ok || question.ServerName != "t" || question.Tool.Name != "echo" || string(question.Arguments) != `{"text":"hi"}` || question.Destructive || !*question.Tool.Annotations.ReadOnlyHint {
		t.Errorf("the question is %+v", ask.Question)
	}
	if !w.task.Running || w.task.Title != "Say hi to the echo, please." {
		t.Errorf("the task is %+v", w.task)
	}
	if err := w.answer(ask, protocol.YesButtonClicked); err != nil {
		t.Fatal(err)
	}
	w.idle()

	asked := w.model.asked()
	if len(asked) != 2 {
		t.Fatalf("the model was asked %d times", len(asked))
	}
	function := map[string]any{"name": "t__echo", "arguments": `{"text":"hi"}`}
	system := asked[0]["messages"].([]any)[0].(map[string]any)
	want := []any{
		system,
		map[string]any{"role": "user", "content": "Say hi to the echo, please."},
		map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{map[string]any{"id": "u1", "type": "function", "function": function}}},
		map[string]any{"role": "tool", "tool_call_id": "u1", "content": "echo: hi"},
	}
	delete(want[2].(map[string]any), "content")
	if diff := cmp.Diff(want, asked[1]["messages"]); diff != "" {
		t.Errorf("the model got (-want +got):\n%s", diff)
	}
	if system["role"] != "system" || !strings.Contains(system["content"].(string), "MCP servers") {
		t.Errorf("the system prompt is %v", system)
	}
	var names []string
	for _, tool := range asked[0]["tools"].([]any) {
		names = append(names, tool.(map[string]any)["function"].(map[string]any)["name"].(string))
	}
	if diff := cmp.Diff([]string{"t__ask", "t__big", "t__echo", "t__fail", "t__liar", "t__look", "t__slow", "t__wipe", "read_mcp_resource"}, names); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}

	if diff := cmp.Diff([]protocol.ModelEndReason{protocol.ModelEndToolUse, protocol.ModelEndTurn}, ends(w)); diff != "" {
		t.Errorf("ends (-want +got):\n%s", diff)
	}
	call := last[protocol.Call](w)
	if call.ToolUse == nil || *call.ToolUse != question.ToolUse || call.ServerName != "t" {
		t.Errorf("the call is %+v", call)
	}
	answer := last[protocol.ModelMessage](w)
	if answer.Text != "It said hi." || answer.ResponseModel != "gpt-test-1" || answer.Model.ID != "openai:gpt-test" || answer.Usage == nil {
		t.Errorf("the model said %+v", answer)
	}
	w.done()
}

// results are what the model is told of its calls in a request, by their ids.
func results(t *testing.T, request map[string]any) map[string]string {
	t.Helper()
	told := map[string]string{}
	for _, m := range request["messages"].([]any) {
		message := m.(map[string]any)
		if message["role"] == "tool" {
			told[message["tool_call_id"].(string)] = message["content"].(string)
		}
	}
	return told
}

// png begins a picture, in base64.
const png = "iVBORw0KGgo="

// autoApprove approves what claims to change nothing.
var autoApprove = map[string]any{"autoApprove": "readOnly"}

// What tools return goes to the model as far as it can read it, and wholly into the conversation.
func TestResultsOfTools(t *testing.T) {
	w := newWindow(t, nil)
	w.model.then(uses("t__look", `{}`, "t__fail", `{}`, "t__big", `{"bytes":1000000}`), says("Done."))
	w.say("Look.")
	for _, ask := range w.open(3) {
		if err := w.answer(ask, protocol.YesButtonClicked); err != nil {
			t.Fatal(err)
		}
	}
	w.idle()
	told := results(t, w.model.asked()[1])
	want := "[an image, which this model cannot see]\n[a link to the resource memo://note: The note]\n" + `{"seen":1}`
	if told["u1"] != want {
		t.Errorf("of the picture the model got %q, want %q", told["u1"], want)
	}
	if told["u2"] != "The tool failed: the disk is full" {
		t.Errorf("of the failure the model got %q", told["u2"])
	}
	if big := told["u3"]; len(big) > 110_000 || !strings.HasSuffix(big, "[cut here: 102400 of 1000000 bytes are shown]") {
		t.Errorf("of 1 MB the model got %d bytes, at the end %q", len(big), big[max(0, len(big)-100):])
	}
	for _, call := range of[protocol.Call](w) {
		if result, ok := call.Result.(protocol.ToolResult); ok && len(result.Content) == 1 {
			if text, ok := result.Content[0].(protocol.TextContent); ok && strings.HasPrefix(text.Text, "xxx") && len(text.Text) != 1_000_000 {
				t.Errorf("the conversation has %d bytes", len(text.Text))
			}
		}
	}
	w.done()
}

// More than a server may send at once is no result; the model hears why, and the turn goes on.
func TestAResultThatIsTooMuch(t *testing.T) {
	w := newWindow(t, nil)
	w.model.then(uses("t__big", `{"bytes":17000000}`), says("That was too much."))
	w.say("Go.")
	w.approve()
	w.idle()
	if told := results(t, w.model.asked()[1]); !strings.Contains(told["u1"], "no more than 16 MB are read. Ask for less at a time.") {
		t.Errorf("the model was told %q", told)
	}
	w.done()
}

func TestAModelThatSeesGetsTheImages(t *testing.T) {
	w := newWindow(t, configured{"table": []any{map[string]any{"match": "gpt-test", "images": true}}})
	w.model.then(uses("t__look", `{}`), says("I see."))
	w.say("Look.")
	w.approve()
	w.idle()
	messages := w.model.asked()[1]["messages"].([]any)
	image := messages[len(messages)-1]
	want := map[string]any{"role": "user", "content": []any{
		map[string]any{"type": "image_url", "image_url": map[string]any{"url": "data:image/png;base64," + png}},
	}}
	if diff := cmp.Diff(want, image); diff != "" {
		t.Errorf("the model got (-want +got):\n%s", diff)
	}
	w.done()
}

// A model is told of the calls that cannot be made, and goes on.
func TestCallsThatCannotBeMade(t *testing.T) {
	var thousand []string
	for range 1000 {
		thousand = append(thousand, "t__echo", `{"text":"x"}`)
	}
	tests := []struct {
		name  string
		calls []string
		made  int
		want  map[string]string // parts of the errors
	}{
		{"of a tool that does not exist", []string{"t__nothing", `{}`}, 0, map[string]string{"u1": `There is no tool "t__nothing"`}},
		{"with arguments that are no JSON", []string{"t__echo", `{"text":`}, 0, map[string]string{"u1": `must be a JSON object, and they were: {"text":`}},
		{"with arguments that are no object", []string{"t__echo", `[1]`}, 0, map[string]string{"u1": `must be a JSON object, and they were: [1]`}},
		{"with a name that is none", []string{"../../etc passwd\u202e", `{}`}, 0, map[string]string{"u1": "There is no tool"}},
		{"of a resource that nobody has", []string{"read_mcp_resource", `{"server":"x","uri":"memo://note"}`}, 0, map[string]string{"u1": `no server "x"`}},
		{"of a resource without a URI", []string{"read_mcp_resource", `{"server":5}`}, 0, map[string]string{"u1": "must be texts"}},
		{"one of them can", []string{"t__nothing", `{}`, "t__echo", `{"text":"y"}`}, 1, map[string]string{"u1": "There is no tool", "u2": "echo: y"}},
		{"a thousand at once", thousand, 32, map[string]string{"u1": "echo: x", "u32": "echo: x", "u33": "no more than 32 are made at once", "u1000": "no more than 32"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWindow(t, configured{"tools": autoApprove})
			w.model.then(uses(tt.calls...), says("I see."))
			w.say("Go.")
			w.idle()
			asked := w.model.asked()
			if len(asked) != 2 {
				t.Fatalf("the model was asked %d times: %+v", len(asked), last[protocol.ModelMessage](w))
			}
			told := results(t, asked[1])
			for id, part := range tt.want {
				if !strings.Contains(told[id], part) {
					t.Errorf("of %s the model got %q, want %q", id, told[id], part)
				}
			}
			if made := len(of[protocol.Call](w)); made != tt.made {
				t.Errorf("%d calls were made, want %d", made, tt.made)
			}
			if diff := cmp.Diff([]protocol.ModelEndReason{protocol.ModelEndToolUse, protocol.ModelEndTurn}, ends(w)); diff != "" {
				t.Errorf("ends (-want +got):\n%s", diff)
			}
			w.done()
		})
	}
}

func TestAModelThatCallsForEver(t *testing.T) {
	w := newWindow(t, configured{"tools": autoApprove, "chat": map[string]any{"maxRounds": 3}})
	again := uses("t__echo", `{"text":"again"}`)
	w.model.then(again, again, again)
	w.say("Go.")
	w.idle()
	want := []protocol.ModelEndReason{protocol.ModelEndToolUse, protocol.ModelEndToolUse, protocol.ModelEndToolUse, protocol.ModelEndRoundsLimit}
	if diff := cmp.Diff(want, ends(w)); diff != "" {
		t.Errorf("ends (-want +got):\n%s", diff)
	}
	if detail := last[protocol.ModelMessage](w).End.Detail; !strings.Contains(detail, "3 times") || !strings.Contains(detail, "Retry") {
		t.Errorf("the person is told %q", detail)
	}
	// It goes on from there.
	w.model.then(says("Enough."))
	w.call("chat/retry", map[string]any{"taskId": w.task.ID}, nil)
	w.until("the answer", func() bool { return !w.task.Running && len(ends(w)) == 5 })
	if got := len(results(t, w.model.asked()[3])); got != 1 { // all have the same id
		t.Errorf("the model got %d results", got)
	}
	if said := last[protocol.ModelMessage](w); said.Text != "Enough." || said.Replaces == 0 {
		t.Errorf("the model said %+v", said)
	}
	w.done()
}

// A provider that fails is the person's to know of, in its own words, and can be asked again.
func TestAProviderThatFails(t *testing.T) {
	tests := []struct {
		name  string
		steps []func(http.ResponseWriter, *http.Request)
		asked int
		end   protocol.ModelEndReason
		want  string
	}{
		{"429, and then it answers", []func(http.ResponseWriter, *http.Request){fails(429), says("Now.")}, 2, protocol.ModelEndTurn, ""},
		{"429 for an hour", []func(http.ResponseWriter, *http.Request){fails(429, "Retry-After", "3600")}, 1, protocol.ModelEndFailed, "no more today (try again in 1h0m0s)"},
		{"a wrong key", []func(http.ResponseWriter, *http.Request){fails(401)}, 1, protocol.ModelEndFailed, "did not accept the API key: no more today"},
		{"nothing", []func(http.ResponseWriter, *http.Request){func(w http.ResponseWriter, _ *http.Request) { stream(w, "stop") }}, 1, protocol.ModelEndFailed, "empty answer"},
		{"half an answer", []func(http.ResponseWriter, *http.Request){func(w http.ResponseWriter, _ *http.Request) { stream(w, "", chunk{"content": "Well, "}) }}, 1, protocol.ModelEndFailed, "in the middle"},
		{"a refusal", []func(http.ResponseWriter, *http.Request){func(w http.ResponseWriter, _ *http.Request) {
			stream(w, "stop", chunk{"refusal": "I would rather not."})
		}}, 1, protocol.ModelEndRefused, "I would rather not."},
		{"too little room", []func(http.ResponseWriter, *http.Request){func(w http.ResponseWriter, _ *http.Request) { stream(w, "length", chunk{"content": "Well, "}) }}, 1, protocol.ModelEndMaxTokens, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWindow(t, nil)
			w.model.then(tt.steps...)
			w.say("Go.")
			w.idle()
			if asked := len(w.model.asked()); asked != tt.asked {
				t.Errorf("the model was asked %d times, want %d", asked, tt.asked)
			}
			end := last[protocol.ModelMessage](w).End
			if end.Reason != tt.end || !strings.Contains(end.Detail, tt.want) {
				t.Errorf("the end is %+v, want %s with %q", end, tt.end, tt.want)
			}
			w.model.then(says("Again."))
			w.call("chat/retry", map[string]any{"taskId": w.task.ID}, nil)
			w.until("another answer", func() bool { return !w.task.Running && len(ends(w)) == 2 })
			messages := w.model.asked()[tt.asked]["messages"].([]any)
			if len(messages) != 2 { // the replaced messages are not in it
				t.Errorf("the model got %v", messages)
			}
			w.done()
		})
	}
}

func TestATurnIsStopped(t *testing.T) {
	stop := func(w *window) {
		var result protocol.StopChatResult
		w.call("chat/stop", map[string]any{"taskId": w.task.ID}, &result)
		if !result.Stopped {
			t.Error("there was nothing to stop")
		}
		w.idle()
		if end := last[protocol.ModelMessage](w).End; end.Reason != protocol.ModelEndStopped {
			t.Errorf("the end is %+v", end)
		}
		w.call("chat/stop", map[string]any{"taskId": w.task.ID}, &result)
		if result.Stopped {
			t.Error("it was stopped twice")
		}
	}
	t.Run("while it writes", func(t *testing.T) {
		w := newWindow(t, nil)
		step, began := hangs("Once upon")
		w.model.then(step)
		id := w.say("A story.") + 1
		<-began
		w.until("a piece", func() bool { return w.written[id] == "Once upon" })
		stop(w)
		if said := last[protocol.ModelMessage](w); said.Text != "Once upon" || !said.Usage.Estimated {
			t.Errorf("the model said %+v", said)
		}
		// The unfinished text is part of the conversation, which continues after it.
		w.model.then(says("The end."))
		w.say("Shorter.")
		w.until("the answer", func() bool { return !w.task.Running && len(ends(w)) == 2 })
		var roles []string
		for _, m := range w.model.asked()[1]["messages"].([]any) {
			roles = append(roles, m.(map[string]any)["role"].(string))
		}
		if diff := cmp.Diff([]string{"system", "user", "assistant", "user"}, roles); diff != "" {
			t.Errorf("the model got (-want +got):\n%s", diff)
		}
		w.done()
	})
	t.Run("while it asks", func(t *testing.T) {
		w := newWindow(t, nil)
		w.model.then(uses("t__echo", `{}`, "t__wipe", `{}`))
		w.say("Go.")
		w.open(2)
		stop(w)
		for _, ask := range of[protocol.Ask](w) {
			if ask.Outcome == nil || ask.Outcome.Reason != protocol.OutcomeDismissed {
				t.Errorf("the ask is settled by %+v", ask.Outcome)
			}
		}
		if calls := of[protocol.Call](w); len(calls) != 0 {
			t.Errorf("calls were made: %+v", calls)
		}
		w.done()
	})
	t.Run("while it calls", func(t *testing.T) {
		w := newWindow(t, nil)
		w.model.then(uses("t__slow", `{}`))
		w.say("Go.")
		w.approve()
		w.until("the call", func() bool { return len(of[protocol.Call](w)) == 1 })
		stop(w)
		if _, ok := last[protocol.Call](w).Result.(protocol.CallCancelled); !ok {
			t.Errorf("the call ended with %+v", last[protocol.Call](w).Result)
		}
		w.done()
	})
	t.Run("while a call asks", func(t *testing.T) {
		w := newWindow(t, nil)
		w.model.then(uses("t__ask", `{}`))
		w.say("Go.")
		w.approve()
		w.until("the question", func() bool { return len(of[protocol.Ask](w)) == 2 })
		stop(w)
		if ask := last[protocol.Ask](w); ask.Outcome == nil {
			t.Errorf("the ask is still open: %+v", ask)
		}
		w.done()
	})
	t.Run("while the servers start", func(t *testing.T) {
		// A server that never answers.
		wiretest.Write(t, "-- server silent --\n")
		w := newWindow(t, configured{"servers": map[string]any{"silent": map[string]any{"command": "rawserver", "args": []string{"silent"}}}})
		w.say("Go.")
		w.until("the start", func() bool { return w.task.Running })
		stop(w)
		if asked := w.model.asked(); len(asked) != 0 {
			t.Errorf("the model was asked: %v", asked)
		}
		w.done()
	})
	t.Run("by closing the task", func(t *testing.T) {
		w := newWindow(t, nil)
		step, began := hangs("Once upon")
		w.model.then(step)
		w.say("A story.")
		<-began
		w.call("task/close", map[string]any{"taskId": w.task.ID}, nil)
		w.idle()
		if end := last[protocol.ModelMessage](w).End; end.Reason != protocol.ModelEndStopped || !w.task.Closed {
			t.Errorf("the end is %+v, the task %+v", end, w.task)
		}
		if err := w.try("chat/send", map[string]any{"taskId": w.task.ID, "text": "?"}, nil); err == nil {
			t.Error("a closed task takes a message")
		}
		w.done()
	})
}

// A message typed during a turn waits, answers no ask, and is sent when the turn has ended well.
func TestTheQueue(t *testing.T) {
	w := newWindow(t, nil)
	w.model.then(uses("t__echo", `{"text":"1"}`), says("One."), says("Two."))
	w.say("First.")
	ask := w.open(1)[0]
	var second, third protocol.SendChatResult
	w.call("chat/send", map[string]any{"taskId": w.task.ID, "text": "yes"}, &second)
	w.call("chat/send", map[string]any{"taskId": w.task.ID, "text": "third"}, &third)
	if second.QueuedID == "" || third.QueuedID == "" || second.MessageID != 0 {
		t.Fatalf("the messages were sent: %+v %+v", second, third)
	}
	if len(w.task.Queue) != 2 || w.open(1)[0].Outcome != nil {
		t.Errorf("the queue is %+v", w.task.Queue)
	}
	var removed protocol.UnqueueChatResult
	w.call("chat/unqueue", map[string]any{"taskId": w.task.ID, "queuedId": third.QueuedID}, &removed)
	if !removed.Removed {
		t.Error("the message was not in the queue")
	}
	if err := w.answer(ask, protocol.YesButtonClicked); err != nil {
		t.Fatal(err)
	}
	w.until("both answers", func() bool { return !w.task.Running && len(ends(w)) == 3 })
	var said []string
	for _, m := range of[protocol.UserMessage](w) {
		said = append(said, m.Text)
	}
	if diff := cmp.Diff([]string{"First.", "yes"}, said); diff != "" || len(w.task.Queue) != 0 {
		t.Errorf("said (-want +got):\n%s, and the queue is %+v", diff, w.task.Queue)
	}
	w.done()
}

func TestTheQueueWaitsAfterAFailure(t *testing.T) {
	w := newWindow(t, nil)
	step, began := hangs("Well")
	w.model.then(step)
	w.say("First.")
	<-began
	w.say("Second.")
	w.call("chat/stop", map[string]any{"taskId": w.task.ID}, nil)
	w.idle()
	if len(w.task.Queue) != 1 || len(of[protocol.UserMessage](w)) != 1 {
		t.Fatalf("the queue is %+v", w.task.Queue)
	}
	// A new message comes after the queued ones.
	w.model.then(says("To the second."), says("To the third."))
	w.say("Third.")
	w.until("both answers", func() bool { return !w.task.Running && len(ends(w)) == 3 })
	var said []string
	for _, m := range of[protocol.UserMessage](w) {
		said = append(said, m.Text)
	}
	if diff := cmp.Diff([]string{"First.", "Second.", "Third."}, said); diff != "" {
		t.Errorf("said (-want +got):\n%s", diff)
	}
	w.done()
}

func TestAMessageIsEdited(t *testing.T) {
	w := newWindow(t, nil)
	w.model.then(says("Four."), says("Six."), says("Nine."))
	first := w.say("2+2?")
	w.idle()
	second := w.say("3+3?")
	w.until("the answer", func() bool { return !w.task.Running && len(ends(w)) == 2 })
	var result protocol.SendChatResult
	w.call("chat/send", map[string]any{"taskId": w.task.ID, "text": "3*3?", "replaces": second}, &result)
	w.until("the answer", func() bool { return !w.task.Running && len(ends(w)) == 3 })
	texts := func(request map[string]any) (all []string) {
		for _, m := range request["messages"].([]any)[1:] {
			all = append(all, m.(map[string]any)["content"].(string))
		}
		return all
	}
	if diff := cmp.Diff([]string{"2+2?", "Four.", "3*3?"}, texts(w.model.asked()[2])); diff != "" {
		t.Errorf("the model got (-want +got):\n%s", diff)
	}

	// From before the edit, another conversation begins.
	var branch protocol.Task
	w.call("task/branch", map[string]any{"taskId": w.task.ID, "messageId": second}, &branch)
	var opened protocol.OpenTaskResult
	w.call("task/open", map[string]any{"taskId": branch.ID}, &opened)
	if len(opened.Messages) != 3 || branch.Title != "2+2? (branch)" {
		t.Errorf("the branch is %+v with %+v", branch, opened.Messages)
	}

	// The first message again: nothing of it all is left.
	w.model.then(says("Eight."))
	w.call("chat/send", map[string]any{"taskId": w.task.ID, "text": "2*4?", "replaces": first}, nil)
	w.until("the answer", func() bool { return !w.task.Running && len(ends(w)) == 4 })
	if diff := cmp.Diff([]string{"2*4?"}, texts(w.model.asked()[3])); diff != "" {
		t.Errorf("the model got (-want +got):\n%s", diff)
	}
	for name, replaces := range map[string]int64{"what a model said": first + 1, "nothing": 999} {
		if err := w.try("chat/send", map[string]any{"taskId": w.task.ID, "text": "?", "replaces": replaces}, nil); err == nil {
			t.Errorf("%s was replaced", name)
		}
	}
	w.done()
}

func TestAnswersAboutToolsAreRemembered(t *testing.T) {
	once := func(w *window, name string) {
		w.model.then(uses("t__"+name, `{}`), says("Done."))
		before := len(ends(w))
		w.say("Go.")
		w.until("the end, or an ask", func() bool { return w.task.OpenAsks > 0 || !w.task.Running && len(ends(w)) == before+2 })
	}
	asks := func(w *window) bool { return w.task.OpenAsks > 0 }
	answered := func(w *window, response protocol.AskResponse, more ...any) {
		t.Helper()
		before := len(ends(w))
		if err := w.answer(w.open(1)[0], response, more...); err != nil {
			t.Fatal(err)
		}
		w.until("the end", func() bool { return !w.task.Running && len(ends(w)) == before+1 })
	}
	w := newWindow(t, nil)
	once(w, "wipe")
	if ask := w.open(1)[0].Question.(protocol.UseMcpTool); !ask.Destructive {
		t.Errorf("the tool is said to destroy nothing: %+v", ask)
	}
	answered(w, protocol.YesButtonClicked, "remember", "task")
	once(w, "wipe")
	if asks(w) {
		t.Fatal("what was allowed for the task is asked about")
	}
	if ask := last[protocol.Ask](w); ask.Outcome.Reason != protocol.OutcomeGranted || !strings.Contains(ask.Outcome.Detail, "for this task in a window") {
		t.Errorf("the ask is settled by %+v", ask.Outcome)
	}
	once(w, "fail")
	if !asks(w) {
		t.Fatal("a rule for one tool covers another")
	}
	answered(w, protocol.NoButtonClicked, "remember", "never")
	if told := results(t, w.model.asked()[5]); !strings.Contains(told["u1"], "the user declined it") {
		t.Errorf("the model was told %q", told)
	}
	once(w, "fail")
	if asks(w) {
		t.Fatal("what is never to be done is asked about")
	}
	if ask := last[protocol.Ask](w); ask.Outcome.Reason != protocol.OutcomeDenied || ask.Outcome.Standing != protocol.StandingNever {
		t.Errorf("the ask is settled by %+v", ask.Outcome)
	}
	if told := results(t, w.model.asked()[7]); !strings.Contains(told["u1"], "the user does not allow it") {
		t.Errorf("the model was told %q", told)
	}
	w.done()

	// In another task, and for resources.
	w = newWindow(t, nil)
	once(w, "echo")
	answered(w, protocol.YesButtonClicked, "remember", "always")
	w.call("task/create", map[string]any{}, &w.task)
	w.messages = map[int64]protocol.Message{}
	once(w, "echo")
	if asks(w) {
		t.Fatal("what was allowed always is asked about in another task")
	}
	var policy protocol.ListPolicyResult
	w.call("policy/list", map[string]any{}, &policy)
	rule, ok := policy.Entries[0].(protocol.PolicyToolRule)
	if !ok || rule.ToolName != "echo" || rule.Remember != protocol.RememberAlways || rule.By != "a window" || rule.Used == nil || rule.Used.Count != 1 {
		t.Fatalf("the policy is %+v", policy)
	}
	if _, more := policy.Entries[1].(protocol.PolicyToolRule); more {
		t.Fatalf("the policy is %+v, want one rule", policy)
	}
	var removed protocol.RemoveToolRuleResult
	w.call("toolRule/remove", map[string]any{"ruleId": rule.RuleID}, &removed)
	once(w, "echo")
	if !removed.Removed || !asks(w) {
		t.Fatal("what was taken back is not asked about")
	}
	answered(w, protocol.CancelButtonClicked)
	var journal protocol.ListJournalResult
	w.call("journal/list", map[string]any{}, &journal)
	lines := strings.Join(journal.Lines, "\n")
	for _, want := range []string{
		`a model wants to use the tool echo {}`, `answered in a window`, `remembered in a window for echo: always`,
		`a model's tools/call echo {}`, `You allowed it always in a window.`, `rule removed in a window for echo`,
	} {
		if !strings.Contains(lines, want) {
			t.Errorf("the journal does not say %q:\n%s", want, lines)
		}
	}
	w.done()
}

func TestArgumentsAreEdited(t *testing.T) {
	w := newWindow(t, nil)
	w.model.then(uses("t__echo", `{"text":"hi"}`), says("Done."))
	w.say("Go.")
	ask := w.open(1)[0]
	for _, wrong := range []string{`[1]`, `"x"`, `5`} {
		err := w.answer(ask, protocol.YesButtonClicked, "toolArguments", json.RawMessage(wrong))
		if e := (*protocol.Error)(nil); !errors.As(err, &e) || e.Code != protocol.CodeInvalidAnswer {
			t.Errorf("arguments of %s = %v", wrong, err)
		}
	}
	for name, wrong := range map[string][]any{
		"never with a yes":    {protocol.YesButtonClicked, "never"},
		"always with a no":    {protocol.NoButtonClicked, "always"},
		"something else":      {protocol.YesButtonClicked, "perhaps"},
		"with no answer":      {protocol.CancelButtonClicked, "task"},
		"regenerated and not": {protocol.RegenerateButtonClicked, "task"},
	} {
		if err := w.answer(ask, wrong[0].(protocol.AskResponse), "remember", wrong[1]); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	w.approve("toolArguments", map[string]any{"text": "bye"})
	w.idle()
	if told := results(t, w.model.asked()[1]); told["u1"] != "echo: bye" {
		t.Errorf("the model was told %q", told)
	}
	if q := last[protocol.Ask](w).Question.(protocol.UseMcpTool); string(q.SentArguments) != `{"text":"bye"}` || string(q.Arguments) != `{"text":"hi"}` {
		t.Errorf("the ask has %s and %s", q.Arguments, q.SentArguments)
	}
	w.done()
}

// What no front end's numbers can be goes as a text both ways.
func TestNumbersOfArgumentsKeepTheirDigits(t *testing.T) {
	const written, edited = `{"text":"hi","n":9007199254740993}`, ` {"text": "bye", "n": 90071992547409931} `
	w := newWindow(t, nil)
	w.model.then(uses("t__echo", written), says("Done."))
	w.say("Go.")
	ask := w.open(1)[0]
	if q := ask.Question.(protocol.UseMcpTool); q.ArgumentsText != written {
		t.Errorf("the arguments' text is %q", q.ArgumentsText)
	}
	if err := w.answer(ask, protocol.YesButtonClicked, "toolArgumentsText", "[1]"); err == nil {
		t.Error("arguments that are no object were taken")
	}
	w.approve("toolArgumentsText", edited)
	w.idle()
	if q := last[protocol.Ask](w).Question.(protocol.UseMcpTool); string(q.SentArguments) != `{"text":"bye","n":90071992547409931}` {
		t.Errorf("sent was %s", q.SentArguments)
	}
	if r := last[protocol.Call](w).Request.(protocol.CallToolRequest); r.ArgumentsText != strings.TrimSpace(edited) {
		t.Errorf("the call says %q", r.ArgumentsText)
	}
	w.call("call/start", map[string]any{"taskId": w.task.ID, "serverName": "t", "request": map[string]any{
		"type": "tools/call", "toolName": "echo", "arguments": map[string]any{}, "argumentsText": written,
	}}, nil)
	w.until("a call of the person's own", func() bool { return len(of[protocol.Call](w)) == 2 && last[protocol.Call](w).Result != nil })
	if r := last[protocol.Call](w).Request.(protocol.CallToolRequest); string(r.Arguments) != written || r.ArgumentsText != written {
		t.Errorf("the person's own call has %s and %q", r.Arguments, r.ArgumentsText)
	}
	w.done()
}

func TestAResourceIsRead(t *testing.T) {
	w := newWindow(t, nil)
	w.model.then(uses("read_mcp_resource", `{"server":"t","uri":"memo://note"}`), says("Milk."))
	w.say("What is in the note?")
	ask := w.approve()
	if q, ok := ask.Question.(protocol.AccessMcpResource); !ok || q.URI != "memo://note" || q.Resource == nil || q.Resource.Name != "note" {
		t.Errorf("the question is %+v", ask.Question)
	}
	w.idle()
	if told := results(t, w.model.asked()[1]); told["u1"] != "[the resource memo://note]\nBuy milk." {
		t.Errorf("the model was told %q", told)
	}
	w.done()
}

// No setting approves what may destroy something, or does not say, or says both.
func TestCallsApprovedWithoutAsking(t *testing.T) {
	for name, destructive := range map[string]bool{"wipe": true, "fail": true, "liar": true} {
		t.Run(name, func(t *testing.T) {
			w := newWindow(t, configured{"tools": autoApprove})
			w.model.then(uses("t__echo", `{"text":"x"}`, "t__"+name, `{}`), says("Done."))
			w.say("Go.")
			ask := w.open(1)[0]
			if q := ask.Question.(protocol.UseMcpTool); q.Tool.Name != name || q.Destructive != destructive {
				t.Errorf("the person is asked %+v", q)
			}
			if err := w.answer(ask, protocol.YesButtonClicked); err != nil {
				t.Fatal(err)
			}
			w.idle()
			for _, a := range of[protocol.Ask](w) {
				if q := a.Question.(protocol.UseMcpTool); q.Tool.Name == "echo" && (a.Outcome.Reason != protocol.OutcomeGranted || !strings.Contains(a.Outcome.Detail, "claims that it changes nothing")) {
					t.Errorf("the call of echo is settled by %+v", a.Outcome)
				}
			}
			w.done()
		})
	}
}

// A call of a model's is one like a person's: what its server asks is asked here.
func TestACallOfAModelAsks(t *testing.T) {
	w := newWindow(t, nil)
	w.model.then(uses("t__ask", `{}`), says("Hello, Ada."))
	w.say("Greet me.")
	w.approve()
	ask := w.open(1)[0]
	if q, ok := ask.Question.(protocol.McpElicitation); !ok || q.ToolNames[0] != "ask" {
		t.Fatalf("the question is %+v", ask.Question)
	}
	if err := w.answer(ask, protocol.YesButtonClicked, "elicitationContent", map[string]any{"name": "Ada"}); err != nil {
		t.Fatal(err)
	}
	w.idle()
	if told := results(t, w.model.asked()[1]); !strings.Contains(told["u1"], "Ada") {
		t.Errorf("the model was told %q", told)
	}
	w.done()
}

func TestServersAndToolsAreEnabled(t *testing.T) {
	tests := []struct {
		name    string
		servers any
		want    []string
	}{
		{"none", []any{}, nil},
		{"some of its tools", []any{map[string]any{"serverName": "t", "toolNames": []string{"echo", "gone"}}}, []string{"t__echo", "read_mcp_resource"}},
		{"one that is not configured", []any{map[string]any{"serverName": "x"}}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWindow(t, nil)
			w.call("task/configure", map[string]any{"taskId": w.task.ID, "settings": map[string]any{"servers": tt.servers, "modelId": "openai:gpt-test"}}, nil)
			w.model.then(says("Done."))
			w.say("Go.")
			w.idle()
			var names []string
			tools, _ := w.model.asked()[0]["tools"].([]any)
			for _, tool := range tools {
				names = append(names, tool.(map[string]any)["function"].(map[string]any)["name"].(string))
			}
			if diff := cmp.Diff(tt.want, names); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
			w.done()
		})
	}
	w := newWindow(t, nil)
	w.call("task/configure", map[string]any{"taskId": w.task.ID, "settings": map[string]any{"modelId": "openai:gone"}}, nil)
	w.say("Go.")
	w.idle()
	if end := last[protocol.ModelMessage](w).End; end.Reason != protocol.ModelEndFailed || !strings.Contains(end.Detail, `no model "openai:gone"`) {
		t.Errorf("the end is %+v", end)
	}
	w.done()
}

// What the person read or filled in themselves goes along where they attach it.
func TestCallsAreAttached(t *testing.T) {
	w := newWindow(t, nil)
	var call protocol.StartCallResult
	w.call("call/start", map[string]any{"taskId": w.task.ID, "serverName": "t", "request": map[string]any{"type": "resources/read", "uri": "memo://note"}}, &call)
	w.until("the note", func() bool { return len(of[protocol.Call](w)) == 1 && last[protocol.Call](w).Result != nil })
	w.model.then(says("Milk."))
	w.call("chat/send", map[string]any{"taskId": w.task.ID, "text": "What is to be bought?", "attachments": []int64{call.MessageID}}, nil)
	w.until("the answer", func() bool { return !w.task.Running && len(ends(w)) == 1 })
	messages := w.model.asked()[0]["messages"].([]any)
	want := map[string]any{"role": "user", "content": []any{
		map[string]any{"type": "text", "text": "[the resource memo://note]\nBuy milk."},
		map[string]any{"type": "text", "text": "What is to be bought?"},
	}}
	if diff := cmp.Diff(want, messages[len(messages)-1]); diff != "" {
		t.Errorf("the model got (-want +got):\n%s", diff)
	}
	if err := w.try("chat/send", map[string]any{"taskId": w.task.ID, "text": "?", "attachments": []int64{call.MessageID + 1}}, nil); err == nil {
		t.Error("a message was attached that is no call")
	}
	w.done()
}

// Files go along as texts and images; what a model cannot see it is told of. They are kept apart from the queue,
// which is told of at each change of the task.
func TestFilesAreAttached(t *testing.T) {
	text := map[string]any{"name": "notes.txt", "content": map[string]any{"type": "text", "text": "Buy milk."}}
	image := map[string]any{"name": "dot.png", "content": map[string]any{"type": "image", "mimeType": "image/png", "data": png}}
	part := func(text string) any { return map[string]any{"type": "text", "text": text} }
	seen := map[string]any{"type": "image_url", "image_url": map[string]any{"url": "data:image/png;base64," + png}}
	for name, test := range map[string]struct {
		configured configured
		want       []any
	}{
		"a model that sees": {
			configured{"table": []any{map[string]any{"match": "gpt-test", "images": true}}},
			[]any{part("[the file notes.txt]\nBuy milk."), part("[the image dot.png]"), seen, part("What is it?")},
		},
		"a model that does not": {
			nil, []any{part("[the file notes.txt]\nBuy milk."), part("[the image dot.png]"), part("[an image, which this model cannot see]"), part("What is it?")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWindow(t, test.configured)
			w.model.then(says("A dot."))
			w.call("chat/send", map[string]any{"taskId": w.task.ID, "text": "What is it?", "files": []any{text, image}}, nil)
			w.until("the answer", func() bool { return !w.task.Running && len(ends(w)) == 1 })
			messages := w.model.asked()[0]["messages"].([]any)
			if diff := cmp.Diff(map[string]any{"role": "user", "content": test.want}, messages[len(messages)-1]); diff != "" {
				t.Errorf("the model got (-want +got):\n%s", diff)
			}
			files := of[protocol.Attachment](w)
			if len(files) != 2 || files[0].Name != "notes.txt" || len(last[protocol.UserMessage](w).Attachments) != 2 {
				t.Errorf("the conversation has %+v, and %+v", files, last[protocol.UserMessage](w))
			}
			w.done()
		})
	}
}

// A refused file leaves nothing behind; the tests of package chat cover the reasons.
func TestAFileThatIsNotTaken(t *testing.T) {
	w := newWindow(t, nil)
	files := []any{
		map[string]any{"name": "a.txt", "content": map[string]any{"type": "text", "text": "a"}},
		map[string]any{"name": "b.wav", "content": map[string]any{"type": "audio", "mimeType": "audio/wav", "data": "QUJD"}},
	}
	err := w.try("chat/send", map[string]any{"taskId": w.task.ID, "text": "?", "files": files}, nil)
	if e := (*protocol.Error)(nil); !errors.As(err, &e) || e.Message != `"b.wav" cannot be attached: it is neither text nor an image` {
		t.Error(err)
	}
	if w.task.LastNumber > 1 {
		t.Error("something was kept of what was refused")
	}
	w.done()
}

func TestARestart(t *testing.T) {
	// again opens another window on what the one before has left.
	again := func(t *testing.T, w *window, dir string) *window {
		t.Helper()
		w.close()
		next := openWindow(t, dir, w.model, w.settings)
		next.task = w.task
		var kept protocol.OpenTaskResult
		next.call("task/open", map[string]any{"taskId": w.task.ID}, &kept)
		next.task = kept.Task
		for _, m := range kept.Messages {
			next.messages[m.ID] = m
		}
		return next
	}
	begin := func(t *testing.T) (*window, string) {
		t.Helper()
		dir := t.TempDir()
		w := openWindow(t, dir, newEndpoint(t), nil)
		w.call("task/create", map[string]any{}, &w.task)
		return w, dir
	}
	goesOn := func(t *testing.T, w *window) {
		t.Helper()
		before := len(ends(w))
		w.model.then(says("Where were we?"))
		w.call("chat/retry", map[string]any{"taskId": w.task.ID}, nil)
		w.until("the answer", func() bool { return !w.task.Running && len(ends(w)) == before+1 })
		w.done()
	}
	t.Run("while it writes", func(t *testing.T) {
		w, dir := begin(t)
		step, began := hangs("Once upon")
		w.model.then(step)
		w.say("A story.")
		<-began
		w.call("chat/send", map[string]any{"taskId": w.task.ID, "text": "And then?"}, nil)
		w = again(t, w, dir)
		if end := last[protocol.ModelMessage](w).End; end.Reason != protocol.ModelEndInterrupted || w.task.Running {
			t.Errorf("the end is %+v, the task %+v", end, w.task)
		}
		if len(w.task.Queue) != 1 {
			t.Errorf("the queue is %+v", w.task.Queue)
		}
		var removed protocol.UnqueueChatResult
		w.call("chat/unqueue", map[string]any{"taskId": w.task.ID, "queuedId": w.task.Queue[0].ID}, &removed)
		goesOn(t, w)
	})
	t.Run("while it asks", func(t *testing.T) {
		w, dir := begin(t)
		w.model.then(uses("t__echo", `{}`))
		w.say("Go.")
		w.open(1)
		w = again(t, w, dir)
		if ask := last[protocol.Ask](w); ask.Outcome == nil || ask.Outcome.Reason != protocol.OutcomeRestarted {
			t.Errorf("the ask is %+v", ask)
		}
		if diff := cmp.Diff([]protocol.ModelEndReason{protocol.ModelEndToolUse, protocol.ModelEndInterrupted}, ends(w)); diff != "" {
			t.Errorf("ends (-want +got):\n%s", diff)
		}
		goesOn(t, w)
	})
	t.Run("while it calls", func(t *testing.T) {
		w, dir := begin(t)
		w.model.then(uses("t__slow", `{}`))
		w.say("Go.")
		w.approve()
		w.until("the call", func() bool { return len(of[protocol.Call](w)) == 1 })
		w = again(t, w, dir)
		if diff := cmp.Diff([]protocol.ModelEndReason{protocol.ModelEndToolUse, protocol.ModelEndInterrupted}, ends(w)); diff != "" {
			t.Errorf("ends (-want +got):\n%s", diff)
		}
		goesOn(t, w)
	})
}
