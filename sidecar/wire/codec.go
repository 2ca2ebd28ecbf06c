package wire

import (
	"bytes"
	"encoding/json"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/sidecar/members"
)

// This is JSON-RPC as every transport here reads and writes it. go-sdk's own codec tries each message as a
// batch first, with a buffer of 32 kB for each try.

// decodeAll reads a message or, of 2025-03-26, a batch of them. It returns nothing where the data is
// neither.
func decodeAll(data []byte) []jsonrpc.Message {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || data[0] != '[' {
		if m := decode(data); m != nil {
			return []jsonrpc.Message{m}
		}
		return nil
	}
	var batch []json.RawMessage
	if json.Unmarshal(data, &batch) != nil {
		return nil
	}
	var messages []jsonrpc.Message
	for _, raw := range batch {
		if m := decode(raw); m != nil {
			messages = append(messages, m)
		}
	}
	return messages
}

// decode reads a message, or returns nil where the line is none. What is raw in it is the line's own memory. One that
// is nested too deep is as [envelope.message] has it.
func decode(line []byte) jsonrpc.Message {
	if len(line) == 0 || line[0] != '{' {
		return nil
	}
	if isTooDeep(line) {
		var e envelope
		e.add(line)
		return e.message(unreadDeep(), ErrTooDeep)
	}
	if !json.Valid(line) {
		return nil
	}
	var f struct{ version, id, method, params, result, err json.RawMessage }
	for name, value := range members.Of(line) {
		switch name {
		case "jsonrpc":
			f.version = value
		case "id":
			f.id = value
		case "method":
			f.method = value
		case "params":
			f.params = value
		case "result":
			f.result = value
		case "error":
			f.err = value
		}
	}
	if string(f.version) != `"2.0"` {
		return nil
	}
	id, err := makeID(f.id)
	if err != nil {
		return nil
	}
	var method string
	if f.method != nil && json.Unmarshal(f.method, &method) != nil {
		return nil
	}
	if method != "" {
		return &jsonrpc.Request{ID: id, Method: method, Params: f.params}
	}
	if !id.IsValid() {
		return nil
	}
	if f.err != nil && string(f.err) != "null" {
		refusal := &jsonrpc.Error{}
		if json.Unmarshal(f.err, refusal) != nil {
			return nil
		}
		return &jsonrpc.Response{ID: id, Error: refusal}
	}
	if f.result == nil {
		return nil
	}
	return &jsonrpc.Response{ID: id, Result: f.result}
}

func makeID(raw json.RawMessage) (jsonrpc.ID, error) {
	if len(raw) == 0 {
		return jsonrpc.ID{}, nil
	}
	if n, err := strconv.ParseFloat(string(raw), 64); err == nil {
		return jsonrpc.MakeID(n)
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return jsonrpc.ID{}, err
	}
	return jsonrpc.MakeID(v)
}

// encode writes a message on one line.
func encode(m jsonrpc.Message) ([]byte, error) { return appendMessage(nil, m) }

// appendMessage appends a message on one line. What is raw in it has to be JSON: it was made by an encoder, or
// read by a decoder.
func appendMessage(to []byte, m jsonrpc.Message) ([]byte, error) {
	to = append(to, `{"jsonrpc":"2.0"`...)
	var err error
	switch m := m.(type) {
	case *jsonrpc.Request:
		if to, err = appendID(to, m.ID); err != nil {
			return to, err
		}
		to = append(to, `,"method":`...)
		if to, err = appendJSON(to, m.Method); err != nil {
			return to, err
		}
		to, err = appendRaw(to, `,"params":`, m.Params)
	case *jsonrpc.Response:
		if to, err = appendID(to, m.ID); err != nil {
			return to, err
		}
		if m.Error != nil {
			to = append(to, `,"error":`...)
			if to, err = appendJSON(to, toError(m.Error)); err != nil {
				return to, err
			}
		}
		to, err = appendRaw(to, `,"result":`, m.Result)
	}
	return append(to, '}'), err
}

// appendID appends the id of a message, if it has one.
func appendID(to []byte, id jsonrpc.ID) ([]byte, error) {
	switch id := id.Raw().(type) {
	case nil:
		return to, nil
	case int64:
		return strconv.AppendInt(append(to, `,"id":`...), id, 10), nil
	default:
		return appendJSON(append(to, `,"id":`...), id)
	}
}

func appendJSON(to []byte, v any) ([]byte, error) {
	encoded, err := json.Marshal(v)
	return append(to, encoded...), err
}

// appendRaw appends a member, if it has a value. One that was written on several lines is made one.
func appendRaw(to []byte, name string, value json.RawMessage) ([]byte, error) {
	if len(value) == 0 {
		return to, nil
	}
	to = append(to, name...)
	if bytes.IndexByte(value, '\n') < 0 && bytes.IndexByte(value, '\r') < 0 {
		return append(to, value...), nil
	}
	var line bytes.Buffer
	if err := json.Compact(&line, value); err != nil {
		return to, err
	}
	return append(to, line.Bytes()...), nil
}

// frames are buffers for what is written; a great one is not kept.
var frames = sync.Pool{New: func() any { return new([]byte) }}

const mostReused = 64 << 10

func reuse(frame *[]byte) {
	if cap(*frame) <= mostReused {
		frames.Put(frame)
	}
}
