package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxWait bounds how long one step of count_slowly may take.
const maxWait = time.Minute

type countInput struct {
	N      int `json:"n" jsonschema:"how far to count, at most 1000"`
	WaitMS int `json:"waitMs,omitempty" jsonschema:"how many milliseconds to wait before each number"`
}

// countSlowly says how far it is before each wait, and ends early when the call is cancelled.
func countSlowly(ctx context.Context, request *mcp.CallToolRequest, in countInput) (*mcp.CallToolResult, any, error) {
	if in.N < 1 || in.N > 1000 {
		return nil, nil, fmt.Errorf("n is %d: it goes from 1 to 1000", in.N)
	}
	wait := min(time.Duration(max(in.WaitMS, 0))*time.Millisecond, maxWait)
	for i := range in.N {
		if token := request.Params.GetProgressToken(); token != nil {
			err := request.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: token,
				Progress:      float64(i),
				Total:         float64(in.N),
				Message:       fmt.Sprintf("counted to %d", i),
			})
			if err != nil {
				return nil, nil, err
			}
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
	return text(fmt.Sprintf("Counted to %d.", in.N)), nil, nil
}

const noteType = "text/markdown"

var days = []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}

// addNotes adds a resource, and the template of more.
func addNotes(server *mcp.Server) {
	server.AddResource(&mcp.Resource{
		URI:         "notes://today",
		Name:        "today",
		Title:       "Today's notes",
		Description: "What is to be done today.",
		MIMEType:    noteType,
		Size:        int64(len(noteOf("today"))),
	}, readNote)
	server.AddResourceTemplate(&mcp.ResourceTemplate{
		URITemplate: "notes://{day}",
		Name:        "notes",
		Title:       "Notes of a day",
		Description: "What is to be done on a day of the week.",
		MIMEType:    noteType,
	}, readNote)
}

func readNote(_ context.Context, request *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	uri := request.Params.URI
	day, _ := strings.CutPrefix(uri, "notes://")
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{
		{URI: uri, MIMEType: noteType, Text: noteOf(day)},
	}}, nil
}

func noteOf(day string) string {
	return fmt.Sprintf("# Notes of %s\n\n- Water the plants.\n", day)
}

var languages = []string{"go", "javascript", "python", "rust", "typescript"}

// addReview adds a prompt with an argument.
func addReview(server *mcp.Server) {
	server.AddPrompt(&mcp.Prompt{
		Name:        "review",
		Title:       "Review code",
		Description: "Asks for a review of code.",
		Arguments: []*mcp.PromptArgument{
			{Name: "language", Title: "Language", Description: "What the code is written in.", Required: true},
		},
	}, func(_ context.Context, request *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		ask := fmt.Sprintf("Review this code, as somebody who writes %s every day.", request.Params.Arguments["language"])
		return &mcp.GetPromptResult{
			Description: "A review of code.",
			Messages:    []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: ask}}},
		}, nil
	})
}

// complete proposes a prompt's languages and a template's days that begin with the typed text.
func complete(_ context.Context, request *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	known := map[string][]string{"language": languages, "day": days}
	values := []string{}
	for _, value := range known[request.Params.Argument.Name] {
		if strings.HasPrefix(value, strings.ToLower(request.Params.Argument.Value)) {
			values = append(values, value)
		}
	}
	return &mcp.CompleteResult{
		Completion: mcp.CompletionResultDetails{Values: values, Total: len(values)},
	}, nil
}
