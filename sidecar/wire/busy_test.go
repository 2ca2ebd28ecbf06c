package wire_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"assent/sidecar/wire"
)

// A server that asks faster than its requests are refused has to wait. Requests that are accepted have bounds of their own.
func TestOnlySoManyRequestsAreWorkedOn(t *testing.T) {
	const many = 1000
	for _, tt := range []struct {
		name     string
		accepted bool
		want     int64
	}{
		{"requests that are worked on", false, 256},
		{"requests that wait for a person", true, many},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var running atomic.Int64
				release := make(chan struct{})
				c, p := connectLines(t, wire.Options{Serve: map[string]wire.Handler{
					"ask": handler(func(ctx context.Context, _ json.RawMessage) (any, error) {
						running.Add(1)
						if tt.accepted {
							wire.Accept(ctx)
							wire.Accept(ctx) // again, it does nothing
						}
						<-release
						return "no", nil
					}),
				}}, func([]byte) {}, 0)
				go func() {
					for {
						if _, err := c.Read(context.Background()); err != nil {
							return
						}
					}
				}()
				go func() {
					for i := range many {
						if _, err := fmt.Fprintf(p.out, `{"jsonrpc":"2.0","id":%d,"method":"ask"}`+"\n", i); err != nil {
							return
						}
					}
				}()
				synctest.Wait()
				if got := running.Load(); got != tt.want {
					t.Errorf("%d requests are worked on, want %d", got, tt.want)
				}
				close(release)
				for range many {
					if _, err := p.in.ReadString('\n'); err != nil {
						t.Fatal(err)
					}
				}
				if got := running.Load(); got != many {
					t.Errorf("%d requests were worked on, of %d", got, many)
				}
				_ = c.Close()
				synctest.Wait()
			})
		})
	}
}
