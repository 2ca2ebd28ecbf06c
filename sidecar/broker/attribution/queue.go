package attribution

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"assent/protocol"
	"assent/sidecar/task"
)

// maxSettled bounds how many settled requests are remembered, for a person who claims one too late.
const maxSettled = 100

// QueueOptions configure a Queue. All fields are required. The queue calls Changed, Ended and NewTask with its lock held, so
// that their calls are in order; no function may call the queue.
type QueueOptions struct {
	// Changed gets how many requests wait.
	Changed func(count int)
	// Ended gets each request that no person assigned, and its outcome.
	Ended func(r *Request, outcome protocol.Outcome)
	// Task finds a task.
	Task func(id string) (Task, error)
	// NewTask creates a task for a request alone, and returns its id.
	NewTask func(r *Request) (string, error)
	Now     func() time.Time
	NewID   func() string
}

// Assignment is a person's decision which task a request belongs to.
type Assignment struct {
	Task   Task
	TaskID string
	// MessageID is the message of the call in flight that the request belongs to; 0 if the person named none.
	MessageID int64
	// By names the front end in which the person decided.
	By string
	// Asked gets the message and the id of the request's ask as soon as it exists, or zero values if there will be none.
	// Later calls change nothing.
	Asked func(messageID int64, askID string)
}

// Queue holds the requests that could not be attributed to a task, until a person assigns each to one. A request is settled
// exactly once. The queue has no limit: the policy counts the requests before. It keeps nothing over a restart of the
// sidecar, which ends the requests as well.
type Queue struct {
	opts QueueOptions

	mu      sync.Mutex // guards the fields below
	waiting []*unattributed
	settled []settlement // the last ones, the oldest first
}

// unattributed is a request that waits.
type unattributed struct {
	request *Request
	// shown is the request for front ends, without its candidates.
	shown      protocol.UnattributedAsk
	candidates func() []protocol.AskCandidate
	// done is closed when one of assignment and ended is set.
	done       chan struct{}
	assignment *Assignment
	ended      *task.Ended
}

// settlement is the outcome of a request.
type settlement struct {
	id      string
	outcome protocol.Outcome
}

// NewQueue returns an empty queue.
func NewQueue(opts QueueOptions) *Queue { return &Queue{opts: opts} }

// Await shows a request to the person, blocks until they have assigned it to a task, and gives it to that task. The error is
// a [task.Ended]: the person dismissed the request, or ctx ended, with a task.Ended as its cause.
func (q *Queue) Await(ctx context.Context, r *Request) error {
	q.mu.Lock()
	u := &unattributed{
		request: r, candidates: r.Candidates, done: make(chan struct{}),
		shown: protocol.UnattributedAsk{ID: q.opts.NewID(), Time: q.now(), ServerName: r.Origin.ServerName, Wants: r.Wants, Text: r.Text, Question: r.Question},
	}
	q.waiting = append(q.waiting, u)
	r.Slot.Pass()
	q.opts.Changed(len(q.waiting))
	q.mu.Unlock()
	select {
	case <-u.done:
	case <-ctx.Done():
		ended := &task.Ended{Reason: protocol.OutcomeServerStoppedWaiting, Detail: "The server stopped waiting."}
		errors.As(context.Cause(ctx), &ended)
		q.mu.Lock()
		if q.settleLocked(u, protocol.Outcome{Reason: ended.Reason, Detail: ended.Detail}) {
			u.ended = ended
			close(u.done)
		}
		q.mu.Unlock()
	}
	if u.ended != nil {
		return u.ended
	}
	r.Assign(u.assignment)
	return nil
}

// settleLocked takes a request out of the queue. Only the first settlement counts: it returns false for a later one.
func (q *Queue) settleLocked(u *unattributed, outcome protocol.Outcome) bool {
	at := slices.Index(q.waiting, u)
	if at < 0 {
		return false
	}
	outcome.At = q.now()
	q.waiting = slices.Delete(q.waiting, at, at+1)
	q.settled = append(q.settled, settlement{u.shown.ID, outcome})
	q.settled = q.settled[max(0, len(q.settled)-maxSettled):]
	if outcome.Reason != protocol.OutcomeAnswered {
		q.opts.Ended(u.request, outcome)
	}
	q.opts.Changed(len(q.waiting))
	return true
}

// List returns the requests that wait, the oldest first.
func (q *Queue) List() []protocol.UnattributedAsk {
	q.mu.Lock()
	waiting := slices.Clone(q.waiting)
	q.mu.Unlock()
	var list []protocol.UnattributedAsk
	for _, u := range waiting {
		one := u.shown
		one.Candidates = q.openCandidates(u)
		list = append(list, one)
	}
	return list
}

