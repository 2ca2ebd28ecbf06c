package daemon

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

// maxHello bounds a line of the hello, in bytes. The params of a workspace have its environment.
const maxHello = 4 << 20

// ClientKind is the kind of a client.
type ClientKind string

const (
	// FrontEnd is attached; see [ServeOptions.Attach].
	FrontEnd ClientKind = "frontEnd"
	// Host is attached like a front end and speaks MCP: a host that uses the servers of a workspace.
	Host ClientKind = "host"
	// Agent sends what the host of an agent told its hook, and reads a line with what the hook prints, if anything.
	Agent ClientKind = "agent"
	// Browser sends the page for a browser to show, and reads a line of JSON with its address.
	Browser ClientKind = "browser"
	// Hosts sends a command about the hosts that use the gateway over HTTP, and reads a line of JSON.
	Hosts ClientKind = "hosts"
	// Control sends a command in Params, and reads a line of JSON.
	Control ClientKind = "control"
)

// Hello is the client's first line. Its format never changes.
type Hello struct {
	// Build is the client's version; see [Newer].
	Build string `json:"build"`
	// Protocol is the client's [Protocol].
	Protocol int        `json:"protocol"`
	Client   ClientKind `json:"client"`
	// PID is the client's process. It is shown to people, and is not proof.
	PID int `json:"pid"`
	// Params are for Attach, or a command.
	Params json.RawMessage `json:"params,omitempty"`
}

// Welcome is the daemon's first line. Its format never changes.
type Welcome struct {
	Build    string `json:"build"`
	Protocol int    `json:"protocol"`
	PID      int    `json:"pid"`
	OK       bool   `json:"ok"`
	// Open is set for a client that is newer than the daemon but is served: it names the work that an update would
	// lose.
	Open string `json:"open,omitempty"`
	// Error says why the client is not served; nil with OK.
	Error *Refusal `json:"error,omitempty"`
}

// The codes of refusals.
const (
	// CodeHello: the first line is not a hello.
	CodeHello = "hello"
	// CodeOlder: the daemon is older than the client, and has no open work or another protocol. The client may ask it
	// to leave.
	CodeOlder = "older"
	// CodeProtocol: the two do not speak the same protocol.
	CodeProtocol = "protocol"
	// CodeBusy: the daemon does not leave for an update, because open work would be lost.
	CodeBusy = "busy"
	// CodeUpdated: the daemon does not leave for an update, because it is not older than the client.
	CodeUpdated = "updated"
)

// Refusal is why a client is not served.
type Refusal struct {
	Code string `json:"code"`
	// Message is for a person. It says what to do.
	Message string `json:"message"`
}

func (r *Refusal) Error() string { return r.Message }

// peer is a connection with a buffered reader, after its first line was read.
type peer struct {
	net.Conn
	in *bufio.Reader
}

// Read implements [net.Conn].
func (p *peer) Read(b []byte) (int, error) { return p.in.Read(b) }

// CloseWrite ends this direction. The other end may still send.
func (p *peer) CloseWrite() error {
	half, ok := p.Conn.(interface{ CloseWrite() error })
	if !ok {
		return fmt.Errorf("a %T cannot be closed in one direction", p.Conn)
	}
	return half.CloseWrite()
}

// errTooLong is the error of a first line without an end.
var errTooLong = fmt.Errorf("the line is longer than %d bytes", maxHello)

// notJSON is the error of a first line that is not JSON.
type notJSON struct{ error }

// readLine reads a line of JSON.
func (p *peer) readLine(v any) error {
	var line []byte
	for {
		part, err := p.in.ReadSlice('\n')
		if len(line)+len(part) > maxHello {
			return notJSON{errTooLong}
		}
		line = append(line, part...)
		if err == nil {
			break
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			if errors.Is(err, io.EOF) && len(line) > 0 {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
	}
	if err := json.Unmarshal(bytes.TrimSpace(line), v); err != nil {
		return notJSON{err}
	}
	return nil
}

func (p *peer) writeLine(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = p.Write(append(line, '\n'))
	return err
}

// within runs reads and writes of a connection, bounded by ctx and by a time.
func (p *peer) within(ctx context.Context, limit time.Duration, work func() error) error {
	if err := p.SetDeadline(time.Now().Add(limit)); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = p.SetDeadline(time.Unix(1, 0)) })
	err := work()
	if !stop() {
		return errors.Join(context.Cause(ctx), err)
	}
	if err != nil {
		return err
	}
	return p.SetDeadline(time.Time{})
}

// timedOut reports whether the other end did not read or write in time.
func timedOut(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }
