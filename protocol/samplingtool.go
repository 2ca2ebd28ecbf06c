package protocol

import "encoding/json"

// SamplingTool is a tool that a server offers to the model of a sampling request (2025-11-25,
// "Sampling with Tools"). The server itself runs it; the model only asks for that.
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

// ToolChoiceMode is MCP's word for it.
type ToolChoiceMode string

// The modes of a [ToolChoice].
const (
	// ToolChoiceAuto leaves it to the model; no mode at all means the same.
	ToolChoiceAuto ToolChoiceMode = "auto"
	// ToolChoiceRequired: the model must call at least one.
	ToolChoiceRequired ToolChoiceMode = "required"
	// ToolChoiceNone: the model must call none.
	ToolChoiceNone ToolChoiceMode = "none"
)

// ToolUseContent is a call of a tool that a model asks for; only messages of the assistant hold it.
//
//protocol:variant ContentBlock tool_use
type ToolUseContent struct {
	Type tag[ToolUseContent] `json:"type"`
	// ID ties the result to it.
	ID   string `json:"id"`
	Name string `json:"name"`
	// Input is the JSON object of the arguments.
	Input json.RawMessage `json:"input"`
}

// ToolResultContent is what a tool returned to a model; only messages of the user hold it, and those
// hold nothing else.
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

// ToolResultBlock is a [ContentBlock] that a tool can return: no call and no result, or what a server
// sends could be nested without end, and each level is decoded anew.
//
//protocol:union
type ToolResultBlock interface {
	ContentBlock
	isToolResultBlock()
}
