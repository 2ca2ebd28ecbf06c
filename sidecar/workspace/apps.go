package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"sync"

	"assent/protocol"
	"assent/sidecar/base/jsonscan"
	"assent/sidecar/base/reason"
	"assent/sidecar/broker"
	"assent/sidecar/chat"
	"assent/sidecar/hub"
	"assent/sidecar/task"
	"assent/sidecar/wire/apps"
	"assent/sidecar/workspace/rpc"
)

const (
	// maxAppRequests bounds the requests of one app under way.
	maxAppRequests = 8
	// maxAppRefusals is how many calls in a row a person declines before the app may ask for no more.
	maxAppRefusals = 3
	// maxAppParams bounds the params of an app's request, in bytes.
	maxAppParams = 1 << 20
	// maxPages bounds the pages that are kept, in bytes.
	maxPages = 32 << 20
	// maxLink bounds a link of an app, in bytes.
	maxLink = 2000
)

// openApps are the apps of a workspace that are open.
type openApps struct {
	server *apps.Server
	own    bool // the server is closed with the workspace

	mu    sync.Mutex // guards the fields below
	open  map[string]*openApp
	pages []keptPage // the oldest first
}

// openApp is an app that a front end shows.
type openApp struct {
	conn   *rpc.Conn // of its front end
	taskID string
	of     appSource
	ctx    context.Context // ends when the app is closed
	end    context.CancelFunc

	mu       sync.Mutex // guards the fields below
	requests int
	// refusals counts the calls in a row that the person declined.
	refusals int
}

// appSource is the message that has an app.
type appSource struct {
	messageID  int64
	serverName string
	uri        string
	// isAsk: it is an open ask, and has no tool.
	isAsk    bool
	toolName string
}

// keptPage is a page that was read, for the next app with it.
type keptPage struct {
	server, identity, uri string
	page                  apps.Page
}

func (w *Workspace) initApps() {
	w.apps.server, w.apps.open = w.opts.Apps, map[string]*openApp{}
	if w.apps.server == nil {
		w.apps.server, w.apps.own = apps.New(w.opts.Log), true
	}
}

// close closes all apps.
func (a *openApps) close() {
	a.closeThose(func(*openApp) bool { return true })
	if a.own {
		a.server.Close()
	}
}

// leave closes the apps of a front end.
func (a *openApps) leave(conn *rpc.Conn) {
	a.closeThose(func(app *openApp) bool { return app.conn == conn })
}

// closeThose closes the apps that which reports.
func (a *openApps) closeThose(which func(*openApp) bool) {
	a.mu.Lock()
	var ids []string
	for id, app := range a.open {
		if which(app) {
			ids = append(ids, id)
		}
	}
	a.mu.Unlock()
	for _, id := range ids {
		a.shut(id)
	}
}

// shut closes an app.
func (a *openApps) shut(id string) {
	a.server.Shut(id)
	a.forget(id)
}

// forget ends what an app asked for.
func (a *openApps) forget(id string) {
	a.mu.Lock()
	app := a.open[id]
	delete(a.open, id)
	a.mu.Unlock()
	if app != nil {
		app.end()
	}
}

// kept returns a page that was read before, or nil.
func (a *openApps) kept(key keptPage) *apps.Page {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, k := range a.pages {
		if k.server == key.server && k.identity == key.identity && k.uri == key.uri {
			return &k.page
		}
	}
	return nil
}

// keep keeps a page, and forgets the oldest ones beyond maxPages.
func (a *openApps) keep(k keptPage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pages = slices.DeleteFunc(a.pages, func(o keptPage) bool { return o.server == k.server && o.uri == k.uri })
	a.pages = append(a.pages, k)
	size := 0
	for i, o := range slices.Backward(a.pages) {
		if size += len(o.page.HTML); size > maxPages && i < len(a.pages)-1 {
			a.pages = slices.Clone(a.pages[i+1:])
			break
		}
	}
}

// changed forgets the pages of a server of which the resources have changed.
func (a *openApps) changed(serverName string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pages = slices.DeleteFunc(a.pages, func(o keptPage) bool { return o.server == serverName })
}

