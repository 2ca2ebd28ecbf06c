package exchange_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/broker"
	"assent/sidecar/broker/attribution"
	"assent/sidecar/config"
	"assent/sidecar/hub/exchange"
	"assent/sidecar/hub/session"
	"assent/sidecar/task"
)

// idlePause and pollFloor are the pauses of the tests, by the clock of a bubble.
const (
	idlePause = time.Minute
	pollFloor = time.Second
)

// fixture is the exchanges with a server in memory. It is the broker and the list of tools. The test is the person.
type fixture struct {
	*exchange.Exchanges
	dialer    *session.Dialer
	server    *session.Server
	questions chan question
	tools     string // the list of tools
	find      func() // called when a task is looked up; may be nil

	mu        sync.Mutex // guards the fields below
	told      []string
	starting  []string // what the server's state said during its start
	completed []int64
	forgotten int
	asked     int64
}

var (
	_ session.Handler = (*fixture)(nil)
	_ exchange.Tools  = (*fixture)(nil)
	_ exchange.Broker = (*fixture)(nil)
)

// question is an open ask.
type question struct {
	// ctx ends with the question.
	ctx     context.Context
	task    string
	origin  protocol.Origin
	message string
	key     string
	answer  chan<- task.Answer
}

// accept answers with a form's content.
func (q question) accept(content string) {
	q.answer <- task.Answer{Response: protocol.YesButtonClicked, Content: json.RawMessage(content)}
}

func (q question) decline() { q.answer <- task.Answer{Response: protocol.NoButtonClicked} }

// outcome waits until a question has ended without an answer, and returns how.
func (q question) outcome() protocol.OutcomeReason {
	<-q.ctx.Done()
	var ended *task.Ended
	if !errors.As(context.Cause(q.ctx), &ended) {
		return ""
	}
	return ended.Reason
}

// limited has a call take ten seconds without progress at most.
func limited(s *config.Server) { s.ToolTimeout = new(10 * time.Second) }

// newFixture returns the exchanges with a server that serves each connection with a function. The connection ends with the
// function. It is called in a bubble.
func newFixture(t *testing.T, serve func(*peer), edit ...func(*config.Server)) *fixture {
	f := &fixture{questions: make(chan question), tools: `{"tools":[]}`}
	log := zerolog.New(zerolog.NewTestWriter(t)).Level(zerolog.WarnLevel)
	capabilities := func() protocol.FrontEndCapabilities {
		return protocol.FrontEndCapabilities{Elicitation: true, OpenURL: true}
	}
	way := serveInMemory(t, serve)
	dialer := session.NewDialer(session.Options{
		Timing: session.Timing{KeepAlive: 10_000 * time.Hour},
		Changed: func(s protocol.Server) {
			if s.State == protocol.ServerStarting && s.Reason != "" {
				f.mu.Lock()
				defer f.mu.Unlock()
				f.starting = append(f.starting, s.Reason)
			}
		},
		CallsTools:   func(context.Context, string) bool { return false },
		Capabilities: capabilities,
		Client:       protocol.Implementation{Name: "assent", Version: "test"},
		Authorize:    func(config.Server, *url.URL, config.OAuth, http.RoundTripper) http.RoundTripper { return way },
		Log:          log,
	})
	server := config.Server{Name: "s", Source: "test", Transport: protocol.TransportWS, URL: "ws://memory/mcp"}
	for _, e := range edit {
		e(&server)
	}
	f.dialer, f.server = dialer, dialer.NewServer(server, f)
	f.Exchanges = exchange.New(exchange.Options{
		Broker: f,
		Task: func(id string) (attribution.Task, error) {
			if f.find != nil {
				f.find()
			}
			if id == "gone" {
				return nil, errors.New("the task is gone")
			}
			return conversation{id: id, f: f}, nil
		},
		Capabilities: capabilities, ToolTimeout: func() time.Duration { return 0 },
		IdlePause: idlePause, PollFloor: pollFloor, Now: time.Now, Log: log,
	}, f.server, f)
	t.Cleanup(func() {
		f.server.Retire(session.Stopped{Reason: "the test has ended", Asks: protocol.OutcomeServerLost})
		dialer.Close()
	})
	return f
}

