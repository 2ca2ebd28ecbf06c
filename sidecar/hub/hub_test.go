package hub_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"assent/protocol"
	"assent/sidecar/broker"
	"assent/sidecar/broker/attribution"
	"assent/sidecar/config"
	"assent/sidecar/hub"
	"assent/sidecar/hub/session"
	"assent/sidecar/task"
	"assent/sidecar/wire/wiretest"
)

func TestMain(m *testing.M) {
	if era := os.Getenv(elicitorEnv); era != "" {
		elicitOverStdio(era)
		return
	}
	if os.Getenv(dyingEnv) != "" {
		dieSlowly()
		return
	}
	if os.Getenv(listingEnv) != "" {
		listSecondTime()
		return
	}
	code := wiretest.Main(m)
	// go-sdk announces a cancelled call in a goroutine of its own, which has five seconds.
	if err := goleak.Find(goleak.IgnoreAnyFunction("github.com/modelcontextprotocol/go-sdk/mcp.call.func1")); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// asks is a broker that lets the test answer.
type asks struct {
	requests chan askRequest
	// person assigns requests without a task; nil refuses them.
	person assigner
}

// assigner assigns requests to tasks.
type assigner func(ctx context.Context, r *attribution.Request) error

// Await implements [broker.Queue].
func (a assigner) Await(ctx context.Context, r *attribution.Request) error { return a(ctx, r) }

type askRequest struct {
	ctx    context.Context
	task   string
	origin protocol.Origin
	params json.RawMessage
	answer chan<- any // the result, or an error
}

func (b *asks) ask(ctx context.Context, r *attribution.Request) (any, error) {
	answer := make(chan any, 1)
	_, err := r.Ask(ctx, &task.Question{})
	b.requests <- askRequest{ctx, err.Error(), r.Origin, r.Params, answer}
	a := <-answer
	switch a := a.(type) {
	case error:
		return nil, a
	case func():
		a()
	}
	return a, nil
}

func (b *asks) Serve(ctx context.Context, r *attribution.Request) (any, error) {
	if r.Task == nil {
		if b.person == nil {
			return nil, broker.ErrNoTask
		}
		if err := b.person(ctx, r); err != nil {
			return nil, err
		}
	}
	return b.ask(ctx, r)
}

func (b *asks) DeclareSampling(context.Context, string) broker.SamplingCapability {
	return broker.SamplingCapability{}
}

func (b *asks) RepeatCall(ctx context.Context, t broker.Asker, q protocol.RepeatMcpCall) (bool, error) {
	again, err := b.ask(ctx, &attribution.Request{Params: json.RawMessage(strconv.Quote(q.Reason)), Task: t.(attribution.Task), Origin: q.Origin})
	return again == true, err
}

func (b *asks) Readable(*attribution.Request) error { return nil }

func (b *asks) AwaitURL(ctx context.Context, r *attribution.Request, e broker.URLElicitation) (bool, error) {
	params, err := json.Marshal(e)
	if err != nil {
		return false, err
	}
	r.Params = params
	done, err := b.ask(ctx, r)
	return done == true, err
}

// taskName stands for a task. It only gives its name.
type taskName struct {
	attribution.Task
	name string
}

// Tell drops the notice.
func (t taskName) Tell(protocol.Notice) {}

func (t taskName) Ask(context.Context, *task.Question) (*task.Answer, error) {
	return nil, errors.New(t.name)
}

type fixture struct {
	*hub.Hub
	asks *asks

	mu      sync.Mutex // guards the fields below
	states  []protocol.Server
	changes []protocol.ListKind
	changed chan struct{} // closed at the next of either
}

// newFixture returns a hub on the servers of a transcript.
func newFixture(t *testing.T, transcript string, servers ...string) *fixture {
	t.Helper()
	wiretest.Write(t, transcript)
	var configured []config.Server
	for _, name := range servers {
		configured = append(configured, server(name))
	}
	return newFixtureWith(t, configured...)
}

// newFixtureWith returns a hub on these servers.
func newFixtureWith(t *testing.T, configured ...config.Server) *fixture {
	t.Helper()
	return newFixtureOf(t, func(*hub.Options) {}, configured...)
}

// newFixtureOf returns a hub with other options than the usual ones.
func newFixtureOf(t *testing.T, differ func(*hub.Options), configured ...config.Server) *fixture {
	t.Helper()
	f := &fixture{asks: &asks{requests: make(chan askRequest)}, changed: make(chan struct{})}
	opts := hub.Options{
		Options: session.Options{
			Timing:      session.Timing{Handshake: 20 * time.Second, KeepAlive: time.Second},
			Changed:     func(s protocol.Server) { f.note(func() { f.states = append(f.states, s) }) },
			Environment: config.Environment{Environ: os.Environ()},
			Capabilities: func() protocol.FrontEndCapabilities {
				return protocol.FrontEndCapabilities{Elicitation: true, Sampling: true}
			},
			Client: protocol.Implementation{Name: "assent", Version: "test"},
			Log:    zerolog.New(zerolog.NewTestWriter(t)),
		},
		Broker: f.asks,
		Task: func(id string) (attribution.Task, error) {
			if id == "" {
				return nil, errors.New("no task")
			}
			return taskName{name: id}, nil
		},
		ListChanged: func(_ string, k protocol.ListKind) { f.note(func() { f.changes = append(f.changes, k) }) },
		IdlePause:   time.Millisecond,
	}
	differ(&opts)
	f.Hub = hub.New(opts)
	t.Cleanup(f.Close)
	f.Configure(configured)
	return f
}

func server(name string) config.Server {
	return config.Server{Name: name, Source: "test", Transport: protocol.TransportStdio, Command: "rawserver", Args: []string{name}}
}

// overEach runs a test with the server "s" of a transcript reached in each of the ways.
func overEach(t *testing.T, transcript string, ways []protocol.Transport, test func(t *testing.T, f *fixture)) {
	t.Helper()
	for _, way := range ways {
		t.Run(string(way), func(t *testing.T) {
			if way == protocol.TransportStdio {
				test(t, newFixture(t, transcript, "s"))
				return
			}
			url := wiretest.Serve(t, string(way), transcript, "s")
			test(t, newFixtureWith(t, config.Server{Name: "s", Source: "test", Transport: way, URL: url}))
		})
	}
}

// The ways in which the servers of each era are reached.
var (
	legacyWays = []protocol.Transport{protocol.TransportStdio, protocol.TransportHTTP, protocol.TransportSSE, protocol.TransportWS}
	modernWays = []protocol.Transport{protocol.TransportStdio, protocol.TransportHTTP, protocol.TransportWS}
)

// environ is the environment that servers start in.
func environ() []string { return os.Environ() }

// note notes what the hub tells, and wakes who waits for it.
func (f *fixture) note(add func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	add()
	close(f.changed)
	f.changed = make(chan struct{})
}

// eventually waits until what the hub has told is as wanted.
func (f *fixture) eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for {
		f.mu.Lock()
		ok, changed := is(), f.changed
		f.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-t.Context().Done():
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// await waits until a server is in a state.
func (f *fixture) await(t *testing.T, name string, state protocol.ServerState) {
	t.Helper()
	f.eventually(t, string(state), func() bool {
		return slices.ContainsFunc(f.states, func(s protocol.Server) bool { return s.Name == name && s.State == state })
	})
}

// awaitChange waits until a server says that a list has changed.
func (f *fixture) awaitChange(t *testing.T, kind protocol.ListKind) {
	t.Helper()
	f.eventually(t, "a change", func() bool { return slices.Contains(f.changes, kind) })
}

// history returns the states that a server went through.
func (f *fixture) history(name string) []protocol.ServerState {
	f.mu.Lock()
	defer f.mu.Unlock()
	var states []protocol.ServerState
	for _, s := range f.states {
		if s.Name == name {
			states = append(states, s.State)
		}
	}
	return states
}

func (f *fixture) state(t *testing.T, name string) protocol.Server {
	t.Helper()
	servers := f.Servers()
	i := slices.IndexFunc(servers, func(s protocol.Server) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("there is no server %q", name)
	}
	return servers[i]
}

// call runs a tool in a goroutine, and returns where its end will be.
func (f *fixture) call(ctx context.Context, task, server, tool string) <-chan protocol.CallResult {
	done := make(chan protocol.CallResult, 1)
	go func() { done <- f.CallTool(ctx, task, server, tool, json.RawMessage(`{}`), hub.Hooks{}) }()
	return done
}

// nextAsk returns the next question. It fails if the call, which ends through end, ends without one.
func (f *fixture) nextAsk(t *testing.T, end <-chan protocol.CallResult) askRequest {
	t.Helper()
	select {
	case r := <-f.asks.requests:
		return r
	case result := <-end:
		t.Fatalf("the call ended without a question: %+v\n%s", result, strings.Join(f.state(t, "s").Stderr, "\n"))
	}
	return askRequest{}
}

// handshake is how a conversation with a legacy server begins. The probe is left out where the server
// is known to be one.
func handshake(server string) string {
	return toInitialize(server) + strings.ReplaceAll(`
-- server NAME --
{"jsonrpc":"2.0","id":"$ID","result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"NAME","version":"1"}}}
-- client NAME --
{"jsonrpc":"2.0","method":"notifications/initialized","params":{}}
`, "NAME", server)
}

// toInitialize is that up to and without the answer to initialize.
func toInitialize(server string) string {
	return strings.ReplaceAll(`
-- client? NAME --
{"jsonrpc":"2.0","id":1000000001,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}},"extensions":{"io.modelcontextprotocol/tasks":{}},"sampling":{"context":{}}},"io.modelcontextprotocol/clientInfo":{"name":"assent","version":"test"},"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}
-- server? NAME --
{"jsonrpc":"2.0","id":1000000001,"error":{"code":-32601,"message":"Method not found"}}
-- client NAME --
{"jsonrpc":"2.0","id":"$ID","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"form":{}},"sampling":{"context":{}},"tasks":{"cancel":{},"list":{},"requests":{"elicitation":{"create":{}},"sampling":{"createMessage":{}}}}},"clientInfo":{"name":"assent","version":"test"}}}
`, "NAME", server)
}

func TestToolsKeepTheirAuthorsOrder(t *testing.T) {
	overEach(t, handshake("s")+`
{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}
-- server s --
{"jsonrpc":"2.0","id":2,"result":{"nextCursor":"more","tools":[{"name":"one","description":"d","annotations":{"title":"One","readOnlyHint":true,"destructiveHint":false},"inputSchema":{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"object"}}}}]}}
-- client s --
{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"cursor":"more"}}
-- server s --
{"jsonrpc":"2.0","id":3,"result":{"nextCursor":"more","tools":[{"name":"two","title":"Two","inputSchema":{"type":"object"}}]}}
`, legacyWays, func(t *testing.T, f *fixture) {
		got, err := f.Tools(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		want := []protocol.Tool{
			{
				Name: "one", Title: "One", Description: "d",
				Fields: []protocol.Field{
					protocol.StringField{FieldHead: protocol.FieldHead{Name: "z"}},
					protocol.JSONField{FieldHead: protocol.FieldHead{Name: "a"}, Schema: json.RawMessage(`{"type":"object"}`)},
				},
				InputSchema: json.RawMessage(`{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"object"}}}`),
				Annotations: &protocol.ToolAnnotations{Title: "One", ReadOnlyHint: new(true), DestructiveHint: new(false)},
			},
			{Name: "two", Title: "Two", InputSchema: json.RawMessage(`{"type":"object"}`)},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("tools (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]protocol.ServerState{protocol.ServerStarting, protocol.ServerRunning}, f.history("s")); diff != "" {
			t.Errorf("states (-want +got):\n%s", diff)
		}
	})
}

func TestHowACallEnds(t *testing.T) {
	tests := []struct {
		name, server string
		want         protocol.CallResult
	}{
		{
			"with a result",
			`{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"x"},{"type":"hologram","x":1}],"structuredContent":{"b":1,"a":2}}}`,
			protocol.ToolResult{
				Content: []protocol.ContentBlock{
					protocol.TextContent{Text: "x"},
					protocol.UnknownContent{Raw: json.RawMessage(`{"type":"hologram","x":1}`)},
				},
				StructuredContent: json.RawMessage(`{"b":1,"a":2}`),
			},
		},
		{
			"with a result that says that it failed",
			`{"jsonrpc":"2.0","id":2,"result":{"isError":true,"content":[]}}`,
			protocol.ToolResult{IsError: true},
		},
		{
			"with an error",
			`{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"no","data":{"x":1}}}`,
			protocol.CallError{Code: -32602, Message: "no", Data: json.RawMessage(`{"x":1}`)},
		},
		{
			"with an error that go-sdk takes for its own",
			`{"jsonrpc":"2.0","id":2,"error":{"code":-32004,"message":"not found"}}`,
			protocol.CallError{Code: -32004, Message: "not found"},
		},
		{
			"after garbage",
			"Listening...\n{\"level\":30}\n" + `{"jsonrpc":"2.0","id":2,"result":{"content":[]}}`,
			protocol.ToolResult{},
		},
		{
			"with the server's death",
			"!stderr out of memory\n!exit 3",
			protocol.CallLost{Reason: `The MCP server "s" is gone: it ended with exit status 3. Run the tool again to restart it.`},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, handshake("s")+`
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"tool","arguments":{}}}
-- server s --
`+tt.server+"\n", "s")
			got := <-f.call(t.Context(), "t1", "s", "tool")
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
			if _, ok := tt.want.(protocol.CallLost); ok {
				s := f.state(t, "s")
				if s.State != protocol.ServerFailed || s.Reason != "It was running, and ended with the exit code 3: out of memory." || !slices.Equal(s.Stderr, []string{"out of memory"}) {
					t.Errorf("the server = %+v", s)
				}
			}
		})
	}
}

func TestWhyAServerDoesNotStart(t *testing.T) {
	tests := []struct {
		name   string
		config config.Server
		script string
		want   string
	}{
		{
			"there is no such command",
			config.Server{Name: "s", Command: "no-such-command"},
			"",
			`The program "no-such-command" was not found in any of `,
		},
		{
			"there is no such program",
			config.Server{Name: "s", Command: "./nothing", Folder: "/somewhere"},
			"",
			"There is no program ./nothing.",
		},
		{
			"it dies before the handshake", server("s"), "-- server s --\n!stderr no licence\n!exit 7\n",
			"It ended at once, with the exit code 7: no licence.",
		},
		{
			"it refuses the handshake", server("s"),
			toInitialize("s") + "-- server s --\n" + `{"jsonrpc":"2.0","id":"$ID","error":{"code":-32000,"message":"go away"}}` + "\n",
			"go away",
		},
		{
			"it is of another protocol", server("s"),
			toInitialize("s") + "-- server s --\n" + `{"jsonrpc":"2.0","id":"$ID","result":{"protocolVersion":"1999-01-01","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}` + "\n",
			"It speaks MCP 1999-01-01 only",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, tt.script)
			f.Configure([]config.Server{tt.config})
			_, err := f.Tools(t.Context(), "s")
			var e *protocol.Error
			if !errors.As(err, &e) || e.Code != protocol.CodeServerFailed || !strings.Contains(e.Message, tt.want) {
				t.Errorf("Tools = %v, want %q", err, tt.want)
			}
			if s := f.state(t, "s"); s.State != protocol.ServerFailed || !strings.Contains(s.Reason, tt.want) {
				t.Errorf("the server = %+v", s)
			}
			lost, ok := (<-f.call(t.Context(), "t1", "s", "tool")).(protocol.CallLost)
			if !ok || !strings.Contains(lost.Reason, tt.want) {
				t.Errorf("a call = %+v, want it lost", lost)
			}
		})
	}
	f := newFixture(t, "")
	if _, err := f.Tools(t.Context(), "unknown"); err == nil || !strings.Contains(err.Error(), `no MCP server "unknown" is configured`) {
		t.Errorf("Tools of an unknown server = %v", err)
	}
}

