package test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"assent/protocol"
)

// opencodeHook is a process that the plugin of opencode has started for a question.
type opencodeHook struct {
	t     *testing.T
	cmd   *exec.Cmd
	stdin io.WriteCloser
	out   *bufio.Reader
	err   strings.Builder
}

// opencodeAsks starts the process for a question about a command in a session of opencode, which may be one of a sub-agent of root.
func opencodeAsks(t *testing.T, home daemonHome, id, root, session, command string) *opencodeHook {
	t.Helper()
	return startOpencodeHook(t, home, fmt.Sprintf(`{"type":"permission.asked","folder":"/shop","root":%[4]q,"agent":"general","tool":"bash","input":{"command":%[1]q},`+
		`"properties":{"id":%[2]q,"sessionID":%[3]q,"permission":"bash","patterns":["touch *"],"metadata":{"command":%[1]q},"always":["touch *"],"tool":{"messageID":"msg_1","callID":"call_1"}}}`+"\n",
		command, id, session, root))
}

func startOpencodeHook(t *testing.T, home daemonHome, frame string) *opencodeHook {
	t.Helper()
	h := &opencodeHook{t: t, cmd: home.command("hook", "opencode")}
	h.cmd.Dir = filepath.Join(home.folder, "shop")
	if err := os.MkdirAll(h.cmd.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	h.cmd.Stderr = &h.err
	stdin, err := h.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	h.stdin, h.out = stdin, bufio.NewReader(out)
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(stdin, frame) // fails if the process does not read it all
	return h
}

// reads reads what the plugin is told; "" for no decision.
func (h *opencodeHook) reads() string {
	line, err := h.out.ReadString('\n')
	if err != nil {
		return line
	}
	return strings.TrimSpace(line)
}

// ends tells the process what became of its question, and waits for its end.
func (h *opencodeHook) ends(told string) {
	h.t.Helper()
	_, _ = io.WriteString(h.stdin, told) // fails if it has ended
	_ = h.stdin.Close()
	_, _ = io.Copy(io.Discard, h.out)
	if err := h.cmd.Wait(); err != nil {
		h.t.Errorf("the hook: %v: %s", err, &h.err)
	}
}

// Each question of opencode is answered by itself: of two programs, of two sessions in one, and of a sub-agent.
func TestQuestionsOfSeveralOpencodes(t *testing.T) {
	t.Parallel()
	home := newDaemonHome(t)
	window := home.serve()
	if err := window.shakeHands(); err != nil {
		t.Fatal(err)
	}
	hooks := map[string]*opencodeHook{}
	for i, sessions := range [][2]string{{"ses_a", "ses_a"}, {"ses_a", "ses_b"}, {"ses_c", "ses_c"}, {"ses_a", "ses_a"}} {
		command := fmt.Sprintf("touch %d", i)
		hooks[command] = opencodeAsks(t, home, fmt.Sprintf("per_%d", i), sessions[0], sessions[1], command)
	}
	asks := awaitAsks(t, window, len(hooks))
	tasks := map[string]bool{}
	for _, ask := range asks {
		tasks[ask.TaskID] = true
		if ask.Wants != protocol.WantsPermission || !strings.HasPrefix(ask.Title, "opencode in ") {
			t.Errorf("the question is %+v", ask)
		}
	}
	if len(tasks) != 2 { // the sub-agent's is in that of its session
		t.Errorf("the sessions have %d conversations", len(tasks))
	}
	for _, ask := range asks {
		hook := hooks[ask.Text]
		if hook == nil {
			t.Fatalf("the question is %+v", ask)
		}
		response, said, want := protocol.YesButtonClicked, map[string]any{"optionId": "always"}, `{"reply":"always"}`
		if ask.Text == "touch 1" {
			response, said, want = protocol.NoButtonClicked, nil, `{"reply":"reject"}`
		}
		respond(t, window, ask, response, said)
		if got := hook.reads(); got != want {
			t.Errorf("%s: the hook printed %q, want %q", ask.Text, got, want)
		}
		hook.ends("taken\n")
		eventually(t, "an answer that opencode took", func() bool { return settledOf(t, window, ask).Delivered })
		if got := outcomeOf(t, window, ask); got.Undelivered != "" {
			t.Errorf("%s: the question ended as %+v", ask.Text, got)
		}
	}
}

// What opencode is answered in its terminal ends the card, and so does its end. The person's later answer is refused.
func TestAQuestionOfOpencodeIsOver(t *testing.T) {
	t.Parallel()
	home := newDaemonHome(t)
	window := home.serve()
	if err := window.shakeHands(); err != nil {
		t.Fatal(err)
	}
	for told, want := range map[string]protocol.OutcomeReason{
		"once\n": protocol.OutcomeAnsweredInHost, "reject\n": protocol.OutcomeAnsweredInHost, "": protocol.OutcomeHostStoppedWaiting,
	} {
		hook := opencodeAsks(t, home, "per_1", "ses_a", "ses_a", "touch x")
		ask := awaitAsk(t, window)
		hook.ends(told)
		awaitNoAsk(t, window)
		if got := outcomeOf(t, window, ask); got.Reason != want {
			t.Errorf("%q: the question ended as %+v", told, got)
		}
		params := map[string]any{"taskId": ask.TaskID, "askId": ask.AskID, "askResponse": protocol.YesButtonClicked}
		if window.Call("askResponse", params, &struct{}{}) == nil {
			t.Errorf("%q: the question is answered after its end", told)
		}
	}
	hook := opencodeAsks(t, home, "per_1", "ses_a", "ses_a", "touch x") // both at once: the terminal was first
	ask := awaitAsk(t, window)
	respond(t, window, ask, protocol.YesButtonClicked, nil)
	if got := hook.reads(); got != `{"reply":"once"}` {
		t.Errorf("the hook printed %q", got)
	}
	hook.ends("reject\n")
	eventually(t, "an answer that came too late", func() bool { return outcomeOf(t, window, ask).Undelivered != "" })
	if got := outcomeOf(t, window, ask); got.Reason != protocol.OutcomeAnswered || !strings.Contains(got.Undelivered, "refused in opencode's own prompt") {
		t.Errorf("the question ended as %+v", got)
	}
	hook = opencodeAsks(t, home, "per_1", "ses_a", "ses_a", "touch x")
	awaitAsk(t, window)
	_ = hook.cmd.Process.Kill()
	_ = hook.cmd.Wait() // which says that it was killed
	awaitNoAsk(t, window)
	hook = opencodeAsks(t, home, "per_1", "ses_a", "ses_a", "touch x")
	awaitAsk(t, window)
	home.run("daemon", "stop", "--force")
	if got := hook.reads(); got != "" {
		t.Errorf("without its daemon, the hook printed %q", got)
	}
	hook.ends("")
}

// After every failure there is no decision.
func TestAHookOfOpencodeWithoutADecision(t *testing.T) {
	t.Parallel()
	home := newDaemonHome(t)
	silent := func(what, frame string) {
		t.Helper()
		hook := startOpencodeHook(t, home, frame)
		got := hook.reads()
		hook.ends("")
		if got != "" {
			t.Errorf("%s: the hook printed %q", what, got)
		}
	}
	const question = `{"type":"permission.asked","properties":{"id":"per_1","sessionID":"s","permission":"bash","patterns":["x"],"metadata":{"command":"x"},"always":[]}}` + "\n"
	silent("no daemon", question)
	window := home.serve()
	silent("a daemon without a front end", question)
	if err := window.shakeHands(); err != nil {
		t.Fatal(err)
	}
	for what, frame := range map[string]string{
		"garbage": "\x00\xff{\n", "two objects": strings.TrimSpace(question) + question, "an event": strings.Replace(question, "asked", "replied", 1),
		"too much": `{"type":"` + strings.Repeat("s", 17<<20) + "\"}\n", "an unknown shape": strings.Replace(question, `{"command":"x"}`, `["x"]`, 1),
	} {
		silent(what, frame)
	}
	for _, frame := range []string{"", question[:60]} { // and then stdin ends
		hook := startOpencodeHook(t, home, frame)
		hook.ends("")
	}
	awaitNoAsk(t, window)
}
