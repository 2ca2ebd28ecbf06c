package hub_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/protocol"
	"assent/sidecar/config"
	"assent/sidecar/hub"
	"assent/sidecar/task"
)

// modernMeta is what every request of the modern era carries.
const modernMeta = `"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}},"extensions":{"io.modelcontextprotocol/tasks":{}},"sampling":{"context":{}}},"io.modelcontextprotocol/clientInfo":{"name":"assent","version":"test"},"io.modelcontextprotocol/protocolVersion":"2026-07-28"`

// discovery is how a conversation with a modern server begins.
func discovery(server, capabilities string) string {
	return strings.NewReplacer("NAME", server, "META", modernMeta, "CAPABILITIES", capabilities).Replace(`
-- client NAME --
{"jsonrpc":"2.0","id":1000000001,"method":"server/discover","params":{"_meta":{META}}}
-- server NAME --
{"jsonrpc":"2.0","id":1000000001,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":CAPABILITIES}}
-- client NAME --
`)
}

// toolCall is a request with what a round adds to it.
func toolCall(id int, extra string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"tool","arguments":{},%s"_meta":{%s}}}`, id, extra, modernMeta)
}

func serverSays(lines ...string) string { return "-- server s --\n" + strings.Join(lines, "\n") + "\n" }

func clientSays(lines ...string) string { return "-- client s --\n" + strings.Join(lines, "\n") + "\n" }

func required(id int, members string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"resultType":"input_required",%s}}`, id, members)
}

