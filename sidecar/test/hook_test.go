package test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"assent/protocol"
)

// claude is a session of Claude Code that starts its hooks as the real one does.
type claude struct {
	t       *testing.T
	home    daemonHome
	session string
	folder  string
}

func newClaude(t *testing.T, home daemonHome, session string) claude {
	t.Helper()
	return claude{t, home, session, filepath.Join(home.folder, "shop")}
}

// hook starts a hook with the frame of an event.
func (c claude) hook(event, agent, command string) *hookRun {
	c.t.Helper()
	input, err := json.Marshal(map[string]any{"command": command, "description": "x"})
	if err != nil {
		c.t.Fatal(err)
	}
	who := ""
	if agent != "" {
		who = fmt.Sprintf(`"agent_id":%q,"agent_type":"general-purpose",`, agent)
	}
	return c.tell(fmt.Sprintf(`{"session_id":%q,"cwd":%q,"prompt_id":"p1","permission_mode":"default",%s"hook_event_name":%q,"tool_name":"Bash","tool_input":%s,`+
		`"permission_suggestions":[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"touch x"}],"behavior":"allow","destination":"localSettings"}]}`,
		c.session, c.folder, who, event, input))
}

func (c claude) tell(frame string) *hookRun {
	c.t.Helper()
	return c.start(frame, "hook", "claude")
}

// start starts a hook with a frame: by a command of Assent, or without one by an agent that can be killed.
func (c claude) start(frame string, args ...string) *hookRun {
	c.t.Helper()
	if err := os.MkdirAll(c.folder, 0o700); err != nil {
		c.t.Fatal(err)
	}
	run := &hookRun{t: c.t, cmd: c.home.command(args...)}
	if len(args) == 0 {
		run.cmd = exec.Command("agent")
		run.cmd.Env = c.home.command().Env
	}
	run.cmd.Dir = c.folder
	run.cmd.Env = append(run.cmd.Env, "CLAUDE_CODE_SESSION_ID="+c.session, "CLAUDE_PROJECT_DIR="+c.folder)
	run.cmd.Stdin, run.cmd.Stdout, run.cmd.Stderr = strings.NewReader(frame), &run.out, &run.err
	if err := run.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	return run
}

// hookRun is a hook that runs.
type hookRun struct {
	t        *testing.T
	cmd      *exec.Cmd
	out, err bytes.Buffer
}

// end waits for the end of a hook, and returns its output.
func (r *hookRun) end() string {
	r.t.Helper()
	if err := r.cmd.Wait(); err != nil {
		r.t.Errorf("the hook: %v: %s", err, &r.err)
	}
	return r.out.String()
}

// kill kills a hook, as Claude Code does after a no in its own prompt.
func (r *hookRun) kill() {
	_ = r.cmd.Process.Kill() // or it has ended
	_ = r.cmd.Wait()
}

func respond(t *testing.T, window *talk, ask protocol.OpenAsk, response protocol.AskResponse, more map[string]any) {
	t.Helper()
	params := map[string]any{"taskId": ask.TaskID, "askId": ask.AskID, "askResponse": response}
	if more != nil {
		params["permission"] = more
	}
	if err := window.Call("askResponse", params, &struct{}{}); err != nil {
		t.Fatal(err)
	}
}

// A person answers what Claude Code asks, and the hook prints exactly that.
func TestAnAgentsPermission(t *testing.T) {
	t.Parallel()
	home := newDaemonHome(t)
	window := home.serve()
	if err := window.shakeHands(); err != nil {
		t.Fatal(err)
	}
	claude := newClaude(t, home, "s1")
	for _, tt := range []struct {
		name     string
		response protocol.AskResponse
		said     map[string]any
		want     string
	}{
		{"once", protocol.YesButtonClicked, nil, `{"behavior":"allow"}`},
		{
			"with the rule that was offered", protocol.YesButtonClicked,
			map[string]any{"optionId": "suggestion-1"},
			`{"behavior":"allow","updatedPermissions":[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"touch x"}],"behavior":"allow","destination":"localSettings"}]}`,
		},
		{"no", protocol.NoButtonClicked, map[string]any{"message": "use mktemp"}, `{"behavior":"deny","message":"use mktemp"}`},
		{"in the terminal", protocol.CancelButtonClicked, nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			hook := claude.hook("PermissionRequest", "", "touch x")
			ask := awaitAsk(t, window)
			if ask.Wants != protocol.WantsPermission || ask.Text != "touch x" || ask.Title != "Claude Code in shop" || ask.Workspace != "shop" || ask.Simple {
				t.Errorf("the question is %+v", ask)
			}
			respond(t, window, ask, tt.response, tt.said)
			want := tt.want
			if want != "" {
				want = `{"hookSpecificOutput":{"decision":` + want + `,"hookEventName":"PermissionRequest"}}` + "\n"
			}
			if got := hook.end(); got != want {
				t.Errorf("the hook printed %q, want %q (%s)", got, want, &hook.err)
			}
		})
	}
}

