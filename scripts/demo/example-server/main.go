// Command example-server is an example MCP server on go-sdk, over stdio. Its tools ask the person
// (elicitation) and the model (sampling), and one takes its time; besides there are notes to read
// (resources) and a prompt, both with completion. It speaks every revision of MCP that go-sdk does: what
// it asks are input requests of 2026-07-28, and go-sdk sends them to older clients as requests.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	server := mcp.NewServer(
		&mcp.Implementation{Name: "example-server", Version: "1.0.0"},
		&mcp.ServerOptions{CompletionHandler: complete},
	)
	mcp.AddTool(server, &mcp.Tool{
		Name:        "plan_trip",
		Title:       "Plan a trip",
		Description: "Asks you for everything that a trip needs: one field of every kind (elicitation).",
	}, planTrip)
	mcp.AddTool(server, &mcp.Tool{
		Name:        "summarize",
		Title:       "Summarize a text",
		Description: "Asks the model for a summary, with a system prompt (sampling).",
	}, summarize)
	mcp.AddTool(server, &mcp.Tool{
		Name:        "two_questions",
		Title:       "Ask two things at once",
		Description: "Asks you for a name and the model for a greeting, both at once (elicitation and sampling).",
	}, twoQuestions)
	mcp.AddTool(server, &mcp.Tool{
		Name:        "count_slowly",
		Title:       "Count slowly",
		Description: "Counts, and says how far it is (progress). It can be cancelled.",
	}, countSlowly)
	addNotes(server)
	addReview(server)
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, "example-server:", err)
		os.Exit(1)
	}
}

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}
