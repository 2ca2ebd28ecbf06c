package wire

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// DefaultMaxFrame is the greatest frame that a server may send, in bytes.
const DefaultMaxFrame = 16 << 20

// readAtOnce is what is read at once of a stream, in bytes. Nearly all messages are shorter, and every idle server has
// a buffer of it.
const readAtOnce = 16 << 10

// ErrTooLong ends a connection on which the server sent more than is borne.
var ErrTooLong = errors.New("the server sent too much at once")

// lines is JSON-RPC as lines over a byte stream (2025-11-25, "Transports: stdio").
type lines struct {
	stream   io.ReadWriteCloser
	in       *bufio.Reader
	stray    func(line []byte)
	maxFrame int
	// pending is the rest of a batch.
	pending []jsonrpc.Message

	writing sync.Mutex // held while a frame is written
}

var _ mcp.Connection = (*lines)(nil)

// NewLines returns a connection over stream, which it closes. Stray is told of every line that is not
// JSON-RPC; such a line costs nothing else. Of a line of more than maxFrame bytes, where 0 means
// [DefaultMaxFrame], no more is kept than it takes to see what it is. A request or notification is read without its
// params, for its [Conn] to refuse or to leave out, and a response with a [TooLongError]; anything else ends the
// connection: the answer that it may have been would be waited for in vain. A line that is nested too deep is
// read in the same way, with [ErrTooDeep].
func NewLines(stream io.ReadWriteCloser, stray func(line []byte), maxFrame int) mcp.Connection {
	if maxFrame == 0 {
		maxFrame = DefaultMaxFrame
	}
	return &lines{stream: stream, in: bufio.NewReaderSize(stream, readAtOnce), stray: stray, maxFrame: maxFrame}
}

// SessionID implements [mcp.Connection]; lines have none.
func (l *lines) SessionID() string { return "" }

// Close implements [mcp.Connection].
func (l *lines) Close() error { return l.stream.Close() }

// Read implements [mcp.Connection].
func (l *lines) Read(context.Context) (jsonrpc.Message, error) {
	for {
		if len(l.pending) > 0 {
			m := l.pending[0]
			l.pending = l.pending[1:]
			return m, nil
		}
		line, err := l.readLine()
		var over tooLong
		if errors.As(err, &over) && over.message != nil {
			return over.message, nil
		}
		if err != nil {
			return nil, err
		}
		if len(line) == 0 {
			continue
		}
		if l.pending = decodeAll(line); len(l.pending) == 0 {
			l.stray(line)
		}
	}
}

// readLine returns the next line without its end. The bytes belong to the caller.
func (l *lines) readLine() ([]byte, error) {
	var line []byte
	for {
		part, err := l.in.ReadSlice('\n')
		if len(line)+len(part) > l.maxFrame {
			return nil, l.skip(line, part, err)
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return bytes.TrimSpace(line), nil
		case errors.Is(err, bufio.ErrBufferFull):
		default:
			if len(line) > 0 { // it will never be whole
				l.stray(line)
			}
			return nil, err
		}
	}
}

// tooLong is the error of a line that is too long.
type tooLong struct {
	// message is what is known of it, or nil where it is to be the last line.
	message  jsonrpc.Message
	maxFrame int
}

// Error implements error.
func (t tooLong) Error() string {
	return fmt.Sprintf("%v: a line of more than %d bytes", ErrTooLong, t.maxFrame)
}

// Unwrap makes it an [ErrTooLong].
func (t tooLong) Unwrap() error { return ErrTooLong }

// skip reads to the end of a line that is too long, given what was read of it and the error that came
// with its last part.
func (l *lines) skip(line, part []byte, err error) error {
	var e envelope
	e.add(line)
	for ; ; part, err = l.in.ReadSlice('\n') {
		e.add(part)
		switch {
		case e.hopeless(l.maxFrame):
			return tooLong{nil, l.maxFrame}
		case err == nil:
			return tooLong{e.tooLong(l.maxFrame), l.maxFrame}
		case !errors.Is(err, bufio.ErrBufferFull):
			return tooLong{nil, l.maxFrame}
		}
	}
}

// Write implements [mcp.Connection].
func (l *lines) Write(_ context.Context, m jsonrpc.Message) error {
	frame := frames.Get().(*[]byte)
	defer reuse(frame)
	var err error
	if *frame, err = appendMessage((*frame)[:0], m); err != nil {
		return err
	}
	*frame = append(*frame, '\n')
	l.writing.Lock()
	defer l.writing.Unlock()
	_, err = l.stream.Write(*frame)
	return err
}
