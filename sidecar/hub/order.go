package hub

import (
	"context"
	"errors"
	"sync"
	"time"

	"assent/protocol"
	"assent/sidecar/task"
	"assent/sidecar/wire"
)

// sequence keeps the order of the questions of one connection, or of one round: each is asked after the one before
// it, though each is served in a goroutine of its own. The zero value has no questions yet.
type sequence struct {
	mu   sync.Mutex    // guards last
	last chan struct{} // closed when the question before has been asked; nil before the first
}

// slowest bounds how long a question waits for the one before it. That one may wait for a list of models, and a
// question must not block its neighbours.
const slowest = 10 * time.Second

// slot is the place of a question in a sequence.
type slot struct {
	before <-chan struct{}
	mine   chan struct{}
	once   sync.Once // closes mine
}

// join returns the next place. It never blocks.
func (s *sequence) join() *slot {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := &slot{before: s.last, mine: make(chan struct{})}
	s.last = next.mine
	return next
}

// await returns when the question before has been asked, or was refused; or when ctx ends.
func (s *slot) await(ctx context.Context) {
	if s.before == nil {
		return
	}
	select {
	case <-s.before:
		return
	default:
	}
	timer := time.NewTimer(slowest)
	defer timer.Stop()
	select {
	case <-s.before:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// pass lets the next question be asked. Later calls change nothing.
func (s *slot) pass() { s.once.Do(func() { close(s.mine) }) }

// question is the task of one request of the server. It lets the next request ask as soon as this one has its place
// in the task, and remembers which asks were answered, because an answer may yet fail to reach the server.
// One goroutine at a time uses it.
type question struct {
	Asker
	slot     *slot
	answered []int64 // their messages
	// left is set where the task was closed with the question open: its calls are about to be cancelled.
	left bool
	// again is set where the server may ask the same again, and then gets the same answer.
	again bool
}

// of sets the task, and returns the question as the task's.
func (q *question) of(t Asker) Asker {
	q.Asker = t
	return q
}

// Ask implements [Asker].
func (q *question) Ask(ctx context.Context, what task.Question) (*task.Answer, error) {
	what.Queued = q.slot.pass
	answer, err := q.Asker.Ask(ctx, what)
	q.slot.pass()
	var ended *task.Ended
	switch {
	case err == nil:
		q.answered = append(q.answered, answer.MessageID)
	case errors.As(err, &ended):
		q.left = ended.Reason == protocol.OutcomeDismissed
	}
	return answer, err
}

// served notes how the request was served. Where the server gets an error, no answer can be lost: the person declined,
// or a model failed, and both are said elsewhere.
func (q *question) served(err error) {
	if err != nil {
		q.answered = nil
	}
}

// delivered notes what became of the answer to the request, as [wire.WhenDelivered] says it.
func (q *question) delivered(err error) {
	if len(q.answered) == 0 || q.Asker == nil {
		return
	}
	why := undelivered(err)
	if q.again && !errors.Is(err, wire.ErrCancelled) && !errors.Is(err, wire.ErrNoAnswer) {
		why = "" // either the server has it, or will ask again
	} else if err == nil {
		return
	}
	for _, messageID := range q.answered {
		q.Undelivered(messageID, why)
	}
}

// undelivered says for the person why the answer to a request did not reach the server.
func undelivered(err error) string {
	switch {
	case errors.Is(err, wire.ErrCancelled):
		return "The server stopped waiting before the answer reached it."
	case errors.Is(err, wire.ErrNoAnswer), wasCancelled(err):
		return "The call was cancelled before the answer reached the server."
	case errors.As(err, new(abandonedError)):
		return "The call was abandoned before the answer reached the server."
	case errors.Is(err, wire.ErrClosed):
		return "The connection to the server ended before the answer reached it."
	default:
		return "The server did not take the answer."
	}
}
