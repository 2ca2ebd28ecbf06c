package protocol

import "encoding/json"

// ElicitationSettings are the person's settings for elicitation.
type ElicitationSettings struct {
	// Answers are sent without asking the person. The default is none.
	Answers []FixedAnswer `json:"answers,omitempty"`
	// MaxOpen bounds how many forms and pages of one server may wait for the person, over all
	// conversations. The default is 32; with 0, no server can ask.
	MaxOpen *int64 `json:"maxOpen,omitempty"`
}

// FixedAnswer is an answer in the settings for one form of one tool. It identifies the form by its fields.
// A form with other fields, or with rules that the answer violates, is shown to the person.
type FixedAnswer struct {
	ServerName string `json:"serverName"`
	// ToolName is the tool whose call leads to the form.
	ToolName string `json:"toolName"`
	// Content is a JSON object with a member for each field.
	Content json.RawMessage `json:"content"`
}
