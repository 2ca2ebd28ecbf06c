// Command example-server is an example MCP server on go-sdk. Its tools ask the person to confirm
// (elicitation with every kind of field) and the model to summarise (sampling with a system prompt);
// each returns what it got, as text.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: "example-server", Version: "1.0.0"}, nil)
	mcp.AddTool(server, &mcp.Tool{
		Name:        "plan_trip",
		Title:       "Plan a trip",
		Description: "Asks you for everything that a trip needs: one field of every kind (elicitation).",
	}, planTrip)
	mcp.AddTool(server, &mcp.Tool{
		Name:        "summarize",
		Title:       "Summarize a text",
		Description: "Asks the model for a summary, with a system prompt and a temperature of 0 (sampling).",
	}, summarize)
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, "example-server:", err)
		os.Exit(1)
	}
}

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

func planTrip(ctx context.Context, request *mcp.CallToolRequest, in tripInput) (*mcp.CallToolResult, any, error) {
	result, err := request.Session.Elicit(ctx, &mcp.ElicitParams{
		Message:         fmt.Sprintf("A few questions about your trip to %s.", in.Destination),
		RequestedSchema: tripForm,
	})
	if err != nil {
		return nil, nil, err
	}
	content, err := json.Marshal(result.Content)
	if err != nil {
		return nil, nil, err
	}
	return text(fmt.Sprintf("%s: %s", result.Action, content)), nil, nil
}

type summarizeInput struct {
	Text string `json:"text" jsonschema:"what to summarize"`
}

func summarize(ctx context.Context, request *mcp.CallToolRequest, in summarizeInput) (*mcp.CallToolResult, any, error) {
	result, err := request.Session.CreateMessage(ctx, &mcp.CreateMessageParams{
		SystemPrompt: "You summarize in one sentence.",
		Messages:     []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: in.Text}}},
		MaxTokens:    100,
	})
	if err != nil {
		return nil, nil, err
	}
	content, ok := result.Content.(*mcp.TextContent)
	if !ok {
		return nil, nil, fmt.Errorf("the model answered with %T", result.Content)
	}
	return text(fmt.Sprintf("%s (by %s)", content.Text, result.Model)), nil, nil
}

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}
