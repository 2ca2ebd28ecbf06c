package hub_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/broker/attribution"
	"assent/sidecar/config"
	"assent/sidecar/hub"
	"assent/sidecar/hub/session"
	"assent/sidecar/wire/wiretest"
)

// The texts with which SDKs refuse to send a request in 2026-07-28, as they write them.
const (
	refusedByGoSDK = `calling "elicit": "elicitation/create" cannot be sent while serving a request on protocol version 2026-07-28: ` +
		`return an InputRequests map instead (multi round-trip requests, SEP-2322)`
	refusedByMCPGo = `failed to request elicitation: "elicitation/create": server-initiated requests are not supported in protocol version ` +
		`2026-07-28 or later: return an InputRequests map from the handler instead (multi round-trip requests, SEP-2322)`
	refusedByTypeScriptSDK = `Server-to-client requests are not available on protocol revision 2026-07-28: 'sampling/createMessage' cannot be ` +
		`sent while serving a request on that revision. Return inputRequired({ ... }) from the handler instead — the client fulfils the ` +
		`embedded requests and retries the original request (multi round-trip requests).`
	refusedURLByTypeScriptSDK = `URL elicitation cannot be signalled by throwing UrlElicitationRequiredError on protocol revision 2026-07-28: ` +
		`return inputRequired({ inputRequests: { …: inputRequired.elicitUrl(...) } }) from the handler instead. The urlElicitationRequired ` +
		`error (-32042) of earlier revisions is not available on this revision.`
	refusedByTypeScriptCodec = `Method 'roots/list' is not supported by the negotiated protocol version (wire era 2026-07-28)`
	refusedByPythonSDK       = `Error executing tool ask: Cannot send 'elicitation/create': this transport context has no back-channel for server-initiated requests.`
)

// optional makes the sections of a transcript such that a client may leave them out.
func optional(transcript string) string {
	return strings.NewReplacer("-- client s --", "-- client? s --", "-- server s --", "-- server? s --").Replace(transcript)
}

func asError(id int, message string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":{"code":-32603,"message":%s}}`, id, quoted(message))
}

func asToolError(id int, message string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"resultType":"complete","isError":true,"content":[{"type":"text","text":"see below"},{"type":"text","text":%s}]}}`, id, quoted(message))
}

func quoted(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// inModern is the conversation of 2026-07-28 in which a tool is called and fails.
func inModern(failure string) string {
	return optional(discovery("s", `{"tools":{}}`) + toolCall(2, "") + "\n" + serverSays(failure))
}

// begun is how a conversation of 2025-11-25 begins, without a probe, with a server of a version.
func begun(version string) string {
	_, after, _ := strings.Cut(handshake("s"), "Method not found\"}}\n")
	return strings.Replace(after, `"version":"1"`, `"version":"`+version+`"`, 1)
}

// listed is the list of tools, with the annotations of the one that there is.
func listed(annotations string) string {
	return `{"jsonrpc":"2.0","id":"$ID","method":"tools/list","params":{}}` + "\n" + serverSays(
		`{"jsonrpc":"2.0","id":"$ID","result":{"tools":[{"name":"other","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}},{"name":"tool","annotations":`+annotations+`,"inputSchema":{"type":"object"}}]}}`)
}

// askedInLegacy is the call in 2025-11-25, during which the server asks.
var askedInLegacy = clientSays(`{"jsonrpc":"2.0","id":"$ID","method":"tools/call","params":{"name":"tool","arguments":{}}}`) +
	serverSays(`{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"n":1}}`) +
	clientSays(`{"jsonrpc":"2.0","id":7,"result":{"n":1}}`) +
	serverSays(`{"jsonrpc":"2.0","id":"$ID","result":{"content":[{"type":"text","text":"done"}]}}`)

// over returns the server "s" of a transcript, which is reached in one of the ways.
func over(t *testing.T, way protocol.Transport, transcript string) config.Server {
	t.Helper()
	if way == protocol.TransportStdio {
		wiretest.Write(t, transcript)
		return server("s")
	}
	return config.Server{Name: "s", Source: "test", Transport: way, URL: wiretest.Serve(t, string(way), transcript, "s")}
}

// notices keeps the notices that the person gets.
type notices struct {
	mu   sync.Mutex
	told []string
}

type noticing struct {
	attribution.Task
	*notices
}

func (n noticing) Tell(notice protocol.Notice) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.told = append(n.told, notice.Text)
}

func (n *notices) all() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.told)
}

// endings is a log, of which it keeps that a connection ended.
type endings chan struct{}

func (e endings) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte(`"message":"server ended"`)) {
		e <- struct{}{}
	}
	return len(line), nil
}

