package mcpserver

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// HTTPOptions configure an [HTTP].
type HTTPOptions struct {
	// Authorize returns the credential that a request shows, which is the same for all requests of one host, and whether
	// the request is served at all. Nil serves every request.
	Authorize func(r *http.Request) (credential string, ok bool)
	// Tool returns the input schema of a tool, for the check of the headers that repeat its arguments
	// (2026-07-28, "x-mcp-header"). Nil, or a schema of nil, checks nothing.
	Tool func(session *Session, name string) (inputSchema json.RawMessage)
	// MaxFrame is the greatest frame that a host may send, in bytes. 0 means [DefaultMaxFrame].
	MaxFrame int
	// IdleTime is how long a session lasts without a request or an open stream. 0 means [DefaultIdleTime].
	IdleTime time.Duration
	Log      zerolog.Logger
}

// DefaultIdleTime is the usual [HTTPOptions.IdleTime]. Most hosts end no session.
const DefaultIdleTime = 30 * time.Minute

// maxSessions is how many sessions one credential can have.
const maxSessions = 100

// HTTP serves hosts over Streamable HTTP (MCP, "Transports"). The handler in front of it checks Host and Origin.
//
// Hosts of 2026-07-28 have no sessions: all requests with one credential that tell the same name belong to one [Session]. The
// others have a session each, with Mcp-Session-Id. A session of either kind ends after the idle time, with End, and with
// Close. A POST that breaks cancels the request only since 2026-07-28; before, the answer waits for the host to ask for it
// with Last-Event-ID.
type HTTP struct {
	server Server
	opts   HTTPOptions

	mu       sync.Mutex // guards what follows
	legacy   map[string]*httpSession
	modern   map[program]*httpSession
	isClosed bool
	ending   sync.WaitGroup // the sessions that End, a request or the idle time ends
}

// NewHTTP returns a handler of the requests of hosts.
func NewHTTP(server Server, opts HTTPOptions) *HTTP {
	opts.MaxFrame = cmp.Or(opts.MaxFrame, DefaultMaxFrame)
	opts.IdleTime = cmp.Or(opts.IdleTime, DefaultIdleTime)
	return &HTTP{server: server, opts: opts, legacy: map[string]*httpSession{}, modern: map[program]*httpSession{}}
}

// The headers of Streamable HTTP.
const (
	headerRevision  = "Mcp-Protocol-Version"
	headerSession   = "Mcp-Session-Id"
	headerLastEvent = "Last-Event-ID"
	headerMethod    = "Mcp-Method"
	headerName      = "Mcp-Name"
)

// ServeHTTP implements [http.Handler].
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	credential := ""
	if h.opts.Authorize != nil {
		var ok bool
		if credential, ok = h.opts.Authorize(r); !ok {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "the request has no valid token", http.StatusUnauthorized)
			return
		}
	}
	switch r.Method {
	case http.MethodPost:
		h.post(w, r, credential)
	case http.MethodGet:
		h.get(w, r, credential)
	case http.MethodDelete:
		h.delete(w, r, credential)
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		http.Error(w, "the method is not allowed", http.StatusMethodNotAllowed)
	}
}

// get opens the stream of a session for what belongs to no request, or one that broke.
func (h *HTTP) get(w http.ResponseWriter, r *http.Request, credential string) {
	s := h.sessionOf(w, r, credential)
	if s == nil {
		return
	}
	defer h.rest(s)
	if !accepts(r, "text/event-stream") {
		http.Error(w, "Accept has no text/event-stream", http.StatusNotAcceptable)
		return
	}
	stream, after := s.streams.main(), 0
	if last := r.Header.Get(headerLastEvent); last != "" {
		var ok bool
		if stream, after, ok = s.streams.find(last); !ok {
			http.Error(w, "the stream of Last-Event-ID no longer exists", http.StatusNotFound)
			return
		}
	}
	stream.write(w, r, after, false)
}

// delete ends a session.
func (h *HTTP) delete(w http.ResponseWriter, r *http.Request, credential string) {
	s := h.sessionOf(w, r, credential)
	if s == nil {
		return
	}
	h.mu.Lock()
	over := h.remove([]*httpSession{s})
	h.mu.Unlock()
	h.endAll(over)
	w.WriteHeader(http.StatusNoContent)
}

