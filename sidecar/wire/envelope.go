package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxMember bounds what is kept of a member's name or value, in bytes.
const maxMember = 1 << 10

// maxSkipped is how many times the greatest frame a message may have, for it to be known at all.
const maxSkipped = 16

// TooLongError is the error of a call whose answer was too long to be read. Its connection stays.
type TooLongError struct {
	// Size is the answer's, and Max the greatest that is read, in bytes.
	Size, Max int
}

// Error implements error.
func (e *TooLongError) Error() string {
	return fmt.Sprintf("its answer has %d bytes, and no more than %d are read", e.Size, e.Max)
}

// Unwrap makes it an [ErrTooLong].
func (e *TooLongError) Unwrap() error { return ErrTooLong }

// skim reads the rest of a message that is too long to be kept. It returns the message as
// [envelope.tooLong] does.
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

// envelope finds out whether a message that is too long to be kept, or nested too deep to be read, is a request, a
// notification or a response, and which: it is given all bytes and keeps the few members of JSON-RPC's own, in whatever
// order they come. Whether the rest is JSON it does not know.
type envelope struct {
	size     int // of all that was added
	depth    int
	inString bool
	escaped  bool
	ended    bool
	// bad: it is neither, whatever comes.
	bad bool
	// answers: it has what only a response has.
	answers bool

	name    []byte // of the member of the message that is being read, as it is written
	inValue bool   // of that member
	member  string // is its name where the value is to be kept, and else empty
	value   []byte
	members map[string]json.RawMessage
}

// add takes the next bytes.
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

// keep adds to the name or to the value that is being read, if it is the message's own.
func (e *envelope) keep(b byte) {
	switch {
	case e.depth != 1:
	case !e.inValue:
		if len(e.name) <= maxMember { // one byte too many makes it no name that is known
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

// hopeless reports whether nothing that may come makes a message of it.
func (e *envelope) hopeless(maxFrame int) bool { return e.bad || e.size > maxSkipped*maxFrame }

// tooLong returns what a message is that is too long to be kept; nil where that is nothing that can be known.
func (e *envelope) tooLong(maxFrame int) jsonrpc.Message {
	if e.hopeless(maxFrame) {
		return nil
	}
	return e.message(unreadLong(e.size, maxFrame), &TooLongError{e.size, maxFrame})
}

// message returns the request or notification that the message is, without its params and marked as unread, or the
// response, with the error; nil where it is neither.
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
