package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/rs/zerolog"

	"assent/sidecar/base/jsonscan"
	"assent/sidecar/base/reason"
)

// maxOpen is how many requests of one host can be open at once.
const maxOpen = 1000

// maxRecent bounds the answered requests that a host can still cancel.
const maxRecent = 100

// sender takes the frames to a host.
type sender interface{ send(frame []byte) error }

// Session is the conversation with one host. It ends with its pipe, or with its HTTP session.
type Session struct {
	// ID identifies the session for as long as it lasts. It is the HTTP session's id if there is one.
	ID string
	origin

	server Server
	log    zerolog.Logger
	life   context.Context
	end    context.CancelCauseFunc
	ending

	mu     sync.Mutex // guards what follows
	main   sender     // takes what belongs to no request; nil if there is no such stream
	client Client
	handshake
	open      map[string]*Request
	listening map[string]listening
	calls     hostCalls
	// recent are the last requests with Answered that were answered or are about to be.
	recent []*Request
}

// origin is what the transport knows of a host.
type origin struct {
	// Credential is what a host over HTTP showed at the start of the session.
	Credential string
	// Environment are variables of the environment in which a host started its end of the pipe.
	Environment map[string]string
	// isConnected reports whether a host over HTTP has a connection open. A pipe is one.
	isConnected func() bool
}

// handshake is the state of the handshake of the revisions before 2026-07-28.
type handshake struct {
	initialized bool // the host sent initialize
	// greeted is closed when initialize is answered. Until then a host gets no notification, and no result but to ping and
	// server/discover, because some hosts take any other message for an error.
	greeted chan struct{}
}

// ending has a session end once, after all that was begun in it.
type ending struct {
	once sync.Once
	// running counts the goroutines of requests.
	running sync.WaitGroup

	taking   sync.RWMutex // held for reading while a frame is taken; guards isEnding
	isEnding bool         // no frame is taken any more
}

// take holds the end of the session back until done is called. It is false if the session has ended.
func (e *ending) take() (done func(), ok bool) {
	e.taking.RLock()
	if e.isEnding {
		e.taking.RUnlock()
		return nil, false
	}
	return e.taking.RUnlock, true
}

// hostCalls are the requests to a host that have no answer yet. The session's lock guards them.
type hostCalls struct {
	answers map[int64]chan *frame
	last    int64
}

// begin returns the id of a new request.
func (c *hostCalls) begin(answer chan *frame) int64 {
	c.last++
	c.answers[c.last] = answer
	return c.last
}

// end forgets a request, and returns what takes its answer; nil if there is no such request.
func (c *hostCalls) end(id int64) chan *frame {
	answer := c.answers[id]
	delete(c.answers, id)
	return answer
}

// listening is one subscription of a host.
type listening struct {
	request *Request
	filter  Filter
}

func newSession(id string, server Server, log zerolog.Logger) *Session {
	life, end := context.WithCancelCause(context.Background())
	return &Session{
		ID: id, handshake: handshake{greeted: make(chan struct{})}, server: server, log: log, life: life, end: end,
		open: map[string]*Request{}, listening: map[string]listening{}, calls: hostCalls{answers: map[int64]chan *frame{}},
	}
}

// close ends the session, once: it cancels its requests, waits for them, and tells the server. Each caller waits for that.
func (s *Session) close(cause error) {
	s.once.Do(func() {
		s.end(cause)
		s.taking.Lock()
		s.isEnding = true
		s.taking.Unlock()
		s.running.Wait()
		s.server.Ended(s)
	})
}

// Context ends with the session.
func (s *Session) Context() context.Context { return s.life }

// IsThere reports whether the host is still connected. One over HTTP has a session without a connection after it crashed, and
// between two requests.
func (s *Session) IsThere() bool {
	return s.life.Err() == nil && (s.isConnected == nil || s.isConnected())
}

// Client returns what the host told about itself: in the handshake or, if there was none, in its last request.
func (s *Session) Client() Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client
}