// asking is a conversation in which the tool asks once.
func asking(server, end string) string {
	return handshake(server) + strings.ReplaceAll(`
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"tool","arguments":{}}}
-- server NAME --
{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"z":1,"a":2}}
`, "NAME", server) + end
}

func TestAnAskBelongsToTheTaskThatCalls(t *testing.T) {
	overEach(t, asking("s", `
-- client s --
{"jsonrpc":"2.0","id":"q","result":{"told":"me"}}
-- server s --
{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"thanks"}]}}
`), legacyWays, func(t *testing.T, f *fixture) {
		// Each task has its own process, so the same script plays once for each.
		tasks := []string{"t1", "t2", "t3"}
		var ends []<-chan protocol.CallResult
		for _, id := range tasks {
			ends = append(ends, f.call(t.Context(), id, "s", "tool"))
		}
		got := map[string]bool{}
		var open []askRequest
		for range tasks {
			r := f.nextAsk(t, nil)
			got[r.task] = true
			open = append(open, r)
			if string(r.params) != `{"z":1,"a":2}` {
				t.Errorf("params = %s", r.params)
			}
			if diff := cmp.Diff(protocol.Origin{ServerName: "s", ToolNames: []string{"tool"}}, r.origin); diff != "" {
				t.Errorf("origin (-want +got):\n%s", diff)
			}
		}
		if len(got) != len(tasks) {
			t.Errorf("asked in %v, want each of %v", got, tasks)
		}
		for _, r := range open {
			r.answer <- map[string]string{"told": "me"}
		}
		want := protocol.ToolResult{Content: []protocol.ContentBlock{protocol.TextContent{Text: "thanks"}}}
		for _, end := range ends {
			if diff := cmp.Diff(protocol.CallResult(want), <-end); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		}
	})
}

