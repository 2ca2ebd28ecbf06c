// Package tap writes the frames of all connections to a file that can become a test: a txtar
// archive with a section for each run of frames of one speaker.
//
// The speakers are "frontend" and "sidecar" on the editor's connection, and "client NAME" and "server NAME" on the
// connection of the MCP server NAME. The tap masks the values of members with names that ask for a secret
// ([secret.Asks]), and the secrets in arguments and addresses. It also masks a person's values of secret fields in
// members of the field's name, and every text that its masker finds. A Tap may be used from any goroutine. A nil Tap
// writes nothing.
package tap

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"assent/sidecar/base/lazyregexp"
	"assent/sidecar/base/secret"
)

// The speakers of the editor's connection.
const (
	FrontEnd = "frontend"
	Sidecar  = "sidecar"
)

// Tap writes a transcript.
type Tap struct {
	masker *secret.Masker

	mu      sync.Mutex // guards the fields below
	w       io.Writer
	speaker string
	answers answers
	err     error
}

// New returns a tap that writes to w. A nil masker finds no secrets.
func New(w io.Writer, masker *secret.Masker) *Tap { return &Tap{w: w, masker: masker} }

// member matches a member of an object with a string or a number: its name and its value.
var member = lazyregexp.New(`("(?:[^"\\]|\\.)*"):("(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*)`)

// arguments matches the arguments of a program.
var arguments = lazyregexp.New(`"args":(\[(?:"(?:[^"\\]|\\.)*",?)*\])`)

// maskArguments masks the secrets in arguments, such as what follows "--token".
func maskArguments(m []byte) []byte {
	var args []string
	if json.Unmarshal(m[len(`"args":`):], &args) != nil {
		return m
	}
	masked := secret.MaskArgs(args)
	if slices.Equal(masked, args) {
		return m
	}
	text, _ := json.Marshal(masked) // always possible for strings
	return append([]byte(`"args":`), text...)
}

// maskLine masks the secrets in a member that has a command line or an address.
func maskLine(m, name []byte, value string) []byte {
	masked := strings.Join(secret.MaskArgs(strings.Split(value, " ")), " ")
	if masked == value {
		return m
	}
	text, _ := json.Marshal(masked) // always possible for a string
	return append(append(bytes.Clone(name), ':'), text...)
}

// maskMember masks the value of a member if its name asks for a secret, or if the member is one of these answers.
func maskMember(m []byte, answers map[answer]bool) []byte {
	parts := member().FindSubmatch(m)
	name, value := textOf(parts[1]), textOf(parts[2])
	switch {
	case secret.Asks(name) || answers[answer{name, value}]:
	case name == "url" || name == "command":
		return maskLine(m, parts[1], value)
	default:
		return m
	}
	return append(bytes.Clone(parts[1]), `:"***"`...)
}

// Frame adds a frame of a speaker.
func (t *Tap) Frame(speaker string, frame []byte) {
	if t == nil {
		return
	}
	text := t.line(speaker, frame)
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

// line returns a frame as one line, without secrets. It quotes a frame that is not JSON.
func (t *Tap) line(speaker string, frame []byte) string {
	var compact bytes.Buffer
	if json.Compact(&compact, frame) != nil {
		return t.masker.Mask(strconv.Quote(string(frame)))
	}
	t.mu.Lock()
	if speaker == FrontEnd || speaker == Sidecar {
		t.answers.learn(compact.Bytes())
	}
	answers := t.answers.secret
	t.mu.Unlock()
	masked := member().ReplaceAllFunc(compact.Bytes(), func(m []byte) []byte { return maskMember(m, answers) })
	masked = arguments().ReplaceAllFunc(masked, maskArguments)
	text := t.masker.Mask(string(masked))
	if text != string(masked) && !json.Valid([]byte(text)) { // a number was masked
		return strconv.Quote(text)
	}
	return text
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
