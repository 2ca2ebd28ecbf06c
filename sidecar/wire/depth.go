package wire

import (
	"bytes"
	"fmt"
)

// maxDepth is the maximum nesting of a message, including the message itself. Later readers add levels of their own,
// and have limits: encoding/json at 10,000, and a webview's JSON.stringify at its stack's end, before 5,000.
const maxDepth = 1000

// ErrTooDeep is the error of a call with an answer that exceeds maxDepth. The connection stays
// open.
var ErrTooDeep = fmt.Errorf("its answer is nested more than %d deep, and no deeper is read", maxDepth)

// isTooDeep reports whether a message exceeds maxDepth. It need not be JSON.
func isTooDeep(message []byte) bool {
	if bytes.Count(message, []byte("{"))+bytes.Count(message, []byte("[")) <= maxDepth {
		return false // most messages need no scan
	}
	depth := 0
	for at := 0; at < len(message); at++ {
		switch message[at] {
		case '"':
			for at++; at < len(message) && message[at] != '"'; at++ {
				if message[at] == '\\' {
					at++
				}
			}
		case '{', '[':
			if depth++; depth > maxDepth {
				return true
			}
		case '}', ']':
			depth--
		}
	}
	return false
}
