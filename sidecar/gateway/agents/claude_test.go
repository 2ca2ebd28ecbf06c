package agents_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"assent/protocol"
	"assent/sidecar/gateway/agents"
)

// frames are what Claude Code 2.1.332 told its hooks, by the name of the case.
func frames(t *testing.T) map[string]json.RawMessage {
	t.Helper()
	text, err := os.ReadFile("testdata/claude.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]json.RawMessage{}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		var frame struct {
			Name string
			Body json.RawMessage
		}
		if err := json.Unmarshal(lines.Bytes(), &frame); err != nil {
			t.Fatal(err)
		}
		all[frame.Name] = frame.Body
	}
	return all
}

func TestRealFrames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"PermissionRequest Bash":            "a question",
		"PermissionRequest in a sub-agent":  "a question",
		"PermissionRequest rule suggestion": "a question",
		"PermissionRequest MCP":             "a question",
		"PermissionRequest AskUserQuestion": "a question",
		"Elicitation":                       "a question",
		"PreToolUse":                        "an event",
		"PostToolUse":                       "an event",
		"Notification":                      "nothing",
	} {
		e, err := agents.Read("claude", frames(t)[name])
		got := "nothing"
		if err == nil {
			if got = "an event"; e.Asks() {
				got = "a question"
			}
		}
		if got != want {
			t.Errorf("%s is %s, want %s (%v)", name, got, want, err)
		}
	}
}

// What cannot be read with certainty is left to the host's own prompt.
func TestOddFramesAskNothing(t *testing.T) {
	t.Parallel()
	frame := func(tool, input string) string {
		return `{"session_id":"s","hook_event_name":"PermissionRequest","tool_name":` + tool + `,"tool_input":` + input + `}`
	}
	for name, raw := range map[string]string{
		"nothing":                      "",
		"no JSON":                      "allow",
		"a list":                       "[]",
		"no session":                   `{"hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"x"}}`,
		"an unknown event":             `{"session_id":"s","hook_event_name":"PermissionAsked","tool_name":"Bash","tool_input":{"command":"x"}}`,
		"another agent's":              `{"session_id":"s","turn_id":"t","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"x"}}`,
		"names in another case":        `{"Session_ID":"s","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"x"}}`,
		"no tool":                      frame(`""`, `{"command":"x"}`),
		"no input":                     frame(`"WebFetch"`, `null`),
		"a list as input":              frame(`"WebFetch"`, `["x"]`),
		"a command that is a list":     frame(`"Bash"`, `{"command":["rm","-r"]}`),
		"no command":                   frame(`"Bash"`, `{"cmd":"x"}`),
		"an edit without its file":     frame(`"Edit"`, `{"old_string":"a","new_string":"b"}`),
		"an edit without what changes": frame(`"Edit"`, `{"file_path":"a","new_string":"b"}`),
		"edits that are none":          frame(`"MultiEdit"`, `{"file_path":"a","edits":[]}`),
		"a file without its content":   frame(`"Write"`, `{"file_path":"a"}`),
		"no question":                  frame(`"AskUserQuestion"`, `{"questions":[]}`),
		"a question without choices":   frame(`"AskUserQuestion"`, `{"questions":[{"question":"Which?","options":[]}]}`),
		"the same question twice":      frame(`"AskUserQuestion"`, `{"questions":[{"question":"a","options":[{"label":"b"}]},{"question":"a","options":[{"label":"b"}]}]}`),
		"the same choice twice":        frame(`"AskUserQuestion"`, `{"questions":[{"question":"a","options":[{"label":"b"},{"label":"b"}]}]}`),
		"choices that cannot be told apart in a list": frame(`"AskUserQuestion"`, `{"questions":[{"question":"a","multiSelect":true,"options":[{"label":"b, c"},{"label":"b"}]}]}`),
		"no plan":                  frame(`"ExitPlanMode"`, `{}`),
		"an empty plan":            frame(`"ExitPlanMode"`, `{"plan":" "}`),
		"a plan that is a list":    frame(`"ExitPlanMode"`, `{"plan":["x"]}`),
		"a form of nobody":         `{"session_id":"s","hook_event_name":"Elicitation","message":"m","mode":"form","requested_schema":{"type":"object","properties":{}}}`,
		"a page":                   `{"session_id":"s","hook_event_name":"Elicitation","mcp_server_name":"raw","message":"m","mode":"url","url":"https://a.example"}`,
		"a form without a message": `{"session_id":"s","hook_event_name":"Elicitation","mcp_server_name":"raw","mode":"form","requested_schema":{"type":"object","properties":{}}}`,
	} {
		if e, err := agents.Read("claude", []byte(raw)); err == nil {
			t.Errorf("%s is read as %+v", name, e)
		}
	}
}

