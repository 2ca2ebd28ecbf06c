package exchange_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"assent/sidecar/hub/exchange"
)

// TestAPersonHearsOfAnAnswerThatCannotBeRead: the call waits until the person ends it, as there is no time limit.
func TestAPersonHearsOfAnAnswerThatCannotBeRead(t *testing.T) {
	const told = `The MCP server "s" wrote something that is no whole MCP message, while a call waits for its answer: `
	for _, tt := range []struct {
		name   string
		frames []string
		want   []string
	}{
		{"a log before it", []string{`Loading… {"jsonrpc":"2.0","id":2,"result":{}}`}, []string{told + `Loading… {"jsonrpc":"2.0","id":2,"result":{}}`}},
		{"several lines", []string{"{", `  "jsonrpc": "2.0"`, "}"}, []string{told + `{ "jsonrpc": "2.0" }`}},
		{"an id of nothing", []string{`{"jsonrpc":"2.0","id":"x","result":{}}`}, []string{told + `{"jsonrpc":"2.0","id":"x","result":{}}`}},
		{"nothing odd", nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, func(p *peer) {
					p.shake(`{"tools":{}}`)
					p.await("tools/call")
					for _, text := range tt.frames {
						if err := p.conn.Write(context.Background(), websocket.MessageText, []byte(text)); err != nil {
							p.t.Error(err)
						}
					}
					p.rest()
				})
				ctx, cancel := context.WithCancel(t.Context())
				end := f.call(ctx, exchange.Hooks{})
				time.Sleep(5 * time.Second) // of the bubble
				if diff := cmp.Diff(tt.want, f.notices()); diff != "" {
					t.Errorf("notices (-want +got):\n%s", diff)
				}
				cancel()
				<-end
			})
		})
	}
}

// TestAPersonHearsOfAStartThatCannotBeRead: a list waits for the handshake, too, which has two minutes.
func TestAPersonHearsOfAStartThatCannotBeRead(t *testing.T) {
	const told = `It waits for the result of the handshake, after it wrote something that is no whole MCP message: `
	for _, tt := range []struct {
		name  string
		frame string
		pause time.Duration
		want  []string
	}{
		{"a text", "Ready to serve", 10 * time.Second, []string{told + "Ready to serve."}},
		{"a text, and the answer soon after", "Ready to serve", time.Second, nil},
		{"nothing odd", "", 10 * time.Second, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, func(p *peer) {
					if tt.frame != "" {
						if err := p.conn.Write(context.Background(), websocket.MessageText, []byte(tt.frame)); err != nil {
							p.t.Error(err)
						}
					}
					time.Sleep(tt.pause) // of the bubble
					p.shake(`{"tools":{}}`)
					p.done(p.await("tools/call"))
					p.rest()
				})
				<-f.call(t.Context(), exchange.Hooks{})
				synctest.Wait()
				f.mu.Lock()
				defer f.mu.Unlock()
				if diff := cmp.Diff(tt.want, f.starting); diff != "" {
					t.Errorf("the server's state (-want +got):\n%s", diff)
				}
			})
		})
	}
}
