package exchange_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/broker/attribution"
	"assent/sidecar/hub/exchange"
)

// A host's params reach the server byte for byte, and the result comes back as it is.
func TestTheRequestOfAHost(t *testing.T) {
	const modern = `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`
	for _, tt := range []struct {
		name, method, params string
		isModern             bool
		hooks                exchange.Hooks
		want                 []string // what the server gets, among other members
	}{
		{"a tool", "tools/call", `{"name":"tool","arguments":{"n":1.0,"a":[ ]},"x":"\u0041"}`, false, exchange.Hooks{}, []string{`"n":1.0`, `"x":"\u0041"`}},
		{"a resource", "resources/read", `{"uri":"file:///x","x":1.0}`, false, exchange.Hooks{}, []string{`"uri":"file:///x"`, `"x":1.0`}},
		{"a prompt", "prompts/get", `{"name":"p","arguments":{"k":"v"}}`, false, exchange.Hooks{}, []string{`"name":"p"`, `"k":"v"`}},
		{"another request", "completion/complete", `{"ref":{"n":1.0}}`, false, exchange.Hooks{}, []string{`{"ref":{"n":1.0}}`}},
		{"another modern request", "completion/complete", `{"ref":{"n":1.0},"_meta":{"m":1.0}}`, true, exchange.Hooks{}, []string{`{"n":1.0}`, `"m":1.0`, modern}},
		{
			"a level for log messages", "tools/call", `{"name":"tool","_meta":{"m":1.0}}`, true,
			exchange.Hooks{Host: &attribution.Host{LogLevel: "info"}},
			[]string{`"m":1.0`, `"io.modelcontextprotocol/logLevel":"info"`, modern},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const result = `{"resultType":"complete","content":[],"contents":[],"messages":[],"n":1.0,"\u0041":{ }}`
				got := make(chan string, 1)
				f := newFixture(t, func(p *peer) {
					if tt.isModern {
						p.shakeModern()
					} else {
						p.shake(`{"tools":{},"resources":{},"prompts":{},"completions":{}}`)
					}
					request := p.await(tt.method)
					got <- string(request.Params)
					p.result(request, result)
					p.rest()
				})
				raw, ended := f.Request(t.Context(), "t", tt.method, json.RawMessage(tt.params), tt.hooks)
				if string(raw) != result || ended != nil {
					t.Errorf("result = %s, %+v", raw, ended)
				}
				params := <-got
				for _, want := range tt.want {
					if !strings.Contains(params, want) {
						t.Errorf("params = %s, want %s in them", params, want)
					}
				}
			})
		})
	}
}

// A host with strict types would refuse the whole result.
func TestTheResultForAHostHasNoOddBlocks(t *testing.T) {
	const text = `{"text":"hi","type":"text"}`
	for _, tt := range []struct{ name, method, result, want string }{
		{"an unknown kind", "tools/call", `{"content":[{"type":"chart","x":1},` + text + `]}`, `{"content":[{"text":"{\"type\":\"chart\",\"x\":1}","type":"text"},` + text + `]}`},
		{"no blocks", "tools/call", `{"content":[null,5]}`, `{"content":[{"text":"null","type":"text"},{"text":"5","type":"text"}]}`},
		{"no text", "tools/call", `{"content":[{"type":"text","text":5}]}`, `{"content":[{"text":"{\"type\":\"text\",\"text\":5}","type":"text"}]}`},
		{"no type and no name", "tools/call", `{"content":[{"type":"image","data":"QQ=="},{"type":"resource_link","uri":"x:y"}]}`, `{"content":[{"data":"QQ==","mimeType":"image/*","type":"image"},{"name":"x:y","type":"resource_link","uri":"x:y"}]}`},
		{"a resource without a name", "tools/call", `{"content":[{"type":"resource","resource":{"text":"t"}}]}`, `{"content":[{"text":"{\"type\":\"resource\",\"resource\":{\"text\":\"t\"}}","type":"text"}]}`},
		{"odd messages", "prompts/get", `{"messages":[null,{"content":` + text + `},{"role":"user","content":[` + text + `]}]}`, `{"messages":[{"content":{"text":"null","type":"text"},"role":"user"},{"content":` + text + `,"role":"user"},{"content":` + text + `,"role":"user"}]}`},
		{"nothing odd", "tools/call", `{"content":[` + text + `, {"type":"audio","data":"","mimeType":"audio/wav"}]}`, `{"content":[` + text + `, {"type":"audio","data":"","mimeType":"audio/wav"}]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, func(p *peer) {
					p.shake(`{"tools":{},"prompts":{}}`)
					p.result(p.await(tt.method), tt.result)
					p.rest()
				})
				raw, ended := f.Request(t.Context(), "t", tt.method, json.RawMessage(`{"name":"x"}`), exchange.Hooks{})
				if diff := cmp.Diff(tt.want, string(raw)); diff != "" || ended != nil {
					t.Errorf("ended as %+v, result (-want +got):\n%s", ended, diff)
				}
			})
		})
	}
}

func TestTheRequestOfAHostThatFails(t *testing.T) {
	for _, method := range []string{"tools/call", "completion/complete"} {
		t.Run(method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, func(p *peer) {
					p.shake(`{"tools":{},"completions":{}}`)
					p.write(`{"id":%s,"error":{"code":-32000,"message":"no","data":1.0}}`, p.await(method).ID)
					p.rest()
				})
				raw, ended := f.Request(t.Context(), "t", method, json.RawMessage(`{"name":"tool"}`), exchange.Hooks{})
				want := protocol.CallError{Code: -32000, Message: "no", Data: json.RawMessage("1.0")}
				if diff := cmp.Diff(protocol.CallResult(want), ended); diff != "" || raw != nil {
					t.Errorf("raw = %s, ended (-want +got):\n%s", raw, diff)
				}
			})
		})
	}
}

// Log messages go to the hosts of the calls under way.
func TestLogMessagesForAHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func(p *peer) {
			p.shake(`{"tools":{},"logging":{}}`)
			call := p.await("tools/call")
			p.write(`{"method":"notifications/message","params":{"level":"info","data":1.0}}`)
			p.done(call)
			p.rest()
		})
		told := make(chan string, 10)
		host := &attribution.Host{Notify: func(method string, params json.RawMessage) { told <- method + " " + string(params) }}
		<-f.call(t.Context(), exchange.Hooks{Host: host})
		if got, want := <-told, `notifications/message {"level":"info","data":1.0}`; got != want {
			t.Errorf("the host got %s, want %s", got, want)
		}
	})
}
