package hub_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"assent/protocol"
	"assent/sidecar/config"
)

// endlessTask is a modern server over HTTP. Each of its calls becomes a task, and poll answers the requests
// about it.
type endlessTask struct {
	poll  string
	polls atomic.Int32
}

func (e *endlessTask) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var f frame
	if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&f) != nil {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	answer := modernElicitor(f)
	switch f.Method {
	case "tools/call":
		answer = response(f.ID, `{"resultType":"task","taskId":"one","status":"working","createdAt":"2020-01-01T00:00:00Z","lastUpdatedAt":"2020-01-01T00:00:00Z","ttlMs":60000}`)
	case "tasks/get":
		e.polls.Add(1)
		answer = strings.ReplaceAll(e.poll, "$ID", string(f.ID))
	case "subscriptions/listen":
		answer = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, f.ID)
	}
	_, _ = io.WriteString(w, answer) // or the client has gone
}

// A legacy task's result is fetched by a request of its own, which is made once.
func TestATasksResultThatIsNotReadIsTheEndOfItsCall(t *testing.T) {
	for n, want := range map[int64]string{
		-17 << 20: `The answer of the MCP server "s" has 17.0 MB, and no more than 16 MB are read. Ask for less at a time.`,
		deepest:   `The MCP server "s" gave no answer: its answer is nested more than 1000 deep, and no deeper is read.`,
	} {
		converseOverEach(t, legacyTasks+tool("required", asTask)+`
-- server s --
{"jsonrpc":"2.0","id":"$ID","result":{"task":{`+legacyStatus("completed", "1")+`}}}
-- client s --
{"jsonrpc":"2.0","id":"$RESULT","method":"tasks/result","params":{"taskId":"one"}}
-- server s --
{"jsonrpc":"2.0","id":"$RESULT","result":`+saidAtOnce(n)+`}
-- client? s --
{"jsonrpc":"2.0","id":"$AGAIN","method":"tasks/get","params":{"taskId":"one"}}
-- server? s --
{"jsonrpc":"2.0","id":"$AGAIN","result":{`+legacyStatus("completed", "1")+`,"result":{"content":[{"type":"text","text":"it was asked again"}]}}}
`, legacyWays[:1], func(t *testing.T, c *conversation) {
			if got := <-c.call(t.Context(), nil); got != (protocol.CallLost{Reason: want}) {
				t.Errorf("the call ended with %.300v, want %s", got, want)
			}
		})
	}
}

// An unreadable status of a task is polled again, but not for ever.
func TestATaskOfWhichNothingCanBeReadIsNotPolledForEver(t *testing.T) {
	result := func(result string) string { return `{"jsonrpc":"2.0","id":$ID,"result":` + result + `}` }
	for _, tt := range []struct {
		name, poll string
		polls      int32
		want       string
	}{
		{
			"too long", result(saidAtOnce(-17 << 20)), 1,
			`The answer of the MCP server "s" has 17.0 MB, and no more than 16 MB are read. Ask for less at a time.`,
		},
		{
			"nested too deep", result(saidAtOnce(deepest)), 1,
			`The MCP server "s" gave no answer: its answer is nested more than 1000 deep, and no deeper is read.`,
		},
		{ // it may have been the answer to another call
			"too long to be known", strings.Repeat("x", 17<<20), 3,
			`The MCP server "s" gave no answer: the server sent too much at once: an answer of more than 16777216 bytes.`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := &endlessTask{poll: tt.poll}
			c := converse(t, config.Server{Name: "s", Source: "test", Transport: protocol.TransportHTTP, URL: serveElicitor(t, server)})
			got := <-c.call(t.Context(), nil)
			if got != (protocol.CallLost{Reason: tt.want}) {
				t.Errorf("the call ended with %.300v, want %s", got, tt.want)
			}
			if polls := server.polls.Load(); polls != tt.polls {
				t.Errorf("it was polled %d times, want %d", polls, tt.polls)
			}
		})
	}
}
