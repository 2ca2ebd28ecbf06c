package agents_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"assent/protocol"
	"assent/sidecar/broker/askfirst"
	"assent/sidecar/gateway/agents"
)

// opencodeAsks is what the plugin says after an event of opencode 1.18.33 about a command.
func opencodeAsks(id, session, command string) string {
	text, _ := json.Marshal(command) // which cannot fail
	return fmt.Sprintf(`{"type":"permission.asked","folder":"/home/ada/shop","root":"ses_a","agent":"general","tool":"bash","input":{"command":%s,"description":"x"},`+
		`"properties":{"id":%q,"sessionID":%q,"permission":"bash","patterns":["touch o7"],"metadata":{"command":%s},"always":["touch *"],`+
		`"tool":{"messageID":"msg_1","callID":"call_1"}}}`, text, id, session, text)
}

const opencodeQuestions = `{"type":"question.asked","folder":"/home/ada/shop","properties":{"id":"que_1","sessionID":"ses_a","questions":[` +
	`{"question":"Which colour?","header":"Colour","options":[{"label":"Red, warm","description":"d"},{"label":"Blue","description":""}]},` +
	`{"question":"Which sizes?","header":"Sizes","options":[{"label":"S","description":""},{"label":"M, L","description":""}],"multiple":true}]}}`

// says is what opencode's hook prints. Then the plugin says what became of it.
func (h *hook) says(then string) string {
	line, err := h.in.ReadString('\n')
	if err != nil {
		return ""
	}
	_, _ = io.WriteString(h, then)
	if then == "" {
		h.leave()
	}
	<-h.served
	return strings.TrimSpace(line)
}

func TestAPermissionOfOpencode(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		response protocol.AskResponse
		said     *protocol.PermissionAnswer
		// then is what the plugin says, and state what became of the question.
		then, want, state string
	}{
		{"once", protocol.YesButtonClicked, nil, "taken\n", `{"reply":"once"}`, "answered, acted on"},
		{"always", protocol.YesButtonClicked, &protocol.PermissionAnswer{OptionID: "always"}, "taken\n", `{"reply":"always"}`, "answered, acted on"},
		{"no", protocol.NoButtonClicked, nil, "taken\n", `{"reply":"reject"}`, "declined, acted on"},
		{"no, with words", protocol.NoButtonClicked, &protocol.PermissionAnswer{Message: "use mktemp"}, "taken\n", `{"reply":"reject","message":"use mktemp"}`, "declined, acted on"},
		{"left to the prompt", protocol.CancelButtonClicked, nil, "", "", "dismissed"},
		{"yes, after a no in the terminal", protocol.YesButtonClicked, nil, "reject\n", `{"reply":"once"}`, "answered, without effect"},
		{"no, after a yes in the terminal", protocol.NoButtonClicked, nil, "once\n", `{"reply":"reject"}`, "declined, without effect"},
		{"yes, and opencode is gone", protocol.YesButtonClicked, nil, "", `{"reply":"once"}`, "answered, without effect"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			hook := w.hookOf("opencode", opencodeAsks("per_1", "ses_b", "touch o7"))
			q, ask := w.question()
			if q.Command != "touch o7" || q.Claim != "x" || q.Folder != "/home/ada/shop" || q.Agent != "general" || q.SessionID != "ses_a" ||
				q.Input != `{"command":"touch o7","description":"x"}` || len(q.Options) != 2 || !strings.Contains(q.Options[1].Means, "touch *") || q.DeclineMeans == "" {
				t.Errorf("the question is %+v", q)
			}
			answer := &protocol.AskResponseParams{AskID: ask.AskID, AskResponse: tt.response, Permission: tt.said}
			if _, err := w.task.Answer(t.Context(), answer, "a test"); err != nil {
				t.Fatal(err)
			}
			if got := hook.says(tt.then); got != tt.want {
				t.Errorf("the hook printed %q, want %q", got, tt.want)
			}
			if got := w.state(1); got != tt.state {
				t.Errorf("the question is %q, want %q", got, tt.state)
			}
		})
	}
}

