package protocol

import "encoding/json"

// SamplingTool is a tool that a server offers to the model of a sampling request (2025-11-25,
// "Sampling with Tools"). The server runs it; the model only asks for the call.
type SamplingTool struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	// InputSchema is the JSON Schema of the arguments, an object.
	InputSchema json.RawMessage `json:"inputSchema,omitempty"`
}

// ToolChoice is what the model may do with the tools.
type ToolChoice struct {
	Mode ToolChoiceMode `json:"mode,omitempty"`
}

// ToolChoiceMode is a mode of a [ToolChoice], as MCP defines it.
type ToolChoiceMode string

// The modes of a [ToolChoice].
const (
	// ToolChoiceAuto leaves the choice to the model. It is the default.
	ToolChoiceAuto ToolChoiceMode = "auto"
	// ToolChoiceRequired: the model must call at least one.
	ToolChoiceRequired ToolChoiceMode = "required"
	// ToolChoiceNone: the model must call none.
	ToolChoiceNone ToolChoiceMode = "none"
)

// ToolUseContent is a call of a tool that a model asks for. Only messages of the assistant hold it.
//
//protocol:variant ContentBlock tool_use
type ToolUseContent struct {
	Type tag[ToolUseContent] `json:"type"`
	// ID is the id that the result refers to.
	ID   string `json:"id"`
	Name string `json:"name"`
	// Input is the JSON object of the arguments.
	Input json.RawMessage `json:"input"`
}

// ToolResultContent is a tool's result for a model. Only messages of the user hold it, and they hold
// nothing else.
//
//protocol:variant ContentBlock tool_result
type ToolResultContent struct {
	Type tag[ToolResultContent] `json:"type"`
	// ToolUseID is the ID of the [ToolUseContent].
	ToolUseID         string            `json:"toolUseId"`
	Content           []ToolResultBlock `json:"content,omitempty"`
	StructuredContent json.RawMessage   `json:"structuredContent,omitempty"`
	IsError           bool              `json:"isError,omitempty"`
}

// ToolResultBlock is a [ContentBlock] that a tool can return. Calls and results are excluded: a
// server could nest them without end, and each level is decoded again.
//
//protocol:union
type ToolResultBlock interface {
	ContentBlock
	isToolResultBlock()
}