// Questions with choices are a form, and the hook prints its answers for the model.
func TestQuestionsOfClaudeCode(t *testing.T) {
	t.Parallel()
	const several = `{"session_id":"s","prompt_id":"p","hook_event_name":"PermissionRequest","tool_name":"AskUserQuestion","tool_input":{"questions":[` +
		`{"question":"Which colour?","header":"Colour","options":[{"label":"Red","description":"warm"},{"label":"Blue"}],"multiSelect":false},` +
		`{"question":"Which sizes?","header":"Sizes","options":[{"label":"S"},{"label":"M"},{"label":"L"}],"multiSelect":true}]}}`
	for _, tt := range []struct{ name, frame, response, content, want string }{
		{"one", string(frames(t)["PermissionRequest AskUserQuestion"]), "yesButtonClicked", `{"question1":"Blue"}`, `{"Which colour? D:allow":"Blue"}`},
		{"several", several, "yesButtonClicked", `{"question1":"Red","question2":["S","L"]}`, `{"Which colour?":"Red","Which sizes?":"S, L"}`},
		{"no", several, "noButtonClicked", "", "deny"},
		{"left to the prompt", several, "cancelButtonClicked", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			hook := w.hook(tt.frame)
			_, ask := w.question()
			answer := &protocol.AskResponseParams{AskID: ask.AskID, AskResponse: protocol.YesButtonClicked, ElicitationContent: json.RawMessage(`{"question1":"Green"}`)}
			if _, err := w.task.Answer(t.Context(), answer, "a test"); err == nil {
				t.Error("a choice that was not offered is accepted")
			}
			answer.AskResponse, answer.ElicitationContent = protocol.AskResponse(tt.response), json.RawMessage(tt.content)
			if _, err := w.task.Answer(t.Context(), answer, "a test"); err != nil {
				t.Fatal(err)
			}
			line, _ := hook.in.ReadString('\n') // nothing for no decision
			hook.leave()
			var printed struct {
				HookSpecificOutput struct {
					Decision struct {
						Behavior     string
						UpdatedInput struct {
							Questions []json.RawMessage
							Answers   json.RawMessage
						}
					}
				}
			}
			if line != "" && json.Unmarshal([]byte(line), &printed) != nil {
				t.Fatalf("the hook printed %s", line)
			}
			d := printed.HookSpecificOutput.Decision
			got := d.Behavior
			if got == "allow" {
				if got = string(d.UpdatedInput.Answers); len(d.UpdatedInput.Questions) == 0 {
					t.Errorf("the questions are missing: %s", line)
				}
			}
			if got != tt.want {
				t.Errorf("the hook printed %q, want %q", got, tt.want)
			}
		})
	}
	// Claude Code adds the answers to the input, so that the same questions have another one later.
	w := newWorld(t)
	w.hook(several)
	w.question()
	w.hook(strings.Replace(strings.Replace(several, "PermissionRequest", "PostToolUse", 1), `"tool_input":{`, `"tool_input":{"answers":{"Which colour?":"Red"},`, 1))
	w.awaitOver(1)
	if got := w.state(1); got != "answeredInHost" {
		t.Errorf("the question is %q", got)
	}
}