// What a session asks by its hook is in the conversation of its calls through the gateway, also if the hook came first.
func TestAnAgentsPermissionIsInTheConversationOfItsCalls(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"call", "permission"} {
		t.Run(first, func(t *testing.T) {
			t.Parallel()
			home := newDaemonHome(t)
			window := home.serve()
			if err := window.shakeHands(); err != nil {
				t.Fatal(err)
			}
			claude := newClaude(t, home, first)
			tasks := map[string]bool{}
			permission := func() {
				hook := claude.hook("PermissionRequest", "", "touch x")
				ask := awaitAsk(t, window)
				tasks[ask.TaskID] = true
				respond(t, window, ask, protocol.YesButtonClicked, nil)
				hook.end()
				awaitNoAsk(t, window)
			}
			gateway := home.command("gateway", "--trust", "modern")
			gateway.Dir, _ = home.hostFolder()
			gateway.Env = append(gateway.Env, "CLAUDE_CODE_SESSION_ID="+first)
			claude.folder = gateway.Dir
			if first == "permission" {
				permission()
			}
			host := startHost(t, "2025-06-18", gateway)
			call := host.send("tools/call", `{"name":"form","arguments":{}}`)
			ask := awaitAsk(t, window)
			tasks[ask.TaskID] = true
			accept(t, window, ask)
			if got := host.await(call); !strings.Contains(got, `"a":"x"`) {
				t.Errorf("the host got %s", got)
			}
			awaitNoAsk(t, window)
			permission()
			if len(tasks) != 1 {
				t.Errorf("the session has %d conversations", len(tasks))
			}
		})
	}
}

// After every failure the hook prints nothing, and says nothing to Claude Code by its exit code.
func TestAHookWithoutADecision(t *testing.T) {
	t.Parallel()
	home := newDaemonHome(t)
	claude := newClaude(t, home, "s1")
	silent := func(what, frame string) {
		t.Helper()
		if got := claude.tell(frame).end(); got != "" {
			t.Errorf("%s: the hook printed %q", what, got)
		}
	}
	question := `{"session_id":"s1","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"touch x"}}`
	silent("no daemon", question)
	if got := home.run("daemon", "status"); got != "No daemon runs.\n" {
		t.Errorf("the hook started a daemon: %s", got)
	}
	window := home.serve()
	silent("a daemon without a front end", question)
	if err := window.shakeHands(); err != nil {
		t.Fatal(err)
	}
	for what, frame := range map[string]string{
		"nothing": "", "garbage": "\x00\xff{", "two objects": question + question, "a cut frame": question[:60],
		"too much":         `{"session_id":"` + strings.Repeat("s", 17<<20) + `"}`,
		"an unknown event": strings.Replace(question, "PermissionRequest", "Surprise", 1),
		"an unknown shape": strings.Replace(question, `"touch x"`, `["touch","x"]`, 1),
		"an event":         strings.Replace(question, "PermissionRequest", "PostToolUse", 1),
	} {
		silent(what, frame)
	}
	awaitNoAsk(t, window)
	other := hookRun{t: t, cmd: home.command("hook", "claude", "--of-another-version")}
	other.cmd.Stdin = strings.NewReader(strings.Replace(question, "PermissionRequest", "Stop", 1))
	other.cmd.Stdout, other.cmd.Stderr = &other.out, &other.err
	if err := other.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if got := other.end(); got != "" {
		t.Errorf("with an unknown flag the hook printed %q", got)
	}
	for _, args := range [][]string{{"hook"}, {"hook", "codex"}, {"hook", "claude", "more"}} {
		run := hookRun{t: t, cmd: home.command(args...)}
		run.cmd.Stdin, run.cmd.Stdout, run.cmd.Stderr = strings.NewReader(question), &run.out, &run.err
		if err := run.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if got := run.end(); got != "" || !strings.Contains(run.err.String(), `there is "assent hook claude" and "assent hook opencode"`) {
			t.Errorf("assent %v printed %q and %q", args, got, &run.err)
		}
	}
}

