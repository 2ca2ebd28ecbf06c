package hub_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/hub"
)

// listing is a request for a page of the list of tasks, and its answer.
func listing(params, answer string) string {
	return `
-- client s --
{"jsonrpc":"2.0","id":"$ID","method":"tasks/list","params":` + params + `}
-- server s --
{"jsonrpc":"2.0","id":"$ID",` + answer + `}
`
}

// listed lists what a started server says.
func (c *conversation) listed(t *testing.T) ([]protocol.ServerMcpTask, []protocol.ServerMcpTasksProblem) {
	t.Helper()
	if _, err := c.Restart(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	return c.ListTasks(t.Context(), func(string) bool { return true })
}

func TestTasksAreListedPageByPage(t *testing.T) {
	const whole = `{"taskId":"one","status":"working","statusMessage":"half","createdAt":"2026-07-28T12:00:00Z","lastUpdatedAt":"2026-07-28T12:00:01Z","ttl":60000}`
	at := time.Date(2026, time.July, 28, 12, 0, 0, 0, time.UTC).UnixMilli()
	converseOverEach(t, legacyTasks+
		listing(`{}`, `"result":{"tasks":[`+whole+`],"nextCursor":"two"}`)+
		listing(`{"cursor":"two"}`, `"result":{"tasks":[{"taskId":"two","status":"completed","createdAt":"yesterday","ttl":null},`+whole+`]}`),
		legacyWays, func(t *testing.T, c *conversation) {
			got, problems := c.listed(t)
			want := []protocol.ServerMcpTask{
				{
					ServerName: "s", McpTaskID: "one", Status: protocol.McpTaskWorking, StatusMessage: "half",
					CreatedAt: at, LastUpdatedAt: at + 1000, ExpiresAt: at + 60_000,
				},
				{ServerName: "s", McpTaskID: "two", Status: protocol.McpTaskCompleted},
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("tasks (-want +got):\n%s", diff)
			}
			if len(problems) != 0 {
				t.Errorf("problems: %v", problems)
			}
		})
}

// The player of the transcript takes no request that is not in it, so that one would be a problem.
func TestOnlyServersThatDeclareItListTasks(t *testing.T) {
	for _, tasks := range []string{`{"cancel":{},"requests":{"tools":{"call":{}}}}`, `{"list":null}`, `7`} {
		undeclared := strings.Replace(legacyTasks, `{"cancel":{},"list":{},"requests":{"tools":{"call":{}}}}`, tasks, 1)
		if undeclared == legacyTasks {
			t.Fatal("the transcript declares tasks in other words")
		}
		t.Run(tasks, func(t *testing.T) { listsNothing(t, undeclared, legacyWays) })
	}
	t.Run("modern", func(t *testing.T) {
		listsNothing(t, `
-- client s --
{"jsonrpc":"2.0","id":1000000001,"method":"server/discover","params":{"_meta":{`+tasksMeta+`}}}
-- server s --
{"jsonrpc":"2.0","id":1000000001,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"tasks":{"list":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}}}}
`, modernWays)
	})
}

func listsNothing(t *testing.T, transcript string, ways []protocol.Transport) {
	t.Helper()
	converseOverEach(t, transcript, ways, func(t *testing.T, c *conversation) {
		if got, problems := c.listed(t); len(got)+len(problems) != 0 {
			t.Errorf("ListTasks = %v, %v, want nothing", got, problems)
		}
	})
}

func TestAServerIsNotStartedForItsTasks(t *testing.T) {
	converseOverEach(t, legacyTasks, legacyWays[:1], func(t *testing.T, c *conversation) {
		if got, problems := c.ListTasks(t.Context(), func(string) bool { return true }); len(got)+len(problems) != 0 {
			t.Errorf("ListTasks = %v, %v, want nothing", got, problems)
		}
		if got := c.Servers()[0].State; got != protocol.ServerStopped {
			t.Errorf("the server is %s", got)
		}
	})
}

func TestAServerThatMayNotBeAskedIsNot(t *testing.T) {
	converseOverEach(t, legacyTasks, legacyWays[:1], func(t *testing.T, c *conversation) {
		if _, err := c.Restart(t.Context(), "s"); err != nil {
			t.Fatal(err)
		}
		if got, problems := c.ListTasks(t.Context(), func(string) bool { return false }); len(got)+len(problems) != 0 {
			t.Errorf("ListTasks = %v, %v, want nothing", got, problems)
		}
	})
}

func TestBadListsAreProblems(t *testing.T) {
	const good = `{"taskId":"one","status":"working"}`
	many := func(n int) string {
		var tasks []string
		for i := range n {
			tasks = append(tasks, fmt.Sprintf(`{"taskId":"%d","status":"working"}`, i))
		}
		return strings.Join(tasks, ",")
	}
	var endless strings.Builder
	endless.WriteString(listing(`{}`, `"result":{"tasks":[`+good+`],"nextCursor":"0"}`))
	for i := range 49 {
		endless.WriteString(listing(fmt.Sprintf(`{"cursor":"%d"}`, i), fmt.Sprintf(`"result":{"nextCursor":"%d"}`, i+1)))
	}
	long := strings.Repeat("é", 1000)
	tests := []struct {
		name, transcript string
		tasks            int
		problem          string
	}{
		{"an error", listing(`{}`, `"error":{"code":-32601,"message":"Method not found"}`), 0, "Method not found"},
		{"no object", listing(`{}`, `"result":[1]`), 0, "its answer cannot be read"},
		{"no list", listing(`{}`, `"result":{"tasks":7}`), 0, "its answer cannot be read"},
		{"the same cursor", listing(`{}`, `"result":{"tasks":[`+good+`],"nextCursor":"a"}`) + listing(`{"cursor":"a"}`, `"result":{"tasks":[`+good+`],"nextCursor":"a"}`), 1, "has no end: 2 pages"},
		{"a circle", listing(`{}`, `"result":{"nextCursor":"a"}`) + listing(`{"cursor":"a"}`, `"result":{"nextCursor":"b"}`) + listing(`{"cursor":"b"}`, `"result":{"nextCursor":"a"}`), 0, "has no end: 3 pages"},
		{"cursors for ever", endless.String(), 1, "has no end: 50 pages"},
		{"an error on the second page", listing(`{}`, `"result":{"tasks":[`+good+`],"nextCursor":"a"}`) + listing(`{"cursor":"a"}`, `"error":{"code":-32602,"message":"`+long+`"}`), 1, "cannot be listed"},
		{"too many", listing(`{}`, `"result":{"tasks":[`+many(501)+`]}`), 500, "more than 500 tasks"},
		{"what is no task", listing(`{}`, `"result":{"tasks":[`+good+`,7,null,{},{"taskId":"x","status":"dancing"},{"taskId":"`+long+`","status":"working"}]}`), 1, "5 of the tasks"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			converseOverEach(t, legacyTasks+tt.transcript, legacyWays[:1], func(t *testing.T, c *conversation) {
				got, problems := c.listed(t)
				if len(got) != tt.tasks {
					t.Errorf("%d tasks, want %d", len(got), tt.tasks)
				}
				if len(problems) != 1 || !strings.Contains(problems[0].Message, tt.problem) || problems[0].ServerName != "s" || len(problems[0].Message) > 1100 {
					t.Errorf("problems: %v, want one with %q", problems, tt.problem)
				}
			})
		})
	}
}

