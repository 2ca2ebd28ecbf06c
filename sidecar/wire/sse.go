package wire

import (
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ConnectSSE opens a connection of HTTP with SSE (2024-11-05, "Transports"). It lasts no longer than
// ctx. Stray is told of every event that is not JSON-RPC; maxFrame is as of [NewLines].
func ConnectSSE(ctx context.Context, e Endpoint, stray func(data []byte), maxFrame int) (mcp.Connection, error) {
	if maxFrame == 0 {
		maxFrame = DefaultMaxFrame
	}
	transport := &mcp.SSEClientTransport{
		Endpoint: e.URL.String(), MaxEventSize: maxFrame,
		HTTPClient: &http.Client{Transport: sse{e, stray, maxFrame}},
	}
	conn, err := transport.Connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("no events at %s: %w", e.Place(), withoutURL(err))
	}
	return conn, nil
}

// sse is the way of the requests of one connection.
type sse struct {
	endpoint Endpoint
	stray    func(data []byte)
	maxFrame int
}

// RoundTrip implements [http.RoundTripper].
func (s sse) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := s.endpoint.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	switch {
	case response.StatusCode >= 300 && response.StatusCode < 400: // the client follows
	case response.StatusCode >= 300:
		defer response.Body.Close()
		body, err := io.ReadAll(io.LimitReader(response.Body, maxRefusal))
		if err != nil {
			return nil, err
		}
		return nil, newStatusError(response.StatusCode, body)
	case r.Method == http.MethodGet && kind != "text/event-stream":
		_ = response.Body.Close()
		return nil, unexpected(response.StatusCode, kind)
	case r.Method == http.MethodGet:
		response.Body = newEvents(response.Body, s.maxFrame, s.keep, keepLong)
	}
	return response, nil
}

// keep passes messages on one by one, and whatever else the protocol has.
func (s sse) keep(name string, data []byte) [][]byte {
	if name != "message" {
		return [][]byte{data}
	}
	var kept [][]byte
	for _, m := range decodeAll(data) {
		if raw, err := encode(m); err == nil {
			kept = append(kept, raw)
		}
	}
	if len(kept) == 0 {
		s.stray(data)
	}
	return kept
}

// keepLong passes on that the answer to a call was too long to be read, as an error in the server's name: go-sdk's
// stream takes nothing else. A request that was too long cannot be refused from here.
func keepLong(m jsonrpc.Message) [][]byte {
	response, ok := m.(*jsonrpc.Response)
	if !ok {
		return nil
	}
	raw, err := encode(&jsonrpc.Response{ID: response.ID, Error: &jsonrpc.Error{Code: codeTooLong, Message: response.Error.Error()}})
	if err != nil {
		return nil
	}
	return [][]byte{raw}
}
