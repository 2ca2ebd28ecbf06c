package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"assent/sidecar/gateway/mcpserver"
)

// beat is how often a host with a progress token hears that a call goes on while it waits for the person.
const beat = 5 * time.Second

// continueTool is the tool with which a host asks for the result of a call that waits for a person.
const continueTool = "assent_continue"

// Options configure a [Face].
type Options struct {
	// Server is the only server of the face; "" offers all.
	Server string
	// Own: Server is the person's own. The face itself makes no use of that.
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
	// Restored is closed when [Face.Restore] was called for all calls of an earlier daemon. Nil means that there are none.
	Restored <-chan struct{}
	// Version is Assent's own.
	Version string
	Log     zerolog.Logger
}

// Face is what hosts see of the servers. It implements [mcpserver.Server].
type Face struct {
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

var _ mcpserver.Server = (*Face)(nil)

// New returns a face.
func New(upstream Upstream, opts Options) *Face {
	return &Face{
		upstream: upstream, opts: opts, calls: map[string]*calls{}, subscriptions: map[*mcpserver.Session]map[string]func(){},
		sessions: map[*mcpserver.Session]string{}, joined: map[string]*joined{},
	}
}

// Close cancels all calls and waits for them. The sessions of hosts have to have ended.
func (f *Face) Close() {
	f.watching.Wait()
	for _, c := range f.allCalls() {
		c.close()
	}
}

// allCalls returns the calls of all host programs.
func (f *Face) allCalls() []*calls {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Collect(maps.Values(f.calls))
}

// callsOf returns the calls of a host program.
func (f *Face) callsOf(s *mcpserver.Session) *calls {
	return f.callsFor(hostKey(s))
}

// hostKey identifies the host program of a session.
func hostKey(s *mcpserver.Session) string { return s.Credential + "\x00" + s.Client().Name }

func (f *Face) callsFor(host string) *calls {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls[host] == nil {
		f.calls[host] = &calls{keeper: func(place Place, kept *Kept) {
			if kept != nil {
				kept.Face, kept.Host = KeptFace{f.opts.Server, f.opts.Own, f.opts.AnswerIn, f.opts.AsIs, f.opts.Quiet}, host
			}
			f.upstream.Keep(place, kept)
		}, joined: f.upstream.Joined}
	}
	return f.calls[host]
}

// allCapabilities are those of a face with all servers. They do not depend on the servers.
const allCapabilities = `{"tools":{"listChanged":true},"prompts":{"listChanged":true},` +
	`"resources":{"listChanged":true,"subscribe":true},"completions":{},"logging":{}}`

// Offer implements [mcpserver.Server].
func (f *Face) Offer(ctx context.Context, s *mcpserver.Session) (mcpserver.Offer, error) {
	f.enter(s)
	client := s.Client()
	if f.opts.Apps != nil && showsApps(client) {
		asked := f.opts.AnswerIn == AnswerInHost || f.opts.AnswerIn == AnswerInBoth
		f.opts.Apps(asked && showsAppForms(client))
	}
	if f.opts.Server == "" {
		info, err := json.Marshal(map[string]string{"name": "assent", "title": "Assent", "version": f.opts.Version})
		return mcpserver.Offer{Info: info, Capabilities: offered(client, json.RawMessage(allCapabilities))}, err
	}
	d, err := f.upstream.Describe(ctx, f.opts.Server)
	if err != nil {
		return mcpserver.Offer{}, err
	}
	return mcpserver.Offer{Info: d.Info, Capabilities: offered(client, d.Capabilities), Instructions: d.Instructions}, nil
}

// Serve implements [mcpserver.Server].
func (f *Face) Serve(r *mcpserver.Request) func(context.Context) (json.RawMessage, error) {
	if _, isList := lists[r.Method]; isList {
		return func(ctx context.Context) (json.RawMessage, error) { return f.list(ctx, r) }
	}
	switch r.Method {
	case "tools/call":
		if text(r.Params, "name") == continueTool {
			return func(ctx context.Context) (json.RawMessage, error) { return f.resume(ctx, r) }
		}
		return func(ctx context.Context) (json.RawMessage, error) { return f.call(ctx, r) }
	case "prompts/get", "resources/read":
		return func(ctx context.Context) (json.RawMessage, error) { return f.call(ctx, r) }
	case "logging/setLevel":
		return func(context.Context) (json.RawMessage, error) { return f.setLogLevel(r) }
	case "resources/subscribe":
		return func(ctx context.Context) (json.RawMessage, error) { return f.subscribe(ctx, r) }
	case "resources/unsubscribe":
		return func(context.Context) (json.RawMessage, error) { return f.unsubscribe(r) }
	case "completion/complete":
		return func(ctx context.Context) (json.RawMessage, error) { return f.pass(ctx, r) }
	}
	if strings.HasPrefix(r.Method, "tasks/") {
		return f.serveTask(r)
	}
	if f.opts.Server == "" {
		return nil
	}
	return func(ctx context.Context) (json.RawMessage, error) { return f.pass(ctx, r) }
}

// Listen implements [mcpserver.Server].
func (f *Face) Listen(ctx context.Context, s *mcpserver.Session, want mcpserver.Filter) mcpserver.Filter {
	f.enter(s)
	for _, uri := range want.ResourceSubscriptions {
		f.watching.Go(func() { f.watch(ctx, uri) })
	}
	return want
}

// enter notes a session that may listen for changes.
func (f *Face) enter(s *mcpserver.Session) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sessions[s] = cmp.Or(f.sessions[s], "")
}

