package browser

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"sync"

	"github.com/coder/websocket"
	"github.com/sourcegraph/jsonrpc2"

	"assent/protocol"
	"assent/sidecar/base/jsonscan"
)

// message is a JSON-RPC message of the page or of the workspace, as far as the bridge looks at it.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *jsonrpc2.Error `json:"error,omitempty"`
}

// reserved are the requests that a page must not send. It shows what strangers wrote, so it may not say which programs start
// or read other programs' files. It answers only what the workspace asks it: whether a server may run that the workspace itself
// describes.
var reserved = []string{"initialize", "workspace/didChangeConfiguration", "languageModel/progress", "import/find", "import/apply"}

// introduction is the id of the bridge's own request.
var introduction = json.RawMessage(`"browser"`)

// bridge joins a page with the workspace, of which it is a front end. It passes the protocol's messages on as they are, and
// answers host/* and the workspace's requests by itself.
type bridge struct {
	view      *view
	page      *websocket.Conn
	workspace io.ReadWriteCloser

	writing sync.Mutex // held while a frame is written to the workspace
	// telling is held while the page is told a part of the state below, so that it hears the newest one last.
	telling sync.Mutex

	mu     sync.Mutex // guards the fields below
	status status
	// pages are those that the workspace wants opened. A browser opens only what the person clicks.
	pages    []pageToOpen
	lastPage int64
	// confirmations are the servers that the person is asked about.
	confirmations []confirmation
}

// status is how the workspace is doing: host.ts, SidecarStatus.
type status struct {
	State  string `json:"state"`
	Reason string `json:"reason,omitempty"`
}

// pageToOpen is a page with the request that wants it opened: host.ts, PageToOpen.
type pageToOpen struct {
	ID      int64           `json:"id"`
	URL     string          `json:"url"`
	Reason  string          `json:"reason"`
	request json.RawMessage // its id
}

// serve carries messages until one of the ends closes or ctx ends.
func (b *bridge) serve(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	b.status = status{State: "starting"}
	b.pages, b.confirmations = []pageToOpen{}, []confirmation{} // a page gets lists, not null
	var reading sync.WaitGroup
	reading.Go(func() { cancel(b.readWorkspace(ctx)) })
	reading.Go(func() { cancel(b.readPage(ctx)) })
	params, err := json.Marshal(b.view.introduction())
	if err == nil {
		err = b.toWorkspace(message{ID: introduction, Method: "initialize", Params: params})
	}
	if err == nil {
		<-ctx.Done()
		err = context.Cause(ctx)
	}
	cancel(err)
	err = errors.Join(err, b.workspace.Close(), b.page.CloseNow())
	reading.Wait()
	return err
}

// readPage reads what the page says.
func (b *bridge) readPage(ctx context.Context) error {
	for {
		_, frame, err := b.page.Read(ctx)
		if err != nil {
			return err
		}
		var m message
		if err := jsonscan.Unmarshal(frame, &m); err != nil {
			return errors.Join(b.page.Close(websocket.StatusInvalidFramePayloadData, "not JSON-RPC"), err)
		}
		switch {
		case m.Method == "": // the page is asked nothing
		case m.Method == "host/ready":
			err = b.ready(ctx, m.ID)
		case slices.Contains(reserved, m.Method):
			err = b.answer(ctx, m.ID, nil, refuse(m.Method+" is not for a page to ask."))
		default:
			if result, known, refusal := b.host(ctx, m); known {
				err = b.answer(ctx, m.ID, result, refusal)
			} else {
				err = b.frameToWorkspace(frame)
			}
		}
		if err != nil {
			return err
		}
	}
}

