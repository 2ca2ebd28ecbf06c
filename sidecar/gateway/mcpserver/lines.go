package mcpserver

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"

	"github.com/google/uuid"
	"github.com/rs/zerolog"
)

// readSize is the size of the buffer that each pipe has, in bytes. Nearly all frames are shorter.
const readSize = 16 << 10

// Options configure [ServeLines].
type Options struct {
	// MaxFrame is the greatest frame that a host may send, in bytes. 0 means [DefaultMaxFrame].
	MaxFrame int
	// ID and Environment are for [Session]. Without an ID, the session gets one.
	ID          string
	Environment map[string]string
	Log         zerolog.Logger
}

// ServeLines serves a host over a pipe, on which each frame is a line (MCP, "Transports: stdio"). It returns when the
// host closes the pipe, the pipe breaks, or the context ends, and all requests have ended. It closes the pipe. The
// error is nil if the host closed it.
func ServeLines(ctx context.Context, pipe io.ReadWriteCloser, server Server, opts Options) error {
	out := newQueue()
	s := newSession(cmp.Or(opts.ID, uuid.NewString()), server, opts.Log)
	s.main, s.Environment = out, opts.Environment
	stop := context.AfterFunc(ctx, func() { s.end(context.Cause(ctx)) })
	defer stop()
	// A session that ends closes its pipe, which ends the reading and the writing.
	closed := make(chan error, 1)
	context.AfterFunc(s.life, func() { closed <- pipe.Close() })
	written := make(chan error, 1)
	go func() {
		err := writeLines(pipe, out)
		written <- err
		if err != nil {
			s.end(err)
		}
	}()

	err := readLines(pipe, s, opts.MaxFrame)
	// Requests before the pipe's end are cancelled, because their answers cannot be delivered.
	if err == nil {
		err = ErrEnded
	}
	s.close(err)
	out.close()
	<-written
	<-closed
	if cause := context.Cause(s.life); !errors.Is(cause, ErrEnded) {
		return cause
	}
	return nil
}

// writeLines writes the frames of a queue until it is closed. Frames that wait together are one write.
func writeLines(w io.Writer, q *queue) error {
	out := bufio.NewWriterSize(w, readSize) // it does not copy longer frames
	for range q.ready {
		frames, open := q.take()
		for _, frame := range frames {
			_, _ = out.Write(frame) // Flush returns the error
			_ = out.WriteByte('\n')
		}
		if err := out.Flush(); err != nil {
			return err
		}
		if !open {
			return nil
		}
	}
	return nil
}

// readLines gives each line to the session until the pipe ends. The error is nil at its end.
func readLines(r io.Reader, s *Session, maxFrame int) error {
	if maxFrame == 0 {
		maxFrame = DefaultMaxFrame
	}
	in := bufio.NewReaderSize(r, readSize)
	for {
		line, err := ReadLine(in, maxFrame)
		switch {
		case errors.Is(err, ErrTooLong):
			s.refuse(nil, TooLong(maxFrame))
			continue
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		s.line(line)
	}
}

// ErrTooLong is the error of a line that is too long.
var ErrTooLong = errors.New("the line is too long")

// TooLong returns the error with which a host hears of a message that is too long.
func TooLong(maxFrame int) *Error {
	return errorf(CodeInvalidRequest, "a message has at most %d bytes", maxFrame)
}

// ReadLine returns the next line, which belongs to the caller. A line that is too long is read to its end, and the error is
// [ErrTooLong]. With an error of the reader comes the part of a line that was read before.
func ReadLine(in *bufio.Reader, maxFrame int) ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		part, err := in.ReadSlice('\n')
		if tooLong = tooLong || len(line)+len(part) > maxFrame; tooLong {
			line = nil
		} else {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil:
			return line, err
		case tooLong:
			return nil, ErrTooLong
		default:
			return line, nil
		}
	}
}

// line takes one line of a host.
func (s *Session) line(line []byte) {
	frames, bad := decodeAll(line)
	for _, b := range bad {
		if s.isOpen(b.id) {
			b.id = nil // the answer with this id is another request's
		}
		s.refuse(b.id, b.err)
	}
	for _, f := range frames {
		switch {
		case f.isNotification():
			s.notification(f)
		case !f.isRequest():
			s.response(f)
		default:
			r, err := s.begin(f, string(f.ID), s.main)
			if err != nil {
				s.refuse(f.ID, err)
				continue
			}
			s.start(r, func() {})
		}
	}
}

// refuse answers a frame that is not served.
func (s *Session) refuse(id []byte, err *Error) {
	// If the host does not read, deliver ends the session.
	_ = s.deliver(s.main, errorFrame(id, err))
}
