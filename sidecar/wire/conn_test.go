package wire_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rs/zerolog"

	"assent/sidecar/wire"
)

// peer is the server's end of a connection, without an SDK.
type peer struct {
	t   *testing.T
	in  *bufio.Reader
	out io.WriteCloser
}

func (p *peer) send(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.out, line+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

func (p *peer) want(line string) {
	p.t.Helper()
	got, err := p.in.ReadString('\n')
	if err != nil {
		p.t.Fatal(err)
	}
	var x, y any
	if err := errors.Join(json.Unmarshal([]byte(line), &x), json.Unmarshal([]byte(got), &y)); err != nil {
		p.t.Fatal(err)
	}
	if diff := cmp.Diff(x, y); diff != "" {
		p.t.Fatalf("the server got (-want +got):\n%s", diff)
	}
}

// handler returns a [wire.Handler] that does nothing in the order of the frames.
func handler(serve func(context.Context, json.RawMessage) (any, error)) wire.Handler {
	return func(ctx context.Context, params json.RawMessage) func() (any, error) {
		return func() (any, error) { return serve(ctx, params) }
	}
}

type pipes struct {
	io.Reader
	io.WriteCloser
	closeReader func() error
}

func (p pipes) Close() error { return errors.Join(p.WriteCloser.Close(), p.closeReader()) }

// connect returns a connection and the server at its other end.
func connect(t *testing.T, opts wire.Options) (*wire.Conn, *peer) {
	t.Helper()
	return connectLines(t, opts, func(line []byte) { t.Errorf("stray line %q", line) }, 0)
}

func connectLines(t *testing.T, opts wire.Options, stray func([]byte), maxFrame int) (*wire.Conn, *peer) {
	t.Helper()
	fromServer, serverOut := io.Pipe()
	serverIn, toServer := io.Pipe()
	opts.Log = zerolog.New(zerolog.NewTestWriter(t))
	c := wire.NewConn(wire.NewLines(pipes{fromServer, toServer, fromServer.Close}, stray, maxFrame), opts)
	return c, &peer{t, bufio.NewReader(serverIn), serverOut}
}

// read reads in a goroutine until the end, and returns the messages for go-sdk.
func read(t *testing.T, c *wire.Conn) <-chan jsonrpc.Message {
	t.Helper()
	messages := make(chan jsonrpc.Message, 100)
	go func() {
		defer close(messages)
		for {
			m, err := c.Read(context.Background())
			if err != nil {
				return
			}
			messages <- m
		}
	}()
	return messages
}

func TestRequestsAreServedFromTheirRawParams(t *testing.T) {
	var got json.RawMessage
	c, p := connect(t, wire.Options{Serve: map[string]wire.Handler{
		"elicitation/create": handler(func(_ context.Context, params json.RawMessage) (any, error) {
			got = params
			return map[string]any{"action": "cancel"}, nil
		}),
	}})
	messages := read(t, c)
	p.send(`{"jsonrpc":"2.0","id":"a-1","method":"elicitation/create","params":{"z":1.0,"a":{"y":1,"b":2}}}`)
	p.want(`{"jsonrpc":"2.0","id":"a-1","result":{"action":"cancel"}}`)
	if want := `{"z":1.0,"a":{"y":1,"b":2}}`; string(got) != want {
		t.Errorf("params = %s, want %s", got, want)
	}
	p.send(`{"jsonrpc":"2.0","id":7,"method":"ping"}`)
	m := <-messages
	if r, ok := m.(*jsonrpc.Request); !ok || r.Method != "ping" || !r.IsCall() {
		t.Errorf("go-sdk got %+v, want the ping", m)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestHandlersErrorsGoOutWhole(t *testing.T) {
	tests := []struct {
		name string
		err  error
		want string
	}{
		{
			"with data", &jsonrpc.Error{Code: -42, Message: "m", Data: json.RawMessage(`{"d":1}`)},
			`{"jsonrpc":"2.0","id":1,"error":{"code":-42,"message":"m","data":{"d":1}}}`,
		},
		{
			"wrapped", errors.Join(errors.New("context"), &jsonrpc.Error{Code: -1, Message: "m"}),
			`{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"m"}}`,
		},
		{
			"plain", errors.New("m"),
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"m"}}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, p := connect(t, wire.Options{Serve: map[string]wire.Handler{
				"ask": handler(func(context.Context, json.RawMessage) (any, error) { return nil, tt.err }),
			}})
			defer c.Close()
			read(t, c)
			p.send(`{"jsonrpc":"2.0","id":1,"method":"ask"}`)
			p.want(tt.want)
		})
	}
}