// A hook that is killed has its question ended, and one that the daemon's end cuts off prints nothing.
func TestAnAgentsPermissionIsCutOff(t *testing.T) {
	t.Parallel()
	home := newDaemonHome(t)
	window := home.serve()
	if err := window.shakeHands(); err != nil {
		t.Fatal(err)
	}
	claude := newClaude(t, home, "s1")
	hook := claude.hook("PermissionRequest", "", "touch x")
	ask := awaitAsk(t, window)
	hook.kill()
	awaitNoAsk(t, window)
	if got := outcomeOf(t, window, ask); got.Reason != protocol.OutcomeHostStoppedWaiting {
		t.Errorf("the question ended as %+v", got)
	}
	hook = claude.hook("PermissionRequest", "", "touch x")
	ask = awaitAsk(t, window)
	home.run("daemon", "stop", "--force")
	if got := hook.end(); got != "" {
		t.Errorf("the hook printed %q", got)
	}
	window = home.serve()
	if err := window.shakeHands(); err != nil {
		t.Fatal(err)
	}
	hook = claude.hook("PermissionRequest", "", "touch y") // opens the workspace again
	awaitAsk(t, window)
	if got := outcomeOf(t, window, ask); got.Reason != protocol.OutcomeRestarted {
		t.Errorf("the question ended as %+v", got)
	}
	hook.kill()
}

// outcomeOf returns how a question ended.
func outcomeOf(t *testing.T, window *talk, ask protocol.OpenAsk) protocol.Outcome {
	t.Helper()
	return *settledOf(t, window, ask).Outcome
}

func settledOf(t *testing.T, window *talk, ask protocol.OpenAsk) protocol.Ask {
	t.Helper()
	var opened protocol.OpenTaskResult
	if err := window.Call("task/open", map[string]any{"taskId": ask.TaskID}, &opened); err != nil {
		t.Fatal(err)
	}
	for _, m := range opened.Messages {
		if body, ok := m.Body.(protocol.Ask); ok && body.AskID == ask.AskID && body.Outcome != nil {
			return body
		}
	}
	t.Fatalf("the question %s is not settled", ask.AskID)
	return protocol.Ask{}
}

