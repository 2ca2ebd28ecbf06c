// Package trace follows a call from its host to the server, the person and the model, as spans of OpenTelemetry.
//
// A [Tracer] is off until it has a [Destination]. While it is off, [Tracer.Start] returns a nil [Span], of which all methods
// are no-ops. A context carries its span. The trace context goes over MCP in the member "_meta" of a request (SEP-414), in the
// formats of W3C Trace Context. What a peer sends is checked: a malformed one is ignored.
//
// Ended spans are sent by OTLP over HTTP in batches. Nothing waits for the collector: spans that it does not take in time are
// dropped and counted. A span holds names, numbers and outcomes. The caller must not give it contents of messages, arguments,
// answers or addresses.
//
// A Tracer and a Span may be used from any goroutine. [Tracer.Close] waits for the goroutine of the export.
package trace

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"assent/sidecar/base/jsonscan"
)

// Context identifies a span, here or elsewhere. The zero value identifies none.
type Context struct {
	TraceID [16]byte
	SpanID  [8]byte
	// State is the tracestate, which is passed on as it came.
	State string
}

// IsValid reports whether the context identifies a span.
func (c Context) IsValid() bool { return c.TraceID != [16]byte{} && c.SpanID != [8]byte{} }

// Parent returns the context as a traceparent. It always says that the span is recorded.
func (c Context) Parent() string {
	return "00-" + hex.EncodeToString(c.TraceID[:]) + "-" + hex.EncodeToString(c.SpanID[:]) + "-01"
}

// maxState bounds a tracestate, in bytes (W3C Trace Context, "tracestate Limits").
const maxState = 512

// Received returns the context in the "_meta" of a peer's params. It is the zero value if there is none, or it is malformed.
func Received(params json.RawMessage) Context {
	var p struct {
		Meta struct {
			Parent json.RawMessage `json:"traceparent"`
			State  json.RawMessage `json:"tracestate"`
		} `json:"_meta"`
	}
	if len(params) == 0 || jsonscan.Unmarshal(params, &p) != nil {
		return Context{}
	}
	c, ok := parse(text(p.Meta.Parent))
	if !ok {
		return Context{}
	}
	if state := text(p.Meta.State); len(state) <= maxState && isPrintable(state) {
		c.State = state
	}
	return c
}

// parse reads a traceparent (W3C Trace Context, "traceparent Header"). A later version may add parts at the end.
func parse(parent string) (Context, bool) {
	var c Context
	const size = len("00-00112233445566778899aabbccddeeff-0011223344556677-00")
	if len(parent) < size || strings.ToLower(parent) != parent || parent[2] != '-' || parent[35] != '-' || parent[52] != '-' {
		return c, false
	}
	if len(parent) > size && (parent[:2] == "00" || parent[size] != '-') {
		return c, false
	}
	version, ok := digits(parent[:2], 1)
	_, flagsOK := digits(parent[53:size], 1)
	trace, traceOK := digits(parent[3:35], len(c.TraceID))
	span, spanOK := digits(parent[36:52], len(c.SpanID))
	if !ok || !flagsOK || !traceOK || !spanOK || version[0] == 0xff {
		return c, false
	}
	c.TraceID, c.SpanID = [16]byte(trace), [8]byte(span)
	return c, c.IsValid()
}

// digits returns the bytes that hexadecimal digits stand for.
func digits(text string, size int) ([]byte, bool) {
	b, err := hex.DecodeString(text)
	return b, err == nil && len(b) == size
}

// text returns a JSON string, or "".
func text(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

func isPrintable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// Kind is how a span relates to others, in the numbers of OTLP.
type Kind int

// The kinds of spans.
const (
	Internal Kind = 1
	// Server serves a request of a peer.
	Server Kind = 2
	// Client makes a request to a peer.
	Client Kind = 3
)

// Options configure a [Tracer].
type Options struct {
	// Version is the program's version.
	Version string
	// Client sends to the collector. Redirects are not followed, because the headers are for one address.
	Client http.Client
	Log    zerolog.Logger
}

// Tracer starts spans, and exports those that have ended. A nil Tracer is off.
type Tracer struct {
	opts Options
	// exporter is nil while the tracer is off.
	exporter atomic.Pointer[exporter]

	mu     sync.Mutex // guards the fields below, and changes of exporter
	closed bool
	ended  sync.WaitGroup // the exporters' goroutines
}

// New returns a tracer that is off.
func New(opts Options) *Tracer {
	opts.Client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Tracer{opts: opts}
}

// IsOn reports whether spans are exported.
func (t *Tracer) IsOn() bool { return t != nil && t.exporter.Load() != nil }

// Set has the tracer export to a destination; nil turns it off.
func (t *Tracer) Set(d *Destination) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if old := t.exporter.Load(); old != nil && (d == nil || old.to.Name != d.Name) {
		t.exporter.Store(nil)
		old.stop()
	}
	if d == nil || t.closed || t.exporter.Load() != nil {
		return
	}
	e := newExporter(t.opts, *d)
	t.exporter.Store(e)
	t.ended.Go(e.run)
}

// Close turns the tracer off, and returns when the last spans are sent, or after [closeTimeout].
func (t *Tracer) Close() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.Set(nil)
	t.ended.Wait()
}

// Span is one operation. A nil Span is of a tracer that is off.
type Span struct {
	Context
	exporter *exporter
	name     string
	kind     Kind
	parent   [8]byte // zero for the first of a trace
	link     Context
	start    time.Time

	mu         sync.Mutex // guards the fields below
	attributes []attribute
	failed     bool
	ended      bool
}