func TestAServerThatSaysNothingOfItsTasksIsNotWaitedForLong(t *testing.T) {
	converseOverEach(t, legacyTasks+`
-- client s --
{"jsonrpc":"2.0","id":"$ID","method":"tasks/list","params":{}}
-- client s --
{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"$ID","reason":"the client no longer waits for the result"}}
`, legacyWays[:1], func(t *testing.T, c *conversation) {
		got, problems := c.listed(t)
		if len(got) != 0 || len(problems) != 1 || !strings.Contains(problems[0].Message, "no whole answer within 3s") {
			t.Errorf("ListTasks = %v, %v, want that it gave no answer", got, problems)
		}
	})
}

// A task that was found is followed as one that a call became, and its age is the server's to say.
func TestAFoundTaskIsFollowedToItsEnd(t *testing.T) {
	created := time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
	status := `"taskId":"one","status":"completed","createdAt":"` + created + `","lastUpdatedAt":"` + created + `","ttl":7200000`
	converseOverEach(t, legacyTasks+`
-- client s --
{"jsonrpc":"2.0","id":"$ID","method":"tasks/get","params":{"taskId":"one"}}
-- server s --
{"jsonrpc":"2.0","id":"$ID","result":{`+status+`}}
-- client s --
{"jsonrpc":"2.0","id":"$ID","method":"tasks/result","params":{"taskId":"one"}}
-- server s --
{"jsonrpc":"2.0","id":"$ID","result":{"content":[{"type":"text","text":"done"}]}}
`, legacyWays, func(t *testing.T, c *conversation) {
		var last protocol.McpTask
		known := protocol.McpTask{TaskID: "one", Status: protocol.McpTaskWorking, CreatedAt: time.Now().UnixMilli()}
		got := c.ResumeTool(t.Context(), c.id, "s", "", known, hub.Hooks{Task: func(s protocol.McpTask) { last = s }})
		if diff := cmp.Diff(protocol.CallResult(done), got); diff != "" {
			t.Errorf("result (-want +got):\n%s", diff)
		}
		if left := time.Until(time.UnixMilli(last.ExpiresAt)); last.Status != protocol.McpTaskCompleted || left > time.Hour || left < 50*time.Minute {
			t.Errorf("observed %+v, want that it expires two hours after the server made it", last)
		}
	})
}
