package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"assent/sidecar/base/jsonscan"
	"assent/sidecar/gateway/mcpserver"
)

// MCP tasks have two shapes. In 2025-11-25 the host asks for one with the member task in its request. It fetches the
// result with tasks/result, and gets questions as requests during that. In the extension io.modelcontextprotocol/tasks
// of 2026-07-28 the server decides, questions are in the answer to tasks/get, and the host answers them with
// tasks/update.

const (
	// tasksRevision is the one revision that has MCP tasks in its core.
	tasksRevision = "2025-11-25"
	// tasksExtension is the extension of MCP tasks since 2026-07-28.
	tasksExtension = "io.modelcontextprotocol/tasks"
	// relatedTask is the member of _meta that names the MCP task of a message.
	relatedTask = "io.modelcontextprotocol/related-task"

	// taskAfter is how long a call takes before it becomes an MCP task for a host that declared the extension.
	taskAfter = 5 * time.Second
	// maxTasks is how many MCP tasks a host can have. If it has more, Assent forgets the oldest that have ended.
	maxTasks = 1000
)

// taskStatus is MCP's.
type taskStatus string

const (
	taskWorking       taskStatus = "working"
	taskInputRequired taskStatus = "input_required"
	taskCompleted     taskStatus = "completed"
	taskFailed        taskStatus = "failed"
	taskCancelled     taskStatus = "cancelled"
)

// mcpTask is an MCP task of a host. It shows a call to the host, and keeps the call running without a request.
type mcpTask struct {
	id      string
	call    *call
	session string // the session that began it
	modern  bool   // it belongs to the extension
	created time.Time
	ttl     time.Duration

	// The lock of calls guards the fields below.

	waiter       *waiter
	updated      time.Time
	isCancelled  bool
	lastNotified string // the notificationKey at the last notification
}

// taskTerms are a host's terms for an MCP task.
type taskTerms struct {
	session string
	modern  bool
	ttl     time.Duration
	// notify takes the notifications of the call after its request has an answer.
	notify func(id string) notify
}

// notifyTask tells a host of a change of one of its MCP tasks.
type notifyTask func(c *calls, t *mcpTask, state json.RawMessage)

// errTask is the error of a request after its call has become an MCP task.
type errTask struct{ task *mcpTask }

func (e errTask) Error() string { return "the call is an MCP task" }

// errTaskCancelled is the error of a request that waits for a result when the MCP task is cancelled.
var errTaskCancelled = &mcpserver.Error{Code: mcpserver.CodeInternal, Message: "the MCP task was cancelled"}

// becomesTask reports whether a call becomes an MCP task for a host now: if the host asked for one, the server made one, the
// call has asked something, or it takes long. The caller holds the lock of calls.
func (k *call) becomesTask(w *waiter, isLate bool) bool {
	switch {
	case w.task == nil || k.place == "" && !k.end.hasCome(): // only a call that has begun can be saved
		return false
	case !w.task.modern:
		return true
	default:
		return !k.end.hasCome() && (isLate || k.following != nil || k.asked)
	}
}

// isTask reports whether a call is an MCP task for a host. The caller holds the lock of calls.
func (k *call) isTask() bool {
	return slices.ContainsFunc(k.waiting, func(w *waiter) bool { return w.of != nil && w.of.waiter == w })
}

// isWanted reports whether a request or an MCP task waits for a call. Cancelled MCP tasks do not count. The caller holds the
// lock of calls.
func (k *call) isWanted() bool {
	return slices.ContainsFunc(k.waiting, func(w *waiter) bool { return w.of == nil || !w.of.isCancelled })
}

// newTask makes an MCP task of a call for the host of a request. The caller holds mu.
func (c *calls) newTask(k *call, w *waiter) *mcpTask {
	now := time.Now()
	t := &mcpTask{
		id: uuid.NewString(), call: k, session: w.task.session, modern: w.task.modern,
		created: now, updated: now, ttl: w.task.ttl,
	}
	// The task waits in place of the request, which is answered now.
	k.leave(w)
	c.addTask(t, hostRequest{requester: w.requester, notify: w.task.notify(t.id), takes: w.takes})
	// The answer to the request says atFirst. If more has happened by now, the first notification says so.
	t.lastNotified = k.notificationKey(t.atFirst())
	return t
}