// OpenApp implements [protocol.Sidecar].
func (f *frontEnd) OpenApp(ctx context.Context, params *protocol.OpenAppParams) (*protocol.OpenAppResult, error) {
	t, err := f.tasks.Get(params.TaskID)
	if err != nil {
		return nil, err
	}
	of, err := appOfMessage(ctx, t, params.MessageID)
	if err != nil {
		return nil, err
	}
	page, err := f.readPage(ctx, params, of)
	if err != nil {
		return nil, err
	}
	network, err := f.appNetwork(ctx, of.serverName, page.Domains.All(), params.Network)
	if err != nil {
		return nil, err
	}
	result := &protocol.OpenAppResult{Network: network, Border: page.Border, Refused: page.Refused}
	if !of.isAsk {
		result.Tool = f.hub.RawTool(of.serverName, of.toolName)
	}
	if network == "" && len(page.Domains.All()) > 0 {
		return &protocol.OpenAppResult{Asks: page.Domains.All(), Refused: page.Refused}, nil
	}
	app := &openApp{conn: f.conn, taskID: params.TaskID, of: of}
	app.ctx, app.end = context.WithCancel(f.background.ctx)
	result.AppID, result.URL, err = f.apps.server.Open(*page, network == protocol.AppNetworkAllow, f.apps.forget)
	if err != nil {
		app.end()
		return nil, protocol.Errorf(protocol.CodeUnavailable, "The app cannot be shown: %s.", reason.Of(err))
	}
	f.apps.mu.Lock()
	f.apps.open[result.AppID] = app
	f.apps.mu.Unlock()
	return result, nil
}

// appOfMessage returns what has the app: a call, or an open ask.
func appOfMessage(ctx context.Context, t *task.Task, id int64) (appSource, error) {
	m, err := t.Message(ctx, id)
	if err != nil {
		return appSource{}, err
	}
	switch body := m.Body.(type) {
	case protocol.Call:
		if r, ok := body.Request.(protocol.CallToolRequest); ok && body.AppURI != "" {
			return appSource{messageID: id, serverName: body.ServerName, uri: body.AppURI, toolName: r.ToolName}, nil
		}
	case protocol.Ask:
		if q, ok := body.Question.(protocol.McpElicitation); ok && body.Outcome == nil && q.ElicitationRequest.AppURI != "" {
			return appSource{messageID: id, serverName: q.ServerName, uri: q.ElicitationRequest.AppURI, isAsk: true}, nil
		}
	}
	return appSource{}, protocol.Errorf(protocol.CodeInvalidParams, "message %d is no call with an app, and no open ask with one", id)
}

// readPage returns the page of an app.
func (f *frontEnd) readPage(ctx context.Context, params *protocol.OpenAppParams, of appSource) (*apps.Page, error) {
	identity, _ := f.hub.Identity(of.serverName)
	key := keptPage{server: of.serverName, identity: identity, uri: of.uri}
	if page := f.apps.kept(key); page != nil && !params.Reload {
		return page, nil
	}
	wanted, err := json.Marshal(map[string]string{"uri": of.uri})
	if err != nil {
		return nil, err
	}
	raw, ended := f.hub.Request(ctx, params.TaskID, of.serverName, "resources/read", wanted, hub.Hooks{MessageID: params.MessageID})
	if err := appEnd(raw, ended); err != nil {
		return nil, protocol.Errorf(protocol.CodeServerFailed, "The app of %s cannot be read: %s.", of.serverName, sentence(err))
	}
	if key.page, err = apps.ReadPage(raw, of.uri); err != nil {
		return nil, protocol.Errorf(protocol.CodeServerFailed, "The app of %s cannot be shown: %s.", of.serverName, sentence(err))
	}
	f.apps.keep(key)
	return &key.page, nil
}

// sentence returns the text of an error without a full stop.
func sentence(err error) string {
	return strings.TrimSuffix(reason.Of(err), ".")
}

