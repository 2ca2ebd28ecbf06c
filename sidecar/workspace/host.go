package workspace

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"assent/protocol"
	"assent/sidecar/base/nearest"
	"assent/sidecar/base/visible"
	"assent/sidecar/broker/attribution"
	"assent/sidecar/config"
	"assent/sidecar/gateway"
	"assent/sidecar/gateway/mcpserver"
	"assent/sidecar/hub"
	"assent/sidecar/task"
)

// HostOptions say what a host uses of a workspace.
type HostOptions struct {
	// Server is the only server that it uses; "" means all.
	Server string `json:"server,omitempty"`
	// Own: Server is the person's own, also if a file of the workspace has a server of that name.
	Own bool `json:"own,omitempty"`
	// Program is the host's name in the table of package importer, as its entry tells it; it may be empty.
	Program string `json:"program,omitempty"`
	// AnswerIn says where the questions of servers are answered.
	AnswerIn gateway.AnswerIn `json:"answerIn,omitempty"`
	// AsIs passes results as they are; see [gateway.Options].
	AsIs bool `json:"asIs,omitempty"`
	// Quiet: the operating system shows no notification if a question waits and no front end is attached.
	Quiet bool `json:"quiet,omitempty"`
	// IdleTime is how long a session over HTTP lasts that is not used; see [mcpserver.HTTPOptions].
	IdleTime time.Duration `json:"idleTime,omitempty"`
	// Environment are the variables of [gateway.SessionVariables] that the host has set.
	Environment map[string]string `json:"environment,omitempty"`
	// Configuration is that of the folder in which the host runs. It counts while no window of the workspace is attached.
	Configuration protocol.Configuration `json:"configuration"`
}

// hostCapabilities are what servers are told that Assent can do for a host's calls, whether or not a front end is attached:
// a question waits in the inbox.
var hostCapabilities = protocol.FrontEndCapabilities{Elicitation: true, Sampling: true, OpenURL: true}

// AttachHost serves a host, which speaks MCP, over conn until the host ends it or ctx ends. A call that waits for a person goes
// on. An error means that the wire was broken.
func (w *Workspace) AttachHost(ctx context.Context, conn io.ReadWriteCloser, o HostOptions) error {
	defer w.joinHost(o)()
	return mcpserver.ServeLines(ctx, conn, w.hosts.face(o), mcpserver.Options{Environment: o.Environment, Log: w.opts.Log})
}

// ServeHost serves a request over HTTP of a host that is known by its credential. The workspace stays open for its next request.
func (w *Workspace) ServeHost(rw http.ResponseWriter, r *http.Request, credential string, o HostOptions) {
	defer w.joinHost(o)()
	w.configured.lasting.Store(true)
	w.hosts.overHTTP(o).ServeHTTP(rw, r.WithContext(context.WithValue(r.Context(), hostCredential{}, credential)))
}

// EndHost ends the sessions over HTTP of a host that has lost its credential.
func (w *Workspace) EndHost(credential string) {
	w.hosts.mu.Lock()
	all := slices.Collect(maps.Values(w.hosts.http))
	w.hosts.mu.Unlock()
	for _, sessions := range all {
		sessions.End(credential)
	}
}

// hostCredential is the context key of the credential of the host that sent a request.
type hostCredential struct{}

// joinHost has a host's configuration count while no window of the workspace is attached, until leave is called.
func (w *Workspace) joinHost(o HostOptions) (leave func()) {
	f := &frontEnd{Workspace: w, visitor: true, info: protocol.Implementation{Name: cmp.Or(o.Program, "a host"), Version: w.opts.Version}}
	w.attached.promise(hostCapabilities)
	w.join(f, o.Configuration)
	w.keeping.begun.Do(w.begin)
	return func() { w.detach(f) }
}

