package rpc

import (
	"errors"
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
	// closeTimeout is how long Close waits for the peer to read the rest.
	closeTimeout = time.Second
	// large is how many bytes a value has that is not copied.
	large = 1 << 20
	// chunk is how many bytes are written at once, so that it shows whether the peer reads on.
	chunk = 256 << 10
	// readTimeout is how long a peer may take to read a chunk, while more than [Options.MaxBacklog] waits for it.
	readTimeout = 10 * time.Second
	// maxWaiting is how many bytes may wait for a peer that reads, but more slowly than they come. A frame may be the
	// greatest that a server may send, and there may be several at once.
	maxWaiting = 256 << 20
)

// writer writes messages in order, in a goroutine that runs while there are any. Messages that arrive during a
// write are collected and written together.
type writer struct {
	w   io.Writer
	tap func(fromPeer bool, frame []byte)

	mu      sync.Mutex // guards the fields below
	changed sync.Cond  // of writing, pending and err
	writing bool       // drain runs
	pending []byte     // the frames that wait for it, without large values
	values  []placed   // the large values
	spare   []byte     // the buffer for pending after a write
	err     error
	// waiting counts the bytes that are not yet written, and progress is when the last of them were.
	waiting  int
	progress time.Time
	// most is not 0 if write never blocks; see bound.
	most     int
	overflow func(waiting int) error
	// watch runs while more than most bytes wait.
	watch *time.Timer
}

// placed is a value that belongs at an offset of the pending frames.
type placed struct {
	at    int
	value []byte
}

// bound makes write non-blocking. The writer fails with the error of overflow if the peer reads nothing for
// [readTimeout] while more than most bytes wait, or if more than [maxWaiting] bytes wait. Overflow must not block.
func (w *writer) bound(most int, overflow func(waiting int) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.most, w.overflow = most, overflow
}

func newWriter(w io.Writer, tap func(fromPeer bool, frame []byte)) *writer {
	out := &writer{w: w, tap: tap}
	out.changed.L = &out.mu
	return out
}

// write queues a message: head and, if there is a value, value and "}". It also returns the error of an earlier
// message, because nothing reaches the peer after it. It does not keep head, and reads a large value later.
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
	w.waiting -= len(w.pending)
	w.pending = append(w.pending, "Content-Length: "...)
	w.pending = strconv.AppendInt(w.pending, int64(length), 10)
	w.pending = append(w.pending, "\r\n\r\n"...)
	start := len(w.pending)
	w.pending = append(w.pending, head...)
	switch {
	case value == nil:
	case len(value) < large || w.tap != nil:
		w.pending = append(append(w.pending, value...), '}')
	default:
		w.values = append(w.values, placed{len(w.pending), value})
		w.pending = append(w.pending, '}')
		w.waiting += len(value)
	}
	if w.tap != nil {
		w.tap(false, w.pending[start:])
	}
	if !w.writing {
		w.writing = true
		w.progress = time.Now()
		go w.drain() // wait waits for it
	}
	w.waiting += len(w.pending)
	if w.most > 0 && w.waiting > w.most {
		if w.waiting > maxWaiting {
			w.giveUp()
		} else if w.watch == nil {
			w.watch = time.AfterFunc(readTimeout, w.judge)
		}
	}
	return w.err
}

// judge ends the connection if the peer has read nothing for [readTimeout].
func (w *writer) judge() {
	w.mu.Lock()
	defer w.mu.Unlock()
	rest := readTimeout - time.Since(w.progress)
	switch {
	case w.err != nil || w.waiting <= w.most:
		w.watch = nil
	case rest <= 0:
		w.giveUp()
	default:
		w.watch.Reset(rest)
	}
}

// giveUp has the writer fail for its peer. The lock must be held.
func (w *writer) giveUp() {
	if w.err == nil {
		w.err = w.overflow(w.waiting)
		w.changed.Broadcast()
	}
}

// drain writes the pending messages until there are none.
func (w *writer) drain() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.pending) > 0 && w.err == nil {
		frames, values := w.pending, w.values
		w.pending, w.values = w.spare[:0], nil
		w.changed.Broadcast()
		begin := 0
		for _, v := range values {
			w.send(frames[begin:v.at])
			w.send(v.value)
			begin = v.at
		}
		w.send(frames[begin:])
		if w.spare = nil; cap(frames) <= maxSpare {
			w.spare = frames
		}
	}
	w.writing = false
	if w.watch != nil {
		w.watch.Stop()
		w.watch = nil
	}
	w.changed.Broadcast()
}

// send writes bytes, without the lock, which must be held.
func (w *writer) send(rest []byte) {
	for len(rest) > 0 && w.err == nil {
		w.mu.Unlock()
		n, err := w.w.Write(rest[:min(len(rest), chunk)])
		w.mu.Lock()
		w.waiting -= n
		w.progress = time.Now()
		rest = rest[n:]
		if w.err == nil {
			w.err = err
		}
	}
}

// close lets the pending messages be written, as long as the peer reads them, and accepts no more. A blocked
// write ends when the underlying writer is closed: see wait.
func (w *writer) close() {
	timer := time.AfterFunc(closeTimeout, func() { w.fail(jsonrpc2.ErrClosed) })
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

// unread returns the error of a peer that did not read, or nil.
func (w *writer) unread() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if errors.Is(w.err, errBacklog) {
		return w.err
	}
	return nil
}

func (w *writer) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
	w.changed.Broadcast()
}