func complete(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"resultType":"complete","content":[{"type":"text","text":"done"}]}}`, id)
}

var done = protocol.ToolResult{Content: []protocol.ContentBlock{protocol.TextContent{Text: "done"}}}

const (
	elicitRequest = `{"method":"elicitation/create","params":{"z":1,"a":2}}`
	sampleRequest = `{"method":"sampling/createMessage","params":{"maxTokens":1}}`
)

// withRoots is a call of a task with roots.
func withRoots(call string) string {
	return strings.Replace(call, `"sampling":{"context"`, `"roots":{},"sampling":{"context"`, 1)
}

func TestAllQuestionsOfARoundAreAskedAtOnce(t *testing.T) {
	overEach(t, discovery("s", `{"tools":{}}`)+withRoots(toolCall(2, ""))+"\n"+
		serverSays(required(2, `"inputRequests":{"one":`+elicitRequest+`,"two":{"method":"elicitation/create","params":{"n":2}},"three":`+sampleRequest+`,"roots":{"method":"roots/list"}},"requestState":"s\u0041/\/é"`))+
		clientSays(withRoots(toolCall(3, `"requestState":"sA//é","inputResponses":{"one":{"action":"decline"},"two":{"n":2},"three":{"n":3},"roots":{"roots":[{"uri":"file:///home/a%20b","name":"ws"}]}},`)))+
		serverSays(required(3, `"inputRequests":{"four":`+elicitRequest+`}`))+
		clientSays(withRoots(toolCall(4, `"inputResponses":{"four":{"n":4}},`)))+ // no state was given, so none goes back
		serverSays(complete(4)), modernWays, func(t *testing.T, f *fixture) {
		f.SetFolders([]protocol.WorkspaceFolder{{Name: "ws", Path: "/home/a b"}})
		end := f.call(t.Context(), "t1", "s", "tool")
		var open []askRequest
		for range 3 {
			r := f.nextAsk(t, end)
			open = append(open, r)
			if diff := cmp.Diff(protocol.Origin{ServerName: "s", ToolNames: []string{"tool"}}, r.origin); diff != "" || r.task != "t1" {
				t.Errorf("asked in %s (-want +got):\n%s", r.task, diff)
			}
		}
		// One is declined first, and the others are asked all the same.
		i := slices.IndexFunc(open, func(r askRequest) bool { return string(r.params) == `{"z":1,"a":2}` })
		if i < 0 {
			t.Fatal("the params are not as they were on the wire")
		}
		open[i].answer <- map[string]string{"action": "decline"}
		open = slices.Delete(open, i, i+1)
		for _, r := range open {
			if r.ctx.Err() != nil {
				t.Error("a question ended with its sibling")
			}
			n := 2
			if strings.Contains(string(r.params), "maxTokens") {
				n = 3
			}
			r.answer <- map[string]int{"n": n}
		}
		f.nextAsk(t, end).answer <- map[string]int{"n": 4}
		got := <-end
		if diff := cmp.Diff(protocol.CallResult(done), got); diff != "" {
			t.Errorf("result (-want +got):\n%s\n%s", diff, strings.Join(f.state(t, "s").Stderr, "\n"))
		}
	})
}

func TestHowRoundsEnd(t *testing.T) {
	tests := []struct {
		name, script string
		want         protocol.CallResult
	}{
		{
			"with a result of no kind, which is complete",
			clientSays(toolCall(2, "")) + serverSays(`{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"done"}]}}`),
			done,
		},
		{
			"with an error",
			clientSays(toolCall(2, "")) + serverSays(`{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"no","data":[1]}}`),
			protocol.CallError{Code: -32602, Message: "no", Data: []byte(`[1]`)},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			overEach(t, discovery("s", `{"tools":{}}`)+tt.script, modernWays, func(t *testing.T, f *fixture) {
				if diff := cmp.Diff(tt.want, <-f.call(t.Context(), "t1", "s", "tool")); diff != "" {
					t.Errorf("result (-want +got):\n%s\n%s", diff, strings.Join(f.state(t, "s").Stderr, "\n"))
				}
			})
		})
	}
}

func TestADeniedCompletionEndsTheCallAndItsSiblings(t *testing.T) {
	overEach(t, discovery("s", `{"tools":{}}`)+toolCall(2, "")+"\n"+
		serverSays(required(2, `"inputRequests":{"form":`+elicitRequest+`,"completion":`+sampleRequest+`}`)), modernWays, func(t *testing.T, f *fixture) {
		end := f.call(t.Context(), "t1", "s", "tool")
		first, second := f.nextAsk(t, end), f.nextAsk(t, end)
		if strings.Contains(string(second.params), "maxTokens") {
			first, second = second, first
		}
		first.answer <- error(&jsonrpc.Error{Code: -1, Message: "User rejected sampling request"})
		<-second.ctx.Done()
		second.answer <- errors.New("nobody answered")
		var ended *task.Ended
		if cause := context.Cause(second.ctx); !errors.As(cause, &ended) || ended.Reason != protocol.OutcomeCallEnded {
			t.Errorf("the sibling ended by %v", cause)
		}
		want := protocol.CallAbandoned{Reason: "The server did not get an answer: User rejected sampling request"}
		if diff := cmp.Diff(protocol.CallResult(want), <-end); diff != "" {
			t.Errorf("result (-want +got):\n%s", diff)
		}
	})
}

func TestAModernServersQuestionOutlivesItsProcess(t *testing.T) {
	// The process that asked is gone; the answer goes to another one, with the state that it needs.
	f := newFixture(t, strings.ReplaceAll(discovery("s", `{"tools":{}}`)+
		"-- client? s --\n"+toolCall(2, "")+"\n-- server? s --\n"+required(2, `"inputRequests":{"q":`+elicitRequest+`},"requestState":"kept"`)+"\n!exit 0\n"+
		clientSays(toolCall(2, `"requestState":"kept","inputResponses":{"q":{"n":1}},`))+serverSays(complete(2)), "-- client s --\n-- client?", "-- client?"), "s")
	end := f.call(t.Context(), "t1", "s", "tool")
	r := f.nextAsk(t, end)
	f.await(t, "s", protocol.ServerFailed)
	if r.ctx.Err() != nil {
		t.Fatalf("the question ended with the process: %v", context.Cause(r.ctx))
	}
	r.answer <- map[string]int{"n": 1}
	if diff := cmp.Diff(protocol.CallResult(done), <-end); diff != "" {
		t.Errorf("result (-want +got):\n%s\n%s", diff, strings.Join(f.state(t, "s").Stderr, "\n"))
	}
}

func TestWhyAQuestionOfARoundEnds(t *testing.T) {
	tests := []struct {
		name   string
		act    func(f *fixture, cancel context.CancelFunc)
		reason protocol.OutcomeReason
		want   protocol.CallResult
	}{
		{
			"the call was cancelled", func(_ *fixture, cancel context.CancelFunc) { cancel() },
			protocol.OutcomeCallEnded,
			protocol.CallCancelled{},
		},
		{
			"the server was stopped", func(f *fixture, _ context.CancelFunc) { _, _ = f.Stop("s") },
			protocol.OutcomeServerLost,
			protocol.CallLost{Reason: `The MCP server "s" is gone: it was stopped. Run the tool again to restart it.`},
		},
		{
			"Assent closed", func(f *fixture, _ context.CancelFunc) { f.Close() },
			protocol.OutcomeRestarted,
			protocol.CallLost{Reason: `The MCP server "s" is gone: Assent is closing. Run the tool again to restart it.`},
		},
		{
			"the configuration changed", func(f *fixture, _ context.CancelFunc) { f.Configure(nil) },
			protocol.OutcomeServerLost,
			protocol.CallLost{Reason: `The MCP server "s" is gone: its configuration has changed. Run the tool again to restart it.`},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			overEach(t, discovery("s", `{"tools":{}}`)+toolCall(2, "")+"\n"+serverSays(required(2, `"inputRequests":{"q":`+elicitRequest+`}`)), modernWays, func(t *testing.T, f *fixture) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				end := f.call(ctx, "t1", "s", "tool")
				r := f.nextAsk(t, end)
				acted := make(chan struct{})
				go func() { defer close(acted); tt.act(f, cancel) }()
				<-r.ctx.Done()
				r.answer <- errors.New("nobody answered")
				var ended *task.Ended
				if cause := context.Cause(r.ctx); !errors.As(cause, &ended) || ended.Reason != tt.reason {
					t.Errorf("the question ended by %+v, want %s", cause, tt.reason)
				}
				if diff := cmp.Diff(tt.want, <-end); diff != "" {
					t.Errorf("result (-want +got):\n%s", diff)
				}
				<-acted
			})
		})
	}
}

func TestReadsAndPromptsHaveRoundsToo(t *testing.T) {
	read := func(id int, extra string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"resources/read","params":{"uri":"x://y",%s"_meta":{%s}}}`, id, extra, modernMeta)
	}
	get := func(id int, extra string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"prompts/get","params":{"name":"p","arguments":{"k":"v"},%s"_meta":{%s}}}`, id, extra, modernMeta)
	}
	overEach(t, discovery("s", `{"resources":{},"prompts":{}}`)+read(2, "")+"\n"+
		serverSays(required(2, `"inputRequests":{"q":`+elicitRequest+`},"requestState":"r"`))+
		clientSays(read(3, `"requestState":"r","inputResponses":{"q":{"n":1}},`))+
		serverSays(`{"jsonrpc":"2.0","id":3,"result":{"resultType":"complete","contents":[{"uri":"x://y","mimeType":"text/plain","text":"hello"}]}}`)+
		clientSays(get(4, ""))+
		serverSays(required(4, `"requestState":"g"`))+
		clientSays(get(5, `"requestState":"g",`))+
		serverSays(`{"jsonrpc":"2.0","id":5,"result":{"resultType":"complete","description":"d","messages":[{"role":"user","content":{"type":"text","text":"hi"}},{"role":"user","content":{"type":"smell"}}]}}`), modernWays, func(t *testing.T, f *fixture) {
		end := make(chan protocol.CallResult, 1)
		go func() { end <- f.ReadResource(t.Context(), "t1", "s", "x://y", hub.Hooks{}) }()
		r := f.nextAsk(t, end)
		if diff := cmp.Diff(protocol.Origin{ServerName: "s", ResourceURI: "x://y"}, r.origin); diff != "" {
			t.Errorf("who asks (-want +got):\n%s", diff)
		}
		r.answer <- map[string]int{"n": 1}
		wantRead := protocol.ToolResult{Content: []protocol.ContentBlock{
			protocol.EmbeddedResource{Resource: protocol.ResourceContents{URI: "x://y", MIMEType: "text/plain", Text: "hello"}},
		}}
		if diff := cmp.Diff(protocol.CallResult(wantRead), <-end); diff != "" {
			t.Errorf("read (-want +got):\n%s\n%s", diff, strings.Join(f.state(t, "s").Stderr, "\n"))
		}
		wantPrompt := protocol.PromptResult{Description: "d", Messages: []protocol.PromptMessage{
			{Role: protocol.RoleUser, Content: protocol.TextContent{Text: "hi"}},
			{Role: protocol.RoleUser, Content: protocol.UnknownContent{Raw: []byte(`{"type":"smell"}`)}},
		}}
		if diff := cmp.Diff(protocol.CallResult(wantPrompt), f.GetPrompt(t.Context(), "t1", "s", "p", map[string]string{"k": "v"}, hub.Hooks{})); diff != "" {
			t.Errorf("prompt (-want +got):\n%s\n%s", diff, strings.Join(f.state(t, "s").Stderr, "\n"))
		}
	})
}

func TestOneConnectionToAModernServerServesAllTasks(t *testing.T) {
	overEach(t, discovery("s", `{"tools":{}}`)+toolCall(2, "")+"\n"+serverSays(complete(2))+
		clientSays(toolCall(3, ""))+serverSays(complete(3)), modernWays, func(t *testing.T, f *fixture) {
		for _, id := range []string{"t1", "t2"} {
			if diff := cmp.Diff(protocol.CallResult(done), <-f.call(t.Context(), id, "s", "tool")); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		}
		f.CloseTask("t1")
		if got := f.state(t, "s").State; got != protocol.ServerRunning {
			t.Errorf("after a task was closed the server is %s", got)
		}
	})
}

func TestAServerThatDiesOfTheProbeIsStartedAgain(t *testing.T) {
	f := newFixture(t, `