func TestTheFirstTaskTakesTheConnectionThatListedTheTools(t *testing.T) {
	overEach(t, handshake("s")+`
{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}
-- server s --
{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}
-- client s --
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"tool","arguments":{}}}
-- server s --
{"jsonrpc":"2.0","id":"q","method":"sampling/createMessage","params":{}}
-- client s --
{"jsonrpc":"2.0","id":"q","result":{}}
-- server s --
{"jsonrpc":"2.0","id":3,"result":{"content":[]}}
`, legacyWays, func(t *testing.T, f *fixture) {
		if _, err := f.Tools(t.Context(), "s"); err != nil {
			t.Fatal(err)
		}
		end := f.call(t.Context(), "t1", "s", "tool") // id 3: the same process
		r := f.nextAsk(t, end)
		if r.task != "t1" {
			t.Errorf("asked in %q, want t1", r.task)
		}
		r.answer <- struct{}{}
		if got, ok := (<-end).(protocol.ToolResult); !ok {
			t.Errorf("result = %+v", got)
		}
	})
}

func TestAServerThatAsksOutsideOfAnyTaskIsToldSo(t *testing.T) {
	overEach(t, handshake("s")+`
{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}
-- server s --
{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{}}
-- client s --
{"jsonrpc":"2.0","id":"q","error":{"code":-32600,"message":"this connection belongs to no task: ask during a tool call"}}
-- server s --
{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}
`, legacyWays, func(t *testing.T, f *fixture) {
		if _, err := f.Tools(t.Context(), "s"); err != nil {
			t.Error(err)
		}
	})
}

