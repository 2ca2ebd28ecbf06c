package gateway

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"assent/sidecar/gateway/mcpserver"
)

// maxResults is how many results wait at most for hosts that gave up their calls.
const maxResults = 100

// maxStates bounds the states of a call with which its host can come back.
const maxStates = 100

// resultTTL is how long a result waits for its host.
const resultTTL = 24 * time.Hour

// run runs a call. The host gives access to the requests that wait for the call.
type run func(ctx context.Context, caller caller) (json.RawMessage, error)

// notify takes the notifications that belong to a request of a host.
type notify func(method string, params json.RawMessage)

// caller is what the requests of a host that wait for a call can do for it.
type caller struct {
	notify notify
	// asking, began and following are Asking, Began and Following of [Request].
	asking    func(question string)
	began     func(place Place)
	following func(message string)
	// ask and hold are those of [Request].
	ask  func(ctx context.Context, question Question, queued func()) (json.RawMessage, error)
	hold func() (release func())
}

// calls are the requests that a server may answer with questions, of the sessions of one host program: tools/call,
// prompts/get and resources/read. A call runs once. A call that asked a question goes on when the host gives it up, and the
// same call again joins it.
type calls struct {
	// saver saves a call's state for the next daemon; a nil state deletes it. Without a saver, no call is saved.
	saver func(place Place, saved *SavedCall)
	// joined is [Upstream.Joined]; nil is not called.
	joined func(place Place, joined Joined)

	mu sync.Mutex // guards what follows, and the calls
	// tasks are the MCP tasks of the host, by their ids.
	tasks map[string]*mcpTask
	// all are the open calls, and those with a result that no host has got. The oldest is first.
	all     []*call
	running sync.WaitGroup
}

// call is one of them.
type call struct {
	handle string
	key    string
	cancel context.CancelCauseFunc
	// The request of the call.
	spec callSpec
	// saving is held while the call is saved.
	saving sync.Mutex

	// The lock of calls guards what follows.

	// place is where the call is in Assent, once it has begun. isSaved: a later daemon will know of it.
	place   Place
	isSaved bool
	// following is what its server says of the MCP task that the server has made of it; nil if it has made none.
	following *string
	// changed is closed at the next change of what follows, and replaced.
	changed  chan struct{}
	question string // that is open, or ""
	asked    bool   // it has asked a question
	wanted
	toHost toHost
	rounds rounds
	end    end
}

// rounds are the returns of a call with questions (2026-07-28, "Multi Round-Trip Requests").
type rounds struct {
	// away is the request that returned with questions, until the host comes back with one of the states.
	away   *waiter
	states []string
}

// end is the end of a call. Its time is zero while the call runs.
type end struct {
	time   time.Time
	result json.RawMessage
	err    error
	// delivered is how many hosts were sent the result.
	delivered int
}

// hasCome reports whether the call has ended.
func (e *end) hasCome() bool { return !e.time.IsZero() }

// wanted says who wants the result of a call.
type wanted struct {
	// waiting are the requests of the host that wait for it. Each hears its notifications.
	waiting []*waiter
	// holders are those that have neither given it up nor ended.
	holders map[requester]holder
	joining
}

// joining is what a person hears of the equal calls that joined a call.
type joining struct {
	// joins counts those that have not given up and do not run on their own.
	joins int
	// givenUp: no holder wanted the call when the last one joined.
	givenUp bool
	// reporting is held while the upstream hears of it, and guards what it heard last.
	reporting sync.Mutex
	reported  Joined
}

// requester is who wants the result of a call: a conversation of a host, in one of its sessions. The conversation is "" if the
// host does not name it. Where that host has no session either, the connection of the request is set: see
// [mcpserver.Request.Connection].
type requester struct{ session, conversation, connection string }

// holder is what is known of a requester that wants the result of a call. Nil means that there is no doubt about it; else it
// reports whether the host is still there.
type holder func() bool

