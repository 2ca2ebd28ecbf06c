package workspace_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"assent/protocol"
)

// calling creates a task and starts a call of the server "demo" in it.
func (d *desk) calling() {
	d.t.Helper()
	var task protocol.Task
	d.result(d.ask("task/create", `{}`), &task)
	d.answerOnly(d.ask("call/start", fmt.Sprintf(`{"taskId":%q,"serverName":"demo","request":{"type":"tools/call","toolName":"ask"}}`, task.ID)))
}

// hears waits for messages with these texts, in any order, and returns all that came.
func (d *desk) hears(texts ...string) (lines []string) {
	d.t.Helper()
	for missing := texts; len(missing) > 0; {
		line := d.next()
		lines = append(lines, line)
		var rest []string
		for _, text := range missing {
			if !strings.Contains(line, text) {
				rest = append(rest, text)
			}
		}
		missing = rest
	}
	return lines
}

func TestAServerAndItsCallsSayWhatTheyWaitFor(t *testing.T) {
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/mcp" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer refuses.Close()
	for _, tt := range []struct {
		name, capabilities, server, what string
		// request is the request to the window, and answer its answer.
		request, answer string
	}{
		{
			"a login page", `{"openUrl":true}`,
			fmt.Sprintf(`{"url":"%s/mcp","oauth":{"clientId":"ada"}}`, refuses.URL),
			"a window to open its login page", "window/openUrl", `{"opened":false}`,
		},
		{
			"an input", `{"inputs":true}`,
			`{"command":"no-such-program","env":{"KEY":"${input:key}"}}`,
			"a window of this workspace to ask you for an input", "input/prompt", `{"value":{"secret":"x"}}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			configuration := `{"servers":{"demo":` + tt.server + `},"inputs":[{"type":"promptString","id":"key"}],"model":{}}`
			w := sharedBy(t)
			blind, window := seat(t, w, "a browser", `{}`, configuration), seat(t, w, "a window", tt.capabilities, configuration)
			window.leave()
			reason, notice := `"state":"starting","reason":"It waits for `+tt.what+`."`, `The MCP server \"demo\" waits for `+tt.what+"."
			blind.calling()
			blind.hears(reason, notice)
			var list protocol.ServersChangedParams
			blind.result(blind.ask("server/list", `{}`), &list)
			if got, want := list.Servers[0].Reason, "It waits for "+tt.what+"."; got != want {
				t.Errorf("the list of servers has the reason %q, want %q", got, want)
			}
			blind.calling() // which waits as well
			blind.hears(notice)
			seat(t, w, "another browser", `{}`, configuration).leave() // changes nothing

			window = seat(t, w, "a window", tt.capabilities, configuration)
			for _, line := range blind.hears(`"state":"starting"}`) {
				if strings.Contains(line, notice) {
					t.Errorf("it was told once more: %s", line)
				}
			}
			window.serve(window.request(tt.request), tt.answer)
			blind.hears(`"callEnded"`)
			blind.leave()
			window.leave()
		})
	}
}
