package broker

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"assent/protocol"
	"assent/sidecar/broker/attribution"
	"assent/sidecar/model"
)

// The values of includeContext that add context (2025-11-25, CreateMessageRequest.includeContext). All
// others mean "none".
const (
	includeThisServer = "thisServer"
	includeAllServers = "allServers"
)

// maxContext bounds the added context, in bytes.
const maxContext = 32 << 10

// conversation returns the context that a server asks for: the results of the named servers in the
// conversation. It returns nil if there are none.
func conversation(ctx context.Context, t attribution.Task, serverName, include string) (*protocol.SamplingContext, error) {
	if include != includeThisServer && include != includeAllServers {
		return nil, nil
	}
	calls, err := t.LastCalls(ctx)
	if err != nil {
		return nil, err
	}
	found := &protocol.SamplingContext{}
	var parts []string
	size := 0
	for _, call := range slices.Backward(calls) { // the newest are the most important
		if include == includeThisServer && call.ServerName != serverName {
			continue
		}
		part := describe(call)
		if part == "" {
			continue
		}
		if size += len(part); size > maxContext {
			found.Omitted++
			continue
		}
		parts = append(parts, part)
		if !slices.Contains(found.ServerNames, call.ServerName) {
			found.ServerNames = append(found.ServerNames, call.ServerName)
		}
	}
	if len(parts) == 0 {
		return nil, nil
	}
	slices.Reverse(parts)
	slices.Sort(found.ServerNames)
	found.Text = "What MCP servers returned earlier in this conversation:\n\n" + strings.Join(parts, "\n\n")
	return found, nil
}

// describe returns the request and the result of a call as a text, or "" if the result has no text.
func describe(call protocol.Call) string {
	var got []string
	switch result := call.Result.(type) {
	case protocol.ToolResult:
		for _, block := range result.Content {
			got = slices.AppendSeq(got, model.BlockTexts(block))
		}
		if len(got) == 0 && len(result.StructuredContent) > 0 {
			got = append(got, string(result.StructuredContent))
		}
	case protocol.PromptResult:
		for _, m := range result.Messages {
			got = slices.AppendSeq(got, model.BlockTexts(m.Content))
		}
	}
	got = slices.DeleteFunc(got, func(text string) bool { return strings.TrimSpace(text) == "" })
	if len(got) == 0 {
		return ""
	}
	return "[" + call.ServerName + ": " + subject(call.Request) + "]\n" + strings.Join(got, "\n")
}

func subject(request protocol.CallRequest) string {
	switch r := request.(type) {
	case protocol.CallToolRequest:
		if len(r.Arguments) == 0 || string(r.Arguments) == "{}" {
			return r.ToolName
		}
		return r.ToolName + " " + string(r.Arguments)
	case protocol.ReadResourceRequest:
		return r.URI
	case protocol.GetPromptRequest:
		arguments, err := json.Marshal(r.Arguments)
		if err != nil || len(r.Arguments) == 0 {
			return r.PromptName
		}
		return r.PromptName + " " + string(arguments)
	default:
		return ""
	}
}

// withContext returns the request with the context before its conversation.
func withContext(request *protocol.McpSamplingRequest, added *protocol.SamplingContext) *protocol.McpSamplingRequest {
	with := *request
	with.Messages = append([]protocol.SamplingMessage{{
		Role: protocol.RoleUser, Content: []protocol.ContentBlock{protocol.TextContent{Text: added.Text}},
	}}, request.Messages...)
	return &with
}
