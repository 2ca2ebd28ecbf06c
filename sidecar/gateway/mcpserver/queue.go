package mcpserver

import (
	"errors"
	"sync"
)

// maxQueued is how many bytes may wait for a host that does not read.
const maxQueued = 32 << 20

// errSlow ends a session if its host does not read.
var errSlow = errors.New("the host does not read its messages")

// errClosed is the error of a frame for a stream that has ended.
var errClosed = errors.New("the stream to the host has ended")

// queue holds frames until a writer takes them. It has one writer, and any number of senders that never wait.
type queue struct {
	// ready holds one value while there is something to take: a frame, or the end.
	ready chan struct{}

	mu     sync.Mutex // guards what follows
	frames [][]byte
	size   int
	closed bool
}

func newQueue() *queue { return &queue{ready: make(chan struct{}, 1)} }

// send adds a frame.
func (q *queue) send(frame []byte) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed:
		return errClosed
	case q.size+len(frame) > maxQueued && len(q.frames) > 0:
		return errSlow
	}
	q.frames = append(q.frames, frame)
	q.size += len(frame)
	q.wake()
	return nil
}

// take returns the frames that wait, and whether more can come.
func (q *queue) take() (frames [][]byte, open bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	frames, q.frames, q.size = q.frames, nil, 0
	return frames, !q.closed
}

// close ends the queue. Frames that wait can still be taken.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.wake()
}

// wake has the writer look. It is called with mu held.
func (q *queue) wake() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}
