package broker

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
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
	if answer.Response != protocol.YesButtonClicked {
		return nil, rejected(answer.Response)
	}
	switch earlier := answer.Result.(type) { // an MCP task that asks again
	case protocol.McpSamplingResponse:
		return createMessageResult(earlier), nil
	case protocol.SamplingWithheld:
		return nil, rejected(protocol.NoButtonClicked)
	case protocol.SamplingFailure:
		return nil, samplingError(model.ErrFailed)
	}
	c := &completion{Broker: b, models: models, task: t, origin: origin, answer: answer, request: request}
	if answer.SentRequest != nil {
		c.request = answer.SentRequest
	}
	return c.run(ctx)
}

// rejected is the answer to a request that a person did not approve, or whose completion they withheld.
func rejected(response protocol.AskResponse) error {
	if response == protocol.NoButtonClicked {
		return &jsonrpc.Error{Code: codeUserRejected, Message: "User rejected sampling request"}
	}
	return &jsonrpc.Error{Code: codeUserRejected, Message: "User dismissed the sampling request without an answer"}
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

func checkSampling(models Models, p *protocol.AskResponseParams, q *protocol.McpSampling) (*task.Answer, error) {
	answer := &task.Answer{Response: p.AskResponse, Model: q.Model}
	switch p.AskResponse {
	case protocol.YesButtonClicked:
		sent, err := edited(&q.SamplingRequest, p.SamplingEdit)
		if err != nil {
			return nil, err
		}
		answer.SentRequest = sent
		answer.Model, err = choose(models, p.ModelID, q.Model)
		return answer, err
	case protocol.NoButtonClicked, protocol.CancelButtonClicked:
		return answer, nil
	default:
		return nil, wrongWayOut(p)
	}
}

// choose returns the model that a person named, or else the one that was proposed.
func choose(models Models, id string, proposed *protocol.Model) (*protocol.Model, error) {
	if id == "" && proposed != nil {
		return proposed, nil
	}
	// The front end waits for its answer to be taken, whoever asked.
	ctx, cancel := context.WithTimeout(context.Background(), findPatience)
	defer cancel()
	chosen, err := models.Find(ctx, id)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidAnswer, "%v", err)
	}
	return chosen, nil
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
	case len(wire.Messages) > maxMessages:
		return nil, invalidParams("messages has %d entries, and nobody can read more than %d", len(wire.Messages), maxMessages)
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
		content, err := parseContent(m.Content)
		if err != nil {
			return nil, invalidParams("messages[%d]: content: %v", i, err)
		}
		message := protocol.SamplingMessage{Role: m.Role, Content: content}
		if err := checkMessage(message); err != nil {
			return nil, invalidParams("messages[%d]: %v", i, err)
		}
		request.Messages = append(request.Messages, message)
	}
	return request, nil
}

// maxMessages bounds what a person is asked to approve at once.
const maxMessages = 1000

// checkMessage says what is wrong with a message of a request.
func checkMessage(m protocol.SamplingMessage) error {
	if m.Role != protocol.RoleUser && m.Role != protocol.RoleAssistant {
		return fmt.Errorf("role is %q, it must be user or assistant", m.Role)
	}
	if len(m.Content) == 0 {
		return errors.New("content: is empty")
	}
	for _, block := range m.Content {
		var err error
		switch block := block.(type) {
		case protocol.TextContent:
		case protocol.ImageContent:
			err = checkMedia("image/", block.MIMEType, block.Data)
		case protocol.AudioContent:
			err = checkMedia("audio/", block.MIMEType, block.Data)
		default:
			err = errors.New("must be text, image or audio")
		}
		if err != nil {
			return fmt.Errorf("content: %w", err)
		}
	}
	return nil
}

// checkMedia refuses what no model could see or hear. How much it may be is the bound of the wire.
func checkMedia(kind, mimeType, data string) error {
	if !strings.HasPrefix(mimeType, kind) {
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
		if block == nil {
			return nil, errors.New("is missing")
		}
		blocks = append(blocks, block)
	}
	return blocks, nil
}