// Request is a request of a host.
type Request struct {
	Session *Session
	ID      json.RawMessage
	Method  string
	// Params is an object; {} if the host sent none.
	Params json.RawMessage
	Client Client
	// Answered may be set by the function that answers. The session calls it with whether the answer was sent to the
	// host. If the host then cancels the request, it did not wait for the answer, and the session calls it once more
	// with false.
	Answered func(sent bool)

	key    string // identifies the request among those that are open
	out    sender
	ctx    context.Context
	cancel context.CancelCauseFunc
	run    func(ctx context.Context) (json.RawMessage, error)

	answerState
	// gaveUp: the host cancelled it after its answer. isReported: Answered was told. The session's lock guards both.
	gaveUp, isReported bool
}

// answerState is whether a request is answered, and how.
type answerState struct {
	notifying  sync.Mutex // guards the fields below, and is held while a notification is sent
	isAnswered bool
	refused    *Error // with which it was answered, or nil
}

// answered notes that the request is answered, with an error or with nil. It returns the error that the host gets.
func (a *answerState) answered(err error) *Error {
	a.notifying.Lock()
	defer a.notifying.Unlock()
	a.isAnswered = true
	if err != nil {
		a.refused = wireError(err)
	}
	return a.refused
}

// refusal returns the error with which the request was answered, or nil.
func (a *answerState) refusal() *Error {
	a.notifying.Lock()
	defer a.notifying.Unlock()
	return a.refused
}

// Begin says that the answer may take long. Over HTTP the host then gets the status and the headers at once.
func (r *Request) Begin() {
	if stream, ok := r.out.(*eventStream); ok {
		stream.start()
	}
}

// Connection identifies the connection that carries the request, if that alone says whether the host still waits: over HTTP
// since 2026-07-28 there are no sessions, and a host that gives a request up closes its connection. Else it is "".
func (r *Request) Connection() string {
	if _, isHTTP := r.out.(*eventStream); isHTTP && r.Client.Modern() {
		return r.key
	}
	return ""
}

// Notify sends a notification that belongs to the request, such as its progress. Params may be nil. A request that has
// its answer has no more notifications; the error says so.
func (r *Request) Notify(method string, params json.RawMessage) error {
	r.notifying.Lock()
	defer r.notifying.Unlock()
	if r.isAnswered {
		return errClosed
	}
	return r.Session.deliver(r.out, notificationFrame(method, params))
}

// Call sends a request to the host because of this one, and returns the function that waits for the host's result. The
// error of that is an [*Error] if the host answered with one. When its context ends, the host is told that the request is
// cancelled. Only hosts of the revisions before 2026-07-28 take requests.
func (r *Request) Call(method string, params json.RawMessage) (wait func(context.Context) (json.RawMessage, error), err error) {
	return r.Session.call(r.out, r.Client, method, params)
}

// Call sends a request that belongs to none of the host's; see [Request.Call].
func (s *Session) Call(method string, params json.RawMessage) (wait func(context.Context) (json.RawMessage, error), err error) {
	s.mu.Lock()
	out, client := s.main, s.client
	s.mu.Unlock()
	return s.call(out, client, method, params)
}

// Notify sends a notification that belongs to no request to a host that needs not listen for it: to hosts of the
// revisions before 2026-07-28 that have the answer to initialize, and to no others. Params may be nil.
func (s *Session) Notify(method string, params json.RawMessage) error {
	select {
	case <-s.greeted:
	default:
		return nil
	}
	s.mu.Lock()
	out := s.main
	s.mu.Unlock()
	return s.deliver(out, notificationFrame(method, params))
}

// Publish sends a notification that hosts since 2026-07-28 have to listen for: once for each subscription with a
// matching filter, with its subscriptionId in _meta. Params may be nil; they must not have a _meta with a
// subscriptionId already. Other hosts get it as by [Session.Notify].
func (s *Session) Publish(method string, params json.RawMessage, matches func(Filter) bool) error {
	err := s.Notify(method, params)
	s.mu.Lock()
	var to []*Request
	for _, l := range s.listening {
		if matches(l.filter) {
			to = append(to, l.request)
		}
	}
	s.mu.Unlock()
	for _, r := range to {
		err = errors.Join(err, r.Notify(method, withSubscription(params, r.ID)))
	}
	return err
}