// setLogLevel serves logging/setLevel (2025-11-25, "Logging"). Servers get the level with the session's next calls.
func (f *Face) setLogLevel(r *mcpserver.Request) (json.RawMessage, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sessions[r.Session] = text(r.Params, "level")
	return json.RawMessage("{}"), nil
}

// logLevel returns the level of the log messages that a session wants, or "".
func (f *Face) logLevel(s *mcpserver.Session) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sessions[s]
}

// Notified implements [mcpserver.Server].
func (f *Face) Notified(s *mcpserver.Session, method string, _ json.RawMessage) {
	if method == "notifications/roots/list_changed" {
		f.upstream.RootsChanged(s.ID, func(ctx context.Context) (json.RawMessage, error) {
			wait, err := s.Call("roots/list", json.RawMessage("{}"))
			if err != nil {
				return nil, err
			}
			return wait(ctx)
		})
	}
}

// Ended implements [mcpserver.Server].
func (f *Face) Ended(s *mcpserver.Session) {
	f.mu.Lock()
	delete(f.sessions, s)
	subscriptions := f.subscriptions[s]
	delete(f.subscriptions, s)
	f.mu.Unlock()
	for _, stop := range subscriptions {
		stop()
	}
	f.callsOf(s).ended(s.ID)
	f.upstream.Ended(s.ID)
}

// subscribe serves resources/subscribe.
func (f *Face) subscribe(ctx context.Context, r *mcpserver.Request) (json.RawMessage, error) {
	uri := text(r.Params, "uri")
	server, _, err := f.route(ctx, r.Method, r.Params)
	if err != nil {
		return nil, err
	}
	before := f.exchangeSubscription(r.Session, uri, func() {}) // the resource may change at once
	stop, err := f.upstream.Subscribe(ctx, server, uri)
	if err != nil {
		f.exchangeSubscription(r.Session, uri, before)
		return nil, err
	}
	f.exchangeSubscription(r.Session, uri, stop)
	if before != nil {
		before()
	}
	return json.RawMessage("{}"), nil
}

// exchangeSubscription notes the function that ends a subscription, nil for none, and returns the one before.
func (f *Face) exchangeSubscription(s *mcpserver.Session, uri string, stop func()) (before func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := f.subscriptions[s]
	if all == nil {
		all = map[string]func(){}
		f.subscriptions[s] = all
	}
	before = all[uri]
	if all[uri] = stop; stop == nil {
		delete(all, uri)
	}
	return before
}

// unsubscribe serves resources/unsubscribe.
func (f *Face) unsubscribe(r *mcpserver.Request) (json.RawMessage, error) {
	if stop := f.exchangeSubscription(r.Session, text(r.Params, "uri"), nil); stop != nil {
		stop()
	}
	return json.RawMessage("{}"), nil
}

// watch subscribes to a resource until ctx ends.
func (f *Face) watch(ctx context.Context, uri string) {
	params := append(appendMember([]byte{'{'}, "uri", appendString(nil, uri)), '}')
	server, _, err := f.route(ctx, "resources/subscribe", params)
	var stop func()
	if err == nil {
		stop, err = f.upstream.Subscribe(ctx, server, uri)
	}
	if err != nil {
		f.opts.Log.Info().Err(err).Msg("a host's subscription to a resource failed")
		return
	}
	<-ctx.Done()
	stop()
}