// onCreated returns a function for the outcome of sending a new MCP task to the host. If sending failed, it forgets the task.
func (c *calls) onCreated(t *mcpTask, notify notifyTask) deliveryReport {
	isFirst := true
	return func(sent bool) {
		if !isFirst { // a host cancels its task, and not the request that began it
			return
		}
		if isFirst = false; sent {
			c.running.Go(func() { c.watch(t, notify) })
		} else { // the host does not know the id
			c.expire(t)
		}
	}
}

// addTask adds an MCP task. The caller holds mu.
func (c *calls) addTask(t *mcpTask, request hostRequest) {
	if c.tasks == nil {
		c.tasks = map[string]*mcpTask{}
	}
	c.tasks[t.id] = t
	request.begin = func() {}
	t.waiter = &waiter{hostRequest: request, ctx: context.Background(), of: t}
	t.call.waiting = append(t.call.waiting, t.waiter)
	t.lastNotified = t.call.notificationKey(t.status())
}

// watch tells a host of the changes of its MCP task, until the task ends.
func (c *calls) watch(t *mcpTask, notify notifyTask) {
	timer := time.NewTimer(time.Until(t.created.Add(t.ttl)))
	defer timer.Stop()
	k := t.call
	for {
		c.mu.Lock()
		key := k.notificationKey(t.status())
		isNew := key != t.lastNotified
		if isNew {
			t.lastNotified, t.updated = key, time.Now()
		}
		isOver := t.isCancelled || k.end.hasCome()
		if isOver {
			k.leave(t.waiter)
		}
		if k.end.hasCome() {
			c.remove(k) // a later call with the same arguments runs again
		}
		// The daemon ends, and the next one goes on with the call. For the host, the task has not ended.
		isClosing := errors.Is(k.end.err, mcpserver.ErrEnded)
		state, changed := t.state(), k.changed // together, so that no change is missed
		c.mu.Unlock()
		if isNew && !isClosing {
			c.save(k) // first: the host may ask the next daemon for this state
			notify(c, t, state)
		}
		if isOver {
			return
		}
		select {
		case <-changed:
		case <-timer.C:
			c.expire(t)
			return
		}
	}
}

// expire forgets an MCP task if its call still runs after its time to live. It cancels the call if no other request or task
// waits for it and it has asked nothing.
func (c *calls) expire(t *mcpTask) {
	defer c.save(t.call)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.tasks, t.id)
	t.call.leave(t.waiter)
	// A call that asked goes on: a person may be answering.
	if len(t.call.waiting) == 0 && !t.call.asked {
		t.call.cancel(mcpserver.ErrCancelled)
		c.remove(t.call)
	}
}

// forgetTasks forgets ended MCP tasks: those that have expired, and the oldest if there are too many. The caller holds mu.
func (c *calls) forgetTasks() {
	var ended []*mcpTask
	for _, t := range c.tasks {
		switch {
		case !t.isCancelled && !t.call.end.hasCome():
		case t.hasExpired():
			c.forgetTask(t)
		default:
			ended = append(ended, t)
		}
	}
	if tooMany := min(len(ended), len(c.tasks)-maxTasks); tooMany > 0 {
		slices.SortFunc(ended, func(a, b *mcpTask) int { return a.created.Compare(b.created) })
		for _, t := range ended[:tooMany] {
			c.forgetTask(t)
		}
	}
}

// forgetTask forgets an MCP task. The caller holds mu.
func (c *calls) forgetTask(t *mcpTask) {
	delete(c.tasks, t.id)
	c.running.Go(func() { c.save(t.call) }) // save takes mu
}

func (t *mcpTask) hasExpired() bool { return time.Since(t.created) > t.ttl }

// task returns an MCP task of the host.
func (c *calls) task(id string) (*mcpTask, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.tasks[id]
	if t == nil || t.hasExpired() {
		return nil, &mcpserver.Error{Code: mcpserver.CodeInvalidParams, Message: fmt.Sprintf("there is no MCP task %q; it may have expired", id)}
	}
	return t, nil
}

