package workspace_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"assent/protocol"
	"assent/sidecar/wire/wiretest"
)

// visit attaches as [seat] does, and returns the front end whose configuration applies instead of
// the transient front end's.
func visit(t *testing.T, d *desk, capabilities, configuration string) (configuredBy string) {
	t.Helper()
	var result protocol.InitializeResult
	d.result(d.ask("initialize", fmt.Sprintf(
		`{"protocolVersion":1,"clientInfo":{"name":"a transient front end","version":"1"},"capabilities":%s,"configuration":%s,"transient":true}`,
		capabilities, configuration)), &result)
	return result.ConfiguredBy
}

func configuredServer(name string) string {
	return fmt.Sprintf(`{"servers":{%q:{"command":"demo"}},"model":{}}`, name)
}

func TestATransientFrontEndDoesNotReplaceAConfiguration(t *testing.T) {
	w := sharedBy(t)
	come := func() *desk { return newDesk(t, w) }
	want := func(d *desk, when, servers string) {
		t.Helper()
		if got := serverNames(d); got != servers {
			t.Errorf("%s, the servers are %q, want %q", when, got, servers)
		}
	}
	first, second := come(), come()
	if by := visit(t, first, `{}`, configuredServer("first")); by != "" || w.Lasting() {
		t.Errorf("alone, a transient front end is configured by %q; the workspace lasts: %t", by, w.Lasting())
	}
	if by := visit(t, second, `{}`, configuredServer("second")); by != "a transient front end" {
		t.Errorf("a transient front end beside another is configured by %q", by)
	}
	want(second, "of two transient front ends", "first")
	first.leave()
	want(second, "with the second transient front end, after the first has gone,", "first")

	window := seat(t, w, "a window", `{}`, configuredServer("window"))
	want(window, "with a window", "window")
	if !w.Lasting() {
		t.Error("a workspace with a window does not last")
	}
	third := come()
	if by := visit(t, third, `{}`, configuredServer("third")); by != "a window" {
		t.Errorf("a transient front end beside a window is configured by %q", by)
	}
	want(third, "with a transient front end beside a window", "window")
	second.leave()
	window.leave()
	want(third, "with a transient front end, after the window has gone,", "window")
	third.leave()

	fourth := come()
	if by := visit(t, fourth, `{}`, configuredServer("fourth")); by != "" {
		t.Errorf("when all have gone and nothing goes on, a transient front end is configured by %q", by)
	}
	want(fourth, "with a transient front end alone", "fourth")
	fourth.leave()
}

func TestATransientFrontEndTakesNoServersFromWhatGoesOn(t *testing.T) {
	wiretest.Write(t, asking)
	w := sharedBy(t)
	window := seat(t, w, "a window", shows, demoServer)
	taskID := window.begin()
	window.until(func() bool { return len(window.asks) == 1 })
	window.leave()
	d := newDesk(t, w)
	if by := visit(t, d, `{}`, configuredServer("other")); by != "a window" {
		t.Errorf("while a call of a closed window runs, a transient front end is configured by %q", by)
	}
	d.answer(d.ask("task/close", fmt.Sprintf(`{"taskId":%q}`, taskID)))
	d.leave()
}

func TestATransientFrontEndTrustsNothingForOthers(t *testing.T) {
	folder := t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, ".vscode"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, ".vscode", "mcp.json"), []byte(`{"servers":{"demo":{"command":"demo"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	quoted, err := json.Marshal(folder)
	if err != nil {
		t.Fatal(err)
	}
	configured := func(untrusted bool) string {
		return fmt.Sprintf(`{"workspaceFolders":[{"name":"f","path":%s,"untrusted":%t,"confirmed":true}],"model":{}}`, quoted, untrusted)
	}
	for _, tt := range []struct {
		name             string
		window           bool // or else another transient one
		first, transient bool // does not trust the folder
		want             string
	}{
		{"the window trusts the folder, and the transient front end does not", true, false, true, "demo"},
		{"the transient front end trusts the folder, and the window does not", true, true, false, ""},
		{"the first transient front end trusts the folder, and the second does not", false, false, true, "demo"},
		{"the second transient front end trusts the folder, and the first does not", false, true, false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := sharedBy(t)
			come := func() *desk { return newDesk(t, w) }
			var first *desk
			if tt.window {
				first = seat(t, w, "a window", `{}`, configured(tt.first))
			} else {
				first = come()
				visit(t, first, `{}`, configured(tt.first))
			}
			d := come()
			visit(t, d, `{}`, configured(tt.transient))
			if got := serverNames(first); got != tt.want {
				t.Errorf("the servers are %q, want %q", got, tt.want)
			}
			d.leave()
			first.leave()
		})
	}
}
