package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"assent/sidecar/base/jsonscan"
	"assent/sidecar/gateway/mcpserver"
)

// heartbeatInterval is how often a host with a progress token hears that a call goes on while it waits for the person.
const heartbeatInterval = 5 * time.Second

// continueTool is the tool with which a host asks for the result of a call that waits for a person.
const continueTool = "assent_continue"

// Options configure a [View].
type Options struct {
	// Server is the only server of the view; "" offers all.
	Server string
	// Own: Server is the person's own. The view itself makes no use of that.
	Own bool
	// AnswerIn says who is asked what the servers ask.
	AnswerIn AnswerIn
	// AsIs passes results as they are, also to hosts that are known to hide a part of them from their models.
	AsIs bool
	// Quiet is passed on in each [Request].
	Quiet bool
	// Apps is called when a host comes that shows MCP Apps; nil is not called. With forms, it is asked what servers ask, and
	// shows the apps of forms.
	Apps func(forms bool)
	// Program is the host's name in the table of package importer, as its entry tells it, or "".
	Program string
	// Permit returns why a server may not be used by a client, or nil. Tried says that the client tried to use it; else it is
	// only about whether it is listed. Nil permits all.
	Permit func(client mcpserver.Client, server string, tried bool) error
	// Restored is closed when [View.Restore] was called for all calls of an earlier daemon. Nil means that there are none.
	Restored <-chan struct{}
	// Version is Assent's own.
	Version string
	Log     zerolog.Logger
}

// View is what hosts see of the servers. It implements [mcpserver.Server].
type View struct {
	upstream Upstream
	opts     Options
	// watching counts the subscriptions of hosts since 2026-07-28, which end with their sessions.
	watching sync.WaitGroup

	mu sync.Mutex // guards what follows
	// calls are those of each host program: a host that crashed and comes back joins its calls.
	calls map[string]*calls
	// subscriptions are those of hosts before 2026-07-28, as the functions that end them, by URI.
	subscriptions map[*mcpserver.Session]map[string]func()
	// sessions are those that may listen for changes, with the level of the log messages that they want.
	sessions map[*mcpserver.Session]string
	// joined are the newest names, by list.
	joined map[string]*joined
}

var _ mcpserver.Server = (*View)(nil)

// New returns a view.
func New(upstream Upstream, opts Options) *View {
	return &View{
		upstream: upstream, opts: opts, calls: map[string]*calls{}, subscriptions: map[*mcpserver.Session]map[string]func(){},
		sessions: map[*mcpserver.Session]string{}, joined: map[string]*joined{},
	}
}

// Close cancels all calls and waits for them. The sessions of hosts have to have ended.
func (v *View) Close() {
	v.watching.Wait()
	for _, c := range v.allCalls() {
		c.close()
	}
}

// allCalls returns the calls of all host programs.
func (v *View) allCalls() []*calls {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Collect(maps.Values(v.calls))
}

// callsOf returns the calls of a host program.
func (v *View) callsOf(s *mcpserver.Session) *calls {
	return v.callsFor(hostKey(s))
}

// hostKey identifies the host program of a session.
func hostKey(s *mcpserver.Session) string { return s.Credential + "\x00" + s.Client().Name }

func (v *View) callsFor(host string) *calls {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.calls[host] == nil {
		v.calls[host] = &calls{saver: func(place Place, saved *SavedCall) {
			if saved != nil {
				saved.View, saved.Host = SavedView{v.opts.Server, v.opts.Own, v.opts.AnswerIn, v.opts.AsIs, v.opts.Quiet, v.opts.Program}, host
			}
			v.upstream.Save(place, saved)
		}, joined: v.upstream.Joined}
	}
	return v.calls[host]
}

// allCapabilities are those of a view with all servers. They do not depend on the servers.
const allCapabilities = `{"tools":{"listChanged":true},"prompts":{"listChanged":true},` +
	`"resources":{"listChanged":true,"subscribe":true},"completions":{},"logging":{}}`

