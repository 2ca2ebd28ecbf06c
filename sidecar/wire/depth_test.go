package wire_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"assent/sidecar/wire"
)

// deep are more nested arrays than this package reads, and more than encoding/json does.
var deep = map[string]string{"deep": nested(1000), "without bounds": nested(100_000)}

func TestARequestThatIsNestedTooDeepIsRefusedAlone(t *testing.T) {
	for name, params := range deep {
		for _, line := range []string{
			`{"jsonrpc":"2.0","id":%s,"method":"ask","params":` + params + `}`,
			`{"params":{"}":` + params[1:len(params)-1] + `},"method":"nobody's","id":%s,"jsonrpc":"2.0"}`,
			`{"jsonrpc":"2.0","nobody's":` + params + `,"id":%s,"method":"ping"}`,
		} {
			t.Run(name, func(t *testing.T) {
				c, peer := connect(t, wire.Options{Serve: map[string]wire.Handler{
					"ask": handler(func(_ context.Context, params json.RawMessage) (any, error) { return len(params), nil }),
				}})
				defer c.Close()
				for _, id := range []string{"1", `"a\"b"`} {
					peer.send(fmt.Sprintf(line, id))
					peer.want(`{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32602,"message":"the request is nested more than 1000 deep, and no deeper is read"}}`)
				}
				peer.send(`{"jsonrpc":"2.0","id":2,"method":"ask","params":` + nested(999) + `}`)
				peer.want(`{"jsonrpc":"2.0","id":2,"result":1998}`)
			})
		}
	}
}

func TestAnAnswerThatIsNestedTooDeepFailsItsCallAlone(t *testing.T) {
	for name, value := range deep {
		for _, answer := range []string{`"result":` + value, `"method":"ask","result":` + value, `"error":{"code":1,"message":"m","data":` + value[1:len(value)-1] + `}`} {
			t.Run(name, func(t *testing.T) {
				c, peer := connect(t, wire.Options{})
				defer c.Close()
				call := func(id, answer string) error {
					failed := make(chan error, 1)
					go func() {
						_, err := c.Call(t.Context(), "ask", nil)
						failed <- err
					}()
					peer.want(`{"jsonrpc":"2.0","id":` + id + `,"method":"ask","params":null}`)
					peer.send(`{"jsonrpc":"2.0","id":` + id + `,` + answer + `}`)
					return <-failed
				}
				if err := call(`1000000001`, answer); !errors.Is(err, wire.ErrTooDeep) {
					t.Errorf("the call ended with %v", err)
				}
				if err := call(`1000000002`, `"result":`+nested(999)); err != nil {
					t.Errorf("the call after it ended with %v", err)
				}
			})
		}
	}
}

func TestANotificationThatIsNestedTooDeepComesWithoutItsParams(t *testing.T) {
	told := make(chan string, 2)
	c, peer := connect(t, wire.Options{Notify: map[string]func(json.RawMessage){
		"news": func(params json.RawMessage) { told <- string(params) },
	}})
	defer c.Close()
	for _, method := range []string{"news", "nobody's"} {
		peer.send(`{"jsonrpc":"2.0","method":"` + method + `","params":` + nested(1000) + `}`)
	}
	peer.send(`{"jsonrpc":"2.0","method":"news","params":{"n":1}}`)
	for _, want := range []string{"", `{"n":1}`} {
		if got := <-told; got != want {
			t.Errorf("told %.100q, want %q", got, want)
		}
	}
}

// A line that is not a message is dropped, also if it is nested too deep.
func TestADeeplyNestedLineThatIsNotAMessageIsDropped(t *testing.T) {
	for _, line := range []string{
		nested(100_000),
		`{"jsonrpc":"2.0","method":"half","params":` + nested(1000),
		`{"id":1,"method":"record","params":` + nested(1000) + `}`,
		`{"jsonrpc":"2.0","id":` + nested(1000) + `,"method":"m"}`,
	} {
		if got := readAll(t, line+"\n"); len(got) > 0 {
			t.Errorf("%.60s… is read as %+v", line, got)
		}
	}
}
