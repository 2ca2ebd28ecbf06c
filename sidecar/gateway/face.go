package gateway

import (
	"bytes"
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

	"assent/sidecar/mcpserver"
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

// joined are the joined names of all servers' tools or prompts.
type joined struct {
	// servers are the servers, with the pages that the names are of.
	servers []string
	pages   [][]json.RawMessage
	// names are the joined names. named is the way back: the tool or prompt of each name.
	names map[qualified]string
	named map[string]qualified
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
	f.mu.Lock()
	all := slices.Collect(maps.Values(f.calls))
	f.mu.Unlock()
	for _, c := range all {
		c.close()
	}
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
		}}
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

// The lists of a server, named after the member of a result that has the items.
const (
	listTools     = "tools"
	listPrompts   = "prompts"
	listResources = "resources"
	listTemplates = "resourceTemplates"
)

// lists are the methods that read a list.
var lists = map[string]string{
	"tools/list":               listTools,
	"prompts/list":             listPrompts,
	"resources/list":           listResources,
	"resources/templates/list": listTemplates,
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

// changes are the notifications of lists that changed, and what a host listens for since 2026-07-28.
var changes = map[string]struct {
	method  string
	matches func(mcpserver.Filter) bool
}{
	listTools:     {"notifications/tools/list_changed", func(f mcpserver.Filter) bool { return f.ToolsListChanged }},
	listPrompts:   {"notifications/prompts/list_changed", func(f mcpserver.Filter) bool { return f.PromptsListChanged }},
	listResources: {"notifications/resources/list_changed", func(f mcpserver.Filter) bool { return f.ResourcesListChanged }},
}

// ListChanged tells the hosts that a list of a server has changed: tools, prompts or resources. It does not wait for them.
func (f *Face) ListChanged(server, list string) {
	change, ok := changes[list]
	if !ok || f.opts.Server != "" && f.opts.Server != server {
		return
	}
	f.mu.Lock()
	sessions := slices.Collect(maps.Keys(f.sessions))
	f.mu.Unlock()
	f.publish(sessions, change.method, nil, change.matches)
}

// Notified implements [mcpserver.Server].
func (f *Face) Notified(*mcpserver.Session, string, json.RawMessage) {}

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
		Session: r.Session.ID, Client: r.Client, Server: server, Method: r.Method, Params: params,
		Notify: forward(r, token, &pulse{}), Asking: func(string) {},
	})
	return complete(r, result), err
}

// complete returns a result as the host's revision has it: since 2026-07-28 each has a type.
func complete(r *mcpserver.Request, result json.RawMessage) json.RawMessage {
	if result == nil || !r.Client.Modern() || member(result, "resultType") != nil {
		return result
	}
	return with(result, "resultType", json.RawMessage(`"complete"`))
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
	what := calling{session: r.Session.ID, client: r.Client, server: server, method: r.Method, params: params, logLevel: f.logLevel(r.Session)}
	return f.await(ctx, r, token, p, func(patience time.Duration) (json.RawMessage, answered, error) {
		return calls.do(ctx, key, patience, asker, what, f.run(what, ""))
	})
}

