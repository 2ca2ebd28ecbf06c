package exchange

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/protocol"
	"assent/sidecar/base/jsonscan"
	"assent/sidecar/base/reason"
	"assent/sidecar/broker"
	"assent/sidecar/broker/attribution"
	"assent/sidecar/task"
)

const (
	// codeURLElicitationRequired says that a call can be made once the person has been to some pages
	// (2025-11-25, "URL Elicitation Required Error").
	codeURLElicitationRequired = -32042
	// maxURLRounds bounds how often one call may say so.
	maxURLRounds = 5
	// maxURLs bounds how many pages one error may list.
	maxURLs = 10
)

// urlsRequired returns the pages that an error asks the person to go to. It returns none for another error, or if no front
// end can open a page.
func (x *exchange) urlsRequired(err error) []broker.URLElicitation {
	var refused *jsonrpc.Error
	if !x.server.opts.Capabilities().OpenURL || !errors.As(err, &refused) || refused.Code != codeURLElicitationRequired {
		return nil
	}
	var data struct {
		Elicitations []broker.URLElicitation `json:"elicitations"`
	}
	if jsonscan.Unmarshal(refused.Data, &data) != nil || len(data.Elicitations) > maxURLs {
		return nil
	}
	return data.Elicitations
}

// awaitURLs sends the person to all pages at once, and reports whether everything is done. If the person refuses a page, the
// others end, because the call cannot be made without it.
func (x *exchange) awaitURLs(ctx context.Context, elicitations []broker.URLElicitation) (bool, error) {
	t, err := x.server.opts.Task(x.taskID)
	if err != nil {
		return false, err
	}
	all, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	var wg sync.WaitGroup
	var mu sync.Mutex // guards done and failed
	done, failed := true, error(nil)
	var order attribution.Sequence
	for _, e := range elicitations {
		r := &attribution.Request{Task: t, Origin: x.origin()}
		r.Slot = order.Join()
		asking, over := untilOver(all)
		asking, complete := context.WithCancelCause(asking)
		// The wait begins before the person is asked: the server may be quick.
		forget := x.server.pages.awaitCompletion(e.ElicitationID, func() {
			complete(&task.Ended{Reason: protocol.OutcomeCompleted, Detail: "The server said that it is done."})
		})
		wg.Go(func() {
			defer over()
			defer forget()
			defer r.Slot.Pass()
			r.Slot.Await(asking)
			ok, err := x.awaitURL(asking, r, e)
			mu.Lock()
			defer mu.Unlock()
			var refused *jsonrpc.Error
			if errors.As(err, &refused) { // by us: the server said nothing
				err = attribution.Abandoned{Reason: "The server did not get an answer: " + refused.Message}
			}
			if err != nil {
				failed = err
			}
			if !ok {
				done = false
				giveUp(&task.Ended{Reason: protocol.OutcomeCallEnded, Detail: "Another page that the call needs was not opened."})
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	return done, failed
}

// pages are what a server said about the pages that people visit for it.
type pages struct {
	mu sync.Mutex // guards the fields below
	// completions holds the functions that end the wait for a URL elicitation, by its id.
	completions map[string]func()
	// opened holds the last pages that were opened by request, and that the server may yet say are done.
	opened []openedPage
	// completed holds the last ids that were said to be done.
	completed []string
}

// awaitCompletion has complete called when the server says that a URL elicitation is done. The returned function stops that.
func (s *pages) awaitCompletion(id string, complete func()) (forget func()) {
	if id == "" {
		return func() {}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains(s.completed, id) {
		complete() // the server was quicker than its error
	}
	s.completions[id] = complete
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.completions, id)
	}
}

// maxCompleted bounds how many ids are remembered: a notification may overtake the error, or the answer,
// that it belongs to.
const maxCompleted = 32

// maxOpened bounds how many pages that were opened are remembered.
const maxOpened = 100

// openedPage is a page that a person opened as their answer to a request.
type openedPage struct {
	id       string
	complete func()
}

// whenOpened returns the function that notes that a person opened the page of a request, or nil if the page has no id. The
// server can report that the person has finished on a page with an id (2025-11-25, "Elicitation: Completion Notifications").
func (s *pages) whenOpened(params json.RawMessage) func(t attribution.Task, messageID int64) {
	if !mentions(params, `"elicitationId"`) {
		return nil
	}
	var p struct {
		Mode          string `json:"mode"`
		ElicitationID string `json:"elicitationId"`
	}
	if jsonscan.Unmarshal(params, &p) != nil || p.Mode != "url" || p.ElicitationID == "" {
		return nil
	}
	return func(t attribution.Task, messageID int64) {
		s.awaitOpened(openedPage{p.ElicitationID, func() { t.Completed(messageID) }})
	}
}

// awaitOpened remembers a page, until the server says that it is done.
func (s *pages) awaitOpened(p openedPage) {
	s.mu.Lock()
	done := slices.Contains(s.completed, p.id) // the server was quicker than our answer
	if !done {
		s.opened = append(s.opened, p)
		s.opened = s.opened[max(0, len(s.opened)-maxOpened):]
	}
	s.mu.Unlock()
	if done {
		p.complete()
	}
}

// elicitationComplete handles the notification that a URL elicitation is done. One that no ask waits for
// changes nothing (2025-11-25, "Elicitation: Completion Notifications").
func (s *pages) elicitationComplete(params json.RawMessage) {
	var p struct {
		ElicitationID string `json:"elicitationId"`
	}
	if jsonscan.Unmarshal(params, &p) != nil {
		return
	}
	s.mu.Lock()
	complete := s.completions[p.ElicitationID]
	for i, opened := range s.opened {
		if complete == nil && opened.id == p.ElicitationID {
			complete = opened.complete
			s.opened = slices.Delete(s.opened, i, i+1)
			break
		}
	}
	s.completed = append(s.completed, p.ElicitationID)
	s.completed = s.completed[max(0, len(s.completed)-maxCompleted):]
	s.mu.Unlock()
	if complete != nil {
		complete()
	}
}

// awaitURL has the person visit one page.
func (x *exchange) awaitURL(ctx context.Context, r *attribution.Request, e broker.URLElicitation) (ok bool, err error) {
	defer reason.Panicked(&x.server.opts.Log, "the question for a page", &err)
	return x.server.opts.Broker.AwaitURL(ctx, r, e)
}
