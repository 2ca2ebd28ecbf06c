package rpc

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

const (
	// maxPending is how many bytes may wait to be written. With more, write waits for the peer.
	maxPending = 1 << 20
	// maxPooled is the capacity of the greatest buffer that is kept for the next message, in bytes.
	maxPooled = 64 << 10
	// lastWords is how long the peer may take to read what was written before the end.
	lastWords = time.Second

	contentLength = "Content-Length: "
	headerEnd     = "\r\n\r\n"
	// headerRoom is left free before a message, so that its header can be put there once its length is known.
	headerRoom = len(contentLength) + len("18446744073709551615") + len(headerEnd)
)

// writer writes messages in order. While nothing is being written, the caller of write writes its own message. Messages
// that come during a write are collected and written together.
type writer struct {
	w   io.Writer
	tap func(fromPeer bool, frame []byte)

	mu      sync.Mutex // guards the fields below
	changed sync.Cond  // of writing, pending and err
	writing bool       // somebody is, without holding mu
	pending []byte     // the frames that wait for that
	spare   []byte     // what pending becomes when it is written
	err     error
	// most bounds pending, if it is not 0. Then write never waits for the peer. If pending grows beyond most, err becomes
	// tooMuch, and overflow is called.
	most     int
	tooMuch  error
	overflow func()
}

// bound makes write never wait for the peer. If more than most bytes are pending, the writer fails with err and calls
// overflow, which must not wait either.
func (w *writer) bound(most int, err error, overflow func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.most, w.tooMuch, w.overflow = most, err, overflow
}

func newWriter(w io.Writer, tap func(fromPeer bool, frame []byte)) *writer {
	out := &writer{w: w, tap: tap}
	out.changed.L = &out.mu
	return out
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// write writes a message, or adds it to those that wait. It returns the error of an earlier message too: the peer can be
// told nothing more.
func (w *writer) write(message any) error {
	buffer := buffers.Get().(*bytes.Buffer)
	defer func() {
		if buffer.Cap() <= maxPooled {
			buffers.Put(buffer)
		}
	}()
	if err := encode(buffer, message); err != nil {
		return err
	}
	body := buffer.Bytes()[headerRoom:]
	frame := addHeader(buffer.Bytes())
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.most == 0 && len(w.pending) > maxPending && w.err == nil {
		w.changed.Wait()
	}
	if w.err != nil {
		return w.err
	}
	if w.tap != nil {
		w.tap(false, body)
	}
	if w.writing {
		if w.most > 0 && len(w.pending) > w.most {
			w.err = w.tooMuch
			w.changed.Broadcast()
			w.overflow()
			return w.err
		}
		w.pending = append(w.pending, frame...)
		return nil
	}
	if w.most > 0 {
		w.pending = append(w.pending, frame...)
		w.writing = true
		go w.drain() // wait waits for it
		return nil
	}
	w.writing = true
	w.send(frame)
	if len(w.pending) > 0 && w.err == nil {
		go w.drain() // wait waits for it
		return nil
	}
	w.writing = false
	w.changed.Broadcast()
	return w.err
}

// drain writes what has been collected, until there is nothing.
func (w *writer) drain() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.pending) > 0 && w.err == nil {
		frames := w.pending
		w.pending = w.spare[:0]
		w.changed.Broadcast()
		w.send(frames)
		if w.spare = nil; cap(frames) <= maxPooled {
			w.spare = frames
		}
	}
	w.writing = false
	w.changed.Broadcast()
}

// send writes without holding the lock. The caller is the one who writes.
func (w *writer) send(frames []byte) {
	w.mu.Unlock()
	_, err := w.w.Write(frames)
	w.mu.Lock()
	if w.err == nil {
		w.err = err
	}
}

// close lets what was written go out, as long as the peer reads it. Nothing is taken after it. What then still
// hangs in a write ends when that is closed: see wait.
func (w *writer) close() {
	timer := time.AfterFunc(lastWords, func() { w.fail(jsonrpc2.ErrClosed) })
	defer timer.Stop()
	w.mu.Lock()
	for w.writing && w.err == nil {
		w.changed.Wait()
	}
	w.mu.Unlock()
	w.fail(jsonrpc2.ErrClosed)
}

// wait returns when nobody writes any more.
func (w *writer) wait() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.writing {
		w.changed.Wait()
	}
}

func (w *writer) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
	w.changed.Broadcast()
}

// encode writes a message after room for its header.
func encode(buffer *bytes.Buffer, message any) error {
	buffer.Reset()
	var room [headerRoom]byte
	buffer.Write(room[:])
	if err := json.NewEncoder(buffer).Encode(message); err != nil {
		return err
	}
	buffer.Truncate(buffer.Len() - len("\n"))
	return nil
}

// addHeader puts the header before a message, and returns the frame.
func addHeader(message []byte) []byte {
	var room [headerRoom]byte
	header := append(room[:0], contentLength...)
	header = strconv.AppendInt(header, int64(len(message)-headerRoom), 10)
	header = append(header, headerEnd...)
	frame := message[headerRoom-len(header):]
	copy(frame, header)
	return frame
}
