package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sync/errgroup"
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

// crowdTool asks n times at once.
const crowdTool = "crowd"

func crowd(ctx context.Context, request *mcp.CallToolRequest, in elicitInput) (*mcp.CallToolResult, any, error) {
	asks, ctx := errgroup.WithContext(ctx)
	for range in.N {
		asks.Go(func() error {
			_, err := request.Session.Elicit(ctx, &mcp.ElicitParams{Message: "?", RequestedSchema: schema})
			return err
		})
	}
	return &mcp.CallToolResult{}, nil, asks.Wait()
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

// bareClient runs the tool with a client of go-sdk alone, whose handler answers at once: the floor.
func (b *bench) bareClient() (sample, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "bare", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "x"}}, nil
		},
	})
	session, err := client.Connect(b.ctx, &mcp.CommandTransport{Command: b.command(b.self, serverCommand)},
		&mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		return nil, err
	}
	defer session.Close()
	result, err := session.CallTool(b.ctx, &mcp.CallToolParams{Name: elicitTool, Arguments: elicitInput{b.asks}})
	if err != nil {
		return nil, err
	}
	text, ok := result.Content[0].(*mcp.TextContent)
	if !ok || result.IsError {
		return nil, fmt.Errorf("the bare client got %+v", result.Content[0])
	}
	return durations(text.Text)
}
