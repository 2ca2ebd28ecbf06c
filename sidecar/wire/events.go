package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// events filters a stream of server-sent events. It calls keep with the name and data of each event.
// An event without kept messages is passed on without data, because its id still counts for a
// resumption.
type events struct {
	body io.ReadCloser
	in   *bufio.Reader
	keep func(name string, data []byte) [][]byte
	// long is keep for oversized messages, as returned by [envelope.tooLong].
	long     func(m jsonrpc.Message) [][]byte
	maxEvent int
	// withoutIDs is set for a transport that has no resumption. Only kept messages are passed on then.
	withoutIDs bool
	// id is that of the event that keep gets; empty if the event has none. begun is set once a line was read.
	id    string
	begun bool
	// resumable is set once an event had an id.
	resumable bool

	out bytes.Buffer
	err error // returned once out is empty
}

func newEvents(body io.ReadCloser, maxEvent int, keep func(string, []byte) [][]byte, long func(jsonrpc.Message) [][]byte) *events {
	return &events{body: body, in: bufio.NewReaderSize(&unixLines{ReadCloser: body}, 32<<10), keep: keep, long: long, maxEvent: maxEvent}
}

// Close implements [io.Closer].
func (e *events) Close() error { return e.body.Close() }

// Read implements [io.Reader]. It returns whole events.
func (e *events) Read(p []byte) (int, error) {
	for e.out.Len() == 0 {
		if e.err != nil {
			return 0, e.err
		}
		e.err = e.next()
	}
	return e.out.Read(p)
}

// next puts one event into out, without the fields that MCP does not use.
func (e *events) next() error {
	var fields, data []byte
	name, hasData := "message", false
	e.id = ""
	for size := 0; ; {
		line, err := e.line(e.maxEvent - size)
		if err == errLong {
			return e.skip(name, fields, data, line)
		}
		if err != nil {
			if hasData && err == io.EOF { // complete data is kept, even if its event is incomplete
				e.emit(name, fields, e.keep(name, data))
			}
			return err
		}
		size += len(line)
		if !e.begun {
			e.begun, line = true, bytes.TrimPrefix(line, byteOrderMark)
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch {
		case len(line) == 0:
			var kept [][]byte
			if len(data) > 0 {
				kept = e.keep(name, data)
			}
			e.emit(name, fields, kept)
			return nil
		case string(field) == "data":
			if hasData {
				data = append(data, '\n')
			}
			hasData, data = true, append(data, value...)
		case string(field) == "event" && len(value) > 0:
			name = string(value)
		case string(field) == "id", string(field) == "retry":
			fields = fmt.Appendf(fields, "%s: %s\n", field, value)
			if field[0] == 'i' {
				e.id = string(value)
				e.resumable = e.resumable || e.id != ""
			}
		}
	}
}

// emit writes the event. Each kept message is a separate event. The last one has the id, so that a
// resumption repeats none.
func (e *events) emit(name string, fields []byte, kept [][]byte) {
	if e.withoutIDs {
		fields = nil
		if len(kept) == 0 {
			return
		}
	}
	for i, message := range kept {
		if i == len(kept)-1 {
			e.out.Write(fields)
		}
		fmt.Fprintf(&e.out, "event: %s\n", name)
		for line := range bytes.SplitSeq(message, []byte("\n")) {
			fmt.Fprintf(&e.out, "data: %s\n", line)
		}
		e.out.WriteByte('\n')
	}
	if len(kept) == 0 {
		e.out.Write(fields)
		e.out.WriteByte('\n')
	}
}

// errLong says that a line is too long.
var errLong = errors.New("a line is too long")

// skip reads to the end of an oversized event, given its data and last line so far, and puts its replacement into
// out.
func (e *events) skip(name string, fields, data, part []byte) error {
	var message envelope
	message.add(data)
	begins, isData := true, false // of a line
	for !message.hopeless(e.maxEvent) && !(begins && len(bytes.TrimRight(part, "\r\n")) == 0) {
		ends := bytes.HasSuffix(part, []byte("\n"))
		if begins {
			part, isData = bytes.CutPrefix(part, []byte("data:"))
		}
		if isData {
			message.add(part)
		} else {
			message.size += len(part)
		}
		begins = ends
		var err error
		if part, err = e.in.ReadSlice('\n'); err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
	m := message.tooLong(e.maxEvent)
	if m == nil || name != "message" {
		return fmt.Errorf("%w: an event of more than %d bytes", ErrTooLong, e.maxEvent)
	}
	e.emit(name, fields, e.long(m))
	return nil
}

// line returns the next line without its end. With errLong, it returns the part that was read.
func (e *events) line(limit int) ([]byte, error) {
	var line []byte
	for {
		part, err := e.in.ReadSlice('\n')
		if len(line)+len(part) > limit {
			return append(line, part...), errLong
		}
		line = append(line, part...)
		switch {
		case err == nil, err == io.EOF && len(line) > 0:
			return bytes.TrimRight(line, "\r\n"), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}
