package workspace_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"assent/sidecar/wire/wiretest"
	"assent/sidecar/workspace/rpc/rpctest"
)

const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientInfo":{"name":"a test","version":"1"},"capabilities":{"elicitation":true,"sampling":true},"configuration":{"servers":{"demo":{"command":"rawserver","args":["demo"]}},"model":{}}}}`

const initialized = `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"serverInfo":{"name":"assent","version":"test"}}}`

func TestAnInvalidFrameKeepsTheConnection(t *testing.T) {
	tests := []struct {
		name, frame, want string
	}{
		{
			"no JSON", `{"jsonrpc":"2.0","id":1,"method":`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32700,"message":"this is not JSON: unexpected end of JSON input"}}`,
		},
		{
			"nothing", ``,
			`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"this is not JSON: unexpected end of JSON input"}}`,
		},
		{
			"no message", `{"jsonrpc":"2.0","id":"x"}`,
			`{"jsonrpc":"2.0","id":"x","error":{"code":-32600,"message":"this is not a JSON-RPC 2.0 message: jsonrpc2: unable to determine message type (request or response)"}}`,
		},
		{
			"a batch", `[{"jsonrpc":"2.0","id":1,"method":"task/list"}]`,
			`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"batches are not supported: send each message in a frame of its own"}}`,
		},
		{
			"a batch that is no JSON", `[{"jsonrpc":"2.0","id":1,"method":"task/list"}`,
			`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"this is not JSON: unexpected end of JSON input"}}`,
		},
		{
			"an id that is none", `{"jsonrpc":"2.0","id":1.5,"method":"task/list"}`,
			`{"jsonrpc":"2.0","id":1.5,"error":{"code":-32600,"message":"this is not a JSON-RPC 2.0 message: its id is neither a whole number nor a text"}}`,
		},
		{
			"an error beside a method", `{"jsonrpc":"2.0","id":3,"method":"task/list","error":null}`,
			`{"jsonrpc":"2.0","id":3,"result":{}}`,
		},
		{
			"17 MB", `{"jsonrpc":"2.0","id":42,"method":"task/create","params":{"title":"` + strings.Repeat("x", 17<<20) + `"}}`,
			`{"jsonrpc":"2.0","id":42,"error":{"code":-32600,"message":"a message of 17825862 bytes is too large: the most is 16777216"}}`,
		},
	}
	f := newFrontEnd(t)
	f.send(initialize)
	f.want([]string{initialized})
	for _, tt := range tests {
		f.send(tt.frame)
		f.want([]string{tt.want})
	}
	f.sendRaw("content-length:  45\nX-Unknown: yes\n\n" + `{"jsonrpc":"2.0","id":9,"method":"task/list"}`)
	f.want([]string{`{"jsonrpc":"2.0","id":9,"result":{}}`})
	f.close()
}

func TestABatchAndAnAnswerAfterItHarmNothing(t *testing.T) {
	const refusal = `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"batches are not supported: send each message in a frame of its own"}}`
	const request, answer = `{"jsonrpc":"2.0","id":1,"method":"task/list"}`, `{"jsonrpc":"2.0","id":77,"result":{}}`
	f := newFrontEnd(t)
	f.send(initialize)
	f.want([]string{initialized})
	for _, batch := range []string{"[" + request + "]", " [" + request + "," + request + "]", "[" + request + "," + answer + "]", "[" + answer + "]", "[]"} {
		f.send(batch)
		f.want([]string{refusal})
		f.send(answer)
		f.send(`{"jsonrpc":"2.0","id":2,"method":"task/list"}`)
		f.want([]string{`{"jsonrpc":"2.0","id":2,"result":{}}`})
	}
	f.close()
}

func TestAWireThatCannotBeFollowedIsGivenUp(t *testing.T) {
	tests := []struct {
		name, bytes, want string
	}{
		{"no header", "hello\r\n\r\n", `a frame's header has the line "hello"`},
		{"no length", "Content-Type: json\r\n\r\n", "a frame has no Content-Length"},
		{"a length that is no number", "Content-Length: many\r\n\r\n", `a frame has the Content-Length " many"`},
		{"a negative length", "Content-Length: -1\r\n\r\n", `a frame has the Content-Length " -1"`},
		{"a header without end", strings.Repeat("X: y\r\n", 2000), "a frame's header has more than 4096 bytes"},
		{"a line without end", "X: " + strings.Repeat("y", 1<<20), "a frame's header has more than 4096 bytes"},
		{"half a header", "Content-Le", "a frame's header ended in the middle"},
		{"half a frame", "Content-Length: 10\r\n\r\n{}", "a frame of 10 bytes ended in the middle"},
		{"half a frame that is too large", "Content-Length: 99999999\r\n\r\n" + strings.Repeat(" ", 1000), "a frame of 99999999 bytes ended in the middle"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := sharedBy(t).Attach(context.Background(), io.NopCloser(strings.NewReader(tt.bytes)), io.Discard)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Attach = %v, want %q", err, tt.want)
			}
		})
	}
}

func TestNothingWorksBeforeTheHandshake(t *testing.T) {
	f := newFrontEnd(t)
	f.send(`{"jsonrpc":"2.0","method":"workspace/didChangeConfiguration","params":{"model":{}}}`)
	f.send(`{"jsonrpc":"2.0","id":1,"method":"task/list"}`)
	f.want([]string{`{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"task/list came before initialize"}}`})
	f.close()
}

func TestARequestCanBeCancelled(t *testing.T) {
	wiretest.Write(t, "-- server demo --\n") // it never answers the handshake
	f := newFrontEnd(t)
	f.send(initialize)
	f.want([]string{initialized})
	f.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"serverName":"demo"}}`)
	f.next() // the server is starting
	f.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":99}}`)
	f.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":"?"}`)
	f.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}`)
	for m := f.next(); ; m = f.next() {
		if !strings.Contains(m, "server/changed") { // an invalid message may end it
			if want := `{"jsonrpc":"2.0","id":1,"error":{"code":-32800,"message":"the request was cancelled"}}`; !equal(m, want) {
				t.Errorf("the sidecar said %s, want %s", m, want)
			}
			break
		}
	}
	f.close()
}

func TestTheEndOfTheFrontEndEndsEverything(t *testing.T) {
	// The server ignores that its stdin closes, so that it has to be killed; and its question is open.
	wiretest.Write(t, demoAsks+`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}
`)
	f := newFrontEnd(t)
	f.send(initialize)
	f.want([]string{initialized})
	f.send(`{"jsonrpc":"2.0","id":1,"method":"task/create","params":{}}`)
	for !strings.Contains(f.next(), `"id":1,"result"`) {
		continue
	}
	f.send(`{"jsonrpc":"2.0","id":2,"method":"call/start","params":{"taskId":"id-1","serverName":"demo","request":{"type":"tools/call","toolName":"ask"}}}`)
	for !strings.Contains(f.next(), `"askId"`) {
		continue
	}
	began := time.Now()
	f.close()
	if took := time.Since(began); took > time.Minute {
		t.Errorf("the end took %v", took)
	}
}

func FuzzServe(f *testing.F) {
	f.Add("Content-Length: 2\r\n\r\n{}")
	f.Add("Content-Length: 30\r\n\r\n{\"id\":1,\"method\":\"\",\"error\":null}")
	f.Add(rpctest.Frame(initialize))
	f.Add(rpctest.Frame(initialize) + rpctest.Frame(`[{"jsonrpc":"2.0","id":1,"method":"task/list"}]`) + rpctest.Frame(`{"jsonrpc":"2.0","id":2,"result":{}}`))
	f.Fuzz(func(t *testing.T, bytes string) {
		// For any input, it ends with the input.
		_ = sharedBy(t).Attach(context.Background(), io.NopCloser(strings.NewReader(bytes)), io.Discard)
	})
}