// A command is shown as it is, however long it is.
func TestALongCommand(t *testing.T) {
	t.Parallel()
	command := strings.Repeat("touch x; ", 1<<17)
	input, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	hook := w.hook(`{"session_id":"s","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":` + string(input) + `}`)
	if q, _ := w.question(); q.Command != command || q.Input != string(input) {
		t.Errorf("the command has %d bytes, want %d", len(q.Command), len(command))
	}
	hook.leave()
}

// A plan is shown whole, and a yes gives it back as it came: without its input, Claude Code ignores a yes.
func TestAPlanOfClaudeCode(t *testing.T) {
	t.Parallel()
	const input = `{"plan":"# Clean up\n\n1. Remove \u202e all","planFilePath":"/home/ada/.claude/plans/a.md"}`
	const frame = `{"session_id":"s","prompt_id":"p","hook_event_name":"PermissionRequest","tool_name":"ExitPlanMode","tool_input":` + input + `}`
	for _, tt := range []struct {
		name     string
		response protocol.AskResponse
		want     string
	}{
		{"yes", protocol.YesButtonClicked, `{"behavior":"allow","updatedInput":` + input + `}`},
		{"no", protocol.NoButtonClicked, `{"behavior":"deny","message":"Keep the logs."}`},
		{"left to the prompt", protocol.CancelButtonClicked, ``},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			hook := w.hook(frame)
			q, ask := w.question()
			if want := "# Clean up\n\n1. Remove \u202e all"; q.Plan != want || q.Input != input {
				t.Errorf("the plan is %q of %s, want %q", q.Plan, q.Input, want)
			}
			answer := &protocol.AskResponseParams{AskID: ask.AskID, AskResponse: tt.response}
			if tt.response == protocol.NoButtonClicked {
				answer.Permission = &protocol.PermissionAnswer{Message: "Keep the logs."}
			}
			if _, err := w.task.Answer(t.Context(), answer, "a test"); err != nil {
				t.Fatal(err)
			}
			var printed struct {
				HookSpecificOutput struct{ Decision json.RawMessage }
			}
			line, _ := hook.in.ReadString('\n') // nothing for no decision
			hook.leave()
			if line != "" && json.Unmarshal([]byte(line), &printed) != nil {
				t.Fatalf("the hook printed %s", line)
			}
			if got := printed.HookSpecificOutput.Decision; !sameJSON(t, string(got), tt.want) {
				t.Errorf("the hook printed %s, want %s", got, tt.want)
			}
		})
	}
	// In its own prompt a person may change the plan before they approve it.
	w := newWorld(t)
	w.hook(frame)
	w.question()
	w.hook(`{"session_id":"s","prompt_id":"p","hook_event_name":"PostToolUse","tool_name":"ExitPlanMode","tool_input":{"plan":"another"}}`)
	w.awaitOver(1)
	if got := w.state(1); got != "answeredInHost" {
		t.Errorf("the plan is %q", got)
	}
}

// sameJSON compares two texts as JSON; "" is none.
func sameJSON(t *testing.T, got, want string) bool {
	t.Helper()
	if got == "" || want == "" {
		return got == want
	}
	var a, b any
	if err := errors.Join(json.Unmarshal([]byte(got), &a), json.Unmarshal([]byte(want), &b)); err != nil {
		t.Fatal(err)
	}
	return reflect.DeepEqual(a, b)
}

