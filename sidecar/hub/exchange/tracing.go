package exchange

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/protocol"
	"assent/sidecar/base/trace"
	"assent/sidecar/broker/attribution"
)

// traced starts the span of an exchange. One span is for all its rounds.
func (s *Exchanges) traced(ctx context.Context, r *request) (context.Context, *trace.Span) {
	if !s.opts.Tracer.IsOn() {
		return ctx, nil
	}
	method, target := "tools/call", r.toolName
	switch {
	case r.resourceURI != "":
		method = "resources/read" // the URI may have anything in it
	case r.promptName != "":
		method, target = "prompts/get", r.promptName
	}
	ctx, span := s.opts.Tracer.Start(ctx, trace.Client, method, target)
	s.describe(span, method, r.taskID)
	switch method {
	case "tools/call":
		span.Set("gen_ai.operation.name", "execute_tool")
		span.Set("gen_ai.tool.name", target)
	case "prompts/get":
		span.Set("gen_ai.prompt.name", target)
	}
	return ctx, span
}

// describe sets the attributes that the spans of all requests have (OpenTelemetry, "Semantic conventions for Model Context
// Protocol").
func (s *Exchanges) describe(span *trace.Span, method, taskID string) {
	span.Set("mcp.method.name", method)
	span.Set("gen_ai.conversation.id", taskID)
	span.Set("assent.server.name", s.name())
	if s.session.Config().Transport == protocol.TransportStdio {
		span.Set("network.transport", "pipe")
	} else {
		span.Set("network.transport", "tcp")
	}
}

// tracedRequest starts the span of a request of the server. Its parent is the call that the request belongs to, or the span that
// the server names, if that is of the same trace. A server cannot move a call into another trace.
func (s *Exchanges) tracedRequest(ctx context.Context, r *attribution.Request) (context.Context, *trace.Span) {
	if !s.opts.Tracer.IsOn() {
		return ctx, nil
	}
	parent := r.Cause.Identity()
	if !parent.IsValid() || r.Traced.TraceID == parent.TraceID {
		parent = r.Traced
	}
	ctx, span := s.opts.Tracer.StartUnder(ctx, parent, trace.Server, r.Method, "")
	if r.Traced != parent {
		span.Link(r.Traced)
	}
	taskID := ""
	if r.Task != nil {
		taskID = r.Task.ID()
	}
	s.describe(span, r.Method, taskID)
	return ctx, span
}

// endSpan ends the span of a request with its result, or with the error.
func endSpan(ctx context.Context, span *trace.Span, result json.RawMessage, err error) {
	if span == nil {
		return
	}
	defer span.End()
	var rpc *jsonrpc.Error
	switch {
	case errors.As(err, &rpc):
		code := strconv.FormatInt(rpc.Code, 10)
		span.Set("rpc.response.status_code", code)
		span.Fail(code)
	case err != nil && (ctx.Err() != nil || attribution.WasCancelled(err)):
		span.Fail("cancelled")
	case errors.Is(err, errGoesOn):
	case err != nil:
		span.Fail("_OTHER")
	default:
		span.Result(result)
	}
}
