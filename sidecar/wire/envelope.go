package wire

import (
	"bytes"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxMember bounds what is kept of a member's name or value, in bytes.
const maxMember = 1 << 10

// envelope finds out whether a message that is too long to be kept is a request, and which: it is given
// all bytes and keeps the few members of JSON-RPC's own, in whatever order they come. Whether the rest is
// JSON it does not know.
type envelope struct {
	depth    int
	inString bool
	escaped  bool
	ended    bool
	// bad: it is no request, whatever comes.
	bad bool

	name    []byte // of the member of the message that is being read, as it is written
	inValue bool   // of that member
	member  string // is its name where the value is to be kept, and else empty
	value   []byte
	members map[string]json.RawMessage
}

// add takes the next bytes.
func (e *envelope) add(data []byte) {
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
		e.bad = true
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

// request returns the request that the message is, without its params, or nil where it is none.
func (e *envelope) request() *jsonrpc.Request {
	if e.bad || !e.ended {
		return nil
	}
	raw, err := json.Marshal(e.members)
	if err != nil {
		return nil // a value is missing
	}
	r, ok := decode(raw).(*jsonrpc.Request)
	if !ok || !r.IsCall() {
		return nil
	}
	return r
}
