package trace

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// Destination is where spans are sent.
type Destination struct {
	// Name identifies the destination: two with one name are the same.
	Name string
	// Models: endpoints of models get the trace context in a header.
	Models bool
	// Resolve returns the URL to post to, and the headers. It may block. It is called again after a failure.
	Resolve func(ctx context.Context) (*url.URL, http.Header, error)
}

// The bounds of the export. Those of the queue and the batch, and the delay, are the defaults of OpenTelemetry's SDKs.
const (
	maxQueue = 2048
	maxBatch = 512
	delay    = 5 * time.Second
	// sendTimeout bounds one request.
	sendTimeout = 10 * time.Second
	// firstPause and maxPause bound the pause before a batch is sent again.
	firstPause, maxPause = time.Second, time.Minute
	// closeTimeout bounds the last requests of a tracer that is turned off.
	closeTimeout = 2 * time.Second
	// maxAnswer bounds the part of the collector's answer that is read, in bytes.
	maxAnswer = 64 << 10
)

// exporter sends ended spans to one destination.
type exporter struct {
	version string
	client  http.Client
	log     zerolog.Logger
	to      Destination
	// full holds a value if a batch is complete. stopped is closed when no more spans come.
	full    chan struct{}
	stopped chan struct{}
	// ctx bounds the requests, and is stored because it is the exporter's lifetime.
	ctx    context.Context
	cancel context.CancelFunc
	// failing is set while the collector takes nothing. Only run uses it.
	failing bool

	mu      sync.Mutex // guards the fields below
	queue   []otlpSpan
	dropped int // spans that were not taken
	over    bool
}

func newExporter(o Options, to Destination) *exporter {
	e := &exporter{
		version: o.Version, client: o.Client, log: o.Log, to: to, full: make(chan struct{}, 1), stopped: make(chan struct{}),
	}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	return e
}

// add queues a span, or counts it as dropped if the queue is full.
func (e *exporter) add(s otlpSpan) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over || len(e.queue) >= maxQueue {
		e.dropped++
		return
	}
	e.queue = append(e.queue, s)
	if len(e.queue) >= maxBatch {
		select {
		case e.full <- struct{}{}:
		default:
		}
	}
}

// stop has run return soon. Spans that end later are dropped.
func (e *exporter) stop() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.over = true
	close(e.stopped)
	time.AfterFunc(closeTimeout, e.cancel)
}

// take returns the next batch.
func (e *exporter) take() []otlpSpan {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := min(len(e.queue), maxBatch)
	batch := e.queue[:n:n]
	if e.queue = e.queue[n:]; len(e.queue) == 0 {
		e.queue = nil
	}
	return batch
}

// drop counts spans that the collector did not take.
func (e *exporter) drop(count int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.dropped += count
}

// run sends the spans until the exporter is stopped.
func (e *exporter) run() {
	defer e.cancel()
	e.log.Info().Msg("traces are exported")
	timer := time.NewTimer(delay)
	defer timer.Stop()
	for isLast := false; !isLast; timer.Reset(delay) {
		select {
		case <-timer.C:
		case <-e.full:
		case <-e.stopped:
			isLast = true
		}
		for batch := e.take(); len(batch) > 0; batch = e.take() {
			e.deliver(batch)
		}
	}
	e.report("traces are no longer exported")
}

// deliver sends a batch, again and again while the collector may yet take it. It gives up once the exporter is stopped.
func (e *exporter) deliver(batch []otlpSpan) {
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		rejected, again, err := e.send(batch)
		if err == nil {
			if e.drop(rejected); e.failing || rejected > 0 {
				e.failing = false
				e.report("the collector takes traces")
			}
			return
		}
		if !e.failing {
			e.failing = true
			e.log.Warn().Err(err).Msg("the collector takes no traces")
		}
		if !again {
			e.drop(len(batch))
			return
		}
		select {
		case <-time.After(pause):
		case <-e.stopped:
			e.drop(len(batch))
			return
		}
	}
}

// report logs how many spans were dropped since the last report.
func (e *exporter) report(message string) {
	e.mu.Lock()
	dropped := e.dropped
	e.dropped = 0
	e.mu.Unlock()
	e.log.Info().Int("dropped", dropped).Msg(message)
}

