package hub

import (
	"encoding/json"

	"assent/protocol"
	"assent/sidecar/broker/form"
)

// checked adds to the result of a tool what a front end needs to show the structured content. It also adds the
// mismatches between the content and the tool's schema (2025-06-18, "Tools: Output Schema"). It takes the schema from
// the list that was last read, and sends no request.
func (s *server) checked(toolName string, result protocol.CallResult) protocol.CallResult {
	r, ok := result.(protocol.ToolResult)
	if !ok {
		return result
	}
	schema := s.outputSchema(toolName)
	if len(r.StructuredContent) == 0 {
		if schema != nil && !r.IsError {
			r.Mismatches = []string{"The result has no structured content, which the tool declares."}
		}
		return r
	}
	if schema != nil && !r.IsError {
		r.Mismatches = form.Mismatches(schema, r.StructuredContent)
	}
	if !form.IsExact(r.StructuredContent) {
		r.StructuredText = string(r.StructuredContent)
	}
	var texts []string
	var places []int
	for place, block := range r.Content {
		if text, ok := block.(protocol.TextContent); ok {
			texts, places = append(texts, text.Text), append(places, place)
		}
	}
	for _, i := range form.Repeated(r.StructuredContent, texts) {
		r.Repeats = append(r.Repeats, places[i])
	}
	return r
}

// outputSchema returns the schema that a tool declares for its results, or nil if it declares none or is not known.
func (s *server) outputSchema(toolName string) json.RawMessage {
	var tool struct {
		OutputSchema json.RawMessage `json:"outputSchema"`
	}
	raw := s.lists.tool(toolName)
	if raw == nil || json.Unmarshal(raw, &tool) != nil || string(tool.OutputSchema) == "null" {
		return nil
	}
	return tool.OutputSchema
}
