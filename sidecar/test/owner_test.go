package test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// A daemon of another folder, or of another machine that shares the home, must not write into the same store.
func TestASecondDaemonIsRefusedTheStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := startTalk(t, newDaemonHome(t).alone("--data-dir", dir))
	if err := first.shakeHands(); err != nil {
		t.Fatal(err)
	}
	first.create("the first one's")
	second := startTalk(t, newDaemonHome(t).alone("--data-dir", dir))
	var said []string
	second.Heard = func(method string, params json.RawMessage) {
		if strings.HasPrefix(method, "storage/") {
			said = append(said, method+" "+string(params))
		}
	}
	if err := second.shakeHands(); err != nil {
		t.Fatal(err)
	}
	second.create("the second one's")
	want := fmt.Sprintf("another Assent process uses this folder (process %d)", first.Cmd.Process.Pid)
	if len(said) != 1 || !strings.HasPrefix(said[0], "storage/failed") || !strings.Contains(said[0], want) {
		t.Errorf("of the store was said %q, want %q", said, want)
	}
	second.wantTasks("the second one's")
	first.wantTasks("the first one's")
	second.kill()
	first.kill()
	next := startTalk(t, newDaemonHome(t).alone("--data-dir", dir))
	if err := next.shakeHands(); err != nil {
		t.Fatal(err)
	}
	next.wantTasks("the first one's")
}
