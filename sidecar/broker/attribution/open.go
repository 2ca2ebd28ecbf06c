package attribution

import (
	"context"
	"slices"

	"assent/protocol"
)

// openRequest is a request that ends with its calls.
type openRequest struct {
	ledger *Ledger
	// calls are those that it can belong to and that are not over; none if it belongs to no call. The ledger's lock guards
	// them.
	calls []*Call
	// withdrawn is set once a call that it can have belonged to was cancelled. The same lock guards it.
	withdrawn bool
	cancel    context.CancelCauseFunc
	// ending reports whether the request or the connection has ended, and the ask is about to.
	ending func() bool
	done   chan struct{} // closed when it is served
}

// Open is [Ledger.Attribute] for a request that ends with its calls. The returned context is for the request's asks. It ends
// with the request, the connection, or the last of the calls that the request can belong to, and its cause is then a
// [task.Ended]. The caller calls done when the request is served.
func (l *Ledger) Open(request context.Context, r *Request, of *Call, uses []*Call) (ctx context.Context, taskID string, done func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	taskID = l.attributeLocked(r, of, uses)
	ctx, r.open = l.openLocked(request, r.causes)
	stopRequest, stopConn := r.open.endWith(request, r.causes)
	return ctx, taskID, func() {
		stopRequest()
		stopConn()
		r.open.close()
	}
}

func (l *Ledger) openLocked(request context.Context, calls []*Call) (context.Context, *openRequest) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(request))
	o := &openRequest{
		ledger: l,
		calls:  slices.Clone(calls), // the request's own stay as they are
		cancel: cancel,
		ending: func() bool { return request.Err() != nil || l.ctx.Err() != nil },
		done:   make(chan struct{}),
	}
	if len(calls) > 0 {
		l.open[o] = struct{}{}
	}
	return ctx, o
}

// endWith ends the asks of a request with the request and with the connection.
func (o *openRequest) endWith(request context.Context, calls []*Call) (stopRequest, stopConn func() bool) {
	end := func() {
		cause := context.Cause(o.ledger.ctx) // the better reason, if the connection ends as well
		if cause == nil {
			cause = context.Cause(request)
		}
		ended := RequestEnded(cause)
		if ended.Reason == protocol.OutcomeServerStoppedWaiting && allCancelled(calls) {
			// The server withdraws its request because its call was cancelled, and may be faster than [Ledger.End].
			ended = CallEnded(context.Cause(calls[0].ctx))
		}
		o.cancel(ended)
	}
	return context.AfterFunc(request, end), context.AfterFunc(o.ledger.ctx, end)
}

// allCancelled reports whether there are calls, and each is cancelled.
func allCancelled(calls []*Call) bool {
	return len(calls) > 0 && !slices.ContainsFunc(calls, func(one *Call) bool { return one.ctx.Err() == nil })
}

// close notes that the request is served.
func (o *openRequest) close() {
	o.cancel(nil)
	o.ledger.mu.Lock()
	delete(o.ledger.open, o)
	o.ledger.mu.Unlock()
	close(o.done)
}

// Withdrawn reports whether a request that was opened gets no answer: every call that it can belong to is over, and one of
// them was cancelled or is about to be; or the connection is about to end, and there is no answer of a person.
func (r *Request) Withdrawn() bool {
	o := r.open
	o.ledger.mu.Lock()
	defer o.ledger.mu.Unlock()
	if o.ledger.ctx.Err() != nil && len(r.asks.answered) == 0 {
		return true
	}
	if r.asks.left && len(o.calls) > 0 {
		return true
	}
	withdrawn := o.withdrawn
	for _, one := range o.calls {
		if !one.isBeingCancelled() {
			return false
		}
		withdrawn = true
	}
	return withdrawn
}

// Assign gives a request to the task that a person named. From then on it ends with the call that they named, or with its
// connection if they named none.
func (r *Request) Assign(a *Assignment) {
	r.assignment, r.Task = a, a.Task
	chosen := slices.DeleteFunc(slices.Clone(r.causes), func(one *Call) bool {
		return one.TaskID != a.TaskID || one.MessageID != a.MessageID
	})
	if r.open != nil {
		r.open.bindToCall(chosen)
	}
	r.Origin = origin(r.Origin.ServerName, chosen)
	r.Origin.PlacedBy = a.By
}

// bindToCall has a request end with the call that a person named, or with its connection if there is none.
func (o *openRequest) bindToCall(chosen []*Call) {
	l := o.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, o)
	o.withdrawn = false
	if o.calls = chosen; len(chosen) == 0 {
		return
	}
	l.open[o] = struct{}{}
	if !slices.ContainsFunc(chosen, l.mayAskLocked) {
		o.cancel(CallEnded(nil)) // between the choice and now
	}
}

// endRequestsLocked ends the requests that can belong to no other call than this one, which is over.
func (l *Ledger) endRequestsLocked(one *Call, cause error) {
	for o := range l.open {
		at := slices.Index(o.calls, one)
		if at < 0 {
			continue
		}
		o.calls = slices.Delete(o.calls, at, at+1)
		o.withdrawn = o.withdrawn || cause != nil
		if len(o.calls) > 0 {
			continue
		}
		one.ended = append(one.ended, o)
		if !o.ending() { // for a better reason
			o.cancel(CallEnded(cause))
		}
	}
}
