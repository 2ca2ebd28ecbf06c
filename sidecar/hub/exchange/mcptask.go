package exchange

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/protocol"
	"assent/sidecar/base/jsonscan"
	"assent/sidecar/base/reason"
	"assent/sidecar/broker/attribution"
	"assent/sidecar/hub/session"
	"assent/sidecar/task"
	"assent/sidecar/task/ask"
	"assent/sidecar/wire"
	"assent/sidecar/wire/mcptask"
)

// taskLostError says, in whole sentences, why an MCP task cannot be followed any more. Its server may be there.
type taskLostError struct{ reason string }

func (e taskLostError) Error() string { return e.reason }

// Hooks connect a call with its caller.
type Hooks struct {
	// MessageID is the id of the call's message. The questions that the call causes refer to it.
	MessageID int64
	// Progress gets the server's progress, and Task every change of the MCP task that the call became. Both may be nil,
	// and must not block.
	Progress func(protocol.Progress)
	Task     func(protocol.McpTask)
	// Round gets each InputRequiredResult before the person gets its questions, so that the next sidecar can go on with
	// the call if this one dies. It gets nil before the answers are sent: from then on it is unknown what the server
	// did. With nil, no call outlives the sidecar.
	Round func(*task.Round)
	// Resume is the open round of a call that an earlier sidecar began, or nil. Known is what that knew of the MCP task that
	// the call had become, or nil; [Exchanges.Request] alone reads it.
	Resume *task.Round
	Known  *protocol.McpTask
	// Cancel is closed when a person cancels the MCP task that the call became.
	Cancel <-chan struct{}
	// Host is the program for which the call runs; nil if it is Assent's own.
	Host *attribution.Host
	// TaskTTL is the time to live that a legacy server gets for the MCP task; 0 means [DefaultTaskTTL].
	TaskTTL time.Duration
}

// following is an MCP task that a call waits for.
type following struct {
	*exchange
	id   string
	task attribution.Task
	// wireID is the id as the server wrote it, which may be a number.
	wireID any
	// ctx ends with the call and has its cause.
	ctx     context.Context
	abandon context.CancelCauseFunc
	news    chan *mcptask.State
	// last is the state that was observed last.
	last protocol.McpTask
	// tooLong counts the messages that were too long to read and ended the connection.
	tooLong atomic.Int32
}

// maxTooLong bounds tooLong, because the server may send the same again. One is not enough for the end: the message may
// have been the answer to another call.
const maxTooLong = 3

// tell passes on a state from the server's notification, or nil if the server may send no more of them. It replaces a
// state that is not taken yet.
func (f *following) tell(s *mcptask.State) {
	for {
		select {
		case f.news <- s:
			return
		default:
		}
		select {
		case <-f.news:
		default:
		}
	}
}

// whenOver cancels an ask of the MCP task when that ends, with a [task.Ended] as the cause. The returned function stops that.
func (f *following) whenOver(cancel context.CancelCauseFunc) (stop func() bool) {
	return context.AfterFunc(f.ctx, func() {
		if closing(f.ctx) {
			cancel(&task.Ended{Reason: protocol.OutcomeRestarted, Detail: "Assent is closing."})
		} else {
			cancel(taskEnded(context.Cause(f.ctx)))
		}
	})
}

// errTaskOver is the cause with which a task's context ends when its result is here.
var errTaskOver = errors.New("the MCP task has ended")

// taskEnded returns the outcome of an ask when its MCP task is over.
func taskEnded(cause error) *task.Ended {
	ended := attribution.CallEnded(cause)
	if ended.Detail == "" {
		ended.Detail = "The MCP task that asked has ended."
	}
	return ended
}

// isCancelled reports whether the task was cancelled: tasks/cancel is sent or about to be.
func (f *following) isCancelled() bool {
	return f.ctx.Err() != nil && attribution.WasCancelled(context.Cause(f.ctx))
}

// prefix is the beginning of the keys of the task's questions.
func (f *following) prefix() string { return ask.McpTaskPrefix(f.server.name(), f.id) }

// following returns a following of an MCP task, or nil if the conversation no longer exists.
func (x *exchange) following(ctx context.Context, state *mcptask.State) *following {
	t, err := x.server.opts.Task(x.taskID)
	if err != nil {
		return nil
	}
	ctx, abandon := context.WithCancelCause(ctx)
	return &following{exchange: x, id: state.ID, wireID: wireID(state), task: t, ctx: ctx, abandon: abandon, news: make(chan *mcptask.State, 1)}
}

