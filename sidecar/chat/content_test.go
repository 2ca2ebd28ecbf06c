package chat

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/model"
)

func TestResultsForAModel(t *testing.T) {
	text := func(s string) []protocol.ContentBlock {
		return []protocol.ContentBlock{protocol.TextContent{Text: s}}
	}
	tests := []struct {
		name   string
		result protocol.CallResult
		want   string
		failed bool
	}{
		{"text", protocol.ToolResult{Content: text("hi")}, "hi", false},
		{"nothing", protocol.ToolResult{}, "[it returned nothing]", false},
		{"an error of the tool", protocol.ToolResult{Content: text("full"), IsError: true}, "full", true},
		{"structured content alone", protocol.ToolResult{StructuredContent: json.RawMessage(`{"a":1}`)}, `{"a":1}`, false},
		{"structured content beside its JSON", protocol.ToolResult{Content: text(`{"a": 1}`), StructuredContent: json.RawMessage(`{"a":1}`)}, `{"a": 1}`, false},
		{"structured content beside words", protocol.ToolResult{Content: text(`See:`), StructuredContent: json.RawMessage(`{"a":1}`)}, "See:|" + `{"a":1}`, false},
		{"a link", protocol.ToolResult{Content: []protocol.ContentBlock{protocol.ResourceLink{URI: "a:b", Name: "n\n n", Description: "d"}}}, "[a link to the resource a:b: n n, d]", false},
		{"a resource", protocol.ToolResult{Content: []protocol.ContentBlock{protocol.EmbeddedResource{Resource: protocol.ResourceContents{URI: "a:b", Text: "x"}}}}, "[the resource a:b]\nx", false},
		{"bytes", protocol.ToolResult{Content: []protocol.ContentBlock{protocol.EmbeddedResource{Resource: protocol.ResourceContents{URI: "a:b", MIMEType: "application/zip", Blob: "QQ=="}}}}, "[the resource a:b, of the type application/zip, which cannot be shown]", false},
		{"a sound", protocol.ToolResult{Content: []protocol.ContentBlock{protocol.AudioContent{MIMEType: "audio/wav"}}}, "[a sound of the type audio/wav, which cannot be played]", false},
		{"an image of another kind", protocol.ToolResult{Content: []protocol.ContentBlock{protocol.ImageContent{MIMEType: "image/svg+xml", Data: "QQ=="}}}, "[an image of the type image/svg+xml, which cannot be shown]", false},
		{"an image that is none", protocol.ToolResult{Content: []protocol.ContentBlock{protocol.ImageContent{MIMEType: "image/png", Data: "?"}}}, "[an image of the type image/png, which cannot be shown]", false},
		{"what is not known", protocol.ToolResult{Content: []protocol.ContentBlock{protocol.UnknownContent{}}}, "[content of a kind that cannot be shown]", false},
		{"an error of the server", protocol.CallError{Code: -32602, Message: "no such thing"}, "The server answered with the error -32602: no such thing", true},
		{"cancelled", protocol.CallCancelled{}, "The user cancelled the call.", true},
		{"given up", protocol.CallAbandoned{Reason: "You declined."}, "The call was abandoned: You declined.", true},
		{"lost", protocol.CallLost{Reason: "It died."}, "There is no result: It died.", true},
		{"removed", protocol.ToolResult{RemovedAfter: 30}, "The result was removed by the retention setting.", true},
		{"under way", nil, "The call has not ended yet.", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := resultOf("id", tt.result)
			var texts []string
			for _, block := range got.Content {
				texts = append(texts, block.(protocol.TextContent).Text)
			}
			if diff := cmp.Diff(tt.want, strings.Join(texts, "|")); diff != "" || got.IsError != tt.failed || got.ToolUseID != "id" {
				t.Errorf("it is told %+v (-want +got):\n%s", got, diff)
			}
		})
	}
}

// The first bytes of images, in base64.
const (
	pngData  = "iVBORw0KGgoAAAANSUhEUg=="
	jpegData = "/9j/4AAQSkZJRgABAQ=="
	gifData  = "R0lGODlhAQABAAAAACwAAAAA"
	webpData = "UklGRhoAAABXRUJQVlA4TA=="
)

// Providers refuse an image with another type than its bytes have, and every later message with it.
func TestAnImageHasTheTypeOfItsBytes(t *testing.T) {
	tests := []struct{ name, declared, data, want string }{
		{"another type", "image/jpeg", pngData, "image/png"},
		{"capitals and parameters", `Image/GIF; name="a"`, jpegData, "image/jpeg"},
		{"no type", "", gifData, "image/gif"},
		{"a type of no image", "application/octet-stream", webpData, "image/webp"},
		{"a page", "image/png", "PCFkb2N0eXBlIGh0bWw+", ""},
		{"the end is no base64", "image/png", pngData + "?", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, block := range []protocol.ContentBlock{
				protocol.ImageContent{MIMEType: tt.declared, Data: tt.data},
				protocol.EmbeddedResource{Resource: protocol.ResourceContents{URI: "a:b", MIMEType: tt.declared, Blob: tt.data}},
			} {
				got := resultOf("id", protocol.ToolResult{Content: []protocol.ContentBlock{block}}).Content[0]
				if tt.want == "" {
					if _, words := got.(protocol.TextContent); !words {
						t.Errorf("%T became %+v, want words", block, got)
					}
				} else if diff := cmp.Diff(protocol.ToolResultBlock(protocol.ImageContent{MIMEType: tt.want, Data: tt.data}), got); diff != "" {
					t.Errorf("%T (-want +got):\n%s", block, diff)
				}
			}
		})
	}
}

func TestALongResultIsCut(t *testing.T) {
	long := strings.Repeat("é", 80<<10)
	got := resultOf("id", protocol.ToolResult{Content: []protocol.ContentBlock{
		protocol.TextContent{Text: "é" + long}, protocol.TextContent{Text: long},
	}})
	var whole strings.Builder
	for _, block := range got.Content {
		text := block.(protocol.TextContent).Text
		if !utf8.ValidString(text) {
			t.Error("it is cut within a character")
		}
		whole.WriteString(text)
	}
	if len(whole.String()) > model.MaxResultText+100 || !strings.Contains(whole.String(), "[cut here: 102400 of 163842 bytes are shown]") {
		t.Errorf("%d bytes are sent, at the end %q", len(whole.String()), whole.String()[len(whole.String())-60:])
	}
	images := resultOf("id", protocol.ToolResult{Content: []protocol.ContentBlock{
		protocol.ImageContent{MIMEType: "image/png", Data: "iVBORw0KGgoA" + strings.Repeat("A", 3<<20)},
		protocol.ImageContent{MIMEType: "image/png", Data: "iVBORw0KGgoA" + strings.Repeat("A", 3<<20)},
	}})
	if _, ok := images.Content[1].(protocol.TextContent); !ok {
		t.Errorf("6 MiB of images are sent")
	}
}