// readWorkspace reads what the workspace says.
func (b *bridge) readWorkspace(ctx context.Context) error {
	in := bufio.NewReader(b.workspace)
	for {
		var frame json.RawMessage
		if err := (jsonrpc2.VSCodeObjectCodec{}).ReadObject(in, &frame); err != nil {
			return err
		}
		var m message
		if err := jsonscan.Unmarshal(frame, &m); err != nil {
			return err
		}
		var err error
		switch {
		case m.Method == "" && string(m.ID) == string(introduction):
			err = b.introduced(ctx, m.Error)
		case m.Method == "window/openUrl":
			err = b.offerPage(ctx, m)
		case m.Method == "server/confirm":
			err = b.offerConfirmation(ctx, m)
		case m.Method == "$/cancelRequest":
			err = b.withdraw(ctx, m.Params)
		case m.Method != "" && len(m.ID) > 0:
			refusal := &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "A browser cannot do " + m.Method + "."}
			err = b.toWorkspace(message{ID: m.ID, Error: refusal})
		default:
			err = b.page.Write(ctx, websocket.MessageText, frame)
		}
		if err != nil {
			return err
		}
	}
}

// introduced notes how the workspace took the introduction.
func (b *bridge) introduced(ctx context.Context, refusal *jsonrpc2.Error) error {
	now := status{State: "running"}
	if refusal != nil {
		now = status{State: "failed", Reason: refusal.Message}
	}
	b.telling.Lock()
	defer b.telling.Unlock()
	b.mu.Lock()
	b.status = now
	b.mu.Unlock()
	return b.tell(ctx, "host/sidecarStatus", now)
}

// ready tells the page all that it is to show. Later changes follow.
func (b *bridge) ready(ctx context.Context, id json.RawMessage) error {
	b.telling.Lock()
	defer b.telling.Unlock()
	b.mu.Lock()
	ready := map[string]any{"status": b.status, "pages": slices.Clone(b.pages), "confirmations": slices.Clone(b.confirmations)}
	b.mu.Unlock()
	if len(b.view.target.Prompts) > 0 {
		ready["prompts"] = b.view.target.Prompts
	}
	return b.answer(ctx, id, ready, nil)
}

// host answers a request to the host: host.ts, HostRequests. It reports whether the request is one.
func (b *bridge) host(ctx context.Context, m message) (result any, known bool, err error) {
	var params struct {
		ID      json.RawMessage `json:"id"`
		IDs     []string        `json:"ids"`
		Opened  bool            `json:"opened"`
		Added   bool            `json:"added"`
		Focused bool            `json:"focused"`
		Setting string          `json:"setting"`
		Source  string          `json:"source"`
	}
	_ = json.Unmarshal(m.Params, &params) // a missing member has its zero value
	switch m.Method {
	case "host/pageDone":
		var id int64
		if err := json.Unmarshal(params.ID, &id); err != nil {
			return nil, true, refuse("There is no page " + string(params.ID) + ".")
		}
		return nil, true, b.pageDone(ctx, func(p pageToOpen) bool { return p.ID == id }, params.Opened)
	case "host/confirmed":
		return nil, true, b.decide(ctx, m.Params)
	case "host/setExampleServer":
		return nil, true, b.setExampleServer(params.Added)
	case "host/focus":
		if params.Focused {
			return nil, true, b.toWorkspace(message{Method: "window/didFocus"})
		}
		return nil, true, nil
	case "host/keepFile":
		return map[string]string{"id": b.view.keep(m.Params)}, true, nil
	case "host/keptFile":
		var id string
		_ = json.Unmarshal(params.ID, &id) // another value is no file's
		kept := map[string]json.RawMessage{}
		if file := b.view.kept(id); file != nil {
			kept["file"] = file
		}
		return kept, true, nil
	case "host/forgetFiles":
		b.view.forget(params.IDs)
		return nil, true, nil
	case "host/openText":
		return map[string]bool{"opened": false}, true, nil
	case "host/openConfiguration":
		if params.Setting != "" {
			return nil, true, refuse(params.Setting + " is a setting of VS Code. A browser cannot change it.")
		}
		if params.Source == "" {
			params.Source = b.view.target.configurationFile()
		}
		return nil, true, refuse("The configuration is " + params.Source + ". Open it in your editor.")
	case "host/showLog":
		return nil, true, refuse(`Run "assent daemon log" in a terminal to see the log.`)
	case "host/restartSidecar":
		return nil, true, refuse(`Run "assent daemon stop" and "assent open" in a terminal to start Assent again.`)
	}
	return nil, false, nil
}