// subscriptionID is the member of _meta that names a notification's subscription.
const subscriptionID = "io.modelcontextprotocol/subscriptionId"

// withSubscription returns params with the id of a subscription in their _meta.
func withSubscription(params, id json.RawMessage) json.RawMessage {
	if params == nil {
		params = json.RawMessage("{}")
	}
	meta := jsonscan.Member(params, "_meta")
	if meta == nil || meta[0] != '{' {
		meta = json.RawMessage("{}")
	}
	return jsonscan.With(params, "_meta", jsonscan.With(meta, subscriptionID, id))
}

// deliver sends a frame. A host that does not read ends its session.
func (s *Session) deliver(out sender, frame []byte) error {
	if out == nil {
		return errClosed
	}
	if bytes.ContainsAny(frame, "\r\n") { // between tokens: a string has none
		var compact bytes.Buffer
		if err := json.Compact(&compact, frame); err != nil {
			return fmt.Errorf("write to the host: %w", err)
		}
		frame = compact.Bytes()
	}
	err := out.send(frame)
	if errors.Is(err, errSlow) {
		s.log.Warn().Str("session", s.ID).Msg("the host does not read; its session ends")
		s.end(err)
	}
	return err
}

// call sends a request to the host.
func (s *Session) call(out sender, client Client, method string, params json.RawMessage) (func(context.Context) (json.RawMessage, error), error) {
	if client.Modern() {
		return nil, fmt.Errorf("a host of %s takes no requests", client.Revision)
	}
	answer := make(chan *frame, 1)
	s.mu.Lock()
	id := s.calls.begin(answer)
	s.mu.Unlock()
	forget := func() {
		s.mu.Lock()
		s.calls.end(id)
		s.mu.Unlock()
	}
	if err := s.deliver(out, requestFrame(id, method, params)); err != nil {
		forget()
		return nil, err
	}
	return func(ctx context.Context) (json.RawMessage, error) {
		defer forget()
		return s.awaitAnswer(ctx, out, id, method, answer)
	}, nil
}

// awaitAnswer waits for the answer to a request of ours.
func (s *Session) awaitAnswer(ctx context.Context, out sender, id int64, method string, answer <-chan *frame) (json.RawMessage, error) {
	select {
	case f := <-answer:
		if f.Error == nil {
			return f.Result, nil
		}
		e := &Error{}
		if err := jsonscan.Unmarshal(f.Error, e); err != nil {
			return nil, errorf(CodeInternal, "the host answered %s with an error that cannot be read", method)
		}
		return nil, e
	case <-ctx.Done():
		err := context.Cause(ctx)
		why, _ := json.Marshal(reason.Of(err))
		// An error means that the host has gone, too.
		_ = s.deliver(out, notificationFrame("notifications/cancelled",
			fmt.Appendf(nil, `{"requestId":%d,"reason":%s}`, id, why)))
		return nil, err
	case <-s.life.Done():
		return nil, ErrEnded
	}
}

// begin takes a request of the host: it checks it and, if the error is nil, returns it ready to run. Its frames go to
// out. The key is that of no other open request.
func (s *Session) begin(f *frame, key string, out sender) (*Request, *Error) {
	done, ok := s.take()
	if !ok {
		return nil, errorf(CodeInvalidRequest, "%v", ErrEnded)
	}
	defer done()
	r := &Request{Session: s, ID: f.ID, Method: f.Method, Params: f.Params, key: key, out: out}
	var refused *Error
	if r.Client, refused = s.clientOf(f); refused != nil {
		return nil, refused
	}
	if r.run = s.method(r); r.run == nil {
		return nil, errorf(CodeMethodNotFound, "there is no method %q", r.Method)
	}
	r.ctx, r.cancel = context.WithCancelCause(s.life)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.open[key] != nil:
		r.cancel(nil)
		refused = errorf(CodeInvalidRequest, "the id %s is in use", f.ID)
		f.ID = nil // the answer with this id is the other request's
		return nil, refused
	case len(s.open) >= maxOpen:
		r.cancel(nil)
		return nil, errorf(codeBusy, "the host has %d open requests, and no more are served at once", maxOpen)
	}
	s.open[key] = r
	return r, nil
}

