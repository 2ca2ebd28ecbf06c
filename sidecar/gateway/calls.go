package gateway

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"assent/sidecar/mcpserver"
)

// maxKept is how many results wait at most for hosts that gave up their calls.
const maxKept = 100

// keepFor is how long a result waits for its host.
const keepFor = 24 * time.Hour

// run runs a call. It calls asking at every change of what the person is asked, with the question that is open or ""
// for none, and notify with each notification that belongs to the call.
type run func(ctx context.Context, asking func(question string), notify notify) (json.RawMessage, error)

// notify takes the notifications that belong to a request of a host.
type notify func(method string, params json.RawMessage)

// calls are the calls of tools by the sessions of one host program. A call runs once. A call
// that asked a question goes on when the host gives it up, and the same call again joins it.
type calls struct {
	mu sync.Mutex // guards what follows, and the calls
	// all are the open calls, and those with a result that no host has got. The oldest is first.
	all     []*call
	running sync.WaitGroup
}

// call is one call of a tool.
type call struct {
	handle string
	key    string
	cancel context.CancelCauseFunc
	// changed is closed at the next change of what follows, and replaced.
	changed  chan struct{}
	question string // that is open, or ""
	asked    bool   // it has asked a question
	// waiting are the requests of the host that wait for it. Each hears its notifications.
	waiting []*waiter
	// delivered is how many hosts were sent the result.
	delivered int
	ended     time.Time
	result    json.RawMessage
	err       error
}

// waiter is a request of a host that waits for a call.
type waiter struct {
	notify notify
	sent   bool // the result was sent to the host
}

// answered is told whether the answer to a request of a host was sent, and again if the host did not want it any more.
type answered func(sent bool)

// errWaiting is the error of a request that returns before its call ends, because the call waits for a person.
type errWaiting struct{ handle, question string }

func (e errWaiting) Error() string { return "the call waits for an answer in Assent" }

// errNoHandle is the error of a handle that is not known.
var errNoHandle = errors.New("there is no such call; its result may have been delivered already")

// do runs a call for a request of a host, or joins the same call if that has asked a question. The key says which calls
// are the same. The context is that of the request; after patience, do returns an errWaiting if a question is open.
// A patience of 0 has no end. The result stays until answered, which is nil with an errWaiting, says that it was sent.
func (c *calls) do(ctx context.Context, key string, patience time.Duration, notify notify, start run) (json.RawMessage, answered, error) {
	c.mu.Lock()
	at := slices.IndexFunc(c.all, func(k *call) bool { return k.key == key && (k.asked || len(k.waiting) == 0) })
	var k *call
	if at >= 0 {
		k = c.all[at]
	} else {
		k = c.start(key, start)
	}
	return c.wait(ctx, k, patience, notify)
}

// resume waits for the call with a handle, as do.
func (c *calls) resume(ctx context.Context, handle string, patience time.Duration, notify notify) (json.RawMessage, answered, error) {
	c.mu.Lock()
	at := slices.IndexFunc(c.all, func(k *call) bool { return k.handle == handle })
	if at < 0 {
		c.mu.Unlock()
		return nil, nil, errNoHandle
	}
	return c.wait(ctx, c.all[at], patience, notify)
}

// start starts a call. It is called with mu held.
func (c *calls) start(key string, start run) *call {
	ctx, cancel := context.WithCancelCause(context.Background())
	k := &call{handle: uuid.NewString(), key: key, cancel: cancel, changed: make(chan struct{})}
	c.forget()
	c.all = append(c.all, k)
	c.running.Go(func() {
		defer cancel(nil)
		result, err := start(ctx, func(question string) {
			c.change(k, func() {
				k.question = question
				k.asked = k.asked || question != ""
			})
		}, func(method string, params json.RawMessage) {
			c.mu.Lock()
			waiting := slices.Clone(k.waiting)
			c.mu.Unlock()
			for _, w := range waiting {
				w.notify(method, params)
			}
		})
		c.change(k, func() { k.result, k.err, k.ended, k.question = result, err, time.Now(), "" })
	})
	return k
}

// forget drops results that no host asked for in time. It is called with mu held.
func (c *calls) forget() {
	kept := 0
	for _, k := range slices.Backward(c.all) {
		if !k.ended.IsZero() && len(k.waiting) == 0 {
			if kept++; kept > maxKept || time.Since(k.ended) > keepFor {
				k.handle = ""
			}
		}
	}
	c.all = slices.DeleteFunc(c.all, func(k *call) bool { return k.handle == "" })
}

// change changes a call and wakes those who wait for it.
func (c *calls) change(k *call, do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	do()
	close(k.changed)
	k.changed = make(chan struct{})
}

// wait waits for a call. It is called with mu held, and releases it.
func (c *calls) wait(ctx context.Context, k *call, patience time.Duration, notify notify) (json.RawMessage, answered, error) {
	defer c.mu.Unlock()
	w := &waiter{notify: notify}
	k.waiting = append(k.waiting, w)
	var late <-chan time.Time
	if patience > 0 {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		late = timer.C
	}
	isLate := false
	for {
		switch {
		case !k.ended.IsZero():
			return k.result, func(sent bool) { c.answered(k, w, sent) }, k.err
		case isLate && k.question != "":
			k.leave(w)
			return nil, nil, errWaiting{k.handle, k.question}
		}
		changed := k.changed
		c.mu.Unlock()
		var gone bool
		select {
		case <-changed:
		case <-late:
			isLate = true
		case <-ctx.Done():
			gone = true
		}
		c.mu.Lock()
		if gone && k.ended.IsZero() {
			if k.leave(w); len(k.waiting) == 0 && !k.asked {
				k.cancel(context.Cause(ctx)) // no person and no host waits for it
				c.remove(k)
			}
			return nil, nil, context.Cause(ctx)
		}
	}
}

// answered notes whether a result was sent to a host. One that a person waited for and no host has got is kept.
func (c *calls) answered(k *call, w *waiter, sent bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k.leave(w)
	switch {
	case sent:
		k.delivered++
	case w.sent:
		k.delivered--
	}
	w.sent = sent
	c.remove(k)
	if k.delivered == 0 && (k.asked || len(k.waiting) > 0) {
		c.all = append(c.all, k)
	}
}

// remove forgets a call. It is called with mu held.
func (c *calls) remove(k *call) {
	c.all = slices.DeleteFunc(c.all, func(other *call) bool { return other == k })
}

// leave ends a wait. It is called with the lock of calls held.
func (k *call) leave(w *waiter) {
	k.waiting = slices.DeleteFunc(k.waiting, func(other *waiter) bool { return other == w })
}

// close cancels all calls and waits for them.
func (c *calls) close() {
	c.mu.Lock()
	for _, k := range c.all {
		k.cancel(mcpserver.ErrEnded)
	}
	c.mu.Unlock()
	c.running.Wait()
}

// callKey returns a key that two calls share if they are the same: to one server, with one name and equal arguments.
// The order of members does not count, nor does _meta.
func callKey(server string, params json.RawMessage) string {
	var p struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	_ = json.Unmarshal(params, &p) // they were checked to be an object
	arguments := []byte(cmp.Or(string(p.Arguments), "{}"))
	decoder := json.NewDecoder(bytes.NewReader(arguments))
	decoder.UseNumber() // numbers are compared as they are written
	var value any
	if decoder.Decode(&value) == nil {
		arguments, _ = json.Marshal(value) // encoding/json sorts the members
	}
	return server + "\x00" + p.Name + "\x00" + string(arguments)
}
