package workspace_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// toolServerName is what a test binary is called when it is an MCP server with tools for a model.
const toolServerName = "toolserver"

func playsTools() bool {
	return strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") == toolServerName
}

// installToolServer makes "toolserver" a program for the rest of the test, and returns its path.
func installToolServer(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), toolServerName)
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	if err := os.Symlink(self, program); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GORACE", "atexit_sleep_ms=0")
	return program
}

// serveTools is the server.
func serveTools() int {
	if mark := os.Getenv("TOOLSERVER_MARK"); mark != "" {
		if err := os.WriteFile(mark, nil, 0o600); err != nil {
			panic(err)
		}
	}
	server := mcp.NewServer(&mcp.Implementation{Name: toolServerName, Version: "1"}, nil)
	add := func(name string, annotations *mcp.ToolAnnotations, properties string, do func(context.Context, *mcp.CallToolRequest, map[string]any) *mcp.CallToolResult) {
		description := "The tool " + name
		if file := os.Getenv("TOOLSERVER_DESCRIPTION"); file != "" {
			text, err := os.ReadFile(file)
			if err != nil {
				panic(err)
			}
			description = string(text)
		}
		server.AddTool(&mcp.Tool{
			Name: name, Description: description, Annotations: annotations,
			InputSchema: json.RawMessage(`{"type":"object","properties":` + properties + `}`),
		}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var arguments map[string]any
			if err := json.Unmarshal(r.Params.Arguments, &arguments); err != nil {
				return nil, err
			}
			if file := os.Getenv("TOOLSERVER_CALLS"); file != "" {
				if err := os.WriteFile(file, nil, 0o600); err != nil {
					return nil, err
				}
			}
			return do(ctx, r, arguments), nil
		})
	}
	text := func(format string, args ...any) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, args...)}}}
	}
	yes := true
	add("echo", &mcp.ToolAnnotations{ReadOnlyHint: true}, `{"text":{"type":"string"}}`, func(_ context.Context, _ *mcp.CallToolRequest, a map[string]any) *mcp.CallToolResult {
		return text("echo: %v", a["text"])
	})
	add("wipe", &mcp.ToolAnnotations{DestructiveHint: &yes}, `{}`, func(context.Context, *mcp.CallToolRequest, map[string]any) *mcp.CallToolResult {
		return text("wiped")
	})
	add("liar", &mcp.ToolAnnotations{ReadOnlyHint: true, DestructiveHint: &yes}, `{}`, func(context.Context, *mcp.CallToolRequest, map[string]any) *mcp.CallToolResult {
		return text("done")
	})
	add("slow", nil, `{}`, func(ctx context.Context, _ *mcp.CallToolRequest, _ map[string]any) *mcp.CallToolResult {
		<-ctx.Done()
		return text("too late")
	})
	add("big", nil, `{"bytes":{"type":"integer"}}`, func(_ context.Context, _ *mcp.CallToolRequest, a map[string]any) *mcp.CallToolResult {
		bytes, _ := a["bytes"].(float64)
		return text("%s", strings.Repeat("x", int(bytes)))
	})
	add("fail", nil, `{}`, func(context.Context, *mcp.CallToolRequest, map[string]any) *mcp.CallToolResult {
		failed := text("the disk is full")
		failed.IsError = true
		return failed
	})
	add("look", nil, `{}`, func(context.Context, *mcp.CallToolRequest, map[string]any) *mcp.CallToolResult {
		return &mcp.CallToolResult{
			Content: []mcp.Content{
				&mcp.ImageContent{MIMEType: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")},
				&mcp.ResourceLink{URI: "memo://note", Name: "The note"},
			},
			StructuredContent: map[string]any{"seen": 1},
		}
	})
	add("ask", nil, `{}`, func(_ context.Context, r *mcp.CallToolRequest, _ map[string]any) *mcp.CallToolResult {
		if len(r.Params.InputResponses) == 0 {
			return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"name": &mcp.ElicitParams{
				Message: "Who?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`),
			}}}
		}
		answer, err := json.Marshal(r.Params.InputResponses)
		if err != nil {
			return text("%v", err)
		}
		return text("%s", answer)
	})
	server.AddResource(&mcp.Resource{URI: "memo://note", Name: "note", MIMEType: "text/plain"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "memo://note", MIMEType: "text/plain", Text: "Buy milk."}}}, nil
	})
	if os.Getenv("TOOLSERVER_APP") != "" {
		addApp(server)
	}
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// addApp adds a tool with an app, and one for the app alone and one for models alone.
func addApp(server *mcp.Server) {
	add := func(name string, ui map[string]any, result *mcp.CallToolResult) {
		server.AddTool(&mcp.Tool{
			Name: name, Meta: mcp.Meta{"ui": ui}, InputSchema: json.RawMessage(`{"type":"object"}`),
		}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return result, nil })
	}
	text := []mcp.Content{&mcp.TextContent{Text: "3 seats"}}
	add("view", map[string]any{"resourceUri": "ui://t/view"}, &mcp.CallToolResult{Content: text})
	add("refresh", map[string]any{"visibility": []string{"app"}}, &mcp.CallToolResult{Content: text, Meta: mcp.Meta{"fresh": true}})
	add("secret", map[string]any{"visibility": []string{"model"}}, &mcp.CallToolResult{Content: text})
	server.AddTool(&mcp.Tool{Name: "book", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if len(r.Params.InputResponses) == 0 {
			return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"seat": &mcp.ElicitParams{
				Meta: mcp.Meta{"ui": map[string]any{"resourceUri": "ui://t/view"}, "t/free": []string{"3A"}}, Message: "Which seat?",
				RequestedSchema: json.RawMessage(`{"type":"object","properties":{"seat":{"type":"string"}},"required":["seat"]}`),
			}}}, nil
		}
		answer, err := json.Marshal(r.Params.InputResponses)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(answer)}}}, err
	})
	kind := os.Getenv("TOOLSERVER_PAGE")
	if kind == "none" {
		return
	}
	ui := map[string]any{"prefersBorder": true}
	if domains := os.Getenv("TOOLSERVER_DOMAINS"); domains != "" {
		ui["csp"] = map[string]any{"connectDomains": json.RawMessage(domains)}
	}
	reads := 0
	server.AddResource(&mcp.Resource{URI: "ui://t/view", Name: "view"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		reads++
		page := &mcp.ResourceContents{
			URI: "ui://t/view", MIMEType: "text/html;profile=mcp-app", Text: fmt.Sprintf("<title>seats %d</title>", reads), Meta: mcp.Meta{"ui": ui},
		}
		if kind == "plain" {
			page.MIMEType = "text/html"
		}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{page}}, nil
	})
}
