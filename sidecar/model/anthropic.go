package model

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"assent/protocol"
)

// anthropic is an endpoint that speaks Anthropic's Messages API. Assent needs one request and one
// stream of events with a dozen fields; the official module would be a third of the sidecar.
type anthropic struct{ *endpoint }

var _ Provider = anthropic{}

// anthropicVersion is the version of the API.
const anthropicVersion = "2023-06-01"

// mostLine bounds one event of a stream, in bytes.
const mostLine = 4 << 20

func newAnthropic(e *endpoint) anthropic {
	e.authorize = func(header http.Header, key string) {
		header.Set("X-Api-Key", key)
		header.Set("Anthropic-Version", anthropicVersion)
	}
	e.cannot = func(string) []protocol.RequestPart { return []protocol.RequestPart{protocol.PartAudio} }
	return anthropic{e}
}

type anthropicRequest struct {
	Model         string             `json:"model"`
	MaxTokens     int64              `json:"max_tokens"`
	System        string             `json:"system,omitempty"`
	Messages      []anthropicMessage `json:"messages"`
	Temperature   *float64           `json:"temperature,omitempty"`
	StopSequences []string           `json:"stop_sequences,omitempty"`
	Tools         []anthropicTool    `json:"tools,omitempty"`
	ToolChoice    *anthropicChoice   `json:"tool_choice,omitempty"`
	Stream        bool               `json:"stream"`
}

type anthropicMessage struct {
	Role    protocol.Role    `json:"role"`
	Content []anthropicBlock `json:"content"`
}

// anthropicBlock is a block of any type. The type determines its fields.
type anthropicBlock struct {
	Type      string           `json:"type"`
	Text      string           `json:"text,omitempty"`
	Source    *anthropicSource `json:"source,omitempty"`
	ID        string           `json:"id,omitempty"`
	Name      string           `json:"name,omitempty"`
	Input     json.RawMessage  `json:"input,omitempty"`
	ToolUseID string           `json:"tool_use_id,omitempty"`
	Content   []anthropicBlock `json:"content,omitempty"`
	IsError   bool             `json:"is_error,omitempty"`
}

type anthropicSource struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"`
}

type anthropicTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema"`
}

type anthropicChoice struct {
	Type string `json:"type"`
}

