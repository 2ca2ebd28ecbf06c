package workspace_test

import (
	"fmt"
	"slices"
	"testing"

	"assent/protocol"
)

// TestADialogConfirmsAServerBeforeABrowser: of several front ends of a kind, the one that was used last asks.
func TestADialogConfirmsAServerBeforeABrowser(t *testing.T) {
	const blind, window, browser = `{}`, `{"inputs":true,"confirmServers":true}`, `{"confirmServers":true}`
	for _, test := range []struct {
		name         string
		capabilities []string // of the front ends; the last one is the newest
		starts, asks int
	}{
		{"a window that starts it, before a newer browser", []string{window, browser}, 0, 0},
		{"a window, before a browser that starts it", []string{window, browser}, 1, 0},
		{"the newest window, before a newer browser", []string{blind, browser, window, window, browser}, 0, 3},
		{"a browser, where there is no window", []string{blind, browser}, 0, 1},
		{"the newest browser, where there is no window", []string{blind, browser, browser}, 0, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			folder := t.TempDir()
			write(t, folder, map[string]any{"command": "no-such-program"})
			w := sharedBy(t)
			var desks []*desk
			for i, can := range test.capabilities {
				desks = append(desks, seat(t, w, fmt.Sprint("front end ", i), can, fmt.Sprintf(`{"workspaceFolders":[{"name":"ws","path":%q}],"model":{}}`, folder)))
			}
			id := desks[test.starts].ask("server/start", `{"serverName":"t"}`)
			desks[test.asks].serve(desks[test.asks].request("server/confirm"), `{"decision":"allowed"}`)
			desks[test.starts].refused(id, protocol.CodeServerFailed, "no-such-program")
			for _, d := range slices.Backward(desks) {
				d.leave()
			}
		})
	}
}

// TestAConfirmationOutlivesItsFrontEnd: if a browser's page is closed or loaded again, another one is asked.
func TestAConfirmationOutlivesItsFrontEnd(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, map[string]any{"command": "no-such-program"})
	configuration := fmt.Sprintf(`{"workspaceFolders":[{"name":"ws","path":%q}],"model":{}}`, folder)
	w := sharedBy(t)
	other, page := seat(t, w, "another", `{}`, configuration), seat(t, w, "a browser", `{"confirmServers":true}`, configuration)
	id := other.ask("server/start", `{"serverName":"t"}`)
	page.request("server/confirm")
	page.leave()
	again := seat(t, w, "a browser", `{"confirmServers":true}`, configuration)
	again.serve(again.request("server/confirm"), `{"decision":"refused"}`)
	other.refused(id, protocol.CodeServerFailed, "ou refused to run it")
	again.leave()
	other.leave()
}
