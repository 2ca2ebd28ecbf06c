package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/sidecar/base/jsonscan"
	"assent/sidecar/base/reason"
)

// All transports of this package read and write JSON-RPC with the functions of this file. go-sdk's own codec decodes
// each message as a batch first, with a buffer of 32 kB each time.

// decodeAll decodes a message or, for 2025-03-26, a batch. It leaves out invalid messages.
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

// decode decodes a message, or returns nil if the line is not one. The raw JSON in the message shares the line's
// memory. [envelope.message] decodes a message that is nested too deep.
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
		var e envelope
		e.add(line)
		if answer, ok := e.message(unread{}, unreadable(line, "it is not JSON")).(*jsonrpc.Response); ok {
			return answer
		}
		return nil
	}
	var f fields
	for name, value := range jsonscan.Of(line) {
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
		default:
			f.others = true
		}
	}
	var method string
	if f.method != nil && json.Unmarshal(f.method, &method) != nil {
		return nil
	}
	if method == "" || f.id != nil && (isGiven(f.result) || isGiven(f.err)) { // an answer may name the method of its request
		return f.answer(line)
	}
	if !f.isMessage() || f.version == nil && !isServers(method) {
		return nil
	}
	id, err := makeID(f.id)
	if err != nil {
		return nil
	}
	return &jsonrpc.Request{ID: id, Method: method, Params: f.params}
}

// isGiven reports whether a message has a member with a value.
func isGiven(member json.RawMessage) bool { return member != nil && string(member) != "null" }

// isServers reports whether a server may send a request or notification of a method.
func isServers(method string) bool {
	group, _, _ := strings.Cut(method, "/")
	return slices.Contains([]string{"elicitation", "sampling", "roots", "tasks", "notifications"}, group) || method == "ping"
}

// fields are the members of a message.
type fields struct {
	version, id, method, params, result, err json.RawMessage
	// others: it has members that JSON-RPC does not have.
	others bool
}

// isMessage reports whether an object is clearly meant as a message. Some servers leave "jsonrpc" out, or give it another
// value. A record of a log has members of its own.
func (f *fields) isMessage() bool { return f.version != nil || !f.others }

// answer returns a message as a response, or nil if it is not a response. If it cannot be read, its error is an
// [UnreadableError], which ends the call. Its ID is not valid if the response has no id or an unreadable one.
func (f *fields) answer(line []byte) jsonrpc.Message {
	id, err := answerID(f.id)
	if !id.IsValid() && f.result == nil && f.err == nil {
		return nil
	}
	bad := func(format string, args ...any) jsonrpc.Message {
		return &jsonrpc.Response{ID: id, Error: unreadable(line, format, args...)}
	}
	switch {
	case err != nil:
		return bad("its id is neither a number nor a string")
	case !id.IsValid():
		return bad("it has no id")
	case !f.isMessage():
		return bad(`it does not say "jsonrpc": "2.0"`)
	case isGiven(f.err):
		var refusal jsonrpc.Error
		if err := json.Unmarshal(f.err, &refusal); err != nil {
			return bad("its error: %s", reason.Of(err))
		}
		if refusal.Code == 0 && refusal.Message == "" {
			return bad("its error has no code and no message")
		}
		if strings.TrimSpace(refusal.Message) == "" { // every sentence about it would have a gap
			refusal.Message = "(no message)"
		}
		return &jsonrpc.Response{ID: id, Error: &refusal}
	case f.result == nil:
		return bad("it has no result and no error")
	}
	return &jsonrpc.Response{ID: id, Result: f.result}
}

// rawID is the first byte of a [jsonrpc.ID] that holds an id as JSON. makeID uses it for a number that a float64 does not
// hold exactly, and for a string that has invalid characters or begins with rawID.
const rawID = "\x00"

// makeID decodes the id of a request. [appendID] encodes it exactly as it was.
func makeID(raw json.RawMessage) (jsonrpc.ID, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return jsonrpc.ID{}, nil
	}
	var text string
	switch {
	case isNumber(raw):
		const most = 1 << 53
		n, err := strconv.ParseInt(string(raw), 10, 64)
		if err == nil && -most < n && n < most && string(raw) != "-0" {
			return jsonrpc.MakeID(float64(n))
		}
	case json.Unmarshal(raw, &text) != nil:
		return jsonrpc.ID{}, errors.New("an id is neither a number nor a string")
	case !strings.ContainsRune(text, utf8.RuneError) && !strings.HasPrefix(text, rawID):
		return jsonrpc.MakeID(text)
	}
	return jsonrpc.MakeID(rawID + string(raw))
}

// answerID decodes the id of a response. It differs from makeID in that 1.0 answers 1.
func answerID(raw json.RawMessage) (jsonrpc.ID, error) {
	if isNumber(raw) {
		if n, err := strconv.ParseFloat(string(raw), 64); err == nil && n == math.Trunc(n) && math.Abs(n) < 1<<53 {
			return jsonrpc.MakeID(n)
		}
	}
	return makeID(raw)
}

// ownID returns the id of a response to a request of ours. Those are numbers, so that the text of a number can mean nothing
// else.
func ownID(id jsonrpc.ID) jsonrpc.ID {
	text, ok := id.Raw().(string)
	if !ok || !isNumber(json.RawMessage(text)) {
		return id
	}
	if number, err := answerID(json.RawMessage(text)); err == nil {
		return number
	}
	return id
}

func isNumber(raw json.RawMessage) bool {
	return len(raw) > 0 && (raw[0] == '-' || '0' <= raw[0] && raw[0] <= '9')
}

// toSDK returns an id that go-sdk's own decoder keeps exactly, although it decodes every number as a float64.
func toSDK(id jsonrpc.ID) jsonrpc.ID {
	text, ok := id.Raw().(string)
	if !ok || !strings.HasPrefix(text, rawID) {
		return id
	}
	quoted, _ := json.Marshal(text) // always possible for a string
	return textID(rawID + string(quoted))
}

// fromSDK is the reverse of toSDK.
func fromSDK(id jsonrpc.ID) jsonrpc.ID {
	text, _ := id.Raw().(string)
	var held string
	if quoted, ok := strings.CutPrefix(text, rawID); !ok || json.Unmarshal([]byte(quoted), &held) != nil || !strings.HasPrefix(held, rawID) {
		return id
	}
	return textID(held)
}

func textID(text string) jsonrpc.ID {
	id, _ := jsonrpc.MakeID(text) // always possible for a string
	return id
}

// encode encodes a message on one line.
func encode(m jsonrpc.Message) ([]byte, error) { return appendMessage(nil, m) }

// appendMessage appends a message on one line. Its params, result and raw id have to be valid JSON.
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
	case string:
		to = append(to, `,"id":`...)
		if raw, ok := strings.CutPrefix(id, rawID); ok {
			return append(to, raw...), nil
		}
		return appendJSON(to, id)
	default:
		return to, fmt.Errorf("an id is of the type %T", id)
	}
}

func appendJSON(to []byte, v any) ([]byte, error) {
	encoded, err := json.Marshal(v)
	return append(to, encoded...), err
}

// appendRaw appends a member, if it has a value. It puts a value of several lines on one.
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

// frames are buffers for encoded messages. Large buffers are not kept.
var frames = sync.Pool{New: func() any { return new([]byte) }}

const mostReused = 64 << 10

func reuse(frame *[]byte) {
	if cap(*frame) <= mostReused {
		frames.Put(frame)
	}
}
