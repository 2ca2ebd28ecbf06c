package wire

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"assent/sidecar/base/lazyregexp"
)

// DefaultMaxFrame is the maximum size of a server's frame, in bytes.
const DefaultMaxFrame = 16 << 20

// ErrUnwritable says that the server reads no more: its process has ended, or closed its stdin.
var ErrUnwritable = errors.New("the server reads no more")

// readAtOnce is the size of a stream's read buffer, in bytes. Nearly all messages are shorter, and every idle server
// has one.
const readAtOnce = 16 << 10

// ErrTooLong ends a connection on which the server sent more than the limit.
var ErrTooLong = errors.New("the server sent too much at once")

// maxPiece bounds a piece of a long line, in bytes.
const maxPiece = 1 << 20

// lines is JSON-RPC as lines over a byte stream (2025-11-25, "Transports: stdio").
type lines struct {
	stream   io.ReadWriteCloser
	in       *bufio.Reader
	stray    func(line []byte)
	maxFrame int
	// pending is the rest of a batch.
	pending []jsonrpc.Message
	// open is the beginning of a message on several lines, and outline what its brackets say.
	open       []byte
	outline    envelope
	unfinished *unfinished

	writing sync.Mutex // held while a frame is written
}

var _ mcp.Connection = (*lines)(nil)

// NewLines returns a connection over stream, which it closes. It calls stray for every line that is not JSON-RPC, unless
// the line has an answer in it, or is a part of a message on several lines.
//
// Of a line of more than maxFrame bytes (0 means [DefaultMaxFrame]), only the envelope is read. A request or notification
// then has no params, and [Conn] refuses or drops it; a response has a [TooLongError]. Any other oversized line ends the
// connection, because it may have been an answer that a call waits for. A line that is nested too deep is read in the
// same way, with [ErrTooDeep].
func NewLines(stream io.ReadWriteCloser, stray func(line []byte), maxFrame int) mcp.Connection {
	if maxFrame == 0 {
		maxFrame = DefaultMaxFrame
	}
	u := &unfinished{stray: stray}
	return &lines{
		stream: stream, in: bufio.NewReaderSize(watched{stream, u}, readAtOnce), stray: stray, maxFrame: maxFrame, unfinished: u,
	}
}

// SessionID implements [mcp.Connection]. Lines have none.
func (l *lines) SessionID() string { return "" }

// Close implements [mcp.Connection].
func (l *lines) Close() error {
	l.unfinished.close()
	return l.stream.Close()
}

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
			l.giveUp()
			l.unfinished.close()
			return nil, err
		}
		if line = bytes.TrimPrefix(line, byteOrderMark); len(line) == 0 {
			continue
		}
		if l.pending = decodeAll(line); len(l.pending) > 0 {
			l.giveUp()
			continue
		}
		// An answer also shows that lines before it were no message, as after a log with a bracket that stays open.
		if l.pending = answersIn(line); len(l.pending) == 0 && l.collect(line) {
			continue
		}
		l.giveUp()
		l.stray(line)
	}
}

// collect takes a line of a message on several lines, such as one that is printed for people to read. It reports whether the
// line may be a part of one.
func (l *lines) collect(line []byte) bool {
	if l.open == nil && line[0] != '{' {
		return false
	}
	if l.open == nil {
		l.outline = envelope{}
	}
	l.outline.add(line)
	l.outline.add([]byte{'\n'})
	l.open = append(append(l.open, line...), '\n')
	switch {
	case l.outline.bad || len(l.open) > l.maxFrame:
		l.pending = answersIn(l.open)
		l.giveUp()
	case l.outline.ended:
		if l.pending = decodeAll(l.open); len(l.pending) == 0 {
			l.pending = answersIn(l.open)
			l.giveUp()
		} else {
			l.open = nil
			l.unfinished.hold(nil)
		}
	default:
		l.unfinished.hold(l.open)
	}
	return true
}

// giveUp passes on the lines that turned out to be no message.
func (l *lines) giveUp() {
	if l.open == nil {
		return
	}
	for line := range bytes.SplitSeq(bytes.TrimSpace(l.open), []byte{'\n'}) {
		l.stray(line)
	}
	l.open = nil
	l.unfinished.hold(nil)
}

// answersIn returns the answers in a line of other text: behind a log without a line end, for example. It takes only answers
// to [Conn.Call], because no other program has their ids. A log may quote a request, what Assent answered, or what a proxy's
// own server did.
func answersIn(line []byte) (answers []jsonrpc.Message) {
	for range maxAnswersIn {
		at := beginning().FindIndex(line)
		if at == nil {
			break
		}
		line = line[at[0]:]
		var raw json.RawMessage
		decoder := json.NewDecoder(bytes.NewReader(line))
		if decoder.Decode(&raw) != nil {
			line = line[1:]
			continue
		}
		answer, ok := decode(raw).(*jsonrpc.Response)
		if !ok || errors.As(answer.Error, new(*UnreadableError)) {
			line = line[1:]
			continue
		}
		line = line[decoder.InputOffset():]
		if id, ok := answer.ID.Raw().(int64); ok && id > firstCall {
			answers = append(answers, answer)
		}
	}
	return answers
}

// beginning is that of a message: JSON-RPC's members, in any order.
var beginning = lazyregexp.New(`\{\s*"(?:jsonrpc|id|result|error)"\s*:`)

// maxAnswersIn bounds the places of a line where an answer may begin.
const maxAnswersIn = 16

// readLine returns the next line without its end. The bytes belong to the caller.
func (l *lines) readLine() ([]byte, error) {
	var line []byte
	var pieces [][]byte // before it: a long line is copied once, and has no more memory than it needs
	read := 0
	for {
		part, err := l.in.ReadSlice('\n')
		if read += len(part); read > l.maxFrame {
			return nil, l.skip(slices.Concat(append(pieces, line)...), part, err)
		}
		if len(line) > 0 && len(line)+len(part) > cap(line) {
			pieces, line = append(pieces, line), make([]byte, 0, min(read, maxPiece))
		}
		line = append(line, part...)
		switch {
		case err == nil && pieces != nil:
			return bytes.TrimSpace(slices.Concat(append(pieces, line)...)), nil
		case err == nil:
			return bytes.TrimSpace(line), nil
		case errors.Is(err, bufio.ErrBufferFull):
		default:
			if read > 0 { // the line stays incomplete
				l.stray(slices.Concat(append(pieces, line)...))
			}
			return nil, err
		}
	}
}

// tooLong is the error of an oversized line.
type tooLong struct {
	// message is the envelope, or nil if the connection has to end.
	message  jsonrpc.Message
	maxFrame int
}

// Error implements error.
func (t tooLong) Error() string {
	return fmt.Sprintf("%v: a line of more than %d bytes", ErrTooLong, t.maxFrame)
}

// Unwrap makes it an [ErrTooLong].
func (t tooLong) Unwrap() error { return ErrTooLong }

// skip reads to the end of an oversized line, given the part that was read and the error of its last
// read.
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
	if n, err := l.stream.Write(*frame); err != nil {
		return unwritable{err, n == 0}
	}
	return nil
}

// unwritable is an [ErrUnwritable].
type unwritable struct {
	error
	// unsent: no byte of the frame was written.
	unsent bool
}

// Is makes it an ErrUnwritable.
func (unwritable) Is(target error) bool { return target == ErrUnwritable }

// Unwrap returns the error of the stream.
func (u unwritable) Unwrap() error { return u.error }
