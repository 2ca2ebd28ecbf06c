package exchange

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"assent/protocol"
	"assent/sidecar/base/deadline"
	"assent/sidecar/base/jsonscan"
	"assent/sidecar/base/reason"
	"assent/sidecar/broker"
	"assent/sidecar/broker/attribution"
	"assent/sidecar/hub/session"
	"assent/sidecar/task"
	"assent/sidecar/task/ask"
	"assent/sidecar/wire"
	"assent/sidecar/wire/mcptask"
)

const (
	// maxRounds bounds how often one request may come back with questions.
	maxRounds = 32
	// maxIdleRounds bounds how often in a row it may come back without any.
	maxIdleRounds = 10
)

// request is a request of ours that a modern server may answer with questions (2026-07-28, "Multi
// Round-Trip Requests"): tools/call, prompts/get, resources/read. A legacy server asks by requests of
// its own while the exchange lasts.
type request struct {
	taskID string
	// toolName, resourceURI and promptName: one is set, or none if an MCP task of an unknown tool is followed.
	toolName, resourceURI, promptName string
	// send makes the request. ctx has the members to add to its params, and the [wire.Capture] of its answer.
	send  func(ctx context.Context, session *mcp.ClientSession) error
	hooks Hooks
	// params are the members of a host's own params, byte for byte; nil for a call of Assent's.
	params map[string]json.RawMessage
	// known is what an earlier sidecar knew of the MCP task that the call became, or nil.
	known *protocol.McpTask
}

// exchange is a request and all that it leads to.
type exchange struct {
	server *Exchanges
	request
	last attempt
	// unsent is the round that has the answers of the next request, or nil.
	unsent *answeredRound
	// clock bounds each request, or is nil.
	clock *deadline.Clock
	// became is the MCP task that a legacy server made of the call, as soon as its handle is here, or nil; and endCall
	// ends the asks of the call with that task.
	became  *following
	endCall func(cause error)
	// strayed is the beginning of what the server wrote that is not MCP; the lock of the Exchanges guards it.
	strayed string
}

// attempt is one sending of a request.
type attempt struct {
	// conn is its connection, which release gives back; nil before the first.
	conn    *session.Conn
	release func()
	// asTask is set if a legacy server is asked to make a task of the call.
	asTask bool
	// modern: it was made in 2026-07-28. asked: the server sent a request while it served that, which the version does
	// not allow.
	modern, asked bool
	// forgetProgress ends the use of its progress token, or is nil. The token is good for as long as the task that the call
	// becomes (2025-11-25, "Progress").
	forgetProgress func()
}

