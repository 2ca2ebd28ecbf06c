package exchange_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/hub/exchange"
)

// A server accepts 2026-07-28, and its tool asks in the way of the version before. The call is made again in that version, if
// the tool may run twice or the person agrees.
func TestACallInTheOlderVersion(t *testing.T) {
	failed := protocol.CallError{Code: -32603, Message: "it could not ask"}
	for _, tt := range []struct {
		name, annotations string
		// agrees is the person's answer to whether the call is made again; nil if they are not asked.
		agrees *bool
		want   protocol.CallResult
	}{
		{"a tool that may run twice", `{"idempotentHint":true}`, nil, text},
		{"a tool that changes nothing", `{"readOnlyHint":true}`, nil, text},
		{"the person agrees", `{}`, new(true), text},
		{"the person does not agree", `{}`, new(false), failed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				refused := make(chan string, 1)
				f := newFixture(t, func(p *peer) {
					first, _ := p.read()
					if first.Method == "server/discover" {
						p.result(first, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`)
						call := p.await("tools/call")
						p.elicit("7", "day?")
						refused <- p.answerTo("7")
						p.write(`{"id":%s,"error":{"code":-32603,"message":"it could not ask"}}`, call.ID)
						p.rest()
						return
					}
					p.result(first, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`)
					call := p.await("tools/call")
					p.elicit("7", "day?")
					p.answerTo("7")
					p.done(call)
					p.rest()
				})
				f.tools = `{"tools":[{"name":"other","annotations":{"idempotentHint":true}},{"name":"tool","annotations":` + tt.annotations + `}]}`
				end := f.call(t.Context(), exchange.Hooks{})
				if tt.agrees != nil {
					q := f.ask(t, end)
					if !strings.HasPrefix(q.message, "The tool failed because it wanted to ask you something") || q.task != "t" {
						t.Errorf("%q was asked in %q", q.message, q.task)
					}
					if *tt.agrees {
						q.accept("{}")
					} else {
						q.decline()
					}
				}
				if tt.agrees == nil || *tt.agrees {
					if q := f.ask(t, end); q.message != "day?" {
						t.Errorf("%q was asked", q.message)
					} else {
						q.accept("{}")
					}
				}
				if diff := cmp.Diff(tt.want, <-end); diff != "" {
					t.Errorf("result (-want +got):\n%s", diff)
				}
				if got := <-refused; !strings.Contains(got, "servers send no requests in MCP 2026-07-28") {
					t.Errorf("in 2026-07-28 the server got %s", got)
				}
				want := []string{`The MCP server "s" accepts MCP 2026-07-28, but its tools ask in a way that this version does not have. ` +
					`From now on Assent speaks MCP 2025-11-25 with it.`}
				if diff := cmp.Diff(want, f.notices()); diff != "" {
					t.Errorf("notices (-want +got):\n%s", diff)
				}
				if f.forgotten != 1 {
					t.Errorf("the lists were forgotten %d times", f.forgotten)
				}
			})
		})
	}
}
