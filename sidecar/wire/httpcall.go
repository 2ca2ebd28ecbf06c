package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// Call sends a request beside those of go-sdk, and returns the raw result. The session must have begun. The errors are
// those of [Conn.Call].
func (h *HTTP) Call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx) // ends a stream that goes on after the answer
	defer cancel()
	ctx, capture := WithCapture(beside(ctx))
	r, err := h.newCall(ctx, method, raw)
	if err != nil {
		return nil, err
	}
	response, err := h.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	buffer := make([]byte, 4<<10)
	for {
		switch got := capture.Answer(); {
		case got.Error != nil:
			return nil, got.Error
		case got.Result != nil:
			return got.Result, nil
		case got.Failure != nil:
			return nil, got.Failure
		case err != nil && err != io.EOF:
			return nil, err
		case err != nil:
			return nil, errors.New("its answer broke off")
		}
		_, err = response.Body.Read(buffer) // this captures the answer
	}
}

// firstHTTPCall is the number before the id of the first [HTTP.Call]. The ids after [firstCall] are those of [HTTP.Probe].
const firstHTTPCall = firstCall + 100_000_000

// newCall makes an HTTP request with the headers that go-sdk would set (2026-07-28, "Transports: Standard Headers"; for
// tasks, those of the extension).
func (h *HTTP) newCall(ctx context.Context, method string, params json.RawMessage) (*http.Request, error) {
	h.mu.Lock()
	h.lastCall++
	session, version := h.session, h.version
	id, err := jsonrpc.MakeID(float64(firstHTTPCall + h.lastCall))
	h.mu.Unlock()
	if err != nil {
		return nil, err
	}
	body, err := encode(&jsonrpc.Request{ID: id, Method: method, Params: params})
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.opts.Endpoint.URL.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", version)
	if session != "" {
		r.Header.Set(sessionHeader, session)
	}
	if version >= ModernVersion {
		r.Header.Set("Mcp-Method", method)
		var named struct {
			TaskID string `json:"taskId"`
		}
		if json.Unmarshal(params, &named) == nil && named.TaskID != "" {
			r.Header.Set("Mcp-Name", named.TaskID)
		}
	}
	return r, nil
}