// What opencode is answered in its own prompt, and the end of what asked, end the question. Others of the session stay.
func TestAQuestionOfOpencodeThatIsOver(t *testing.T) {
	t.Parallel()
	for then, want := range map[string]string{"once\n": "answeredInHost", "always\n": "answeredInHost", "reject\n": "answeredInHost", "answered\n": "answeredInHost", "": "hostStoppedWaiting"} {
		t.Run(strings.TrimSpace(then), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.hookOf("opencode", opencodeAsks("per_1", "ses_a", "touch a"))
			w.question()
			hook := w.hookOf("opencode", opencodeAsks("per_2", "ses_a", "touch a"))
			w.question()
			w.hook(event("PermissionRequest", "", "x"))
			w.question()
			_, _ = io.WriteString(hook, then)
			if then == "" {
				hook.leave()
			}
			<-hook.served
			for n, want := range []string{"open", want, "open"} {
				if got := w.state(int64(n + 1)); got != want {
					t.Errorf("question %d is %q, want %q", n+1, got, want)
				}
			}
		})
	}
	w := newWorld(t) // with the plugin in two places
	w.hookOf("opencode", opencodeAsks("per_1", "ses_a", "touch a"))
	w.question()
	w.hookOf("opencode", opencodeAsks("per_1", "ses_a", "touch a"))
	w.question()
	w.awaitOver(1)
	if got := w.state(2); got != "open" {
		t.Errorf("the newer question is %q", got)
	}
}

func TestQuestionsOfOpencode(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ response, content, want string }{
		{"yesButtonClicked", `{"question1":"Red, warm","question2":["S","M, L"]}`, `{"answers":[["Red, warm"],["S","M, L"]]}`},
		{"noButtonClicked", "", `{"reply":"reject"}`},
		{"cancelButtonClicked", "", ""},
	} {
		t.Run(tt.response, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			hook := w.hookOf("opencode", opencodeQuestions)
			_, ask := w.question()
			answer := &protocol.AskResponseParams{AskID: ask.AskID, AskResponse: protocol.YesButtonClicked, ElicitationContent: json.RawMessage(`{"question1":"Green","question2":["S"]}`)}
			if _, err := w.task.Answer(t.Context(), answer, "a test"); err == nil {
				t.Error("a choice that was not offered is accepted")
			}
			answer.AskResponse, answer.ElicitationContent = protocol.AskResponse(tt.response), json.RawMessage(tt.content)
			if _, err := w.task.Answer(t.Context(), answer, "a test"); err != nil {
				t.Fatal(err)
			}
			if got := hook.says("taken\n"); !sameJSON(t, got, tt.want) {
				t.Errorf("the hook printed %s, want %s", got, tt.want)
			}
		})
	}
}

// As opencode starts, it is told before which commands it asks.
func TestRulesOfOpencode(t *testing.T) {
	t.Parallel()
	if e, err := agents.Read("opencode", []byte(`{"type":"config"}`)); err != nil || !e.Starts() || e.Asks() {
		t.Fatalf("its start is read as %+v, %v", e, err)
	}
	rules := []askfirst.Rule{
		{AskFirstTerms: protocol.AskFirstTerms{Command: "git push"}}, {AskFirstTerms: protocol.AskFirstTerms{Tool: "edit"}}, {AskFirstTerms: protocol.AskFirstTerms{Outside: true}},
	}
	for _, tt := range []struct {
		rules []askfirst.Rule
		err   error
		want  string
	}{{rules, nil, `{"bash":["*git*push*"]}`}, {nil, nil, `{"bash":[]}`}, {nil, errors.New("x"), `{"bash":["*"]}`}} {
		if got, err := agents.AskAtStart(tt.rules, tt.err); err != nil || string(got) != tt.want {
			t.Errorf("it is told %s, want %s (%v)", got, tt.want, err)
		}
	}
}

