package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxMember is the most bytes of a member's name or value that an envelope keeps.
const maxMember = 1 << 10

// maxSkipped times the greatest frame is the size at which the rest of a message is no longer looked at.
const maxSkipped = 16

// TooLongError is the error of a call with an answer that is too long to read. The connection stays
// open.
type TooLongError struct {
	// Size is the size of the answer, and Max the limit, both in bytes.
	Size, Max int
}

// Error implements error.
func (e *TooLongError) Error() string {
	return fmt.Sprintf("its answer has %d bytes, and no more than %d are read", e.Size, e.Max)
}

// Unwrap makes it an [ErrTooLong].
func (e *TooLongError) Unwrap() error { return ErrTooLong }

// skim reads the rest of an oversized message, and returns its [envelope.tooLong].
func skim(head []byte, rest io.Reader, maxFrame int) (jsonrpc.Message, error) {
	var e envelope
	e.add(head)
	buffer := make([]byte, 64<<10)
	for {
		n, err := rest.Read(buffer)
		e.add(buffer[:n])
		switch {
		case err == io.EOF || e.hopeless(maxFrame):
			return e.tooLong(maxFrame), nil
		case err != nil:
			return nil, err
		}
	}
}

// envelope identifies a message that is too long to keep or nested too deep to read: a request, a notification or a
// response, with its method and id. It gets all bytes and keeps only JSON-RPC's own members, in any order. It does
// not check that the rest is JSON.
type envelope struct {
	size     int // of all bytes added
	depth    int
	inString bool
	escaped  bool
	ended    bool
	// bad: it is not a message, regardless of the rest.
	bad bool
	// answers: it has a member that only responses have.
	answers bool

	name    []byte // the name of the current member, encoded
	inValue bool   // whether the bytes belong to the member's value
	member  string // the decoded name if the value is kept, or empty
	value   []byte
	members map[string]json.RawMessage
}

// add adds the next bytes.
func (e *envelope) add(data []byte) {
	e.size += len(data)
	for _, b := range data {
		if e.bad {
			return
		}
		e.next(b)
	}
}

func (e *envelope) next(b byte) {
	switch {
	case e.inString:
		e.keep(b)
		switch {
		case e.escaped:
			e.escaped = false
		case b == '\\':
			e.escaped = true
		case b == '"':
			e.inString = false
		}
	case b == ' ', b == '\t', b == '\r', b == '\n':
	case e.depth == 0:
		e.bad = b != '{' || e.ended
		e.depth = 1
	case b == '"':
		e.inString = true
		e.keep(b)
	case b == '{', b == '[':
		e.depth++
	case b == '}', b == ']':
		e.depth--
		if e.depth == 0 {
			e.endMember()
			e.ended = true
		}
	case e.depth == 1 && b == ':':
		e.beginValue()
	case e.depth == 1 && b == ',':
		e.endMember()
	default:
		e.keep(b)
	}
}

// keep adds a byte to the current name or value, if that is a member of the message itself.
func (e *envelope) keep(b byte) {
	switch {
	case e.depth != 1:
	case !e.inValue:
		if len(e.name) <= maxMember { // a longer one is not a known name
			e.name = append(e.name, b)
		}
	case e.member != "":
		e.bad = len(e.value) == maxMember
		e.value = append(e.value, b)
	}
}

func (e *envelope) beginValue() {
	e.inValue = true
	var name string
	if json.Unmarshal(e.name, &name) != nil {
		return
	}
	switch name {
	case "result", "error":
		e.answers = true
	case "jsonrpc", "id", "method":
		e.member = name
	}
}

func (e *envelope) endMember() {
	if e.member != "" {
		if e.members == nil {
			e.members = map[string]json.RawMessage{}
		}
		e.members[e.member] = bytes.Clone(e.value)
	}
	e.inValue, e.member, e.name, e.value = false, "", e.name[:0], e.value[:0]
}

// hopeless reports whether it is not a message, regardless of the rest.
func (e *envelope) hopeless(maxFrame int) bool { return e.bad || e.size > maxSkipped*maxFrame }

// tooLong returns a message that is too long to keep, as [envelope.message] does.
func (e *envelope) tooLong(maxFrame int) jsonrpc.Message {
	if e.hopeless(maxFrame) {
		return nil
	}
	return e.message(unreadLong(e.size, maxFrame), &TooLongError{e.size, maxFrame})
}

// message returns a request or a notification without its params and marked as unread, or a response with the error in
// place of its result. It returns nil if the bytes are no message.
func (e *envelope) message(request unread, answer error) jsonrpc.Message {
	if e.bad || !e.ended || e.members == nil {
		return nil
	}
	if e.answers {
		e.members["result"] = json.RawMessage("{}")
	}
	raw, err := json.Marshal(e.members)
	if err != nil {
		return nil // a value is missing
	}
	switch m := decode(raw).(type) {
	case *jsonrpc.Request:
		if !e.answers {
			m.Extra = request
			return m
		}
	case *jsonrpc.Response:
		if m.ID.IsValid() {
			return &jsonrpc.Response{ID: m.ID, Error: answer}
		}
	}
	return nil
}