// setExampleServer adds the example server to the configuration or removes it.
func (b *bridge) setExampleServer(added bool) error {
	b.view.examples.set(b.view.target.Place.DataDir, added)
	params, err := json.Marshal(b.view.configuration())
	if err != nil {
		return err
	}
	return b.toWorkspace(message{Method: "workspace/didChangeConfiguration", Params: params})
}

// offerPage shows the person a page that the workspace wants opened. The request is answered when the person has clicked it.
func (b *bridge) offerPage(ctx context.Context, m message) error {
	var params protocol.OpenURLParams
	if err := json.Unmarshal(m.Params, &params); err != nil {
		return err
	}
	// The person is shown what the browser would open. Another scheme than the web's could run a program.
	target, err := url.Parse(params.URL)
	if err != nil || target.Scheme != "http" && target.Scheme != "https" {
		return b.toWorkspace(message{ID: m.ID, Error: refuse(fmt.Sprintf("%q is not a web address.", params.URL))})
	}
	if target.Path == "" {
		target.Path = "/" // as a browser shows it
	}
	b.mu.Lock()
	b.lastPage++
	b.pages = append(b.pages, pageToOpen{b.lastPage, target.String(), params.Reason, m.ID})
	b.mu.Unlock()
	return b.tellPages(ctx)
}

// withdraw puts away what the workspace does not want of the person any more.
func (b *bridge) withdraw(ctx context.Context, params json.RawMessage) error {
	var cancelled struct {
		ID json.RawMessage `json:"id"`
	}
	if err := json.Unmarshal(params, &cancelled); err != nil {
		return err
	}
	isIt := func(request json.RawMessage) bool { return string(request) == string(cancelled.ID) }
	known, err := b.confirmed(ctx, func(c confirmation) bool { return isIt(c.request) }, protocol.ConfirmServerResult{})
	if known {
		return err
	}
	return b.pageDone(ctx, func(p pageToOpen) bool { return isIt(p.request) }, false)
}

// pageDone answers the request of a page. The first word about a page counts.
func (b *bridge) pageDone(ctx context.Context, match func(pageToOpen) bool, opened bool) error {
	b.mu.Lock()
	i := slices.IndexFunc(b.pages, match)
	if i < 0 {
		b.mu.Unlock()
		return nil
	}
	done := b.pages[i]
	b.pages = slices.Delete(b.pages, i, i+1)
	b.mu.Unlock()
	result, err := json.Marshal(protocol.OpenURLResult{Opened: opened})
	if err == nil {
		err = b.toWorkspace(message{ID: done.request, Result: result})
	}
	return errors.Join(err, b.tellPages(ctx))
}

func (b *bridge) tellPages(ctx context.Context) error {
	b.telling.Lock()
	defer b.telling.Unlock()
	b.mu.Lock()
	pages := slices.Clone(b.pages)
	b.mu.Unlock()
	return b.tell(ctx, "host/pages", map[string]any{"pages": pages})
}

// tell sends the page a notification.
func (b *bridge) tell(ctx context.Context, method string, params any) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	return b.toPage(ctx, message{Method: method, Params: raw})
}

// answer answers a request of the page.
func (b *bridge) answer(ctx context.Context, id json.RawMessage, result any, refusal error) error {
	m := message{ID: id}
	switch e, refused := errors.AsType[*jsonrpc2.Error](refusal); {
	case refused:
		m.Error = e
	case refusal != nil:
		return refusal
	default:
		var err error
		if m.Result, err = json.Marshal(result); err != nil {
			return err
		}
	}
	if len(id) == 0 {
		return nil // a notification
	}
	return b.toPage(ctx, m)
}

func (b *bridge) toPage(ctx context.Context, m message) error {
	m.JSONRPC = "2.0"
	frame, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return b.page.Write(ctx, websocket.MessageText, frame)
}

func (b *bridge) toWorkspace(m message) error {
	m.JSONRPC = "2.0"
	frame, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return b.frameToWorkspace(frame)
}

func (b *bridge) frameToWorkspace(frame []byte) error {
	header := "Content-Length: " + strconv.Itoa(len(frame)) + "\r\n\r\n"
	b.writing.Lock()
	defer b.writing.Unlock()
	_, err := b.workspace.Write(append([]byte(header), frame...))
	return err
}

func refuse(reason string) *jsonrpc2.Error {
	return &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: reason}
}
