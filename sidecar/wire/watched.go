package wire

import (
	"bytes"
	"io"
	"sync"
	"time"
)

// unfinishedPause is how long the beginning of a message may wait for the rest.
const unfinishedPause = 2 * time.Second

// unfinished watches the beginning of a message without its end: of a line, or of a message on several lines. If nothing more
// comes, the person has to hear what the server wrote.
type unfinished struct {
	stray func(text []byte)

	mu    sync.Mutex // guards the fields below
	timer *time.Timer
	// line is the beginning of a line, and message that of a message on several lines.
	line, message []byte
	// told is set once stray has the text, and closed once the stream has ended.
	told, closed bool
}

// maxUnfinished bounds how much is kept of a beginning, in bytes.
const maxUnfinished = 1 << 10

// watched is a stream whose last line without an end is watched.
type watched struct {
	io.ReadWriteCloser
	unfinished *unfinished
}

// Read implements [io.Reader].
func (w watched) Read(p []byte) (int, error) {
	n, err := w.ReadWriteCloser.Read(p)
	if n > 0 {
		w.unfinished.read(p[:n])
	}
	return n, err
}

// read takes what was read from the stream.
func (u *unfinished) read(data []byte) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if end := bytes.LastIndexByte(data, '\n'); end >= 0 {
		u.line, data = u.line[:0], data[end+1:]
		u.told = false
	}
	u.line = append(u.line, data[:min(len(data), maxUnfinished-len(u.line))]...)
	u.arm()
}

// hold takes the beginning of a message on several lines; nil if there is none.
func (u *unfinished) hold(message []byte) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.message = append(u.message[:0], message[:min(len(message), maxUnfinished)]...)
	u.arm()
}

// arm starts the pause again, if there is a beginning. The lock must be held.
func (u *unfinished) arm() {
	waits := len(u.line)+len(u.message) > 0 && !u.told && !u.closed
	switch {
	case !waits && u.timer != nil:
		u.timer.Stop()
	case waits && u.timer == nil:
		u.timer = time.AfterFunc(unfinishedPause, u.tell)
	case waits:
		u.timer.Reset(unfinishedPause)
	}
}

// tell passes the beginning on, once.
func (u *unfinished) tell() {
	u.mu.Lock()
	text := bytes.Join([][]byte{u.message, u.line}, nil)
	tell := len(text) > 0 && !u.told && !u.closed
	u.told = u.told || tell
	u.mu.Unlock()
	if tell {
		u.stray(append([]byte("(without an end) "), text...))
	}
}

// close ends the watch.
func (u *unfinished) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.closed = true
	u.arm()
}