// taskState returns the state of an MCP task.
func (c *calls) taskState(t *mcpTask) json.RawMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return t.state()
}

// taskStates returns the states of the MCP tasks that a session began, the oldest first.
func (c *calls) taskStates(session string) (states []json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var own []*mcpTask
	for _, t := range c.tasks {
		if t.session == session && !t.hasExpired() {
			own = append(own, t)
		}
	}
	slices.SortFunc(own, func(a, b *mcpTask) int { return a.created.Compare(b.created) })
	for _, t := range own {
		states = append(states, t.state())
	}
	return states
}

// cancelTask cancels an MCP task. It cancels the call too, unless another request or task waits for it. It fails if the task
// has ended.
func (c *calls) cancelTask(t *mcpTask) error {
	k := t.call
	var err error
	c.change(k, func() {
		if status, _ := t.status(); t.isCancelled || k.end.hasCome() {
			err = &mcpserver.Error{Code: mcpserver.CodeInvalidParams, Message: fmt.Sprintf("the MCP task has ended: it is %s", status)}
			return
		}
		// An equal call may have joined, and its request still wants the result.
		if t.isCancelled = true; !k.isWanted() {
			k.cancel(mcpserver.ErrCancelled)
			c.remove(k)
		}
	})
	return err
}

// updateTask gives an MCP task the host's answers, by the names of the questions. It ignores answers to other questions.
func (c *calls) updateTask(t *mcpTask, responses map[string]json.RawMessage) {
	c.change(t.call, func() { t.call.toHost.answer(responses) })
}

// taskResult waits for the result of an MCP task. Until then, the request brings the host the questions.
func (c *calls) taskResult(ctx context.Context, t *mcpTask, request hostRequest) (json.RawMessage, error) {
	k := t.call
	w := &waiter{hostRequest: request, ctx: ctx, of: t}
	c.mu.Lock()
	defer c.mu.Unlock()
	k.waiting = append(k.waiting, w)
	defer k.leave(w)
	w.begin()
	c.send(k) // the questions that had no request to go with
	for {
		switch {
		case t.isCancelled:
			return nil, errTaskCancelled
		case k.end.hasCome():
			return k.end.result, k.end.err
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		}
		changed := k.changed
		c.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		c.mu.Lock()
	}
}

// open returns the questions that a host can answer now. The caller holds the lock of calls.
func (k *call) open() []*question {
	if k.toHost.held > 0 || k.end.hasCome() {
		return nil
	}
	return k.toHost.open
}

// status returns the status of an MCP task, and its message. A task that waits for a person in Assent is working, because it
// needs no input from the host. The caller holds the lock of calls.
func (t *mcpTask) status() (status taskStatus, message string) {
	k := t.call
	var result struct {
		IsError bool `json:"isError"`
	}
	switch {
	case t.isCancelled:
		return taskCancelled, ""
	case len(k.open()) > 0:
		return taskInputRequired, k.question
	case !k.end.hasCome() && k.question != "":
		return taskWorking, "Waiting for the person's answer in Assent: " + k.question
	case !k.end.hasCome() && k.following != nil:
		return taskWorking, *k.following
	case !k.end.hasCome():
		return taskWorking, ""
	case k.end.err != nil:
		return taskFailed, k.end.err.Error()
	// A tool's own error fails the task in 2025-11-25, and completes it in the extension.
	case !t.modern && json.Unmarshal(k.end.result, &result) == nil && result.IsError:
		return taskFailed, ""
	default:
		return taskCompleted, ""
	}
}

// atFirst returns the status and the message of a new MCP task. The status is working, even if the task has another one by
// now. The caller holds the lock of calls.
func (t *mcpTask) atFirst() (status taskStatus, message string) {
	if status, message = t.status(); status != taskWorking {
		return taskWorking, ""
	}
	return status, message
}