// sessionOf returns the session that a request names, or nil after it refused the request. The session is used until rest is
// called.
func (h *HTTP) sessionOf(w http.ResponseWriter, r *http.Request, credential string) *httpSession {
	id := r.Header.Get(headerSession)
	if id == "" {
		if r.Method != http.MethodPost { // since 2026-07-28 there is only POST
			w.Header().Set("Allow", "POST")
			http.Error(w, headerSession+" is missing", http.StatusMethodNotAllowed)
			return nil
		}
		http.Error(w, headerSession+" is missing", http.StatusBadRequest)
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.legacy[id]
	if s == nil || s.Credential != credential {
		http.Error(w, "there is no such session", http.StatusNotFound)
		return nil
	}
	s.use()
	return s
}

// post takes a message, or a batch.
func (h *HTTP) post(w http.ResponseWriter, r *http.Request, credential string) {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		http.Error(w, "Content-Type is not application/json", http.StatusUnsupportedMediaType)
		return
	}
	if !accepts(r, "application/json") || !accepts(r, "text/event-stream") {
		http.Error(w, "Accept has not both application/json and text/event-stream", http.StatusNotAcceptable)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(h.opts.MaxFrame)))
	if err != nil {
		var tooLong *http.MaxBytesError
		if errors.As(err, &tooLong) {
			http.Error(w, fmt.Sprintf("a message has at most %d bytes", tooLong.Limit), http.StatusRequestEntityTooLarge)
		}
		return // the host has gone
	}
	frames, bad := decodeAll(body)
	switch revision := r.Header.Get(headerRevision); {
	case len(bad) > 0:
		refuse(w, http.StatusBadRequest, bad[0].id, bad[0].err)
	case len(frames) == 0:
		refuse(w, http.StatusBadRequest, nil, errorf(CodeParse, "the message is empty"))
	case !isModern(frames[0], revision):
		h.postLegacy(w, r, frames, credential)
	case len(frames) > 1: // one response can have the answer to one request
		refuse(w, http.StatusBadRequest, nil, errorf(CodeInvalidRequest, "hosts of %s send each message on its own", ModernRevision))
	default:
		h.postModern(w, r, frames[0], credential)
	}
}

// isModern reports whether a message belongs to 2026-07-28 or later: by the header or by its own members, and never by
// Mcp-Method, which older hosts send too.
func isModern(f *frame, revision string) bool {
	if revision >= ModernRevision {
		return true
	}
	_, modern, _ := modernClient(f)
	return modern
}

// postModern takes a message of 2026-07-28.
func (h *HTTP) postModern(w http.ResponseWriter, r *http.Request, f *frame, credential string) {
	client, _, _ := modernClient(f)
	s := h.modernSession(r.Context(), program{credential, client.Name})
	if s == nil {
		http.Error(w, notServed, http.StatusServiceUnavailable)
		return
	}
	defer h.rest(s)
	switch {
	case f.isNotification():
		s.notification(f)
		w.WriteHeader(http.StatusAccepted)
		return
	case !f.isRequest():
		refuse(w, http.StatusBadRequest, nil, errorf(CodeInvalidRequest, "hosts of %s send no responses", ModernRevision))
		return
	}
	if err := h.checkHeaders(r.Header, f, s.Session); err != nil {
		refuse(w, http.StatusBadRequest, f.ID, err)
		return
	}
	stream := s.streams.open(false)
	request, refused := s.begin(f, "stream "+stream.id, stream) // hosts with one credential may use the same ids
	if refused != nil {
		s.streams.drop(stream)
		refuse(w, statusOf(refused), f.ID, refused)
		return
	}
	s.start(request, stream.end)
	defer s.streams.drop(stream)
	timer := time.NewTimer(statusWaitLimit)
	defer timer.Stop()
	select {
	case <-stream.begun:
		if e := request.refusal(); e != nil && hasStatus(e.Code) && stream.isOnly() {
			refuse(w, statusOf(e), f.ID, e)
			return
		}
	case <-timer.C:
	case <-r.Context().Done():
	}
	if !stream.write(w, r, 0, false) {
		request.cancel(ErrCancelled)
	}
}

// statusWaitLimit is how long the response to a request waits for its HTTP status: an error that has one of its own comes
// soon or not at all.
const statusWaitLimit = 5 * time.Second

