// Package tap writes what goes over the wires to a file that can become a test: a txtar archive
// with a section for each run of frames of one speaker.
//
// The speakers are "frontend" and "sidecar" on the editor's wire, and "client NAME" and "server
// NAME" on that of the MCP server NAME. Secrets are masked. A Tap may be used from any goroutine;
// its nil value writes nothing.
package tap

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"sync"
)

// Tap writes a transcript.
type Tap struct {
	mu      sync.Mutex // guards the fields below
	w       io.Writer
	speaker string
	err     error
}

// New returns a tap that writes to w.
func New(w io.Writer) *Tap { return &Tap{w: w} }

// secret is a member that the wire carries one in, see [protocol.Secret], or that a server calls so in a
// form or in a tool's input. What a form asks for under another name cannot be told from the frame alone.
var secret = regexp.MustCompile(`(?i)("(?:[a-z0-9_.-]*(?:secret|password|passwd|passphrase|passcode|credential|api[_-]?key|private[_-]?key|(?:access|auth|bearer|api|id|refresh)[_-]?token|card[_-]?number)[a-z0-9_.-]*|token|pin|cvv|cvc|iban|ssn)"):(?:"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*)`)

// Frame adds what a speaker said.
func (t *Tap) Frame(speaker string, frame []byte) {
	if t == nil {
		return
	}
	var line bytes.Buffer
	if json.Compact(&line, frame) != nil { // not JSON: kept as one line all the same
		line.Reset()
		fmt.Fprintf(&line, "%q", frame)
	}
	text := secret.ReplaceAll(line.Bytes(), []byte(`$1:"***"`))
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return
	}
	if t.speaker != speaker {
		t.speaker = speaker
		if _, t.err = fmt.Fprintf(t.w, "-- %s --\n", speaker); t.err != nil {
			return
		}
	}
	_, t.err = t.w.Write(append(text, '\n'))
}

// Err returns the first error of writing, after which nothing more was written.
func (t *Tap) Err() error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}