func TestAPanicIsAnErrorOfOneRequest(t *testing.T) {
	c, p := connect(t, wire.Options{Serve: map[string]wire.Handler{
		"bad":  handler(func(context.Context, json.RawMessage) (any, error) { panic("boom") }),
		"good": handler(func(context.Context, json.RawMessage) (any, error) { return struct{}{}, nil }),
	}})
	defer c.Close()
	read(t, c)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"bad"}`)
	p.want(`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"bad failed inside Assent: see its log"}}`)
	p.send(`{"jsonrpc":"2.0","id":2,"method":"good"}`)
	p.want(`{"jsonrpc":"2.0","id":2,"result":{}}`)
}

// waiting serves "ask" by waiting for the end of its context. It returns a channel that gets the cause.
func waiting() (wire.Options, <-chan error) {
	causes := make(chan error, 1)
	return wire.Options{Serve: map[string]wire.Handler{
		"ask": handler(func(ctx context.Context, _ json.RawMessage) (any, error) {
			<-ctx.Done()
			causes <- context.Cause(ctx)
			return nil, ctx.Err()
		}),
		"other": handler(func(context.Context, json.RawMessage) (any, error) { return struct{}{}, nil }),
	}}, causes
}

func TestACancelledRequestIsNotAnswered(t *testing.T) {
	opts, causes := waiting()
	c, p := connect(t, opts)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"ask"}`)
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"too slow"}}`)
	cause := <-causes
	if !errors.Is(cause, wire.ErrCancelled) || !strings.HasSuffix(cause.Error(), "too slow") {
		t.Errorf("cause = %v, want ErrCancelled: too slow", cause)
	}
	p.send(`{"jsonrpc":"2.0","id":2,"method":"other"}`)
	p.want(`{"jsonrpc":"2.0","id":2,"result":{}}`) // and no answer to 1
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// A second request with the id of an open one is refused, and the first continues. The id is free once the first is
// answered or cancelled.
func TestARequestWithTheIDOfAnOpenOneIsRefused(t *testing.T) {
	answers := make(chan string)
	c, p := connect(t, wire.Options{Serve: map[string]wire.Handler{
		"ask": handler(func(ctx context.Context, _ json.RawMessage) (any, error) {
			select {
			case answer := <-answers:
				return answer, nil
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}),
		"other": handler(func(context.Context, json.RawMessage) (any, error) { return "other", nil }),
	}})
	p.send(`{"jsonrpc":"2.0","id":1,"method":"ask"}`)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"other"}`)
	p.want(`{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"another request with this id is still open"}}`)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`) // go-sdk would answer this
	p.want(`{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"another request with this id is still open"}}`)
	p.send(`{"jsonrpc":"2.0","id":"1","method":"other"}`) // a string is another id
	p.want(`{"jsonrpc":"2.0","id":"1","result":"other"}`)
	answers <- "first"
	p.want(`{"jsonrpc":"2.0","id":1,"result":"first"}`)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"ask"}`)
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"RequestId":1}}`) // matches no request
	p.send(`{"jsonrpc":"2.0","id":1,"method":"other"}`)
	p.want(`{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"another request with this id is still open"}}`)
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"other"}`)
	p.want(`{"jsonrpc":"2.0","id":1,"result":"other"}`)
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestTheEndOfTheServerEndsItsRequests(t *testing.T) {
	opts, causes := waiting()
	c, p := connect(t, opts)
	messages := read(t, c)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"ask"}`)
	if err := p.out.Close(); err != nil {
		t.Fatal(err)
	}
	if cause := <-causes; !errors.Is(cause, wire.ErrClosed) {
		t.Errorf("cause = %v, want ErrClosed", cause)
	}
	if _, ok := <-messages; ok {
		t.Error("there was a message after the end")
	}
}

// lastAnswer is a connection to a server that answers a request and closes before the request is
// written.
type lastAnswer struct {
	mcp.Connection
	answer chan jsonrpc.Message
	gone   func() <-chan struct{}
}

func (l *lastAnswer) Write(_ context.Context, m jsonrpc.Message) error {
	l.answer <- &jsonrpc.Response{ID: m.(*jsonrpc.Request).ID, Result: json.RawMessage(`{}`)}
	close(l.answer)
	<-l.gone()
	return nil
}

func (l *lastAnswer) Read(context.Context) (jsonrpc.Message, error) {
	if m, ok := <-l.answer; ok {
		return m, nil
	}
	return nil, io.EOF
}

func (l *lastAnswer) Close() error { return nil }

func TestTheLastAnswerBeforeTheEndCounts(t *testing.T) {
	for range 50 { // a random choice between the two would fail at times
		var c *wire.Conn
		l := &lastAnswer{answer: make(chan jsonrpc.Message), gone: func() <-chan struct{} { return c.Done() }}
		c = wire.NewConn(l, wire.Options{})
		if _, err := c.Call(t.Context(), "tools/list", nil); err != nil {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCloseWaitsForTheHandlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left := false
		c, p := connect(t, wire.Options{Serve: map[string]wire.Handler{
			"ask": handler(func(ctx context.Context, _ json.RawMessage) (any, error) {
				<-ctx.Done()
				time.Sleep(time.Second) // of the bubble's clock: the handler's cleanup
				left = true
				return nil, nil
			}),
		}})
		read(t, c)
		p.send(`{"jsonrpc":"2.0","id":1,"method":"ask"}`)
		synctest.Wait()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if !left {
			t.Error("Close returned before the handler")
		}
	})
}

func TestStrayLinesAreReportedAndCostNothing(t *testing.T) {
	var stray []string
	unmatched := make(chan string, 1)
	c, p := connectLines(t, wire.Options{
		Unmatched: func(came string) { unmatched <- came },
		Serve: map[string]wire.Handler{
			"ask": handler(func(context.Context, json.RawMessage) (any, error) { return struct{}{}, nil }),
		},
	}, func(line []byte) { stray = append(stray, string(line)) }, 0)
	messages := read(t, c)
	lines := []string{
		"Server listening", `{"level":"info"}`, `{"jsonrpc":"2.0"`, `[1]`, `"text"`,
		`{"id":1,"method":"ask"}`, `{"id":1,"method":"log/ask","level":"info"}`, `{"jsonrpc":"2.0","id":{},"method":"ask"}`,
	}
	for _, line := range lines {
		p.send(line)
	}
	p.send("")
	const ofNone = `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}`
	p.send(ofNone)
	if got := <-unmatched; got != ofNone {
		t.Errorf("the answer to no request is %s", got)
	}
	p.send(`{"jsonrpc":"2.0","id":1,"method":"ask"}`)
	p.want(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	if _, err := io.WriteString(p.out, "half a li"); err != nil {
		t.Fatal(err)
	}
	if err := p.out.Close(); err != nil {
		t.Fatal(err)
	}
	if m, ok := <-messages; ok {
		t.Errorf("go-sdk got %+v", m)
	}
	if diff := cmp.Diff(append(lines, "half a li"), stray); diff != "" {
		t.Errorf("stray lines (-want +got):\n%s", diff)
	}
}

func TestALineThatIsTooLongEndsTheConnection(t *testing.T) {
	c, p := connectLines(t, wire.Options{}, nil, 100<<10)
	result := make(chan error, 1)
	go func() {
		_, err := c.Read(context.Background())
		result <- errors.Join(err, c.Close())
	}()
	// The write fails once the other side no longer reads, which may be before its end.
	_, _ = io.WriteString(p.out, `{"jsonrpc":"2.0","id":1,"method":"`+strings.Repeat("x", 200<<10))
	if err := <-result; err == nil || !strings.Contains(err.Error(), "more than 102400 bytes") {
		t.Errorf("Read = %v, want an error with the limit", err)
	}
}

