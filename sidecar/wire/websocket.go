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

// Subprotocol is the name of MCP in the opening handshake of a WebSocket.
const Subprotocol = "mcp"

// webSocket has one JSON-RPC message per text frame.
type webSocket struct {
	conn     *websocket.Conn
	stray    func(data []byte)
	maxFrame int
	// pending is the rest of a batch.
	pending []jsonrpc.Message
}

var _ mcp.Connection = (*webSocket)(nil)

// DialWebSocket opens a connection. Ctx bounds only the opening. It calls stray for every frame that
// is not JSON-RPC; maxFrame is as in [NewLines].
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
		return nil, newStatusError(response, body)
	case err != nil:
		return nil, fmt.Errorf("no WebSocket at %s: %w", e.Place(), withoutURL(err))
	}
	conn.SetReadLimit(maxSkipped * int64(maxFrame))
	return &webSocket{conn: conn, stray: stray, maxFrame: maxFrame}, nil
}

// SessionID implements [mcp.Connection]. A WebSocket has none.
func (w *webSocket) SessionID() string { return "" }

// Read implements [mcp.Connection].
func (w *webSocket) Read(ctx context.Context) (jsonrpc.Message, error) {
	for len(w.pending) == 0 {
		var err error
		if w.pending, err = w.frame(ctx); err == nil {
			continue
		}
		var closed websocket.CloseError
		if errors.As(err, &closed) && closed.Code == websocket.StatusNormalClosure {
			return nil, io.EOF
		}
		if errors.Is(err, websocket.ErrMessageTooBig) {
			err = fmt.Errorf("%w: %w", ErrTooLong, err)
		}
		return nil, err
	}
	m := w.pending[0]
	w.pending = w.pending[1:]
	return m, nil
}

// frame reads a frame. It returns no messages if the frame is not JSON-RPC.
func (w *webSocket) frame(ctx context.Context) ([]jsonrpc.Message, error) {
	kind, r, err := w.conn.Reader(ctx)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(r, int64(w.maxFrame)+1))
	if err != nil {
		return nil, err
	}
	if len(data) > w.maxFrame {
		m, err := skim(data, r, w.maxFrame)
		if err == nil && m == nil {
			err = fmt.Errorf("%w: a frame of more than %d bytes", ErrTooLong, w.maxFrame)
		}
		if err != nil {
			return nil, err
		}
		return []jsonrpc.Message{m}, nil
	}
	var messages []jsonrpc.Message
	if kind == websocket.MessageText {
		messages = decodeAll(data)
	}
	if len(messages) == 0 {
		w.stray(data)
	}
	return messages, nil
}

// Write implements [mcp.Connection].
func (w *webSocket) Write(ctx context.Context, m jsonrpc.Message) error {
	data, err := encode(m)
	if err != nil {
		return err
	}
	// A context that ends during a write ends the connection, so a cancelled call must not pass
	// its own.
	return w.conn.Write(context.WithoutCancel(ctx), websocket.MessageText, data)
}

// Close implements [mcp.Connection]. The library bounds the closing handshake.
func (w *webSocket) Close() error { return w.conn.Close(websocket.StatusNormalClosure, "") }