// A rule of the person has Claude Code ask before a tool runs, with or without a daemon. A rule that cannot be read asks.
func TestAnAgentAsksFirst(t *testing.T) {
	home := newDaemonHome(t)
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "AppData"} {
		t.Setenv(name, filepath.Join(home.folder, "home"))
	}
	claude := newClaude(t, home, "s1")
	forced := func(what, want, tool string, input map[string]any) {
		t.Helper()
		text, err := json.Marshal(input)
		if err != nil {
			t.Fatal(err)
		}
		var printed struct {
			HookSpecificOutput struct{ HookEventName, PermissionDecision, PermissionDecisionReason string }
		}
		got := claude.tell(fmt.Sprintf(`{"session_id":"s1","cwd":%q,"prompt_id":"p","permission_mode":"auto","hook_event_name":"PreToolUse","tool_name":%q,"tool_input":%s,"tool_use_id":"t"}`,
			claude.folder, tool, text)).end()
		if got != "" && json.Unmarshal([]byte(got), &printed) != nil {
			t.Fatalf("%s: the hook printed %s", what, got)
		}
		said := printed.HookSpecificOutput
		if got != "" && (said.HookEventName != "PreToolUse" || said.PermissionDecision != "ask") {
			t.Errorf("%s: the hook printed %s", what, got)
		}
		if want == "" && got != "" || !strings.Contains(said.PermissionDecisionReason, want) {
			t.Errorf("%s: the hook printed %q, want %q", what, got, want)
		}
	}
	push := map[string]any{"command": "cd x && git push"}
	forced("no rule", "", "Bash", push)
	window := home.serve()
	if err := window.shakeHands(); err != nil {
		t.Fatal(err)
	}
	for _, terms := range []map[string]any{{"command": "git push"}, {"outside": true}, {"tool": "WebFetch"}} {
		if err := window.Call("askFirst/add", terms, &struct{}{}); err != nil {
			t.Fatal(err)
		}
	}
	forced("a command", "before git push", "Bash", push)
	forced("a command in a shell", "before git push", "Bash", map[string]any{"command": "sh -c 'git push'"})
	forced("a line that cannot be read", "cannot be read", "Bash", map[string]any{"command": "git push '"})
	forced("an input that cannot be read", "cannot read", "Bash", nil)
	forced("a file elsewhere", "before anything outside of", "Write", map[string]any{"file_path": filepath.Join(home.folder, "x"), "content": ""})
	forced("a tool", "before the tool WebFetch", "WebFetch", map[string]any{"url": "https://a.example"})
	forced("another command", "", "Bash", map[string]any{"command": "git pull"})
	forced("a file inside", "", "Write", map[string]any{"file_path": filepath.Join(claude.folder, "x"), "content": "/etc"})
	rules := map[string]string{}
	for used := false; !used; { // a daemon that is busy may miss a use
		forced("a command again", "before git push", "Bash", push)
		var listed protocol.ListPolicyResult
		if err := window.Call("policy/list", map[string]any{}, &listed); err != nil {
			t.Fatal(err)
		}
		for _, entry := range listed.Entries {
			if rule, ok := entry.(protocol.PolicyAskFirst); ok {
				rules[rule.Command+rule.Tool] = rule.RuleID
				used = used || rule.Command == "git push" && rule.Used != nil && rule.Used.LastServer == "Claude Code"
			}
		}
	}
	if len(rules) != 3 {
		t.Errorf("the rules are %v", rules)
	}
	for command, want := range map[string]string{"cd x && git push": "Your rule says to ask before git push.", "git pull": ""} {
		hook := claude.hook("PermissionRequest", "", command)
		ask := awaitAsk(t, window)
		got := "no question"
		for _, m := range openTask(t, window, ask.TaskID) {
			if body, ok := m.Body.(protocol.Ask); ok && body.AskID == ask.AskID {
				got = body.Question.(protocol.HostPermission).AskFirst
			}
		}
		if got != want {
			t.Errorf("the question about %q says %q, want %q", command, got, want)
		}
		respond(t, window, ask, protocol.NoButtonClicked, nil)
		hook.end()
		awaitNoAsk(t, window)
	}
	home.run("daemon", "stop", "--force")
	forced("no daemon", "before git push", "Bash", push)
	window = home.serve()
	if err := window.shakeHands(); err != nil {
		t.Fatal(err)
	}
	if err := window.Call("askFirst/remove", map[string]any{"ruleId": rules["git push"]}, &struct{}{}); err != nil {
		t.Fatal(err)
	}
	forced("a rule that is removed", "", "Bash", push)
	var records protocol.ListJournalResult
	if err := window.Call("journal/list", map[string]any{"kind": protocol.JournalAskFirstChanged}, &records); err != nil {
		t.Fatal(err)
	}
	var changes []string
	for _, r := range records.Records {
		var body struct{ By, Before, After string }
		if err := json.Unmarshal(r.Body, &body); err != nil || body.By == "" || r.At == 0 {
			t.Errorf("the record %s has no front end or time: %v", r.Body, err)
		}
		changes = append(changes, body.Before+" -> "+body.After)
	}
	slices.Sort(changes)
	want := []string{
		" -> ask before anything outside of the folder", " -> ask before the command git push", " -> ask before the tool WebFetch",
		"ask before the command git push -> ",
	}
	if !slices.Equal(changes, want) {
		t.Errorf("the journal has %q", changes)
	}
	files, err := filepath.Glob(filepath.Join(home.folder, "home", "*", "ask-first.json"))
	if more, _ := filepath.Glob(filepath.Join(home.folder, "home", "*", "*", "*", "ask-first.json")); err == nil {
		files = append(files, more...)
	}
	if err != nil || len(files) != 1 {
		t.Fatalf("the rules are in %v: %v", files, err)
	}
	if err := os.WriteFile(files[0], []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	forced("rules that cannot be read", "cannot be read", "Bash", push)
}

