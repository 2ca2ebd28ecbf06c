package wire_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/sidecar/wire"
)

// A server that asks faster than it reads the answers is read as slowly, from some point on; and all are answered.
func TestAServerThatDoesNotReadIsNotReadForEver(t *testing.T) {
	const most, many = 4096, 20_000
	for name, method := range map[string]string{"requests of ours": "ask", "requests of go-sdk's": "ping"} {
		t.Run(name, func(t *testing.T) {
			c, p := connectLines(t, wire.Options{Serve: map[string]wire.Handler{
				"ask": handler(func(context.Context, json.RawMessage) (any, error) { return "yes", nil }),
			}}, func([]byte) {}, 0)
			defer c.Close()
			queue := make(chan jsonrpc.ID, many)
			go func() { // go-sdk reads whatever comes, and answers one after the other
				defer close(queue)
				for {
					m, err := c.Read(context.Background())
					if err != nil {
						return
					}
					queue <- m.(*jsonrpc.Request).ID
				}
			}()
			go func() {
				for id := range queue {
					_ = c.Write(context.Background(), &jsonrpc.Response{ID: id, Result: json.RawMessage(`"yes"`)}) // or the end
				}
			}()
			var sent atomic.Int64
			enough, all := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(all)
				for i := range many {
					if _, err := fmt.Fprintf(p.out, `{"jsonrpc":"2.0","id":%d,"method":%q}`+"\n", i, method); err != nil {
						return
					}
					if sent.Add(1) == most {
						close(enough)
					}
				}
			}()
			<-enough
			for answered := range int64(many) {
				// What is in buffers was read as well.
				if ahead := sent.Load() - answered; ahead > most+2000 {
					t.Fatalf("%d were read after the last answer", ahead)
				}
				if _, err := p.in.ReadString('\n'); err != nil {
					t.Fatal(err)
				}
			}
			<-all
		})
	}
}
