package agents_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

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
		"Elicitation":                       "nothing",
		"PreToolUse":                        "nothing",
		"PostToolUse":                       "an event",
		"Notification":                      "nothing",
	} {
		e, err := agents.ReadClaude(frames(t)[name])
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
		"a plan": frame(`"ExitPlanMode"`, `{"plan":"x"}`),
	} {
		if e, err := agents.ReadClaude([]byte(raw)); err == nil {
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
