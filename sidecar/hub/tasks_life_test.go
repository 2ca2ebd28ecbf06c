package hub_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/hub"
)

const keptTask = `"taskId":"one","status":"working","createdAt":"2026-07-28T12:00:00Z","lastUpdatedAt":"2026-07-28T12:00:01Z","pollInterval":1,"ttl":TTL`

func taskOf(ttl string) string { return strings.Replace(keptTask, "TTL", ttl, 1) }

func TestACallSaysForHowLongItsTaskIsKept(t *testing.T) {
	converseOverEach(t, legacyTasks+tool("required", `,"task":{"ttl":3600000}`)+
		serverSays(`{"jsonrpc":"2.0","id":"$ID","result":{"content":[{"type":"text","text":"done"}]}}`),
		legacyWays[:1], func(t *testing.T, c *conversation) {
			got := c.CallTool(t.Context(), c.id, "s", "tool", json.RawMessage(`{}`), hub.Hooks{TaskTTL: time.Hour})
			if diff := cmp.Diff(protocol.CallResult(done), got); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
}

func TestAToolSaysThatItBecomesATask(t *testing.T) {
	withoutTasks := strings.Replace(legacyTasks, `,"tasks":{"cancel":{},"list":{},"requests":{"tools":{"call":{}}}}},"serverInfo"`, `},"serverInfo"`, 1)
	for _, tt := range []struct {
		name, begin, support string
		want                 bool
	}{
		{"required", legacyTasks, "required", true},
		{"optional", legacyTasks, "optional", true},
		{"forbidden", legacyTasks, "forbidden", false},
		{"of a server without tasks", withoutTasks, "optional", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			list, _, _ := strings.Cut(tool(tt.support, ""), "-- client s --\n"+`{"jsonrpc":"2.0","id":"$ID","method":"tools/call"`)
			converseOverEach(t, tt.begin+list, legacyWays[:1], func(t *testing.T, c *conversation) {
				tools, err := c.Tools(t.Context(), "s")
				if err != nil || len(tools) != 1 {
					t.Fatalf("tools = %v, %v", tools, err)
				}
				if tools[0].McpTask != tt.want {
					t.Errorf("McpTask = %v, want %v", tools[0].McpTask, tt.want)
				}
			})
		})
	}
}

// The server is there. Only its task is lost.
func TestWhyATaskIsLostIsSaidTruthfully(t *testing.T) {
	get := clientSays(`{"jsonrpc":"2.0","id":"$ID","method":"tasks/get","params":{"taskId":"one"}}`)
	refused := func(code int) string {
		return get + serverSays(strings.Replace(`{"jsonrpc":"2.0","id":"$ID","error":{"code":CODE,"message":"Task not found"}}`, "CODE", string(mustJSON(code)), 1))
	}
	for _, tt := range []struct{ name, ttl, answer, want string }{
		{
			"unknown", "null", refused(-32602),
			`The MCP task "one" of the server "s" cannot be followed: the server no longer knows it: Task not found (-32602). Run the tool again to start another.`,
		},
		{
			"expired", "1", refused(-32602),
			`The MCP task "one" of the server "s" cannot be followed: it has expired, and the server no longer knows it: Task not found (-32602). Run the tool again to start another.`,
		},
		{
			"without a status", "null", strings.Repeat(get+serverSays(`{"jsonrpc":"2.0","id":"$ID","result":{}}`), 3),
			`The MCP task "one" of the server "s" cannot be followed: the server's answers have no status of it. It may still run: find out before you start another.`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			converseOverEach(t, legacyTasks+tool("required", asTask)+
				serverSays(`{"jsonrpc":"2.0","id":"$ID","result":{"task":{`+taskOf(tt.ttl)+`}}}`)+tt.answer,
				legacyWays, func(t *testing.T, c *conversation) {
					if diff := cmp.Diff(protocol.CallResult(protocol.CallLost{Reason: tt.want}), <-c.call(t.Context(), nil)); diff != "" {
						t.Errorf("result (-want +got):\n%s", diff)
					}
				})
		})
	}
}

func TestATaskIsGotFromItsServer(t *testing.T) {
	at := time.Date(2026, time.July, 28, 12, 0, 0, 0, time.UTC).UnixMilli()
	want := &protocol.ServerMcpTask{
		ServerName: "s", McpTaskID: "one", Status: protocol.McpTaskWorking, CreatedAt: at, LastUpdatedAt: at + 1000, ExpiresAt: at + 60_000,
	}
	for _, tt := range []struct {
		name, answer string
		want         *protocol.ServerMcpTask
		failed       bool
	}{
		{name: "known", answer: `"result":{` + taskOf("60000") + `}`, want: want},
		{name: "without its id", answer: `"result":{` + strings.Replace(taskOf("60000"), `"taskId":"one",`, "", 1) + `}`, want: want},
		{name: "unknown", answer: `"error":{"code":-32602,"message":"Task not found"}`},
		{name: "nonsense", answer: `"result":{}`, failed: true},
		{name: "another", answer: `"result":{` + strings.Replace(taskOf("60000"), `"one"`, `"two"`, 1) + `}`, failed: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			converseOverEach(t, legacyTasks+
				clientSays(`{"jsonrpc":"2.0","id":"$ID","method":"tasks/get","params":{"taskId":"one"}}`)+serverSays(`{"jsonrpc":"2.0","id":"$ID",`+tt.answer+`}`),
				legacyWays, func(t *testing.T, c *conversation) {
					got, err := c.GetTask(t.Context(), "s", "one")
					if diff := cmp.Diff(tt.want, got); diff != "" || (err != nil) != tt.failed {
						t.Errorf("GetTask: %v (-want +got):\n%s", err, diff)
					}
				})
		})
	}
}

// Each connection of a legacy server may lead to a process of its own, which knows no task of another process.
func TestATaskIsGotFromTheConnectionThatKnowsIt(t *testing.T) {
	var processes atomic.Int32
	f := newFixtureOf(t, func(*hub.Options) {}, serveRaw(t, func(s *rawServer) {
		s.shake(`{"tools":{}}`)
		known := fmt.Sprintf(`"task %d"`, processes.Add(1))
		for frame, ok := s.read(); ok; frame, ok = s.read() {
			switch {
			case frame.Method == "tools/call":
				s.write(resultOf(frame))
			case frame.Method == "tasks/get" && strings.Contains(string(frame.Params), known):
				s.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{%s}}`, frame.ID, strings.Replace(taskOf("60000"), `"one"`, known, 1)))
			case frame.Method == "tasks/get":
				s.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"Task not found"}}`, frame.ID))
			}
		}
	}))
	<-f.call(t.Context(), "t1", "s", "tool")
	<-f.call(t.Context(), "t2", "s", "tool")
	for _, id := range []string{"task 1", "task 2"} {
		if got, err := f.GetTask(t.Context(), "s", id); err != nil || got == nil || got.McpTaskID != id {
			t.Errorf("GetTask of %s = %+v, %v", id, got, err)
		}
	}
}

func mustJSON(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}
