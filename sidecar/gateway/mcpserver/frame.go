package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"assent/sidecar/base/jsonscan"
)

// DefaultMaxFrame is the greatest frame that a host may send, in bytes.
const DefaultMaxFrame = 16 << 20

// frame is a JSON-RPC message of a host.
type frame struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
}

func (f *frame) isRequest() bool      { return f.Method != "" && f.ID != nil }
func (f *frame) isNotification() bool { return f.Method != "" && f.ID == nil }

// decode reads one frame. The error is for the host, with the frame's id if that can be read.
func decode(data []byte) (f *frame, id json.RawMessage, err *Error) {
	if !json.Valid(data) {
		return nil, nil, errorf(CodeParse, "the message is not JSON")
	}
	f = &frame{}
	var members struct {
		ID     json.RawMessage `json:"id"`
		Method json.RawMessage `json:"method"`
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	isRead := jsonscan.Unmarshal(data, &members) == nil
	isResponse := members.Method == nil && (members.Result != nil || members.Error != nil) // its id is ours
	if isRead && !isResponse && members.ID != nil && isID(members.ID) {
		id = members.ID
	}
	if err := jsonscan.Unmarshal(data, f); err != nil {
		return nil, id, errorf(CodeInvalidRequest, "the message is not a JSON-RPC object")
	}
	return f, id, f.check()
}

// check returns the fault of a frame, or nil.
func (f *frame) check() *Error {
	switch {
	case f.JSONRPC != "2.0":
		return errorf(CodeInvalidRequest, `the message has no "jsonrpc": "2.0"`)
	case f.ID != nil && !isID(f.ID):
		return errorf(CodeInvalidRequest, "the id is neither a string nor a number")
	case f.Method == "" && f.Result == nil && f.Error == nil:
		return errorf(CodeInvalidRequest, "the message has no method")
	case f.Method == "" && (f.Result == nil) == (f.Error == nil):
		return errorf(CodeInvalidRequest, "a response has either a result or an error")
	case f.Params != nil && f.Params[0] != '{' && !bytes.Equal(f.Params, []byte("null")):
		return errorf(CodeInvalidParams, "params is not an object")
	}
	if f.Params == nil || f.Params[0] != '{' {
		f.Params = json.RawMessage("{}")
	}
	return nil
}

// badFrame is a frame that is not served: its id if that can be read, and the error for the host.
type badFrame struct {
	id  json.RawMessage
	err *Error
}

// byteOrderMark is in front of what some hosts of .NET and PowerShell write.
var byteOrderMark = []byte("\ufeff")

// Messages returns the messages of a host in a line or a body: the parts of a batch, or the whole. Only 2025-03-26 has batches,
// but their meaning is clear in each revision. Of an empty line there are none.
func Messages(data []byte) []json.RawMessage {
	data = bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(data), byteOrderMark))
	var parts []json.RawMessage
	switch {
	case len(data) == 0:
		return nil
	case data[0] == '[' && json.Unmarshal(data, &parts) == nil && len(parts) > 0:
		return parts
	}
	return []json.RawMessage{data}
}

// decodeAll reads the messages of a host. Each is read on its own.
func decodeAll(data []byte) (frames []*frame, bad []badFrame) {
	for _, part := range Messages(data) {
		f, id, err := decode(part)
		if err != nil {
			bad = append(bad, badFrame{id, err})
			continue
		}
		frames = append(frames, f)
	}
	return frames, bad
}

func isID(id json.RawMessage) bool {
	return id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9'
}

// Frames are built by hand, because encoding/json would encode the raw parts again.

func resultFrame(id, result json.RawMessage) []byte {
	return slices.Concat(json.RawMessage(`{"jsonrpc":"2.0","id":`), id, json.RawMessage(`,"result":`), result, json.RawMessage("}"))
}

// errorFrame returns the response with an error. The id is nil if it is not known.
func errorFrame(id json.RawMessage, err *Error) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	text, _ := encode(err) // its data is valid JSON
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":%s}`, id, text)
}

func notificationFrame(method string, params json.RawMessage) []byte {
	name, _ := json.Marshal(method)
	if params == nil {
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%s}`, name)
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%s,"params":%s}`, name, params)
}

func requestFrame(id int64, method string, params json.RawMessage) []byte {
	name, _ := json.Marshal(method)
	if params == nil {
		params = json.RawMessage("{}")
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":%s,"params":%s}`, id, name, params)
}

// encode encodes a value as JSON. Raw JSON in it keeps its signs, of which [json.Marshal] would escape some.
func encode(v any) (json.RawMessage, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