// anthropicEvent is an event of any type.
type anthropicEvent struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Model string         `json:"model"`
		Usage anthropicUsage `json:"usage"`
	} `json:"message"`
	ContentBlock struct {
		Type string `json:"type"`
		Text string `json:"text"`
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"content_block"`
	Delta struct {
		Text        string `json:"text"`
		PartialJSON string `json:"partial_json"`
		StopReason  string `json:"stop_reason"`
	} `json:"delta"`
	// Usage is the count so far.
	Usage anthropicUsage `json:"usage"`
	Error struct {
		Message string `json:"message"`
	} `json:"error"`
}

// anthropicUsage is a usage count. It arrives at the start and again at the end, where unchanged members
// may be absent. Tokens written to or read from a cache are not part of the input.
type anthropicUsage struct {
	Input        *int64 `json:"input_tokens"`
	CacheWritten *int64 `json:"cache_creation_input_tokens"`
	CacheRead    *int64 `json:"cache_read_input_tokens"`
	Output       *int64 `json:"output_tokens"`
}

// update replaces the members that a later count has.
func (u *anthropicUsage) update(later anthropicUsage) {
	u.Input = cmp.Or(later.Input, u.Input)
	u.CacheWritten = cmp.Or(later.CacheWritten, u.CacheWritten)
	u.CacheRead = cmp.Or(later.CacheRead, u.CacheRead)
	u.Output = cmp.Or(later.Output, u.Output)
}

// usage returns the total usage, or nil if the provider did not report it.
func (u *anthropicUsage) usage() *Usage {
	if u.Input == nil || u.Output == nil {
		return nil
	}
	in := *u.Input
	for _, cached := range []*int64{u.CacheWritten, u.CacheRead} {
		if cached != nil {
			in += max(0, *cached)
		}
	}
	return usage(in, *u.Output)
}

// Generate implements [Provider].
func (a anthropic) Generate(ctx context.Context, id string, request *protocol.McpSamplingRequest, emit func(string)) (*Completion, error) {
	body, err := toAnthropic(id, request)
	if err != nil {
		return nil, err
	}
	header := http.Header{"Anthropic-Version": {anthropicVersion}}
	resp, err := a.post(ctx, "/messages", body, header)
	if err != nil {
		return nil, a.failure(err)
	}
	defer resp.Body.Close()

	completion := &Completion{Model: id}
	var text strings.Builder
	var calls toolCalls
	var reason string
	var counted anthropicUsage
	ended := false
	events := bufio.NewScanner(resp.Body)
	events.Buffer(nil, mostLine)
	for !ended && events.Scan() {
		data, ok := bytes.CutPrefix(events.Bytes(), []byte("data:"))
		if !ok {
			continue // the name of an event, which its data repeats, or an event's end
		}
		var event anthropicEvent
		if err := json.Unmarshal(data, &event); err != nil {
			return nil, fmt.Errorf("%w: %s sent what cannot be read: %w", ErrFailed, a.base, err)
		}
		piece := ""
		switch event.Type {
		case "message_start":
			if event.Message.Model != "" {
				completion.Model = event.Message.Model
			}
			counted.update(event.Message.Usage)
		case "content_block_start":
			piece = event.ContentBlock.Text
			if event.ContentBlock.Type == "tool_use" {
				err = calls.add(event.Index, event.ContentBlock.ID, event.ContentBlock.Name, "")
			}
		case "content_block_delta":
			piece = event.Delta.Text
			if event.Delta.PartialJSON != "" {
				err = calls.add(event.Index, "", "", event.Delta.PartialJSON)
			}
		case "message_delta":
			if event.Delta.StopReason != "" {
				reason = event.Delta.StopReason
			}
			counted.update(event.Usage)
		case "message_stop":
			ended = true
		case "error":
			return nil, fmt.Errorf("%w: %s: %s", ErrFailed, a.base, a.presentable(event.Error.Message))
		case "ping":
			continue // a keep-alive of the connection, not of the model
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrFailed, a.base, err)
		}
		text.WriteString(piece)
		emit(piece)
	}
	if err := events.Err(); err != nil && !ended {
		return nil, a.failure(err)
	}
	completion.Text, completion.Usage = text.String(), counted.usage()
	completion.ToolUses = calls.uses()
	completion.StopReason = fromAnthropic(reason)
	switch {
	case reason == "refusal":
		return nil, fmt.Errorf("%w: %s declined to answer", ErrRefused, completion.Model)
	case !ended:
		return nil, fmt.Errorf("%w: %s ended its answer in the middle", ErrFailed, a.base)
	case completion.Text == "" && len(completion.ToolUses) == 0:
		return nil, fmt.Errorf("%w: %s gave an empty answer", ErrFailed, completion.Model)
	}
	return completion, nil
}

func fromAnthropic(reason string) string {
	switch reason {
	case "end_turn":
		return StopEndTurn
	case "max_tokens":
		return StopMaxTokens
	case "stop_sequence":
		return StopStopSequence
	case "tool_use":
		return StopToolUse
	default:
		return reason
	}
}

func toAnthropic(model string, request *protocol.McpSamplingRequest) (*anthropicRequest, error) {
	body := &anthropicRequest{
		Model: model, MaxTokens: request.MaxTokens, System: request.SystemPrompt,
		Temperature: request.Temperature, StopSequences: request.StopSequences, Stream: true,
	}
	for _, m := range request.Messages {
		content, err := anthropicContent(m.Content)
		if err != nil {
			return nil, err
		}
		body.Messages = append(body.Messages, anthropicMessage{Role: m.Role, Content: content})
	}
	for _, t := range request.Tools {
		body.Tools = append(body.Tools, anthropicTool{Name: t.Name, Description: t.Description, InputSchema: schemaOf(t)})
	}
	if len(body.Tools) > 0 {
		switch toolMode(request) {
		case protocol.ToolChoiceRequired:
			body.ToolChoice = &anthropicChoice{Type: "any"}
		case protocol.ToolChoiceNone:
			body.ToolChoice = &anthropicChoice{Type: "none"}
		case protocol.ToolChoiceAuto:
			body.ToolChoice = &anthropicChoice{Type: "auto"}
		}
	}
	return body, nil
}

func anthropicContent(blocks []protocol.ContentBlock) ([]anthropicBlock, error) {
	content := []anthropicBlock{}
	for _, block := range blocks {
		switch block := block.(type) {
		case protocol.TextContent:
			content = append(content, anthropicBlock{Type: "text", Text: block.Text})
		case protocol.ImageContent:
			content = append(content, anthropicBlock{Type: "image", Source: &anthropicSource{
				Type: "base64", MediaType: block.MIMEType, Data: block.Data,
			}})
		case protocol.ToolUseContent:
			content = append(content, anthropicBlock{Type: "tool_use", ID: block.ID, Name: block.Name, Input: argumentsOf(block)})
		case protocol.ToolResultContent:
			result, err := anthropicContent(asContent(block.Content))
			if err != nil {
				return nil, err
			}
			content = append(content, anthropicBlock{Type: "tool_result", ToolUseID: block.ToolUseID, Content: result, IsError: block.IsError})
		default:
			return nil, fmt.Errorf("%w: Anthropic's models accept only text, images and tools, and the request has %s", ErrFailed, kindOf(block))
		}
	}
	return content, nil
}
