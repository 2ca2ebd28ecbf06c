package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/coder/websocket"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Subprotocol is what MCP over a WebSocket is called in the opening handshake.
const Subprotocol = "mcp"

// webSocket is one JSON-RPC message a text frame.
type webSocket struct {
	conn  *websocket.Conn
	stray func(data []byte)
	// pending is the rest of a batch.
	pending []jsonrpc.Message
}

var _ mcp.Connection = (*webSocket)(nil)

// DialWebSocket opens a connection. Ctx bounds the opening only. Stray is told of every frame that is
// not JSON-RPC; maxFrame is as of [NewLines].
func DialWebSocket(ctx context.Context, e Endpoint, stray func(data []byte), maxFrame int) (mcp.Connection, error) {
	if maxFrame == 0 {
		maxFrame = DefaultMaxFrame
	}
	conn, response, err := websocket.Dial(ctx, e.URL.String(), &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: e}, Subprotocols: []string{Subprotocol},
	})
	switch {
	case err != nil && response != nil && response.StatusCode != http.StatusSwitchingProtocols:
		body, readErr := io.ReadAll(io.LimitReader(response.Body, maxRefusal))
		if readErr != nil {
			return nil, readErr
		}
		return nil, newStatusError(response.StatusCode, body)
	case err != nil:
		return nil, fmt.Errorf("no WebSocket at %s: %w", e.Place(), withoutURL(err))
	}
	conn.SetReadLimit(int64(maxFrame))
	return &webSocket{conn: conn, stray: stray}, nil
}

// SessionID implements [mcp.Connection]; a WebSocket has none.
func (w *webSocket) SessionID() string { return "" }

// Read implements [mcp.Connection].
func (w *webSocket) Read(ctx context.Context) (jsonrpc.Message, error) {
	for len(w.pending) == 0 {
		kind, data, err := w.conn.Read(ctx)
		if err != nil {
			var closed websocket.CloseError
			if errors.As(err, &closed) && closed.Code == websocket.StatusNormalClosure {
				return nil, io.EOF
			}
			if errors.Is(err, websocket.ErrMessageTooBig) {
				err = fmt.Errorf("%w: %w", ErrTooLong, err)
			}
			return nil, err
		}
		if kind == websocket.MessageText {
			w.pending = decodeAll(data)
		}
		if len(w.pending) == 0 {
			w.stray(data)
		}
	}
	m := w.pending[0]
	w.pending = w.pending[1:]
	return m, nil
}

// Write implements [mcp.Connection].
func (w *webSocket) Write(ctx context.Context, m jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	// A write that its context cuts short ends the connection; a call that is given up must not.
	return w.conn.Write(context.WithoutCancel(ctx), websocket.MessageText, data)
}

// Close implements [mcp.Connection]. The closing handshake is bounded by the library.
func (w *webSocket) Close() error { return w.conn.Close(websocket.StatusNormalClosure, "") }