// hosts are the hosts of a workspace. It implements [gateway.Upstream].
type hosts struct {
	w     *Workspace
	lists *hostLists
	// watches are the resources to which hosts subscribed.
	watches hostWatches
	// restored is closed once the calls of an earlier daemon are known.
	restored chan struct{}

	// changed stops calls of tools that have changed.
	changed *changedTools

	// telling counts the goroutines that tell servers of changed roots.
	telling sync.WaitGroup

	mu sync.Mutex // guards the fields below
	// faces outlive the sessions of hosts, and so do the calls in them.
	faces map[faceKey]*gateway.Face
	// http are the sessions over HTTP, by their face and idle time.
	http map[httpKey]*mcpserver.HTTP
	// conversations are those of which a session lasts, by the name of the conversation or the id of the session.
	conversations map[string]*hostConversation
	// tasks are the conversations with a task, by its id.
	tasks map[string]*hostConversation
	// closing has a channel for each task that ends its connections to servers; it is closed then.
	closing map[string]chan struct{}
	// unfinished are the calls of an earlier daemon that go on.
	unfinished map[gateway.Place]task.Unfinished
}

// faceKey identifies a face.
type faceKey struct {
	server   string
	own      bool
	answerIn gateway.AnswerIn
	asIs     bool
	quiet    bool
}

// httpKey identifies sessions over HTTP.
type httpKey struct {
	faceKey
	idleTime time.Duration
}

func faceOf(o HostOptions) faceKey { return faceKey{o.Server, o.Own, o.AnswerIn, o.AsIs, o.Quiet} }

// hostConversation is a conversation of a host that has made a call: of the sessions that name it, or of one session. It is a
// task. The lock of hosts guards it.
type hostConversation struct {
	// create creates the task, once.
	create func() error
	taskID string
	title  string
	host   string // its name for a person; "" for a conversation of an earlier daemon
	calls  int    // that run
	quiet  bool   // as in [HostOptions], in each of the sessions
	// sessions are those that last, by their ids. Each value lists the roots of the host while no call runs, and is nil before
	// the session has said that they changed.
	sessions map[string]listRoots
	// uses are the servers that the conversation has used.
	uses  map[string]bool
	roots hostRoots
	// questions are the open asks of the task, by their message, and asking hears of those of each call.
	questions map[int64]openQuestion
	asking    map[int64]func(question string)
}

// openQuestion is an open ask: its text, and the message of its call, or 0 if the call is not known.
type openQuestion struct {
	text string
	call int64
}

func newHosts(w *Workspace) *hosts {
	h := &hosts{
		w: w, faces: map[faceKey]*gateway.Face{}, http: map[httpKey]*mcpserver.HTTP{},
		conversations: map[string]*hostConversation{}, tasks: map[string]*hostConversation{}, closing: map[string]chan struct{}{},
		restored: make(chan struct{}), unfinished: map[gateway.Place]task.Unfinished{},
	}
	h.watches = hostWatches{watch: w.hub.Watch, all: map[resource]*hostWatch{}}
	h.lists = newHostLists(filepath.Join(w.opts.DataDir, "lists.json"), w.hub, h.tellChanged, w.opts.Log)
	h.changed = &changedTools{
		pages: func(server string) []exactly { return h.lists.told(server, string(protocol.ListTools)) },
		ask: func(ctx context.Context, taskID string, q protocol.UseMcpTool) error {
			t, err := w.tasks.Get(taskID)
			if err != nil {
				return err
			}
			return w.broker.UseChangedTool(ctx, t, q)
		},
		servers: map[string]*toldTools{}, asking: map[hostTool]chan struct{}{},
	}
	return h
}

// overHTTP returns what serves the requests over HTTP to a face.
func (h *hosts) overHTTP(o HostOptions) *mcpserver.HTTP {
	h.mu.Lock()
	defer h.mu.Unlock()
	key := httpKey{faceOf(o), o.IdleTime}
	if h.http[key] == nil {
		h.http[key] = mcpserver.NewHTTP(h.faceLocked(key.faceKey), mcpserver.HTTPOptions{
			Authorize: func(r *http.Request) (credential string, ok bool) {
				credential, ok = r.Context().Value(hostCredential{}).(string)
				return credential, ok
			},
			IdleTime: o.IdleTime, Log: h.w.opts.Log,
		})
	}
	return h.http[key]
}

