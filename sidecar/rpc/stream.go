package rpc

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"strconv"
	"strings"
	"sync"

	"github.com/sourcegraph/jsonrpc2"

	"assent/protocol"
)

const (
	// maxFrame is the greatest frame that is read, in bytes: into memory, whole.
	maxFrame = 16 << 20
	// maxHeader bounds the lines before a frame, in bytes.
	maxHeader = 4 << 10
	// idPrefix is how far into a frame that is too large its id is looked for.
	idPrefix = 512
)

// stream is the frames. One that is well delimited and otherwise wrong is answered with an error and costs nobody
// the connection; only where the next frame begins must not be lost.
type stream struct {
	opts Options
	in   *bufio.Reader
	out  *writer
	// closers are closed with the stream.
	closers []io.Closer
	// params are those of the request that was read last. Only the goroutine that reads uses them.
	params json.RawMessage
	// request or response is the message that is written next. jsonrpc2's lock for sending guards them.
	request  *jsonrpc2.Request
	response *jsonrpc2.Response

	mu     sync.Mutex // guards the fields below
	closed bool
	broken error
}

var _ jsonrpc2.ObjectStream = (*stream)(nil)

func newStream(in io.Reader, out io.Writer, opts Options) *stream {
	s := &stream{opts: opts, in: bufio.NewReaderSize(in, 64<<10), out: newWriter(out, opts.Tap)}
	for _, end := range []any{in, out} {
		if c, ok := end.(io.Closer); ok {
			s.closers = append(s.closers, c)
		}
	}
	return s
}

// brokenBy returns why the stream could not be followed any further, or nil where it simply ended.
func (s *stream) brokenBy() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broken
}

// ReadObject implements [jsonrpc2.ObjectStream]. The params of a request are left out: see restoreParams.
func (s *stream) ReadObject(v any) error {
	err := s.readObject(v)
	if err != nil && !errors.Is(err, io.EOF) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.closed { // under the reader, which is not the peer's doing
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
		if length > maxFrame {
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
			why = protocol.Errorf(protocol.CodeInvalidRequest, "this is no JSON-RPC 2.0 message: %v", err)
		default:
			why = protocol.Errorf(protocol.CodeParseError, "this is no JSON: %v", err)
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
		text := strings.TrimRight(string(line), "\r\n")
		if text == "" {
			if length < 0 {
				return 0, errors.New("a frame has no Content-Length")
			}
			return length, nil
		}
		name, value, ok := strings.Cut(text, ":")
		if !ok {
			return 0, fmt.Errorf("a frame's header has the line %q", text)
		}
		if textproto.CanonicalMIMEHeaderKey(name) == "Content-Length" {
			if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil || length < 0 {
				return 0, fmt.Errorf("a frame has the Content-Length %q", value)
			}
		}
	}
}

// refuseLarge skips a frame that is too large, and tells its sender.
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
		"a message of %d bytes is too large: the most is %d", length, maxFrame))
}

// errBatch refuses a batch. jsonrpc2 must not read one: it returns an error for a batch of requests, but keeps an empty
// request, serves that together with the next response, and crashes.
var errBatch = protocol.Errorf(protocol.CodeInvalidRequest, "batches are not supported: send each message in a frame of its own")

// decode decodes a frame into a message of jsonrpc2. That would make a tree of the params and marshal it again, which costs
// more than all the rest and loses the order of their members. So it gets a request without them.
func (s *stream) decode(frame []byte, v any) error {
	if bytes.HasPrefix(bytes.TrimSpace(frame), []byte("[")) && json.Valid(frame) {
		return errBatch
	}
	s.params = nil
	var e envelope
	if err := json.Unmarshal(frame, &e); err != nil || e.Method == nil {
		return json.Unmarshal(frame, v) // a response, or it says what this is instead of a message
	}
	if err := e.checkID(); err != nil {
		return err
	}
	s.params, e.Params = e.Params, nil
	request, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return json.Unmarshal(request, v)
}

// restoreParams gives a request the params with which it came. jsonrpc2 calls it with each message after ReadObject.
func (s *stream) restoreParams(request *jsonrpc2.Request, response *jsonrpc2.Response) {
	if response == nil && s.params != nil {
		params := s.params
		request.Params = &params
	}
}

// refuse answers a frame that never became a request.
func (s *stream) refuse(frame []byte, why *protocol.Error) error {
	message, err := json.Marshal(refusal{"2.0", findID(frame), toWire(why)})
	if err != nil {
		return err
	}
	return s.out.write(message)
}

// prepare has WriteObject write a request or a response. jsonrpc2 calls it with each message before WriteObject.
func (s *stream) prepare(request *jsonrpc2.Request, response *jsonrpc2.Response) {
	s.request, s.response = request, response
}

// WriteObject implements [jsonrpc2.ObjectStream]. It encodes the message of prepare, since the object would marshal it three
// times.
func (s *stream) WriteObject(any) error {
	var head struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      *jsonrpc2.ID    `json:"id,omitempty"`
		Method  string          `json:"method,omitempty"`
		Error   *jsonrpc2.Error `json:"error,omitempty"`
	}
	head.JSONRPC = "2.0"
	var name string
	var value *json.RawMessage
	if s.response != nil {
		head.ID, head.Error = &s.response.ID, s.response.Error
		name, value = `,"result":`, s.response.Result
	} else {
		head.Method = s.request.Method
		if !s.request.Notif {
			head.ID = &s.request.ID
		}
		name, value = `,"params":`, s.request.Params
	}
	message, err := json.Marshal(head)
	if err != nil {
		return err
	}
	if value == nil {
		return s.out.write(message)
	}
	return s.out.write(message[:len(message)-1], []byte(name), *value, []byte("}"))
}

// Close implements [jsonrpc2.ObjectStream]. A peer that reads still gets everything that was written.
func (s *stream) Close() error {
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
