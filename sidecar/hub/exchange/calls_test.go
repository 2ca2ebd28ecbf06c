package exchange_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/hub/exchange"
	"assent/sidecar/hub/session"
)

func TestARequestAndItsAnswer(t *testing.T) {
	callTool := func(ctx context.Context, f *fixture) protocol.CallResult {
		return f.CallTool(ctx, "t", "tool", json.RawMessage(`{"a":1}`), exchange.Hooks{})
	}
	tests := []struct {
		name    string
		request func(ctx context.Context, f *fixture) protocol.CallResult
		method  string
		params  string
		answer  string
		want    protocol.CallResult
	}{
		{
			"a tool", callTool, "tools/call", `{"name":"tool","arguments":{"a":1}}`,
			`"result":{"content":[{"type":"text","text":"done"},{"type":"new","x":1}],"structuredContent":{"n":1.0},"isError":true,"_meta":{"m":1}}`,
			protocol.ToolResult{
				Content: []protocol.ContentBlock{
					protocol.TextContent{Text: "done"}, protocol.UnknownContent{Raw: json.RawMessage(`{"type":"new","x":1}`)},
				},
				StructuredContent: json.RawMessage(`{"n":1.0}`), IsError: true, Meta: json.RawMessage(`{"m":1}`),
			},
		},
		{
			"a resource", func(ctx context.Context, f *fixture) protocol.CallResult {
				return f.ReadResource(ctx, "t", "file:///x", exchange.Hooks{})
			}, "resources/read", `{"uri":"file:///x"}`,
			`"result":{"contents":[{"uri":"file:///x","mimeType":"text/plain","text":"X"}]}`,
			protocol.ToolResult{Content: []protocol.ContentBlock{
				protocol.EmbeddedResource{Resource: protocol.ResourceContents{URI: "file:///x", MIMEType: "text/plain", Text: "X"}},
			}},
		},
		{
			"a prompt", func(ctx context.Context, f *fixture) protocol.CallResult {
				return f.GetPrompt(ctx, "t", "p", map[string]string{"k": "v"}, exchange.Hooks{})
			}, "prompts/get", `{"arguments":{"k":"v"},"name":"p"}`,
			`"result":{"description":"D","messages":[{"role":"user","content":{"type":"text","text":"hi"}}]}`,
			protocol.PromptResult{Description: "D", Messages: []protocol.PromptMessage{
				{Role: protocol.RoleUser, Content: protocol.TextContent{Text: "hi"}},
			}},
		},
		{
			"an error", callTool, "tools/call", `{"name":"tool","arguments":{"a":1}}`,
			`"error":{"code":-32000,"message":"no","data":{"d":1}}`,
			protocol.CallError{Code: -32000, Message: "no", Data: json.RawMessage(`{"d":1}`)},
		},
		{
			"a result that cannot be read", callTool, "tools/call", `{"name":"tool","arguments":{"a":1}}`, `"result":{"content":7}`,
			protocol.CallLost{},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := make(chan frame, 1)
				f := newFixture(t, func(p *peer) {
					p.shake(`{"tools":{},"resources":{},"prompts":{}}`)
					f := p.await(tt.method)
					asked <- f
					p.write(`{"id":%s,%s}`, f.ID, tt.answer)
					p.rest()
				})
				got := tt.request(t.Context(), f)
				if lost, ok := got.(protocol.CallLost); ok && strings.HasPrefix(lost.Reason, `The answer of the MCP server "s" cannot be used: `) {
					got = protocol.CallLost{}
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("result (-want +got):\n%s", diff)
				}
				if params := string((<-asked).Params); params != tt.params {
					t.Errorf("params = %s, want %s", params, tt.params)
				}
			})
		})
	}
}

func TestExchangesUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		f := newFixture(t, func(p *peer) {
			p.shake(`{"tools":{}}`)
			call := p.await("tools/call")
			<-release
			p.done(call)
			p.rest()
		})
		began := time.Now()
		end := f.call(t.Context(), exchange.Hooks{MessageID: 4})
		synctest.Wait()
		want := []protocol.ServerCall{{TaskID: "t", MessageID: 4, ToolName: "tool", Since: began.UnixMilli()}}
		if diff := cmp.Diff(want, f.UnderWay()); diff != "" {
			t.Errorf("under way (-want +got):\n%s", diff)
		}
		close(release)
		<-end
		if left := f.UnderWay(); len(left) != 0 {
			t.Errorf("after the end %+v is under way", left)
		}
	})
}

func TestProgressReachesTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan struct{})
		f := newFixture(t, func(p *peer) {
			p.shake(`{"tools":{}}`)
			call := p.await("tools/call")
			var params struct {
				Meta struct{ ProgressToken json.RawMessage } `json:"_meta"`
			}
			if err := json.Unmarshal(call.Params, &params); err != nil {
				t.Error(err)
			}
			tell := func(token string, progress int) {
				p.write(`{"method":"notifications/progress","params":{"progressToken":%s,"progress":%d,"total":4,"message":"m"}}`, token, progress)
			}
			tell(`"another"`, 1)
			tell(string(params.Meta.ProgressToken), 2)
			p.done(call)
			<-ended
			tell(string(params.Meta.ProgressToken), 3) // the token is of no call any more
			p.rest()
		})
		told := make(chan protocol.Progress, 10)
		got := <-f.call(t.Context(), exchange.Hooks{Progress: func(p protocol.Progress) { told <- p }})
		if diff := cmp.Diff(protocol.CallResult(text), got); diff != "" {
			t.Errorf("result (-want +got):\n%s", diff)
		}
		close(ended)
		synctest.Wait()
		if len(told) != 1 {
			t.Fatalf("the call was told of progress %d times, want once", len(told))
		}
		if p := <-told; p.Progress != 2 || p.Total != 4 || p.Message != "m" {
			t.Errorf("progress = %+v", p)
		}
	})
}

// The time limit of a call begins again with each progress.
func TestACallThatTakesTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		withdrawn := make(chan string, 1)
		f := newFixture(t, func(p *peer) {
			p.shake(`{"tools":{}}`)
			call := p.await("tools/call")
			var params struct {
				Meta struct{ ProgressToken json.RawMessage } `json:"_meta"`
			}
			if err := json.Unmarshal(call.Params, &params); err != nil {
				t.Error(err)
			}
			time.Sleep(8 * time.Second)
			p.write(`{"method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`, params.Meta.ProgressToken)
			withdrawn <- string(p.await("notifications/cancelled").Params)
			p.rest()
		}, limited)
		began := time.Now()
		const want = `The MCP server "s" gave no answer: the call took longer than 10s.`
		if got := reasonOf(t, <-f.call(t.Context(), exchange.Hooks{})); got != want {
			t.Errorf("reason = %s, want %s", got, want)
		}
		if took := time.Since(began); took != 18*time.Second {
			t.Errorf("it took %v", took)
		}
		if params := <-withdrawn; params == "" {
			t.Error("the server was not told")
		}
	})
}

func TestACancelledCallIsWithdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		called, withdrawn := make(chan frame, 1), make(chan frame, 1)
		f := newFixture(t, func(p *peer) {
			p.shake(`{"tools":{}}`)
			called <- p.await("tools/call")
			withdrawn <- p.await("notifications/cancelled")
			p.rest()
		})
		ctx, cancel := context.WithCancel(t.Context())
		end := f.call(ctx, exchange.Hooks{})
		call := <-called
		cancel()
		if got := <-end; got != (protocol.CallCancelled{}) {
			t.Errorf("result = %+v", got)
		}
		var params struct{ RequestID json.RawMessage }
		if err := json.Unmarshal((<-withdrawn).Params, &params); err != nil || string(params.RequestID) != string(call.ID) {
			t.Errorf("the request %s was withdrawn (%v), want %s", params.RequestID, err, call.ID)
		}
	})
}

func TestAConnectionThatDiesInTheMiddle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, asked := true, make(chan struct{})
		f := newFixture(t, func(p *peer) {
			p.shake(`{"tools":{}}`)
			call := p.await("tools/call")
			if first {
				first = false
				p.elicit("1", "day?")
				<-asked
				return
			}
			p.done(call)
			p.rest()
		})
		end := f.call(t.Context(), exchange.Hooks{})
		q := f.ask(t, end)
		close(asked)
		if reason := q.outcome(); reason != protocol.OutcomeServerLost {
			t.Errorf("the question ended as %q", reason)
		}
		if reason := reasonOf(t, <-end); !strings.HasPrefix(reason, `The MCP server "s" is gone: the connection was lost`) {
			t.Errorf("reason = %s", reason)
		}
		if diff := cmp.Diff(protocol.CallResult(text), <-f.call(t.Context(), exchange.Hooks{})); diff != "" {
			t.Errorf("the next call (-want +got):\n%s", diff)
		}
	})
}

func TestAServerThatIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		called := make(chan frame, 1)
		f := newFixture(t, func(p *peer) {
			p.shake(`{"tools":{}}`)
			called <- p.await("tools/call")
			p.rest()
		})
		end := f.call(t.Context(), exchange.Hooks{})
		<-called
		f.server.Stop(session.Stopped{Reason: "it was stopped", Asks: protocol.OutcomeServerLost})
		if reason := reasonOf(t, <-end); reason != `The MCP server "s" is gone: it was stopped. Run the tool again to restart it.` {
			t.Errorf("reason = %s", reason)
		}
	})
}

func TestAServerThatCannotBeReached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func(*peer) {})
		if reason := reasonOf(t, <-f.call(t.Context(), exchange.Hooks{})); !strings.HasPrefix(reason, `the MCP server "s" cannot be used: `) {
			t.Errorf("reason = %s", reason)
		}
	})
}