// follow follows the MCP task that the call became to its end.
func (x *exchange) follow(ctx context.Context, first *mcptask.State) (json.RawMessage, error) {
	f := x.became
	if f == nil {
		if f = x.following(ctx, first); f == nil {
			_, err := x.server.opts.Task(x.taskID)
			return nil, err
		}
		if !x.server.follow(f) {
			f.abandon(errTaskOver)
			return nil, session.BadAnswerError{Reason: fmt.Sprintf("it gave the task %q to two calls", first.ID)}
		}
	}
	defer x.server.unfollow(f)
	d := &eraDriver{legacy: &legacyTask{f: f}, modern: &modernTask{f: f, attended: map[string]string{}}, f: f}
	if known := x.known; known != nil && known.Abandoned != "" { // an earlier sidecar did not come to the end of that
		f.abandon(errTaskOver)
		d.giveUp()
		f.task.ReleaseUndelivered(f.prefix(), taskEnded(nil), ask.AnswerUnknown)
		return nil, attribution.Abandoned{Reason: known.Abandoned}
	}
	result, err := mcptask.Follow(f.ctx, d, first, mcptask.Options{
		Observe: f.observe,
		News:    f.news, Cancel: x.hooks.Cancel, Known: x.known, Found: x.toolName == "", Floor: x.server.opts.PollFloor,
	})
	f.abandon(cmp.Or(err, errTaskOver))
	cause := context.Cause(f.ctx)
	if x.endCall != nil { // the asks from before the handle
		if !attribution.WasCancelled(cause) && !closing(f.ctx) {
			cause = nil
		}
		x.endCall(cause)
	}
	d.legacy.wg.Wait()
	d.modern.wg.Wait()
	var lost *mcptask.LostError
	var abandoned attribution.Abandoned
	switch {
	case closing(f.ctx):
		return nil, errGoesOn
	case session.IsUnread(err): // the server still runs
	case errors.As(err, &lost) && lost.Err != nil:
		err = session.NoAnswerError{Reason: lost.Reason}
	case errors.As(err, &lost):
		err = taskLostError{x.lostTask(words(first.ID), lost)}
	case errors.As(err, &abandoned):
		f.recordAbandoned(abandoned)
		d.giveUp()
	case attribution.WasCancelled(err) && !errors.Is(err, mcptask.ErrCancelled):
		d.giveUp()
	}
	if err == nil && f.last.Status == protocol.McpTaskFailed {
		result = asFailed(result)
	}
	if err == nil || errors.As(err, new(*jsonrpc.Error)) || errors.Is(err, mcptask.ErrCancelled) {
		f.task.Release(f.prefix(), taskEnded(cause))
	} else {
		f.task.ReleaseUndelivered(f.prefix(), taskEnded(cause), ask.AnswerUnknown)
	}
	return result, err
}

// lostTask says what became of an MCP task, and what the person can do.
func (x *exchange) lostTask(id string, lost *mcptask.LostError) string {
	if lost.Over {
		return fmt.Sprintf("The MCP task %q of the server %q %s.", id, x.server.name(), lost.Reason)
	}
	advice := "It may still run: find out before you start another."
	if lost.Gone {
		advice = "Run the tool again to start another."
	}
	return fmt.Sprintf("The MCP task %q of the server %q cannot be followed: %s. %s", id, x.server.name(), lost.Reason, advice)
}

// asFailed marks the result of a failed task as the result of a failed tool (2025-11-25, "Tasks: Task Execution Errors").
func asFailed(raw json.RawMessage) json.RawMessage {
	if !isObject(raw) {
		return raw
	}
	members := maps.Collect(jsonscan.Of(raw))
	if string(members["isError"]) == "true" {
		return raw
	}
	members["isError"] = json.RawMessage("true")
	return object(members, raw)
}

// observe tells the call's owner a change of the task.
func (f *following) observe(s protocol.McpTask) {
	f.last = s
	if f.hooks.Task != nil {
		f.hooks.Task(s)
	}
}

// recordAbandoned records why the call is abandoned before the task is cancelled: the next sidecar would only see a task that
// was cancelled.
func (f *following) recordAbandoned(why attribution.Abandoned) {
	s := f.last
	s.Abandoned = why.Reason
	f.observe(s)
}

// errGoesOn is the error of a call that the next sidecar continues, because Assent is closing.
var errGoesOn = errors.New("the call continues with the next start of Assent")

// closing reports whether ctx ended because Assent is closing.
func closing(ctx context.Context) bool { return isClosing(context.Cause(ctx)) }