// openCandidates returns the candidates of a request with the titles of their tasks, without those of closed tasks.
func (q *Queue) openCandidates(u *unattributed) []protocol.AskCandidate {
	var open []protocol.AskCandidate
	for _, c := range u.candidates() {
		t, err := q.opts.Task(c.TaskID)
		if err != nil {
			continue
		}
		if info := t.Info(); !info.Closed {
			c.Title = info.Title
			open = append(open, c)
		}
	}
	return open
}

// Claim assigns a request to a task; by names the person's front end. It returns when the request is an ask of that task. See
// [protocol.Sidecar.ClaimAsk] for the errors.
func (q *Queue) Claim(ctx context.Context, params *protocol.ClaimAskParams, by string) (*protocol.ClaimAskResult, error) {
	asked, taskID, err := q.claim(params, by)
	if err != nil || asked == nil {
		return &protocol.ClaimAskResult{}, err
	}
	select {
	case one := <-asked:
		return &protocol.ClaimAskResult{TaskID: taskID, MessageID: one.messageID, AskID: one.askID}, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// madeAsk is the ask that a request became; zero if it became none.
type madeAsk struct {
	messageID int64
	askID     string
}

// claim settles a request by a person's decision. The returned channel gets the ask; it is nil if the person dismissed the
// request.
func (q *Queue) claim(params *protocol.ClaimAskParams, by string) (asked <-chan madeAsk, taskID string, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	at := slices.IndexFunc(q.waiting, func(u *unattributed) bool { return u.shown.ID == params.ID })
	if at < 0 {
		return nil, "", q.goneLocked(params.ID)
	}
	u := q.waiting[at]
	a := &Assignment{By: by}
	switch {
	case !oneOf(params.TaskID != "", params.NewTask, params.Dismiss):
		return nil, "", protocol.Errorf(protocol.CodeInvalidParams, "exactly one of taskId, newTask and dismiss says what becomes of the question")
	case params.Dismiss:
		u.ended = &task.Ended{Reason: protocol.OutcomeDismissed, Detail: "The person dismissed it."}
		q.settleLocked(u, protocol.Outcome{Reason: protocol.OutcomeDismissed, By: by})
		close(u.done)
		return nil, "", nil
	case params.NewTask:
		if a.TaskID, err = q.opts.NewTask(u.request); err != nil {
			return nil, "", err
		}
	default:
		c, err := candidate(q.openCandidates(u), params)
		if err != nil {
			return nil, "", err
		}
		a.TaskID = c.TaskID
		if c.State != protocol.CandidateEnded {
			a.MessageID = c.MessageID
		}
	}
	if a.Task, err = q.opts.Task(a.TaskID); err != nil {
		return nil, "", err
	}
	made := make(chan madeAsk, 1)
	a.Asked = func(messageID int64, askID string) {
		select {
		case made <- madeAsk{messageID, askID}:
		default: // only the first counts
		}
	}
	u.assignment = a
	q.settleLocked(u, protocol.Outcome{Reason: protocol.OutcomeAnswered, By: by})
	close(u.done)
	return made, a.TaskID, nil
}

// oneOf reports whether exactly one is true.
func oneOf(conditions ...bool) bool {
	n := 0
	for _, c := range conditions {
		if c {
			n++
		}
	}
	return n == 1
}

// candidate returns the one that a person named. The message may be left out if the task has only one.
func candidate(all []protocol.AskCandidate, params *protocol.ClaimAskParams) (protocol.AskCandidate, error) {
	named := slices.DeleteFunc(all, func(c protocol.AskCandidate) bool {
		return c.TaskID != params.TaskID || params.MessageID != 0 && c.MessageID != params.MessageID
	})
	if len(named) != 1 {
		return protocol.AskCandidate{}, protocol.Errorf(protocol.CodeInvalidParams,
			"the question cannot be of that call: it has ended, or its task is closed. Choose another")
	}
	return named[0], nil
}

// goneLocked returns the error that explains why a request cannot be claimed.
func (q *Queue) goneLocked(id string) error {
	at := slices.IndexFunc(q.settled, func(s settlement) bool { return s.id == id })
	if at < 0 {
		return protocol.Errorf(protocol.CodeUnknownAsk, "no question %q waits to be placed", id)
	}
	o := q.settled[at].outcome
	when := time.UnixMilli(o.At).Format(time.TimeOnly)
	message := "this question ended at " + when + ": " + cmp.Or(o.Detail, string(o.Reason))
	switch o.Reason {
	case protocol.OutcomeAnswered:
		message = "this question was already placed by " + o.By + " at " + when
	case protocol.OutcomeDismissed:
		message = "this question was already dismissed by " + o.By + " at " + when
	}
	return &protocol.Error{Code: protocol.CodeAskSettled, Message: message, Data: o}
}

func (q *Queue) now() int64 { return q.opts.Now().UnixMilli() }
