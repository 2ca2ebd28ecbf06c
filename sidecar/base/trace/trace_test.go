package trace_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"assent/sidecar/base/trace"
)

const (
	traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
	spanID  = "00f067aa0ba902b7"
)

func TestReceived(t *testing.T) {
	t.Parallel()
	valid := "00-" + traceID + "-" + spanID + "-01"
	for _, test := range []struct{ name, meta, want string }{
		{"valid", `{"traceparent":"` + valid + `"}`, valid},
		{"not sampled", `{"traceparent":"` + strings.TrimSuffix(valid, "1") + `0"}`, valid},
		{"a later version", `{"traceparent":"cc-` + valid[3:] + `-more"}`, valid},
		{"a member of another case", `{"Traceparent":"` + valid + `"}`, ""},
		{"none", `{}`, ""},
		{"a number", `{"traceparent":1}`, ""},
		{"no object", `[]`, ""},
		{"empty", `{"traceparent":""}`, ""},
		{"too short", `{"traceparent":"` + valid[:54] + `"}`, ""},
		{"longer in version 0", `{"traceparent":"` + valid + `-more"}`, ""},
		{"longer without a dash", `{"traceparent":"cc-` + valid[3:] + `.more"}`, ""},
		{"version ff", `{"traceparent":"ff-` + valid[3:] + `"}`, ""},
		{"capitals", `{"traceparent":"` + strings.ToUpper(valid) + `"}`, ""},
		{"no digits", `{"traceparent":"00-` + strings.Repeat("g", 32) + `-` + spanID + `-01"}`, ""},
		{"no digits in the flags", `{"traceparent":"` + valid[:53] + `zz"}`, ""},
		{"a trace of zeros", `{"traceparent":"00-` + strings.Repeat("0", 32) + `-` + spanID + `-01"}`, ""},
		{"a span of zeros", `{"traceparent":"00-` + traceID + `-` + strings.Repeat("0", 16) + `-01"}`, ""},
		{"no dashes", `{"traceparent":"` + strings.ReplaceAll(valid, "-", "_") + `"}`, ""},
		{"letters of two bytes", `{"traceparent":"00-` + strings.Repeat("é", 26) + `"}`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := trace.Received(json.RawMessage(`{"name":"x","_meta":` + test.meta + `}`))
			if parent := got.Parent(); got.IsValid() != (test.want != "") || got.IsValid() && parent != test.want {
				t.Errorf("Received(%s) = %s (valid: %v), want %q", test.meta, parent, got.IsValid(), test.want)
			}
		})
	}
	for state, want := range map[string]string{
		"a=1,b=2": "a=1,b=2", strings.Repeat("x", 513): "", "a\\u0000": "", "é=1": "",
	} {
		got := trace.Received(json.RawMessage(`{"_meta":{"traceparent":"` + valid + `","tracestate":"` + state + `"}}`))
		if got.State != want {
			t.Errorf("of the tracestate %q %q is kept, want %q", state, got.State, want)
		}
	}
}

func FuzzReceived(f *testing.F) {
	f.Add(`{"_meta":{"traceparent":"00-` + traceID + `-` + spanID + `-01","tracestate":"a=1"}}`)
	f.Fuzz(func(t *testing.T, params string) {
		c := trace.Received(json.RawMessage(params))
		if !c.IsValid() {
			return
		}
		again := trace.Received(json.RawMessage(`{"_meta":{"traceparent":"` + c.Parent() + `"}}`))
		if again.TraceID != c.TraceID || again.SpanID != c.SpanID {
			t.Errorf("%s was read as %+v, and that as %+v", params, c, again)
		}
	})
}

// collector is a collector without a network.
type collector struct {
	// answer answers a request; nil takes everything.
	answer func(*http.Request) (*http.Response, error)

	mu     sync.Mutex
	bodies []string
}

func (c *collector) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.bodies = append(c.bodies, string(body))
	c.mu.Unlock()
	if c.answer != nil {
		return c.answer(r)
	}
	return says(http.StatusOK, "{}"), nil
}

func says(code int, body string) *http.Response {
	return &http.Response{StatusCode: code, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
}

// requests returns how many requests came.
func (c *collector) requests() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.bodies)
}

