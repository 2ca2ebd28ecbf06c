package protocol

import "encoding/json"

// ElicitationSettings is what the person has set about what servers elicit.
type ElicitationSettings struct {
	// Answers are given without asking. There are none unless the person writes them.
	Answers []FixedAnswer `json:"answers,omitempty"`
	// MaxOpen bounds how many forms and pages of one server may wait for the person, in all conversations.
	// Absent it is 32, and 0 lets no server ask.
	MaxOpen *int64 `json:"maxOpen,omitempty"`
}

// FixedAnswer is the answer to one form of one tool, whoever fills it in. The form is known by its fields:
// one with other fields, or whose rules the answer violates, is shown as any other.
type FixedAnswer struct {
	ServerName string `json:"serverName"`
	// ToolName is the tool during whose call the form comes.
	ToolName string `json:"toolName"`
	// Content is a JSON object with a member for each field.
	Content json.RawMessage `json:"content"`
}
