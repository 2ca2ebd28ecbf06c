package rpc

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/sourcegraph/jsonrpc2"

	"assent/protocol"
)

const (
	// defaultMaxFrame is the default of [Options.MaxFrame].
	defaultMaxFrame = 16 << 20
	// maxHeader bounds the header of a frame, in bytes.
	maxHeader = 4 << 10
	// idPrefix is how many bytes of an oversized frame are searched for its id.
	idPrefix = 512
)

// stream reads and writes frames. An invalid frame with a valid length is answered with an error, and the
// connection continues. It ends only if the start of the next frame is unknown.
type stream struct {
	opts Options
	in   *bufio.Reader
	out  *writer
	// closers are closed with the stream.
	closers []io.Closer
	// received is the last message read. Only the reading goroutine uses it.
	received received
	// request or response is the next message to write, and head is the buffer for its beginning. jsonrpc2's lock for
	// sending guards them.
	request  *jsonrpc2.Request
	response *jsonrpc2.Response
	head     []byte

	// ended is closed when Close has closed the closers.
	ended chan struct{}

	mu     sync.Mutex // guards the fields below
	closed bool
	broken error
}

var _ jsonrpc2.ObjectStream = (*stream)(nil)

func newStream(in io.Reader, out io.Writer, opts Options) *stream {
	opts.MaxFrame = cmp.Or(opts.MaxFrame, defaultMaxFrame)
	s := &stream{opts: opts, in: bufio.NewReaderSize(in, 64<<10), out: newWriter(out, opts.Tap), ended: make(chan struct{})}
	for _, end := range []any{in, out} {
		if c, ok := end.(io.Closer); ok {
			s.closers = append(s.closers, c)
		}
	}
	return s
}

// brokenBy returns why the stream could no longer be read, or nil if it ended normally.
func (s *stream) brokenBy() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broken
}

// ReadObject implements [jsonrpc2.ObjectStream]. The message is a stub: restore completes it.
func (s *stream) ReadObject(v any) error {
	err := s.readObject(v)
	if err != nil && !errors.Is(err, io.EOF) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.closed { // not closed by this side, so the peer caused it
			s.broken = fmt.Errorf("%s broke the wire: %w", s.opts.Peer, err)
		}
	}
	return err
}

func (s *stream) readObject(v any) error {
	for {
		length, err := s.readHeader()
		if err != nil {
			return err
		}
		if length > s.opts.MaxFrame {
			if err := s.refuseLarge(length); err != nil {
				return err
			}
			continue
		}
		frame := make([]byte, length)
		if _, err := io.ReadFull(s.in, frame); err != nil {
			return fmt.Errorf("a frame of %d bytes ended in the middle: %w", length, io.ErrUnexpectedEOF)
		}
		if s.opts.Tap != nil {
			s.opts.Tap(true, frame)
		}
		err = s.decode(frame, v)
		if err == nil {
			return nil
		}
		var why *protocol.Error
		switch {
		case errors.As(err, &why):
		case json.Valid(frame):
			why = protocol.Errorf(protocol.CodeInvalidRequest, "this is not a JSON-RPC 2.0 message: %v", err)
		default:
			why = protocol.Errorf(protocol.CodeParseError, "this is not JSON: %v", err)
		}
		if err := s.refuse(frame, why); err != nil {
			return err
		}
	}
}

// readHeader returns the Content-Length of the frame that follows.
func (s *stream) readHeader() (int, error) {
	length := -1
	read := 0
	for {
		line, err := s.in.ReadSlice('\n')
		read += len(line)
		switch {
		case err == io.EOF && read == 0:
			return 0, io.EOF
		case read > maxHeader || errors.Is(err, bufio.ErrBufferFull):
			return 0, fmt.Errorf("a frame's header has more than %d bytes", maxHeader)
		case err != nil:
			return 0, fmt.Errorf("a frame's header ended in the middle: %w", io.ErrUnexpectedEOF)
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			if length < 0 {
				return 0, errors.New("a frame has no Content-Length")
			}
			return length, nil
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			return 0, fmt.Errorf("a frame's header has the line %q", line)
		}
		if strings.EqualFold(string(name), "Content-Length") {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil || length < 0 {
				return 0, fmt.Errorf("a frame has the Content-Length %q", value)
			}
		}
	}
}

// refuseLarge skips an oversized frame, and sends an error to the peer.
func (s *stream) refuseLarge(length int) error {
	prefix, err := s.in.Peek(idPrefix)
	if err == nil {
		prefix = bytes.Clone(prefix)
		_, err = io.CopyN(io.Discard, s.in, int64(length))
	}
	if err != nil {
		return fmt.Errorf("a frame of %d bytes ended in the middle: %w", length, io.ErrUnexpectedEOF)
	}
	return s.refuse(prefix, protocol.Errorf(protocol.CodeInvalidRequest,
		"a message of %d bytes is too large: the most is %d", length, s.opts.MaxFrame))
}

