package model_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/model"
)

// provider records the request that a provider gets, and calls tools.
type provider struct {
	got  *protocol.McpSamplingRequest
	uses []string
}

func (p *provider) Models(context.Context) ([]protocol.Model, error) { return nil, nil }

func (p *provider) Generate(_ context.Context, _ string, request *protocol.McpSamplingRequest, _ func(string)) (*model.Completion, error) {
	p.got = request
	c := &model.Completion{Text: "Done."}
	for _, name := range p.uses {
		c.ToolUses = append(c.ToolUses, protocol.ToolUseContent{ID: name, Name: name, Input: json.RawMessage("{}")})
	}
	return c, nil
}

func (p *provider) generate(t *testing.T, request *protocol.McpSamplingRequest) *model.Completion {
	t.Helper()
	set := model.NewSet(map[protocol.ModelProvider]model.Provider{protocol.ProviderOpenAI: p}, protocol.ModelSettings{}, model.DefaultTimeout)
	c, err := set.Generate(t.Context(), "openai:m", request, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const pngData = "iVBORw0KGgoAAAANSUhEUg=="

func TestWhatAToolReturnedReachesEveryProviderAsTextAndImages(t *testing.T) {
	tests := []struct {
		name   string
		result protocol.ToolResultContent
		want   []protocol.ToolResultBlock
	}{
		{"structured content alone", protocol.ToolResultContent{StructuredContent: json.RawMessage(`{"temp":21}`)}, words(`{"temp":21}`)},
		{"structured content beside other JSON", protocol.ToolResultContent{Content: words("42"), StructuredContent: json.RawMessage(`{"temp":21}`)}, words("42", `{"temp":21}`)},
		{"structured content beside its text", protocol.ToolResultContent{Content: words(`{ "temp": 21 }`), StructuredContent: json.RawMessage(`{"temp":21}`)}, words(`{ "temp": 21 }`)},
		{"nothing", protocol.ToolResultContent{}, words("[it returned nothing]")},
		{"null", protocol.ToolResultContent{StructuredContent: json.RawMessage("null")}, words("[it returned nothing]")},
		{"a link", protocol.ToolResultContent{Content: []protocol.ToolResultBlock{protocol.ResourceLink{URI: "file:///a", Name: "a"}}}, words("[a link to the resource file:///a: a]")},
		{"a link without a name", protocol.ToolResultContent{Content: []protocol.ToolResultBlock{protocol.ResourceLink{URI: "file:///a"}}}, words("[a link to the resource file:///a]")},
		{"a resource", protocol.ToolResultContent{Content: []protocol.ToolResultBlock{protocol.EmbeddedResource{Resource: protocol.ResourceContents{URI: "a:b", Text: "x"}}}}, words("[the resource a:b]\nx")},
		{"a text as base64", protocol.ToolResultContent{Content: []protocol.ToolResultBlock{protocol.EmbeddedResource{Resource: protocol.ResourceContents{URI: "a:b", MIMEType: "text/plain; charset=utf-8", Blob: "eA=="}}}}, words("[the resource a:b]\nx")},
		{"other bytes as base64", protocol.ToolResultContent{Content: []protocol.ToolResultBlock{protocol.EmbeddedResource{Resource: protocol.ResourceContents{URI: "a:b", MIMEType: "application/zip", Blob: "eA=="}}}}, words("[the resource a:b, of the type application/zip, which cannot be shown]")},
		{"a sound", protocol.ToolResultContent{Content: []protocol.ToolResultBlock{protocol.AudioContent{MIMEType: "audio/wav"}}}, words("[a sound of the type audio/wav, which cannot be played]")},
		{"an image of another type", protocol.ToolResultContent{Content: []protocol.ToolResultBlock{protocol.ImageContent{MIMEType: "image/jpeg", Data: pngData}}}, []protocol.ToolResultBlock{protocol.ImageContent{MIMEType: "image/png", Data: pngData}}},
		{"an image whose base64 has line ends", protocol.ToolResultContent{Content: []protocol.ToolResultBlock{protocol.ImageContent{Data: pngData[:8] + "\r\n" + pngData[8:] + "\n"}}}, []protocol.ToolResultBlock{protocol.ImageContent{MIMEType: "image/png", Data: pngData}}},
		{"an image for a URL", protocol.ToolResultContent{Content: []protocol.ToolResultBlock{protocol.ImageContent{Data: "_9j_"}}}, []protocol.ToolResultBlock{protocol.ImageContent{MIMEType: "image/jpeg", Data: "/9j/"}}},
		{"an image as a URL", protocol.ToolResultContent{Content: []protocol.ToolResultBlock{protocol.ImageContent{Data: "data:image/png;base64," + pngData}}}, []protocol.ToolResultBlock{protocol.ImageContent{MIMEType: "image/png", Data: pngData}}},
		{"an empty text", protocol.ToolResultContent{Content: words("")}, words("[it returned nothing]")},
		{"an empty text beside others", protocol.ToolResultContent{Content: words("\n", "x")}, words("x")},
		{"a page", protocol.ToolResultContent{Content: []protocol.ToolResultBlock{protocol.ImageContent{Data: "PGh0bWw+"}}}, words("[an image, which cannot be shown]")},
		{"a long text is whole", protocol.ToolResultContent{Content: words(strings.Repeat("x", 200<<10))}, words(strings.Repeat("x", 200<<10))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.result.ToolUseID = "u"
			p := &provider{}
			p.generate(t, &protocol.McpSamplingRequest{Messages: []protocol.SamplingMessage{{Role: protocol.RoleUser, Content: []protocol.ContentBlock{tt.result}}}})
			got := p.got.Messages[0].Content[0].(protocol.ToolResultContent)
			if diff := cmp.Diff(protocol.ToolResultContent{ToolUseID: "u", Content: tt.want}, got); diff != "" {
				t.Errorf("the provider got (-want +got):\n%s", diff)
			}
		})
	}
}

func words(texts ...string) []protocol.ToolResultBlock {
	var blocks []protocol.ToolResultBlock
	for _, text := range texts {
		blocks = append(blocks, protocol.TextContent{Text: text})
	}
	return blocks
}

func TestToolsHaveNamesThatEveryProviderAccepts(t *testing.T) {
	long := strings.Repeat("a", 60) + ".one"
	own := []string{"files.read", "files_read", "ü/2", long + "1", long + "2", ""}
	request := &protocol.McpSamplingRequest{Messages: []protocol.SamplingMessage{{Role: protocol.RoleAssistant, Content: []protocol.ContentBlock{
		protocol.ToolUseContent{ID: "1", Name: "files.read"}, protocol.ToolUseContent{ID: "2", Name: "gone.away"},
	}}}}
	for _, name := range own {
		request.Tools = append(request.Tools, protocol.SamplingTool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)})
	}
	p := &provider{}
	p.generate(t, request)
	seen := map[string]bool{}
	for _, tool := range p.got.Tools {
		if seen[tool.Name] || tool.Name == "" || len(tool.Name) > 64 || model.Sanitized(tool.Name) != tool.Name {
			t.Errorf("the provider got the name %q", tool.Name)
		}
		seen[tool.Name] = true
		p.uses = append(p.uses, tool.Name)
	}
	if p.got.Tools[1].Name != "files_read" || p.got.Tools[0].Name != "files_read_2" {
		t.Errorf("a name that is accepted became another: %q, %q", p.got.Tools[0].Name, p.got.Tools[1].Name)
	}
	history := p.got.Messages[0].Content
	if name := history[0].(protocol.ToolUseContent).Name; name != p.got.Tools[0].Name {
		t.Errorf("the earlier call has the name %q", name)
	}
	if name := history[1].(protocol.ToolUseContent).Name; name != "gone_away" {
		t.Errorf("the earlier call of another tool has the name %q", name)
	}
	var back []string
	for _, use := range p.generate(t, request).ToolUses {
		back = append(back, use.Name)
	}
	if diff := cmp.Diff(own, back); diff != "" {
		t.Errorf("the server gets (-want +got):\n%s", diff)
	}
	if request.Tools[0].Name != "files.read" {
		t.Error("the person's request was changed")
	}
}

func TestImagesOfAServerHaveTheTypeOfTheirBytes(t *testing.T) {
	p := &provider{}
	p.generate(t, &protocol.McpSamplingRequest{Messages: []protocol.SamplingMessage{{Role: protocol.RoleUser, Content: []protocol.ContentBlock{
		protocol.ImageContent{MIMEType: "IMAGE/JPG; q=1", Data: pngData}, protocol.ImageContent{MIMEType: "image/svg+xml", Data: "PHN2Zz4="}, protocol.ImageContent{Data: "/9j/4AAQSkZJRgABAQ=="},
	}}}})
	want := []protocol.ContentBlock{
		protocol.ImageContent{MIMEType: "image/png", Data: pngData}, protocol.TextContent{Text: "[an image of the type image/svg+xml, which cannot be shown]"}, protocol.ImageContent{MIMEType: "image/jpeg", Data: "/9j/4AAQSkZJRgABAQ=="},
	}
	if diff := cmp.Diff(want, p.got.Messages[0].Content); diff != "" {
		t.Errorf("the provider got (-want +got):\n%s", diff)
	}
}