// isOpen reports whether a request with an id is open.
func (s *Session) isOpen(id json.RawMessage) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[string(id)] != nil
}

// clientOf returns what a host tells about itself: in the request or, before 2026-07-28, in initialize.
func (s *Session) clientOf(f *frame) (Client, *Error) {
	client, modern, refused := modernClient(f)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case refused != nil:
		return Client{}, refused
	case modern:
		if !s.initialized {
			s.client = client
		}
		return client, nil
	case f.Method == "initialize":
		s.client = legacyClient(f.Params)
		s.initialized = true
	case !s.initialized && !beforeHandshake(f.Method):
		return Client{}, errorf(CodeInvalidRequest, "%s came before initialize", f.Method)
	}
	return s.client, nil
}

// beforeHandshake reports whether a request may come before the revision is known.
func beforeHandshake(method string) bool {
	return method == "initialize" || method == "server/discover" || method == "ping"
}

// The members of _meta that every request has since 2026-07-28.
const (
	metaRevision     = "io.modelcontextprotocol/protocolVersion"
	metaClientInfo   = "io.modelcontextprotocol/clientInfo"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
)

// modernClient reads what a request tells about its host, and reports whether it tells a revision.
func modernClient(f *frame) (client Client, modern bool, refused *Error) {
	var params struct {
		Meta struct {
			Revision     *string         `json:"io.modelcontextprotocol/protocolVersion"`
			ClientInfo   json.RawMessage `json:"io.modelcontextprotocol/clientInfo"`
			Capabilities json.RawMessage `json:"io.modelcontextprotocol/clientCapabilities"`
		} `json:"_meta"`
	}
	if err := jsonscan.Unmarshal(f.Params, &params); err != nil {
		return Client{}, false, errorf(CodeInvalidParams, "_meta cannot be read")
	}
	meta := params.Meta
	switch {
	case meta.Revision == nil:
		return Client{}, false, nil
	case *meta.Revision != ModernRevision:
		data, _ := json.Marshal(map[string]any{"supported": servedRevisions(), "requested": *meta.Revision})
		return Client{Revision: *meta.Revision}, true, &Error{
			Code: CodeUnsupportedVersion, Message: "the protocol version is not supported", Data: data,
		}
	case len(meta.Capabilities) == 0 || meta.Capabilities[0] != '{':
		return Client{}, true, errorf(CodeInvalidParams, "_meta has no %s", metaCapabilities)
	}
	if len(meta.ClientInfo) > 0 && jsonscan.Unmarshal(meta.ClientInfo, &client) != nil {
		return Client{}, true, errorf(CodeInvalidParams, "%s in _meta cannot be read", metaClientInfo)
	}
	client.Revision, client.Capabilities = *meta.Revision, meta.Capabilities
	return client, true, nil
}

// legacyClient reads the params of initialize. The revision is the host's if it is served, else the newest.
func legacyClient(params json.RawMessage) Client {
	var p struct {
		ProtocolVersion string          `json:"protocolVersion"`
		Capabilities    json.RawMessage `json:"capabilities"`
		ClientInfo      json.RawMessage `json:"clientInfo"`
	}
	// A host that tells nonsense about itself is served like one that tells nothing.
	_ = jsonscan.Unmarshal(params, &p)
	var client Client
	if len(p.ClientInfo) > 0 {
		_ = jsonscan.Unmarshal(p.ClientInfo, &client)
	}
	if len(p.Capabilities) == 0 || p.Capabilities[0] != '{' {
		p.Capabilities = json.RawMessage("{}")
	}
	client.Capabilities = p.Capabilities
	client.Revision = latestLegacy
	if slices.Contains(legacyRevisions, p.ProtocolVersion) {
		client.Revision = p.ProtocolVersion
	}
	return client
}