// run makes the request and all that it leads to, and returns the raw result. The error is the server's [jsonrpc.Error], an
// [attribution.Abandoned], a [session.BadAnswerError], a [session.NoAnswerError], a [session.LostError], or the cause of ctx.
func (x *exchange) run(ctx context.Context) (json.RawMessage, error) {
	var answers map[string]json.RawMessage
	defer x.endProgress()
	defer x.releaseConn()
	if limit := x.limit(); limit.Limit > 0 {
		var cancel context.CancelFunc
		ctx, x.clock, cancel = deadline.WithClock(ctx, limit.Limit, limit)
		defer cancel()
	}
	idle, pages, number := 0, 0, 0
	// An earlier sidecar has the questions of this round from the server. They are answered before anything is sent.
	if resumed := x.hooks.Resume; resumed != nil {
		required, _, err := x.parseRound(resumed.Required)
		if err == nil && required == nil {
			err = session.BadAnswerError{Reason: "its questions were not saved completely"}
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
		// The server refuses the request until the person has been to some pages. Then the same request is sent again.
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
		if !modern { // it asked by requests of its own, so this is the end
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
			// The server only wants to be called again. The pauses grow, so that two programs do not spin.
			if idle++; idle > maxIdleRounds {
				return nil, session.BadAnswerError{Reason: fmt.Sprintf("it asked %d times in a row to be called again, and never for anything", maxIdleRounds)}
			}
			if err := session.Pause(ctx, time.Duration(idle-1)*x.server.opts.IdlePause); err != nil {
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
	return nil, session.BadAnswerError{Reason: fmt.Sprintf("it came back with questions %d times and with no result", maxRounds)}
}

// limit returns the error with the time limit for each request of an exchange; 0 means none.
func (x *exchange) limit() session.Overdue {
	switch own := x.server.session.Config().ToolTimeout; {
	case x.toolName == "":
		return session.Overdue{What: "the request", Limit: x.server.session.Housekeeping()}
	case own != nil:
		return session.Overdue{What: "the call", Limit: *own}
	default:
		return session.Overdue{What: "the call", Limit: x.server.opts.ToolTimeout()}
	}
}

// progressed takes a call's progress: it restarts the clock, and tells the task and the host.
func (x *exchange) progressed(p protocol.Progress, params json.RawMessage) {
	if x.clock != nil {
		x.clock.Restart()
	}
	if x.hooks.Progress != nil {
		x.hooks.Progress(p)
	}
	if h := x.hooks.Host; h != nil {
		h.Notify("notifications/progress", params)
	}
}

// ask is answer. If the call's owner saves rounds, ask gives the round to it first, so that the next sidecar can continue the
// call.
func (x *exchange) ask(ctx context.Context, number int, required *inputRequired, result json.RawMessage) (map[string]json.RawMessage, error) {
	if x.hooks.Round == nil || len(required.InputRequests) == 0 {
		return x.answer(ctx, required, "")
	}
	saved := &task.Round{Number: number, Required: result}
	x.hooks.Round(saved)
	answers, err := x.answer(ctx, required, fmt.Sprintf("%s%d\x00", ask.RoundPrefix(x.hooks.MessageID), number))
	switch {
	case closing(ctx): // the next sidecar sends the answers
		return nil, errGoesOn
	case err != nil:
		x.hooks.Round(nil)
	default:
		x.unsent.saved = saved
	}
	return answers, err
}

// round makes the request. A modern server keeps nothing between rounds, so each may use another
// connection. A request that was never taken is sent again on a new one. So is one with answers that broke off, if a second
// call of the tool changes nothing more, or if the person says so.
func (x *exchange) round(ctx context.Context, answers map[string]json.RawMessage) (result json.RawMessage, modern bool, err error) {
	a := x.unsent
	repeated := false
	for sends := 0; sends < session.MaxSends; sends++ {
		result, modern, err = x.attempt(ctx, answers)
		switch {
		case errors.Is(err, session.ErrUnsent):
			a.saveAgain(x.hooks.Round)
		case !repeated && a.inDoubt(err) && ctx.Err() == nil && x.mayAnswerAgain(ctx, err):
			repeated = true
			a.saveAgain(x.hooks.Round)
		default:
			sends = session.MaxSends
		}
	}
	switch {
	case err != nil && (closing(ctx) || isClosing(err)) && a.keep(): // the next sidecar sends the answers
		return nil, false, errGoesOn
	case a.inDoubt(err):
		a.undelivered(attribution.ErrUnknown)
	case err != nil && a.isUnsent():
		a.undelivered(errors.Join(attribution.ErrUnsent, err))
	}
	x.unsent = nil
	return result, modern, err
}

// attempt makes the request once.
func (x *exchange) attempt(ctx context.Context, answers map[string]json.RawMessage) (result json.RawMessage, modern bool, err error) {
	c, err := x.connection(ctx, answers != nil)
	if err != nil {
		return nil, false, err
	}
	extra := answers
	if !c.IsModern() {
		extra = nil // this era does not have them: the server asks again
	}
	if !c.IsModern() && x.toolName != "" {
		if x.last.asTask, err = x.taskSupport(ctx, c); err != nil {
			return nil, false, err
		}
		if x.last.asTask {
			extra = map[string]json.RawMessage{"task": fmt.Appendf(nil, `{"ttl":%d}`, cmp.Or(x.hooks.TaskTTL, DefaultTaskTTL).Milliseconds())}
		}
	}
	if x.params != nil { // what the host sent, with our members in place of its own
		extra = union(x.params, extra)
	}
	if err := c.AwaitRoots(ctx); err != nil {
		return nil, false, err
	}
	if h := x.hooks.Host; h != nil && h.LogLevel != "" {
		if !c.IsModern() { // legacy has a level for the connection, modern one for each request
			c.SetLogLevel(ctx, h.LogLevel)
		} else if extra, err = withLogLevel(extra, h.LogLevel); err != nil {
			return nil, false, err
		}
	}
	entry := &attribution.Call{
		TaskID: x.taskID, ToolName: x.toolName, ResourceURI: x.resourceURI, PromptName: x.promptName,
		MessageID: x.hooks.MessageID, Since: x.server.opts.Now(), Host: x.hooks.Host,
	}
	x.server.uses.Note(entry)
	c.Ledger.Begin(ctx, entry) // before the request is sent: the server may ask at once
	defer func() { x.onEnded(c, entry, context.Cause(ctx)) }()
	if c.IsModern() {
		told, err := x.capabilities(c)
		if err != nil {
			return nil, false, err
		}
		ctx = wire.WithCapabilities(ctx, told)
	}
	callCtx, capture := wire.WithCapture(wire.WithParams(context.WithValue(ctx, callKey{}, entry), extra))
	x.endProgress() // each sending has a token of its own, so that late progress of the last one does not count
	if x.hooks.Progress != nil || x.clock != nil && x.toolName != "" {
		var token string
		token, x.last.forgetProgress = c.ExpectProgress(x.progressed)
		callCtx = context.WithValue(callCtx, progressTokenKey{}, token)
	}
	if x.toolName != "" {
		callCtx = wire.WithRepeatable(callCtx, func() bool { return x.isRepeatable(ctx) })
	}
	answered := x.unsent
	capture.BeforeSent(func() error { return answered.send(x.hooks.Round) })
	capture.WhenAnswered(func(got wire.Answer) { x.onAnswer(ctx, c, entry, got) })
	stop := c.Time(x.clock)
	err = x.send(callCtx, c.Session())
	stop()
	x.last.modern, x.last.asked = c.IsModern(), entry.Refused()
	if ctx.Err() != nil { // go-sdk tells the server in the background, and the connection may be about to close
		c.TrackCancellation(capture.Cancelled())
	}
	got := capture.Answer()
	if err == nil || got.Result != nil { // go-sdk may not understand all of it, or was no longer asked to
		return got.Result, c.IsModern(), nil
	}
	return nil, false, c.Failure(ctx, capture, err)
}

// capabilities returns what a modern server is told with the call: Assent's capabilities, but those of the host for what the
// host is asked. Roots are those of the task.
func (x *exchange) capabilities(c *session.Conn) (json.RawMessage, error) {
	told := maps.Collect(jsonscan.Of(c.Introduction().Modern))
	if h := x.hooks.Host; h != nil && h.Capabilities != nil {
		delete(told, "elicitation")
		delete(told, "sampling")
		for name, value := range jsonscan.Of(h.Capabilities) {
			if name == "elicitation" || name == "sampling" {
				told[name] = value
			}
		}
	}
	if x.server.session.HasRoots(x.taskID) {
		told["roots"] = json.RawMessage("{}")
	}
	return json.Marshal(told)
}

// union returns the members of both; those of second count.
func union(first, second map[string]json.RawMessage) map[string]json.RawMessage {
	both := map[string]json.RawMessage{}
	maps.Copy(both, first)
	maps.Copy(both, second)
	return both
}

// onAnswer handles the answer to a request. It is called in the order of the frames.
func (x *exchange) onAnswer(ctx context.Context, c *session.Conn, entry *attribution.Call, got wire.Answer) {
	var became *following
	if state := x.taskHandle(got.Result); state != nil {
		became = x.following(ctx, state)
	}
	mcpTask := ""
	if became != nil && x.server.follow(became) { // if not, the exchange ends
		mcpTask = became.id
	}
	if !c.Ledger.Answered(entry, mcpTask) && mcpTask != "" {
		x.server.unfollow(became)
	}
}

// onEnded records that a request has its answer, or was given up for a cause. Its asks end then. If the call became an MCP
// task, they end with the task.
func (x *exchange) onEnded(c *session.Conn, entry *attribution.Call, cause error) {
	if x.became = x.server.following(c.Ledger.McpTask(entry)); x.became == nil {
		c.Ledger.End(entry, cause)
		return
	}
	x.endCall = func(cause error) { c.Ledger.End(entry, cause) }
}

// connection returns the connection for the next request, and keeps it in use. A call that goes on does so in
// the version in which it began, even if new connections speak another one.
func (x *exchange) connection(ctx context.Context, goesOn bool) (*session.Conn, error) {
	if goesOn && x.last.conn != nil && x.last.conn.Context().Err() == nil {
		return x.last.conn, nil
	}
	c, release, err := x.server.session.Borrow(ctx, x.taskID)
	if err != nil {
		return nil, err
	}
	x.releaseConn()
	x.last.conn, x.last.release = c, release
	return c, nil
}

// releaseConn ends the use of the last request's connection.
func (x *exchange) releaseConn() {
	if x.last.release != nil {
		x.last.release()
		x.last.conn, x.last.release = nil, nil
	}
}

// endProgress ends the use of the progress token.
func (x *exchange) endProgress() {
	if x.last.forgetProgress != nil {
		x.last.forgetProgress()
		x.last.forgetProgress = nil
	}
}

// progressTokenKey is the key of a request's progress token in its context.
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

// legacyResult returns the result of a call. If the call became a task, it follows the task first.
func (x *exchange) legacyResult(ctx context.Context, result json.RawMessage) (json.RawMessage, error) {
	if state := x.taskHandle(result); state != nil {
		return x.follow(ctx, state)
	}
	var created struct {
		Task    json.RawMessage `json:"task"`
		Content present         `json:"content"`
	}
	if jsonscan.Unmarshal(result, &created) == nil && !created.Content && len(created.Task) > 0 && created.Task[0] == '{' && x.toolName != "" {
		return nil, session.BadAnswerError{Reason: unfollowable}
	}
	return result, nil
}

// present says that a member is there, without a copy of its value, which may be large.
type present bool

// UnmarshalJSON implements [json.Unmarshaler].
func (p *present) UnmarshalJSON([]byte) error {
	*p = true
	return nil
}

// unfollowable is the reason of an answer with a task that Assent cannot follow.
const unfollowable = "it made a task of the call that cannot be followed: it has no taskId that can be read"

// taskHandle returns the task that a legacy server made of the call, or nil if the result is not a task.
func (x *exchange) taskHandle(result json.RawMessage) *mcptask.State {
	var created struct {
		Task    json.RawMessage `json:"task"`
		Content present         `json:"content"`
	}
	if !x.last.asTask || jsonscan.Unmarshal(result, &created) != nil {
		return nil
	}
	if created.Task == nil && !created.Content {
		return parseTask(result) // some servers forget the member around it
	}
	return parseCreated(created.Task)
}

// parseRound returns the questions of a result, or the task that it created, or neither if it is
// complete. A kind of result that is not known must not be taken for a complete one (2026-07-28,
// "Responses").
func (x *exchange) parseRound(result json.RawMessage) (*inputRequired, *mcptask.State, error) {
	var kind struct {
		ResultType string  `json:"resultType"`
		Content    present `json:"content"`
	}
	if err := jsonscan.Unmarshal(result, &kind); err != nil {
		return nil, nil, session.BadAnswerError{Reason: "its result cannot be read: " + reason.Of(err)}
	}
	// Some servers forget to say what kind it is.
	if kind.ResultType == "task" || kind.ResultType == "" && !kind.Content {
		if state := parseTask(result); state != nil && x.toolName != "" {
			return nil, state, nil
		}
	}
	switch kind.ResultType {
	case "", "complete":
		return nil, nil, nil
	case "input_required":
	case "task":
		if state := parseCreated(result); state != nil && x.toolName != "" {
			return nil, state, nil
		}
		return nil, nil, session.BadAnswerError{Reason: unfollowable}
	default:
		return nil, nil, session.BadAnswerError{Reason: fmt.Sprintf("it answered with a result of the type %q, which Assent does not know", kind.ResultType)}
	}
	var required inputRequired
	if err := jsonscan.Unmarshal(result, &required); err != nil {
		return nil, nil, session.BadAnswerError{Reason: "its questions cannot be read: " + reason.Of(err)}
	}
	if len(required.InputRequests) == 0 && required.RequestState == nil {
		return nil, nil, session.BadAnswerError{Reason: "it returned neither questions nor a state for the next call"}
	}
	return &required, nil, nil
}

// answer asks all questions of a round at once, and returns the members that the next request gets. A declined question is
// an answer like the others. A question that cannot be answered ends the exchange and the other questions, because this era
// has no error for a single question. With a prefix, the keys of the questions begin with it, and the questions outlive the
// sidecar.
func (x *exchange) answer(ctx context.Context, required *inputRequired, prefix string) (map[string]json.RawMessage, error) {
	t, err := x.server.opts.Task(x.taskID)
	if err != nil {
		return nil, err
	}
	if err := x.server.readable(required.InputRequests, &attribution.Request{Task: t, Origin: x.origin(), Host: x.hooks.Host}); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	var mu sync.Mutex // guards answers and failed
	answers := map[string]json.RawMessage{}
	var failed error
	var order attribution.Sequence
	var asked []*attribution.Request
	var release func() // the host gets the questions together
	if h := x.hooks.Host; h != nil {
		release = h.Hold()
	}
	for _, request := range required.InputRequests {
		// The places are taken here, in the order of the server. The goroutines may start in any order.
		r := x.server.request(request.Method, request.Params, order.Join())
		r.Name = request.Key
		if prefix != "" {
			r.Key = prefix + request.Key
		}
		asked = append(asked, r)
		wg.Go(func() {
			r.Task = t
			raw, err := x.answerAs(ctx, r)
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
	if release != nil {
		last := order.Join() // its turn comes when each question was asked or refused
		wg.Go(func() {
			last.Await(ctx)
			release()
		})
	}
	wg.Wait()
	if failed == nil && ctx.Err() != nil {
		failed = context.Cause(ctx)
	}
	if failed != nil {
		if !closing(ctx) { // else the next sidecar sends the answers
			for _, r := range asked { // which were to be sent together
				r.Delivered(failed)
			}
		}
		return nil, failed
	}
	x.unsent = &answeredRound{asked: asked}
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

// answerAs asks a request in its task, when its turn has come.
func (x *exchange) answerAs(ctx context.Context, r *attribution.Request) (_ json.RawMessage, err error) {
	defer r.Slot.Pass()
	defer reason.Panicked(&x.server.opts.Log, r.Method, &err)
	r.Host = x.hooks.Host
	if r.Method == "roots/list" {
		return x.roots(ctx, r)
	}
	if !slices.Contains(broker.Methods, r.Method) {
		return nil, unknownMethod(r.Method)
	}
	asking, done := untilOver(ctx)
	defer done()
	r.Slot.Await(asking)
	r.Origin = x.origin()
	result, err := x.server.serve(asking, r)
	var refused *jsonrpc.Error
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case r.Left():
		return nil, context.Canceled // which is what becomes of the call
	case errors.As(err, &refused):
		return nil, notAnswered(refused)
	case err != nil:
		return nil, err
	}
	return json.Marshal(result)
}

// roots returns the roots of the task for which the call runs.
func (x *exchange) roots(ctx context.Context, r *attribution.Request) (json.RawMessage, error) {
	if r.Host == nil || !x.server.session.HasRoots(x.taskID) {
		return x.server.session.ListRoots(ctx, x.taskID, r.Params), nil
	}
	r.Slot.Await(ctx)
	raw, err := r.Host.Roots(ctx, r)
	if err != nil {
		return x.server.session.ListRoots(ctx, x.taskID, r.Params), nil
	}
	return raw, nil
}

// origin says who asks: the exchange.
func (x *exchange) origin() protocol.Origin {
	origin := protocol.Origin{ServerName: x.server.name(), ResourceURI: x.resourceURI, MessageID: x.hooks.MessageID}
	if x.toolName != "" {
		origin.ToolNames = []string{x.toolName}
	}
	return origin
}

// untilOver returns a context for an ask of an exchange. It ends with the exchange and with nothing
// else: a question that is in a result outlives the connection that brought it.
func untilOver(ctx context.Context) (context.Context, func()) {
	asking, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { cancel(attribution.CallEnded(context.Cause(ctx))) })
	return asking, func() {
		stop()
		cancel(nil)
	}
}