// send posts a batch once. It returns how many spans the collector rejected, and whether a failure may be temporary (OTLP,
// "OTLP/HTTP Response").
func (e *exporter) send(batch []otlpSpan) (rejected int, again bool, err error) {
	ctx, cancel := context.WithTimeout(e.ctx, sendTimeout)
	defer cancel()
	to, header, err := e.to.Resolve(ctx)
	if err != nil {
		return 0, true, err
	}
	body, err := json.Marshal(e.request(batch))
	if err != nil {
		return 0, false, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), bytes.NewReader(body))
	if err != nil {
		return 0, false, err
	}
	request.Header = header
	request.Header.Set("Content-Type", "application/json")
	response, err := e.client.Do(request)
	if at, ok := errors.AsType[*url.Error](err); ok {
		return 0, true, at.Err // the rest repeats the address, in which a key may be
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	switch code := response.StatusCode; {
	case code == http.StatusTooManyRequests || code == http.StatusBadGateway || code == http.StatusServiceUnavailable || code == http.StatusGatewayTimeout:
		return 0, true, fmt.Errorf("it answered %d", code)
	case code < 200 || code > 299:
		return 0, false, fmt.Errorf("it answered %d", code)
	case err != nil:
		return 0, false, err // it took them, perhaps
	}
	var took struct {
		PartialSuccess struct {
			RejectedSpans json.RawMessage `json:"rejectedSpans"` // a number, or a text of one
		} `json:"partialSuccess"`
	}
	if json.Unmarshal(answer, &took) == nil {
		count, _ := strconv.Atoi(string(bytes.Trim(took.PartialSuccess.RejectedSpans, `"`))) // 0 if there is none
		rejected = min(max(count, 0), len(batch))
	}
	return rejected, false, nil
}

// attribute is an attribute of a span.
type attribute struct {
	key, text string
	number    int64
	isNumber  bool
}

// The types of OTLP in JSON ("JSON Protobuf Encoding"): ids are hexadecimal, and 64-bit numbers are texts.
type (
	otlpRequest struct {
		ResourceSpans []otlpResourceSpans `json:"resourceSpans"`
	}
	otlpResourceSpans struct {
		Resource   otlpResource     `json:"resource"`
		ScopeSpans []otlpScopeSpans `json:"scopeSpans"`
	}
	otlpResource struct {
		Attributes []otlpAttribute `json:"attributes"`
	}
	otlpScopeSpans struct {
		Scope otlpScope  `json:"scope"`
		Spans []otlpSpan `json:"spans"`
	}
	otlpScope struct {
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
	}
	otlpSpan struct {
		TraceID      string          `json:"traceId"`
		SpanID       string          `json:"spanId"`
		TraceState   string          `json:"traceState,omitempty"`
		ParentSpanID string          `json:"parentSpanId,omitempty"`
		Flags        int             `json:"flags"`
		Name         string          `json:"name"`
		Kind         Kind            `json:"kind"`
		Start        string          `json:"startTimeUnixNano"`
		End          string          `json:"endTimeUnixNano"`
		Attributes   []otlpAttribute `json:"attributes,omitempty"`
		Links        []otlpLink      `json:"links,omitempty"`
		Status       *otlpStatus     `json:"status,omitempty"`
	}
	otlpAttribute struct {
		Key   string    `json:"key"`
		Value otlpValue `json:"value"`
	}
	otlpValue struct {
		Text   *string `json:"stringValue,omitempty"`
		Number string  `json:"intValue,omitempty"`
	}
	otlpLink struct {
		TraceID string `json:"traceId"`
		SpanID  string `json:"spanId"`
	}
	otlpStatus struct {
		Code int `json:"code"`
	}
)

// statusError is OTLP's code of a failed operation, and flagSampled the flag of a recorded span.
const (
	statusError = 2
	flagSampled = 1
)

// exported returns the span as it is sent.
func (s *Span) exported(end time.Time) otlpSpan {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := otlpSpan{
		TraceID: hex.EncodeToString(s.TraceID[:]), SpanID: hex.EncodeToString(s.SpanID[:]), TraceState: s.State, Flags: flagSampled,
		Name: s.name, Kind: s.kind, Start: nanoseconds(s.start), End: nanoseconds(s.start.Add(end.Sub(s.start))),
	}
	if s.parent != [8]byte{} {
		o.ParentSpanID = hex.EncodeToString(s.parent[:])
	}
	for _, a := range s.attributes {
		value := otlpValue{Text: &a.text}
		if a.isNumber {
			value = otlpValue{Number: strconv.FormatInt(a.number, 10)}
		}
		o.Attributes = append(o.Attributes, otlpAttribute{a.key, value})
	}
	if s.link.IsValid() {
		o.Links = []otlpLink{{hex.EncodeToString(s.link.TraceID[:]), hex.EncodeToString(s.link.SpanID[:])}}
	}
	if s.failed {
		o.Status = &otlpStatus{statusError}
	}
	return o
}

func nanoseconds(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

// request returns the request for a batch.
func (e *exporter) request(batch []otlpSpan) otlpRequest {
	name := "assent"
	resource := []otlpAttribute{{"service.name", otlpValue{Text: &name}}}
	if e.version != "" {
		resource = append(resource, otlpAttribute{"service.version", otlpValue{Text: &e.version}})
	}
	return otlpRequest{[]otlpResourceSpans{{
		Resource:   otlpResource{resource},
		ScopeSpans: []otlpScopeSpans{{Scope: otlpScope{name, e.version}, Spans: batch}},
	}}}
}
