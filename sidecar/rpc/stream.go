package rpc

import (
	"bufio"
	"bytes"
	"context"
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
	// request is told of each request, by the goroutine that reads; cancel ends those that are being served.
	request func(*request)
	cancel  context.CancelFunc

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

// ReadObject implements [jsonrpc2.ObjectStream], for answers: requests are served on the way to the next one.
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
		isAnswer, err := s.decode(frame, v)
		if err == nil && isAnswer {
			return nil
		}
		if err == nil {
			continue
		}
		var refusal *protocol.Error
		switch {
		case errors.As(err, &refusal):
		case json.Valid(frame):
			refusal = protocol.Errorf(protocol.CodeInvalidRequest, "this is no JSON-RPC 2.0 message: %v", err)
		default:
			refusal = protocol.Errorf(protocol.CodeParseError, "this is no JSON: %v", err)
		}
		if err := s.refuse(frame, refusal); err != nil {
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

// decode decodes a frame. It serves a request. It decodes an answer into v with its raw result, and reports that it is an
// answer.
func (s *stream) decode(frame []byte, v any) (isAnswer bool, err error) {
	if bytes.HasPrefix(bytes.TrimSpace(frame), []byte("[")) && json.Valid(frame) {
		return false, errBatch
	}
	var e envelope
	if err := json.Unmarshal(frame, &e); err != nil || !e.isRequest() {
		return true, json.Unmarshal(frame, v) // or it says what this is instead of a message
	}
	r, err := e.request()
	if err == nil {
		s.request(r)
	}
	return false, err
}

// refuse answers a frame that never became a request.
func (s *stream) refuse(frame []byte, why *protocol.Error) error {
	return s.write(failure{version, findID(frame), toWire(why)})
}

func (s *stream) write(message any) error { return s.out.write(message) }

// WriteObject implements [jsonrpc2.ObjectStream].
func (s *stream) WriteObject(v any) error { return s.write(v) }

// Close implements [jsonrpc2.ObjectStream]. A peer that reads still gets everything that was written.
func (s *stream) Close() error {
	s.cancel()
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