// notificationKey returns a text that changes with each change that the host must hear of.
func (k *call) notificationKey(status taskStatus, message string) string {
	parts := []string{string(status), message}
	if status == taskInputRequired {
		for _, q := range k.open() {
			parts = append(parts, q.Name)
		}
	}
	return strings.Join(parts, "\x00")
}

// state returns the state of an MCP task as the host gets it. The caller holds the lock of calls.
func (t *mcpTask) state() json.RawMessage { return t.describe(t.status()) }

// describe returns the members of an MCP task's state. The caller holds the lock of calls.
func (t *mcpTask) describe(status taskStatus, message string) json.RawMessage {
	k := t.call
	out := jsonscan.AppendMember([]byte{'{'}, "taskId", jsonscan.Quote(t.id))
	out = jsonscan.AppendMember(out, "status", jsonscan.Quote(string(status)))
	if message != "" {
		out = jsonscan.AppendMember(out, "statusMessage", jsonscan.Quote(message))
	}
	at := func(t time.Time) []byte { return jsonscan.Quote(t.UTC().Format("2006-01-02T15:04:05.000Z")) }
	out = jsonscan.AppendMember(out, "createdAt", at(t.created))
	out = jsonscan.AppendMember(out, "lastUpdatedAt", at(t.updated))
	ttl, poll := "ttl", "pollInterval" // the extension put the unit into the names
	if t.modern {
		ttl, poll = "ttlMs", "pollIntervalMs"
	}
	out = jsonscan.AppendMember(out, ttl, fmt.Append(nil, t.ttl.Milliseconds()))
	out = jsonscan.AppendMember(out, poll, fmt.Append(nil, pollInterval(time.Since(t.created)).Milliseconds()))
	switch {
	case !t.modern: // questions and result come with tasks/result
	case status == taskInputRequired:
		out = jsonscan.AppendMember(out, "inputRequests", inputRequests(k.open()))
	case status == taskCompleted:
		out = jsonscan.AppendMember(out, "result", k.end.result)
	case status == taskFailed:
		failure, _ := json.Marshal(wireError(k.end.err)) // its data is valid JSON
		out = jsonscan.AppendMember(out, "error", failure)
	}
	return append(out, '}')
}

// pollInterval is how long a host should wait between requests: a tenth of the time that it has waited. A short call ends
// soon, and a call that waits for a person costs few requests.
func pollInterval(age time.Duration) time.Duration {
	return min(max(age/10, 250*time.Millisecond), 5*time.Second)
}

// wireError returns the JSON-RPC error of an error.
func wireError(err error) *mcpserver.Error {
	if e, ok := errors.AsType[*mcpserver.Error](err); ok {
		return e
	}
	return &mcpserver.Error{Code: mcpserver.CodeInternal, Message: err.Error()}
}

// withRelated returns params or a result with the MCP task that they belong to.
func withRelated(object json.RawMessage, id string) json.RawMessage {
	if len(object) == 0 || object[0] != '{' {
		object = json.RawMessage("{}")
	}
	meta := jsonscan.Member(object, "_meta")
	if len(meta) == 0 || meta[0] != '{' {
		meta = json.RawMessage("{}")
	}
	related := append(jsonscan.AppendMember([]byte{'{'}, "taskId", jsonscan.Quote(id)), '}')
	return jsonscan.With(object, "_meta", jsonscan.With(meta, relatedTask, related))
}

// hasTasks reports whether a host can have MCP tasks.
func hasTasks(client mcpserver.Client) bool {
	if client.Modern() {
		return jsonscan.Member(jsonscan.Member(client.Capabilities, "extensions"), tasksExtension) != nil
	}
	return client.Revision == tasksRevision
}

