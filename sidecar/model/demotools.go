package model

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"assent/protocol"
)

// mostDemoCalls is how many tools the script calls at once: several, to show concurrent calls.
const mostDemoCalls = 2

// demoCalls returns the script's calls if no tool matches the request but the request requires one: of the
// first tools, once per conversation, and never of a tool whose name says that it deletes.
func demoCalls(request *protocol.McpSamplingRequest) []protocol.ToolUseContent {
	if toolMode(request) != protocol.ToolChoiceRequired || len(toolResults(request)) > 0 {
		return nil
	}
	var calls []protocol.ToolUseContent
	for _, tool := range request.Tools {
		if verb, _ := wordsOfTool(tool.Name); verb == verbDelete || verb == verbUndo {
			continue
		}
		calls = append(calls, protocol.ToolUseContent{ID: fmt.Sprintf("demo_%d", len(calls)+1), Name: tool.Name, Input: demoInput(tool.InputSchema, nil)})
		if len(calls) == mostDemoCalls {
			break
		}
	}
	return calls
}

// toolResults returns the results in the newest message.
func toolResults(request *protocol.McpSamplingRequest) []protocol.ToolResultContent {
	if len(request.Messages) == 0 {
		return nil
	}
	var results []protocol.ToolResultContent
	for _, block := range request.Messages[len(request.Messages)-1].Content {
		if result, ok := block.(protocol.ToolResultContent); ok {
			results = append(results, result)
		}
	}
	return results
}

// demoResults repeats the tools' results.
func demoResults(results []protocol.ToolResultContent) string {
	var said []string
	for _, result := range results {
		for _, block := range result.Content {
			if text, ok := block.(protocol.TextContent); ok {
				said = append(said, quote(text.Text))
			}
		}
	}
	return "This is where a language model would make something of what the tools said: " + cmp.Or(strings.Join(said, ", "), "nothing") + "."
}

// demoInput fills in the required members of a schema: with the last value of that name, or else with
// values that are usually valid.
func demoInput(schema json.RawMessage, said func(name string) json.RawMessage) json.RawMessage {
	type property struct {
		Type    string            `json:"type"`
		Default json.RawMessage   `json:"default"`
		Enum    []json.RawMessage `json:"enum"`
	}
	var object struct {
		Properties map[string]property `json:"properties"`
		Required   []string            `json:"required"`
	}
	if json.Unmarshal(schema, &object) != nil {
		return json.RawMessage(`{}`)
	}
	byType := map[string]string{"string": `"demo"`, "number": "1", "integer": "1", "boolean": "true", "array": "[]", "object": "{}"}
	input := map[string]json.RawMessage{}
	for _, name := range object.Required {
		p := object.Properties[name]
		var known json.RawMessage
		if said != nil {
			known = said(name)
		}
		switch {
		case known != nil:
			input[name] = known
		case p.Default != nil:
			input[name] = p.Default
		case len(p.Enum) > 0:
			input[name] = p.Enum[0]
		default:
			input[name] = json.RawMessage(cmp.Or(byType[p.Type], `"demo"`))
		}
	}
	raw, err := json.Marshal(input)
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return raw
}
