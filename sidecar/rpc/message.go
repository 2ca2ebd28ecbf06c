package rpc

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/sourcegraph/jsonrpc2"
)

// version is the version of JSON-RPC that every message names.
const version = "2.0"

// cancelRequest is the notification that cancels a request, in either direction.
const cancelRequest = "$/cancelRequest"

type cancelParams struct {
	ID jsonrpc2.ID `json:"id"`
}

type notification struct {
	JSONRPC string `json:"jsonrpc"`
	Method  string `json:"method"`
	Params  any    `json:"params,omitempty"`
}

type response struct {
	JSONRPC string      `json:"jsonrpc"`
	ID      jsonrpc2.ID `json:"id"`
	Result  any         `json:"result"`
}

// failure answers a request with an error. The id is null where none could be read.
type failure struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      any             `json:"id"`
	Error   *jsonrpc2.Error `json:"error"`
}

// envelope is what there is to know of a message before anyone looks into it.
type envelope struct {
	ID     json.RawMessage `json:"id"`
	Method *string         `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// isRequest tells whether it is a request or a notification, and nothing else as well; as the library sees it, which
// must not find one in what is left to it.
func (e *envelope) isRequest() bool {
	return e.Method != nil && e.Result == nil && (e.Error == nil || string(e.Error) == "null")
}

// request is a request, or a notification.
type request struct {
	id     jsonrpc2.ID
	notif  bool
	method string
	params json.RawMessage
}

func (e *envelope) request() (*request, error) {
	r := &request{method: *e.Method, params: e.Params}
	if r.notif = e.ID == nil || string(e.ID) == "null"; r.notif {
		return r, nil
	}
	if r.id.UnmarshalJSON(e.ID) != nil {
		return nil, errors.New("its id is neither a whole number nor a text")
	}
	return r, nil
}

// findID returns the id at the top of a message, of which the end may be missing, or null.
func findID(frame []byte) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(frame))
	if token, err := d.Token(); err != nil || token != json.Delim('{') {
		return json.RawMessage("null")
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			break
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			break
		}
		if name == "id" {
			return value
		}
	}
	return json.RawMessage("null")
}