// offered returns a server's capabilities, with Assent's MCP tasks in place of the server's. Assent alone uses the server's:
// a host that could name them could read and answer those of other hosts.
func offered(client mcpserver.Client, capabilities json.RawMessage) json.RawMessage {
	without := func(name string) func(string, json.RawMessage) json.RawMessage {
		return func(n string, value json.RawMessage) json.RawMessage {
			if n == name {
				return nil
			}
			return value
		}
	}
	out := jsonscan.Edit(capabilities, without("tasks"))
	extensions := jsonscan.Member(out, "extensions")
	if len(extensions) > 0 && extensions[0] == '{' {
		extensions = jsonscan.Edit(extensions, without(tasksExtension))
		out = jsonscan.With(out, "extensions", extensions)
	} else {
		extensions = json.RawMessage("{}")
	}
	switch {
	case jsonscan.Member(out, "tools") == nil:
	case client.Revision == tasksRevision:
		out = jsonscan.With(out, "tasks", json.RawMessage(`{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}`))
	case client.Modern():
		out = jsonscan.With(out, "extensions", jsonscan.With(extensions, tasksExtension, json.RawMessage("{}")))
	}
	return out
}

// execution returns a tool that says that its call may be an MCP task. Other revisions have no member for that. Hosts on MCP's
// TypeScript SDK refuse to call a tool that requires an MCP task. A host that would lose results gets no such member.
func execution(client mcpserver.Client, tool json.RawMessage) json.RawMessage {
	own := jsonscan.Member(tool, "execution")
	switch {
	case client.Revision == tasksRevision && !known(client).losesTaskErrors:
		if len(own) == 0 || own[0] != '{' {
			own = json.RawMessage("{}")
		}
		return jsonscan.With(tool, "execution", jsonscan.With(own, "taskSupport", json.RawMessage(`"optional"`)))
	case own == nil:
		return tool
	}
	return without(tool, "execution")
}

// termsOf returns what the host of a tools/call wants of an MCP task, or nil if it takes none.
func (v *View) termsOf(r *mcpserver.Request, token json.RawMessage) *taskTerms {
	asked := jsonscan.Member(r.Params, "task")
	modern := r.Client.Modern()
	if r.Method != "tools/call" || !hasTasks(r.Client) || !modern && (asked == nil || asked[0] != '{') {
		return nil
	}
	terms := &taskTerms{session: r.Session.ID, modern: modern, ttl: resultTTL}
	// A host may ask for less time than Assent gives, and not for more. In the extension it has no say.
	var ttl float64
	if json.Unmarshal(jsonscan.Member(asked, "ttl"), &ttl) == nil && ttl > 0 && ttl < float64(resultTTL.Milliseconds()) && !modern {
		terms.ttl = time.Duration(ttl * float64(time.Millisecond))
	}
	told := &heartbeat{}
	terms.notify = func(id string) notify {
		return func(method string, params json.RawMessage) {
			if method == "notifications/progress" {
				if token == nil {
					return
				}
				told.mu.Lock()
				defer told.mu.Unlock()
				params = jsonscan.With(told.grown(params), "progressToken", token)
			}
			_ = r.Session.Notify(method, withRelated(params, id)) // a host that has gone hears nothing
		}
	}
	return terms
}

// notifyTask tells a host of a change of an MCP task: the session that began it or, since 2026-07-28, those that listen.
func (v *View) notifyTask(c *calls, t *mcpTask, state json.RawMessage) {
	v.mu.Lock()
	var to []*mcpserver.Session
	for s := range v.sessions {
		// A legacy task belongs to its session. The extension knows none, so all sessions of the host program count.
		if v.calls[hostKey(s)] == c && s.Client().Modern() == t.modern && (t.modern || s.ID == t.session) {
			to = append(to, s)
		}
	}
	v.mu.Unlock()
	method := "notifications/tasks/status"
	if t.modern {
		method = "notifications/tasks"
	}
	v.publish(to, method, state, func(want mcpserver.Filter) bool { return slices.Contains(want.TaskIDs, t.id) })
}

// taskCreated is the result that a host gets in place of the call's.
func (c *calls) taskCreated(t *mcpTask) json.RawMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	state := t.describe(t.atFirst())
	if t.modern {
		return append([]byte(`{"resultType":"task",`), state[1:]...)
	}
	return append(jsonscan.AppendMember([]byte{'{'}, "task", state), '}')
}