// ResourceUpdated tells the hosts that subscribed to it that a resource has changed, with the params of the server's
// notification. It does not wait for them.
func (f *Face) ResourceUpdated(server string, params json.RawMessage) {
	if f.opts.Server != "" && f.opts.Server != server {
		return
	}
	uri := text(params, "uri")
	f.mu.Lock()
	var to []*mcpserver.Session
	for s := range f.sessions {
		if f.subscriptions[s][uri] != nil || s.Client().Modern() {
			to = append(to, s)
		}
	}
	f.mu.Unlock()
	f.publish(to, "notifications/resources/updated", params, func(want mcpserver.Filter) bool {
		return slices.Contains(want.ResourceSubscriptions, uri)
	})
}

// publish sends a notification to sessions.
func (f *Face) publish(to []*mcpserver.Session, method string, params json.RawMessage, matches func(mcpserver.Filter) bool) {
	for _, s := range to {
		if err := s.Publish(method, params, matches); err != nil {
			f.opts.Log.Debug().Err(err).Msg("a host took no notification")
		}
	}
}

// pass sends a request on and returns the result.
func (f *Face) pass(ctx context.Context, r *mcpserver.Request) (json.RawMessage, error) {
	params, token := passable(r.Params)
	server, params, err := f.route(ctx, r.Method, params)
	if err != nil {
		return nil, err
	}
	result, err := f.upstream.Send(ctx, Request{
		Sender: Sender{Session: r.Session.ID, Client: r.Client}, Server: server, Method: r.Method, Params: params,
		Notify: forward(r, token, &pulse{}), Asking: func(string) {},
	})
	return complete(r, result), err
}

// call serves a request that the server may answer with questions.
func (f *Face) call(ctx context.Context, r *mcpserver.Request) (json.RawMessage, error) {
	params, token := passable(r.Params)
	server, params, err := f.route(ctx, r.Method, params)
	if err != nil {
		return nil, err
	}
	p := &pulse{}
	calls, key := f.callsOf(r.Session), callKey(server, r.Method, params)
	asker := askerOf(r, token, p)
	if asker.task = f.termsOf(r, token); asker.task != nil && !asker.task.modern {
		asker.ask = nil // questions come with tasks/result
	}
	if state := member(r.Params, "requestState"); r.Client.Modern() && state != nil {
		responses, err := inputResponses(r.Params)
		if err == nil {
			err = f.awaitRestored(ctx)
		}
		if err != nil {
			return nil, err
		}
		return f.await(ctx, r, token, p, func(patience time.Duration) (json.RawMessage, answered, error) {
			return calls.comeBack(ctx, text(r.Params, "requestState"), key, responses, patience, asker)
		})
	}
	what := calling{requester: asker.requester, client: r.Client, server: server, method: r.Method, params: params, logLevel: f.logLevel(r.Session)}
	return f.await(ctx, r, token, p, func(patience time.Duration) (json.RawMessage, answered, error) {
		return calls.do(ctx, key, patience, asker, what, f.run(what, ""))
	})
}