// elicits is what a form of a server is answered with.
func (h *hook) elicits(t *testing.T) string {
	t.Helper()
	line, err := h.in.ReadString('\n')
	if err != nil {
		return ""
	}
	_, _ = io.WriteString(h, "printed\n")
	<-h.served
	var printed struct {
		HookSpecificOutput struct {
			HookEventName, Action string
			Content               json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(line), &printed); err != nil || printed.HookSpecificOutput.HookEventName != "Elicitation" {
		t.Fatalf("the hook printed %s", line)
	}
	return printed.HookSpecificOutput.Action + string(printed.HookSpecificOutput.Content)
}

// The form of a server that Claude Code starts is a form, and not one of a server of Assent's with the same name.
func TestAFormOfClaudeCodesServer(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ response, content, want string }{
		{"yesButtonClicked", `{"zip":"1010","n":2}`, `accept{"zip":"1010","n":2}`},
		{"noButtonClicked", "", "decline"},
		{"cancelButtonClicked", "", ""},
	} {
		t.Run(tt.response, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			hook := w.hook(string(frames(t)["Elicitation"]))
			_, ask := w.question()
			asked, _ := ask.Question.(protocol.McpElicitation)
			if asked.ServerName != "raw in Claude Code" || asked.ElicitationRequest.Message != "ASK: your zip?" || len(asked.ElicitationRequest.Fields) != 3 {
				t.Errorf("the question is %+v", asked)
			}
			answer := &protocol.AskResponseParams{AskID: ask.AskID, AskResponse: protocol.YesButtonClicked, ElicitationContent: json.RawMessage(`{"n":0}`)}
			if _, err := w.task.Answer(t.Context(), answer, "a test"); err == nil {
				t.Error("an answer that breaks the form is accepted")
			}
			answer.AskResponse, answer.ElicitationContent = protocol.AskResponse(tt.response), json.RawMessage(tt.content)
			if _, err := w.task.Answer(t.Context(), answer, "a test"); err != nil {
				t.Fatal(err)
			}
			if got := hook.elicits(t); got != tt.want {
				t.Errorf("the hook printed %q, want %q", got, tt.want)
			}
		})
	}
}

// While Claude Code holds its own prompt back for a form, only the end of the hook or of the session shows that it is over: other
// tools, sub-agents and turns go on beside it.
func TestAFormBesideOtherQuestions(t *testing.T) {
	t.Parallel()
	form := strings.Replace(string(frames(t)["Elicitation"]), `"session_id":"00fd2f34-c391-41f8-8c30-2ee297ec7d15"`, `"session_id":"s"`, 1)
	w := newWorld(t)
	first := w.hook(form)
	w.question()
	w.hook(form)
	w.question()
	w.hook(event("PermissionRequest", "", "x"))
	w.question()
	w.hook(form)
	w.question()
	w.hook(event("UserPromptSubmit", "", ""))
	w.awaitOver(3)
	w.hook(event("Stop", "", ""))
	first.leave()
	w.awaitOver(1)
	for n, want := range []string{"hostStoppedWaiting", "open", "hostStoppedWaiting", "open"} {
		if got := w.state(int64(n + 1)); got != want {
			t.Errorf("question %d is %q, want %q", n+1, got, want)
		}
	}
	w.hook(event("SessionEnd", "", ""))
	w.awaitOver(2)
	w.awaitOver(4)
}

// What a server of Assent asks comes back as a form of Claude Code, if it is answered in the host. Assent does not ask it again.
func TestAFormOfAssentItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.forwarded = "ASK: your zip?"
	if got := w.hook(string(frames(t)["Elicitation"])).elicits(t); got != "" {
		t.Errorf("the hook printed %q", got)
	}
	w.hook(event("PermissionRequest", "", "x"))
	if q, _ := w.question(); q.Command != "x" {
		t.Errorf("the first question is %+v", q)
	}
}

// A form without an answer is handed back before long, because Claude Code's own prompt is hidden until then.
func TestAFormIsHandedBack(t *testing.T) {
	frame := string(frames(t)["Elicitation"])
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		began := time.Now()
		hook := w.hook(frame)
		w.question()
		if got := hook.elicits(t); got != "" {
			t.Errorf("the hook printed %q", got)
		}
		if took := time.Since(began); took != 2*time.Minute {
			t.Errorf("it was handed back after %v", took)
		}
		if got := w.state(1); got != "hostStoppedWaiting" {
			t.Errorf("the question is %q", got)
		}
		w.hook(event("PermissionRequest", "", "x")) // of which the prompt is open all the while
		w.question()
		time.Sleep(time.Hour)
		if got := w.state(2); got != "open" {
			t.Errorf("the question is %q", got)
		}
	})
}
