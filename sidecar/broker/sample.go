package broker

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/protocol"
	"assent/sidecar/model"
	"assent/sidecar/task"
)

// findPatience bounds the search for a model that a person chose.
const findPatience = 10 * time.Second

// CreateMessage serves sampling/createMessage (2024-11-05 and later, "Sampling"). The result is
// MCP's CreateMessageResult.
func (b *Broker) CreateMessage(ctx context.Context, t Asker, origin protocol.Origin, params json.RawMessage) (any, error) {
	request, err := parseSampling(params)
	if err != nil {
		return nil, err
	}
	models := b.models(origin.ServerName)
	proposed, why, err := models.Propose(ctx, request)
	if err != nil {
		b.log.Warn().Err(err).Msg("no model to propose")
	}

	q := protocol.McpSampling{Origin: origin, SamplingRequest: *request, Model: proposed, ModelReason: why}
	answer, err := t.Ask(ctx, b.question(origin, q))
	if err != nil {
		if why := ended(err); why != nil {
			b.log.Info().Str("server", origin.ServerName).Str("reason", string(why.Reason)).Msg("sampling ended without an answer")
			return nil, &jsonrpc.Error{Code: codeUserRejected, Message: "Nobody answered the sampling request: " + string(why.Reason)}
		}
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
	}
	switch answer.Response {
	case protocol.YesButtonClicked:
		switch earlier := answer.Result.(type) { // an MCP task that asks again
		case protocol.McpSamplingResponse:
			return createMessageResult(earlier), nil
		case protocol.SamplingFailure:
			return nil, samplingError(model.ErrFailed)
		}
		return b.generate(ctx, models, t, origin, answer, request)
	case protocol.NoButtonClicked:
		return nil, &jsonrpc.Error{Code: codeUserRejected, Message: "User rejected sampling request"}
	default:
		return nil, &jsonrpc.Error{Code: codeUserRejected, Message: "User dismissed the sampling request without an answer"}
	}
}

// generate asks the model and shows its answer as it comes.
func (b *Broker) generate(ctx context.Context, models Models, t Asker, origin protocol.Origin, answer *task.Answer, request *protocol.McpSamplingRequest) (any, error) {
	completion, err := models.Generate(ctx, answer.Model.ID, request, func(piece string) {
		t.Progress(answer.MessageID, piece)
	})
	if err != nil {
		b.log.Warn().Err(err).Str("server", origin.ServerName).Str("model", answer.Model.ID).Msg("sampling failed")
		reason := err.Error()
		if why := ended(context.Cause(ctx)); why != nil {
			if answer.Kept && why.Reason == protocol.OutcomeRestarted {
				return nil, samplingError(err) // it begins anew when it is asked for again
			}
			reason = why.Error()
		}
		t.EndSampling(answer.MessageID, protocol.SamplingFailure{Reason: reason})
		return nil, samplingError(err)
	}
	response := protocol.McpSamplingResponse{
		Role:       protocol.RoleAssistant,
		Content:    protocol.TextContent{Text: completion.Text},
		Model:      completion.Model,
		StopReason: completion.StopReason,
	}
	t.EndSampling(answer.MessageID, response)
	return createMessageResult(response), nil
}

// createMessageResult is MCP's own: the same fields, without the tag of the editor's wire.
type createMessageResult protocol.McpSamplingResponse

// samplingError tells the server which way a model failed, and not where the model is or what its
// provider said: that is the person's business.
func samplingError(err error) error {
	for _, kind := range []error{model.ErrNone, model.ErrRefused, model.ErrStalled} {
		if errors.Is(err, kind) {
			return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "Sampling failed: " + kind.Error()}
		}
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "Sampling failed: " + model.ErrFailed.Error()}
}

func checkSampling(models Models, p *protocol.AskResponseParams, proposed *protocol.Model) (*task.Answer, error) {
	answer := &task.Answer{Response: p.AskResponse, Model: proposed}
	switch p.AskResponse {
	case protocol.YesButtonClicked:
		if p.ModelID != "" || proposed == nil {
			// The front end waits for its answer to be taken, whoever asked.
			ctx, cancel := context.WithTimeout(context.Background(), findPatience)
			defer cancel()
			chosen, err := models.Find(ctx, p.ModelID)
			if err != nil {
				return nil, protocol.Errorf(protocol.CodeInvalidAnswer, "%v", err)
			}
			answer.Model = chosen
		}
		return answer, nil
	case protocol.NoButtonClicked, protocol.CancelButtonClicked:
		return answer, nil
	default:
		return nil, wrongWayOut(p)
	}
}

// parseSampling reads the params as they were on the wire, where a temperature of 0 and none at all
// are not the same.
func parseSampling(params json.RawMessage) (*protocol.McpSamplingRequest, error) {
	var wire struct {
		Messages []struct {
			Role    protocol.Role   `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		ModelPreferences *protocol.ModelPreferences `json:"modelPreferences"`
		SystemPrompt     string                     `json:"systemPrompt"`
		IncludeContext   string                     `json:"includeContext"`
		Temperature      *float64                   `json:"temperature"`
		MaxTokens        *int64                     `json:"maxTokens"`
		StopSequences    []string                   `json:"stopSequences"`
		Metadata         json.RawMessage            `json:"metadata"`
		Tools            json.RawMessage            `json:"tools"`
	}
	if err := decode(params, &wire); err != nil {
		return nil, err
	}
	switch {
	case len(wire.Messages) == 0:
		return nil, invalidParams("messages is missing or empty")
	case wire.MaxTokens == nil:
		return nil, invalidParams("maxTokens is missing")
	case *wire.MaxTokens < 1:
		return nil, invalidParams("maxTokens is %d, it must be at least 1", *wire.MaxTokens)
	case len(wire.Tools) > 0:
		return nil, invalidParams("tools: the capability sampling.tools was not declared by this client")
	}
	request := &protocol.McpSamplingRequest{
		ModelPreferences: wire.ModelPreferences,
		SystemPrompt:     wire.SystemPrompt,
		IncludeContext:   wire.IncludeContext,
		Temperature:      wire.Temperature,
		MaxTokens:        *wire.MaxTokens,
		StopSequences:    wire.StopSequences,
		Metadata:         wire.Metadata,
	}
	for i, m := range wire.Messages {
		if m.Role != protocol.RoleUser && m.Role != protocol.RoleAssistant {
			return nil, invalidParams("messages[%d]: role is %q, it must be user or assistant", i, m.Role)
		}
		content, err := parseContent(m.Content)
		if err != nil {
			return nil, invalidParams("messages[%d]: content: %v", i, err)
		}
		request.Messages = append(request.Messages, protocol.SamplingMessage{Role: m.Role, Content: content})
	}
	return request, nil
}

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
		block, err := protocol.UnmarshalContentBlock(r)
		if err != nil {
			return nil, err
		}
		switch block.(type) {
		case protocol.TextContent, protocol.ImageContent, protocol.AudioContent:
			blocks = append(blocks, block)
		case nil:
			return nil, errors.New("is missing")
		default:
			return nil, errors.New("must be text, image or audio")
		}
	}
	if len(blocks) == 0 {
		return nil, errors.New("is empty")
	}
	return blocks, nil
}
