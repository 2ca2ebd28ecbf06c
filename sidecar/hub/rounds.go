package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"assent/protocol"
	"assent/sidecar/ask"
	"assent/sidecar/deadline"
	"assent/sidecar/jsonscan"
	"assent/sidecar/mcptask"
	"assent/sidecar/reason"
	"assent/sidecar/task"
	"assent/sidecar/wire"
)

const (
	// maxRounds bounds how often one request may come back with questions.
	maxRounds = 32
	// maxIdleRounds bounds how often in a row it may come back without any.
	maxIdleRounds = 10
)

// exchange is a request of ours that a modern server may answer with questions (2026-07-28, "Multi
// Round-Trip Requests"): tools/call, prompts/get, resources/read. A legacy server asks by requests of
// its own while the exchange lasts.
type exchange struct {
	server *server
	taskID string
	// toolName is empty where the request is no tool call.
	toolName string
	// resourceURI is empty where no resource is read.
	resourceURI string
	// promptName is empty where no prompt is filled in.
	promptName string
	// send makes the request. ctx has the members to add to its params, and the [wire.Capture] of its answer.
	send  func(ctx context.Context, session *mcp.ClientSession) error
	hooks Hooks
	// known is what an earlier sidecar knew of the MCP task that the call became, or nil.
	known *protocol.McpTask
	// asTask is set where a legacy server is asked to make a task of the call.
	asTask bool
	// became is the MCP task that a legacy server made of the call, as soon as its handle is here, or nil; and endCall
	// ends the asks of the call with that task.
	became  *following
	endCall func(cause error)
	// modern: the last request was made in 2026-07-28. asked: the server sent a request while it served that, which the
	// version does not allow.
	modern, asked bool
	// conn is the connection of the last request, which release lets go; nil before the first.
	conn    *conn
	release func()
	// clock bounds each request, or is nil.
	clock *deadline.Clock
	// forgetProgress ends the telling of progress under the token of the last request, or is nil. The token
	// is good for as long as the task that the call becomes (2025-11-25, "Progress").
	forgetProgress func()
}

// abandonedError says why an exchange was not continued although the server would have.
type abandonedError struct{ reason string }

func (e abandonedError) Error() string { return e.reason }

// run returns the raw result. The error is a [jsonrpc.Error] where the server answered with one, an
// abandonedError, an unusableError, a noAnswerError or a lostError; or it is ctx's.
func (x *exchange) run(ctx context.Context) (json.RawMessage, error) {
	var answers map[string]json.RawMessage
	defer x.endProgress()
	defer x.letGo()
	if limit := x.limit(); limit.limit > 0 {
		var cancel context.CancelFunc
		ctx, x.clock, cancel = deadline.WithClock(ctx, limit.limit, limit)
		defer cancel()
	}
	idle, pages, number := 0, 0, 0
	if resumed := x.hooks.Resume; resumed != nil {
		required, _, err := x.parseRound(resumed.Required)
		if err == nil && required == nil {
			err = unusableError{"what it asked for was not kept whole"}
		}
		if err != nil {
			return nil, err
		}
		number = resumed.Number
		if answers, err = x.ask(ctx, number, required, resumed.Required); err != nil {
			return nil, err
		}
		number++
	}
	for range maxRounds {
		result, modern, err := x.round(ctx, answers)
		if urls := x.urlsRequired(err); len(urls) > 0 && pages < maxURLRounds {
			pages++
			done, askErr := x.awaitURLs(ctx, urls)
			switch {
			case askErr != nil:
				return nil, askErr
			case done:
				continue
			}
		}
		if err != nil {
			return nil, err
		}
		if !modern {
			return x.legacyResult(ctx, result)
		}
		required, created, err := x.parseRound(result)
		switch {
		case err != nil:
			return nil, err
		case created != nil:
			return x.follow(ctx, created)
		case required == nil:
			return result, nil
		}
		if len(required.InputRequests) == 0 {
			if idle++; idle > maxIdleRounds {
				return nil, unusableError{fmt.Sprintf("it asked %d times in a row to be called again, and never for anything", maxIdleRounds)}
			}
			if err := pause(ctx, time.Duration(idle-1)*x.server.hub.opts.IdlePause); err != nil {
				return nil, err
			}
		} else {
			idle = 0
		}
		if answers, err = x.ask(ctx, number, required, result); err != nil {
			return nil, err
		}
		number++
	}
	return nil, unusableError{fmt.Sprintf("it came back with questions %d times and with no result", maxRounds)}
}

