package broker

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"slices"
	"strings"

	"assent/protocol"
	"assent/sidecar/base/jsonscan"
	"assent/sidecar/base/reason"
	"assent/sidecar/model"
)

// maxMessages bounds the messages of a request, which a person has to approve. maxTools bounds its
// tools.
const (
	maxMessages = 1000
	maxTools    = 256
)

// usualTokens is the limit of an answer if the server says no maxTokens, for which some SDKs write 0. The person sees the limit,
// and can change it.
const usualTokens = 4096

// parseSampling reads the params as they were on the wire, where a temperature of 0 and no
// temperature differ. It refuses tools from a server that was not offered them.
func parseSampling(params json.RawMessage, withTools bool) (*protocol.McpSamplingRequest, error) {
	var wire struct {
		Messages []struct {
			Role    protocol.Role   `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		ModelPreferences preferences             `json:"modelPreferences"`
		SystemPrompt     string                  `json:"systemPrompt"`
		IncludeContext   string                  `json:"includeContext"`
		Temperature      *float64                `json:"temperature"`
		MaxTokens        whole                   `json:"maxTokens"`
		StopSequences    []string                `json:"stopSequences"`
		Metadata         json.RawMessage         `json:"metadata"`
		Tools            []protocol.SamplingTool `json:"tools"`
		ToolChoice       *protocol.ToolChoice    `json:"toolChoice"`
	}
	if err := decode(params, &wire); err != nil {
		return nil, err
	}
	switch {
	case len(wire.Messages) == 0:
		return nil, invalidParams("messages is missing or empty")
	case len(wire.Messages) > maxMessages:
		return nil, invalidParams("messages has %d entries, and the limit is %d", len(wire.Messages), maxMessages)
	case wire.MaxTokens < 0:
		return nil, invalidParams("maxTokens is %d, it must be at least 1", wire.MaxTokens)
	}
	if !withTools && (wire.Tools != nil || wire.ToolChoice != nil) {
		return nil, invalidParams("tools: the capability sampling.tools was not declared by this client")
	}
	for i := range wire.Tools {
		wire.Tools[i].InputSchema = readableSchema(wire.Tools[i].InputSchema)
	}
	if err := checkTools(wire.Tools, wire.ToolChoice); err != nil {
		return nil, invalidParams("%v", err)
	}
	request := &protocol.McpSamplingRequest{
		ModelPreferences: wire.ModelPreferences.ModelPreferences,
		SystemPrompt:     wire.SystemPrompt,
		IncludeContext:   wire.IncludeContext,
		Temperature:      wire.Temperature,
		MaxTokens:        cmp.Or(int64(wire.MaxTokens), usualTokens),
		StopSequences:    wire.StopSequences,
		Metadata:         wire.Metadata,
		Tools:            wire.Tools,
		ToolChoice:       wire.ToolChoice,
	}
	for i, m := range wire.Messages {
		content, err := parseContent(m.Content)
		if err != nil {
			return nil, invalidParams("messages[%d]: content: %s", i, reason.Of(err))
		}
		request.Messages = append(request.Messages, protocol.SamplingMessage{Role: m.Role, Content: content})
	}
	if i, err := checkMessages(request.Messages); err != nil {
		return nil, invalidParams("messages[%d]: %v", i, err)
	}
	return request, nil
}

// errNoBlock refuses content of another kind.
var errNoBlock = errors.New("must be text, image, audio, tool_use or tool_result")

// parseContent reads a message's content: one block or, since 2025-11-25, an array of them.
func parseContent(raw json.RawMessage) ([]protocol.ContentBlock, error) {
	raws := []json.RawMessage{raw}
	if len(raw) > 0 && raw[0] == '[' {
		if err := json.Unmarshal(raw, &raws); err != nil {
			return nil, err
		}
	}
	var blocks []protocol.ContentBlock
	for _, r := range raws {
		block, err := protocol.UnmarshalContentBlock(jsonscan.Exact[blockNames](readableBlock(r)))
		switch {
		case err != nil && strings.Contains(err.Error(), "has no variant"):
			return nil, errNoBlock
		case err != nil:
			return nil, err
		}
		if block == nil {
			return nil, errors.New("is missing")
		}
		blocks = append(blocks, withMediaType(block))
	}
	return blocks, nil
}

// blockNames are the names of the members of all kinds of content.
type blockNames struct {
	Type              json.RawMessage `json:"type"`
	Text              json.RawMessage `json:"text"`
	Data              json.RawMessage `json:"data"`
	MIMEType          json.RawMessage `json:"mimeType"`
	ID                json.RawMessage `json:"id"`
	Name              json.RawMessage `json:"name"`
	Title             json.RawMessage `json:"title"`
	Description       json.RawMessage `json:"description"`
	URI               json.RawMessage `json:"uri"`
	Input             json.RawMessage `json:"input"`
	ToolUseID         json.RawMessage `json:"toolUseId"`
	Content           []blockNames    `json:"content"`
	StructuredContent json.RawMessage `json:"structuredContent"`
	IsError           json.RawMessage `json:"isError"`
	Resource          struct {
		URI      json.RawMessage `json:"uri"`
		MIMEType json.RawMessage `json:"mimeType"`
		Text     json.RawMessage `json:"text"`
		Blob     json.RawMessage `json:"blob"`
	} `json:"resource"`
}

// withMediaType returns an image with the media type that its bytes have, and other media with their type in canonical
// form. The type becomes a part of a data URL, where any other form could be misread. An image's type loses its
// parameters. An invalid type stays, and is refused later.
func withMediaType(block protocol.ContentBlock) protocol.ContentBlock {
	switch b := block.(type) {
	case protocol.ImageContent:
		if actual := model.ImageType(b.Data); actual != "" {
			b.MIMEType = actual
		} else if kind, _, err := mime.ParseMediaType(b.MIMEType); err == nil {
			b.MIMEType = kind
		}
		return b
	case protocol.AudioContent:
		if kind, parameters, err := mime.ParseMediaType(b.MIMEType); err == nil {
			b.MIMEType = mime.FormatMediaType(kind, parameters)
		}
		return b
	case protocol.ToolResultContent:
		for i, part := range b.Content {
			b.Content[i], _ = withMediaType(part).(protocol.ToolResultBlock) // of the same type as part
		}
		return b
	default:
		return block
	}
}

// whole is an integer. JSON has one type for all numbers, and many peers write 50 as 50.0, or as a text.
type whole int64

// UnmarshalJSON implements [json.Unmarshaler].
func (w *whole) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil && json.Valid([]byte(text)) && text[0] != '"' {
		data = []byte(text)
	}
	var n int64
	if err := json.Unmarshal(data, &n); err == nil {
		*w = whole(n)
		return nil
	}
	var f float64
	if err := json.Unmarshal(data, &f); err != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<63 {
		return json.Unmarshal(data, (*int64)(w)) // for its error
	}
	*w = whole(f)
	return nil
}

// checkTools validates the tools of a request.
func checkTools(tools []protocol.SamplingTool, choice *protocol.ToolChoice) error {
	if len(tools) > maxTools {
		return fmt.Errorf("tools has %d entries, and there may be at most %d", len(tools), maxTools)
	}
	names := map[string]bool{}
	for i, tool := range tools {
		switch {
		case tool.Name == "":
			return fmt.Errorf("tools[%d]: name is missing or empty", i)
		case names[tool.Name]:
			return fmt.Errorf("tools[%d]: the name %q is there twice", i, tool.Name)
		}
		if err := checkObject(tool.InputSchema); err != nil {
			return fmt.Errorf("tools[%d]: inputSchema %w", i, err)
		}
		names[tool.Name] = true
	}
	if choice == nil {
		return nil
	}
	switch choice.Mode {
	case "", protocol.ToolChoiceAuto, protocol.ToolChoiceNone:
	case protocol.ToolChoiceRequired:
		if len(tools) == 0 {
			return errors.New("toolChoice: a tool is required, and there is none")
		}
	default:
		return fmt.Errorf("toolChoice: mode is %q, it must be auto, required or none", choice.Mode)
	}
	return nil
}

// checkMessages returns the error of a conversation, and the index of the message: an invalid message, or
// a call of a tool without its result (2025-11-25, "Sampling: tool result messages and tool use and result
// balance").
func checkMessages(messages []protocol.SamplingMessage) (int, error) {
	var open map[string]bool // the calls of the previous message
	for i, m := range messages {
		if err := checkMessage(m); err != nil {
			return i, err
		}
		results := map[string]bool{}
		for _, block := range m.Content {
			result, ok := block.(protocol.ToolResultContent)
			switch {
			case !ok:
			case !open[result.ToolUseID]:
				return i, fmt.Errorf("content: the tool result %q matches no call in the previous message", result.ToolUseID)
			case results[result.ToolUseID]:
				return i, fmt.Errorf("content: the tool result %q is there twice", result.ToolUseID)
			}
			if ok {
				results[result.ToolUseID] = true
			}
		}
		switch {
		case len(results) > 0 && len(results) < len(m.Content):
			return i, errors.New("content: Tool results mixed with other content")
		case len(results) < len(open):
			return i, fmt.Errorf("content: Tool result missing in request: %s", missing(open, results))
		}
		open = nil
		for _, block := range m.Content {
			if use, ok := block.(protocol.ToolUseContent); ok {
				if open[use.ID] {
					return i, fmt.Errorf("content: the tool use %q is there twice", use.ID)
				}
				if open == nil {
					open = map[string]bool{}
				}
				open[use.ID] = true
			}
		}
	}
	if len(open) > 0 {
		return len(messages) - 1, fmt.Errorf("content: Tool result missing in request: %s", missing(open, nil))
	}
	return 0, nil
}

// missing names the calls without a result.
func missing(open, results map[string]bool) string {
	var ids []string
	for id := range open {
		if !results[id] {
			ids = append(ids, fmt.Sprintf("%q", id))
		}
	}
	slices.Sort(ids)
	return strings.Join(ids, ", ")
}

// checkMessage validates a message of a request.
func checkMessage(m protocol.SamplingMessage) error {
	if m.Role != protocol.RoleUser && m.Role != protocol.RoleAssistant {
		return fmt.Errorf("role is %q, it must be user or assistant", m.Role)
	}
	if len(m.Content) == 0 {
		return errors.New("content: is empty")
	}
	for _, block := range m.Content {
		if err := checkBlock(m.Role, block); err != nil {
			return fmt.Errorf("content: %w", err)
		}
	}
	return nil
}

func checkBlock(role protocol.Role, block protocol.ContentBlock) error {
	switch block := block.(type) {
	case protocol.TextContent:
		return nil
	case protocol.ImageContent:
		return checkMedia("image/", block.MIMEType, block.Data)
	case protocol.AudioContent:
		return checkMedia("audio/", block.MIMEType, block.Data)
	case protocol.ToolUseContent:
		switch {
		case role != protocol.RoleAssistant:
			return errors.New("only the assistant can use tools")
		case block.ID == "" || block.Name == "":
			return errors.New("a tool use needs an id and a name")
		}
		if err := checkObject(block.Input); err != nil {
			return fmt.Errorf("the input of the tool use %q %w", block.ID, err)
		}
		return nil
	case protocol.ToolResultContent:
		if role != protocol.RoleUser {
			return errors.New("only the user can give tool results")
		}
		for _, part := range block.Content {
			if err := checkResultBlock(part); err != nil {
				return fmt.Errorf("the tool result %q: %w", block.ToolUseID, err)
			}
		}
		return nil
	default:
		return errNoBlock
	}
}

func checkResultBlock(block protocol.ToolResultBlock) error {
	switch block := block.(type) {
	case protocol.ImageContent:
		return checkMedia("image/", block.MIMEType, block.Data)
	case protocol.AudioContent:
		return checkMedia("audio/", block.MIMEType, block.Data)
	default:
		return nil
	}
}

// checkMedia refuses media that no model supports.
func checkMedia(kind, mimeType, data string) error {
	parsed, _, err := mime.ParseMediaType(mimeType)
	if err != nil {
		return fmt.Errorf("mimeType is %q, which is not a media type", mimeType)
	}
	if !strings.HasPrefix(parsed, kind) {
		return fmt.Errorf("mimeType is %q, it must begin with %s", mimeType, kind)
	}
	if data == "" {
		return errors.New("data is missing or empty")
	}
	if n, err := io.Copy(io.Discard, base64.NewDecoder(base64.StdEncoding, strings.NewReader(data))); err != nil {
		return fmt.Errorf("data is not base64 after %d bytes: %w", n, err)
	}
	return nil
}

// checkObject refuses JSON that is not an object.
func checkObject(raw json.RawMessage) error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil || object == nil {
		return errors.New("is not a JSON object")
	}
	return nil
}