// call calls the tool "tool" for the task "t", and returns where its end will be.
func (f *fixture) call(ctx context.Context, hooks exchange.Hooks) <-chan protocol.CallResult {
	end := make(chan protocol.CallResult, 1)
	go func() { end <- f.CallTool(ctx, "t", "tool", json.RawMessage(`{"a":1}`), hooks) }()
	return end
}

// ask returns the next question. It fails if the call, which ends through end, ends without one.
func (f *fixture) ask(t *testing.T, end <-chan protocol.CallResult) question {
	t.Helper()
	select {
	case q := <-f.questions:
		return q
	case result := <-end:
		t.Fatalf("the call ended without a question: %+v", result)
	}
	return question{}
}

// notices returns what tasks were told.
func (f *fixture) notices() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.told)
}

// Serve implements [exchange.Broker].
func (f *fixture) Serve(ctx context.Context, r *attribution.Request) (any, error) {
	if r.Task == nil {
		return nil, broker.ErrNoTask
	}
	var params struct{ Message string }
	if err := json.Unmarshal(r.Params, &params); err != nil {
		return nil, err
	}
	answer, err := r.Ask(ctx, &task.Question{Body: protocol.McpElicitation{
		Origin: r.Origin, ElicitationRequest: protocol.McpElicitationRequest{Message: params.Message},
	}})
	switch {
	case err != nil:
		return nil, err
	case answer.Response != protocol.YesButtonClicked:
		return map[string]any{"action": "decline"}, nil
	}
	return map[string]any{"action": "accept", "content": answer.Content}, nil
}

// Readable implements [exchange.Broker].
func (f *fixture) Readable(r *attribution.Request) error {
	if len(r.Params) == 0 {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "no params"}
	}
	return nil
}

// AwaitURL implements [exchange.Broker].
func (f *fixture) AwaitURL(ctx context.Context, r *attribution.Request, e broker.URLElicitation) (bool, error) {
	answer, err := r.Ask(ctx, &task.Question{Body: protocol.McpElicitation{
		Origin: r.Origin, ElicitationRequest: protocol.McpElicitationRequest{Message: e.URL},
	}})
	var ended *task.Ended
	switch {
	case errors.As(err, &ended):
		return ended.Reason == protocol.OutcomeCompleted, nil
	case err != nil:
		return false, err
	}
	return answer.Response == protocol.YesButtonClicked, nil
}

// RepeatCall implements [exchange.Broker].
func (f *fixture) RepeatCall(ctx context.Context, t broker.Asker, q protocol.RepeatMcpCall) (bool, error) {
	answer, err := t.Ask(ctx, &task.Question{Queued: func() {}, Body: protocol.McpElicitation{
		Origin: q.Origin, ElicitationRequest: protocol.McpElicitationRequest{Message: q.Reason},
	}})
	return err == nil && answer.Response == protocol.YesButtonClicked, err
}

// ToolPages implements [exchange.Tools].
func (f *fixture) ToolPages(context.Context) ([]json.RawMessage, error) {
	return []json.RawMessage{json.RawMessage(f.tools)}, nil
}

// ToolsVersion implements [exchange.Tools].
func (f *fixture) ToolsVersion() int { return 1 }

// ForgetLists implements [exchange.Tools].
func (f *fixture) ForgetLists() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.forgotten++
}

// conversation stands for a task. Its questions go to the test.
type conversation struct {
	attribution.Task
	id string
	f  *fixture
}

func (c conversation) Info() protocol.Task { return protocol.Task{ID: c.id} }