// ask is answer, for a round that outlives the sidecar where the call's owner wants that.
func (x *exchange) ask(ctx context.Context, number int, required *inputRequired, result json.RawMessage) (map[string]json.RawMessage, error) {
	if x.hooks.Round == nil || len(required.InputRequests) == 0 {
		return x.answer(ctx, required, "")
	}
	x.hooks.Round(&task.Round{Number: number, Required: result})
	answers, err := x.answer(ctx, required, fmt.Sprintf("%s%d\x00", ask.RoundPrefix(x.hooks.MessageID), number))
	if closing(ctx) { // the next sidecar sends the answers
		return nil, errGoesOn
	}
	x.hooks.Round(nil)
	return answers, err
}

// pause waits, unless ctx ends first.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// maxResends bounds how often a request is sent that the server did not take.
const maxResends = 2

// round makes the request. A modern server keeps nothing between rounds, so each may use another
// connection. A request that was never taken is sent again on a new one.
func (x *exchange) round(ctx context.Context, answers map[string]json.RawMessage) (result json.RawMessage, modern bool, err error) {
	for range maxResends {
		result, modern, err = x.attempt(ctx, answers)
		if !errors.Is(err, errUnsent) {
			break
		}
	}
	return result, modern, err
}

// attempt makes the request once.
func (x *exchange) attempt(ctx context.Context, answers map[string]json.RawMessage) (result json.RawMessage, modern bool, err error) {
	c, err := x.connection(ctx, answers != nil)
	if err != nil {
		return nil, false, err
	}
	extra := answers
	if !c.modern() {
		extra = nil // this era does not have them: the server asks again
	}
	if !c.modern() && x.toolName != "" {
		if x.asTask, err = x.taskSupport(ctx, c); err != nil {
			return nil, false, err
		}
		if x.asTask {
			extra = map[string]json.RawMessage{"task": mustJSON(map[string]int64{"ttl": cmp.Or(x.hooks.TaskTTL, DefaultTaskTTL).Milliseconds()})}
		}
	}
	if err := c.awaitRoots(ctx); err != nil {
		return nil, false, err
	}
	entry := &call{
		taskID: x.taskID, toolName: x.toolName, resourceURI: x.resourceURI, promptName: x.promptName,
		messageID: x.hooks.MessageID, since: x.server.hub.opts.Now(), ctx: ctx, done: make(chan struct{}),
	}
	c.begin(entry)
	defer func() { x.attempted(c, entry, context.Cause(ctx)) }()
	callCtx, capture := wire.WithCapture(wire.WithParams(context.WithValue(ctx, callKey{}, entry), extra))
	x.endProgress()
	if x.hooks.Progress != nil || x.clock != nil && x.toolName != "" {
		var token string
		token, x.forgetProgress = c.expectProgress(restarting(x.clock, x.hooks.Progress))
		callCtx = context.WithValue(callCtx, progressTokenKey{}, token)
	}
	capture.WhenAnswered(func(got wire.Answer) { x.answered(ctx, c, entry, got) })
	stop := c.time(x.clock)
	err = x.send(callCtx, c.session)
	stop()
	x.modern, x.asked = c.modern(), entry.asked.Load()
	if ctx.Err() != nil {
		c.owe(capture.Cancelled())
	}
	got := capture.Answer()
	if err == nil || got.Result != nil { // go-sdk may not understand all of it, or was no longer asked to
		return got.Result, c.modern(), nil
	}
	return nil, false, c.failure(ctx, capture, err)
}

// answered takes the answer to a request in the order of the frames.
func (x *exchange) answered(ctx context.Context, c *conn, entry *call, got wire.Answer) {
	var became *following
	if state := x.handle(got.Result); state != nil {
		became = x.following(ctx, state.ID)
	}
	if became != nil && !x.server.follow(became) {
		became = nil // which ends the exchange
	}
	if !c.answered(entry, became) && became != nil {
		x.server.unfollow(became)
	}
}

