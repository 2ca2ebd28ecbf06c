package wire

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// DefaultMaxFrame is the greatest frame that a server may send, in bytes.
const DefaultMaxFrame = 16 << 20

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

// maxSkipped is how many times the greatest frame a request may have, for it to be answered at all.
const maxSkipped = 16

// NewLines returns a connection over stream, which it closes. Stray is told of every line that is not
// JSON-RPC; such a line costs nothing else. Of a line of more than maxFrame bytes, where 0 means
// [DefaultMaxFrame], no more is kept than it takes to see whether it is a request. That is read without
// its params, for its [Conn] to refuse; anything else ends the connection: the answer that it may have
// been would be waited for in vain.
func NewLines(stream io.ReadWriteCloser, stray func(line []byte), maxFrame int) mcp.Connection {
	if maxFrame == 0 {
		maxFrame = DefaultMaxFrame
	}
	return &lines{stream: stream, in: bufio.NewReaderSize(stream, 64<<10), stray: stray, maxFrame: maxFrame}
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
		if errors.As(err, &over) && over.request != nil {
			return over.request, nil
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
	// request is what is known of it, or nil where it is to be the last line.
	request  *jsonrpc.Request
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
	size := len(line)
	for ; ; part, err = l.in.ReadSlice('\n') {
		e.add(part)
		size += len(part)
		switch {
		case e.bad, size > maxSkipped*l.maxFrame:
			return tooLong{nil, l.maxFrame}
		case err == nil:
			request := e.request()
			if request != nil {
				request.Extra = oversized{size, l.maxFrame}
			}
			return tooLong{request, l.maxFrame}
		case !errors.Is(err, bufio.ErrBufferFull):
			return tooLong{nil, l.maxFrame}
		}
	}
}

// decodeAll reads a message or, of 2025-03-26, a batch of them. It returns nothing where the data is
// neither.
func decodeAll(data []byte) []jsonrpc.Message {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || data[0] != '[' {
		if m := decode(data); m != nil {
			return []jsonrpc.Message{m}
		}
		return nil
	}
	var batch []json.RawMessage
	if json.Unmarshal(data, &batch) != nil {
		return nil
	}
	var messages []jsonrpc.Message
	for _, raw := range batch {
		if m := decode(raw); m != nil {
			messages = append(messages, m)
		}
	}
	return messages
}

// decode reads a message, or returns nil where the line is none. go-sdk's own decoder would try a
// batch first and copy the line several times.
func decode(line []byte) jsonrpc.Message {
	var f struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  string          `json:"method"`
		Params  json.RawMessage `json:"params"`
		Result  json.RawMessage `json:"result"`
		Error   *jsonrpc.Error  `json:"error"`
	}
	if len(line) == 0 || line[0] != '{' || json.Unmarshal(line, &f) != nil || f.JSONRPC != "2.0" {
		return nil
	}
	id, err := makeID(f.ID)
	switch {
	case err != nil:
		return nil
	case f.Method != "":
		return &jsonrpc.Request{ID: id, Method: f.Method, Params: f.Params}
	case id.IsValid() && f.Error != nil:
		return &jsonrpc.Response{ID: id, Error: f.Error}
	case id.IsValid() && f.Result != nil:
		return &jsonrpc.Response{ID: id, Result: f.Result}
	default:
		return nil
	}
}

func makeID(raw json.RawMessage) (jsonrpc.ID, error) {
	if len(raw) == 0 {
		return jsonrpc.ID{}, nil
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return jsonrpc.ID{}, err
	}
	return jsonrpc.MakeID(v)
}

// Write implements [mcp.Connection].
func (l *lines) Write(_ context.Context, m jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	_, err = l.stream.Write(append(data, '\n'))
	return err
}