// spans returns the spans of all requests, and fails if the bodies are not OTLP.
func (c *collector) spans(t *testing.T) []span {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []span
	for _, body := range c.bodies {
		var request struct {
			ResourceSpans []struct {
				ScopeSpans []struct{ Spans []span }
			}
		}
		if err := json.Unmarshal([]byte(body), &request); err != nil {
			t.Fatal(err)
		}
		all = append(all, request.ResourceSpans[0].ScopeSpans[0].Spans...)
	}
	return all
}

type span struct {
	TraceID, SpanID, ParentSpanID, TraceState, Name string
	Kind                                            int
	StartTimeUnixNano, EndTimeUnixNano              string
	Attributes                                      []struct {
		Key   string
		Value struct{ StringValue, IntValue string }
	}
	Links  []struct{ TraceID, SpanID string }
	Status struct{ Code int }
}

// destination is at an address of the tests.
func destination() *trace.Destination {
	return &trace.Destination{Name: "tests", Resolve: func(context.Context) (*url.URL, http.Header, error) {
		return &url.URL{Scheme: "http", Host: "collector", Path: "/v1/traces"}, http.Header{"X-Key": {"key-of-the-collector"}}, nil
	}}
}

// tracer returns a tracer to a collector, and its log.
func tracer(c *collector) (*trace.Tracer, *strings.Builder) {
	log := &strings.Builder{}
	t := trace.New(trace.Options{Version: "1", Client: http.Client{Transport: c}, Log: zerolog.New(log)})
	t.Set(destination())
	return t, log
}

func TestSpansAreSentInBatches(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &collector{}
		tracer, _ := tracer(c)
		defer tracer.Close()
		parent := trace.Received(json.RawMessage(`{"_meta":{"traceparent":"00-` + traceID + `-` + spanID + `-00","tracestate":"a=1"}}`))
		ctx, outer := tracer.StartUnder(t.Context(), parent, trace.Server, "tools/call", "form")
		_, inner := trace.Start(ctx, trace.Client, "chat", "")
		inner.Set("gen_ai.request.model", "m")
		inner.Set("empty", "")
		inner.SetInt("gen_ai.usage.input_tokens", 3)
		inner.Link(parent)
		inner.Fail("timeout")
		time.Sleep(time.Millisecond)
		inner.End()
		inner.End()
		outer.End()
		time.Sleep(6 * time.Second)
		got := c.spans(t)
		if len(got) != 2 || c.requests() != 1 {
			t.Fatalf("%d spans came in %d requests", len(got), c.requests())
		}
		sent, own := got[0], got[1]
		if own.TraceID != traceID || own.ParentSpanID != spanID || own.TraceState != "a=1" || own.Kind != 2 || own.Name != "tools/call form" {
			t.Errorf("the outer span is %+v", own)
		}
		if sent.TraceID != traceID || sent.ParentSpanID != own.SpanID || sent.Status.Code != 2 || sent.Links[0].SpanID != spanID {
			t.Errorf("the inner span is %+v", sent)
		}
		if sent.StartTimeUnixNano == sent.EndTimeUnixNano {
			t.Errorf("the inner span took no time: %+v", sent)
		}
		attributes, err := json.Marshal(sent.Attributes)
		if err != nil {
			t.Fatal(err)
		}
		want := `[{"Key":"gen_ai.request.model","Value":{"StringValue":"m","IntValue":""}},` +
			`{"Key":"gen_ai.usage.input_tokens","Value":{"StringValue":"","IntValue":"3"}},{"Key":"error.type","Value":{"StringValue":"timeout","IntValue":""}}]`
		if diff := cmp.Diff(want, string(attributes)); diff != "" {
			t.Errorf("the attributes (-want +got):\n%s", diff)
		}
	})
}

