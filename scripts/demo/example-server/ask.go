package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// tripForm has one field of every kind that MCP allows. It is written as JSON because the order of
// its properties is the order of the form.
var tripForm = json.RawMessage(`{
	"type": "object",
	"properties": {
		"traveller": {"type": "string", "title": "Name", "minLength": 1, "maxLength": 80},
		"email": {"type": "string", "title": "E-mail", "format": "email"},
		"homepage": {"type": "string", "title": "Homepage", "format": "uri"},
		"departure": {"type": "string", "title": "Departure", "format": "date"},
		"meeting": {"type": "string", "title": "Meeting point opens", "format": "date-time"},
		"travellers": {"type": "integer", "title": "Travellers", "minimum": 1, "maximum": 9, "default": 1},
		"budget": {"type": "number", "title": "Budget", "description": "In euros.", "minimum": 0},
		"class": {"type": "string", "title": "Class", "oneOf": [
			{"const": "second", "title": "Second class"},
			{"const": "first", "title": "First class"}
		], "default": "second"},
		"extras": {"type": "array", "title": "Extras", "maxItems": 2, "items": {"anyOf": [
			{"const": "bike", "title": "A place for a bicycle"},
			{"const": "quiet", "title": "The quiet coach"},
			{"const": "meal", "title": "A meal"}
		]}},
		"insured": {"type": "boolean", "title": "With insurance", "default": false}
	},
	"required": ["traveller", "departure", "travellers"]
}`)

type tripInput struct {
	Destination string `json:"destination" jsonschema:"where the trip goes"`
}

func planTrip(_ context.Context, request *mcp.CallToolRequest, in tripInput) (*mcp.CallToolResult, any, error) {
	if len(request.Params.InputResponses) == 0 {
		return needs(mcp.InputRequestMap{"trip": &mcp.ElicitParams{
			Message:         fmt.Sprintf("A few questions about your trip to %s.", in.Destination),
			RequestedSchema: tripForm,
		}}), nil, nil
	}
	answer, err := filledIn(request, "trip")
	if err != nil {
		return nil, nil, err
	}
	content, err := json.Marshal(answer.Content)
	if err != nil {
		return nil, nil, err
	}
	return text(fmt.Sprintf("%s: %s", answer.Action, content)), nil, nil
}

type summarizeInput struct {
	Text string `json:"text" jsonschema:"what to summarize"`
}

func summarize(_ context.Context, request *mcp.CallToolRequest, in summarizeInput) (*mcp.CallToolResult, any, error) {
	if len(request.Params.InputResponses) == 0 {
		return needs(mcp.InputRequestMap{"summary": &mcp.CreateMessageParams{
			SystemPrompt: "You summarize in one sentence.",
			Messages:     []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: in.Text}}},
			MaxTokens:    100,
		}}), nil, nil
	}
	written, model, err := written(request, "summary")
	if err != nil {
		return nil, nil, err
	}
	return text(fmt.Sprintf("%s (by %s)", written, model)), nil, nil
}

func twoQuestions(_ context.Context, request *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	if len(request.Params.InputResponses) == 0 {
		return needs(mcp.InputRequestMap{
			"name": &mcp.ElicitParams{
				Message: "Who shall be greeted?",
				RequestedSchema: json.RawMessage(
					`{"type": "object", "properties": {"name": {"type": "string", "title": "Name"}}, "required": ["name"]}`),
			},
			"greeting": &mcp.CreateMessageParams{
				Messages:  []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "Write a greeting."}}},
				MaxTokens: 50,
			},
		}), nil, nil
	}
	name, err := filledIn(request, "name")
	if err != nil {
		return nil, nil, err
	}
	greeting, _, err := written(request, "greeting")
	if err != nil {
		return nil, nil, err
	}
	return text(fmt.Sprintf("%s: %v: %s", name.Action, name.Content["name"], greeting)), nil, nil
}

// needs says what a call needs before it can go on (2026-07-28, "Multi Round-Trip Requests"). The call
// comes again, with an answer under each key.
func needs(requests mcp.InputRequestMap) *mcp.CallToolResult {
	return &mcp.CallToolResult{InputRequests: requests}
}

// filledIn returns what became of the form under a key of [needs].
func filledIn(request *mcp.CallToolRequest, key string) (*mcp.ElicitResult, error) {
	answer, ok := request.Params.InputResponses[key].(*mcp.ElicitResult)
	if !ok {
		return nil, fmt.Errorf("the answer to %q is %T", key, request.Params.InputResponses[key])
	}
	return answer, nil
}

// written returns what the model wrote under a key of [needs], and the model's name.
func written(request *mcp.CallToolRequest, key string) (answer, model string, err error) {
	var content []mcp.Content
	// go-sdk decodes every answer of 2026-07-28 as a result with tools, and those of older clients as
	// the requested type.
	switch result := request.Params.InputResponses[key].(type) {
	case *mcp.CreateMessageWithToolsResult:
		content, model = result.Content, result.Model
	case *mcp.CreateMessageResult:
		content, model = []mcp.Content{result.Content}, result.Model
	default:
		return "", "", fmt.Errorf("the answer to %q is %T", key, result)
	}
	for _, block := range content {
		text, ok := block.(*mcp.TextContent)
		if !ok {
			return "", "", fmt.Errorf("the model answered with %T", block)
		}
		answer += text.Text
	}
	return answer, model, nil
}
