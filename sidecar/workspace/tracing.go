package workspace

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"assent/protocol"
	"assent/sidecar/base/trace"
	"assent/sidecar/base/visible"
	"assent/sidecar/config"
	"assent/sidecar/gateway"
)

// traceTo has traces exported as the person's own file says; nil ends that.
func (w *Workspace) traceTo(t *config.Tracing) {
	if t == nil {
		w.tracer.Set(nil)
		return
	}
	w.tracer.Set(&trace.Destination{
		Name: t.Text(), Models: t.Models,
		Resolve: func(ctx context.Context) (*url.URL, http.Header, error) { return t.Endpoint(ctx, w.environment) },
	})
}

// traced returns the span that a host names as the cause of its request, if traces are exported.
func traced(t *trace.Tracer, params json.RawMessage) trace.Context {
	if !t.IsOn() {
		return trace.Context{}
	}
	return trace.Received(params)
}

// targetOf returns the name of what a call calls. The URI of a resource is none: it may have anything in it.
func targetOf(request protocol.CallRequest) string {
	switch r := request.(type) {
	case protocol.CallToolRequest:
		return r.ToolName
	case protocol.GetPromptRequest:
		return r.PromptName
	}
	return ""
}

// describe sets the attributes of a host's call.
func describe(span *trace.Span, r gateway.Request, taskID string, request protocol.CallRequest) {
	if span == nil {
		return
	}
	span.Set("mcp.method.name", r.Method)
	span.Set("gen_ai.conversation.id", taskID)
	span.Set("assent.server.name", r.Server)
	span.Set("assent.host.name", visible.Line(gateway.HostTitle(r.Client)))
	switch request.(type) {
	case protocol.CallToolRequest:
		span.Set("gen_ai.operation.name", "execute_tool")
		span.Set("gen_ai.tool.name", targetOf(request))
	case protocol.GetPromptRequest:
		span.Set("gen_ai.prompt.name", targetOf(request))
	}
}

// failed notes how a host's call failed, if it did.
func failed(span *trace.Span, raw json.RawMessage, result protocol.CallResult) {
	if span == nil {
		return
	}
	switch r := result.(type) {
	case nil:
		span.Result(raw)
	case protocol.CallError:
		code := strconv.FormatInt(r.Code, 10)
		span.Set("rpc.response.status_code", code)
		span.Fail(code)
	case protocol.CallCancelled:
		span.Fail("cancelled")
	default:
		span.Fail("_OTHER")
	}
}
