package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"assent/protocol"
	"assent/sidecar/mcptask"
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
	// send makes the request; ctx carries what is added to it, and keeps its raw answer.
	send  func(ctx context.Context, session *mcp.ClientSession) error
	hooks Hooks
	// known is what an earlier sidecar knew of the MCP task that the call became, or nil.
	known *protocol.McpTask
	// asTask is set where a legacy server is asked to make a task of the call.
	asTask bool
	// forgetProgress ends the telling of progress under the token of the last request, or is nil. The token
	// is good for as long as the task that the call becomes (2025-11-25, "Progress").
	forgetProgress func()
}

// abandonedError says why an exchange was not continued although the server would have.
type abandonedError struct{ reason string }

func (e abandonedError) Error() string { return e.reason }

// run returns the raw result. The error is a [jsonrpc.Error] where the server answered with one, an
// abandonedError or a lostError; or it is ctx's.
func (x *exchange) run(ctx context.Context) (json.RawMessage, error) {
	var answers map[string]json.RawMessage
	defer x.endProgress()
	idle, pages, number := 0, 0, 0
	if resumed := x.hooks.Resume; resumed != nil {
		required, _, err := x.parseRound(resumed.Required)
		if err == nil && required == nil {
			err = lostError{"what it asked for was not kept whole"}
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
				return nil, lostError{fmt.Sprintf("it asked %d times in a row to be called again, and never for anything", maxIdleRounds)}
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
	return nil, lostError{fmt.Sprintf("it came back with questions %d times and with no result", maxRounds)}
}

// ask is answer, for a round that outlives the sidecar where the call's owner wants that.
func (x *exchange) ask(ctx context.Context, number int, required *inputRequired, result json.RawMessage) (map[string]json.RawMessage, error) {
	if x.hooks.Round == nil || len(required.InputRequests) == 0 {
		return x.answer(ctx, required, "")
	}
	x.hooks.Round(&task.Round{Number: number, Required: result})
	answers, err := x.answer(ctx, required, fmt.Sprintf("%s%d\x00", task.RoundPrefix(x.hooks.MessageID), number))
	if closing(ctx) { // nothing was sent: whoever goes on with the call does that
		return nil, errGoesOn
	}
	x.hooks.Round(nil)
	if closing(ctx) { // another window has the call since this moment
		return nil, errGoesOn
	}
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
	c, err := x.server.connection(ctx, x.taskID)
	if err != nil {
		return nil, false, err
	}
	extra := answers
	if !c.modern() && x.toolName != "" {
		if x.asTask, err = x.taskSupport(ctx, c); err != nil {
			return nil, false, err
		}
		if x.asTask {
			extra = map[string]json.RawMessage{"task": mustJSON(map[string]int64{"ttl": taskTTL.Milliseconds()})}
		}
	}
	entry := &call{
		taskID: x.taskID, toolName: x.toolName, resourceURI: x.resourceURI, promptName: x.promptName,
		messageID: x.hooks.MessageID, since: x.server.hub.opts.Now(),
	}
	defer c.begin(entry)()
	callCtx, capture := wire.WithCapture(wire.WithParams(context.WithValue(ctx, callKey{}, entry), extra))
	x.endProgress()
	if x.hooks.Progress != nil {
		var token string
		token, x.forgetProgress = c.expectProgress(x.hooks.Progress)
		callCtx = context.WithValue(callCtx, progressTokenKey{}, token)
	}
	err = x.send(callCtx, c.session)
	if ctx.Err() != nil {
		c.owe(capture.Cancelled())
	}
	got := capture.Answer()
	if got.Result != nil || got.Error != nil {
		entry.end.Store(callAnswered)
	}
	if err == nil || ctx.Err() == nil && got.Result != nil { // go-sdk may not understand all of it
		return got.Result, c.modern(), nil
	}
	return nil, false, c.failure(ctx, capture, err)
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
	InputRequests map[string]inputRequest `json:"inputRequests"`
	// RequestState is the server's own. It goes back byte for byte, or not at all.
	RequestState json.RawMessage `json:"requestState"`
}

type inputRequest struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// legacyResult follows the task that a call became, where it did.
func (x *exchange) legacyResult(ctx context.Context, result json.RawMessage) (json.RawMessage, error) {
	var created struct {
		Task    json.RawMessage `json:"task"`
		Content json.RawMessage `json:"content"`
	}
	if x.asTask && json.Unmarshal(result, &created) == nil {
		if created.Task == nil && created.Content == nil {
			created.Task = result // some servers forget the member around it
		}
		if state := parseTask(created.Task); state != nil {
			return x.follow(ctx, state)
		}
	}
	return result, nil
}

// parseRound returns what a result asks for, or the task that it created, or neither where it is
// complete. A kind of result that is not known must not be taken for a complete one (2026-07-28,
// "Responses").
func (x *exchange) parseRound(result json.RawMessage) (*inputRequired, *mcptask.State, error) {
	var kind struct {
		ResultType string          `json:"resultType"`
		Content    json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(result, &kind); err != nil {
		return nil, nil, lostError{fmt.Sprintf("its result cannot be read: %v", err)}
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
		return nil, nil, lostError{"it made a task of the call that cannot be followed: it has no id or no status"}
	default:
		return nil, nil, lostError{fmt.Sprintf("it answered with a result of the type %q, which Assent does not know", kind.ResultType)}
	}
	var required inputRequired
	if err := json.Unmarshal(result, &required); err != nil {
		return nil, nil, lostError{fmt.Sprintf("its questions cannot be read: %v", err)}
	}
	if len(required.InputRequests) == 0 && required.RequestState == nil {
		return nil, nil, lostError{"it asked to be called again and said neither what for nor with what"}
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
	for key, request := range required.InputRequests {
		wg.Go(func() {
			raw, err := x.answerOne(ctx, prefix, key, request)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				answers[key] = raw
			} else if failed == nil {
				failed = err
				cancel(err)
			}
		})
	}
	wg.Wait()
	if failed != nil {
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

func (x *exchange) answerOne(ctx context.Context, prefix, key string, request inputRequest) (json.RawMessage, error) {
	t, err := x.server.hub.opts.Task(x.taskID)
	if err != nil {
		return nil, err
	}
	if prefix != "" {
		t = &keyed{Asker: t, key: prefix + key}
	}
	return x.answerAs(ctx, t, request)
}

// answerAs asks a question in a task.
func (x *exchange) answerAs(ctx context.Context, t Asker, request inputRequest) (json.RawMessage, error) {
	if request.Method == "roots/list" {
		return json.Marshal(map[string]any{"roots": x.server.hub.roots()})
	}
	serve := questions[request.Method]
	if serve == nil {
		return nil, abandonedError{fmt.Sprintf("The server asked for %q, which Assent does not know.", request.Method)}
	}
	asking, done := untilOver(ctx)
	defer done()
	result, err := serve(x.server.hub.opts.Broker, asking, x.server.visiting(t, request.Params), x.origin(), request.Params)
	var refused *jsonrpc.Error
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
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
	stop := context.AfterFunc(ctx, func() {
		var stopped stoppedError
		ended := callEnded()
		if errors.As(context.Cause(ctx), &stopped) {
			ended = &task.Ended{Reason: stopped.asks, Detail: "The server is gone: " + stopped.reason + "."}
		}
		cancel(ended)
	})
	return asking, func() {
		stop()
		cancel(nil)
	}
}
