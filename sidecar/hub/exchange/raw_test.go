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
		{"blocks of sampling", "tools/call", `{"content":[{"type":"tool_use","id":"a","name":"b","input":{}},{"type":"tool_result","toolUseId":"a","content":[]}]}`, `{"content":[{"text":"{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"b\",\"input\":{}}","type":"text"},{"text":"{\"type\":\"tool_result\",\"toolUseId\":\"a\",\"content\":[]}","type":"text"}]}`},
		{"null for what is not there", "tools/call", `{"_meta":null,"content":[{"type":"text","text":"hi","annotations":null,"_meta":null,"n":1.50},{"type":"resource_link","uri":"x:y","name":"n","title":null,"description":null,"mimeType":null,"size":null,"icons":null}],"n":1.50}`, `{"content":[{"type":"text","text":"hi","n":1.50},{"type":"resource_link","uri":"x:y","name":"n"}],"n":1.50}`},
		{"members of another kind", "tools/call", `{"content":[{"type":"audio","data":"","mimeType":"a/b","annotations":[],"_meta":[]},{"type":"resource_link","uri":"x:y","name":"n","title":5,"mimeType":5,"size":"5","annotations":{"audience":"user","priority":1.0}}],"_meta":[]}`, `{"content":[{"type":"audio","data":"","mimeType":"a/b"},{"type":"resource_link","uri":"x:y","name":"n","annotations":{"priority":1.0}}]}`},
		{"base64 of another kind", "tools/call", `{"content":[{"type":"image","data":"data:image/png;base64,_-8","mimeType":"image/png"},{"type":"resource","resource":{"uri":"x:y","blob":"/+\n8=\n"}}]}`, `{"content":[{"type":"image","data":"/+8=","mimeType":"image/png"},{"type":"resource","resource":{"uri":"x:y","blob":"/+8="}}]}`},
		{"data that is no base64", "tools/call", `{"content":[{"type":"image","data":"https://example.org","mimeType":"image/png"}]}`, `{"content":[{"text":"{\"type\":\"image\",\"data\":\"https://example.org\",\"mimeType\":\"image/png\"}","type":"text"}]}`},
		{"annotations out of their bounds", "tools/call", `{"content":[{"type":"text","text":"a","annotations":{"priority":5,"lastModified":"2025-01-12"}},{"type":"text","text":"b","annotations":{"priority":0.50,"lastModified":"2025-01-12T15:00:58+01:00"}}]}`, `{"content":[{"type":"text","text":"a","annotations":{}},{"type":"text","text":"b","annotations":{"priority":0.50,"lastModified":"2025-01-12T15:00:58+01:00"}}]}`},
		{"odd members of a resource", "tools/call", `{"content":[{"type":"resource","resource":{"uri":"x:y","text":"hi","blob":null,"mimeType":5,"_meta":[]}}]}`, `{"content":[{"type":"resource","resource":{"uri":"x:y","text":"hi"}}]}`},
		{"odd members of a prompt", "prompts/get", `{"description":null,"_meta":[],"messages":[{"role":"user","content":{"type":"text","text":"hi","annotations":[],"_meta":null}}]}`, `{"messages":[{"content":{"type":"text","text":"hi"},"role":"user"}]}`},
		{"a description that is a list", "prompts/get", `{"description":["x"],"messages":[]}`, `{"messages":[]}`},
		{"contents without a uri", "resources/read", `{"contents":[{"text":"hi"},{"uri":5,"blob":"QQ=="},{"uri":"","text":""}]}`, `{"contents":[{"text":"hi","uri":"x:asked"},{"uri":"x:asked","blob":"QQ=="},{"uri":"x:asked","text":""}]}`},
		{"contents that are no objects", "resources/read", `{"contents":[null,"<hi>",5]}`, `{"contents":[{"text":"<hi>","uri":"x:asked"},{"text":"5","uri":"x:asked"}]}`},
		{"contents that are null", "resources/read", `{"contents":[null]}`, `{"contents":[]}`},
		{"contents with odd members", "resources/read", `{"contents":[{"uri":"x:y","text":"hi","mimeType":null,"blob":null,"_meta":null,"n":1.50},{"uri":"x:y","mimeType":5,"text":null,"blob":"QQ==","_meta":[]}],"_meta":[]}`, `{"contents":[{"uri":"x:y","text":"hi","n":1.50},{"uri":"x:y","blob":"QQ=="}]}`},
		{"contents without a text", "resources/read", `{"contents":[{"uri":"x:y","text":{"n":1.50}},{"uri":"x:y","text":null,"blob":[98]},{"uri":"x:y"}]}`, `{"contents":[{"uri":"x:y","text":"{\"n\":1.50}"},{"uri":"x:y","text":"{\"uri\":\"x:y\",\"text\":null,\"blob\":[98]}"},{"uri":"x:y","text":"{\"uri\":\"x:y\"}"}]}`},
		{"nothing odd in contents", "resources/read", `{ "contents":[{"uri":"x:y","text":"\u0041", "mimeType":"a/b","_meta":{},"n":1.50}] ,"_meta":{ }}`, `{ "contents":[{"uri":"x:y","text":"\u0041", "mimeType":"a/b","_meta":{},"n":1.50}] ,"_meta":{ }}`},
		{"nothing odd", "tools/call", `{"content":[` + text + `, {"type":"audio","data":"","mimeType":"audio/wav"}]}`, `{"content":[` + text + `, {"type":"audio","data":"","mimeType":"audio/wav"}]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, func(p *peer) {
					p.shake(`{"tools":{},"resources":{},"prompts":{}}`)
					p.result(p.await(tt.method), tt.result)
					p.rest()
				})
				raw, ended := f.Request(t.Context(), "t", tt.method, json.RawMessage(`{"name":"x","uri":"x:asked"}`), exchange.Hooks{})
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