// errBatch refuses a batch. jsonrpc2 must not read one: it returns an error for a batch of requests, but keeps an empty
// request, serves that together with the next response, and crashes.
var errBatch = protocol.Errorf(protocol.CodeInvalidRequest, "batches are not supported: send each message in a frame of its own")

// received is a message without the parts that jsonrpc2 would decode twice.
type received struct {
	method         string // "" if it is a response
	id             jsonrpc2.ID
	params, result json.RawMessage
}

// notification is the stub of a request without an id.
var notification = []byte(`{"method":""}`)

// decode decodes a frame into a message of jsonrpc2. The library would make a tree of the params and marshal it again,
// and read a result three times, which is slow and loses the order of members. So decode gives it a stub.
func (s *stream) decode(frame []byte, v any) error {
	if bytes.HasPrefix(bytes.TrimSpace(frame), []byte("[")) && json.Valid(frame) {
		return errBatch
	}
	s.received = received{}
	var e envelope
	if json.Unmarshal(frame, &e) != nil || e.Error != nil && string(e.Error) != "null" ||
		(e.Method == "") == (e.Result == nil) {
		return json.Unmarshal(frame, v) // invalid JSON, or another type
	}
	if e.Method != "" && (e.ID == nil || string(e.ID) == "null") {
		s.received = received{method: e.Method, params: e.Params}
		return json.Unmarshal(notification, v)
	}
	id, err := e.id()
	if err != nil {
		return err
	}
	s.received = received{e.Method, id, e.Params, e.Result}
	stub := make([]byte, 0, 64)
	stub = append(append(stub, `{"id":`...), e.ID...)
	if e.Method != "" {
		stub = append(stub, `,"method":""}`...)
	} else {
		stub = append(stub, `,"result":null}`...)
	}
	return json.Unmarshal(stub, v)
}

// restore completes a stub. jsonrpc2 calls it with each message after ReadObject, and with the request of a
// response.
func (s *stream) restore(request *jsonrpc2.Request, response *jsonrpc2.Response) {
	got := s.received
	s.received = received{}
	switch {
	case response != nil && got.result != nil:
		response.Result = &got.result
	case response == nil && got.method != "":
		request.Method = got.method
		if got.params != nil {
			request.Params = &got.params
		}
	}
}

// refuse answers an invalid frame.
func (s *stream) refuse(frame []byte, why *protocol.Error) error {
	message, err := json.Marshal(refusal{"2.0", findID(frame), toWire(why)})
	if err != nil {
		return err
	}
	return s.out.write(message, nil)
}

// prepare sets the request or response that WriteObject writes. jsonrpc2 calls it before each WriteObject.
func (s *stream) prepare(request *jsonrpc2.Request, response *jsonrpc2.Response) {
	s.request, s.response = request, response
}

// WriteObject implements [jsonrpc2.ObjectStream]. It encodes the message of prepare, because the library would marshal
// the object three times.
func (s *stream) WriteObject(any) error {
	head := append(s.head[:0], `{"jsonrpc":"2.0"`...)
	var name string
	var value *json.RawMessage
	if s.response != nil {
		head = appendID(head, s.response.ID)
		name, value = `,"result":`, s.response.Result
		if e := s.response.Error; e != nil {
			message, err := json.Marshal(e)
			if err != nil {
				return err
			}
			head = append(append(head, `,"error":`...), message...)
		}
	} else {
		if !s.request.Notif {
			head = appendID(head, s.request.ID)
		}
		head = appendString(append(head, `,"method":`...), s.request.Method)
		name, value = `,"params":`, s.request.Params
	}
	if value == nil {
		s.head = append(head, '}')
		return s.out.write(s.head, nil)
	}
	s.head = append(head, name...)
	return s.out.write(s.head, *value)
}

// appendID appends the member "id".
func appendID(message []byte, id jsonrpc2.ID) []byte {
	message = append(message, `,"id":`...)
	if id.IsString {
		return appendString(message, id.Str)
	}
	return strconv.AppendUint(message, id.Num, 10)
}

// appendString appends a JSON string.
func appendString(message []byte, text string) []byte {
	for _, c := range []byte(text) {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, _ := json.Marshal(text) // always possible for a string
			return append(message, quoted...)
		}
	}
	return append(append(append(message, '"'), text...), '"')
}

// Close implements [jsonrpc2.ObjectStream]. A peer that still reads gets everything that was written.
func (s *stream) Close() error {
	defer close(s.ended)
	s.out.close()
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	var errs []error
	for _, c := range s.closers {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