// face returns what a host sees of a server, or of all servers.
func (h *hosts) face(o HostOptions) *gateway.Face {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.faceLocked(faceOf(o))
}

func (h *hosts) faceLocked(key faceKey) *gateway.Face {
	if h.faces[key] == nil {
		var upstream gateway.Upstream = h
		if key.own {
			upstream = ownServers{h}
		}
		h.faces[key] = gateway.New(upstream, gateway.Options{
			Server: key.server, Own: key.own, AnswerIn: key.answerIn, AsIs: key.asIs, Quiet: key.quiet,
			Apps:     func(forms bool) { h.w.attached.promise(protocol.FrontEndCapabilities{Apps: true, AppForms: forms}) },
			Restored: h.restored, Version: h.w.opts.Version, Log: h.w.opts.Log,
		})
	}
	return h.faces[key]
}

// leave ends the sessions of hosts. Their calls go on.
func (h *hosts) leave() {
	h.mu.Lock()
	overHTTP := h.http
	h.http = map[httpKey]*mcpserver.HTTP{}
	h.mu.Unlock()
	for _, sessions := range overHTTP {
		sessions.Close()
	}
	h.lists.close()
	h.watches.close()
}

// close cancels the calls of hosts that have not ended, and waits for them. The hub is closed already.
func (h *hosts) close() {
	h.telling.Wait()
	h.mu.Lock()
	faces := h.faces
	h.faces = map[faceKey]*gateway.Face{}
	h.mu.Unlock()
	for _, f := range faces {
		f.Close()
	}
}

// listChanged notes that a server says that one of its lists has changed.
func (h *hosts) listChanged(serverName string) { h.lists.readAgain(serverName) }

// serverRuns notes that a connection to a server is ready.
func (h *hosts) serverRuns(serverName string) { h.lists.recovered(serverName) }

// tellChanged tells the hosts that a list of a server has changed.
func (h *hosts) tellChanged(serverName, list string) {
	for f, name := range h.facesOf(serverName) {
		f.ListChanged(name, list)
	}
}

// resourceUpdated tells the hosts that a resource of a server has changed.
func (h *hosts) resourceUpdated(serverName string, params json.RawMessage) {
	for f, name := range h.facesOf(serverName) {
		f.ResourceUpdated(name, params)
	}
}

// Subscribe implements [gateway.Upstream].
func (h *hosts) Subscribe(ctx context.Context, server, uri string) (stop func(), err error) {
	stop, err = h.watches.subscribe(ctx, server, uri)
	return stop, hostError(err)
}

// Servers implements [gateway.Upstream].
func (h *hosts) Servers() []string {
	var names []string
	for _, s := range h.w.hub.Servers() {
		names = append(names, s.Name)
	}
	return names
}

// Describe implements [gateway.Upstream].
func (h *hosts) Describe(ctx context.Context, server string) (gateway.Description, error) {
	if names := h.Servers(); !slices.Contains(names, server) && !config.IsOwnName(server) {
		return gateway.Description{}, &mcpserver.Error{Code: mcpserver.CodeInternal, Message: notConfigured(server, names, h.w.looked())}
	}
	d, err := h.lists.introduction(ctx, server)
	return d, hostError(err)
}

// notConfigured says that a host names a server that there is not, which it may have meant, and where Assent looked.
func notConfigured(server string, names, looked []string) string {
	said := fmt.Sprintf("no MCP server %q is configured.", server)
	if near := nearest.Name(server, names); near != "" {
		said += fmt.Sprintf(" Did you mean %q?", near)
	}
	return said + " Assent looked in " + strings.Join(looked, ", ")
}

// looked returns where the servers of the workspace are configured. Files need not exist.
func (w *Workspace) looked() (places []string) {
	w.configured.mu.Lock()
	defer w.configured.mu.Unlock()
	c := w.configured.merged
	isNamed := false
	for _, folder := range c.WorkspaceFolders {
		places = append(places, config.Files(folder)...)
		isNamed = isNamed || folder.ConfigFile != ""
	}
	for _, file := range []string{c.EditorFile, w.opts.UserFile} {
		if file != "" && !isNamed {
			places = append(places, file)
		}
	}
	if len(c.Servers) > 0 {
		places = append(places, "the setting assent.servers")
	}
	return places
}