func TestATracerThatIsOffDoesNothing(t *testing.T) {
	c := &collector{}
	off := trace.New(trace.Options{Client: http.Client{Transport: c}, Log: zerolog.Nop()})
	defer off.Close()
	ctx := t.Context()
	for _, tracer := range []*trace.Tracer{off, nil} {
		allocations := testing.AllocsPerRun(100, func() {
			ctx, span := tracer.Start(ctx, trace.Client, "tools/call", "form")
			span.Set("a", "b")
			span.SetInt("a", 1)
			span.Fail("x")
			_, inner := trace.Start(ctx, trace.Internal, "ask", "")
			inner.End()
			span.End()
			if trace.From(ctx) != nil || span.TellsModels() || string(span.InParams(nil)) != "" {
				t.Error("there is a span")
			}
		})
		if allocations > 0 {
			t.Errorf("it allocates %v times", allocations)
		}
	}
	if c.requests() > 0 {
		t.Error("something was sent")
	}
}

func TestTheContextGoesIntoMeta(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tracer, _ := tracer(&collector{})
		defer tracer.Close()
		parent := trace.Received(json.RawMessage(`{"_meta":{"traceparent":"00-` + traceID + `-` + spanID + `-01","tracestate":"a=1"}}`))
		_, span := tracer.StartUnder(t.Context(), parent, trace.Client, "tools/call", "form")
		_, first := tracer.Start(t.Context(), trace.Client, "tools/call", "form")
		for _, test := range []struct {
			name, params, want string
			span               *trace.Span
		}{
			{"of a host", `{"name":"x","_meta":{"traceparent":"other","tracestate":"b=2","baggage":"k=v","x":{"n":1.50}}}`, `{"_meta":{"baggage":"k=v","traceparent":"P","tracestate":"a=1","x":{"n":1.50}},"name":"x"}`, span},
			{"without a state", `{"_meta":{"tracestate":"b=2"}}`, `{"_meta":{"traceparent":"P"}}`, first},
			{"no meta", `{}`, `{"_meta":{"traceparent":"P"}}`, first},
			{"no object", `{"_meta":[1]}`, `{"_meta":{"traceparent":"P"}}`, first},
		} {
			got := strings.ReplaceAll(string(test.span.InParams(json.RawMessage(test.params))), test.span.Parent(), "P")
			if got != test.want {
				t.Errorf("%s: the params are %s, want %s", test.name, got, test.want)
			}
		}
	})
}

// end ends spans that nothing causes.
func end(t *testing.T, tracer *trace.Tracer, count int) {
	t.Helper()
	for range count {
		_, span := tracer.Start(t.Context(), trace.Internal, "ask", "")
		span.End()
	}
}

// While a collector takes nothing, the queue is bounded and no span waits. The log has one line about it, and the number of
// dropped spans.
func TestACollectorThatTakesNothing(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		answer func(*http.Request) (*http.Response, error)
		// lost are the spans that did not arrive of 3000, once it takes all.
		lost int
	}{
		{"down", func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") }, 3000 - 2048 - 512},
		{"overloaded", func(*http.Request) (*http.Response, error) {
			return says(http.StatusTooManyRequests, ""), nil
		}, 3000 - 2048 - 512},
		{"silent", func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}, 3000 - 2048 - 512},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := &collector{}
				var works bool
				var mu sync.Mutex
				c.answer = func(r *http.Request) (*http.Response, error) {
					mu.Lock()
					now := works
					mu.Unlock()
					if now {
						return says(http.StatusOK, "{}"), nil
					}
					return test.answer(r)
				}
				tracer, log := tracer(c)
				end(t, tracer, 512)
				synctest.Wait() // the first batch is under way
				end(t, tracer, 3000-512)
				time.Sleep(time.Hour)
				mu.Lock()
				works = true
				c.mu.Lock()
				c.bodies = nil
				c.mu.Unlock()
				mu.Unlock()
				time.Sleep(2 * time.Minute)
				if got := len(c.spans(t)); got != 3000-test.lost {
					t.Errorf("%d spans arrived, want %d", got, 3000-test.lost)
				}
				tracer.Close()
				if strings.Count(log.String(), "takes no traces") != 1 || !strings.Contains(log.String(), fmt.Sprintf(`"dropped":%d`, test.lost)) {
					t.Errorf("the log is\n%s", log)
				}
			})
		})
	}
}

