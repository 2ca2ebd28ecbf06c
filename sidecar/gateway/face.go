package gateway

import (
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

// tasksExtension is the extension of MCP tasks since 2026-07-28.
const tasksExtension = "io.modelcontextprotocol/tasks"

// Options configure a [Face].
type Options struct {
	// Server is the only server of the face; "" offers all.
	Server string
	// Version is Assent's own.
	Version string
	Log     zerolog.Logger
}

// Face is what hosts see of the servers. It implements [mcpserver.Server].
type Face struct {
	upstream Upstream
	opts     Options

	mu sync.Mutex // guards what follows
	// calls are those of each host program: a host that crashed and comes back joins its calls.
	calls map[string]*calls
	// sessions are those that may listen for changes.
	sessions map[*mcpserver.Session]bool
}

var _ mcpserver.Server = (*Face)(nil)

// New returns a face.
func New(upstream Upstream, opts Options) *Face {
	return &Face{upstream: upstream, opts: opts, calls: map[string]*calls{}, sessions: map[*mcpserver.Session]bool{}}
}

// Close cancels all calls and waits for them. The sessions of hosts have to have ended.
func (f *Face) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.calls {
		c.close()
	}
}

// callsOf returns the calls of a host program.
func (f *Face) callsOf(s *mcpserver.Session) *calls {
	key := s.Credential + "\x00" + s.Client().Name
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls[key] == nil {
		f.calls[key] = &calls{}
	}
	return f.calls[key]
}

// allCapabilities are those of a face with all servers. They do not depend on the servers.
const allCapabilities = `{"tools":{"listChanged":true},"prompts":{"listChanged":true},` +
	`"resources":{"listChanged":true,"subscribe":true},"completions":{},"logging":{}}`

// Offer implements [mcpserver.Server].
func (f *Face) Offer(ctx context.Context, s *mcpserver.Session) (mcpserver.Offer, error) {
	f.enter(s)
	if f.opts.Server == "" {
		info, err := json.Marshal(map[string]string{"name": "assent", "title": "Assent", "version": f.opts.Version})
		return mcpserver.Offer{Info: info, Capabilities: json.RawMessage(allCapabilities)}, err
	}
	d, err := f.upstream.Describe(ctx, f.opts.Server)
	if err != nil {
		return mcpserver.Offer{}, err
	}
	return mcpserver.Offer{Info: d.Info, Capabilities: withoutTasks(d.Capabilities), Instructions: d.Instructions}, nil
}

// withoutTasks returns a server's capabilities without MCP tasks. These are Assent's: a host that could name them could read
// and answer those of others.
func withoutTasks(capabilities json.RawMessage) json.RawMessage {
	return edit(capabilities, func(name string, value json.RawMessage) json.RawMessage {
		switch {
		case name == "tasks":
			return nil
		case name == "extensions" && value[0] == '{':
			return edit(value, func(name string, value json.RawMessage) json.RawMessage {
				if name == tasksExtension {
					return nil
				}
				return value
			})
		}
		return value
	})
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
	case "prompts/get", "resources/read", "completion/complete", "resources/subscribe", "resources/unsubscribe":
		return func(ctx context.Context) (json.RawMessage, error) { return f.pass(ctx, r) }
	}
	if f.opts.Server == "" || strings.HasPrefix(r.Method, "tasks/") {
		return nil
	}
	return func(ctx context.Context) (json.RawMessage, error) { return f.pass(ctx, r) }
}

// Listen implements [mcpserver.Server].
func (f *Face) Listen(_ context.Context, s *mcpserver.Session, want mcpserver.Filter) mcpserver.Filter {
	f.enter(s)
	want.ResourceSubscriptions, want.TaskIDs = nil, nil
	return want
}

// enter notes a session that may listen for changes.
func (f *Face) enter(s *mcpserver.Session) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sessions[s] = true
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
	for _, s := range sessions {
		if err := s.Publish(change.method, nil, change.matches); err != nil {
			f.opts.Log.Debug().Err(err).Msg("a host took no notification")
		}
	}
}

// Notified implements [mcpserver.Server].
func (f *Face) Notified(*mcpserver.Session, string, json.RawMessage) {}

