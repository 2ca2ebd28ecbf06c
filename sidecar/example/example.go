// Package example is the MCP server that is included in Assent, so that a person can see a server's questions before
// they have a server or a model of their own. It has one tool, which asks the person for a form (elicitation) and then
// a model for a text (sampling). It needs no network, stores nothing, and touches no file. It speaks every MCP revision
// that go-sdk does: its questions are input requests of 2026-07-28, which go-sdk sends to older clients as requests.
package example

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Command is the argument with which Assent's own program runs this server.
const Command = "example-server"

// The keys of the tool's requests.
const (
	keyLunch      = "lunch"
	keyInvitation = "invitation"
)

// lunchForm is written as JSON because the order of its properties is the order of the form.
var lunchForm = json.RawMessage(`{
	"type": "object",
	"properties": {
		"food": {"type": "string", "title": "Food", "oneOf": [
			{"const": "pizza", "title": "Pizza"},
			{"const": "noodle soup", "title": "Noodle soup"},
			{"const": "salad", "title": "Salad"}
		], "default": "pizza"},
		"guests": {"type": "integer", "title": "Guests", "minimum": 1, "maximum": 12, "default": 4},
		"note": {"type": "string", "title": "Anything else?", "description": "For example the place and the time.", "maxLength": 200}
	},
	"required": ["food", "guests"]
}`)

// lunch is a filled-in form. It is also the state that the client keeps for the server between two rounds of a call.
type lunch struct {
	Food   string `json:"food"`
	Guests int    `json:"guests"`
	Note   string `json:"note"`
}

// Serve runs the server on stdin and stdout, until stdin or ctx ends.
func Serve(ctx context.Context, version string) error {
	server := mcp.NewServer(&mcp.Implementation{Name: "assent-example", Title: "Assent's example server", Version: version}, nil)
	server.AddTool(&mcp.Tool{
		Name:        "plan_lunch",
		Title:       "Plan a lunch",
		Description: "Asks you for the food and the number of guests (elicitation), then a model for the text of an invitation (sampling).",
		InputSchema: json.RawMessage(`{"type": "object"}`),
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: new(false)},
	}, planLunch)
	return server.Run(ctx, &mcp.StdioTransport{})
}

// planLunch is called up to three times for one call, each time with the answers to its last requests (2026-07-28,
// "Multi Round-Trip Requests").
func planLunch(_ context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	responses := request.Params.InputResponses
	if answer, ok := responses[keyInvitation]; ok {
		return invited(request.Params.RequestState, answer)
	}
	answer, ok := responses[keyLunch].(*mcp.ElicitResult)
	if !ok {
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{keyLunch: &mcp.ElicitParams{
			Message:         "What should the lunch be like?",
			RequestedSchema: lunchForm,
		}}}, nil
	}
	switch answer.Action {
	case "accept":
	case "decline":
		return said("You declined, so no lunch is planned."), nil
	default:
		return said("You did not answer, so no lunch is planned."), nil
	}
	state, err := json.Marshal(answer.Content)
	if err != nil {
		return nil, fmt.Errorf("keep the form: %w", err)
	}
	plan, err := planOf(string(state))
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{RequestState: string(state), InputRequests: mcp.InputRequestMap{keyInvitation: &mcp.CreateMessageParams{
		SystemPrompt: "You write short, friendly messages.",
		Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: fmt.Sprintf(
			"Write an invitation to a lunch, in at most three sentences.\n\nFood: %s\nGuests: %d\nNote: %s", plan.Food, plan.Guests, cmp.Or(plan.Note, "none"),
		)}}},
		MaxTokens: 200,
	}}}, nil
}

// invited returns the result of the call, with the model's answer.
func invited(state string, answer mcp.InputResponse) (*mcp.CallToolResult, error) {
	plan, err := planOf(state)
	if err != nil {
		return nil, err
	}
	var content []mcp.Content
	// go-sdk decodes every answer of 2026-07-28 as a result with tools, and those of older clients as the requested
	// type.
	switch result := answer.(type) {
	case *mcp.CreateMessageWithToolsResult:
		content = result.Content
	case *mcp.CreateMessageResult:
		content = []mcp.Content{result.Content}
	default:
		return nil, fmt.Errorf("the answer to %q is %T", keyInvitation, answer)
	}
	var text strings.Builder
	for _, block := range content {
		if block, ok := block.(*mcp.TextContent); ok {
			text.WriteString(block.Text)
		}
	}
	return said(fmt.Sprintf("Lunch: %s for %d.\n\n%s", plan.Food, plan.Guests, text.String())), nil
}

func planOf(state string) (lunch, error) {
	var plan lunch
	if err := json.Unmarshal([]byte(state), &plan); err != nil {
		return lunch{}, fmt.Errorf("read the form: %w", err)
	}
	return plan, nil
}

func said(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}