func (c conversation) Ask(ctx context.Context, q *task.Question) (*task.Answer, error) {
	asked := q.Body.(protocol.McpElicitation)
	answer := make(chan task.Answer, 1)
	select {
	case c.f.questions <- question{ctx, c.id, asked.Origin, asked.ElicitationRequest.Message, q.Key, answer}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	q.Queued()
	select {
	case a := <-answer:
		c.f.mu.Lock()
		defer c.f.mu.Unlock()
		c.f.asked++
		a.MessageID = c.f.asked
		return &a, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (c conversation) Tell(n protocol.Notice) { c.f.note(n.Text) }

func (c conversation) Completed(messageID int64) {
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	c.f.completed = append(c.f.completed, messageID)
}

func (c conversation) Undelivered(_ int64, why string) { c.f.note(why) }
func (c conversation) Delivered(string)                {}
func (c conversation) Release(string, *task.Ended)     {}
func (c conversation) ReleaseUndelivered(_ string, _ *task.Ended, why string) {
	c.f.note(why)
}
func (c conversation) ReleaseAnswered(string, time.Time) {}

func (f *fixture) note(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.told = append(f.told, text)
}

// pipes accepts the other ends of pipes.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error { close(p.closed); return nil }

func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }

// serveInMemory serves WebSockets over pipes, and returns the way to them.
func serveInMemory(t *testing.T, serve func(*peer)) http.RoundTripper {
	p := pipes{make(chan net.Conn), make(chan struct{})}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"mcp"}})
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.CloseNow()
		serve(&peer{t, conn})
	})}
	served := make(chan error, 1)
	go func() { served <- server.Serve(p) }()
	way := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		select {
		case p.conns <- theirs:
			return ours, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
	t.Cleanup(func() {
		way.CloseIdleConnections()
		server.Close() //nolint:errcheck // what Serve returns tells
		<-served
	})
	return way
}

// peer is a server on one connection.
type peer struct {
	t    *testing.T
	conn *websocket.Conn
}

// frame is what a peer reads.
type frame struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// read returns the next frame, or false if the client has left.
func (p *peer) read() (frame, bool) {
	_, data, err := p.conn.Read(context.Background())
	if err != nil {
		return frame{}, false
	}
	var f frame
	if err := json.Unmarshal(data, &f); err != nil {
		p.t.Errorf("the client sent %s: %v", data, err)
	}
	return f, true
}

// await reads until a frame of a method comes, and returns it.
func (p *peer) await(method string) frame {
	for {
		f, ok := p.read()
		if !ok || f.Method == method {
			return f
		}
	}
}

// answerTo reads until the answer to a request comes, and returns its result or its error.
func (p *peer) answerTo(id string) string {
	for {
		f, ok := p.read()
		switch {
		case !ok:
			return ""
		case f.Method == "" && string(f.ID) == id:
			return string(f.Result) + string(f.Error)
		}
	}
}

// write writes a frame without its version.
func (p *peer) write(format string, args ...any) {
	text := `{"jsonrpc":"2.0",` + strings.TrimPrefix(fmt.Sprintf(format, args...), "{")
	_ = p.conn.Write(context.Background(), websocket.MessageText, []byte(text)) // or the client has left
}

func (p *peer) result(to frame, result string) { p.write(`{"id":%s,"result":%s}`, to.ID, result) }

// done answers a call with a text.
func (p *peer) done(to frame) { p.result(to, `{"content":[{"type":"text","text":"done"}]}`) }

// elicit sends a question.
func (p *peer) elicit(id, message string) {
	p.write(`{"id":%s,"method":"elicitation/create","params":{"message":%q}}`, id, message)
}

// shake shakes hands as a legacy server.
func (p *peer) shake(capabilities string) {
	for {
		switch f, ok := p.read(); {
		case !ok, f.Method == "notifications/initialized":
			return
		case f.Method == "initialize":
			p.result(f, `{"protocolVersion":"2025-11-25","capabilities":`+capabilities+`,"serverInfo":{"name":"s","version":"1"}}`)
		default:
			p.write(`{"id":%s,"error":{"code":-32601,"message":"Method not found"}}`, f.ID)
		}
	}
}

// shakeModern shakes hands as a modern server.
func (p *peer) shakeModern() {
	p.result(p.await("server/discover"), `{"resultType":"complete","supportedVersions":["2026-07-28"],`+
		`"capabilities":{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}}`)
}

// rest reads to the end of the connection.
func (p *peer) rest() {
	for {
		if _, ok := p.read(); !ok {
			return
		}
	}
}

// text is the result of [peer.done].
var text = protocol.ToolResult{Content: []protocol.ContentBlock{protocol.TextContent{Text: "done"}}}

// reasonOf returns why a call has no result.
func reasonOf(t *testing.T, result protocol.CallResult) string {
	t.Helper()
	lost, ok := result.(protocol.CallLost)
	if !ok {
		t.Fatalf("result = %+v, want a CallLost", result)
	}
	return lost.Reason
}
