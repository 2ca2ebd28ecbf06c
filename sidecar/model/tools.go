package model

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"assent/protocol"
)

// Why a model stopped, in MCP's terms (2025-11-25, CreateMessageResult.stopReason).
const (
	StopEndTurn      = "endTurn"
	StopMaxTokens    = "maxTokens"
	StopStopSequence = "stopSequence"
	StopToolUse      = "toolUse"
)

// The bounds of the calls in one answer.
const (
	mostCalls     = 1024
	mostForServer = 128      // for a server
	mostArguments = 1 << 20  // bytes for one call
	mostOfCalls   = 16 << 20 // bytes for all together
)

// toolMode returns whether the model may or must call tools.
func toolMode(request *protocol.McpSamplingRequest) protocol.ToolChoiceMode {
	if request.ToolChoice == nil || request.ToolChoice.Mode == "" {
		return protocol.ToolChoiceAuto
	}
	return request.ToolChoice.Mode
}

// schemaOf returns a tool's schema, because every API requires one.
func schemaOf(t protocol.SamplingTool) json.RawMessage {
	if len(t.InputSchema) == 0 {
		return json.RawMessage(`{"type":"object"}`)
	}
	return t.InputSchema
}

// argumentsOf returns a call's arguments, because every API requires an object.
func argumentsOf(use protocol.ToolUseContent) json.RawMessage {
	if len(use.Input) == 0 {
		return json.RawMessage(`{}`)
	}
	return use.Input
}

// toolCalls collects the calls of a streamed answer.
type toolCalls struct {
	calls []*toolCall
	// current is the call for pieces with this number.
	current map[int]*toolCall
	// size is the size of all arguments in bytes.
	size int
}

type toolCall struct {
	id, name  string
	arguments strings.Builder
}

// add adds a piece to the call with this number. The first piece has the id and the name. Some
// endpoints give every call the same number: then another id begins another call.
func (t *toolCalls) add(index int, id, name, arguments string) error {
	call := t.current[index]
	if call == nil || id != "" && call.id != "" && id != call.id {
		if len(t.calls) == mostCalls {
			return fmt.Errorf("the model asked for more than %d tools at once", mostCalls)
		}
		if t.current == nil {
			t.current = map[int]*toolCall{}
		}
		call = &toolCall{}
		t.current[index] = call
		t.calls = append(t.calls, call)
	}
	call.id, call.name = cmp.Or(call.id, id), cmp.Or(call.name, name)
	if call.arguments.Len()+len(arguments) > mostArguments {
		return fmt.Errorf("the model gave the tool %s more than %d KiB", quote(call.name), mostArguments>>10)
	}
	if t.size += len(arguments); t.size > mostOfCalls {
		return fmt.Errorf("the model gave its tools more than %d MiB", mostOfCalls>>20)
	}
	call.arguments.WriteString(arguments)
	return nil
}

// uses returns the calls, in the model's order. The arguments are the model's text, which need not be JSON.
func (t *toolCalls) uses() []protocol.ToolUseContent {
	var uses []protocol.ToolUseContent
	for i, call := range t.calls {
		use := protocol.ToolUseContent{ID: call.id, Name: call.name, Input: json.RawMessage(call.arguments.String())}
		if use.ID == "" {
			use.ID = fmt.Sprintf("call_%d", i+1) // some local endpoints give none
		}
		use.Input = argumentsOf(use)
		uses = append(uses, use)
	}
	return uses
}

// IsObject reports whether a model's arguments are a JSON object.
func IsObject(arguments json.RawMessage) bool {
	var object map[string]json.RawMessage
	return json.Unmarshal(arguments, &object) == nil && object != nil
}

// checkUses refuses calls of tools that were not offered to the model, and arguments that are not an
// object, because a server cannot serve either.
func checkUses(uses []protocol.ToolUseContent, request *protocol.McpSamplingRequest) error {
	offered := map[string]bool{}
	if toolMode(request) != protocol.ToolChoiceNone {
		for _, t := range request.Tools {
			offered[t.Name] = true
		}
	}
	if len(uses) > mostForServer {
		return fmt.Errorf("%w: it asked for more than %d tools at once", ErrFailed, mostForServer)
	}
	for _, use := range uses {
		if !offered[use.Name] {
			return fmt.Errorf("%w: it asked for the tool %s, which it was not offered", ErrFailed, quote(use.Name))
		}
		if !IsObject(argumentsOf(use)) {
			return fmt.Errorf("%w: the model's arguments for the tool %s are not a JSON object", ErrFailed, quote(use.Name))
		}
	}
	return nil
}

// asContent returns a tool's result as content of any kind.
func asContent(blocks []protocol.ToolResultBlock) []protocol.ContentBlock {
	content := make([]protocol.ContentBlock, len(blocks))
	for i, block := range blocks {
		content[i] = block
	}
	return content
}

// kindOf names a block for a sentence.
func kindOf(block protocol.ContentBlock) string {
	switch block.(type) {
	case protocol.TextContent:
		return "text"
	case protocol.ImageContent:
		return "an image"
	case protocol.AudioContent:
		return "audio"
	case protocol.ToolUseContent:
		return "a tool call"
	case protocol.ToolResultContent:
		return "a tool's result"
	default:
		return "a resource"
	}
}