func TestACallKeepsItsRawAnswer(t *testing.T) {
	// This uses go-sdk's own client, because the capture depends on its passing on a call's
	// context.
	c, p := connect(t, wire.Options{})
	connected := make(chan *mcp.ClientSession, 1)
	go func() {
		client := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
		session, err := client.Connect(context.Background(), c, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
		if err != nil {
			t.Error(err)
		}
		connected <- session
	}()
	p.want(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	p.send(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}`)
	p.want(`{"jsonrpc":"2.0","method":"notifications/initialized","params":{}}`)
	session := <-connected

	type called struct {
		capture *wire.Capture
		err     error
	}
	call := func(ctx context.Context) <-chan called {
		done := make(chan called, 1)
		go func() {
			ctx, capture := wire.WithCapture(ctx)
			_, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "t"})
			done <- called{capture, err}
		}()
		return done
	}
	done := call(t.Context())
	p.want(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t","arguments":{}}}`)
	p.send(`{"jsonrpc":"2.0","id":2,"result":{"z":1,"content":[{"type":"text","text":"x"}]}}`)
	got := <-done
	if want := `{"z":1,"content":[{"type":"text","text":"x"}]}`; got.err != nil || string(got.capture.Answer().Result) != want {
		t.Errorf("captured %s, %v, want %s", got.capture.Answer().Result, got.err, want)
	}

	done = call(t.Context())
	p.want(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"t","arguments":{}}}`)
	p.send(`{"jsonrpc":"2.0","id":3,"error":{"code":-32003,"message":"go-sdk's own","data":[1]}}`)
	got = <-done
	want := &jsonrpc.Error{Code: -32003, Message: "go-sdk's own", Data: json.RawMessage(`[1]`)}
	if diff := cmp.Diff(want, got.capture.Answer().Error); diff != "" || got.err == nil {
		t.Errorf("captured error (-want +got):\n%s", diff)
	}

	ctx, cancel := context.WithCancel(t.Context())
	done = call(ctx)
	p.want(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"t","arguments":{}}}`)
	cancel()
	if got = <-done; !errors.Is(got.err, context.Canceled) {
		t.Errorf("a cancelled call ended with %v", got.err)
	}
	p.want(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4,"reason":"the client no longer waits for the result"}}`)
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	_ = session.Wait() // it ends because the pipe was closed
}

// FuzzRead looks for lines that crash or end the connection although they are complete.
func FuzzRead(f *testing.F) {
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"ask","params":{}}`)
	f.Add(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[]}}`)
	f.Add(`{"jsonrpc":"2.0","id":1e99,"result":null}`)
	f.Add(strings.Repeat("[", 20000))
	f.Fuzz(func(t *testing.T, lines string) {
		serverIn, toServer := io.Pipe()
		go func() { _, _ = io.Copy(io.Discard, serverIn) }() // ends with the connection
		const end = `{"jsonrpc":"2.0","id":"end","method":"end"}`
		stream := pipes{strings.NewReader(lines + "\n" + end + "\n"), toServer, serverIn.Close}
		c := wire.NewConn(wire.NewLines(stream, func([]byte) {}, 0), wire.Options{
			Serve: map[string]wire.Handler{"ask": handler(func(context.Context, json.RawMessage) (any, error) { return nil, nil })},
		})
		defer c.Close()
		for {
			m, err := c.Read(context.Background())
			if err != nil {
				t.Fatalf("the connection ended: %v", err)
			}
			if r, ok := m.(*jsonrpc.Request); ok && r.Method == "end" {
				return
			}
		}
	})
}

// A server may answer a call while the cancellation is on its way to the server. That answer is not the call's result.
func TestAnAnswerAfterTheCancellationIsNoResult(t *testing.T) {
	var p *peer
	passed := make(chan struct{})
	var c *wire.Conn
	c, p = connect(t, wire.Options{
		Notify: map[string]func(json.RawMessage){"passed": func(json.RawMessage) { close(passed) }},
		Tap: func(fromServer bool, frame []byte) {
			if fromServer || !strings.Contains(string(frame), "notifications/cancelled") {
				return
			}
			p.send(`{"jsonrpc":"2.0","id":1000000001,"result":{"isError":true}}` + "\n" + `{"jsonrpc":"2.0","method":"passed"}`)
			<-passed
		},
	})
	read(t, c)
	ctx, cancel := context.WithCancel(t.Context())
	ctx, capture := wire.WithCapture(ctx)
	ended := make(chan error, 1)
	go func() {
		_, err := c.Call(ctx, "tools/call", struct{}{})
		ended <- err
	}()
	p.want(`{"jsonrpc":"2.0","id":1000000001,"method":"tools/call","params":{}}`)
	cancel()
	p.want(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1000000001,"reason":"the client no longer waits for the result"}}`)
	if err := <-ended; !errors.Is(err, context.Canceled) || capture.Answer().Result != nil {
		t.Errorf("the call ended with %v and %s", err, capture.Answer().Result)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
