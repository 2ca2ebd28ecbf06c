package model

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"assent/protocol"
)

// Editor is the part of [protocol.FrontEnd] for models.
type Editor interface {
	ListLanguageModels(context.Context) (*protocol.ListLanguageModelsResult, error)
	SendLanguageModelRequest(context.Context, *protocol.LanguageModelRequest) (*protocol.LanguageModelResponse, error)
}

// VSCode is the editor's own language models, reached through the front end.
type VSCode struct {
	editor   Editor
	requests atomic.Uint64 // numbers the requests

	mu      sync.Mutex // guards the fields below
	pending map[string]*pieces
}

// pieces are the received pieces of an answer that were not emitted yet.
type pieces struct {
	mu    sync.Mutex // guards text
	text  strings.Builder
	ready chan struct{} // of one: there is text
}

var _ Provider = (*VSCode)(nil)

// NewVSCode returns the models of an editor.
func NewVSCode(editor Editor) *VSCode {
	return &VSCode{editor: editor, pending: map[string]*pieces{}}
}

// Models implements [Provider].
func (p *VSCode) Models(ctx context.Context) ([]protocol.Model, error) {
	list, err := p.editor.ListLanguageModels(ctx)
	if err != nil {
		return nil, err
	}
	var models []protocol.Model
	for _, m := range list.Models {
		models = append(models, protocol.Model{
			ID:         string(protocol.ProviderVSCode) + ":" + m.ID,
			Name:       m.Name + " (" + m.Vendor + ")",
			Provider:   protocol.ProviderVSCode,
			ModelFacts: protocol.ModelFacts{Family: m.Family, ContextTokens: int64(max(0, m.MaxInputTokens))},
			Cannot:     []protocol.RequestPart{protocol.PartSystemPrompt, protocol.PartAudio},
			// They are passed on as options. VS Code leaves them to each model.
			MayIgnore: []protocol.RequestPart{protocol.PartMaxTokens, protocol.PartTemperature, protocol.PartStopSequences},
		})
	}
	return models, nil
}

// Generate implements [Provider]. VS Code reports neither why a model stopped nor a name beyond its
// id, so the completion has neither.
func (p *VSCode) Generate(ctx context.Context, id string, request *protocol.McpSamplingRequest, emit func(string)) (*Completion, error) {
	r := &protocol.LanguageModelRequest{
		RequestID:     strconv.FormatUint(p.requests.Add(1), 10),
		ModelID:       id,
		Messages:      foldSystemPrompt(request),
		MaxTokens:     request.MaxTokens,
		Temperature:   request.Temperature,
		StopSequences: request.StopSequences,
		Justification: "An MCP server asks for a completion, and you approved it in Assent.",
	}
	if ctx.Value(conversing{}) != nil {
		r.Justification = "You talk to this model in Assent."
	}
	if toolMode(request) != protocol.ToolChoiceNone { // VS Code expresses this mode by offering no tools
		r.Tools, r.ToolRequired = request.Tools, toolMode(request) == protocol.ToolChoiceRequired
	}
	incoming := &pieces{ready: make(chan struct{}, 1)}
	p.mu.Lock()
	p.pending[r.RequestID] = incoming
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.pending, r.RequestID)
		p.mu.Unlock()
	}()

	type ending struct {
		response *protocol.LanguageModelResponse
		err      error
	}
	done := make(chan ending, 1)
	go func() {
		response, err := p.editor.SendLanguageModelRequest(ctx, r)
		done <- ending{response, err}
	}()
	var text strings.Builder
	take := func() {
		if piece := incoming.take(); piece != "" {
			text.WriteString(piece)
			emit(piece)
		}
	}
	for {
		select {
		case <-incoming.ready:
			take()
		case end := <-done: // all pieces arrived before it
			if end.err != nil {
				return nil, fmt.Errorf("%w: %w", ErrFailed, end.err)
			}
			take()
			completion := &Completion{Text: text.String(), Model: id, StopReason: StopEndTurn, ToolUses: end.response.ToolUses}
			if len(completion.ToolUses) > 0 {
				completion.StopReason = StopToolUse
			} else if completion.Text == "" {
				return nil, fmt.Errorf("%w: %s gave an empty answer", ErrFailed, id)
			}
			return completion, nil
		}
	}
}

// Progress adds a piece of an answer. It never blocks, because the connection waits for it. It
// drops pieces of a cancelled request.
func (p *VSCode) Progress(params *protocol.LanguageModelProgressParams) {
	p.mu.Lock()
	incoming := p.pending[params.RequestID]
	p.mu.Unlock()
	if incoming == nil {
		return
	}
	incoming.mu.Lock()
	incoming.text.WriteString(params.Text)
	incoming.mu.Unlock()
	select {
	case incoming.ready <- struct{}{}:
	default: // already signalled
	}
}

func (p *pieces) take() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := p.text.String()
	p.text.Reset()
	return text
}

// foldSystemPrompt puts the system prompt before the conversation as a turn of the user, because VS
// Code's models have no system role.
func foldSystemPrompt(request *protocol.McpSamplingRequest) []protocol.LanguageModelMessage {
	var messages []protocol.LanguageModelMessage
	if request.SystemPrompt != "" {
		messages = append(messages, protocol.LanguageModelMessage{
			Role: protocol.RoleUser, Content: []protocol.ContentBlock{protocol.TextContent{Text: request.SystemPrompt}},
		})
	}
	for _, m := range request.Messages {
		messages = append(messages, protocol.LanguageModelMessage(m))
	}
	return messages
}