-- client? s --
{"jsonrpc":"2.0","id":1000000001,"method":"server/discover","params":{"_meta":{`+modernMeta+`}}}
-- server? s --
!exit 9
`+handshake("s")+`
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"tool","arguments":{}}}
-- server s --
{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"done"}]}}
`, "s")
	for range 2 { // the second time it is known
		if diff := cmp.Diff(protocol.CallResult(done), <-f.call(t.Context(), "t1", "s", "tool")); diff != "" {
			t.Errorf("result (-want +got):\n%s", diff)
		}
		if _, err := f.Stop("s"); err != nil {
			t.Fatal(err)
		}
	}
}

func TestChangedListsAreReportedAndReadAgain(t *testing.T) {
	listen := `{"jsonrpc":"2.0","id":2,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{` + modernMeta + `}}}`
	list := func(id int) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list","params":{"_meta":{%s}}}`, id, modernMeta)
	}
	tools := func(id int, name string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"resultType":"complete","ttlMs":3600000,"cacheScope":"public","tools":[{"name":%q,"inputSchema":{"type":"object"}}]}}`, id, name)
	}
	overEach(t, discovery("s", `{"tools":{"listChanged":true}}`)+listen+"\n"+
		serverSays(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":2},"notifications":{"toolsListChanged":true}}}`)+
		clientSays(list(3))+serverSays(tools(3, "old"))+
		clientSays(toolCall(4, ""))+
		serverSays(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":2}}}`, complete(4))+
		clientSays(list(5))+serverSays(tools(5, "new")), modernWays, func(t *testing.T, f *fixture) {
		names := func() []string {
			tools, err := f.Tools(t.Context(), "s")
			if err != nil {
				t.Fatalf("%v\n%s", err, strings.Join(f.state(t, "s").Stderr, "\n"))
			}
			var names []string
			for _, tool := range tools {
				names = append(names, tool.Name)
			}
			return names
		}
		for range 3 { // the server is asked once: it said for how long the list is good
			if diff := cmp.Diff([]string{"old"}, names()); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
		}
		<-f.call(t.Context(), "t1", "s", "tool")
		f.awaitChange(t, protocol.ListTools)
		if diff := cmp.Diff([]string{"new"}, names()); diff != "" {
			t.Errorf("tools after the change (-want +got):\n%s", diff)
		}
	})
}