// Offer implements [mcpserver.Server].
func (v *View) Offer(ctx context.Context, s *mcpserver.Session) (mcpserver.Offer, error) {
	v.enter(s)
	client := s.Client()
	if v.opts.Apps != nil && showsApps(client) {
		asked := v.opts.AnswerIn == AnswerInHost || v.opts.AnswerIn == AnswerInBoth
		v.opts.Apps(asked && showsAppForms(client))
	}
	if err := v.permit(client, v.opts.Server, true); err != nil {
		return mcpserver.Offer{}, err
	}
	if v.opts.Server == "" {
		info, err := json.Marshal(map[string]string{"name": "assent", "title": "Assent", "version": v.opts.Version})
		return mcpserver.Offer{Info: info, Capabilities: offered(client, json.RawMessage(allCapabilities))}, err
	}
	d, err := v.upstream.Describe(ctx, v.opts.Server)
	if err != nil {
		return mcpserver.Offer{}, err
	}
	return mcpserver.Offer{Info: d.Info, Capabilities: offered(client, d.Capabilities), Instructions: d.Instructions}, nil
}

// permit is [Options.Permit].
func (v *View) permit(client mcpserver.Client, server string, tried bool) error {
	if v.opts.Permit == nil {
		return nil
	}
	return v.opts.Permit(client, server, tried)
}

// Serve implements [mcpserver.Server].
func (v *View) Serve(r *mcpserver.Request) func(context.Context) (json.RawMessage, error) {
	if _, isList := lists[r.Method]; isList {
		return func(ctx context.Context) (json.RawMessage, error) { return v.list(ctx, r) }
	}
	switch r.Method {
	case "tools/call":
		if jsonscan.Text(r.Params, "name") == continueTool {
			return func(ctx context.Context) (json.RawMessage, error) { return v.resume(ctx, r) }
		}
		return func(ctx context.Context) (json.RawMessage, error) { return v.call(ctx, r) }
	case "prompts/get", "resources/read":
		return func(ctx context.Context) (json.RawMessage, error) { return v.call(ctx, r) }
	case "logging/setLevel":
		return func(context.Context) (json.RawMessage, error) { return v.setLogLevel(r) }
	case "resources/subscribe":
		return func(ctx context.Context) (json.RawMessage, error) { return v.subscribe(ctx, r) }
	case "resources/unsubscribe":
		return func(context.Context) (json.RawMessage, error) { return v.unsubscribe(r) }
	case "completion/complete":
		return func(ctx context.Context) (json.RawMessage, error) { return v.pass(ctx, r) }
	}
	if strings.HasPrefix(r.Method, "tasks/") {
		return v.serveTask(r)
	}
	if v.opts.Server == "" {
		return nil
	}
	return func(ctx context.Context) (json.RawMessage, error) { return v.pass(ctx, r) }
}

// Listen implements [mcpserver.Server].
func (v *View) Listen(ctx context.Context, s *mcpserver.Session, want mcpserver.Filter) mcpserver.Filter {
	v.enter(s)
	for _, uri := range want.ResourceSubscriptions {
		v.watching.Go(func() { v.watch(ctx, s.Client(), uri) })
	}
	return want
}

// enter notes a session that may listen for changes.
func (v *View) enter(s *mcpserver.Session) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.sessions[s] = cmp.Or(v.sessions[s], "")
}

