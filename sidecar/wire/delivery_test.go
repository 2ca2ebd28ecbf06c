package wire_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/sidecar/wire"
)

func TestTheDeliveryOfAnAnswerIsReported(t *testing.T) {
	const withdrawal = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q"}}`
	for _, tt := range []struct {
		name string
		// act runs while the request is served.
		act    func(ctx context.Context, c *wire.Conn, p *peer)
		answer error // of the handler
		want   error
		sent   string // to the server
	}{
		{"the server gets it", func(context.Context, *wire.Conn, *peer) {}, nil, nil, `{"jsonrpc":"2.0","id":"q","result":"yes"}`},
		{"the server gets an error", func(context.Context, *wire.Conn, *peer) {}, &jsonrpc.Error{Code: -1, Message: "no"}, nil, `{"jsonrpc":"2.0","id":"q","error":{"code":-1,"message":"no"}}`},
		{"there is none", func(context.Context, *wire.Conn, *peer) {}, wire.ErrNoAnswer, wire.ErrNoAnswer, ""},
		{"the server withdraws", func(ctx context.Context, _ *wire.Conn, p *peer) {
			p.send(withdrawal)
			<-ctx.Done()
		}, nil, wire.ErrCancelled, ""},
		{"the connection ends", func(ctx context.Context, c *wire.Conn, _ *peer) {
			c.Lose(errors.New("enough"))
			<-ctx.Done()
		}, nil, wire.ErrClosed, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			told := make(chan error, 2)
			var c *wire.Conn
			var p *peer
			serving := make(chan struct{})
			c, p = connect(t, wire.Options{Serve: map[string]wire.Handler{
				"ask": func(ctx context.Context, _ json.RawMessage) func() (any, error) {
					wire.WhenDelivered(ctx, func(err error) { told <- err })
					return func() (any, error) {
						<-serving
						tt.act(ctx, c, p)
						return "yes", tt.answer
					}
				},
			}})
			read(t, c)
			p.send(`{"jsonrpc":"2.0","id":"q","method":"ask"}`)
			close(serving)
			if tt.sent != "" {
				p.want(tt.sent)
			}
			if err := <-told; !errors.Is(err, tt.want) {
				t.Errorf("told %v, want %v", err, tt.want)
			}
			var calling sync.WaitGroup
			if tt.sent == "" && c.Err() == nil { // no message arrived before the next one
				calling.Go(func() { _, _ = c.Call(t.Context(), "next", nil) }) // ends with the connection
				var next struct{ Method string }
				line, err := p.in.ReadString('\n')
				if err != nil || json.Unmarshal([]byte(line), &next) != nil || next.Method != "next" {
					t.Errorf("the server got %s, %v", line, err)
				}
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			calling.Wait()
			if len(told) > 0 {
				t.Errorf("told again: %v", <-told)
			}
		})
	}
}

// The answer to a call and a later request arrive at once. The caller gets the answer first.
func TestAnAnswerIsToldBeforeWhatFollowsIt(t *testing.T) {
	var order []string // only the reader appends to it
	served := make(chan struct{})
	c, p := connect(t, wire.Options{Serve: map[string]wire.Handler{
		"ask": func(context.Context, json.RawMessage) func() (any, error) {
			order = append(order, "ask")
			close(served)
			return func() (any, error) { return nil, wire.ErrNoAnswer }
		},
	}})
	read(t, c)
	ctx, capture := wire.WithCapture(t.Context())
	capture.WhenAnswered(func(a wire.Answer) { order = append(order, string(a.Result)) })
	id, err := jsonrpc.MakeID("c")
	if err != nil {
		t.Fatal(err)
	}
	sent := make(chan error, 1)
	go func() { sent <- c.Write(ctx, &jsonrpc.Request{ID: id, Method: "tools/call"}) }()
	p.want(`{"jsonrpc":"2.0","id":"c","method":"tools/call"}`)
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	p.send(`{"jsonrpc":"2.0","id":"c","result":"done"}` + "\n" + `{"jsonrpc":"2.0","id":"q","method":"ask"}`)
	<-served
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{`"done"`, "ask"}, order); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}