func TestWhyAnAskEnds(t *testing.T) {
	wait := "-- client? s --\n" + `{"never":"sent"}` + "\n" // until the deadline
	tests := []struct {
		name   string
		script string
		act    func(f *fixture, cancel context.CancelFunc)
		reason protocol.OutcomeReason
		detail string
		want   protocol.CallResult
	}{
		{
			name:   "the server stopped waiting",
			script: `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q","reason":"tired"}}` + "\n" + wait,
			act:    func(_ *fixture, cancel context.CancelFunc) { cancel() },
			reason: protocol.OutcomeServerStoppedWaiting,
			detail: "The server stopped waiting: tired",
			want:   protocol.CallCancelled{},
		},
		{
			name:   "the call ended",
			script: `{"jsonrpc":"2.0","id":2,"result":{"content":[]}}` + "\n",
			act:    func(*fixture, context.CancelFunc) {},
			reason: protocol.OutcomeCallEnded,
			want:   protocol.ToolResult{},
		},
		{
			name:   "the call was cancelled",
			script: wait,
			act:    func(_ *fixture, cancel context.CancelFunc) { cancel() },
			reason: protocol.OutcomeCallEnded,
			detail: "The call was cancelled.",
			want:   protocol.CallCancelled{},
		},
		{
			name:   "the server died",
			script: "!exit 1\n",
			act:    func(*fixture, context.CancelFunc) {},
			reason: protocol.OutcomeServerLost,
			detail: "The connection to the server ended.",
			want:   protocol.CallLost{Reason: `The MCP server "s" is gone: it ended with exit status 1. Run the tool again to restart it.`},
		},
		{
			name:   "the server was stopped",
			script: wait,
			act:    func(f *fixture, _ context.CancelFunc) { _, _ = f.Stop("s") },
			reason: protocol.OutcomeServerLost,
			detail: "The server is gone: it was stopped.",
			want:   protocol.CallLost{Reason: `The MCP server "s" is gone: it was stopped. Run the tool again to restart it.`},
		},
		{
			name:   "Assent closed",
			script: wait,
			act:    func(f *fixture, _ context.CancelFunc) { f.Close() },
			reason: protocol.OutcomeRestarted,
			detail: "The server is gone: Assent is closing.",
			want:   protocol.CallLost{Reason: `The MCP server "s" is gone: Assent is closing. Run the tool again to restart it.`},
		},
		{
			name:   "the configuration changed",
			script: wait,
			act:    func(f *fixture, _ context.CancelFunc) { f.Configure(nil) },
			reason: protocol.OutcomeServerLost,
			detail: "The server is gone: its configuration has changed.",
			want:   protocol.CallLost{Reason: `The MCP server "s" is gone: its configuration has changed. Run the tool again to restart it.`},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ways := legacyWays
			if strings.HasPrefix(tt.script, "!exit") {
				ways = legacyWays[:1] // the others know nothing of a process
			}
			overEach(t, asking("s", tt.script), ways, func(t *testing.T, f *fixture) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				end := f.call(ctx, "t1", "s", "tool")
				r := f.nextAsk(t, end)
				acted := make(chan struct{})
				go func() {
					defer close(acted)
					if tt.name == "the server stopped waiting" {
						<-r.ctx.Done() // its own words first
					}
					tt.act(f, cancel)
				}()
				<-r.ctx.Done()
				r.answer <- errors.New("nobody answered")
				var ended *task.Ended
				if cause := context.Cause(r.ctx); !errors.As(cause, &ended) || ended.Reason != tt.reason || ended.Detail != tt.detail {
					t.Errorf("the ask ended by %+v, want %s: %s", ended, tt.reason, tt.detail)
				}
				if diff := cmp.Diff(tt.want, <-end); diff != "" {
					t.Errorf("the call (-want +got):\n%s", diff)
				}
				<-acted
			})
		})
	}
}

func TestOnlyServersThatChangedAreStopped(t *testing.T) {
	f := newFixture(t, handshake("kept")+handshake("changed"), "kept", "changed")
	for _, name := range []string{"kept", "changed"} {
		if _, err := f.Restart(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	changed := server("changed")
	value := "1"
	changed.Env = map[string]*string{"X": &value}
	f.Configure([]config.Server{changed, server("kept")})
	if got := f.state(t, "kept").State; got != protocol.ServerRunning {
		t.Errorf("the server that is as before = %s", got)
	}
	if got := f.state(t, "changed").State; got != protocol.ServerStopped {
		t.Errorf("the server that differs = %s", got)
	}
	if got := f.Servers(); got[0].Name != "changed" || got[1].Name != "kept" {
		t.Errorf("the servers = %+v, want the new order", got)
	}
}
