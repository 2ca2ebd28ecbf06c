package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"

	openai "github.com/sashabaranov/go-openai"

	"assent/protocol"
)

// OpenAI is an endpoint that speaks OpenAI's chat completions.
type OpenAI struct {
	client   *openai.Client
	settings protocol.OpenAISettings
}

var _ Provider = (*OpenAI)(nil)

// NewOpenAI returns the endpoint of the settings.
func NewOpenAI(settings protocol.OpenAISettings, client *http.Client) *OpenAI {
	var key string
	if settings.APIKey != nil {
		key = settings.APIKey.Secret
	}
	config := openai.DefaultConfig(key)
	config.BaseURL = strings.TrimSuffix(settings.BaseURL, "/")
	config.HTTPClient = client
	return &OpenAI{client: openai.NewClientWithConfig(config), settings: settings}
}

// Models implements [Provider]. The configured model is taken at its word: an endpoint that is down
// says so when it is asked something, with a better reason.
func (p *OpenAI) Models(context.Context) ([]protocol.Model, error) {
	return []protocol.Model{{
		ID:       string(protocol.ProviderOpenAI) + ":" + p.settings.Model,
		Name:     p.settings.Model,
		Provider: protocol.ProviderOpenAI,
	}}, nil
}

// Generate implements [Provider].
func (p *OpenAI) Generate(ctx context.Context, id string, request *protocol.McpSamplingRequest, emit func(string)) (*Completion, error) {
	body, err := openAIRequest(id, request)
	if err != nil {
		return nil, err
	}
	stream, err := p.client.CreateChatCompletionStream(ctx, body)
	if err != nil {
		return nil, p.failure(err)
	}
	defer stream.Close()

	completion := &Completion{Model: id}
	var text, refusal strings.Builder
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
		for _, choice := range chunk.Choices {
			if choice.Index != 0 {
				continue
			}
			refusal.WriteString(choice.Delta.Refusal)
			if choice.Delta.Content != "" {
				text.WriteString(choice.Delta.Content)
				emit(choice.Delta.Content)
			}
			if choice.FinishReason != "" {
				finished = true
				completion.StopReason = stopReason(choice.FinishReason)
			}
		}
	}
	completion.Text = text.String()
	switch {
	case refusal.Len() > 0:
		return nil, fmt.Errorf("%w: %s", ErrRefused, refusal.String())
	case completion.StopReason == string(openai.FinishReasonContentFilter):
		return nil, fmt.Errorf("%w: the endpoint's content filter stopped the answer", ErrRefused)
	case !finished:
		return nil, fmt.Errorf("%w: %s ended its answer in the middle", ErrFailed, p.settings.BaseURL)
	case completion.Text == "":
		return nil, fmt.Errorf("%w: %s gave an empty answer", ErrFailed, id)
	}
	return completion, nil
}

// failure puts what went wrong into a sentence.
func (p *OpenAI) failure(err error) error {
	var api *openai.APIError
	var request *openai.RequestError
	switch {
	case errors.As(err, &api) && api.HTTPStatusCode == http.StatusUnauthorized:
		return fmt.Errorf("%w: %s did not accept the API key: %s", ErrFailed, p.settings.BaseURL, api.Message)
	case errors.As(err, &api):
		return fmt.Errorf("%w: %s: %s", ErrFailed, p.settings.BaseURL, api.Message)
	case errors.As(err, &request):
		return fmt.Errorf("%w: %s answered %s", ErrFailed, p.settings.BaseURL, request.HTTPStatus)
	default:
		return fmt.Errorf("%w: %s: %w", ErrFailed, p.settings.BaseURL, err)
	}
}

func stopReason(reason openai.FinishReason) string {
	switch reason {
	case openai.FinishReasonStop:
		return "endTurn" // or a stop sequence: this wire does not tell them apart
	case openai.FinishReasonLength:
		return "maxTokens"
	default:
		return string(reason)
	}
}

func openAIRequest(model string, request *protocol.McpSamplingRequest) (openai.ChatCompletionRequest, error) {
	body := openai.ChatCompletionRequest{
		Model:     model,
		MaxTokens: int(min(request.MaxTokens, math.MaxInt32)),
		Stop:      request.StopSequences,
	}
	if openai.NewReasoningValidator().Validate(body) != nil { // these models know the newer name only
		body.MaxTokens, body.MaxCompletionTokens = 0, body.MaxTokens
	}
	if request.Temperature != nil {
		// The library leaves out a zero; the least number above it means the same.
		body.Temperature = max(float32(*request.Temperature), math.SmallestNonzeroFloat32)
	}
	if request.SystemPrompt != "" {
		body.Messages = append(body.Messages, openai.ChatCompletionMessage{
			Role: openai.ChatMessageRoleSystem, Content: request.SystemPrompt,
		})
	}
	for _, m := range request.Messages {
		message := openai.ChatCompletionMessage{Role: string(m.Role)}
		for _, block := range m.Content {
			part, err := openAIPart(block)
			if err != nil {
				return body, err
			}
			message.MultiContent = append(message.MultiContent, part)
		}
		// Many compatible endpoints know plain text only.
		if len(message.MultiContent) == 1 && message.MultiContent[0].Type == openai.ChatMessagePartTypeText {
			message.Content, message.MultiContent = message.MultiContent[0].Text, nil
		}
		body.Messages = append(body.Messages, message)
	}
	return body, nil
}

func openAIPart(block protocol.ContentBlock) (openai.ChatMessagePart, error) {
	switch block := block.(type) {
	case protocol.TextContent:
		return openai.ChatMessagePart{Type: openai.ChatMessagePartTypeText, Text: block.Text}, nil
	case protocol.ImageContent:
		return openai.ChatMessagePart{
			Type:     openai.ChatMessagePartTypeImageURL,
			ImageURL: &openai.ChatMessageImageURL{URL: "data:" + block.MIMEType + ";base64," + block.Data},
		}, nil
	default:
		return openai.ChatMessagePart{}, fmt.Errorf("%w: this endpoint is sent text and images only, and the request holds audio", ErrFailed)
	}
}
