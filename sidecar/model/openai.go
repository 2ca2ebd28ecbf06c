package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	openai "github.com/sashabaranov/go-openai"

	"assent/protocol"
)

// openAI is an endpoint that speaks OpenAI's chat completions.
type openAI struct {
	*endpoint
	chat   *openai.Client
	option *usageOption
}

var _ Provider = openAI{}

// mostKeepAlives bounds the lines without data in a row. OpenRouter sends one every few seconds
// while a model thinks.
const mostKeepAlives = 10_000

func newOpenAI(e *endpoint) openAI {
	e.authorize = func(header http.Header, key string) { header.Set("Authorization", "Bearer "+key) }
	e.cannot = openAICannot
	config := openai.DefaultConfig("") // the endpoint adds the key
	config.BaseURL = e.base
	config.HTTPClient = e
	config.EmptyMessagesLimit = mostKeepAlives
	return openAI{endpoint: e, chat: openai.NewClientWithConfig(config), option: &usageOption{}}
}

// openAICannot asks the library which parts OpenAI's reasoning models do not support. Unknown names
// are assumed to support all.
func openAICannot(name string) []protocol.RequestPart {
	cannot := []protocol.RequestPart{protocol.PartAudio}
	check := openai.NewReasoningValidator()
	if check.Validate(openai.ChatCompletionRequest{Model: name, Temperature: 0.5}) != nil {
		cannot = append(cannot, protocol.PartTemperature, protocol.PartStopSequences) // these always occur together
	}
	if check.Validate(openai.ChatCompletionRequest{Model: name, Tools: make([]openai.Tool, 1)}) != nil {
		cannot = append(cannot, protocol.PartTools)
	}
	return cannot
}

// Generate implements [Provider].
func (p openAI) Generate(ctx context.Context, id string, request *protocol.McpSamplingRequest, emit func(string)) (*Completion, error) {
	body, err := openAIRequest(id, request)
	if err != nil {
		return nil, err
	}
	stream, err := p.open(ctx, body)
	if err != nil {
		return nil, p.failure(err)
	}
	defer stream.Close()

	completion := &Completion{Model: id}
	var text, refusal strings.Builder
	var calls toolCalls
	finished := false
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, p.failure(err)
		}
		if chunk.Model != "" {
			completion.Model = chunk.Model
		}
		if u := openAIUsage(chunk.Usage); u != nil {
			completion.Usage = u // some endpoints send a running count in every chunk
		}
		for _, choice := range chunk.Choices {
			if choice.Index != 0 {
				continue
			}
			refusal.WriteString(choice.Delta.Refusal)
			text.WriteString(choice.Delta.Content)
			for _, call := range choice.Delta.ToolCalls {
				index := 0
				if call.Index != nil {
					index = *call.Index
				}
				if err := calls.add(index, call.ID, call.Function.Name, call.Function.Arguments); err != nil {
					return nil, fmt.Errorf("%w: %s: %w", ErrFailed, p.base, err)
				}
			}
			emit(choice.Delta.Content)
			if choice.FinishReason != "" {
				finished = true
				completion.StopReason = stopReason(choice.FinishReason)
			}
		}
	}
	completion.Text = text.String()
	completion.ToolUses = calls.uses()
	if len(completion.ToolUses) > 0 && completion.StopReason == StopEndTurn {
		completion.StopReason = StopToolUse // some endpoints omit the reason
	}
	switch {
	case refusal.Len() > 0:
		return nil, fmt.Errorf("%w: %s", ErrRefused, p.presentable(refusal.String()))
	case completion.StopReason == string(openai.FinishReasonContentFilter):
		return nil, fmt.Errorf("%w: the endpoint's content filter stopped the answer", ErrRefused)
	case !finished:
		return nil, fmt.Errorf("%w: %s ended its answer in the middle", ErrFailed, p.base)
	case completion.Text == "" && len(completion.ToolUses) == 0:
		return nil, fmt.Errorf("%w: %s gave an empty answer", ErrFailed, id)
	}
	return completion, nil
}

// usageOption records whether an endpoint accepts stream_options, which asks for the usage in a stream.
// Some compatible endpoints do not know it, and strict ones refuse the request.
type usageOption struct {
	taken, refused atomic.Bool
}

// open begins a stream, and asks for the usage if the endpoint accepts that. If a request is refused as
// invalid and the endpoint has never accepted the option, open sends it again without the option. The
// result shows which of the two was invalid.
func (p openAI) open(ctx context.Context, body openai.ChatCompletionRequest) (*openai.ChatCompletionStream, error) {
	if p.option.refused.Load() {
		return p.chat.CreateChatCompletionStream(ctx, body)
	}
	counted := body
	counted.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	stream, err := p.chat.CreateChatCompletionStream(ctx, counted)
	if err == nil {
		p.option.taken.Store(true)
		return stream, nil
	}
	var no *refused
	wrong := errors.As(err, &no) && (no.code == http.StatusBadRequest || no.code == http.StatusUnprocessableEntity)
	if !wrong || p.option.taken.Load() {
		return nil, err
	}
	if stream, err = p.chat.CreateChatCompletionStream(ctx, body); err == nil {
		p.option.refused.Store(true)
	}
	return stream, err
}

// openAIUsage returns an endpoint's count. Gemini does not count thinking in the completion, but in the
// total.
func openAIUsage(u *openai.Usage) *Usage {
	if u == nil {
		return nil
	}
	return usage(int64(u.PromptTokens), max(int64(u.CompletionTokens), int64(u.TotalTokens)-int64(max(0, u.PromptTokens))))
}