// hasStatus reports whether an error has an HTTP status of its own (2026-07-28, "Streamable HTTP").
func hasStatus(code int) bool {
	switch code {
	case CodeMethodNotFound, CodeMissingCapability, CodeUnsupportedVersion, CodeHeaderMismatch:
		return true
	}
	return false
}

// statusOf returns the HTTP status of a request that is refused since 2026-07-28.
func statusOf(err *Error) int {
	if err.Code == CodeMethodNotFound {
		return http.StatusNotFound
	}
	return http.StatusBadRequest
}

// postLegacy takes messages of the revisions before 2026-07-28.
func (h *HTTP) postLegacy(w http.ResponseWriter, r *http.Request, frames []*frame, credential string) {
	revision := r.Header.Get(headerRevision)
	if revision != "" && !slices.Contains(legacyRevisions, revision) {
		http.Error(w, fmt.Sprintf("the protocol version %q is not supported; supported are %s",
			revision, strings.Join(servedRevisions(), ", ")), http.StatusBadRequest)
		return
	}
	var s *httpSession
	switch f := frames[0]; {
	case len(frames) == 1 && f.isRequest() && f.Method == "initialize":
		if s = h.beginSession(r.Context(), credential); s == nil {
			http.Error(w, notServed, http.StatusServiceUnavailable)
			return
		}
		w.Header().Set(headerSession, s.ID)
	case len(frames) == 1 && f.isRequest() && f.Method == "server/discover" && r.Header.Get(headerSession) == "":
		// A host that does not know its server yet may ask without a revision.
		h.postModern(w, r, f, credential)
		return
	default:
		if s = h.sessionOf(w, r, credential); s == nil {
			return
		}
	}
	defer h.rest(s)
	stream := s.streams.open(true)
	var requests []*Request
	for _, f := range frames {
		switch {
		case f.isNotification():
			s.notification(f)
		case !f.isRequest():
			s.response(f)
		default:
			request, err := s.begin(f, string(f.ID), stream)
			if err != nil {
				_ = s.deliver(stream, errorFrame(f.ID, err)) // the stream has just been opened
				continue
			}
			requests = append(requests, request)
		}
	}
	if len(requests) == 0 && stream.isEmpty() {
		s.streams.drop(stream)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	stream.expect(len(requests))
	for _, request := range requests {
		s.start(request, stream.end)
	}
	stream.write(w, r, 0, s.Client().Revision == latestLegacy)
}

// refuse answers a request with an error and an HTTP status.
func refuse(w http.ResponseWriter, status int, id json.RawMessage, err *Error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(errorFrame(id, err)) // the host may have gone
}

// accepts reports whether a request's Accept has a media type.
func accepts(r *http.Request, mediaType string) bool {
	major, _, _ := strings.Cut(mediaType, "/")
	for _, header := range r.Header.Values("Accept") {
		for part := range strings.SplitSeq(header, ",") {
			kind, _, err := mime.ParseMediaType(part)
			if err == nil && (kind == mediaType || kind == "*/*" || kind == major+"/*") {
				return true
			}
		}
	}
	return false
}

// keepAlive is how often a stream without events sends a comment. Node's fetch ends a body after 300 s of silence, and
// proxies after 30 s to 60 s.
const keepAlive = 15 * time.Second

// write sends the stream as SSE until it ends, from the event after the given one. A primed stream begins with an event
// without data. The event's id lets the host resume before the first message (2025-11-25, "Resumability"). It returns
// false if the host left before.
func (s *eventStream) write(w http.ResponseWriter, r *http.Request, after int, primed bool) bool {
	header := w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-cache, no-transform")
	header.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	if primed {
		_, _ = fmt.Fprintf(w, "id: %s-%d\ndata: \n\n", s.id, after) // Flush returns the error
	}
	control := http.NewResponseController(w)
	if control.Flush() != nil {
		return false
	}
	reader := s.read(after)
	defer s.release(reader)
	tick := time.NewTicker(keepAlive)
	defer tick.Stop()
	for {
		text, open := s.take(reader)
		if len(text) > 0 {
			if _, err := w.Write(text); err != nil || control.Flush() != nil {
				return false
			}
		}
		if !open {
			return true
		}
		select {
		case <-reader.ready:
		case <-tick.C:
			if _, err := io.WriteString(w, ": keep-alive\n\n"); err != nil || control.Flush() != nil {
				return false
			}
		case <-r.Context().Done():
			return false
		}
	}
}

var _ http.Handler = (*HTTP)(nil)
