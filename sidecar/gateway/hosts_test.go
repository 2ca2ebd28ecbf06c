package gateway_test

import (
	"context"
	"encoding/json"
	"testing"

	"assent/sidecar/gateway"
	"assent/sidecar/gateway/mcpserver"
)

// naming is an upstream that notes the conversation of each request.
type naming struct {
	upstream
	conversations []string
}

func (n *naming) Send(_ context.Context, r gateway.Request) (json.RawMessage, error) {
	n.conversations = append(n.conversations, r.Conversation)
	return json.RawMessage(`{"content":[]}`), nil
}

// A host names its conversation in the environment of its servers, or in each request.
func TestAHostNamesItsConversation(t *testing.T) {
	type request struct {
		client, credential string
		environment        map[string]string
		meta               string
	}
	claude := func(id string) request {
		return request{client: "claude-code", environment: map[string]string{"CLAUDE_CODE_SESSION_ID": id}}
	}
	qwen := func(suffix string) request {
		return request{client: "qwen-cli-mcp-client-" + suffix, environment: map[string]string{"QWEN_CODE_SESSION_ID": "1"}}
	}
	codex := func(meta string) request { return request{client: "codex-mcp-client", meta: meta} }
	with := func(r request, change func(*request)) request {
		change(&r)
		return r
	}
	const same, apart, unnamed = "the same", "two", "none"
	for _, test := range []struct {
		name   string
		first  request
		second request
		want   string
	}{
		{"a variable", claude("1"), claude("1"), same},
		{"a variable with two values", claude("1"), claude("2"), apart},
		{"an empty variable", claude(""), claude(""), unnamed},
		{"a host whose name has a suffix for each server", qwen("a"), qwen("b"), same},
		{"one value for two hosts", claude("1"), qwen("a"), apart},
		{
			"a host that another one has started",
			with(claude("1"), func(r *request) { r.client = "opencode" }), with(claude("1"), func(r *request) { r.client = "codex-mcp-client" }), unnamed,
		},
		{"a thread", codex(`{"threadId":"t"}`), codex(`{"threadId":"t","callId":"c"}`), same},
		{"two threads", codex(`{"threadId":"t"}`), codex(`{"threadId":"u"}`), apart},
		{"a thread in the metadata of a turn", codex(`{"x-codex-turn-metadata":{"thread_id":"t","turn_id":"1"}}`), codex(`{"threadId":"t"}`), same},
		{
			"threads in a session that a variable names",
			with(claude("1"), func(r *request) { r.meta = `{"threadId":"t"}` }), with(claude("1"), func(r *request) { r.meta = `{"threadId":"u"}` }), apart,
		},
		{"threads that are no names", codex(`{"threadId":7}`), codex(`{"threadId":"","x-codex-turn-metadata":"t"}`), unnamed},
		{
			"one thread and two tokens",
			with(codex(`{"threadId":"t"}`), func(r *request) { r.credential = "one" }), with(codex(`{"threadId":"t"}`), func(r *request) { r.credential = "two" }), apart,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			up := &naming{upstream: upstream{servers: []string{"shop"}, saved: map[gateway.Place]string{}}}
			view := gateway.New(up, gateway.Options{Server: "shop"})
			defer view.Close()
			for _, r := range []request{test.first, test.second} {
				session := &mcpserver.Session{ID: r.client}
				session.Credential, session.Environment = r.credential, r.environment
				params := `{"name":"t"}`
				if r.meta != "" {
					params = `{"name":"t","_meta":` + r.meta + `}`
				}
				call := &mcpserver.Request{
					Session: session, Method: "tools/call", Params: json.RawMessage(params),
					Client: mcpserver.Client{Name: r.client, Revision: mcpserver.ModernRevision},
				}
				if _, err := view.Serve(call)(t.Context()); err != nil {
					t.Fatal(err)
				}
				call.Answered(true)
			}
			first, second := up.conversations[0], up.conversations[1]
			got := apart
			switch {
			case first == "" && second == "":
				got = unnamed
			case first == second:
				got = same
			}
			if got != test.want {
				t.Errorf("they are %q and %q: %s, want %s", first, second, got, test.want)
			}
		})
	}
}
