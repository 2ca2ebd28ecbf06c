package exchange

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/base/jsonscan"
	"assent/sidecar/base/reason"
	"assent/sidecar/broker/attribution"
	"assent/sidecar/hub/session"
	"assent/sidecar/task"
	"assent/sidecar/wire"
)

const (
	// maxReceived bounds how many questions of one server are kept as tasks in one conversation.
	maxReceived = 100
	// maxReceivedTTL bounds for how long, and receivedTTL is the time if the server asks for none.
	maxReceivedTTL = 24 * time.Hour
	receivedTTL    = time.Hour
	// receivedPoll is how often a server is asked to poll.
	receivedPoll = 500 * time.Millisecond
)

// receiver keeps the tasks that a legacy server made of its own questions, so that it can come back for
// the answers (2025-11-25, "Tasks", with the client as the receiver). It belongs to one server and one
// conversation, and outlives their connections.
type receiver struct {
	wg sync.WaitGroup // of the questions; grows under mu only, and not once closed

	mu     sync.Mutex // guards the fields below
	closed bool
	tasks  []*received // in the order of their making
}

// received is a task that a server made of a question.
type received struct {
	id      string
	created time.Time
	ttl     time.Duration
	cancel  context.CancelCauseFunc
	expire  *time.Timer

	done chan struct{} // closed when the rest is set
	// status is that of the end, under the receiver's lock until then.
	status protocol.McpTaskStatus
	ended  time.Time
	result any
	err    error
}

// wireTask is MCP's Task.
type wireTask struct {
	TaskID        string                 `json:"taskId"`
	Status        protocol.McpTaskStatus `json:"status"`
	CreatedAt     time.Time              `json:"createdAt"`
	LastUpdatedAt time.Time              `json:"lastUpdatedAt"`
	TTL           int64                  `json:"ttl"`
	PollInterval  int64                  `json:"pollInterval"`
}

func (t *received) wire() wireTask {
	w := wireTask{
		TaskID: t.id, Status: t.status, CreatedAt: t.created, LastUpdatedAt: t.created,
		TTL: t.ttl.Milliseconds(), PollInterval: receivedPoll.Milliseconds(),
	}
	if !t.ended.IsZero() {
		w.LastUpdatedAt = t.ended
	}
	return w
}

// wantsTask returns for how long a question is kept as a task, and whether the server wants that.
func wantsTask(params json.RawMessage) (ttl time.Duration, wants bool) {
	if !mentions(params, `"task"`) {
		return 0, false
	}
	var p struct {
		Task *struct {
			TTL *float64 `json:"ttl"`
		} `json:"task"`
	}
	if jsonscan.Unmarshal(params, &p) != nil || p.Task == nil {
		return 0, false
	}
	if d := milliseconds(p.Task.TTL); d != nil {
		return min(*d, maxReceivedTTL), true
	}
	return receivedTTL, true
}

// create makes a task of a question. It calls ask, which asks until its context ends, at the given time. It calls late if the
// task ended before the answer came. The task that is returned is as it was created: it "MUST begin in the
// working status" (2025-11-25, "Tasks: Task Status Lifecycle"), also if the answer is there by now.
func (r *receiver) create(log *zerolog.Logger, ttl time.Duration, ask func(ctx context.Context, until time.Time) (any, error), late func()) (wireTask, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || len(r.tasks) >= maxReceived {
		return wireTask{}, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "too many tasks: fetch or cancel some first"}
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	t := &received{
		id: uuid.NewString(), created: time.Now(), ttl: ttl, cancel: cancel,
		done: make(chan struct{}), status: protocol.McpTaskWorking,
	}
	t.expire = time.AfterFunc(ttl, func() {
		r.end(t, protocol.McpTaskCancelled, nil, unknownTask(t.id))
		cancel(&task.Ended{Reason: protocol.OutcomeServerStoppedWaiting, Detail: "The server did not come back for the answer in time."})
		r.forget(t)
	})
	r.tasks = append(r.tasks, t)
	r.wg.Go(func() {
		result, err := func() (_ any, err error) {
			defer reason.Panicked(log, "the question", &err)
			return ask(ctx, t.created.Add(ttl))
		}()
		status := protocol.McpTaskCompleted
		if err != nil {
			status = protocol.McpTaskFailed
		}
		if !r.end(t, status, result, err) {
			late()
		}
	})
	return t.wire(), nil // nothing ends a task without the lock
}

// end notes a task's end; only the first counts.
func (r *receiver) end(t *received, status protocol.McpTaskStatus, result any, err error) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !t.ended.IsZero() {
		return false
	}
	t.status, t.result, t.err, t.ended = status, result, err, time.Now()
	close(t.done)
	return true
}

