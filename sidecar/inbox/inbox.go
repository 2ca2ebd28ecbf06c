// Package inbox holds the requests of servers that nothing proves to be of one conversation, until a person
// says whose they are.
//
// [Inbox.Await] blocks until that is said by [Inbox.Claim], or its context ends: each request is settled
// exactly once. An [Inbox] may be used from any goroutine. It bounds nothing: whoever awaits has counted the
// request before. It keeps nothing over a restart of the sidecar, which ends the requests as well.
package inbox

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

// maxSettled bounds how many settled requests are remembered, for whoever claims them too late.
const maxSettled = 100

// Options are what an inbox needs. All functions are called with its lock held, so that what they are told
// is in order, and must not call it.
type Options struct {
	// Changed is told how many requests wait.
	Changed func(count int)
	// Ended is told of each request that nobody placed, and why it waits no more.
	Ended func(r Request, outcome protocol.Outcome)
	// NewTask makes the conversation for a request that is to have one of its own, and returns its id.
	NewTask func(r Request) (string, error)
	Now     func() time.Time
	NewID   func() string
}

// Request is a request without a conversation.
type Request struct {
	ServerName string
	// Method is MCP's.
	Method string
	Wants  protocol.AskWants
	Text   string
	// Candidates returns who may have caused it, as of now. It must not call the inbox.
	Candidates func() []protocol.AskCandidate
	// Queued, where it is not nil, is called once the request has its place among those that wait. It must not call
	// the inbox.
	Queued func()
}

// Place is where a person put a request.
type Place struct {
	TaskID string
	// MessageID is of the call in flight that they said it belongs to; 0 where they named none.
	MessageID int64
	// By names their front end.
	By string
	// Asked is to be called once it is certain what came of it: with the message of the ask, or 0 where
	// there is none. Later calls change nothing.
	Asked func(messageID int64)
}

// Inbox holds what waits to be placed.
type Inbox struct {
	opts Options

	mu      sync.Mutex // guards the fields below
	waiting []*unclaimed
	settled []settlement // the last ones, the oldest first
}

// unclaimed is a request that waits.
type unclaimed struct {
	Request
	id   string
	time int64
	// done is closed when place is set, or nothing will be.
	done  chan struct{}
	place *Place
	ended *task.Ended
}

// settlement is what became of a request.
type settlement struct {
	id      string
	outcome protocol.Outcome
}

// New returns an empty inbox.
func New(opts Options) *Inbox { return &Inbox{opts: opts} }

// Await puts a request before the person and blocks until they have placed it. The error is a [task.Ended]:
// the person dismissed it, or ctx ended, whose cause should be one.
func (i *Inbox) Await(ctx context.Context, r Request) (*Place, error) {
	i.mu.Lock()
	u := &unclaimed{Request: r, id: i.opts.NewID(), time: i.now(), done: make(chan struct{})}
	i.waiting = append(i.waiting, u)
	if r.Queued != nil {
		r.Queued()
	}
	i.opts.Changed(len(i.waiting))
	i.mu.Unlock()
	select {
	case <-u.done:
	case <-ctx.Done():
		ended := &task.Ended{Reason: protocol.OutcomeServerStoppedWaiting, Detail: "The server stopped waiting."}
		errors.As(context.Cause(ctx), &ended)
		i.mu.Lock()
		if i.settle(u, protocol.Outcome{Reason: ended.Reason, Detail: ended.Detail}) {
			u.ended = ended
			close(u.done)
		}
		i.mu.Unlock()
	}
	if u.ended != nil {
		return nil, u.ended
	}
	return u.place, nil
}

// settle takes a request out. Only the first settlement counts, and is reported. The lock must be held.
func (i *Inbox) settle(u *unclaimed, outcome protocol.Outcome) bool {
	at := slices.Index(i.waiting, u)
	if at < 0 {
		return false
	}
	outcome.At = i.now()
	i.waiting = slices.Delete(i.waiting, at, at+1)
	i.settled = append(i.settled, settlement{u.id, outcome})
	i.settled = i.settled[max(0, len(i.settled)-maxSettled):]
	if outcome.Reason != protocol.OutcomeAnswered {
		i.opts.Ended(u.Request, outcome)
	}
	i.opts.Changed(len(i.waiting))
	return true
}

// List returns what waits, the oldest first.
func (i *Inbox) List() []protocol.UnclaimedAsk {
	i.mu.Lock()
	waiting := slices.Clone(i.waiting)
	i.mu.Unlock()
	var list []protocol.UnclaimedAsk
	for _, u := range waiting {
		list = append(list, protocol.UnclaimedAsk{
			ID: u.id, Time: u.time, ServerName: u.ServerName, Wants: u.Wants, Text: u.Text, Candidates: u.Candidates(),
		})
	}
	return list
}

// Claim says whose a request is; by names the person's front end. It returns when the request is an ask
// there. See [protocol.Sidecar.ClaimAsk] for the errors.
func (i *Inbox) Claim(ctx context.Context, params *protocol.ClaimAskParams, by string) (*protocol.ClaimAskResult, error) {
	asked, taskID, err := i.claim(params, by)
	if err != nil || asked == nil {
		return &protocol.ClaimAskResult{}, err
	}
	select {
	case id := <-asked:
		return &protocol.ClaimAskResult{TaskID: taskID, MessageID: id}, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// claim settles a request by a person's word. What it returns brings the message of the ask, and is nil
// where the person dismissed it.
func (i *Inbox) claim(params *protocol.ClaimAskParams, by string) (asked <-chan int64, taskID string, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	at := slices.IndexFunc(i.waiting, func(u *unclaimed) bool { return u.id == params.ID })
	if at < 0 {
		return nil, "", i.gone(params.ID)
	}
	u := i.waiting[at]
	place := &Place{By: by}
	switch {
	case !oneOf(params.TaskID != "", params.NewTask, params.Dismiss):
		return nil, "", protocol.Errorf(protocol.CodeInvalidParams, "exactly one of taskId, newTask and dismiss says what becomes of the question")
	case params.Dismiss:
		u.ended = &task.Ended{Reason: protocol.OutcomeDismissed, Detail: "The person dismissed it."}
		i.settle(u, protocol.Outcome{Reason: protocol.OutcomeDismissed, By: by})
		close(u.done)
		return nil, "", nil
	case params.NewTask:
		if place.TaskID, err = i.opts.NewTask(u.Request); err != nil {
			return nil, "", err
		}
	default:
		c, err := candidate(u.Candidates(), params)
		if err != nil {
			return nil, "", err
		}
		place.TaskID = c.TaskID
		if c.State != protocol.CandidateEnded {
			place.MessageID = c.MessageID
		}
	}
	told := make(chan int64, 1)
	place.Asked = func(messageID int64) {
		select {
		case told <- messageID:
		default: // only the first counts
		}
	}
	u.place = place
	i.settle(u, protocol.Outcome{Reason: protocol.OutcomeAnswered, By: by})
	close(u.done)
	return told, place.TaskID, nil
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

// candidate returns the one that a person named. The message may be left out where the task has one alone.
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

// gone says why a request cannot be claimed. The lock must be held.
func (i *Inbox) gone(id string) error {
	at := slices.IndexFunc(i.settled, func(s settlement) bool { return s.id == id })
	if at < 0 {
		return protocol.Errorf(protocol.CodeUnknownAsk, "no question %q waits to be placed", id)
	}
	o := i.settled[at].outcome
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

func (i *Inbox) now() int64 { return i.opts.Now().UnixMilli() }