type spanKey struct{}

// From returns the span of a context, or nil.
func From(ctx context.Context) *Span {
	s, _ := ctx.Value(spanKey{}).(*Span)
	return s
}

// Identity returns what identifies the span; nothing for nil.
func (s *Span) Identity() Context {
	if s == nil {
		return Context{}
	}
	return s.Context
}

// With returns a context that carries a span; nil changes nothing.
func With(ctx context.Context, s *Span) context.Context {
	if s == nil {
		return ctx
	}
	return context.WithValue(ctx, spanKey{}, s)
}

// Start starts a span for an operation on a target, which may be empty: a call of a tool by its name. The parent is the span of
// the context; without one the span is the first of a new trace. The caller must end it.
func (t *Tracer) Start(ctx context.Context, kind Kind, operation, target string) (context.Context, *Span) {
	if !t.IsOn() {
		return ctx, nil
	}
	return t.StartUnder(ctx, From(ctx).Identity(), kind, operation, target)
}

// StartUnder is Start under a parent, which may be another program's. With the zero value, the span is the first of a new
// trace.
func (t *Tracer) StartUnder(ctx context.Context, parent Context, kind Kind, operation, target string) (context.Context, *Span) {
	if t == nil {
		return ctx, nil
	}
	e := t.exporter.Load()
	if e == nil {
		return ctx, nil
	}
	return e.start(ctx, parent, kind, operation, target)
}

// Start starts a span under that of the context. Without one, nothing is traced.
func Start(ctx context.Context, kind Kind, operation, target string) (context.Context, *Span) {
	s := From(ctx)
	if s == nil {
		return ctx, nil
	}
	return s.exporter.start(ctx, s.Context, kind, operation, target)
}

// start starts a span. A parent that is not valid starts a new trace.
func (e *exporter) start(ctx context.Context, parent Context, kind Kind, operation, target string) (context.Context, *Span) {
	s := &Span{exporter: e, kind: kind, name: operation, start: time.Now()}
	if target != "" {
		s.name = cut(operation + " " + target)
	}
	random(s.SpanID[:])
	if parent.IsValid() {
		s.TraceID, s.State, s.parent = parent.TraceID, parent.State, parent.SpanID
	} else {
		random(s.TraceID[:])
	}
	return With(ctx, s), s
}

// random fills an id. It is not zero.
func random(id []byte) {
	_, _ = rand.Read(id) // never fails
	id[0] |= 1
}

// Link notes a context that the operation has to do with, and that is not its parent.
func (s *Span) Link(to Context) {
	if s != nil && to.IsValid() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.link = to
	}
}

// maxAttributes and maxText bound a span: names are of servers and hosts.
const (
	maxAttributes = 32
	maxText       = 256 // bytes
)

// Set sets an attribute; empty values are left out.
func (s *Span) Set(key, value string) {
	if s != nil && value != "" {
		s.set(attribute{key: key, text: cut(value)})
	}
}

// SetInt is Set for a number.
func (s *Span) SetInt(key string, value int64) {
	if s != nil {
		s.set(attribute{key: key, number: value, isNumber: true})
	}
}

func (s *Span) set(a attribute) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, known := range s.attributes {
		if known.key == a.key {
			s.attributes[i] = a
			return
		}
	}
	if len(s.attributes) < maxAttributes {
		s.attributes = append(s.attributes, a)
	}
}

// Fail marks the operation as failed, with a kind of error of few values. It takes no text of an error.
func (s *Span) Fail(kind string) {
	if s == nil {
		return
	}
	s.Set("error.type", kind)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = true
}

// Result marks a call of a tool as failed if its result says so.
func (s *Span) Result(raw json.RawMessage) {
	if s == nil {
		return
	}
	if string(membersOf(raw)["isError"]) == "true" {
		s.Fail("tool_error")
	}
}

// End ends the operation. Only the first call counts.
func (s *Span) End() {
	if s == nil {
		return
	}
	s.mu.Lock()
	isFirst := !s.ended
	s.ended = true
	s.mu.Unlock()
	if isFirst {
		s.exporter.add(s.exported(time.Now()))
	}
}

// TellsModels reports whether the endpoint of a model gets the trace context.
func (s *Span) TellsModels() bool { return s != nil && s.exporter.to.Models }

// InParams returns params with the span's context in their "_meta". It replaces that of a peer.
func (s *Span) InParams(params json.RawMessage) json.RawMessage {
	if s == nil {
		return params
	}
	members := membersOf(params)
	members["_meta"] = s.InMeta(members["_meta"])
	out, err := json.Marshal(members)
	if err != nil {
		return params // which is no JSON
	}
	return out
}

// InMeta returns a "_meta", which may be nil, with the span's context. The baggage stays as it is.
func (s *Span) InMeta(meta json.RawMessage) json.RawMessage {
	members := membersOf(meta)
	members["traceparent"] = json.RawMessage(`"` + s.Parent() + `"`)
	delete(members, "tracestate") // of a context that may have been ignored
	if s.State != "" {
		if state, err := json.Marshal(s.State); err == nil {
			members["tracestate"] = state
		}
	}
	out, err := json.Marshal(members)
	if err != nil {
		return meta // which is no JSON
	}
	return out
}

// membersOf returns the members of an object, or none.
func membersOf(object json.RawMessage) map[string]json.RawMessage {
	members := map[string]json.RawMessage{}
	if len(object) > 0 && object[0] == '{' {
		maps.Insert(members, jsonscan.Of(object))
	}
	return members
}

// cut shortens a text to maxText bytes.
func cut(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "")
}