// attempted notes that a request has its answer, or was given up for a cause. Its asks have ended then, but those of a
// call that became an MCP task: they end with that.
func (x *exchange) attempted(c *conn, entry *call, cause error) {
	c.mu.Lock()
	x.became = entry.became
	c.mu.Unlock()
	if x.became == nil {
		c.end(entry, cause)
		return
	}
	x.endCall = func(cause error) { c.end(entry, cause) }
}

// connection returns the connection for the next request, and keeps it in use. A call that goes on does so in
// the version in which it began, even if new connections speak another one.
func (x *exchange) connection(ctx context.Context, goesOn bool) (*conn, error) {
	if goesOn && x.conn != nil && x.conn.ctx.Err() == nil {
		return x.conn, nil
	}
	c, release, err := x.server.borrow(ctx, x.taskID)
	if err != nil {
		return nil, err
	}
	x.letGo()
	x.conn, x.release = c, release
	return c, nil
}

// letGo ends the use of the last request's connection.
func (x *exchange) letGo() {
	if x.release != nil {
		x.release()
		x.conn, x.release = nil, nil
	}
}

// endProgress ends the telling of progress.
func (x *exchange) endProgress() {
	if x.forgetProgress != nil {
		x.forgetProgress()
		x.forgetProgress = nil
	}
}

// progressTokenKey is the key of the token under which a request's progress is told.
type progressTokenKey struct{}

func progressToken(ctx context.Context) any { return ctx.Value(progressTokenKey{}) }

// inputRequired is MCP's InputRequiredResult.
type inputRequired struct {
	InputRequests inputRequests `json:"inputRequests"`
	// RequestState is the server's own. It goes back byte for byte, or not at all.
	RequestState json.RawMessage `json:"requestState"`
}

// inputRequests are the questions of a round, in the order in which the server wrote them.
type inputRequests []mcptask.Input

// UnmarshalJSON implements [json.Unmarshaler]. Of two members with one name the last counts, as in encoding/json.
func (r *inputRequests) UnmarshalJSON(object []byte) error {
	if string(object) == "null" {
		return nil
	}
	if object[0] != '{' {
		return json.Unmarshal(object, &struct{}{}) // which says so
	}
	*r = inputRequests{}
	for key, raw := range jsonscan.Of(object) {
		input := mcptask.Input{Key: key}
		if err := jsonscan.Unmarshal(raw, &input); err != nil {
			return fmt.Errorf("the question %q: %w", key, err)
		}
		if at := slices.IndexFunc(*r, func(other mcptask.Input) bool { return other.Key == key }); at >= 0 {
			(*r)[at] = input
		} else {
			*r = append(*r, input)
		}
	}
	return nil
}

// legacyResult follows the task that a call became, if any, and returns the result.
func (x *exchange) legacyResult(ctx context.Context, result json.RawMessage) (json.RawMessage, error) {
	if state := x.handle(result); state != nil {
		return x.follow(ctx, state)
	}
	return result, nil
}

// handle returns the task that a legacy server made of the call, or nil where the result is another.
func (x *exchange) handle(result json.RawMessage) *mcptask.State {
	var created struct {
		Task    json.RawMessage `json:"task"`
		Content json.RawMessage `json:"content"`
	}
	if !x.asTask || jsonscan.Unmarshal(result, &created) != nil {
		return nil
	}
	if created.Task == nil && created.Content == nil {
		created.Task = result // some servers forget the member around it
	}
	return parseTask(created.Task)
}

// parseRound returns what a result asks for, or the task that it created, or neither where it is
// complete. A kind of result that is not known must not be taken for a complete one (2026-07-28,
// "Responses").
func (x *exchange) parseRound(result json.RawMessage) (*inputRequired, *mcptask.State, error) {
	var kind struct {
		ResultType string          `json:"resultType"`
		Content    json.RawMessage `json:"content"`
	}
	if err := jsonscan.Unmarshal(result, &kind); err != nil {
		return nil, nil, unusableError{"its result cannot be read: " + reason.Of(err)}
	}
	// Some servers forget to say what kind it is.
	if kind.ResultType == "task" || kind.ResultType == "" && kind.Content == nil {
		if state := parseTask(result); state != nil && x.toolName != "" {
			return nil, state, nil
		}
	}
	switch kind.ResultType {
	case "", "complete":
		return nil, nil, nil
	case "input_required":
	case "task":
		return nil, nil, unusableError{"it made a task of the call that cannot be followed: it has no id or no status"}
	default:
		return nil, nil, unusableError{fmt.Sprintf("it answered with a result of the type %q, which Assent does not know", kind.ResultType)}
	}
	var required inputRequired
	if err := jsonscan.Unmarshal(result, &required); err != nil {
		return nil, nil, unusableError{"its questions cannot be read: " + reason.Of(err)}
	}
	if len(required.InputRequests) == 0 && required.RequestState == nil {
		return nil, nil, unusableError{"it asked to be called again and said neither what for nor with what"}
	}
	return &required, nil, nil
}

