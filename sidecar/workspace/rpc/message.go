package rpc

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/sourcegraph/jsonrpc2"
)

// cancelRequest is the notification that cancels a request, in either direction.
const cancelRequest = "$/cancelRequest"

type cancelParams struct {
	ID jsonrpc2.ID `json:"id"`
}

// refusal answers an invalid frame. Its id is null if none could be read, which a [jsonrpc2.Response] cannot express.
type refusal struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Error   *jsonrpc2.Error `json:"error"`
}

// envelope is a message with raw members.
type envelope struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
}

// id returns the id, or an error if a [jsonrpc2.ID] cannot hold it.
func (e *envelope) id() (id jsonrpc2.ID, err error) {
	if json.Unmarshal(e.ID, &id) != nil {
		return id, errors.New("its id is neither a whole number nor a text")
	}
	return id, nil
}

// findID returns the id at the top level of a message, which may be incomplete, or null.
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
