package hub_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"assent/protocol"
	"assent/sidecar/config"
)

// rawServer is a server of raw JSON-RPC over a WebSocket that a test speaks for, frame by frame.
type rawServer struct {
	t    *testing.T
	ctx  context.Context
	conn *websocket.Conn
}

// rawFrame is what the server reads.
type rawFrame struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// serveRaw returns a server that serves each connection with a function. The connection ends with the
// function.
func serveRaw(t *testing.T, serve func(*rawServer)) config.Server {
	t.Helper()
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"mcp"}})
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.CloseNow()
		serve(&rawServer{t, r.Context(), conn})
	}))
	t.Cleanup(h.Close)
	return config.Server{Name: "s", Source: "test", Transport: protocol.TransportWS, URL: strings.Replace(h.URL, "http", "ws", 1)}
}

// read returns the next frame, or false where the client has left.
func (s *rawServer) read() (rawFrame, bool) {
	_, data, err := s.conn.Read(s.ctx)
	if err != nil {
		return rawFrame{}, false
	}
	var f rawFrame
	if err := json.Unmarshal(data, &f); err != nil {
		s.t.Errorf("the client sent %s: %v", data, err)
	}
	return f, true
}

// await reads until a frame of a method comes, and returns it.
func (s *rawServer) await(method string) rawFrame {
	for {
		f, ok := s.read()
		if !ok || f.Method == method {
			return f
		}
	}
}

// answer reads until the answer to a request comes, and returns it.
func (s *rawServer) answer(id string) rawFrame {
	for {
		f, ok := s.read()
		if !ok || f.Method == "" && string(f.ID) == id {
			return f
		}
	}
}

// write writes frames, one after the other.
func (s *rawServer) write(frames ...string) {
	for _, f := range frames {
		if err := s.conn.Write(s.ctx, websocket.MessageText, []byte(f)); err != nil {
			return // the client has left
		}
	}
}

// shake shakes hands as a legacy server.
func (s *rawServer) shake(capabilities string) {
	for {
		switch f, ok := s.read(); {
		case !ok, f.Method == "notifications/initialized":
			return
		case f.Method == "initialize":
			s.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":%s,"serverInfo":{"name":"s","version":"1"}}}`, f.ID, capabilities))
		default:
			s.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, f.ID))
		}
	}
}

// shakeModern shakes hands as a modern server.
func (s *rawServer) shakeModern() {
	f := s.await("server/discover")
	s.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}}}`, f.ID))
}

// rest reads to the end of the connection and returns a summary: methods, and the ids of answers.
func (s *rawServer) rest() (all []string) {
	for {
		f, ok := s.read()
		switch {
		case !ok:
			return all
		case f.Method != "":
			all = append(all, f.Method)
		default:
			all = append(all, "answer to "+string(f.ID))
		}
	}
}
