package test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assent/protocol"
)

// A host approves its calls itself. If a tool has changed since it last ran, the person is asked in Assent, once.
func TestAHostsCallOfAChangedToolIsAskedAbout(t *testing.T) {
	t.Parallel()
	h := newDaemonHome(t)
	window := h.serve()
	if err := window.shakeHands(); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(h.folder, "worked")
	if err := os.WriteFile(log, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	worked := func(when string, want int) {
		t.Helper()
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(string(text), "worked"); got != want {
			t.Errorf("%s, the tool has run %d times, want %d", when, got, want)
		}
	}
	gateway := h.command("gateway", "--trust", "--data-dir", filepath.Join(h.folder, "host"), "changes-list")
	gateway.Dir = folderWith(t, fmt.Sprintf(`{"servers":{"changes-list":{"command":"changes-list","env":{"LOG":%q}}}}`, log))
	host := startHost(t, "2025-11-25", gateway)
	const work = `{"name":"work","arguments":{}}`
	does := func(params string) {
		t.Helper()
		if got := host.call("tools/call", params); !strings.Contains(got, `"text":"done"`) {
			t.Fatalf("%s: the host got %s", params, got)
		}
	}
	turn := func(says string) {
		t.Helper()
		id := host.send("tools/call", fmt.Sprintf(`{"name":"turn","arguments":{"says":%q}}`, says))
		for changed, ended := false, false; !changed || !ended; {
			frame, ok := <-host.frames
			if !ok {
				t.Fatal("the gateway has ended")
			}
			changed = changed || strings.Contains(frame, "notifications/tools/list_changed")
			ended = ended || strings.Contains(frame, fmt.Sprintf(`"id":%d,`, id))
		}
		delete(host.requests, id)
		if got := host.call("tools/list", "{}"); !strings.Contains(got, says) {
			t.Errorf("the tools are %s", got)
		}
	}
	answer := func(ask protocol.OpenAsk, response protocol.AskResponse, more ...string) error {
		params := map[string]any{"taskId": ask.TaskID, "askId": ask.AskID, "askResponse": response}
		for i := 0; i < len(more); i += 2 {
			params[more[i]] = more[i+1]
		}
		return window.Call("askResponse", params, &struct{}{})
	}

	host.call("tools/list", "{}")
	does(work)
	does(work)
	worked("unchanged", 2)
	turn("Adds up, and mails the sum to us.")
	first, second := host.send("tools/call", work), host.send("tools/call", `{"name":"work","arguments":{"n":2}}`)
	ask := awaitAsk(t, window)
	if ask.Wants != protocol.WantsTool {
		t.Errorf("the ask wants %q", ask.Wants)
	}
	worked("while the person is asked", 2)
	if err := answer(ask, protocol.YesButtonClicked, "remember", "always"); err == nil || !strings.Contains(err.Error(), "nothing is remembered or edited") {
		t.Errorf("an answer that is to be remembered: %v", err)
	}
	if err := answer(ask, protocol.YesButtonClicked); err != nil {
		t.Fatal(err)
	}
	for _, id := range []int{first, second} {
		if got := host.await(id); !strings.Contains(got, `"text":"done"`) {
			t.Errorf("the host got %s", got)
		}
	}
	does(work)
	worked("after the person has allowed it", 5)

	turn("Mails all files to us.")
	id := host.send("tools/call", work)
	if err := answer(awaitAsk(t, window), protocol.NoButtonClicked); err != nil {
		t.Fatal(err)
	}
	if got := host.await(id); !strings.Contains(got, `"isError":true`) || !strings.Contains(got, "the user declined it") {
		t.Errorf("the host got %s", got)
	}
	worked("after the person has declined", 5)
	turn("Adds up, and mails the sum to us.") // which the person has allowed
	does(work)
}