// taskMethods are the methods of MCP tasks, each with the revisions that have it.
var taskMethods = map[string]struct {
	legacy, modern bool
	serve          func(v *View, ctx context.Context, r *mcpserver.Request) (json.RawMessage, error)
}{
	"tasks/get":    {true, true, (*View).getTask},
	"tasks/cancel": {true, true, (*View).cancelTask},
	"tasks/result": {true, false, (*View).taskResult},
	"tasks/list":   {true, false, (*View).listTasks},
	"tasks/update": {false, true, (*View).updateTask},
}

// serveTask returns the function that answers a request about MCP tasks, or nil if the host's revision has no such method.
func (v *View) serveTask(r *mcpserver.Request) func(context.Context) (json.RawMessage, error) {
	method := taskMethods[r.Method]
	modern := r.Client.Modern()
	switch {
	case method.serve == nil, modern && !method.modern, !modern && (!method.legacy || !hasTasks(r.Client)):
		return nil
	case !hasTasks(r.Client):
		return func(context.Context) (json.RawMessage, error) {
			return nil, &mcpserver.Error{
				Code: mcpserver.CodeMissingCapability, Message: "the request does not declare the extension " + tasksExtension,
				Data: json.RawMessage(`{"requiredCapabilities":{"extensions":{"` + tasksExtension + `":{}}}}`),
			}
		}
	}
	return func(ctx context.Context) (json.RawMessage, error) {
		if err := v.awaitRestored(ctx); err != nil {
			return nil, err
		}
		result, err := method.serve(v, ctx, r)
		return complete(r, result), err
	}
}

// taskOf returns the MCP task that a request names, and the calls of its host.
func (v *View) taskOf(r *mcpserver.Request) (*calls, *mcpTask, error) {
	calls := v.callsOf(r.Session)
	t, err := calls.task(jsonscan.Text(r.Params, "taskId"))
	return calls, t, err
}

func (v *View) getTask(_ context.Context, r *mcpserver.Request) (json.RawMessage, error) {
	calls, t, err := v.taskOf(r)
	if err != nil {
		return nil, err
	}
	state := calls.taskState(t)
	if result := jsonscan.Member(state, "result"); result != nil {
		state = jsonscan.With(state, "result", complete(r, v.result(r, result)))
	}
	return state, nil
}

// cancelTask serves tasks/cancel. Since 2026-07-28 the result is only an acknowledgement.
func (v *View) cancelTask(_ context.Context, r *mcpserver.Request) (json.RawMessage, error) {
	calls, t, err := v.taskOf(r)
	if err != nil {
		return nil, err
	}
	err = calls.cancelTask(t)
	switch {
	case r.Client.Modern():
		return json.RawMessage("{}"), nil
	case err != nil:
		return nil, err
	}
	return calls.taskState(t), nil
}

func (v *View) taskResult(ctx context.Context, r *mcpserver.Request) (json.RawMessage, error) {
	calls, t, err := v.taskOf(r)
	if err != nil {
		return nil, err
	}
	request := v.hostRequestOf(r, nil, &heartbeat{})
	request.notify = func(string, json.RawMessage) {} // the request that began the task said where notifications go
	request.ask = func(method string, params json.RawMessage) (func(context.Context) (json.RawMessage, error), error) {
		return r.Call(method, withRelated(params, t.id))
	}
	result, err := calls.taskResult(ctx, t, request)
	if err != nil {
		return nil, err
	}
	return withRelated(v.result(r, result), t.id), nil
}

func (v *View) listTasks(_ context.Context, r *mcpserver.Request) (json.RawMessage, error) {
	if cursor, err := cursorOf(r.Params); err != nil || cursor != "" { // all are on one page
		return nil, errCursor
	}
	states := jsonscan.Array(v.callsOf(r.Session).taskStates(r.Session.ID))
	return append(jsonscan.AppendMember([]byte{'{'}, "tasks", states), '}'), nil
}

func (v *View) updateTask(_ context.Context, r *mcpserver.Request) (json.RawMessage, error) {
	calls, t, err := v.taskOf(r)
	if err != nil {
		return nil, err
	}
	responses, err := inputResponses(r.Params)
	if err != nil {
		return nil, err
	}
	calls.updateTask(t, responses)
	return json.RawMessage("{}"), nil
}