// run returns what makes a request, or goes on with the one at a place.
func (f *Face) run(what calling, place Place) run {
	return func(ctx context.Context, host host) (json.RawMessage, error) {
		return f.upstream.Send(ctx, Request{
			Session: what.session, Client: what.client, Server: what.server, Method: what.method, Params: what.params, Place: place,
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
		patience = clockOf(r.Client).patience(token != nil)
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

// route returns the server that a request is for, and its params as the server has to get them.
func (f *Face) route(ctx context.Context, method string, params json.RawMessage) (string, json.RawMessage, error) {
	if f.opts.Server != "" {
		return f.opts.Server, params, nil
	}
	switch method {
	case "tools/call":
		return f.routeName(ctx, listTools, params)
	case "prompts/get":
		return f.routeName(ctx, listPrompts, params)
	case "completion/complete":
		ref := member(params, "ref")
		if text(ref, "type") == "ref/prompt" {
			server, changed, err := f.routeName(ctx, listPrompts, ref)
			if err != nil {
				return "", nil, err
			}
			return server, with(params, "ref", changed), nil
		}
		server, err := f.serverOf(ctx, text(ref, "uri"))
		return server, params, err
	}
	server, err := f.serverOf(ctx, text(params, "uri"))
	return server, params, err
}

// routeName finds the server of a joined name, and puts the server's own name into the params.
func (f *Face) routeName(ctx context.Context, list string, params json.RawMessage) (string, json.RawMessage, error) {
	name := text(params, "name")
	if q, ok := f.names(ctx, list).named[name]; ok {
		return q.server, with(params, "name", appendString(nil, q.name)), nil
	}
	return "", nil, &mcpserver.Error{Code: mcpserver.CodeInvalidParams, Message: fmt.Sprintf("there is no %q", name)}
}

// serverOf finds the server of a resource: one that lists it or, failing that, one with a template that begins like it.
func (f *Face) serverOf(ctx context.Context, uri string) (string, error) {
	best, found := -1, ""
	for _, server := range f.upstream.Servers() {
		for _, item := range f.items(ctx, server, listResources) {
			if text(item, "uri") == uri {
				return server, nil
			}
		}
		for _, item := range f.items(ctx, server, listTemplates) {
			fixed, _, _ := strings.Cut(text(item, "uriTemplate"), "{")
			if strings.HasPrefix(uri, fixed) && len(fixed) > best {
				best, found = len(fixed), server
			}
		}
	}
	if found == "" {
		return "", &mcpserver.Error{Code: mcpserver.CodeInvalidParams, Message: fmt.Sprintf("no server has the resource %q", uri)}
	}
	return found, nil
}

// names returns the joined names of all servers' tools or prompts. They are made again when a list has changed: every call
// needs them, and reading the lists of ten servers takes longer than the rest of a call.
func (f *Face) names(ctx context.Context, list string) *joined {
	j := &joined{servers: f.upstream.Servers(), named: map[string]qualified{}}
	for _, server := range j.servers {
		j.pages = append(j.pages, f.pages(ctx, server, list))
	}
	f.mu.Lock()
	last := f.joined[list]
	f.mu.Unlock()
	isSame := func(a, b []json.RawMessage) bool {
		return slices.EqualFunc(a, b, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) })
	}
	if last != nil && slices.Equal(last.servers, j.servers) && slices.EqualFunc(last.pages, j.pages, isSame) {
		return last
	}
	var all []qualified
	for i, server := range j.servers {
		for _, item := range itemsOf(j.pages[i], list) {
			all = append(all, qualified{server, text(item, "name")})
		}
	}
	j.names = joinedNames(all)
	for q, name := range j.names {
		j.named[name] = q
	}
	f.mu.Lock()
	f.joined[list] = j
	f.mu.Unlock()
	return j
}

// pagesForHosts returns a list of a server as hosts get it.
func (f *Face) pagesForHosts(ctx context.Context, client mcpserver.Client, server, list string) ([]json.RawMessage, error) {
	pages, err := f.upstream.List(ctx, server, list)
	if err != nil || list != listTools {
		return pages, err
	}
	edited := make([]json.RawMessage, len(pages))
	for i, page := range pages {
		edited[i] = edit(page, func(name string, value json.RawMessage) json.RawMessage {
			var tools []json.RawMessage
			if name != list || json.Unmarshal(value, &tools) != nil {
				return value
			}
			tools = slices.DeleteFunc(tools, func(tool json.RawMessage) bool { return !isFor(client, tool) })
			for i, tool := range tools {
				tools[i] = execution(client, tool)
			}
			return array(tools)
		})
	}
	return edited, nil
}

// pages returns a list of a server. A server that cannot be asked lists nothing: the others do not suffer for it.
func (f *Face) pages(ctx context.Context, server, list string) []json.RawMessage {
	pages, err := f.upstream.List(ctx, server, list)
	if err != nil {
		f.opts.Log.Warn().Str("server", server).Err(err).Msg("a server is left out of a list for a host")
		return nil
	}
	return pages
}

// items returns what a server lists.
func (f *Face) items(ctx context.Context, server, list string) []json.RawMessage {
	return itemsOf(f.pages(ctx, server, list), list)
}

// itemsOf returns the items on the pages of a list.
func itemsOf(pages []json.RawMessage, list string) []json.RawMessage {
	var all []json.RawMessage
	for _, page := range pages {
		var items []json.RawMessage
		if json.Unmarshal(member(page, list), &items) == nil {
			all = append(all, items...)
		}
	}
	return all
}

// list answers one of the lists.
func (f *Face) list(ctx context.Context, r *mcpserver.Request) (json.RawMessage, error) {
	list := lists[r.Method]
	extra := list == listTools && clockOf(r.Client).limit > 0
	if f.opts.Server != "" {
		return f.listOne(ctx, r, extra)
	}
	items := []json.RawMessage{}
	named := list == listTools || list == listPrompts
	var names map[qualified]string
	if named {
		names = f.names(ctx, list).names
	}
	for _, server := range f.upstream.Servers() {
		for _, item := range f.items(ctx, server, list) {
			if list == listTools {
				if !isFor(r.Client, item) {
					continue
				}
				item = execution(r.Client, item)
			}
			if named {
				item = with(item, "name", appendString(nil, names[qualified{server, text(item, "name")}]))
			}
			items = append(items, item)
		}
	}
	if extra {
		items = append(items, continueDefinition)
	}
	return listed(r, append(appendMember([]byte{'{'}, list, array(items)), '}')), nil
}

// listOne returns the page of a server's list that a host asks for, as it is. With extra, the last page has the tool
// that continues a call, too.
func (f *Face) listOne(ctx context.Context, r *mcpserver.Request, extra bool) (json.RawMessage, error) {
	list := lists[r.Method]
	pages, err := f.pagesForHosts(ctx, r.Client, f.opts.Server, list)
	if err != nil {
		return nil, err
	}
	if len(pages) == 0 {
		pages = []json.RawMessage{append(appendMember([]byte{'{'}, list, json.RawMessage("[]")), '}')}
	}
	cursor := text(r.Params, "cursor")
	at := 0
	for ; cursor != "" && at < len(pages); at++ {
		if text(pages[at], "nextCursor") == cursor {
			at++
			break
		}
	}
	if at >= len(pages) {
		return nil, &mcpserver.Error{Code: mcpserver.CodeInvalidParams, Message: "the cursor is not known; read the list from its beginning"}
	}
	page := pages[at]
	if extra && at == len(pages)-1 {
		page = edit(page, func(name string, value json.RawMessage) json.RawMessage {
			if name != list || len(value) < len("[]") {
				return value
			}
			open := value[: len(value)-1 : len(value)-1]
			if open[len(open)-1] != '[' {
				open = append(open, ',')
			}
			return append(append(open, continueDefinition...), ']')
		})
	}
	return listed(r, page), nil
}

// listed returns a list as the host's revision has it: since 2026-07-28 each says for how long it can be kept.
func listed(r *mcpserver.Request, page json.RawMessage) json.RawMessage {
	if !r.Client.Modern() {
		return page
	}
	page = complete(r, page)
	if member(page, "ttlMs") == nil {
		page = with(page, "ttlMs", json.RawMessage("0"))
	}
	if member(page, "cacheScope") == nil {
		page = with(page, "cacheScope", json.RawMessage(`"private"`))
	}
	return page
}

// continueDefinition is the tool with which a host goes on with a call.
var continueDefinition = json.RawMessage(`{"name":"` + continueTool + `","title":"Wait for an answer in Assent",` +
	`"description":"Waits for the result of an earlier tool call that asked a question. A person has not answered it yet.",` +
	`"inputSchema":{"type":"object","properties":{"handle":{"type":"string","description":"The handle that the tool call returned."}},"required":["handle"]},` +
	`"annotations":{"readOnlyHint":true}}`)