// appNetwork returns what the person decided about the domains of an app, and remembers a new answer; "" if they have not
// decided, or if there are none.
func (f *frontEnd) appNetwork(ctx context.Context, serverName string, domains []string, answer protocol.AppNetwork) (protocol.AppNetwork, error) {
	if len(domains) == 0 {
		return "", nil
	}
	remember := protocol.RememberAlways
	switch answer {
	case "":
		rule, err := f.toolRules.FindDomains(ctx, serverName, domains)
		switch {
		case err != nil || rule == nil:
			return "", err
		case rule.Remember == protocol.RememberNever:
			return protocol.AppNetworkWithout, nil
		}
		return protocol.AppNetworkAllow, nil
	case protocol.AppNetworkAllow:
	case protocol.AppNetworkWithout:
		remember = protocol.RememberNever
	default:
		return "", protocol.Errorf(protocol.CodeInvalidParams, "network %q is none of %s and %s", answer, protocol.AppNetworkAllow, protocol.AppNetworkWithout)
	}
	err := f.toolRules.RememberDomains(ctx, serverName, domains, remember, f.name)
	f.policy.Changed()
	return answer, err
}

// CloseApp implements [protocol.Sidecar].
func (f *frontEnd) CloseApp(_ context.Context, params *protocol.CloseAppParams) (*protocol.CloseAppResult, error) {
	if _, err := f.tasks.Get(params.TaskID); err != nil {
		return nil, err
	}
	if f.appOf(params.AppID, params.TaskID) != nil {
		f.apps.shut(params.AppID)
	}
	return &protocol.CloseAppResult{}, nil
}

// appOf returns an open app of this front end, or nil.
func (f *frontEnd) appOf(id, taskID string) *openApp {
	f.apps.mu.Lock()
	defer f.apps.mu.Unlock()
	if app := f.apps.open[id]; app != nil && app.conn == f.conn && app.taskID == taskID {
		return app
	}
	return nil
}

// RequestApp implements [protocol.Sidecar].
func (f *frontEnd) RequestApp(ctx context.Context, params *protocol.AppRequestParams) (*protocol.AppRequestResult, error) {
	t, err := f.tasks.Get(params.TaskID)
	if err != nil {
		return nil, err
	}
	app := f.appOf(params.AppID, params.TaskID)
	switch {
	case app == nil:
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "The app is not open any more. Reload it.")
	case len(params.Params) > maxAppParams:
		return nil, protocol.Errorf(protocol.CodeInvalidParams, "The request has more than %d KiB.", maxAppParams>>10)
	}
	if !app.begin() {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "An app may have no more than %d requests under way.", maxAppRequests)
	}
	defer app.done()
	if app.of.isAsk {
		if _, err := appOfMessage(ctx, t, app.of.messageID); err != nil {
			f.apps.shut(params.AppID)
			return nil, protocol.Errorf(protocol.CodeInvalidRequest, "The question of the app has ended.")
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(app.ctx, cancel)()
	raw, err := f.serveApp(ctx, app, params)
	if err != nil {
		return nil, appError(err)
	}
	return &protocol.AppRequestResult{Result: raw}, nil
}

func (a *openApp) begin() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.requests == maxAppRequests {
		return false
	}
	a.requests++
	return true
}

func (a *openApp) done() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.requests--
}

// appError returns the error of an app's request as the front end gets it.
func appError(err error) error {
	if errors.As(err, new(*protocol.Error)) {
		return err
	}
	return protocol.Errorf(protocol.CodeServerFailed, "%s", reason.Of(err))
}

// serveApp makes a request of an app.
func (f *frontEnd) serveApp(ctx context.Context, app *openApp, params *protocol.AppRequestParams) (json.RawMessage, error) {
	var p struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		URI       string          `json:"uri"`
		Cursor    string          `json:"cursor"`
		URL       string          `json:"url"`
	}
	if len(params.Params) > 0 && jsonscan.Unmarshal(params.Params, &p) != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidParams, "The params of %s cannot be read.", params.Method)
	}
	if app.of.isAsk && !strings.HasPrefix(params.Method, "resources/") {
		return nil, protocol.Errorf(protocol.CodeMethodNotFound, "The app of a question cannot ask for %q.", params.Method)
	}
	passed := map[string]string{}
	switch params.Method {
	case "tools/call":
		return f.callForApp(ctx, app, p.Name, p.Arguments)
	case "ui/open-link":
		return checkLink(p.URL)
	case "resources/read":
		passed["uri"] = p.URI
	case "resources/list", "resources/templates/list", "prompts/list":
		if p.Cursor != "" {
			passed["cursor"] = p.Cursor
		}
	default:
		return nil, protocol.Errorf(protocol.CodeMethodNotFound, "An app cannot ask for %q.", params.Method)
	}
	own, err := json.Marshal(passed)
	if err != nil {
		return nil, err
	}
	raw, ended := f.hub.Request(ctx, app.taskID, app.of.serverName, params.Method, own, hub.Hooks{MessageID: app.of.messageID})
	return raw, appEnd(raw, ended)
}