// What a server asks through Assent, and is answered in the host, comes back as a form of Claude Code. It is not asked twice.
func TestAFormOfAssentIsNotAskedAgain(t *testing.T) {
	t.Parallel()
	home := newDaemonHome(t)
	window := home.serve()
	if err := window.shakeHands(); err != nil {
		t.Fatal(err)
	}
	claude := newClaude(t, home, "s1")
	gateway := home.command("gateway", "--trust", "--answer-in", "host", "modern")
	gateway.Dir, _ = home.hostFolder()
	gateway.Env = append(gateway.Env, "CLAUDE_CODE_SESSION_ID=s1")
	claude.folder = gateway.Dir
	elicitation := func(message string) *hookRun {
		return claude.tell(fmt.Sprintf(`{"session_id":"s1","cwd":%q,"prompt_id":"p1","hook_event_name":"Elicitation","mcp_server_name":"modern","message":%q,`+
			`"mode":"form","requested_schema":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}}`, claude.folder, message))
	}
	host := startHost(t, "2025-06-18", gateway)
	answered := false
	host.answer = func(string) string {
		answered = true
		_, params, _ := strings.Cut(host.asked[len(host.asked)-1], " ")
		var asked struct{ Message string }
		if err := json.Unmarshal([]byte(params), &asked); err != nil || asked.Message == "" {
			t.Errorf("the host is asked %s", params)
		}
		if got := elicitation(asked.Message).end(); got != "" {
			t.Errorf("the hook printed %q", got)
		}
		return `{"action":"accept","content":{"a":"host"}}`
	}
	if got := host.await(host.send("tools/call", `{"name":"form","arguments":{}}`)); !strings.Contains(got, `"a":"host"`) || !answered {
		t.Errorf("the host got %s", got)
	}
	// Another form of the session is one of Claude Code's own.
	hook := elicitation("Which colour?")
	ask := awaitAsk(t, window)
	if ask.Text != "Which colour?" || ask.Origin.ServerName != "modern in Claude Code" {
		t.Errorf("the question is %+v", ask)
	}
	accept(t, window, ask)
	if got := hook.end(); !strings.Contains(got, `"action":"accept"`) || !strings.Contains(got, `"content":{"a":"x"}`) {
		t.Errorf("the hook printed %s", got)
	}
}

// promptsVariable names the variable with the number of prompts of the scripted agent, which is agentPrompts by itself.
const (
	promptsVariable = "ASSENT_AGENT_PROMPTS"
	agentPrompts    = 150
)

// agent is a program that starts a hook and waits for it, as Claude Code does.
func agent() {
	hook := exec.Command("assent", "hook", "claude")
	hook.Stdin, hook.Stdout, hook.Stderr = os.Stdin, os.Stdout, os.Stderr
	if hook.Run() != nil {
		os.Exit(1)
	}
}

// prompt is a prompt of the scripted agent.
type prompt struct {
	// A person sees the text, and a hook reads the frame. If a tool is asked about, another hook reads ran once it has run.
	text, frame, ran string
	// more are further members of a yes.
	more map[string]any
}

// prompt returns the n-th prompt of a session.
func (c claude) prompt(n int) prompt {
	head := fmt.Sprintf(`{"session_id":%q,"cwd":%q,"prompt_id":"p%d",`, c.session, c.folder, n)
	tool := func(text, name, input string, more map[string]any) prompt {
		of := fmt.Sprintf(`"tool_name":%q,"tool_input":%s}`, name, input)
		return prompt{text, head + `"hook_event_name":"PermissionRequest",` + of, head + `"hook_event_name":"PostToolUse",` + of, more}
	}
	text := fmt.Sprintf("prompt %d", n)
	switch n % 8 {
	case 3:
		return tool(text, "ExitPlanMode", fmt.Sprintf(`{"plan":%q}`, text), nil)
	case 5:
		return tool(text, "AskUserQuestion", fmt.Sprintf(`{"questions":[{"question":%q,"header":"h","options":[{"label":"Red"},{"label":"Blue"}],"multiSelect":false}]}`, text),
			map[string]any{"elicitationContent": map[string]any{"question1": "Blue"}})
	case 7:
		return prompt{text, head + fmt.Sprintf(`"hook_event_name":"Elicitation","mcp_server_name":"raw","message":%q,"mode":"form",`, text) +
			`"requested_schema":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}}`, "", map[string]any{"elicitationContent": map[string]any{"a": "x"}}}
	default:
		return tool(text, "Bash", fmt.Sprintf(`{"command":%q}`, text), nil)
	}
}

