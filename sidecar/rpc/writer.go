package rpc

import (
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

const (
	// maxPending is how many bytes may wait to be written. With more, write blocks.
	maxPending = 1 << 20
	// maxSpare is the maximum capacity of a buffer that is kept for the next frames, in bytes.
	maxSpare = 64 << 10
	// lastWords is how long Close waits for the peer to read the rest.
	lastWords = time.Second
)

// writer writes messages in order, in a goroutine that runs while there are any. Messages that arrive during a
// write are collected and written together.
type writer struct {
	w   io.Writer
	tap func(fromPeer bool, frame []byte)

	mu      sync.Mutex // guards the fields below
	changed sync.Cond  // of writing, pending and err
	writing bool       // drain runs
	pending []byte     // the frames that wait for it
	spare   []byte     // the buffer for pending after a write
	err     error
	// most bounds pending, if it is not 0. Then write never blocks. If pending exceeds most, err becomes tooMuch, and
	// overflow is called.
	most     int
	tooMuch  error
	overflow func()
}

// bound makes write non-blocking. If more than most bytes are pending, the writer fails with err and calls overflow,
// which must not block either.
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

// write queues a message: head and, if there is a value, value and "}". It also returns the error of an earlier
// message, because nothing reaches the peer after it. It does not keep head and value.
func (w *writer) write(head, value []byte) error {
	length := len(head)
	if value != nil {
		length += len(value) + len("}")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.most == 0 && len(w.pending) > maxPending && w.err == nil {
		w.changed.Wait()
	}
	if w.err != nil {
		return w.err
	}
	tooMuch := w.most > 0 && w.writing && len(w.pending) > w.most
	w.pending = append(w.pending, "Content-Length: "...)
	w.pending = strconv.AppendInt(w.pending, int64(length), 10)
	w.pending = append(w.pending, "\r\n\r\n"...)
	start := len(w.pending)
	w.pending = append(w.pending, head...)
	if value != nil {
		w.pending = append(append(w.pending, value...), '}')
	}
	if w.tap != nil {
		w.tap(false, w.pending[start:])
	}
	if tooMuch {
		w.err = w.tooMuch
		w.changed.Broadcast()
		w.overflow()
		return w.err
	}
	if !w.writing {
		w.writing = true
		go w.drain() // wait waits for it
	}
	return nil
}

// drain writes the pending messages until there are none.
func (w *writer) drain() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.pending) > 0 && w.err == nil {
		frames := w.pending
		w.pending = w.spare[:0]
		w.changed.Broadcast()
		w.mu.Unlock()
		_, err := w.w.Write(frames)
		w.mu.Lock()
		if w.err == nil {
			w.err = err
		}
		if w.spare = nil; cap(frames) <= maxSpare {
			w.spare = frames
		}
	}
	w.writing = false
	w.changed.Broadcast()
}

// close lets the pending messages be written, as long as the peer reads them, and accepts no more. A blocked
// write ends when the underlying writer is closed: see wait.
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

// wait returns when no goroutine writes.
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