func (r *receiver) forget(t *received) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tasks = slices.DeleteFunc(r.tasks, func(other *received) bool { return other == t })
}

// close ends every task, and waits for their questions.
func (r *receiver) close(why *task.Ended) {
	r.mu.Lock()
	r.closed = true
	tasks := slices.Clone(r.tasks)
	r.mu.Unlock()
	for _, t := range tasks {
		t.expire.Stop()
		t.cancel(why)
	}
	r.wg.Wait()
}

func unknownTask(id string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "there is no task " + id + ", or none any more"}
}

// find returns the task that a request of the server names.
func (r *receiver) find(params json.RawMessage) (*received, error) {
	var p struct {
		TaskID string `json:"taskId"`
	}
	if err := jsonscan.Unmarshal(params, &p); err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "taskId is missing"}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.tasks {
		if t.id == p.TaskID {
			return t, nil
		}
	}
	return nil, unknownTask(p.TaskID)
}

// serve serves tasks/get, tasks/list, tasks/result and tasks/cancel.
func (r *receiver) serve(ctx context.Context, method string, params json.RawMessage) (any, error) {
	if method == "tasks/list" {
		r.mu.Lock()
		defer r.mu.Unlock()
		tasks := []wireTask{}
		for _, t := range r.tasks {
			tasks = append(tasks, t.wire())
		}
		return map[string]any{"tasks": tasks}, nil
	}
	t, err := r.find(params)
	if err != nil {
		return nil, err
	}
	switch method {
	case "tasks/cancel":
		if !r.end(t, protocol.McpTaskCancelled, nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the task was cancelled"}) {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the task has ended already"}
		}
		t.cancel(&task.Ended{Reason: protocol.OutcomeServerStoppedWaiting, Detail: "The server stopped waiting."})
	case "tasks/result":
		select {
		case <-t.done:
			return relatedTo(t.id, t.result), t.err
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return t.wire(), nil
}

// relatedTo marks a result as a task's.
func relatedTo(id string, result any) any {
	raw, err := json.Marshal(result)
	if err != nil {
		return result
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil || object == nil {
		return result
	}
	meta, err := json.Marshal(map[string]any{"io.modelcontextprotocol/related-task": map[string]string{"taskId": id}})
	if err != nil {
		return result
	}
	object["_meta"] = meta
	return object
}

// receivedMethods are the requests that a server may send about the tasks that it made of its questions.
var receivedMethods = []string{"tasks/get", "tasks/list", "tasks/result", "tasks/cancel"}

// receive serves one of receivedMethods on a connection.
func (s *Exchanges) receive(c *session.Conn, method string) func(ctx context.Context, params json.RawMessage) func() (any, error) {
	return func(ctx context.Context, params json.RawMessage) func() (any, error) {
		r, release := s.receiver(c), c.Hold()
		return func() (any, error) {
			defer release()
			return r.serve(ctx, method, params)
		}
	}
}

// receiver returns the receiver of the connection's conversation.
func (s *Exchanges) receiver(c *session.Conn) *receiver {
	taskID := c.Ledger.TaskID()
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.receivers[taskID]
	if r == nil {
		r = &receiver{}
		s.receivers[taskID] = r
	}
	return r
}

// receiveQuestion makes a task of a request, which serve serves, and answers with that.
func (s *Exchanges) receiveQuestion(c *session.Conn, ttl time.Duration, r *attribution.Request, serve func(ctx context.Context) (any, error)) func() (any, error) {
	received := s.receiver(c)
	return func() (any, error) {
		release := c.HoldForPerson()
		made, err := received.create(&s.opts.Log, ttl, func(ctx context.Context, until time.Time) (any, error) {
			defer release()
			defer r.Slot.Pass()
			r.Slot.Await(ctx)
			r.WaitsUntil, r.Params = until, withoutMeta(r.Params)
			return serve(ctx)
		}, func() { r.Delivered(wire.ErrCancelled) })
		if err != nil {
			release()
			r.Slot.Pass()
			return nil, err
		}
		return map[string]any{"task": made}, nil
	}
}

// closeReceivers ends the tasks of a conversation, or of all conversations if taskID is empty.
func (s *Exchanges) closeReceivers(taskID string, why *task.Ended) {
	s.mu.Lock()
	var over []*receiver
	for id, r := range s.receivers {
		if taskID == "" || id == taskID {
			over = append(over, r)
			delete(s.receivers, id)
		}
	}
	s.mu.Unlock()
	for _, r := range over {
		r.close(why)
	}
}
