package wire_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/sidecar/wire"
)

// maxFrame is small for the tests, but larger than the buffer for lines.
const maxFrame = 100_000

func TestARequestThatIsTooLongIsRefusedAlone(t *testing.T) {
	params := func(rest string) string {
		return `{"messages":[{"id":9,"method":"no"}],"text":"` + strings.Repeat(`}{\"id\":8,`, maxFrame/10) + `"` + rest + `}`
	}
	tests := []struct {
		name, line, id string
	}{
		{"the params last", `{"jsonrpc":"2.0","id":1,"method":"ask","params":` + params("") + `}`, "1"},
		{"the params first", `{"params":` + params("") + `,"method":"ask","id":"a\"b","jsonrpc":"2.0"}`, `"a\"b"`},
		{"the params between", ` { "id" : 7 , "params" : ` + params(` , "nested" : [[{}], "]"] `) + ` , "jsonrpc" : "2.0" , "method" : "ask" } `, "7"},
		{"a member that nobody knows", `{"jsonrpc":"2.0","more":"` + strings.Repeat("x", maxFrame) + `","id":2,"method":"ask","params":{}}`, "2"},
		{"names with escapes", `{"jsonrpc":"2.0","\u0069d":3,"method":"\u0061sk","params":` + params("") + `}`, "3"},
		{"a method that nobody serves", `{"jsonrpc":"2.0","id":4,"method":"other","params":` + params("") + `}`, "4"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				served := make(chan json.RawMessage, 2)
				c, peer := connectLines(t, wire.Options{Serve: map[string]wire.Handler{
					"ask": handler(func(_ context.Context, params json.RawMessage) (any, error) {
						served <- params
						return "yes", nil
					}),
				}}, func(line []byte) { t.Errorf("stray line of %d bytes", len(line)) }, maxFrame)
				defer c.Close()
				peer.send(tt.line)
				peer.want(fmt.Sprintf(
					`{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"the request has %d bytes, and no more than %d are read","data":{"bytes":%d,"max":%d}}}`,
					tt.id, len(tt.line)+1, maxFrame, len(tt.line)+1, maxFrame))
				peer.send(`{"jsonrpc":"2.0","id":"next","method":"ask","params":{"n":1}}`)
				peer.want(`{"jsonrpc":"2.0","id":"next","result":"yes"}`)
				if params := <-served; string(params) != `{"n":1}` || len(served) > 0 {
					t.Errorf("served %.100s", params)
				}
			})
		})
	}
}

func TestAnAnswerThatIsTooLongFailsItsCallAlone(t *testing.T) {
	long := `"` + strings.Repeat("x", maxFrame) + `"`
	for name, line := range map[string]string{
		"a result":     `{"jsonrpc":"2.0","id":1000000001,"result":` + long + `}`,
		"an id behind": `{"result":{"id":7,"result":[` + long + `]},"id":1000000001,"jsonrpc":"2.0"}`,
		"an error":     `{"jsonrpc":"2.0","id":1000000001,"error":{"code":1,"message":` + long + `}}`,
		"a method too": `{"jsonrpc":"2.0","id":1000000001,"method":"ask","result":` + long + `}`,
	} {
		t.Run(name, func(t *testing.T) {
			c, peer := connectLines(t, wire.Options{}, func(line []byte) { t.Errorf("stray line of %d bytes", len(line)) }, maxFrame)
			defer c.Close()
			failed := make(chan error, 1)
			go func() {
				_, err := c.Call(t.Context(), "ask", nil)
				failed <- err
			}()
			peer.want(`{"jsonrpc":"2.0","id":1000000001,"method":"ask","params":null}`)
			peer.send(line)
			var over *wire.TooLongError
			if err := <-failed; !errors.As(err, &over) || over.Size != len(line)+1 || over.Max != maxFrame {
				t.Fatalf("the call ended with %v, want %d bytes", err, len(line)+1)
			}
			go func() {
				_, err := c.Call(t.Context(), "ask", nil)
				failed <- err
			}()
			peer.want(`{"jsonrpc":"2.0","id":1000000002,"method":"ask","params":null}`)
			peer.send(`{"jsonrpc":"2.0","id":1000000002,"result":{}}`)
			if err := <-failed; err != nil {
				t.Errorf("the call after it ended with %v", err)
			}
		})
	}
}