// removed are the methods that 2026-07-28 no longer has.
var removed = []string{"initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"}

// method returns the function that answers a request, or nil if there is none.
func (s *Session) method(r *Request) func(ctx context.Context) (json.RawMessage, error) {
	modern := r.Client.Modern()
	switch {
	case modern && slices.Contains(removed, r.Method), !modern && r.Method == "subscriptions/listen":
		return nil
	case r.Method == "initialize":
		return func(ctx context.Context) (json.RawMessage, error) { return s.initialize(ctx, r) }
	case r.Method == "server/discover":
		return s.discover
	case r.Method == "subscriptions/listen":
		return func(ctx context.Context) (json.RawMessage, error) { return s.listen(ctx, r) }
	case r.Method == "ping":
		return func(context.Context) (json.RawMessage, error) { return json.RawMessage("{}"), nil }
	}
	return s.server.Serve(r)
}

// initialize answers the handshake of the revisions before 2026-07-28.
func (s *Session) initialize(ctx context.Context, r *Request) (json.RawMessage, error) {
	offer, err := s.server.Offer(ctx, s)
	if err != nil {
		return nil, err
	}
	return encode(struct {
		ProtocolVersion string          `json:"protocolVersion"`
		Capabilities    json.RawMessage `json:"capabilities"`
		ServerInfo      json.RawMessage `json:"serverInfo"`
		Instructions    json.RawMessage `json:"instructions,omitempty"`
	}{r.Client.Revision, offer.Capabilities, offer.Info, offer.Instructions})
}

// discover answers server/discover (2026-07-28, "Discovery").
func (s *Session) discover(ctx context.Context) (json.RawMessage, error) {
	offer, err := s.server.Offer(ctx, s)
	if err != nil {
		return nil, err
	}
	return encode(struct {
		ResultType        string                     `json:"resultType"`
		SupportedVersions []string                   `json:"supportedVersions"`
		Capabilities      json.RawMessage            `json:"capabilities"`
		Instructions      json.RawMessage            `json:"instructions,omitempty"`
		TTLMs             int                        `json:"ttlMs"`
		CacheScope        string                     `json:"cacheScope"`
		Meta              map[string]json.RawMessage `json:"_meta"`
	}{
		"complete", servedRevisions(), offer.Capabilities, offer.Instructions, 0, "private",
		map[string]json.RawMessage{"io.modelcontextprotocol/serverInfo": offer.Info},
	})
}

// listen serves a subscription until the host cancels it or the session ends.
func (s *Session) listen(ctx context.Context, r *Request) (json.RawMessage, error) {
	var params struct {
		Notifications *Filter `json:"notifications"`
	}
	if err := jsonscan.Unmarshal(r.Params, &params); err != nil || params.Notifications == nil {
		return nil, errorf(CodeInvalidParams, "subscriptions/listen needs an object with notifications")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.listening, r.key)
	}()
	register := func(f Filter) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.listening[r.key] = listening{r, f}
	}
	r.notifying.Lock() // notifications from here on come after the acknowledgement
	register(*params.Notifications)
	agreed := s.server.Listen(ctx, s, *params.Notifications)
	register(agreed)
	acknowledged, err := json.Marshal(map[string]Filter{"notifications": agreed})
	if err == nil {
		err = s.deliver(r.out, notificationFrame("notifications/subscriptions/acknowledged", withSubscription(acknowledged, r.ID)))
	}
	r.notifying.Unlock()
	if err != nil {
		return nil, err
	}
	if !agreed.empty() {
		<-ctx.Done()
	}
	return withSubscription(json.RawMessage(`{"resultType":"complete"}`), r.ID), nil
}