// failure returns an error as a sentence; the library has its own errors for those in a stream.
func (p openAI) failure(err error) error {
	var api *openai.APIError
	if errors.As(err, &api) {
		return fmt.Errorf("%w: %s: %s", ErrFailed, p.base, p.presentable(api.Message))
	}
	return p.endpoint.failure(err)
}

func stopReason(reason openai.FinishReason) string {
	switch reason {
	case openai.FinishReasonStop:
		return StopEndTurn // or a stop sequence: this API does not distinguish them
	case openai.FinishReasonLength:
		return StopMaxTokens
	case openai.FinishReasonToolCalls:
		return StopToolUse
	default:
		return string(reason)
	}
}

func openAIRequest(model string, request *protocol.McpSamplingRequest) (openai.ChatCompletionRequest, error) {
	cannot := openAICannot(model)
	body := openai.ChatCompletionRequest{Model: model, MaxTokens: int(min(request.MaxTokens, math.MaxInt32))}
	if openai.NewReasoningValidator().Validate(body) != nil { // these models know only the newer name
		body.MaxTokens, body.MaxCompletionTokens = 0, body.MaxTokens
	}
	if request.Temperature != nil && !slices.Contains(cannot, protocol.PartTemperature) {
		// The library omits a zero. The smallest number above it has the same effect.
		body.Temperature = max(float32(*request.Temperature), math.SmallestNonzeroFloat32)
	}
	if !slices.Contains(cannot, protocol.PartStopSequences) {
		body.Stop = request.StopSequences
	}
	if request.SystemPrompt != "" {
		body.Messages = append(body.Messages, openai.ChatCompletionMessage{
			Role: openai.ChatMessageRoleSystem, Content: request.SystemPrompt,
		})
	}
	for _, m := range request.Messages {
		messages, err := openAIMessages(m)
		if err != nil {
			return body, err
		}
		body.Messages = append(body.Messages, messages...)
	}
	for _, t := range request.Tools {
		body.Tools = append(body.Tools, openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
			Name: t.Name, Description: t.Description, Parameters: schemaOf(t),
		}})
	}
	if len(body.Tools) > 0 {
		body.ToolChoice = string(toolMode(request)) // MCP has the same words
	}
	return body, nil
}

// openAIMessages returns one message for a turn. For a turn with tool results, it returns one message for
// each result, and a user message with their images, which this API does not allow elsewhere.
func openAIMessages(m protocol.SamplingMessage) ([]openai.ChatCompletionMessage, error) {
	var results []openai.ChatCompletionMessage
	message := openai.ChatCompletionMessage{Role: string(m.Role)}
	for _, block := range m.Content {
		switch block := block.(type) {
		case protocol.TextContent:
			message.MultiContent = append(message.MultiContent, openai.ChatMessagePart{Type: openai.ChatMessagePartTypeText, Text: block.Text})
		case protocol.ImageContent:
			message.MultiContent = append(message.MultiContent, openAIImage(block))
		case protocol.ToolUseContent:
			message.ToolCalls = append(message.ToolCalls, openai.ToolCall{
				ID: block.ID, Type: openai.ToolTypeFunction,
				Function: openai.FunctionCall{Name: block.Name, Arguments: string(argumentsOf(block))},
			})
		case protocol.ToolResultContent:
			text, err := resultText(block)
			if err != nil {
				return nil, err
			}
			for _, part := range block.Content {
				if image, ok := part.(protocol.ImageContent); ok {
					message.MultiContent = append(message.MultiContent, openAIImage(image))
				}
			}
			results = append(results, openai.ChatCompletionMessage{Role: openai.ChatMessageRoleTool, ToolCallID: block.ToolUseID, Content: text})
		default:
			return nil, fmt.Errorf("%w: this endpoint is sent text, images and tools only, and the request holds %s", ErrFailed, kindOf(block))
		}
	}
	// Many compatible endpoints accept only plain text.
	if len(message.MultiContent) == 1 && message.MultiContent[0].Type == openai.ChatMessagePartTypeText {
		message.Content, message.MultiContent = message.MultiContent[0].Text, nil
	}
	if len(results) > 0 && len(message.MultiContent) == 0 && message.Content == "" {
		return results, nil
	}
	return append(results, message), nil
}

func openAIImage(image protocol.ImageContent) openai.ChatMessagePart {
	return openai.ChatMessagePart{
		Type:     openai.ChatMessagePartTypeImageURL,
		ImageURL: &openai.ChatMessageImageURL{URL: "data:" + image.MIMEType + ";base64," + image.Data},
	}
}

// resultText returns a tool's result as text, because this API allows nothing else there. Images follow
// after the results.
func resultText(result protocol.ToolResultContent) (string, error) {
	var texts []string
	for _, block := range result.Content {
		switch block := block.(type) {
		case protocol.TextContent:
			texts = append(texts, block.Text)
		case protocol.ImageContent:
			texts = append(texts, "(an image, which follows)")
		default:
			return "", fmt.Errorf("%w: this endpoint takes no more than text and images from a tool, and a result in the request holds %s", ErrFailed, kindOf(block))
		}
	}
	text := strings.Join(texts, "\n")
	if result.IsError { // this API has no member for errors either
		text = "The tool failed: " + text
	}
	return text, nil
}
