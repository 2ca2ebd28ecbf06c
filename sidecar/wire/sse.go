package wire

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ConnectSSE opens a connection of HTTP with SSE (2024-11-05, "Transports"). It ends at the latest
// with ctx. It calls stray for every event that is not JSON-RPC; maxFrame is as in [NewLines].
func ConnectSSE(ctx context.Context, e Endpoint, stray func(data []byte), maxFrame int) (mcp.Connection, error) {
	if maxFrame == 0 {
		maxFrame = DefaultMaxFrame
	}
	stream := &sse{endpoint: e, stray: stray, maxFrame: maxFrame}
	transport := &mcp.SSEClientTransport{
		Endpoint: e.URL.String(), MaxEventSize: maxFrame, HTTPClient: &http.Client{Transport: stream},
	}
	conn, err := transport.Connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("no events at %s: %w", e.Place(), withoutURL(err))
	}
	return sseConn{conn, stream}, nil
}

// sse is the [http.RoundTripper] of one connection. It keeps the server's messages for its [sseConn], and passes
// a notification to go-sdk's stream for each, because bytes cannot express that a message could not be read.
type sse struct {
	endpoint Endpoint
	stray    func(data []byte)
	maxFrame int

	// found is set once the URL for messages is known. Only the stream uses it.
	found bool

	mu sync.Mutex // guards the fields below
	// early holds the messages before the URL for messages. go-sdk gets nothing before that URL.
	messages, early []jsonrpc.Message
	// body is that of the stream. known is set once the server has taken a message, and lost once it has forgotten the session
	// after that.
	body        io.Closer
	known, lost bool
}

// maxEarly bounds how many messages are kept that come before the URL for messages.
const maxEarly = 16

// sseConn is go-sdk's connection, with each notification replaced by the message that it stands
// for.
type sseConn struct {
	mcp.Connection
	stream *sse
}

// Read implements [mcp.Connection].
func (c sseConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	c.stream.mu.Lock()
	if early := c.stream.early; len(early) > 0 {
		defer c.stream.mu.Unlock()
		c.stream.early = early[1:]
		return early[0], nil
	}
	c.stream.mu.Unlock()
	_, err := c.Connection.Read(ctx)
	c.stream.mu.Lock()
	defer c.stream.mu.Unlock()
	if err != nil && c.stream.lost {
		err = ErrSessionLost
	}
	if err != nil {
		return nil, err
	}
	m := c.stream.messages[0]
	c.stream.messages = c.stream.messages[1:]
	return m, nil
}

// RoundTrip implements [http.RoundTripper].
func (s *sse) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := s.endpoint.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	switch {
	case !isOK(response):
		defer response.Body.Close()
		body, err := io.ReadAll(io.LimitReader(response.Body, maxRefusal))
		if err != nil {
			return nil, err
		}
		err = newStatusError(response, body)
		if r.Method == http.MethodPost && isLost(response.StatusCode, body, false) && s.lose() {
			err = unwritable{fmt.Errorf("%w: %w", ErrSessionLost, err), response.StatusCode < 500}
		}
		return nil, err
	case r.Method == http.MethodPost:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.known = true
	case r.Method == http.MethodGet:
		if kind := kindOf(response); kind != kindEvents {
			if kind, _ = sniff(response); kind != kindEvents {
				_ = response.Body.Close() // the error quotes it
				return nil, unexpected(response)
			}
			response.Header.Set("Content-Type", kindEvents)
		}
		s.mu.Lock()
		s.body = response.Body
		s.mu.Unlock()
		stream := newEvents(response.Body, s.maxFrame, s.keep, func(m jsonrpc.Message) [][]byte { return s.put(m) })
		stream.withoutIDs = true
		response.Body = stream
	}
	return response, nil
}

// lose ends the stream of a session that the server has forgotten. It reports whether the server knew the session: else the URL
// may be wrong.
func (s *sse) lose() bool {
	s.mu.Lock()
	s.lost = s.known
	lost, body := s.lost, s.body
	s.mu.Unlock()
	if lost {
		_ = body.Close() // its reader notices the end
	}
	return lost
}

// keep keeps messages, and passes on the URL for ours, which the server sends once. The protocol has no other
// events.
func (s *sse) keep(name string, data []byte) [][]byte {
	switch {
	case name == "endpoint" && !s.found:
		s.found = true
		return [][]byte{data}
	case name == "message":
		messages := decodeAll(data)
		if len(messages) == 0 {
			s.stray(data)
		}
		if !s.found {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.early = append(s.early, messages[:min(len(messages), maxEarly-len(s.early))]...)
			return nil
		}
		return s.put(messages...)
	default:
		return nil
	}
}

// put keeps messages, and returns the notifications that replace them.
func (s *sse) put(messages ...jsonrpc.Message) [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messages = append(s.messages, messages...)
	return slices.Repeat([][]byte{[]byte(`{"jsonrpc":"2.0","method":"message"}`)}, len(messages))
}