// start answers a request in a goroutine of its own, and then calls done.
func (s *Session) start(r *Request, done func()) {
	taken, ok := s.take()
	if !ok {
		done()
		return
	}
	defer taken()
	s.running.Go(func() {
		defer done()
		defer r.cancel(nil)
		if !r.Client.Modern() && !beforeHandshake(r.Method) {
			select {
			case <-s.greeted:
			case <-r.ctx.Done():
			}
		}
		result, err := s.answer(r)
		refused := r.answered(err)
		s.mu.Lock()
		delete(s.open, r.key)
		cancelled := errors.Is(context.Cause(r.ctx), ErrCancelled)
		if !cancelled && r.Answered != nil {
			s.recent = append(s.recent[max(0, len(s.recent)-maxRecent+1):], r)
		}
		s.mu.Unlock()
		sent := false
		if !cancelled { // a cancelled request has no answer
			frame := resultFrame(r.ID, result)
			if refused != nil {
				frame = errorFrame(r.ID, refused)
			}
			err := s.deliver(r.out, frame)
			if sent = err == nil; !sent {
				s.log.Info().Str("session", s.ID).Str("method", r.Method).Err(err).Msg("an answer did not reach the host")
			}
		}
		if r.Method == "initialize" {
			s.greet()
		}
		if r.Answered != nil {
			s.mu.Lock()
			r.isReported = true
			sent = sent && !r.gaveUp
			s.mu.Unlock()
			r.Answered(sent)
		}
	})
}

// greet notes that initialize was answered. A host may send it again.
func (s *Session) greet() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.greeted:
	default:
		close(s.greeted)
	}
}

// answer runs a request. A panic is an error of this request alone.
func (s *Session) answer(r *Request) (result json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.log.Error().Str("method", r.Method).Str("panic", fmt.Sprint(p)).Bytes("stack", debug.Stack()).Msg("a request of a host failed")
			err = errorf(CodeInternal, "Assent failed at %s; its log says more", r.Method)
		}
	}()
	return r.run(r.ctx)
}

// notification takes a notification of the host.
func (s *Session) notification(f *frame) {
	done, ok := s.take()
	if !ok {
		return
	}
	defer done()
	switch f.Method {
	case "notifications/initialized":
	case "notifications/cancelled":
		var params struct {
			RequestID json.RawMessage `json:"requestId"`
		}
		if jsonscan.Unmarshal(f.Params, &params) == nil {
			s.cancel(params.RequestID)
		}
	default:
		s.server.Notified(s, f.Method, f.Params)
	}
}

// cancel ends a request because the host gave it up. Hosts cancel requests that have been answered, too.
func (s *Session) cancel(id json.RawMessage) {
	s.mu.Lock()
	r := s.open[string(id)]
	if r == nil {
		report := s.giveUpLocked(id)
		s.mu.Unlock()
		report(false)
		return
	}
	s.mu.Unlock()
	if r.Method != "initialize" {
		r.cancel(ErrCancelled)
	}
}

// giveUpLocked records that a host cancelled a request that was answered or is about to be, and returns the function
// that has to be called then.
func (s *Session) giveUpLocked(id json.RawMessage) func(sent bool) {
	for _, r := range slices.Backward(s.recent) {
		if string(r.ID) == string(id) && !r.gaveUp {
			if r.gaveUp = true; r.isReported {
				return r.Answered
			}
			break
		}
	}
	return func(bool) {}
}

// response handles an answer of the host. It drops an answer that matches no request.
func (s *Session) response(f *frame) {
	id, err := strconv.ParseFloat(strings.Trim(string(f.ID), `"`), 64) // some hosts answer 1 with 1.0, or with "1"
	if err != nil || id != math.Trunc(id) {
		return
	}
	s.mu.Lock()
	answer := s.calls.end(int64(id))
	s.mu.Unlock()
	if answer != nil {
		answer <- f
	}
}
