package hub_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/broker/attribution"
	"assent/sidecar/config"
	"assent/sidecar/hub"
	"assent/sidecar/hub/session"
)

// inspectable returns a hub with a server, after its handshake.
func inspectable(t *testing.T, s config.Server, wait time.Duration) *hub.Hub {
	t.Helper()
	h := hub.New(hub.Options{
		Options: session.Options{
			Timing:      session.Timing{Handshake: wait},
			Changed:     func(protocol.Server) {},
			Environment: config.Environment{Environ: os.Environ(), Ask: refuse},
			Log:         zerolog.New(zerolog.NewTestWriter(t)),
		},
		Broker:      &asks{requests: make(chan askRequest)},
		Task:        func(id string) (attribution.Task, error) { return taskName{name: id}, nil },
		ListChanged: func(string, protocol.ListKind) {},
	})
	t.Cleanup(h.Close)
	h.Configure([]config.Server{s})
	return h
}

func inspected(t *testing.T, h *hub.Hub) *protocol.ServerInspection {
	t.Helper()
	got, err := h.Inspect(t.Context(), h.Servers()[0].Name)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestARunningServerIsInspected(t *testing.T) {
	f := newFixture(t, handshake("s")+`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}
-- server s --
{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"one","inputSchema":{"type":"object"}},{"name":"two","inputSchema":{"type":"object"}}]}}
-- client s --
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"tool","arguments":{}}}
-- server s --
!stderr one line
no message
{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","logger":"db","data":{"slow":true}}}
{"jsonrpc":"2.0","id":"e","method":"elicitation/create","params":{}}
-- client s --
{"jsonrpc":"2.0","id":"e","result":{"action":"cancel"}}
-- server s --
{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"done"}]}}
!exit 5
`, "s")
	if _, err := f.Tools(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	end := f.call(t.Context(), "t1", "s", "tool")
	request := <-f.asks.requests // the call goes on
	got := inspected(t, f.Hub)
	if got.Verdict != nil || got.Server.State != protocol.ServerRunning || len(got.Connections) != 1 {
		t.Fatalf("inspected: %+v", got)
	}
	if c := got.Connections[0]; c.TaskID != "t1" || c.PID == 0 || c.Since == 0 {
		t.Errorf("the connection is %+v", c)
	}
	if len(got.Calls) != 1 || got.Calls[0].TaskID != "t1" || got.Calls[0].ToolName != "tool" || got.Calls[0].Since == 0 {
		t.Errorf("the calls are %+v", got.Calls)
	}
	if n := got.Counts.Tools; n == nil || *n != 2 || got.Counts.Prompts != nil {
		t.Errorf("the counts are %+v", got.Counts)
	}
	shaken := &protocol.ServerHandshake{Era: protocol.EraLegacy, ProtocolVersion: "2025-11-25", Name: "s", Version: "1", Capabilities: []string{"tools"}}
	if diff := cmp.Diff(shaken, got.Handshake); diff != "" {
		t.Errorf("the handshake (-want +got):\n%s", diff)
	}
	request.answer <- map[string]string{"action": "cancel"}
	<-end
	f.await(t, "s", protocol.ServerFailed)
	got = inspected(t, f.Hub)
	if got.Verdict == nil || got.Verdict.Kind != protocol.VerdictLost || !strings.Contains(got.Verdict.Text, "exit code 5: one line") {
		t.Errorf("once it is gone the verdict is %+v", got.Verdict)
	}
	if len(got.Connections)+len(got.Calls) != 0 {
		t.Errorf("once it is gone there are %+v and %+v", got.Connections, got.Calls)
	}
	lines := map[string]bool{}
	for _, line := range got.Log {
		if line.From == protocol.LogAssent {
			line.Text = regexp.MustCompile(`\d+`).ReplaceAllString(line.Text, "PID")
		}
		lines[fmt.Sprintf("%s %s %s", line.From, line.Level, line.Text)] = true
	}
	if diff := cmp.Diff(map[string]bool{"assent  started as process PID": true, "stderr  one line": true, "stdout  no message": true, `message warning db: {"slow":true}`: true}, lines); diff != "" {
		t.Errorf("the log (-want +got):\n%s", diff)
	}
}

// refuse is a person who is not there.
func refuse(context.Context, config.Server, config.Input) (string, error) {
	return "", errors.New("nobody is there")
}