// appEnd returns the error of a request that has no result.
func appEnd(raw json.RawMessage, ended protocol.CallResult) error {
	switch r := ended.(type) {
	case protocol.CallError:
		return &protocol.Error{Code: protocol.ErrorCode(r.Code), Message: r.Message, Data: r.Data}
	case protocol.CallCancelled:
		return protocol.Errorf(protocol.CodeRequestCancelled, "The call was cancelled.")
	case protocol.CallAbandoned:
		return protocol.Errorf(protocol.CodeServerFailed, "%s", r.Reason)
	case protocol.CallLost:
		return protocol.Errorf(protocol.CodeServerFailed, "%s", r.Reason)
	}
	if raw == nil {
		return protocol.Errorf(protocol.CodeUnavailable, "The call has no result.")
	}
	return nil
}

// callForApp calls a tool of the app's own server, if the person allows it.
func (f *frontEnd) callForApp(ctx context.Context, app *openApp, name string, arguments json.RawMessage) (json.RawMessage, error) {
	if len(arguments) == 0 || string(arguments) == "null" {
		arguments = json.RawMessage("{}")
	}
	if arguments[0] != '{' {
		return nil, protocol.Errorf(protocol.CodeInvalidParams, "The arguments are not a JSON object.")
	}
	tools, err := f.hub.Tools(ctx, app.of.serverName)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(tools, func(t protocol.Tool) bool { return t.Name == name })
	if at < 0 || tools[at].NotForApps {
		return nil, protocol.Errorf(protocol.CodeInvalidParams, "%s has no tool %q for its app.", app.of.serverName, brief(name))
	}
	app.mu.Lock()
	tired := app.refusals >= maxAppRefusals
	app.mu.Unlock()
	if tired {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "You declined %d calls of this app in a row. Reload it to let it ask again.", maxAppRefusals)
	}
	var raw json.RawMessage
	var result protocol.CallResult
	err = f.chat.CallForApp(ctx, chat.AppCall{
		TaskID: app.taskID, MessageID: app.of.messageID, ServerName: app.of.serverName, Tool: tools[at], Arguments: arguments,
	}, func(ctx context.Context, request protocol.CallToolRequest, hooks hub.Hooks) protocol.CallResult {
		params, err := json.Marshal(struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		}{request.ToolName, request.Arguments})
		if err != nil {
			return protocol.CallLost{Reason: reason.Of(err) + "."}
		}
		if raw, result = f.hub.Request(ctx, app.taskID, app.of.serverName, "tools/call", params, hooks); result == nil && raw != nil {
			return f.hub.ParseResult(app.of.serverName, "tools/call", params, raw)
		}
		return result
	})
	app.answered(err)
	if err != nil {
		return nil, err
	}
	return raw, appEnd(raw, result)
}

// answered counts the calls that the person declined.
func (a *openApp) answered(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var no *broker.NotApproved
	switch {
	case !errors.As(err, &no):
		a.refusals = 0
	case no.Reason == protocol.OutcomeDeclined || no.Reason == protocol.OutcomeDismissed:
		a.refusals++
	}
}

// checkLink checks a link that an app wants opened.
func checkLink(link string) (json.RawMessage, error) {
	u, err := url.Parse(link)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil || len(link) > maxLink ||
		strings.ContainsFunc(link, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '\\' }) {
		return nil, protocol.Errorf(protocol.CodeInvalidParams, "Only an http or https link can be opened.")
	}
	return json.Marshal(protocol.AppLink{URL: u.String()})
}

// brief cuts a text of an app.
func brief(text string) string {
	if len(text) <= 200 {
		return text
	}
	return strings.ToValidUTF8(text[:200], "") + "…"
}
