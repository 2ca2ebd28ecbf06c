package wire

import (
	"bytes"
	"fmt"
)

// maxDepth is how deep a message may be nested, itself included. Whoever reads on what it holds adds levels of their
// own, and has an end: encoding/json at 10,000, a webview's JSON.stringify at its stack's, before 5,000.
const maxDepth = 1000

// ErrTooDeep is the error of a call whose answer was nested too deep to be read. Its connection stays.
var ErrTooDeep = fmt.Errorf("its answer is nested more than %d deep, and no deeper is read", maxDepth)

// isTooDeep reports whether a message is nested too deep. It need not be JSON.
func isTooDeep(message []byte) bool {
	if bytes.Count(message, []byte("{"))+bytes.Count(message, []byte("[")) <= maxDepth {
		return false // as nearly all: nothing more has to be looked at
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