// waiter is a request of a host that waits for a call, or an MCP task.
type waiter struct {
	hostRequest
	// ctx is the request's.
	ctx  context.Context
	sent bool // the result was sent to the host
	// of is the MCP task that waits, or that a request waits for. Nil means neither.
	of *mcpTask
	// joins is set if the request repeats the call, and moved to the call of its own that it then got.
	joins *equalCall
	moved *call
}

// equalCall is what a request that joined a call needs to run on its own.
type equalCall struct {
	spec  callSpec
	start run
	// isHolder: its requester wanted the first call already.
	isHolder bool
}

// hostRequest is what a request of a host can do.
type hostRequest struct {
	notify notify
	requester
	// isThere reports whether the host is still connected; nil means yes.
	isThere holder
	// begin says that the answer may take long.
	begin func()
	// takes reports whether the host declared that it can answer a request.
	takes func(method string, params json.RawMessage) bool
	// ask sends a request to the host. It is nil if the host gets questions in results (2026-07-28, "Multi Round-Trip
	// Requests").
	ask func(method string, params json.RawMessage) (wait func(context.Context) (json.RawMessage, error), err error)
	// task is set if the host takes an MCP task for the call.
	task *taskTerms
}

// errNoHost is the error of a question that the host cannot answer.
var errNoHost = errors.New("the host cannot answer this")

// errQuestions is the error of a request that returns with questions for its host.
type errQuestions struct {
	call      *call
	state     string
	questions []*question
}

func (e errQuestions) Error() string { return "the host has questions to answer" }

// deliveryReport hears whether the answer to a request of a host was sent, and again if the host did not want it any more.
type deliveryReport func(sent bool)

// errWaiting is the error of a request that returns before its call ends, because the call waits for a person.
type errWaiting struct{ handle, question string }

func (e errWaiting) Error() string { return "the call waits for an answer in Assent" }

// errNoHandle is the error of a handle that is not known.
var errNoHandle = errors.New("there is no such call; its result may have been delivered already")

// do runs a call for a request of a host, or joins the same call; see [call.isFor]. The key says which calls are the same. The
// context is that of the request; after waitLimit, do returns an errWaiting if a question is open. A waitLimit of 0 has no
// end. The result stays until the report, which is nil with an errWaiting, says that it was sent.
func (c *calls) do(ctx context.Context, key string, waitLimit time.Duration, request hostRequest, spec callSpec, start run) (json.RawMessage, deliveryReport, error) {
	c.mu.Lock()
	isJoined := func(k *call) bool { return k.key == key && k.isFor(request.requester) }
	k, err := c.find(ctx, isJoined)
	if errors.Is(err, errNoHandle) && request.connection != "" && slices.ContainsFunc(c.all, func(k *call) bool { return k.key == key && k.asked }) {
		c.awaitClosing(ctx)
		k, err = c.find(ctx, isJoined)
	}
	w := &waiter{hostRequest: request, ctx: ctx}
	switch {
	case errors.Is(err, errNoHandle):
		k = newCall(key, spec)
		c.start(k, start)
	case err != nil:
		c.mu.Unlock()
		return nil, nil, err
	case !k.end.hasCome():
		k.join(w, spec, start)
	}
	return c.wait(ctx, k, waitLimit, w)
}

// closingTime is within which time Assent hears that a host has closed a connection.
const closingTime = 200 * time.Millisecond

// awaitClosing gives a host without sessions the time to close the connection of an equal call. One that makes the call again
// at once may send the new request first. It is called with mu held, and returns with mu held.
func (c *calls) awaitClosing(ctx context.Context) {
	c.mu.Unlock()
	defer c.mu.Lock()
	select {
	case <-time.After(closingTime):
	case <-ctx.Done():
	}
}

// resume waits for the call with a handle, as do.
func (c *calls) resume(ctx context.Context, handle string, waitLimit time.Duration, request hostRequest) (json.RawMessage, deliveryReport, error) {
	c.mu.Lock()
	k, err := c.find(ctx, func(k *call) bool { return k.handle == handle })
	if err != nil {
		c.mu.Unlock()
		return nil, nil, err
	}
	return c.wait(ctx, k, waitLimit, &waiter{hostRequest: request, ctx: ctx})
}