func TestAHostileCollector(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		// response answers every request.
		response func() *http.Response
		dropped  int
	}{
		{"refuses", func() *http.Response { return says(http.StatusBadRequest, "") }, 1},
		{"sends elsewhere", func() *http.Response {
			r := says(http.StatusTemporaryRedirect, "")
			r.Header.Set("Location", "http://elsewhere/")
			return r
		}, 1},
		{"rejects a part", func() *http.Response { return says(http.StatusOK, `{"partialSuccess":{"rejectedSpans":"1"}}`) }, 1},
		{"rejects more than there are", func() *http.Response { return says(http.StatusOK, `{"partialSuccess":{"rejectedSpans":99999}}`) }, 1},
		{"rejects less than nothing", func() *http.Response { return says(http.StatusOK, `{"partialSuccess":{"rejectedSpans":-5}}`) }, 0},
		{"answers for ever", func() *http.Response {
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(&endless{t: t})}
		}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := &collector{answer: func(r *http.Request) (*http.Response, error) {
					if r.URL.Host != "collector" {
						t.Errorf("a request went to %s", r.URL)
						return says(http.StatusOK, "{}"), nil
					}
					return test.response(), nil
				}}
				tracer, log := tracer(c)
				end(t, tracer, 1)
				time.Sleep(time.Minute)
				tracer.Close()
				if c.requests() != 1 {
					t.Errorf("%d requests came", c.requests())
				}
				if test.dropped > 0 && !strings.Contains(log.String(), fmt.Sprintf(`"dropped":%d`, test.dropped)) || test.dropped == 0 && strings.Contains(log.String(), `"dropped":1`) {
					t.Errorf("the log is\n%s", log)
				}
				if strings.Contains(log.String(), "key-of-the-collector") {
					t.Errorf("the key is in the log:\n%s", log)
				}
			})
		})
	}
}

// endless is a body without an end. It fails the test if much of it is read.
type endless struct {
	t    *testing.T
	read int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.read += len(p); e.read > 1<<20 {
		e.t.Errorf("%d bytes of the answer were read", e.read)
		return 0, io.EOF
	}
	return len(p), nil
}

// The last spans are sent at the end, and a collector that does not answer holds up the end for a bounded time.
func TestTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &collector{}
		tracer, _ := tracer(c)
		end(t, tracer, 2)
		tracer.Close()
		if got := len(c.spans(t)); got != 2 {
			t.Errorf("%d spans arrived before the end, want 2", got)
		}
		end(t, tracer, 1)
		tracer.Set(destination()) // which comes too late
		if _, span := tracer.Start(t.Context(), trace.Internal, "ask", ""); span != nil {
			t.Error("a closed tracer traces")
		}
	})
	synctest.Test(t, func(t *testing.T) {
		c := &collector{answer: func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}}
		tracer, _ := tracer(c)
		end(t, tracer, 2000)
		began := time.Now()
		tracer.Close()
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("the end took %v", took)
		}
	})
}

func TestAnotherDestination(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &collector{}
		tracer, _ := tracer(c)
		defer tracer.Close()
		_, before := tracer.Start(t.Context(), trace.Internal, "ask", "")
		tracer.Set(destination()) // the same one
		if !tracer.IsOn() {
			t.Fatal("it is off")
		}
		tracer.Set(nil)
		if _, span := tracer.Start(t.Context(), trace.Internal, "ask", ""); span != nil {
			t.Error("it traces although it is off")
		}
		before.End() // of a destination that is gone
		time.Sleep(time.Minute)
		if c.requests() > 0 {
			t.Error("something was sent")
		}
	})
}

// Names are of servers and hosts: a span of them is bounded.
func TestASpanIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &collector{}
		tracer, _ := tracer(c)
		_, span := tracer.Start(t.Context(), trace.Internal, "tools/call", strings.Repeat("é", 1<<20))
		for i := range 1000 {
			span.Set(fmt.Sprint(i), strings.Repeat("x", 1<<10))
		}
		span.End()
		tracer.Close()
		got := c.spans(t)[0]
		if len(got.Name) > 256 || len(got.Attributes) != 32 || len(got.Attributes[0].Value.StringValue) != 256 || !strings.HasSuffix(got.Name, "é") {
			t.Errorf("the span has a name of %d bytes, %d attributes, the first of %d bytes", len(got.Name), len(got.Attributes), len(got.Attributes[0].Value.StringValue))
		}
	})
}