// A change is shown by opencode's diff, with the whole input beside it.
func TestAnEditOfOpencode(t *testing.T) {
	t.Parallel()
	const head = "Index: a.txt\n===================================================================\n--- a.txt\n+++ a.txt\n"
	for name, tt := range map[string]struct {
		diff string
		want []string // path, old and new
	}{
		"two hunks":         {head + "@@ -1,2 +1,2 @@\n one\n-two\n+2\n@@ -9 +9,2 @@\n-nine\n+9\n+ten\n", []string{"/w/a.txt", "one\ntwo\n", "one\n2\n", "/w/a.txt", "nine\n", "9\nten\n"}},
		"a new file":        {head + "@@ -0,0 +1,1 @@\n+one\n\\ No newline at end of file\n", []string{"/w/a.txt", "", "one\n"}},
		"lines like a head": {head + "@@ -1,2 +1,2 @@\n--- a\n-@@ b\n+++ c\n+@@ d\n", []string{"/w/a.txt", "-- a\n@@ b\n", "++ c\n@@ d\n"}},
		"no diff":           {"nothing", nil},
		"a cut diff":        {head + "@@ -1,2 +1,2 @@\n one\n", nil},
		"an odd line":       {head + "@@ -1,1 +1,1 @@\n?one\n", nil},
		"an odd head":       {head + "@@ one @@\n one\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			metadata, err := json.Marshal(map[string]string{"filepath": "/w/a.txt", "diff": tt.diff})
			if err != nil {
				t.Fatal(err)
			}
			w := newWorld(t)
			w.hookOf("opencode", `{"type":"permission.asked","tool":"edit","input":{"filePath":"a.txt","oldString":"two","newString":"2"},"properties":{"id":"per_1","sessionID":"s",`+
				`"permission":"edit","patterns":["a.txt"],"always":[],"metadata":`+string(metadata)+`}}`)
			q, _ := w.question()
			var got []string
			for _, c := range q.Changes {
				got = append(got, c.Path, *c.Old, c.New)
			}
			if !reflect.DeepEqual(got, tt.want) || !strings.Contains(q.Input, `"oldString":"two"`) || len(q.Options) != 1 {
				t.Errorf("the question is %+v with %q, want %q", q, got, tt.want)
			}
		})
	}
}

// What cannot be read with certainty is left to opencode's own prompt. What is only unknown is shown by its input.
func TestOddFramesOfOpencode(t *testing.T) {
	t.Parallel()
	asked := opencodeAsks("per_1", "ses_a", "touch o7")
	for name, frame := range map[string]string{
		"nothing":                "",
		"a list":                 "[]",
		"Claude Code's":          event("PermissionRequest", "", "x"),
		"no properties":          `{"type":"permission.asked"}`,
		"no id":                  strings.Replace(asked, "per_1", "", 1),
		"no session":             strings.Replace(asked, "ses_a\",\"perm", "\",\"perm", 1),
		"another event":          strings.Replace(asked, "permission.asked", "permission.updated", 1),
		"no permission":          strings.Replace(asked, `"permission":"bash"`, `"permission":""`, 1),
		"no patterns":            strings.Replace(asked, `["touch o7"]`, `[]`, 1),
		"no command":             strings.Replace(asked, `"metadata":{"command":"touch o7"}`, `"metadata":{}`, 1),
		"another command":        strings.Replace(asked, `"metadata":{"command":"touch o7"}`, `"metadata":{"command":"rm o7"}`, 1),
		"a command that is none": strings.Replace(asked, `"metadata":{"command":"touch o7"}`, `"metadata":{"command":["touch"]}`, 1),
		"an input that is none":  strings.Replace(asked, `"input":{"command":"touch o7","description":"x"}`, `"input":["touch"]`, 1),
		"no question":            strings.Replace(opencodeQuestions, `"questions":[`, `"others":[`, 1),
		"a choice twice":         strings.Replace(opencodeQuestions, `"Blue"`, `"Red, warm"`, 1),
	} {
		if e, err := agents.Read("opencode", []byte(frame)); err == nil {
			t.Errorf("%s is read as %+v", name, e)
		}
	}
	for name, tt := range map[string]struct{ properties, tool, want string }{
		"a tool of a server": {`"permission":"shop_pay","patterns":["*"],"always":["*"],"metadata":{}`, `"tool":"shop_pay","input":{"n":1.0},`, `{"n":1.0}`},
		"a folder": {
			`"permission":"external_directory","patterns":["/etc/*"],"always":[],"metadata":{"directories":["/etc"]}`, `"tool":"bash","input":{"command":"ls /etc"},`,
			`{"patterns":["/etc/*"],"metadata":{"directories":["/etc"]},"tool":"bash","input":{"command":"ls /etc"}}`,
		},
		"an unknown one": {`"permission":"surprise","patterns":["x"],"metadata":{"a":1}`, "", `{"patterns":["x"],"metadata":{"a":1}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.hookOf("opencode", `{"type":"permission.asked",`+tt.tool+`"properties":{"id":"per_1","sessionID":"s",`+tt.properties+`}}`)
			if q, _ := w.question(); q.Input != tt.want || q.Command != "" || q.Agent != "" {
				t.Errorf("the question is %+v, want %s", q, tt.want)
			}
		})
	}
	command := strings.Repeat("touch \u202e; ", 1<<17)
	w := newWorld(t)
	w.hookOf("opencode", opencodeAsks("per_1", "ses_a", command))
	if q, _ := w.question(); q.Command != command {
		t.Errorf("the command has %d bytes, want %d", len(q.Command), len(command))
	}
}