// run returns what makes a request, or goes on with the one at a place.
func (f *Face) run(what calling, place Place) run {
	return func(ctx context.Context, host host) (json.RawMessage, error) {
		return f.upstream.Send(ctx, Request{
			Sender: Sender{Session: what.session, Conversation: what.conversation, Client: what.client}, Server: what.server, Method: what.method, Params: what.params, Place: place,
			Notify: host.notify, Asking: host.asking, Began: host.began, Following: host.following,
			LogLevel: what.logLevel, AnswerIn: f.opts.AnswerIn, Quiet: f.opts.Quiet, Ask: host.ask, Hold: host.hold,
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

// askerOf returns what a request of a host can do for its call.
func askerOf(r *mcpserver.Request, token json.RawMessage, p *pulse) asker {
	a := asker{
		requester: requester{r.Session.ID, conversationOf(r)}, isThere: r.Session.IsThere,
		notify: forward(r, token, p),
		begin:  r.Begin,
		takes:  func(method string, params json.RawMessage) bool { return takes(r.Client, method, params) },
	}
	if !r.Client.Modern() {
		a.ask = r.Call
	}
	return a
}

// resume waits for a call that returned before its question was answered.
func (f *Face) resume(ctx context.Context, r *mcpserver.Request) (json.RawMessage, error) {
	_, token := passable(r.Params)
	handle := text(member(r.Params, "arguments"), "handle")
	p := &pulse{}
	return f.await(ctx, r, token, p, func(patience time.Duration) (json.RawMessage, answered, error) {
		return f.callsOf(r.Session).resume(ctx, handle, patience, askerOf(r, token, p))
	})
}

// await waits for a call for as long as the host will, and keeps the host from giving it up.
func (f *Face) await(ctx context.Context, r *mcpserver.Request, token json.RawMessage, p *pulse, wait func(time.Duration) (json.RawMessage, answered, error)) (json.RawMessage, error) {
	beating, stop := context.WithCancel(ctx)
	var done sync.WaitGroup
	if token != nil {
		done.Go(func() { p.keep(beating, r, token) })
	}
	var patience time.Duration
	if r.Method == "tools/call" {
		patience = known(r.Client).clock.patience(token != nil)
	}
	result, answered, err := wait(patience)
	r.Answered = answered
	stop()
	done.Wait()
	var waiting errWaiting
	var asked errQuestions
	var became errTask
	switch {
	case errors.As(err, &asked):
		f.callsOf(r.Session).keep(asked.call)
		return inputRequired(asked), nil
	case errors.As(err, &became):
		calls := f.callsOf(r.Session)
		calls.keep(became.task.call)
		r.Answered = calls.whenTold(became.task, f.tellTask)
		return calls.taskCreated(became.task), nil
	case errors.As(err, &waiting):
		result, err = waitingResult(waiting), nil
	case errors.Is(err, errNoHandle):
		err = &mcpserver.Error{Code: mcpserver.CodeInvalidParams, Message: err.Error()}
	}
	if r.Method == "tools/call" && err == nil {
		result = f.result(r, result)
	}
	return complete(r, result), err
}

// result returns a tool's result as the host gets it.
func (f *Face) result(r *mcpserver.Request, result json.RawMessage) json.RawMessage {
	if f.opts.AsIs {
		return result
	}
	return repeated(r.Client, result)
}

// inputRequired is the result with which a host is asked (2026-07-28, "Multi Round-Trip Requests").
func inputRequired(e errQuestions) json.RawMessage {
	result := appendMember([]byte(`{"resultType":"input_required"`), "inputRequests", inputRequests(e.questions))
	return append(appendMember(result, "requestState", appendString(nil, e.state)), '}')
}

// inputRequests are questions as a host of 2026-07-28 gets them.
func inputRequests(questions []*question) json.RawMessage {
	requests := []byte{'{'}
	for _, q := range questions {
		request := appendMember([]byte{'{'}, "method", appendString(nil, q.Method))
		requests = appendMember(requests, q.Name, append(appendMember(request, "params", q.Params), '}'))
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
func forward(r *mcpserver.Request, token json.RawMessage, p *pulse) notify {
	return func(method string, params json.RawMessage) {
		if method == "notifications/progress" {
			if token == nil {
				return
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			p.saw(params)
			params = with(params, "progressToken", token)
		}
		if method == "notifications/message" && !wantsLog(r) {
			return
		}
		_ = r.Notify(method, params) // if the host has gone, its request ends
	}
}

// wantsLog reports whether a host takes log messages. Since 2026-07-28 it says so in each request.
func wantsLog(r *mcpserver.Request) bool {
	return !r.Client.Modern() || member(member(r.Params, "_meta"), "io.modelcontextprotocol/logLevel") != nil
}

// pulse is the progress that a host was told of a call.
type pulse struct {
	mu   sync.Mutex // guards last, and keeps the notifications in order
	last float64
}

// saw notes a progress of the server. It is called with mu held.
func (p *pulse) saw(params json.RawMessage) {
	var progress float64
	if json.Unmarshal(member(params, "progress"), &progress) == nil {
		p.last = max(p.last, progress)
	}
}

// keep tells the host now and then that the call goes on, until the context ends. Progress has to grow, and by little:
// the server's own values continue from the last one.
func (p *pulse) keep(ctx context.Context, r *mcpserver.Request, token json.RawMessage) {
	const step = 1e-6
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		p.mu.Lock()
		p.last += step
		params, _ := json.Marshal(map[string]any{"progressToken": token, "progress": p.last})
		_ = r.Notify("notifications/progress", params) // if the host has gone, its request ends
		p.mu.Unlock()
	}
}

// continueDefinition is the tool with which a host goes on with a call.
var continueDefinition = json.RawMessage(`{"name":"` + continueTool + `","title":"Wait for an answer in Assent",` +
	`"description":"Waits for the result of an earlier tool call that asked a question. A person has not answered it yet.",` +
	`"inputSchema":{"type":"object","properties":{"handle":{"type":"string","description":"The handle that the tool call returned."}},"required":["handle"]},` +
	`"annotations":{"readOnlyHint":true}}`)