// isClosing reports whether an error is because Assent is closing.
func isClosing(err error) bool {
	var stopped session.Stopped
	return errors.As(err, &stopped) && stopped.Asks == protocol.OutcomeRestarted
}

// LongestClose is how long tasks/cancel may take for a task without a waiting call.
const LongestClose = 5 * time.Second

// giveUp cancels a task without a waiting call. It logs a failure.
func (d *eraDriver) giveUp() {
	ctx, cancel := context.WithTimeout(context.Background(), LongestClose)
	defer cancel()
	if _, err := d.Cancel(ctx); err != nil {
		d.f.server.opts.Log.Info().Err(err).Str("server", d.f.server.name()).Str("mcpTask", d.f.id).Msg("the task was not cancelled")
	}
}

// ask makes a request about the task, on the task's current connection.
func (f *following) ask(ctx context.Context, method string, params map[string]any) (json.RawMessage, error) {
	c, err := f.server.session.Connection(ctx, f.taskID)
	if err != nil {
		return nil, err
	}
	raw, err := askTask(ctx, c, method, f.wireID, params)
	if err == nil || ctx.Err() != nil {
		return raw, err
	}
	if session.IsUnread(err) {
		return nil, &mcptask.LostError{Reason: reason.Of(err), Err: err}
	}
	broken := c.Broken()
	tooLong := errors.Is(err, wire.ErrTooLong) || errors.Is(broken, wire.ErrTooLong)
	if broken != nil {
		select { // for the reason, and so that the next request gets another connection
		case <-c.Over():
			err = session.LostError{Reason: reason.Of(context.Cause(c.Context()))}
		case <-ctx.Done():
			return nil, err
		}
	}
	if tooLong && f.tooLong.Add(1) >= maxTooLong {
		return nil, &mcptask.LostError{Reason: reason.Of(err), Err: err}
	}
	return nil, err
}

// askTask makes a request about an MCP task. Only tasks/result has no time limit: the server answers it at the end of the
// task.
func askTask(ctx context.Context, c *session.Conn, method string, id any, params map[string]any) (json.RawMessage, error) {
	params["taskId"] = id
	if c.IsModern() {
		params["_meta"] = modernMeta(c)
	}
	if method != "tasks/result" {
		var done func()
		ctx, done = c.Within(ctx, method)
		defer done()
	}
	return c.Call(ctx, method, params)
}

// modernMeta is the _meta of every request of the modern era.
func modernMeta(c *session.Conn) map[string]any {
	who := c.Introduction()
	return map[string]any{
		"io.modelcontextprotocol/protocolVersion":    wire.ModernVersion,
		"io.modelcontextprotocol/clientInfo":         map[string]string{"name": who.Name, "version": who.Version},
		"io.modelcontextprotocol/clientCapabilities": who.Modern,
	}
}

// follow notes who follows a task. It returns false if another call follows the task already.
func (s *Exchanges) follow(f *following) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.followed[f.id] != nil {
		return false
	}
	s.followed[f.id] = f
	return true
}

func (s *Exchanges) unfollow(f *following) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.followed, f.id)
}

// following returns who follows a task, or nil.
func (s *Exchanges) following(id string) *following {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.followed[id]
}

// taskNews handles a notification about a task, of either era. If the notification cannot be read, for example because it is
// too long, every task is polled.
func (s *Exchanges) taskNews(params json.RawMessage) {
	state := parseTask(params)
	if state == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, f := range s.followed {
			f.tell(nil)
		}
		return
	}
	if f := s.following(state.ID); f != nil {
		f.tell(state)
	}
}

// ResumeTool follows the MCP task that a call of an earlier sidecar became, or one from the server's list. The tool of
// the latter is unknown, so toolName is empty. The result is nil if Assent closes before the task ends.
func (s *Exchanges) ResumeTool(ctx context.Context, taskID, toolName string, known protocol.McpTask, hooks Hooks) protocol.CallResult {
	raw, err := s.resume(ctx, request{taskID: taskID, toolName: toolName, hooks: hooks}, known)
	return toolResult(s.name(), raw, err)
}

// resume follows an MCP task of which something is known, and returns the raw result.
func (s *Exchanges) resume(ctx context.Context, r request, known protocol.McpTask) (json.RawMessage, error) {
	r.known = &known
	x := &exchange{server: s, request: r}
	ctx, end := s.begin(ctx, x)
	defer end()
	return x.follow(ctx, &mcptask.State{ID: known.TaskID, Status: known.Status, StatusMessage: known.StatusMessage})
}