// newFallbackFixture returns a hub that remembers servers, with its notices.
func newFallbackFixture(t *testing.T, memory session.Memory, configured ...config.Server) (*fixture, *notices) {
	t.Helper()
	return newFixtureOfNotices(t, func(o *hub.Options) { o.Memory = memory }, configured...)
}

// newFixtureOfNotices returns a hub with its notices. The test can change the options.
func newFixtureOfNotices(t *testing.T, differ func(*hub.Options), configured ...config.Server) (*fixture, *notices) {
	t.Helper()
	told := &notices{}
	return newFixtureOf(t, func(o *hub.Options) {
		o.Task = func(id string) (attribution.Task, error) { return noticing{taskName{name: id}, told}, nil }
		differ(o)
	}, configured...), told
}

const fellBack = `The MCP server "s" accepts MCP 2026-07-28, but its tools ask in a way that this version does not have. From now on Assent speaks MCP 2025-11-25 with it.`

func TestAServerThatCannotAskIsSpokenToInTheVersionBefore(t *testing.T) {
	tests := []struct{ name, failure string }{
		{"go-sdk", asToolError(2, refusedByGoSDK)},
		{"mcp-go", asError(2, refusedByMCPGo)},
		{"TypeScript SDK", asToolError(2, refusedByTypeScriptSDK)},
		{"TypeScript SDK, for a page", asError(2, refusedURLByTypeScriptSDK)},
		{"TypeScript SDK, its codec", asToolError(2, refusedByTypeScriptCodec)},
		{"Python SDK", asToolError(2, refusedByPythonSDK)},
	}
	for _, tt := range tests {
		for _, way := range modernWays {
			t.Run(tt.name+", "+string(way), func(t *testing.T) {
				transcript := inModern(tt.failure) + begun("1") + listed(`{"readOnlyHint":true}`) + askedInLegacy
				remembered := memory{}
				f, told := newFallbackFixture(t, remembered, over(t, way, transcript))
				end := f.call(t.Context(), "t1", "s", "tool")
				f.nextAsk(t, end).answer <- map[string]int{"n": 1}
				if diff := cmp.Diff(protocol.CallResult(done), <-end); diff != "" {
					t.Errorf("result (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff([]string{fellBack}, told.all()); diff != "" {
					t.Errorf("told (-want +got):\n%s", diff)
				}
				if got := f.state(t, "s").ProtocolVersion; got != config.LegacyProtocol {
					t.Errorf("the version spoken is %q", got)
				}
				for _, l := range remembered {
					if diff := cmp.Diff(session.Learned{Era: "legacy", AsksByRequests: true, Identity: "s 1"}, l); diff != "" {
						t.Errorf("remembered (-want +got):\n%s", diff)
					}
				}
			})
		}
	}
}

func TestWhichFailuresSayThatAServerCannotAsk(t *testing.T) {
	tests := []struct{ name, answer string }{
		{"another failure", asToolError(2, `the database speaks protocol version 2026-07-28 only`)},
		{"another error", asError(2, "Method not found: elicitation/create")},
		{"a refusal of another method", asToolError(2, "'tasks/list' is not supported on protocol version 2026-07-28")},
		{"a question that failed", asToolError(2, "elicitation/create failed on protocol version 2026-07-28")},
		{"a refusal without a version", asToolError(2, "elicitation/create is not supported")},
		{"a refusal for want of a capability", asToolError(2, "client does not support elicitation/create")},
		{"a success that quotes a refusal", strings.Replace(asToolError(2, refusedByGoSDK), `"isError":true,`, "", 1)},
		{"a long text that quotes a refusal", asToolError(2, refusedByGoSDK+strings.Repeat(" and so on", 1000))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			wiretest.Write(t, inModern(tt.answer))
			remembered := memory{}
			f, told := newFallbackFixture(t, remembered, server("s"))
			got := <-f.call(t.Context(), "t1", "s", "tool")
			if diff := cmp.Diff([]string(nil), told.all()); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
			if version := f.state(t, "s").ProtocolVersion; version != "2026-07-28" {
				t.Errorf("the version spoken is %q, and the call ended with %+v", version, got)
			}
			for _, l := range remembered { // no other version was tried
				if diff := cmp.Diff(session.Learned{Era: "modern"}, l); diff != "" {
					t.Errorf("remembered (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// A person decides about a second call, unless the server says that it does nothing more.
func TestACallIsRepeatedWhereNothingIsDoneTwice(t *testing.T) {
	failed := protocol.CallError{Code: -32603, Message: refusedByMCPGo}
	tests := []struct {
		name, annotations string
		asked, yes        bool
	}{
		{name: "idempotent", annotations: `{"idempotentHint":true,"destructiveHint":true}`},
		{name: "read-only", annotations: `{"readOnlyHint":true}`},
		{name: "read-only and destructive", annotations: `{"readOnlyHint":true,"destructiveHint":true}`, asked: true, yes: true},
		{name: "without hints, and the person agrees", annotations: `{}`, asked: true, yes: true},
		{name: "without hints, and the person does not agree", annotations: `{"idempotentHint":false}`, asked: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			wiretest.Write(t, inModern(asError(2, refusedByMCPGo))+begun("1")+listed(tt.annotations)+askedInLegacy)
			f, _ := newFallbackFixture(t, memory{}, server("s"))
			end := f.call(t.Context(), "t1", "s", "tool")
			if tt.asked {
				ask := f.nextAsk(t, end)
				if diff := cmp.Diff(protocol.Origin{ServerName: "s", ToolNames: []string{"tool"}}, ask.origin); diff != "" {
					t.Errorf("asked (-want +got):\n%s", diff)
				}
				if !strings.Contains(string(ask.params), "may be repeated") {
					t.Errorf("the person is told %s", ask.params)
				}
				ask.answer <- tt.yes
			}
			want := protocol.CallResult(failed)
			if !tt.asked || tt.yes {
				want = done
				f.nextAsk(t, end).answer <- map[string]int{"n": 1}
			}
			if diff := cmp.Diff(want, <-end); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAFallbackIsRememberedUntilTheServerIsAnother(t *testing.T) {
	call := strings.Replace(askedInLegacy, "-- client s --\n", "", 1)
	modern := inModern(asError(2, refusedByMCPGo))
	remembered := memory{}
	for _, tt := range []struct {
		name, transcript, version string
		told                      int
		probes                    int32
	}{
		{"found out", modern + begun("1") + listed(`{"idempotentHint":true}`) + askedInLegacy, "2025-11-25", 1, 1},
		{"not probed again", begun("1") + call, "2025-11-25", 0, 0},
		{"another version, which is spoken to as before", begun("2") + call, "2025-11-25", 0, 0},
		{"probed again", discovery("s", `{"tools":{}}`) + toolCall(2, "") + "\n" +
			serverSays(required(2, `"inputRequests":{"q":{"method":"elicitation/create","params":{"n":1}}}`)) +
			clientSays(toolCall(3, `"inputResponses":{"q":{"n":1}},`)) + serverSays(complete(3)), "2026-07-28", 0, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wiretest.Write(t, tt.transcript)
			var probes atomic.Int32
			f, told := newFixtureOfNotices(t, func(o *hub.Options) { o.Memory, o.Tap = remembered, countProbes(&probes) }, server("s"))
			end := f.call(t.Context(), "t1", "s", "tool")
			f.nextAsk(t, end).answer <- map[string]int{"n": 1}
			if diff := cmp.Diff(protocol.CallResult(done), <-end); diff != "" {
				t.Errorf("result (-want +got):\n%s\n%s", diff, strings.Join(f.state(t, "s").Stderr, "\n"))
			}
			if got := f.state(t, "s").ProtocolVersion; got != tt.version {
				t.Errorf("the version spoken is %q, want %q", got, tt.version)
			}
			if got := len(told.all()); got != tt.told {
				t.Errorf("told %d times, want %d", got, tt.told)
			}
			if got := probes.Load(); got != tt.probes {
				t.Errorf("server/discover was sent %d times, want %d", got, tt.probes)
			}
		})
	}
}

// A server that has no older version is left as it is: its own words are the result.
func TestAServerWithoutAnOlderVersionStaysInItsOwn(t *testing.T) {
	const refusal = `
-- client? s --
{"jsonrpc":"2.0","id":"$ID","method":"initialize","params":"$PARAMS"}
-- server? s --
{"jsonrpc":"2.0","id":"$ID","error":{"code":-32601,"message":"Method not found"}}
`
	wiretest.Write(t, refusal+discovery("s", `{"tools":{}}`)+toolCall(2, "")+"\n"+serverSays(asError(2, refusedByMCPGo))+
		clientSays(toolCall(3, ""))+serverSays(asError(3, refusedByMCPGo)))
	remembered := memory{}
	f, told := newFallbackFixture(t, remembered, server("s"))
	for range 2 {
		got := <-f.call(t.Context(), "t1", "s", "tool")
		if diff := cmp.Diff(protocol.CallResult(protocol.CallError{Code: -32603, Message: refusedByMCPGo}), got); diff != "" {
			t.Errorf("result (-want +got):\n%s\n%s", diff, strings.Join(f.state(t, "s").Stderr, "\n"))
		}
	}
	if diff := cmp.Diff([]string(nil), told.all()); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	for _, l := range remembered {
		if diff := cmp.Diff(session.Learned{Era: "modern"}, l); diff != "" {
			t.Errorf("remembered (-want +got):\n%s", diff)
		}
	}
}

// Some SDKs do not refuse, and send a request that 2026-07-28 does not have.
func TestAServerThatSendsRequestsAllTheSameIsSpokenToInTheVersionBefore(t *testing.T) {
	asks := serverSays(`{"jsonrpc":"2.0","id":9,"method":"elicitation/create","params":{"n":1}}`) +
		clientSays(`{"jsonrpc":"2.0","id":9,"error":{"code":-32600,"message":"servers send no requests in MCP 2026-07-28: return an InputRequiredResult instead (\"Multi Round-Trip Requests\")"}}`)
	transcript := optional(discovery("s", `{"tools":{}}`)+toolCall(2, "")+"\n"+asks+serverSays(asToolError(2, "it went wrong"))) +
		begun("1") + listed(`{"readOnlyHint":true}`) + askedInLegacy
	for _, way := range modernWays {
		t.Run(string(way), func(t *testing.T) {
			f, _ := newFallbackFixture(t, memory{}, over(t, way, transcript))
			end := f.call(t.Context(), "t1", "s", "tool")
			f.nextAsk(t, end).answer <- map[string]int{"n": 1}
			if diff := cmp.Diff(protocol.CallResult(done), <-end); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
	}
}

// A call that is under way when its server is spoken to in another version goes on in its own.
func TestACallThatWaitsForItsPersonSurvivesTheFallback(t *testing.T) {
	other := strings.ReplaceAll(toolCall(3, ""), `"tool"`, `"other"`)
	wiretest.Write(t, optional(discovery("s", `{"tools":{}}`)+toolCall(2, "")+"\n"+
		serverSays(required(2, `"inputRequests":{"q":{"method":"elicitation/create","params":{"n":1}}}`))+
		clientSays(other)+serverSays(asError(3, refusedByMCPGo))+
		clientSays(toolCall(4, `"inputResponses":{"q":{"n":1}},`))+serverSays(complete(4)))+
		begun("1")+listed(`{}`)+strings.ReplaceAll(askedInLegacy, `"tool"`, `"other"`))
	ended := make(endings, 10)
	f, told := newFixtureOfNotices(t, func(o *hub.Options) { o.Log = zerolog.New(ended) }, server("s"))
	first := f.call(t.Context(), "t1", "s", "tool")
	open := f.nextAsk(t, first)
	second := f.call(t.Context(), "t2", "s", "other")
	f.nextAsk(t, second).answer <- map[string]int{"n": 1}
	if diff := cmp.Diff(protocol.CallResult(done), <-second); diff != "" {
		t.Errorf("the second (-want +got):\n%s\n%s", diff, strings.Join(f.state(t, "s").Stderr, "\n"))
	}
	if len(ended) > 0 {
		t.Error("a connection ended while a call on it waited")
	}
	open.answer <- map[string]int{"n": 1}
	if diff := cmp.Diff(protocol.CallResult(done), <-first); diff != "" {
		t.Errorf("the first (-want +got):\n%s\n%s", diff, strings.Join(f.state(t, "s").Stderr, "\n"))
	}
	<-ended // the connection of the first, now unused
	if diff := cmp.Diff([]string{fellBack}, told.all()); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

// Two calls fail because the server cannot ask. The person gets one notice.
func TestTheFallbackIsToldOnce(t *testing.T) {
	other := func(transcript string) string { return strings.ReplaceAll(transcript, `"tool"`, `"other"`) }
	wiretest.Write(t, optional(discovery("s", `{"tools":{}}`)+toolCall(2, "")+"\n"+
		serverSays(required(2, `"inputRequests":{"q":{"method":"elicitation/create","params":{"n":1}}}`))+
		clientSays(other(toolCall(3, "")))+serverSays(asError(3, refusedByMCPGo))+
		clientSays(toolCall(4, `"inputResponses":{"q":{"n":1}},`))+serverSays(asError(4, refusedByMCPGo)))+
		begun("1")+listed(`{"readOnlyHint":true}`)+other(askedInLegacy)+
		"-- client s --\n"+listed(`{"readOnlyHint":true}`)+askedInLegacy)
	f, told := newFallbackFixture(t, memory{}, server("s"))
	first := f.call(t.Context(), "t1", "s", "tool")
	open := f.nextAsk(t, first)
	second := f.call(t.Context(), "t1", "s", "other")
	f.nextAsk(t, second).answer <- map[string]int{"n": 1}
	if diff := cmp.Diff(protocol.CallResult(done), <-second); diff != "" {
		t.Errorf("the second (-want +got):\n%s", diff)
	}
	open.answer <- map[string]int{"n": 1}
	f.nextAsk(t, first).answer <- map[string]int{"n": 1}
	if diff := cmp.Diff(protocol.CallResult(done), <-first); diff != "" {
		t.Errorf("the first (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{fellBack}, told.all()); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}
