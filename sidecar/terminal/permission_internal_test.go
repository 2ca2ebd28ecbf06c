package terminal

import (
	"errors"
	"io"
	"strings"
	"testing"

	"assent/protocol"
)

func TestATerminalAsksWhatAnAgentMayDo(t *testing.T) {
	t.Parallel()
	q := protocol.HostPermission{
		Origin: protocol.Origin{ServerName: "Claude Code"}, Tool: "Bash", Folder: "/home/ada/shop", Agent: "tester", Claim: "Look around",
		AskFirst: "Your rule says to ask before rm \u202e.",
		Command:  "rm \u202e-r x", Input: `{"command":"rm \u202e-r x"}`,
		Options: []protocol.PermissionOption{
			{ID: "once", Name: "Allow", Means: "It may do this once."},
			{ID: "suggestion-1", Name: "Allow, and do not ask again", Means: "Claude Code then allows Bash(rm) without asking."},
		},
	}
	text := permissionText(q)
	at := 0
	for _, want := range []string{"Claude Code asks", "rm <U+202E>-r x", "Your rule says to ask before rm <U+202E>.", "In /home/ada/shop", "A sub-agent asks: tester", "The model says about it: Look around", "1: Allow, and do not ask again."} {
		next := strings.Index(text[at:], want)
		if next < 0 {
			t.Fatalf("%q is not in its place in %s", want, text)
		}
		at += next
	}
	plan := permissionText(protocol.HostPermission{
		Origin: protocol.Origin{ServerName: "Claude Code"}, Tool: "ExitPlanMode", Plan: "1. Look\n2. Remove \u202e", Input: `{"plan":"1. Look\n2. Remove \u202e"}`,
	})
	if want := "Claude Code has a plan, and asks whether it may follow it:\n\n1. Look\n2. Remove <U+202E>\n"; !strings.HasPrefix(plan, want) {
		t.Errorf("a plan is shown as %q, want %q first", plan, want)
	}
	for typed, want := range map[string]string{"yes": "once", "y": "once", "1": "suggestion-1", "2\n1": "suggestion-1", "no": "no", ":cancel": "cancel", "": "cancel"} {
		lines := typed + "\n"
		if typed == "" {
			lines = "" // the end of the input
		}
		p := newPerson(&session{
			o:      Options{Stdin: strings.NewReader(lines), Stderr: io.Discard},
			stderr: stderr{width: func() int { return 0 }},
		})
		response, err := p.permit(t.Context(), &openAsk{Ask: protocol.Ask{Question: q}}, q)
		got := ""
		switch {
		case errors.Is(err, errDeclined):
			got = "no"
		case errors.Is(err, errDismissed):
			got = "cancel"
		case err == nil:
			got = response.Permission.OptionID
		}
		if got != want {
			t.Errorf("%q is %q (%v), want %q", typed, got, err, want)
		}
	}
}
