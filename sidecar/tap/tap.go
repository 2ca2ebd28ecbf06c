// Package tap writes what goes over the wires to a file that can become a test: a txtar archive
// with a section for each run of frames of one speaker.
//
// The speakers are "frontend" and "sidecar" on the editor's wire, and "client NAME" and "server
// NAME" on that of the MCP server NAME. Secrets are masked: members whose names ask for one ([secret.Asks]), and what the
// tap's masker finds anywhere. A Tap may be used from any goroutine; its nil value writes nothing.
package tap

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"sync"

	"assent/sidecar/secret"
)

// Tap writes a transcript.
type Tap struct {
	masker *secret.Masker

	mu      sync.Mutex // guards the fields below
	w       io.Writer
	speaker string
	err     error
}

// New returns a tap that writes to w. The masker may be nil.
func New(w io.Writer, masker *secret.Masker) *Tap { return &Tap{w: w, masker: masker} }

// member is a member of an object that is a text or a number. A member that the wire carries a secret in is called so
// ([protocol.Secret]), and a server may call one so in a form or in a tool's input. What a form asks for under another
// name cannot be told from the frame alone.
var member = regexp.MustCompile(`("(?:[^"\\]|\\.)*"):(?:"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*)`)

// maskMember masks the value of a member whose name asks for a secret.
func maskMember(m []byte) []byte {
	quoted := member.FindSubmatch(m)[1]
	var name string
	if json.Unmarshal(quoted, &name) != nil || !secret.Asks(name) {
		return m
	}
	return append(bytes.Clone(quoted), `:"***"`...)
}

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
	text := t.masker.Mask(string(member.ReplaceAllFunc(line.Bytes(), maskMember)))
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
	_, t.err = io.WriteString(t.w, text+"\n")
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