// logLevels are those of MCP (2025-11-25, "Logging").
var logLevels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// setLogLevel serves logging/setLevel (2025-11-25, "Logging"). Servers get the level with the session's next calls.
func (v *View) setLogLevel(r *mcpserver.Request) (json.RawMessage, error) {
	level := jsonscan.Text(r.Params, "level")
	if !slices.Contains(logLevels, level) {
		return nil, &mcpserver.Error{
			Code: mcpserver.CodeInvalidParams, Message: fmt.Sprintf("%q is no level; there are %s", level, strings.Join(logLevels, ", ")),
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.sessions[r.Session] = level
	return json.RawMessage("{}"), nil
}

// logLevel returns the level of the log messages that a host wants, or "". Since 2026-07-28 each request says it.
func (v *View) logLevel(r *mcpserver.Request) string {
	if r.Client.Modern() {
		return jsonscan.Text(jsonscan.Member(r.Params, "_meta"), "io.modelcontextprotocol/logLevel")
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.sessions[r.Session]
}

// otherLevels are the levels of MCP for those of other programs.
var otherLevels = map[string]string{"trace": "debug", "verbose": "debug", "warn": "warning", "fatal": "critical"}

// logFor returns a log message as a host takes it, or nil if it wants none of its level. A server may know nothing of the
// level: of another revision, or one that serves several hosts at once. A message without one of MCP's levels gets the one
// that the host wants.
func (v *View) logFor(r *mcpserver.Request, message json.RawMessage) json.RawMessage {
	wanted := v.logLevel(r)
	if wanted == "" && r.Client.Modern() {
		return nil
	}
	said := jsonscan.Text(message, "level")
	level := strings.ToLower(said)
	level = cmp.Or(otherLevels[level], level)
	if !slices.Contains(logLevels, level) {
		level = cmp.Or(wanted, "info")
	}
	if slices.Index(logLevels, level) < slices.Index(logLevels, wanted) {
		return nil
	}
	if level == said {
		return message
	}
	return jsonscan.With(message, "level", jsonscan.Quote(level))
}

// Notified implements [mcpserver.Server].
func (v *View) Notified(s *mcpserver.Session, method string, _ json.RawMessage) {
	if method == "notifications/roots/list_changed" {
		v.upstream.RootsChanged(s.ID, func(ctx context.Context) (json.RawMessage, error) {
			wait, err := s.Call("roots/list", json.RawMessage("{}"))
			if err != nil {
				return nil, err
			}
			return wait(ctx)
		})
	}
}

// Ended implements [mcpserver.Server].
func (v *View) Ended(s *mcpserver.Session) {
	v.mu.Lock()
	delete(v.sessions, s)
	subscriptions := v.subscriptions[s]
	delete(v.subscriptions, s)
	v.mu.Unlock()
	for _, stop := range subscriptions {
		stop()
	}
	v.callsOf(s).ended(s.ID)
	v.upstream.Ended(s.ID)
}

// subscribe serves resources/subscribe.
func (v *View) subscribe(ctx context.Context, r *mcpserver.Request) (json.RawMessage, error) {
	uri := jsonscan.Text(r.Params, "uri")
	server, _, err := v.route(ctx, r.Client, r.Method, r.Params)
	if err != nil {
		return nil, err
	}
	before := v.exchangeSubscription(r.Session, uri, func() {}) // the resource may change at once
	stop, err := v.upstream.Subscribe(ctx, server, uri)
	if err != nil {
		v.exchangeSubscription(r.Session, uri, before)
		return nil, err
	}
	v.exchangeSubscription(r.Session, uri, stop)
	if before != nil {
		before()
	}
	return json.RawMessage("{}"), nil
}

// exchangeSubscription notes the function that ends a subscription, nil for none, and returns the one before.
func (v *View) exchangeSubscription(s *mcpserver.Session, uri string, stop func()) (before func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	all := v.subscriptions[s]
	if all == nil {
		all = map[string]func(){}
		v.subscriptions[s] = all
	}
	before = all[uri]
	if all[uri] = stop; stop == nil {
		delete(all, uri)
	}
	return before
}

// unsubscribe serves resources/unsubscribe.
func (v *View) unsubscribe(r *mcpserver.Request) (json.RawMessage, error) {
	if stop := v.exchangeSubscription(r.Session, jsonscan.Text(r.Params, "uri"), nil); stop != nil {
		stop()
	}
	return json.RawMessage("{}"), nil
}

// watch subscribes to a resource until ctx ends.
func (v *View) watch(ctx context.Context, client mcpserver.Client, uri string) {
	params := append(jsonscan.AppendMember([]byte{'{'}, "uri", jsonscan.Quote(uri)), '}')
	server, _, err := v.route(ctx, client, "resources/subscribe", params)
	var stop func()
	if err == nil {
		stop, err = v.upstream.Subscribe(ctx, server, uri)
	}
	if err != nil {
		v.opts.Log.Info().Err(err).Msg("a host's subscription to a resource failed")
		return
	}
	<-ctx.Done()
	stop()
}

// ResourceUpdated tells the hosts that subscribed to it that a resource has changed, with the params of the server's
// notification. It does not wait for them.
func (v *View) ResourceUpdated(server string, params json.RawMessage) {
	if v.opts.Server != "" && v.opts.Server != server {
		return
	}
	uri := jsonscan.Text(params, "uri")
	v.mu.Lock()
	var to []*mcpserver.Session
	for s := range v.sessions {
		if v.subscriptions[s][uri] != nil || s.Client().Modern() {
			to = append(to, s)
		}
	}
	v.mu.Unlock()
	to = slices.DeleteFunc(to, func(s *mcpserver.Session) bool { return v.permit(s.Client(), server, false) != nil })
	v.publish(to, "notifications/resources/updated", params, func(want mcpserver.Filter) bool {
		return slices.Contains(want.ResourceSubscriptions, uri)
	})
}

// publish sends a notification to sessions.
func (v *View) publish(to []*mcpserver.Session, method string, params json.RawMessage, matches func(mcpserver.Filter) bool) {
	for _, s := range to {
		if err := s.Publish(method, params, matches); err != nil {
			v.opts.Log.Debug().Err(err).Msg("a host took no notification")
		}
	}
}

// pass sends a request on and returns the result.
func (v *View) pass(ctx context.Context, r *mcpserver.Request) (json.RawMessage, error) {
	params, token := passable(r.Params)
	server, params, err := v.route(ctx, r.Client, r.Method, params)
	if err != nil {
		return nil, err
	}
	result, err := v.upstream.Send(ctx, Request{
		Sender: Sender{Session: r.Session.ID, Client: r.Client}, Server: server, Method: r.Method, Params: params,
		Notify: v.forward(r, token, &heartbeat{}), Asking: func(string) {},
	})
	return complete(r, result), err
}

// call serves a request that the server may answer with questions.
func (v *View) call(ctx context.Context, r *mcpserver.Request) (json.RawMessage, error) {
	params, token := passable(r.Params)
	server, params, err := v.route(ctx, r.Client, r.Method, params)
	if err != nil {
		return nil, err
	}
	h := &heartbeat{}
	calls, key := v.callsOf(r.Session), callKey(server, r.Method, params)
	request := v.hostRequestOf(r, token, h)
	if request.task = v.termsOf(r, token); request.task != nil && !request.task.modern {
		request.ask = nil // questions come with tasks/result
	}
	if state := jsonscan.Member(r.Params, "requestState"); r.Client.Modern() && state != nil {
		responses, err := inputResponses(r.Params)
		if err == nil {
			err = v.awaitRestored(ctx)
		}
		if err != nil {
			return nil, err
		}
		return v.await(ctx, r, token, h, func(waitLimit time.Duration) (json.RawMessage, deliveryReport, error) {
			return calls.resumeWithAnswers(ctx, jsonscan.Text(r.Params, "requestState"), key, responses, waitLimit, request)
		})
	}
	spec := callSpec{requester: request.requester, client: r.Client, server: server, method: r.Method, params: params, logLevel: v.logLevel(r)}
	return v.await(ctx, r, token, h, func(waitLimit time.Duration) (json.RawMessage, deliveryReport, error) {
		return calls.do(ctx, key, waitLimit, request, spec, v.run(spec, ""))
	})
}

// run returns what makes a request, or goes on with the one at a place.
func (v *View) run(spec callSpec, place Place) run {
	return func(ctx context.Context, caller caller) (json.RawMessage, error) {
		return v.upstream.Send(ctx, Request{
			Sender: Sender{Session: spec.session, Conversation: spec.conversation, Client: spec.client}, Server: spec.server, Method: spec.method, Params: spec.params, Place: place,
			Notify: caller.notify, Asking: caller.asking, Began: caller.began, Following: caller.following,
			LogLevel: spec.logLevel, AnswerIn: v.opts.AnswerIn, Quiet: v.opts.Quiet, Ask: caller.ask, Hold: caller.hold,
		})
	}
}

// inputResponses returns the answers of a host that comes back to a call, by the names of the questions.
func inputResponses(params json.RawMessage) (map[string]json.RawMessage, error) {
	var p struct {
		InputResponses map[string]json.RawMessage `json:"inputResponses"`
	}
	if json.Unmarshal(params, &p) != nil {
		return nil, &mcpserver.Error{Code: mcpserver.CodeInvalidParams, Message: "inputResponses is no object"}
	}
	return p.InputResponses, nil
}

// hostRequestOf returns what a request of a host can do for its call.
func (v *View) hostRequestOf(r *mcpserver.Request, token json.RawMessage, h *heartbeat) hostRequest {
	a := hostRequest{
		requester: requester{session: r.Session.ID, conversation: conversationOf(r)}, isThere: r.Session.IsThere,
		notify: v.forward(r, token, h),
		begin:  r.Begin,
		takes:  func(method string, params json.RawMessage) bool { return takes(r.Client, method, params) },
	}
	if connection := r.Connection(); connection != "" && a.conversation == "" {
		a.connection, a.isThere = connection, nil
	}
	if !r.Client.Modern() {
		a.ask = r.Call
	}
	return a
}

// resume waits for a call that returned before its question was answered.
func (v *View) resume(ctx context.Context, r *mcpserver.Request) (json.RawMessage, error) {
	_, token := passable(r.Params)
	handle := jsonscan.Text(jsonscan.Member(r.Params, "arguments"), "handle")
	h := &heartbeat{}
	return v.await(ctx, r, token, h, func(waitLimit time.Duration) (json.RawMessage, deliveryReport, error) {
		return v.callsOf(r.Session).resume(ctx, handle, waitLimit, v.hostRequestOf(r, token, h))
	})
}

// await waits for a call for as long as the host will, and keeps the host from giving it up.
func (v *View) await(ctx context.Context, r *mcpserver.Request, token json.RawMessage, h *heartbeat, wait func(time.Duration) (json.RawMessage, deliveryReport, error)) (json.RawMessage, error) {
	beating, stop := context.WithCancel(ctx)
	var done sync.WaitGroup
	if token != nil {
		done.Go(func() { h.run(beating, r, token) })
	}
	var waitLimit time.Duration
	if r.Method == "tools/call" {
		waitLimit = known(r.Client).clock.waitLimit(token != nil)
	}
	result, report, err := wait(waitLimit)
	r.Answered = report
	stop()
	done.Wait()
	var waiting errWaiting
	var asked errQuestions
	var became errTask
	switch {
	case errors.As(err, &asked):
		v.callsOf(r.Session).save(asked.call)
		return inputRequired(asked), nil
	case errors.As(err, &became):
		calls := v.callsOf(r.Session)
		calls.save(became.task.call)
		r.Answered = calls.onCreated(became.task, v.notifyTask)
		return calls.taskCreated(became.task), nil
	case errors.As(err, &waiting):
		result, err = waitingResult(waiting), nil
	case errors.Is(err, errNoHandle):
		err = &mcpserver.Error{Code: mcpserver.CodeInvalidParams, Message: err.Error()}
	}
	if r.Method == "tools/call" && err == nil {
		result = v.result(r, result)
	}
	return complete(r, result), err
}

// result returns a tool's result as the host gets it.
func (v *View) result(r *mcpserver.Request, result json.RawMessage) json.RawMessage {
	if v.opts.AsIs {
		return result
	}
	return repeated(r.Client, result)
}

// inputRequired is the result with which a host is asked (2026-07-28, "Multi Round-Trip Requests").
func inputRequired(e errQuestions) json.RawMessage {
	result := jsonscan.AppendMember([]byte(`{"resultType":"input_required"`), "inputRequests", inputRequests(e.questions))
	return append(jsonscan.AppendMember(result, "requestState", jsonscan.Quote(e.state)), '}')
}

// inputRequests are questions as a host of 2026-07-28 gets them.
func inputRequests(questions []*question) json.RawMessage {
	requests := []byte{'{'}
	for _, q := range questions {
		request := jsonscan.AppendMember([]byte{'{'}, "method", jsonscan.Quote(q.Method))
		requests = jsonscan.AppendMember(requests, q.Name, append(jsonscan.AppendMember(request, "params", q.Params), '}'))
	}
	return append(requests, '}')
}

// waitingResult tells a model how to get the result of a call later.
func waitingResult(w errWaiting) json.RawMessage {
	said := fmt.Sprintf("The person has not answered yet. The question is open in Assent: %q. "+
		"Call the tool %s with the handle %q to wait for the result. Do not call the tool again instead.", w.question, continueTool, w.handle)
	result, _ := json.Marshal(map[string]any{"content": []map[string]string{{"type": "text", "text": said}}})
	return result
}

// forward returns a function that sends the notifications of a request on to its host.
func (v *View) forward(r *mcpserver.Request, token json.RawMessage, h *heartbeat) notify {
	return func(method string, params json.RawMessage) {
		if method == "notifications/progress" {
			if token == nil {
				return
			}
			h.mu.Lock()
			defer h.mu.Unlock()
			params = jsonscan.With(h.grown(params), "progressToken", token)
		}
		if method == "notifications/message" {
			if params = v.logFor(r, params); params == nil {
				return
			}
		}
		_ = r.Notify(method, params) // if the host has gone, its request ends
	}
}

// heartbeat is the progress that a host was told of a call.
type heartbeat struct {
	mu   sync.Mutex // guards last, and keeps the notifications in order
	last *float64   // nil: it was told none
}

// grown returns the params of a server's progress, for which the caller holds mu. Progress has to grow (2025-11-25,
// "Progress"). What did not grow, or is no number, becomes a little more than the last one: the server's own values continue
// from it.
func (h *heartbeat) grown(params json.RawMessage) json.RawMessage {
	const step = 1e-6
	progress, raw := 0.0, jsonscan.Member(params, "progress")
	isNumber := raw != nil && json.Unmarshal(raw, &progress) == nil
	if h.last != nil && (!isNumber || progress <= *h.last) {
		progress, isNumber = max(*h.last+step, math.Nextafter(*h.last, math.Inf(1))), false
	}
	h.last = &progress
	if !isNumber {
		raw, _ = json.Marshal(progress)
		params = jsonscan.With(params, "progress", raw)
	}
	return params
}

// run tells the host now and then that the call goes on, until the context ends.
func (h *heartbeat) run(ctx context.Context, r *mcpserver.Request, token json.RawMessage) {
	tick := time.NewTicker(heartbeatInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		h.mu.Lock()
		params := append(jsonscan.AppendMember([]byte{'{'}, "progressToken", token), '}')
		params = h.grown(params)
		_ = r.Notify("notifications/progress", params) // if the host has gone, its request ends
		h.mu.Unlock()
	}
}

// continueDefinition is the tool with which a host goes on with a call.
var continueDefinition = json.RawMessage(`{"name":"` + continueTool + `","title":"Wait for an answer in Assent",` +
	`"description":"Waits for the result of an earlier tool call that asked a question. A person has not answered it yet.",` +
	`"inputSchema":{"type":"object","properties":{"handle":{"type":"string","description":"The handle that the tool call returned."}},"required":["handle"]},` +
	`"annotations":{"readOnlyHint":true}}`)