// resumeWithAnswers gives a call the host's answers, by the names of the questions, and waits for it, as do. The state is the
// one with which the host was asked, and the key is the call's.
func (c *calls) resumeWithAnswers(ctx context.Context, state, key string, responses map[string]json.RawMessage, waitLimit time.Duration, request hostRequest) (json.RawMessage, deliveryReport, error) {
	c.mu.Lock()
	k, err := c.find(ctx, func(k *call) bool { return k.key == key && slices.Contains(k.rounds.states, state) })
	if err != nil {
		c.mu.Unlock()
		return nil, nil, err
	}
	k.toHost.answer(responses)
	return c.wait(ctx, k, waitLimit, &waiter{hostRequest: request, ctx: ctx})
}

// find returns a call, or errNoHandle. If the call's result is on its way to a host, find waits until it has arrived, which
// ends the call, or has not: a host that has its result may send the next request before calls hears of it. Find is called
// with mu held, and returns with mu held.
func (c *calls) find(ctx context.Context, isWanted func(*call) bool) (*call, error) {
	for {
		at := slices.IndexFunc(c.all, isWanted)
		if at < 0 {
			return nil, errNoHandle
		}
		k := c.all[at]
		if !k.isBeingDelivered() {
			return k, nil
		}
		changed := k.changed
		c.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		c.mu.Lock()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
}

// isBeingDelivered reports whether requests of hosts are about to return the result. The caller holds the lock of calls.
func (k *call) isBeingDelivered() bool {
	return k.end.hasCome() && slices.ContainsFunc(k.waiting, func(w *waiter) bool { return w.of == nil })
}

func newCall(key string, spec callSpec) *call {
	return &call{
		handle: uuid.NewString(), key: key, spec: spec, changed: make(chan struct{}), cancel: func(error) {},
		wanted: wanted{holders: map[requester]holder{}},
	}
}

// isFor reports whether an equal call of a requester joins this one. It does not if another one that is still there wants the
// result: two agents want two. Of one requester, a call that has asked nothing is no reason to hold back an equal one. After
// a question the host may have given up without a word and try again. The caller holds the lock of calls.
func (k *call) isFor(from requester) bool {
	for other := range k.holders {
		if other != from && k.isWantedBy(other) {
			return false
		}
	}
	return k.asked || len(k.waiting) == 0
}

// isWantedBy reports whether a holder of a call is still there, and has not cancelled all its requests, of which the call may
// not have heard yet. The caller holds the lock of calls.
func (k *call) isWantedBy(from requester) bool {
	if isThere := k.holders[from]; isThere != nil && !isThere() {
		return false
	}
	isOf := func(w *waiter) bool { return w.requester == from }
	isOpen := func(w *waiter) bool { return isOf(w) && w.ctx.Err() == nil }
	return slices.ContainsFunc(k.waiting, isOpen) || from.connection == "" && !slices.ContainsFunc(k.waiting, isOf)
}

// giveUp notes that a requester gave up a request. It is called with the lock of calls held.
func (k *call) giveUp(from requester) {
	if !slices.ContainsFunc(k.waiting, func(w *waiter) bool { return w.requester == from }) {
		delete(k.holders, from)
	}
}

// ended notes that a session has ended.
func (c *calls) ended(session string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.all {
		maps.DeleteFunc(k.holders, func(from requester, _ holder) bool { return from.session == session })
	}
}

// start starts a call. It is called with mu held.
func (c *calls) start(k *call, start run) {
	ctx, cancel := context.WithCancelCause(context.Background())
	k.cancel = cancel
	c.forget()
	c.all = append(c.all, k)
	c.running.Go(func() {
		defer cancel(nil)
		result, err := start(ctx, c.callerOf(k))
		if !errors.Is(err, mcpserver.ErrEnded) { // if so, a later daemon may go on with it
			c.mu.Lock()
			k.end.result, k.end.err = result, err
			c.mu.Unlock()
			c.save(k) // before a request gets the result
		}
		c.change(k, func() { k.end.result, k.end.err, k.end.time, k.question = result, err, time.Now(), "" })
	})
}

// callerOf returns what the requests that wait for a call can do for it.
func (c *calls) callerOf(k *call) caller {
	return caller{
		notify: func(method string, params json.RawMessage) {
			c.mu.Lock()
			waiting := slices.Clone(k.waiting)
			c.mu.Unlock()
			for _, w := range waiting {
				w.notify(method, params)
			}
		},
		asking: func(question string) {
			c.change(k, func() {
				k.question = question
				k.asked = k.asked || question != ""
			})
		},
		began:     func(place Place) { c.change(k, func() { k.place = place }) },
		following: func(message string) { c.change(k, func() { k.following = &message }) },
		ask: func(ctx context.Context, question Question, queued func()) (json.RawMessage, error) {
			return c.ask(ctx, k, question, queued)
		},
		hold: func() func() {
			c.change(k, func() { k.toHost.held++ })
			return func() {
				c.change(k, func() {
					k.toHost.held--
					c.send(k)
				})
			}
		},
	}
}

// ask asks the host of a call. A host that takes requests gets one; another gets the question in the next result.
func (c *calls) ask(ctx context.Context, k *call, asked Question, queued func()) (json.RawMessage, error) {
	q := &question{Question: asked, own: asked.Name, ctx: ctx, answer: make(chan hostAnswer, 1)}
	if q.Params, _ = passable(asked.Params); len(q.Params) == 0 {
		q.Params = json.RawMessage("{}")
	}
	canAnswer := false
	c.change(k, func() {
		takes := func(w *waiter) bool { return w.takes(q.Method, q.Params) }
		if canAnswer = slices.ContainsFunc(k.waiting, takes) || k.rounds.away != nil && takes(k.rounds.away); !canAnswer {
			return
		}
		k.toHost.name(q, k.isTask())
		k.toHost.open = append(k.toHost.open, q)
		k.asked = k.asked || q.Method != "roots/list" // for which no person thinks
		if response := k.toHost.early[q.Name]; response != nil {
			k.toHost.settle(q, hostAnswer{result: response})
		}
		c.send(k)
	})
	if !canAnswer {
		return nil, errNoHost
	}
	queued()
	select {
	case a := <-q.answer:
		return a.result, a.err
	case <-ctx.Done():
		c.change(k, func() { k.toHost.settle(q, hostAnswer{}) })
		return nil, context.Cause(ctx)
	}
}

// send sends the questions of a call to a host that takes requests. It is called with mu held.
func (c *calls) send(k *call) {
	if k.toHost.held > 0 {
		return
	}
	for _, q := range k.toHost.open {
		at := slices.IndexFunc(k.waiting, func(w *waiter) bool { return w.ask != nil && w.ctx.Err() == nil && w.takes(q.Method, q.Params) })
		if q.isSent || at < 0 {
			continue
		}
		q.isSent = true
		w := k.waiting[at]
		wait, err := w.ask(q.Method, q.Params)
		if err != nil {
			wait = func(context.Context) (json.RawMessage, error) { return nil, err }
		}
		c.running.Go(func() { c.await(k, q, w, wait) })
	}
}

// await waits for the answer of a host to a question that was sent by one of its requests. If that request is over, another
// takes the question, if there is any.
func (c *calls) await(k *call, q *question, w *waiter, wait func(context.Context) (json.RawMessage, error)) {
	ctx, cancel := context.WithCancelCause(q.ctx)
	defer cancel(nil)
	defer context.AfterFunc(w.ctx, func() { cancel(context.Cause(w.ctx)) })()
	result, err := wait(ctx)
	c.change(k, func() {
		if w.ctx.Err() != nil && q.ctx.Err() == nil && err != nil {
			q.isSent = false
			if c.send(k); q.isSent || k.isTask() { // an MCP task's waits for the next request
				return
			}
			err = errNoHost
		}
		k.toHost.settle(q, hostAnswer{result, err})
	})
}

// forget drops results that no host asked for in time. It is called with mu held.
func (c *calls) forget() {
	results := 0
	for _, k := range slices.Backward(c.all) {
		if k.end.hasCome() && len(k.waiting) == 0 {
			if results++; results > maxResults || time.Since(k.end.time) > resultTTL {
				k.handle = ""
			}
		}
	}
	c.all = slices.DeleteFunc(c.all, func(k *call) bool { return k.handle == "" })
	c.forgetTasks()
}

// change changes a call and wakes those who wait for it.
func (c *calls) change(k *call, do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	do()
	k.begin()
	k.wake()
}

// wake wakes those who wait for a call. The caller holds the lock of calls.
func (k *call) wake() {
	close(k.changed)
	k.changed = make(chan struct{})
}

// begin tells the requests that wait for a call that asked a question that this may take long. It is called with the lock of
// calls held.
func (k *call) begin() {
	if !k.asked {
		return
	}
	for _, w := range k.waiting {
		w.begin()
	}
}

// wait waits for a call. It is called with mu held, and releases it.
func (c *calls) wait(ctx context.Context, k *call, waitLimit time.Duration, w *waiter) (json.RawMessage, deliveryReport, error) {
	if w.joins != nil {
		defer c.reportJoined(k)
	}
	defer c.mu.Unlock()
	// The host is back, if it was away: its next questions go with this request.
	k.waiting, k.rounds.away = append(k.waiting, w), nil
	maps.DeleteFunc(k.holders, func(other requester, _ holder) bool { return other.connection != "" && !k.isWantedBy(other) })
	k.holders[w.requester] = w.isThere
	k.begin()
	c.send(k)
	if w.joins != nil {
		c.mu.Unlock() // reportJoined takes it
		c.reportJoined(k)
		c.mu.Lock()
	}
	// A call that takes long becomes an MCP task, well before any host gives the request up.
	if w.task != nil && (waitLimit == 0 || waitLimit > taskAfter) {
		waitLimit = taskAfter
	}
	var late <-chan time.Time
	if waitLimit > 0 {
		timer := time.NewTimer(waitLimit)
		defer timer.Stop()
		late = timer.C
	}
	isLate := false
	for {
		if w.moved != nil { // a person had it run separately
			k, w.moved = w.moved, nil
		}
		questions := k.toHost.forRequest(w)
		// The order counts: a host that asked for an MCP task gets one, even if the result is there.
		switch {
		case k.becomesTask(w, isLate):
			return nil, nil, errTask{c.newTask(k, w)}
		case k.end.hasCome():
			return k.end.result, func(sent bool) { c.delivered(k, w, sent) }, k.end.err
		case len(questions) > 0:
			k.leave(w)
			state := uuid.NewString()
			k.rounds.away, k.rounds.states = w, append(k.rounds.states[max(0, len(k.rounds.states)-maxStates+1):], state)
			return nil, nil, errQuestions{k, state, questions}
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
		if w.moved != nil {
			continue
		}
		// A result that came as the host left is returned all the same: the report then says that it was not sent.
		if gone && !k.end.hasCome() {
			k.leave(w)
			if w.joins != nil {
				k.joins--
			}
			if k.giveUp(w.requester); len(k.waiting) == 0 && !k.asked {
				k.cancel(context.Cause(ctx)) // no person and no host waits for it
				c.remove(k)
			}
			return nil, nil, context.Cause(ctx)
		}
	}
}

// delivered records whether a result was sent to a host. One that a person waited for and no host has got stays.
func (c *calls) delivered(k *call, w *waiter, sent bool) {
	defer c.save(k)
	c.change(k, func() {
		k.leave(w)
		switch {
		case sent:
			k.end.delivered++
		case w.sent:
			k.end.delivered--
		}
		if !sent {
			k.giveUp(w.requester)
		}
		w.sent = sent
		c.remove(k)
		if k.end.delivered == 0 && (k.asked || len(k.waiting) > 0) {
			c.all = append(c.all, k)
		}
	})
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

// callKey returns a key that two calls share if they are the same: to one server, with one name or URI and equal arguments.
// The order of members does not count, nor does _meta.
func callKey(server, method string, params json.RawMessage) string {
	var p struct {
		Name      string          `json:"name"`
		URI       string          `json:"uri"`
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
	return strings.Join([]string{server, method, p.Name, p.URI, string(arguments)}, "\x00")
}