func TestProgressIsTold(t *testing.T) {
	overEach(t, handshake("s")+`
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"tool","arguments":{},"_meta":{"progressToken":"call-1"}}}
-- server s --
{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"another","progress":9}}
{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"call-1","progress":1,"total":4,"message":"Reticulating"}}
{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"call-1","progress":2.5}}
{"jsonrpc":"2.0","method":"ping","id":"p"}
-- client s --
{"jsonrpc":"2.0","id":"p","result":{}}
-- server s --
{"jsonrpc":"2.0","id":2,"result":{"content":[]}}
`, legacyWays, func(t *testing.T, f *fixture) {
		var told []protocol.Progress
		f.CallTool(t.Context(), "t1", "s", "tool", []byte(`{}`), hub.Hooks{Progress: func(p protocol.Progress) {
			p.At = 0
			told = append(told, p)
		}})
		want := []protocol.Progress{{Progress: 1, Total: 4, Message: "Reticulating"}, {Progress: 2.5}}
		if diff := cmp.Diff(want, told); diff != "" {
			t.Errorf("progress (-want +got):\n%s", diff)
		}
	})
}

func TestRootsFollowTheFolders(t *testing.T) {
	f := newFixture(t, handshakeWithRoots("s")+pinged+`
-- client s --
{"jsonrpc":"2.0","id":"$ONE","method":"tools/call","params":{"name":"tool","arguments":{}}}
-- server s --
{"jsonrpc":"2.0","id":"r","method":"roots/list"}
-- client s --
{"jsonrpc":"2.0","id":"r","result":{"roots":[{"uri":"file:///one","name":"one"}]}}
-- server s --
{"jsonrpc":"2.0","id":"$ONE","result":{"content":[]}}
-- client s --
{"jsonrpc":"2.0","method":"notifications/roots/list_changed","params":{}}
{"jsonrpc":"2.0","method":"notifications/roots/list_changed","params":{}}
{"jsonrpc":"2.0","id":"$TWO","method":"tools/call","params":{"name":"tool","arguments":{}}}
-- server s --
{"jsonrpc":"2.0","id":"$TWO","result":{"content":[{"type":"text","text":"done"}]}}
`)
	f.SetFolders([]protocol.WorkspaceFolder{{Name: "one", Path: "/one"}})
	f.Configure([]config.Server{server("s")})
	if got, ok := (<-f.call(t.Context(), "t1", "s", "tool")).(protocol.ToolResult); !ok {
		t.Fatalf("result = %+v", got)
	}
	f.SetFolders([]protocol.WorkspaceFolder{{Name: "two", Path: "/two"}})
	if diff := cmp.Diff(protocol.CallResult(done), <-f.call(t.Context(), "t1", "s", "tool")); diff != "" {
		t.Errorf("result (-want +got):\n%s\n%s", diff, strings.Join(f.state(t, "s").Stderr, "\n"))
	}
}

// What panics while a question is served ends the call that asked, and no other.
func TestAPanicOfAQuestionCostsOneCall(t *testing.T) {
	overEach(t, discovery("s", `{"tools":{}}`)+toolCall(2, "")+"\n"+
		serverSays(required(2, `"inputRequests":{"one":`+elicitRequest+`}`))+
		clientSays(toolCall(3, ""))+serverSays(complete(3)), modernWays, func(t *testing.T, f *fixture) {
		end := f.call(t.Context(), "t1", "s", "tool")
		f.nextAsk(t, end).answer <- func() { panic("on purpose") }
		want := protocol.CallResult(protocol.CallLost{Reason: "elicitation/create failed inside Assent: see its log."})
		if diff := cmp.Diff(want, <-end); diff != "" {
			t.Errorf("result (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(protocol.CallResult(done), <-f.call(t.Context(), "t1", "s", "tool")); diff != "" {
			t.Errorf("the next one (-want +got):\n%s", diff)
		}
	})
}