// List implements [gateway.Upstream].
func (h *hosts) List(ctx context.Context, server, list string, patience time.Duration) ([]json.RawMessage, error) {
	pages, err := h.lists.list(ctx, server, list, patience)
	return pages, hostError(err)
}

// Told implements [gateway.Upstream].
func (h *hosts) Told(server, list string) []json.RawMessage {
	return rawPages(h.lists.told(server, list))
}

// Send implements [gateway.Upstream]. A call is one of the conversation's task.
func (h *hosts) Send(ctx context.Context, r gateway.Request) (json.RawMessage, error) {
	request := callRequest(r.Method, r.Params)
	if request == nil {
		raw, result := h.w.hub.Request(ctx, "", r.Server, r.Method, r.Params, hub.Hooks{})
		return raw, endOf(result)
	}
	unfinished, goesOn := h.take(r.Place)
	if r.Place != "" && !goesOn {
		return nil, errLost
	}
	conversation, err := h.begin(r, unfinished)
	if err != nil {
		return nil, hostError(err)
	}
	defer h.endCall(conversation)
	defer h.noteUse(conversation, r.Server)
	c := &hostCall{hosts: h, request: r, of: request, conversation: conversation}
	if goesOn {
		c.unfinished = &unfinished
	}
	return c.run(ctx)
}

// settle saves the ends of calls of a task.
func (h *hosts) settle(taskID string) {
	if t, err := h.w.tasks.Get(taskID); err == nil { // else it was deleted
		t.Settle()
	}
}

// hostAlone is for how long a question is open in the host alone, if it is to be answered there.
const hostAlone = time.Minute

// askedHost returns the host of a request, as what its server asks may be asked there.
func askedHost(r gateway.Request) *attribution.Host {
	host := &attribution.Host{
		LogLevel: r.LogLevel, Notify: r.Notify, Name: gateway.HostTitle(r.Client), Forward: r.AnswerIn == gateway.AnswerInHost || r.AnswerIn == gateway.AnswerInBoth, Hold: r.Hold,
		Ask: func(ctx context.Context, asked *attribution.Request) (json.RawMessage, error) {
			result, err := r.Ask(ctx, gateway.Question{Name: asked.Name, Method: asked.Method, Params: asked.Params}, asked.Slot.Pass)
			if e, ok := errors.AsType[*mcpserver.Error](err); ok && e.Code == codeUserRejected {
				return nil, attribution.ErrHostDeclined
			}
			return result, err
		},
	}
	host.CallsTools = gateway.CallsTools(r.Client)
	if r.AnswerIn == gateway.AnswerInHost {
		host.HeadStart, host.Capabilities = hostAlone, r.Client.Capabilities
	}
	return host
}

// codeUserRejected is a host's error for a sampling request that its person refused (2025-11-25, "Sampling").
const codeUserRejected = -1