// answer asks all questions of a round at once, and returns what the next one adds to the request.
// One that is declined is an answer like the others. One that cannot be answered ends the exchange,
// and with it its siblings: this era has no words for it. With a prefix, the questions are known by it and
// their own keys, and outlive the sidecar.
func (x *exchange) answer(ctx context.Context, required *inputRequired, prefix string) (map[string]json.RawMessage, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	var mu sync.Mutex // guards answers and failed
	answers := map[string]json.RawMessage{}
	var failed error
	var order sequence
	var asked []*question
	for _, request := range required.InputRequests {
		q := &question{slot: order.join()}
		asked = append(asked, q)
		wg.Go(func() {
			raw, err := x.answerOne(ctx, q, prefix, request)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				answers[request.Key] = raw
			} else if failed == nil {
				failed = err
				cancel(err)
			}
		})
	}
	wg.Wait()
	if failed == nil && ctx.Err() != nil {
		failed = context.Cause(ctx)
	}
	if failed != nil {
		if !closing(ctx) {
			for _, q := range asked { // which were to be sent together
				q.delivered(failed)
			}
		}
		return nil, failed
	}
	extra := map[string]json.RawMessage{}
	if required.RequestState != nil {
		extra["requestState"] = required.RequestState
	}
	if required.InputRequests != nil {
		raw, err := json.Marshal(answers)
		if err != nil {
			return nil, err
		}
		extra["inputResponses"] = raw
	}
	return extra, nil
}

func (x *exchange) answerOne(ctx context.Context, q *question, prefix string, request mcptask.Input) (json.RawMessage, error) {
	t, err := x.server.hub.opts.Task(x.taskID)
	if err != nil {
		q.slot.pass()
		return nil, err
	}
	if prefix != "" {
		t = &keyed{Asker: t, key: prefix + request.Key}
	}
	return x.answerAs(ctx, q, t, request)
}

// answerAs asks a question in a task, when its turn has come.
func (x *exchange) answerAs(ctx context.Context, q *question, t Asker, request mcptask.Input) (_ json.RawMessage, err error) {
	defer q.slot.pass()
	defer reason.Panicked(x.server.hub.opts.Log, request.Method, &err)
	if request.Method == "roots/list" {
		return json.Marshal(map[string]any{"roots": x.server.hub.roots()})
	}
	serve := questions[request.Method]
	if serve == nil {
		return nil, abandonedError{fmt.Sprintf("The server asked for %q, which Assent does not know.", request.Method)}
	}
	asking, done := untilOver(ctx)
	defer done()
	q.slot.await(asking)
	result, err := serve(x.server.hub.opts.Broker, asking, q.of(x.server.visiting(t, request.Params)), x.origin(), request.Params)
	q.served(err)
	var refused *jsonrpc.Error
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case q.left:
		return nil, context.Canceled // which is what becomes of the call
	case errors.As(err, &refused):
		return nil, abandonedError{"The server could not be given what it asked for: " + refused.Message}
	case err != nil:
		return nil, err
	}
	return json.Marshal(result)
}

// origin says who asks: the exchange.
func (x *exchange) origin() protocol.Origin {
	origin := protocol.Origin{ServerName: x.server.config.Name, ResourceURI: x.resourceURI, MessageID: x.hooks.MessageID}
	if x.toolName != "" {
		origin.ToolNames = []string{x.toolName}
	}
	return origin
}

// untilOver returns a context for an ask of an exchange. It ends with the exchange and with nothing
// else: a question that is in a result outlives the connection that brought it.
func untilOver(ctx context.Context) (context.Context, func()) {
	asking, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { cancel(callEnded(context.Cause(ctx))) })
	return asking, func() {
		stop()
		cancel(nil)
	}
}
