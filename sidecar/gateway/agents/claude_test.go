package agents_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

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
		"PermissionRequest AskUserQuestion": "nothing",
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
		"nothing":                        "",
		"no JSON":                        "allow",
		"a list":                         "[]",
		"no session":                     `{"hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"x"}}`,
		"an unknown event":               `{"session_id":"s","hook_event_name":"PermissionAsked","tool_name":"Bash","tool_input":{"command":"x"}}`,
		"another agent's":                `{"session_id":"s","turn_id":"t","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"x"}}`,
		"names in another case":          `{"Session_ID":"s","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"x"}}`,
		"no tool":                        frame(`""`, `{"command":"x"}`),
		"no input":                       frame(`"WebFetch"`, `null`),
		"a list as input":                frame(`"WebFetch"`, `["x"]`),
		"a command that is a list":       frame(`"Bash"`, `{"command":["rm","-r"]}`),
		"no command":                     frame(`"Bash"`, `{"cmd":"x"}`),
		"an edit without its file":       frame(`"Edit"`, `{"old_string":"a","new_string":"b"}`),
		"an edit without what changes":   frame(`"Edit"`, `{"file_path":"a","new_string":"b"}`),
		"edits that are none":            frame(`"MultiEdit"`, `{"file_path":"a","edits":[]}`),
		"a file without its content":     frame(`"Write"`, `{"file_path":"a"}`),
		"a question that a yes destroys": frame(`"AskUserQuestion"`, `{"questions":[]}`),
		"a plan":                         frame(`"ExitPlanMode"`, `{"plan":"x"}`),
	} {
		if e, err := agents.ReadClaude([]byte(raw)); err == nil {
			t.Errorf("%s is read as %+v", name, e)
		}
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