// callRequest returns the call that a host's request is, or nil if it is none that a task shows.
func callRequest(method string, params json.RawMessage) protocol.CallRequest {
	var p struct {
		Name      string          `json:"name"`
		URI       string          `json:"uri"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if json.Unmarshal(params, &p) != nil {
		return nil
	}
	switch method {
	case "tools/call":
		if len(p.Arguments) == 0 {
			p.Arguments = json.RawMessage("{}")
		}
		return protocol.CallToolRequest{ToolName: p.Name, Arguments: p.Arguments}
	case "resources/read":
		return protocol.ReadResourceRequest{URI: p.URI}
	case "prompts/get":
		var arguments map[string]string
		if len(p.Arguments) > 0 && json.Unmarshal(p.Arguments, &arguments) != nil {
			return nil
		}
		return protocol.GetPromptRequest{PromptName: p.Name, Arguments: arguments}
	}
	return nil
}

// begin begins a call of a conversation. The first call creates the conversation's task, unless the conversation had one in
// an earlier session. A call that goes on has its task.
func (h *hosts) begin(r gateway.Request, goesOn task.Unfinished) (*hostConversation, error) {
	key := cmp.Or(r.Conversation, r.Session)
	h.mu.Lock()
	c := h.conversations[key]
	switch {
	case goesOn.Task != nil:
		info := goesOn.Task.Info()
		if c = h.tasks[info.ID]; c == nil {
			c = newHostConversation(r.Quiet)
			c.create, c.taskID, c.title = func() error { return nil }, info.ID, info.Title
			h.tasks[info.ID] = c
		}
	case c == nil:
		if c = h.tasks[key]; c == nil {
			c = newHostConversation(r.Quiet)
			c.create = sync.OnceValue(func() error { return h.createTask(c, r) })
		}
		h.conversations[key] = c
	}
	if _, known := c.sessions[r.Session]; !known && goesOn.Task == nil {
		c.sessions[r.Session] = nil
	}
	c.quiet = c.quiet && r.Quiet
	c.calls++
	h.mu.Unlock()
	if err := c.create(); err != nil {
		h.endCall(c)
		return nil, err
	}
	return c, nil
}

func newHostConversation(quiet bool) *hostConversation {
	return &hostConversation{
		quiet: quiet, sessions: map[string]listRoots{},
		uses: map[string]bool{}, questions: map[int64]openQuestion{}, asking: map[int64]func(string){},
	}
}

// createTask creates the task of a conversation, or finds the one that it had.
func (h *hosts) createTask(c *hostConversation, r gateway.Request) error {
	info, err := h.taskOf(c, r)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	c.taskID, c.title, c.host = info.ID, info.Title, gateway.HostTitle(r.Client)
	h.tasks[info.ID] = c
	return nil
}

// taskOf returns the task of a conversation. It has the conversation's id, if the host names that.
func (h *hosts) taskOf(c *hostConversation, r gateway.Request) (protocol.Task, error) {
	if r.Conversation == "" {
		return h.w.tasks.Create(h.nameOf(c, r.Client))
	}
	h.mu.Lock()
	closing := h.closing[r.Conversation]
	h.mu.Unlock()
	if closing != nil {
		<-closing
	}
	return h.w.tasks.GoOn(r.Conversation, func() string { return h.nameOf(c, r.Client) })
}

// nameOf returns a title that no other conversation with a host has, and notes that it is taken.
func (h *hosts) nameOf(c *hostConversation, client mcpserver.Client) string {
	title := h.title(client)
	h.mu.Lock()
	defer h.mu.Unlock()
	taken := map[string]bool{}
	for _, others := range []map[string]*hostConversation{h.conversations, h.tasks} {
		for _, other := range others {
			taken[other.title] = true
		}
	}
	c.title = title
	for n := 2; taken[c.title]; n++ {
		c.title = fmt.Sprintf("%s (%d)", title, n)
	}
	return c.title
}

// name sets [protocol.OpenAsk.Host] of the asks in tasks of hosts.
func (h *hosts) name(asks []protocol.OpenAsk) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, a := range asks {
		if c := h.tasks[a.TaskID]; c != nil {
			asks[i].Host = visible.Text(c.host)
		}
	}
}

// title names the task of a host: "Claude Code in shop".
func (h *hosts) title(c mcpserver.Client) string {
	name := visible.Text(gateway.HostTitle(c))
	folder := h.w.Label()
	if folder == "" {
		return name
	}
	return fmt.Sprintf("%s in %s", name, visible.Text(folder))
}

// noteUse notes that a conversation has used a server. After the first use, the server's lists are read again: it may be another
// program by now.
func (h *hosts) noteUse(c *hostConversation, server string) {
	h.mu.Lock()
	isFirst := !c.uses[server]
	c.uses[server] = true
	h.mu.Unlock()
	if isFirst {
		h.lists.readAgain(server)
	}
}

// endCall notes that a call has ended.
func (h *hosts) endCall(c *hostConversation) {
	h.mu.Lock()
	c.calls--
	h.mu.Unlock()
	h.forget(c)
}

// Ended implements [gateway.Upstream].
func (h *hosts) Ended(session string) {
	h.mu.Lock()
	var left []*hostConversation
	for key, c := range h.conversations {
		if _, isIn := c.sessions[session]; !isIn {
			continue
		}
		if delete(c.sessions, session); len(c.sessions) == 0 {
			delete(h.conversations, key)
			left = append(left, c)
		}
	}
	h.mu.Unlock()
	for _, c := range left {
		h.forget(c)
	}
}

// forget ends the servers' connections of a conversation without sessions, once no call runs.
func (h *hosts) forget(c *hostConversation) {
	h.mu.Lock()
	if len(c.sessions) > 0 || c.calls > 0 || h.tasks[c.taskID] != c {
		h.mu.Unlock()
		return
	}
	closed := make(chan struct{})
	delete(h.tasks, c.taskID)
	h.closing[c.taskID] = closed
	h.mu.Unlock()
	h.w.hub.CloseTask(c.taskID)
	h.mu.Lock()
	delete(h.closing, c.taskID)
	h.mu.Unlock()
	close(closed)
}

// listen has asking hear of the questions of a call, until the result is called.
func (h *hosts) listen(c *hostConversation, messageID int64, asking func(question string)) (stop func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c.asking[messageID] = asking
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(c.asking, messageID)
	}
}

// taskEvent tells the calls of hosts which question is open. It is called for every change of a task, in order.
func (h *hosts) taskEvent(params *protocol.TaskEventParams) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.tasks[params.TaskID]
	if c == nil {
		return
	}
	var call int64
	switch e := params.Event.(type) {
	case protocol.MessageAdded:
		ask, ok := e.Message.Body.(protocol.Ask)
		if !ok || ask.Outcome != nil {
			return
		}
		call = ask.Question.From().MessageID
		c.questions[e.Message.ID] = openQuestion{questionText(ask.Question), call}
		if !c.quiet {
			h.w.person.summon(c.title, h.w.opts.Log)
		}
	case protocol.AskSettled:
		call = c.questions[e.MessageID].call
		delete(c.questions, e.MessageID)
	default:
		return
	}
	for id, asking := range c.asking {
		if call == 0 || call == id {
			asking(c.questionOf(id))
		}
	}
}

// questionOf returns an open question of a call, or "". The lock must be held.
func (c *hostConversation) questionOf(call int64) string {
	var oldest int64
	for id, q := range c.questions {
		if (q.call == 0 || q.call == call) && (oldest == 0 || id < oldest) {
			oldest = id
		}
	}
	return c.questions[oldest].text
}

// questionText is a question in a line, for a host's model.
func questionText(q protocol.UseMcpServer) string {
	switch q := q.(type) {
	case protocol.McpElicitation:
		return cmp.Or(q.ElicitationRequest.Message, "a form")
	case protocol.McpURLElicitation:
		return cmp.Or(q.Message, "a page to visit")
	case protocol.UseMcpTool:
		return fmt.Sprintf("whether the tool %s may run, which has changed", q.Tool.Name)
	default:
		return fmt.Sprintf("a request of the server %s for a model", q.From().ServerName)
	}
}

// endOf returns the error of a call that ended without a result for the host, or nil.
func endOf(result protocol.CallResult) error {
	switch r := result.(type) {
	case nil:
		return nil
	case protocol.CallError:
		return &mcpserver.Error{Code: int(r.Code), Message: r.Message, Data: r.Data}
	case protocol.CallAbandoned:
		return &mcpserver.Error{Code: mcpserver.CodeInternal, Message: r.Reason}
	case protocol.CallLost:
		return &mcpserver.Error{Code: mcpserver.CodeInternal, Message: r.Reason}
	default:
		return &mcpserver.Error{Code: mcpserver.CodeInternal, Message: "the call was cancelled in Assent"}
	}
}

// hostError returns an error as a host gets it: without the codes of Assent's own protocol.
func hostError(err error) error {
	if e, ok := errors.AsType[*protocol.Error](err); ok {
		return &mcpserver.Error{Code: mcpserver.CodeInternal, Message: e.Message}
	}
	return err
}
