package main

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// serverCommand makes this program an MCP server.
const serverCommand = "mcpserver"

// crowdInput is what crowdTool takes.
type crowdInput struct {
	N int `json:"n"`
}

func serveMCP(ctx context.Context) error {
	server := mcp.NewServer(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: askTool}, askAll)
	mcp.AddTool(server, &mcp.Tool{Name: crowdTool}, crowd)
	return server.Run(ctx, &mcp.StdioTransport{})
}

var schema = json.RawMessage(`{"type":"object","properties":{"answer":{"type":"string","title":"Answer"}},"required":["answer"]}`)

// crowdTool asks n times at once, each time something else, and returns how many of the answers were the question's
// own.
const crowdTool = "crowd"

func crowd(ctx context.Context, request *mcp.CallToolRequest, in crowdInput) (*mcp.CallToolResult, any, error) {
	var asks sync.WaitGroup
	var right atomic.Int64
	for i := range in.N {
		asks.Go(func() {
			question := strconv.Itoa(i)
			result, err := request.Session.Elicit(ctx, &mcp.ElicitParams{Message: question, RequestedSchema: schema})
			if err == nil && result.Action == "accept" && result.Content["answer"] == question {
				right.Add(1)
			}
		})
	}
	asks.Wait()
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: strconv.FormatInt(right.Load(), 10)}}}, nil, nil
}
