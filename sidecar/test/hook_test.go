package test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
	if err := os.MkdirAll(c.folder, 0o700); err != nil {
		c.t.Fatal(err)
	}
	run := &hookRun{t: c.t, cmd: c.home.command("hook", "claude")}
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
		if got := run.end(); got != "" || !strings.Contains(run.err.String(), "assent hook claude") {
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
	var opened protocol.OpenTaskResult
	if err := window.Call("task/open", map[string]any{"taskId": ask.TaskID}, &opened); err != nil {
		t.Fatal(err)
	}
	for _, m := range opened.Messages {
		if body, ok := m.Body.(protocol.Ask); ok && body.AskID == ask.AskID && body.Outcome != nil {
			return *body.Outcome
		}
	}
	t.Fatalf("the question %s is not settled", ask.AskID)
	return protocol.Outcome{}
}

// agentPrompts is how many prompts the scripted agent has, and agentRound how many of them there are between two restarts of
// the daemon.
const (
	agentPrompts = 300
	agentRound   = 60
)

// A scripted agent asks hundreds of times, while its hooks and the daemon are killed. Nothing is allowed that no person
// allowed, and nothing is answered twice.
func TestAnAgentsPromptsOutliveKills(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	home := newDaemonHome(t)
	var window *talk
	answered := 0
	for n := range agentPrompts {
		if n%agentRound == 0 {
			if window != nil {
				window.kill()
				home.run("daemon", "stop", "--force")
			}
			window = home.serve()
			if err := window.shakeHands(); err != nil {
				t.Fatal(err)
			}
		}
		command := fmt.Sprintf("touch x%d", n)
		claude := newClaude(t, home, fmt.Sprintf("s%d", n/20))
		hook := claude.hook("PermissionRequest", "", command)
		ask := awaitAsk(t, window)
		if ask.Text != command {
			t.Fatalf("prompt %d asks %q (seed %d)", n, ask.Text, seed)
		}
		yes := map[string]any{"taskId": ask.TaskID, "askId": ask.AskID, "askResponse": protocol.YesButtonClicked}
		allowed, printed := false, ""
		switch random.IntN(6) {
		case 0: // refused in the terminal
			hook.kill()
		case 1: // allowed in the terminal
			claude.hook("PostToolUse", "", command).end()
			printed = hook.end()
		case 2: // killed while it is answered
			killed := make(chan struct{})
			go func() { hook.kill(); close(killed) }()
			allowed = window.Call("askResponse", yes, &struct{}{}) == nil
			<-killed
			printed = hook.out.String()
		case 3:
			respond(t, window, ask, protocol.NoButtonClicked, nil)
			if printed = hook.end(); !strings.Contains(printed, `"behavior":"deny"`) {
				t.Errorf("prompt %d: a no printed %q (seed %d)", n, printed, seed)
			}
		default:
			respond(t, window, ask, protocol.YesButtonClicked, nil)
			allowed = true
			if printed = hook.end(); !strings.Contains(printed, `"behavior":"allow"`) {
				t.Errorf("prompt %d: a yes printed %q (seed %d)", n, printed, seed)
			}
			if window.Call("askResponse", yes, &struct{}{}) == nil {
				t.Errorf("prompt %d was answered twice (seed %d)", n, seed)
			}
		}
		if strings.Contains(printed, `"allow"`) && !allowed {
			t.Errorf("prompt %d was allowed by nobody: %s (seed %d)", n, printed, seed)
		}
		if strings.Count(printed, "hookSpecificOutput") > 1 {
			t.Errorf("prompt %d has two decisions: %s (seed %d)", n, printed, seed)
		}
		if printed != "" {
			answered++
		}
		awaitNoAsk(t, window)
	}
	if answered < agentPrompts/4 {
		t.Errorf("only %d prompts were answered (seed %d)", answered, seed)
	}
}
