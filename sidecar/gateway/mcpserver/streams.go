package mcpserver

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// maxKept is how many bytes of events a session keeps for a host that lost a stream.
const maxKept = 4 << 20

// streams are the SSE streams of one session. Those that can be resumed are kept until their answer is old.
type streams struct {
	mu       sync.Mutex // guards what follows
	byID     map[string]*eventStream
	order    []*eventStream // those that can be resumed; the oldest is the first
	lastID   int
	standing *eventStream
}

func newStreams() *streams { return &streams{byID: map[string]*eventStream{}} }

// main returns the stream for what belongs to no request.
func (s *streams) main() *eventStream {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.standing == nil {
		s.standing = s.add(true)
	}
	return s.standing
}

// open returns a new stream for the frames of a POST. It ends with its request.
func (s *streams) open(resumable bool) *eventStream {
	s.mu.Lock()
	defer s.mu.Unlock()
	stream := s.add(resumable)
	stream.expected = 1
	return stream
}

// add is called with mu held.
func (s *streams) add(resumable bool) *eventStream {
	s.lastID++
	stream := &eventStream{id: strconv.Itoa(s.lastID), resumable: resumable, begun: make(chan struct{})}
	s.byID[stream.id] = stream
	if resumable {
		s.order = append(s.order, stream)
		s.forget()
	}
	return stream
}

// forget drops the oldest streams that have ended until the rest is small enough. It is called with mu held.
func (s *streams) forget() {
	size := 0
	for _, stream := range s.order {
		size += stream.size()
	}
	kept := s.order[:0]
	for _, stream := range s.order {
		if size > maxKept && stream.hasEnded() {
			size -= stream.size()
			delete(s.byID, stream.id)
			continue
		}
		kept = append(kept, stream)
	}
	clear(s.order[len(kept):])
	s.order = kept
}

// drop removes a stream that no host resumes.
func (s *streams) drop(stream *eventStream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byID, stream.id)
	s.order = slices.DeleteFunc(s.order, func(e *eventStream) bool { return e == stream })
}

// find returns the stream of an event id, and the number of the event.
func (s *streams) find(eventID string) (stream *eventStream, after int, ok bool) {
	id, number, _ := strings.Cut(eventID, "-")
	after, err := strconv.Atoi(number)
	if err != nil {
		return nil, 0, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	stream, ok = s.byID[id]
	return stream, after, ok && stream.resumable
}

// close ends all streams.
func (s *streams) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, stream := range s.byID {
		stream.close()
	}
}

// eventStream is the frames of one SSE stream. It outlives the HTTP response that carries it if it can be resumed. It
// has one reader at a time: a new one takes the place of the one before.
type eventStream struct {
	id        string
	resumable bool
	// begun is closed with the first event, when the stream ends, or when the answer may take long.
	begun chan struct{}
	begin sync.Once

	mu       sync.Mutex // guards what follows
	events   [][]byte
	first    int // the number of events[0], less one
	bytes    int
	expected int // how many requests it waits for
	closed   bool
	reader   *streamReader
}

// streamReader is the response that carries a stream.
type streamReader struct {
	ready chan struct{} // holds one value while there is something to take
	next  int           // the index of the next event, counted from the stream's first
}

// send implements sender.
func (s *eventStream) send(frame []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return errClosed
	case s.bytes+len(frame) > maxQueued && len(s.events) > 0:
		return errSlow
	}
	s.events = append(s.events, frame)
	s.bytes += len(frame)
	s.wake()
	return nil
}

// expect sets how many requests the stream waits for before it ends.
func (s *eventStream) expect(requests int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expected = requests
	s.endIfDone()
}

// end tells that a request of the stream has its answer.
func (s *eventStream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expected--
	s.endIfDone()
}

func (s *eventStream) endIfDone() {
	if s.expected <= 0 {
		s.closed = true
		s.wake()
	}
}

// close ends the stream.
func (s *eventStream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.wake()
}

// start closes begun.
func (s *eventStream) start() { s.begin.Do(func() { close(s.begun) }) }

func (s *eventStream) wake() {
	s.start()
	if s.reader != nil {
		s.reader.wake()
	}
}

func (r *streamReader) wake() {
	select {
	case r.ready <- struct{}{}:
	default:
	}
}

func (s *eventStream) isEmpty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.events) == 0
}

// isOnly reports whether there was one event, which is the last.
func (s *eventStream) isOnly() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.first+len(s.events) == 1
}

func (s *eventStream) hasEnded() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

func (s *eventStream) size() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}

// read returns a reader of the events after the given one. A reader before it ends.
func (s *eventStream) read(after int) *streamReader {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.reader
	s.reader = &streamReader{ready: make(chan struct{}, 1), next: max(after, s.first)}
	if before != nil {
		before.wake()
	}
	return s.reader
}

// release ends a reader.
func (s *eventStream) release(reader *streamReader) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reader == reader {
		s.reader = nil
	}
}

// take returns the events that wait for a reader as SSE, and whether more can come.
func (s *eventStream) take(reader *streamReader) (text []byte, open bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reader != reader {
		return nil, false // another response carries the stream
	}
	for ; reader.next < s.first+len(s.events); reader.next++ {
		if s.resumable {
			text = fmt.Appendf(text, "id: %s-%d\n", s.id, reader.next+1)
		}
		text = fmt.Appendf(text, "event: message\ndata: %s\n\n", s.events[reader.next-s.first])
	}
	s.forget()
	return text, !s.closed
}

// forget drops events that were read: all if the stream cannot be resumed, else the oldest of too many. It is called
// with mu held.
func (s *eventStream) forget() {
	for len(s.events) > 0 && s.first < s.reader.next && (!s.resumable || s.bytes > maxKept) {
		s.bytes -= len(s.events[0])
		s.events[0] = nil
		s.events = s.events[1:]
		s.first++
	}
}