// Ended implements [mcpserver.Server].
func (f *Face) Ended(s *mcpserver.Session) {
	f.mu.Lock()
	delete(f.sessions, s)
	f.mu.Unlock()
	f.upstream.Ended(s.ID)
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

// call runs a tool.
func (f *Face) call(ctx context.Context, r *mcpserver.Request) (json.RawMessage, error) {
	params, token := passable(r.Params)
	server, params, err := f.route(ctx, r.Method, params)
	if err != nil {
		return nil, err
	}
	p := &pulse{}
	calls := f.callsOf(r.Session)
	key := callKey(server, params)
	return f.await(ctx, r, token, p, func(patience time.Duration) (json.RawMessage, answered, error) {
		return calls.do(ctx, key, patience, forward(r, token, p),
			func(ctx context.Context, asking func(string), notify notify) (json.RawMessage, error) {
				return f.upstream.Send(ctx, Request{
					Session: r.Session.ID, Client: r.Client, Server: server, Method: r.Method, Params: params, Notify: notify, Asking: asking,
				})
			})
	})
}

// resume waits for a call that returned before its question was answered.
func (f *Face) resume(ctx context.Context, r *mcpserver.Request) (json.RawMessage, error) {
	_, token := passable(r.Params)
	handle := text(member(r.Params, "arguments"), "handle")
	p := &pulse{}
	return f.await(ctx, r, token, p, func(patience time.Duration) (json.RawMessage, answered, error) {
		return f.callsOf(r.Session).resume(ctx, handle, patience, forward(r, token, p))
	})
}

// await waits for a call for as long as the host will, and keeps the host from giving it up.
func (f *Face) await(ctx context.Context, r *mcpserver.Request, token json.RawMessage, p *pulse, wait func(time.Duration) (json.RawMessage, answered, error)) (json.RawMessage, error) {
	beating, stop := context.WithCancel(ctx)
	var done sync.WaitGroup
	if token != nil {
		done.Go(func() { p.keep(beating, r, token) })
	}
	result, answered, err := wait(clockOf(r.Client).patience(token != nil))
	r.Answered = answered
	stop()
	done.Wait()
	var waiting errWaiting
	switch {
	case errors.As(err, &waiting):
		result, err = waitingResult(waiting), nil
	case errors.Is(err, errNoHandle):
		err = &mcpserver.Error{Code: mcpserver.CodeInvalidParams, Message: err.Error()}
	}
	return complete(r, result), err
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
		_ = r.Notify(method, params) // if the host has gone, its request ends
	}
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
	for q, joined := range f.names(ctx, list) {
		if joined == name {
			return q.server, with(params, "name", appendString(nil, q.name)), nil
		}
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

// names returns the joined names of all servers' tools or prompts.
func (f *Face) names(ctx context.Context, list string) map[qualified]string {
	var all []qualified
	for _, server := range f.upstream.Servers() {
		for _, item := range f.items(ctx, server, list) {
			all = append(all, qualified{server, text(item, "name")})
		}
	}
	return joinedNames(all)
}

// items returns what a server lists. A server that cannot be asked lists nothing: the others do not suffer for it.
func (f *Face) items(ctx context.Context, server string, list string) []json.RawMessage {
	pages, err := f.upstream.List(ctx, server, list)
	if err != nil {
		f.opts.Log.Warn().Str("server", server).Err(err).Msg("a server is left out of a list for a host")
		return nil
	}
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
		names = f.names(ctx, list)
	}
	for _, server := range f.upstream.Servers() {
		for _, item := range f.items(ctx, server, list) {
			if named {
				item = with(item, "name", appendString(nil, names[qualified{server, text(item, "name")}]))
			}
			items = append(items, item)
		}
	}
	if extra {
		items = append(items, continueDefinition)
	}
	all, err := json.Marshal(items)
	if err != nil {
		return nil, err
	}
	return listed(r, append(appendMember([]byte{'{'}, list, all), '}')), nil
}

// listOne returns the page of a server's list that a host asks for, as it is. With extra, the last page has the tool
// that continues a call, too.
func (f *Face) listOne(ctx context.Context, r *mcpserver.Request, extra bool) (json.RawMessage, error) {
	list := lists[r.Method]
	pages, err := f.upstream.List(ctx, f.opts.Server, list)
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
	`"description":"Waits for the result of an earlier tool call whose question a person has not answered yet.",` +
	`"inputSchema":{"type":"object","properties":{"handle":{"type":"string","description":"The handle that the tool call returned."}},"required":["handle"]},` +
	`"annotations":{"readOnlyHint":true}}`)
