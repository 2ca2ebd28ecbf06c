package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// serverCommand makes this program an MCP server.
const serverCommand = "mcpserver"

// elicitTool asks n times, one after the other, and returns how long each answer took.
const elicitTool = "elicit"

type elicitInput struct {
	N int `json:"n"`
}

func serveMCP(ctx context.Context) error {
	server := mcp.NewServer(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: elicitTool}, elicit)
	mcp.AddTool(server, &mcp.Tool{Name: askTool}, askAll)
	mcp.AddTool(server, &mcp.Tool{Name: crowdTool}, crowd)
	mcp.AddTool(server, &mcp.Tool{Name: sampleTool}, sampleModel)
	return server.Run(ctx, &mcp.StdioTransport{})
}

var schema = json.RawMessage(`{"type":"object","properties":{"answer":{"type":"string","title":"Answer"}},"required":["answer"]}`)

func elicit(ctx context.Context, request *mcp.CallToolRequest, in elicitInput) (*mcp.CallToolResult, any, error) {
	took := make([]time.Duration, in.N)
	for i := range took {
		began := time.Now()
		result, err := request.Session.Elicit(ctx, &mcp.ElicitParams{Message: "?", RequestedSchema: schema})
		if err != nil {
			return nil, nil, err
		}
		took[i] = time.Since(began)
		if result.Action != "accept" {
			return nil, nil, fmt.Errorf("the answer was %s", result.Action)
		}
	}
	text, err := json.Marshal(took)
	if err != nil {
		return nil, nil, err
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}}, nil, nil
}

// crowdTool asks n times at once, each time something else, and returns how many of the answers were the question's
// own.
const crowdTool = "crowd"

func crowd(ctx context.Context, request *mcp.CallToolRequest, in elicitInput) (*mcp.CallToolResult, any, error) {
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

// sampleTool asks the model once, and returns how many bytes it wrote.
const sampleTool = "sample"

func sampleModel(ctx context.Context, request *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	result, err := request.Session.CreateMessage(ctx, &mcp.CreateMessageParams{
		MaxTokens: 1_000_000, Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "?"}}},
	})
	if err != nil {
		return nil, nil, err
	}
	text, ok := result.Content.(*mcp.TextContent)
	if !ok {
		return nil, nil, fmt.Errorf("the model answered %T", result.Content)
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: strconv.Itoa(len(text.Text))}}}, nil, nil
}

// durations reads what the tool returned, as microseconds.
func durations(text string) (sample, error) {
	var took []time.Duration
	if err := json.Unmarshal([]byte(text), &took); err != nil {
		return nil, fmt.Errorf("the tool returned %q", text)
	}
	out := make(sample, len(took))
	for i, d := range took {
		out[i] = float64(d) / float64(time.Microsecond)
	}
	return out, nil
}
