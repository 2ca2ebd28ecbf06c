package server

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/sourcegraph/jsonrpc2"

	"assent/protocol"
	"assent/sidecar/tap"
)

const (
	// maxFrame is the greatest frame that a front end may send, in bytes. It is read into memory
	// whole.
	maxFrame = 16 << 20
	// maxHeader bounds the lines before a frame, in bytes.
	maxHeader = 4 << 10
	// idPrefix is how far into a frame that is too large its id is looked for.
	idPrefix = 512
)

// stream is the editor's wire: JSON in Content-Length frames, as in the Language Server Protocol.
// A frame that is well delimited and otherwise wrong is answered with an error and costs nobody the
// connection; only where the next frame begins must not be lost.
type stream struct {
	in  *bufio.Reader
	out io.Writer
	// closers are closed with the stream.
	closers []io.Closer
	tap     *tap.Tap

	writing sync.Mutex // held while a frame is written

	mu     sync.Mutex // guards broken
	broken error
}

var _ jsonrpc2.ObjectStream = (*stream)(nil)

func newStream(in io.Reader, out io.Writer, t *tap.Tap) *stream {
	s := &stream{in: bufio.NewReaderSize(in, 64<<10), out: out, tap: t}
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

// ReadObject implements [jsonrpc2.ObjectStream].
func (s *stream) ReadObject(v any) error {
	err := s.readObject(v)
	// A stream that was closed under the reader was not broken by the front end.
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrClosed) && !errors.Is(err, io.ErrClosedPipe) {
		s.mu.Lock()
		s.broken = fmt.Errorf("the front end broke the wire: %w", err)
		s.mu.Unlock()
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
		s.tap.Frame("frontend", frame)
		err = json.Unmarshal(frame, v)
		if err == nil {
			return nil
		}
		refusal := protocol.Errorf(protocol.CodeInvalidRequest, "this is no JSON-RPC 2.0 message: %v", err)
		if !json.Valid(frame) {
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

// refuse answers a frame that never became a request.
func (s *stream) refuse(frame []byte, why *protocol.Error) error {
	return s.WriteObject(struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *jsonrpc2.Error `json:"error"`
	}{"2.0", findID(frame), toWire(why)})
}

// findID returns the id at the top of a message, of which the end may be missing, or null.
func findID(frame []byte) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(frame))
	if token, err := d.Token(); err != nil || token != json.Delim('{') {
		return json.RawMessage("null")
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			break
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			break
		}
		if name == "id" {
			return value
		}
	}
	return json.RawMessage("null")
}

// WriteObject implements [jsonrpc2.ObjectStream].
func (s *stream) WriteObject(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	s.tap.Frame("sidecar", data)
	frame := make([]byte, 0, len(data)+32)
	frame = fmt.Appendf(frame, "Content-Length: %d\r\n\r\n", len(data))
	_, err = s.out.Write(append(frame, data...))
	return err
}

// Close implements [jsonrpc2.ObjectStream].
func (s *stream) Close() error {
	var errs []error
	for _, c := range s.closers {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
