package protocol

import "encoding/json"

// Field is one input of a form: a property of an elicitation's requestedSchema or of a tool's
// inputSchema, with its rules as data. The sidecar and the front end check the same rules.
//
//protocol:union
type Field interface {
	isField()
	Head() FieldHead
}

// FieldHead is what every field has.
type FieldHead struct {
	// Name is the property's name, and the member of the answer.
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
}

// Head returns what a field has in common with the others.
func (h FieldHead) Head() FieldHead { return h }

// StringField is a text.
//
//protocol:variant Field string
type StringField struct {
	FieldHead
	Default *string `json:"default,omitempty"`
	// MinLength and MaxLength count Unicode code points.
	MinLength *int `json:"minLength,omitempty"`
	MaxLength *int `json:"maxLength,omitempty"`
	// Pattern is a regular expression that must match somewhere in the text.
	Pattern string       `json:"pattern,omitempty"`
	Format  StringFormat `json:"format,omitempty"`
}

// StringFormat is one of the formats that MCP allows in a form.
type StringFormat string

// The formats.
const (
	FormatEmail    StringFormat = "email"
	FormatURI      StringFormat = "uri"
	FormatDate     StringFormat = "date"
	FormatDateTime StringFormat = "date-time"
)

// NumberField is a number.
//
//protocol:variant Field number
type NumberField struct {
	FieldHead
	// Integer allows whole numbers only.
	Integer bool     `json:"integer,omitempty"`
	Default *float64 `json:"default,omitempty"`
	Minimum *float64 `json:"minimum,omitempty"`
	Maximum *float64 `json:"maximum,omitempty"`
}

// BooleanField is a yes or a no.
//
//protocol:variant Field boolean
type BooleanField struct {
	FieldHead
	Default *bool `json:"default,omitempty"`
}

// ChoiceField is one of several texts.
//
//protocol:variant Field choice
type ChoiceField struct {
	FieldHead
	Options []Option `json:"options,omitempty"`
	Default *string  `json:"default,omitempty"`
}

// ChoicesField is any of several texts.
//
//protocol:variant Field choices
type ChoicesField struct {
	FieldHead
	Options  []Option `json:"options,omitempty"`
	MinItems *int     `json:"minItems,omitempty"`
	MaxItems *int     `json:"maxItems,omitempty"`
	Default  []string `json:"default,omitempty"`
}

// Option is one choice.
type Option struct {
	Value string `json:"value"`
	// Title is shown instead of the value where the server gave one.
	Title string `json:"title,omitempty"`
}

// JSONField is a property of a tool's input that is none of the others: it is typed as JSON.
// Elicitation never has one.
//
//protocol:variant Field json
type JSONField struct {
	FieldHead
	// Schema is the property's own JSON Schema.
	Schema  json.RawMessage `json:"schema"`
	Default json.RawMessage `json:"default,omitempty"`
}