// decisions are those that a hook printed: "allow" or "deny".
func decisions(t *testing.T, printed string) (all []string) {
	t.Helper()
	for d := json.NewDecoder(strings.NewReader(printed)); ; {
		var one struct {
			HookSpecificOutput struct {
				Action   string
				Decision struct{ Behavior string }
			}
		}
		if err := d.Decode(&one); err != nil {
			if err != io.EOF {
				t.Errorf("a hook printed %q: %v", printed, err)
			}
			return all
		}
		said := cmp.Or(one.HookSpecificOutput.Decision.Behavior, one.HookSpecificOutput.Action)
		if other := map[string]string{"accept": "allow", "decline": "deny"}[said]; other != "" {
			said = other
		}
		all = append(all, said)
	}
}

// A scripted agent asks again and again, while its hooks, the daemon and the agent itself are killed. Only a
// person allows something, nothing is answered twice, and a hook without an answer ends without a word, so that the agent's own prompt
// decides.
func TestAnAgentsPromptsOutliveKills(t *testing.T) {
	t.Parallel()
	prompts := agentPrompts
	if more, err := strconv.Atoi(os.Getenv(promptsVariable)); err == nil {
		prompts = more
	}
	random := rand.New(rand.NewPCG(45, 0))
	home := newDaemonHome(t)
	serve := func() *talk {
		window := home.serve()
		if err := window.shakeHands(); err != nil {
			t.Fatal(err)
		}
		return window
	}
	window := serve()
	killDaemon := func() {
		daemon, err := os.FindProcess(home.status().PID)
		if err == nil {
			err = daemon.Kill()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	answered, unanswered := 0, 0
	for n := range prompts {
		claude := newClaude(t, home, fmt.Sprintf("s%d", n/20))
		p := claude.prompt(n)
		end := random.IntN(60)
		by := []string{"hook", "claude"}
		if end < 2 {
			by = nil
		}
		hook := claude.start(p.frame, by...)
		ask := awaitAsk(t, window)
		if ask.Text != p.text {
			t.Fatalf("prompt %d asks %q", n, ask.Text)
		}
		params := func(response protocol.AskResponse) map[string]any {
			all := map[string]any{"taskId": ask.TaskID, "askId": ask.AskID, "askResponse": response}
			if response == protocol.YesButtonClicked {
				maps.Copy(all, p.more)
			}
			return all
		}
		say := func(response protocol.AskResponse) error {
			return window.Call("askResponse", params(response), &struct{}{})
		}
		sayWhile := func(what func()) {
			done := make(chan struct{})
			go func() { defer close(done); what() }()
			_ = say(protocol.YesButtonClicked) // which may be too late
			<-done
		}
		want := []string{""} // the decisions that may be printed, with "" for none
		lost := false
		switch {
		case end == 0: // the agent is killed
			hook.kill()
		case end == 1: // the agent is killed while it is answered
			sayWhile(hook.kill)
			want = []string{"", "allow"}
		case end == 2: // the daemon is killed
			killDaemon()
			hook.end()
			lost = true
		case end == 3: // the daemon is killed while it is answered
			sayWhile(killDaemon)
			hook.end()
			want, lost = []string{"", "allow"}, true
		case end < 12: // refused in the terminal
			hook.kill()
		case end < 20 && p.ran != "": // allowed in the terminal
			claude.tell(p.ran).end()
			hook.end()
		case end < 28: // the hook is killed while it is answered
			sayWhile(hook.kill)
			want = []string{"", "allow"}
		case end < 32: // left to the terminal
			if err := say(protocol.CancelButtonClicked); err != nil {
				t.Fatal(err)
			}
			hook.end()
		case end < 40:
			if err := say(protocol.NoButtonClicked); err != nil {
				t.Fatal(err)
			}
			hook.end()
			want = []string{"deny"}
		default:
			if err := say(protocol.YesButtonClicked); err != nil {
				t.Fatal(err)
			}
			hook.end()
			want = []string{"allow"}
		}
		if lost {
			window.kill()
			window = serve()
		}
		awaitNoAsk(t, window)
		if !lost && say(protocol.YesButtonClicked) == nil {
			t.Errorf("prompt %d is answered after its end", n)
		}
		printed := decisions(t, hook.out.String())
		if got := strings.Join(printed, ", "); !slices.Contains(want, got) {
			t.Errorf("prompt %d, which ends in way %d, is decided as %q, want one of %q", n, end, got, want)
		}
		if len(printed) > 0 {
			answered++
		} else {
			unanswered++
		}
	}
	if answered < prompts/4 || unanswered < prompts/4 {
		t.Errorf("%d prompts are answered, and %d are not", answered, unanswered)
	}
}