func TestANotificationThatIsTooLongComesWithoutItsParams(t *testing.T) {
	told := make(chan string, 2)
	c, peer := connectLines(t, wire.Options{Notify: map[string]func(json.RawMessage){
		"news": func(params json.RawMessage) { told <- string(params) },
	}}, func(line []byte) { t.Errorf("stray line of %d bytes", len(line)) }, maxFrame)
	defer c.Close()
	for _, method := range []string{"news", "nobody's"} {
		peer.send(`{"jsonrpc":"2.0","method":"` + method + `","params":{"text":"` + strings.Repeat("x", maxFrame) + `"}}`)
	}
	peer.send(`{"jsonrpc":"2.0","method":"news","params":{"n":1}}`)
	for _, want := range []string{"", `{"n":1}`} {
		if got := <-told; got != want {
			t.Errorf("told %.100q, want %q", got, want)
		}
	}
}

func TestOtherOversizedLinesEndTheConnection(t *testing.T) {
	long := `"` + strings.Repeat("x", maxFrame) + `"`
	tests := []struct{ name, line string }{
		{"a result of no call", `{"jsonrpc":"2.0","result":` + long + `}`},
		{"a result and nothing else", `{"result":` + long + `}`},
		{"a batch", `[{"jsonrpc":"2.0","id":1,"method":"m","params":` + long + `}]`},
		{"no JSON-RPC", `{"id":1,"method":"m","params":` + long + `}`},
		{"an id that is none", `{"jsonrpc":"2.0","id":{},"method":"m","params":` + long + `}`},
		{"an id that is too long", `{"jsonrpc":"2.0","id":` + long + `,"method":"m"}`},
		{"a method that is too long", `{"jsonrpc":"2.0","id":1,"method":` + long + `}`},
		{"no JSON", strings.Repeat("x", maxFrame+1)},
		{"two messages on a line", `{"jsonrpc":"2.0","id":1,"method":"m","params":` + long + `}{}`},
		{"half a message", `{"jsonrpc":"2.0","id":1,"method":"m","params":` + long},
		{"a request that is much too long", `{"jsonrpc":"2.0","id":1,"method":"m","params":"` + strings.Repeat("x", 16*maxFrame) + `"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, peer := connectLines(t, wire.Options{}, func(line []byte) {}, maxFrame)
			var writing sync.WaitGroup
			defer writing.Wait()
			defer c.Close()
			writing.Go(func() {
				// After the end, the write may fail.
				if _, err := peer.out.Write([]byte(tt.line + "\n")); err != nil {
					t.Log(err)
				}
			})
			<-c.Done()
			if err := c.Err(); !errors.Is(err, wire.ErrTooLong) || !strings.Contains(err.Error(), fmt.Sprint(maxFrame)) {
				t.Errorf("the connection ended with %v", err)
			}
		})
	}
}

// The envelope of a dropped line has the values that decoding the line would have returned.
func FuzzALineThatIsTooLong(f *testing.F) {
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":["}"]}}`)
	f.Add(`{"params":[[],{}],"method":"m\"","id":"\\","jsonrpc":"2.0"}`)
	f.Add(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	f.Add(`{"result":{}}`)
	f.Fuzz(func(t *testing.T, line string) {
		read := func(maxFrame int) *jsonrpc.Request {
			stream := pipes{strings.NewReader(line + "\n"), nil, nil}
			m, err := wire.NewLines(stream, func([]byte) {}, maxFrame).Read(t.Context())
			if err != nil && !errors.Is(err, wire.ErrTooLong) && !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			r, _ := m.(*jsonrpc.Request)
			return r
		}
		kept := read(0)
		if kept == nil || !kept.IsCall() || !plain(line) {
			read(1)
			return
		}
		skipped := read(1 + len(line)/2)
		if skipped == nil || skipped.ID != kept.ID || skipped.Method != kept.Method {
			t.Errorf("%q is %v, want %v", line, skipped, kept)
		}
	})
}

// plain reports whether a message has each member once, by its exact name, and none of a response's. If
// names repeat, or differ only in case, either value may be used.
func plain(line string) bool {
	lower := strings.ToLower(line)
	for _, name := range []string{"jsonrpc", "id", "method"} {
		if strings.Count(lower, name) != 1 || strings.Count(line, name) != 1 {
			return false
		}
	}
	return len(line) < 1000 && !strings.ContainsAny(line, "\n[\u017f\u212a") &&
		!strings.Contains(lower, "result") && !strings.Contains(lower, "error") && !strings.Contains(lower, `\u`)
}
