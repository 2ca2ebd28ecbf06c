package hub_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
)

// soon is a time after which a connection that is not in use is closed at once.
const soon = time.Nanosecond

// oneAnswer is a conversation of one call.
const oneAnswer = `
-- client s --
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"tool","arguments":{}}}
-- server s --
{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"thanks"}]}}
`

// stops counts how often a server went from running to stopped.
func stops(states []protocol.ServerState) (n int) {
	for i, s := range states {
		if i > 0 && s == protocol.ServerStopped && states[i-1] == protocol.ServerRunning {
			n++
		}
	}
	return n
}

func (f *fixture) awaitStops(t *testing.T, want int) {
	t.Helper()
	f.eventually(t, "its end", func() bool {
		var states []protocol.ServerState
		for _, s := range f.states {
			states = append(states, s.State)
		}
		return stops(states) >= want
	})
}

func TestAnUnusedConnectionIsClosedAndOpenedAgain(t *testing.T) {
	overEach(t, handshake("s")+oneAnswer, legacyWays, func(t *testing.T, f *fixture) {
		f.SetIdle(soon)
		want := protocol.ToolResult{Content: []protocol.ContentBlock{protocol.TextContent{Text: "thanks"}}}
		for round := range 2 {
			if diff := cmp.Diff(protocol.CallResult(want), <-f.call(t.Context(), "t1", "s", "tool")); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
			f.awaitStops(t, round+1)
			if s := f.state(t, "s"); s.State != protocol.ServerStopped || s.Reason != "" {
				t.Errorf("the server = %+v, want it stopped for no fault", s)
			}
		}
	})
}

func TestTheConnectionOfListsIsClosedWhenUnused(t *testing.T) {
	f := newFixture(t, handshake("s")+`
{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}
-- server s --
{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}
`, "s")
	if _, err := f.Tools(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	if got := f.state(t, "s").State; got != protocol.ServerRunning {
		t.Errorf("the server is %s, want it running: connections stay where nothing is set", got)
	}
	f.SetIdle(soon)
	f.awaitStops(t, 1)
}

func TestAConnectionInUseIsKept(t *testing.T) {
	// The server asks during the call, and the same process hears the answer.
	f := newFixture(t, asking("s", `
-- client s --
{"jsonrpc":"2.0","id":"q","result":{"told":"me"}}
-- server s --
{"jsonrpc":"2.0","id":2,"result":{"content":[]}}
`), "s")
	f.SetIdle(soon)
	end := f.call(t.Context(), "t1", "s", "tool")
	r := f.nextAsk(t, end)
	f.SetIdle(2 * soon) // restarts the timer, which expires about now
	r.answer <- map[string]string{"told": "me"}
	if got, ok := (<-end).(protocol.ToolResult); !ok {
		t.Errorf("result = %+v", got)
	}
	f.awaitStops(t, 1)
}

func TestASharedConnectionIsKept(t *testing.T) {
	f, _ := newFixtureWhose(t, shared("s"), handshake("s")+oneAnswer+`
-- client s --
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"tool","arguments":{}}}
-- server s --
{"jsonrpc":"2.0","id":3,"result":{"content":[]}}
`)
	f.SetIdle(soon)
	for _, id := range []string{"t1", "t2"} { // the same process
		if got, ok := (<-f.call(t.Context(), id, "s", "tool")).(protocol.ToolResult); !ok {
			t.Errorf("result = %+v", got)
		}
	}
}
