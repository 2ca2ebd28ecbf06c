package protocol

import (
	"bytes"
	"encoding/json"
	"slices"
)

// Field is one input of a form: a property of an elicitation's requestedSchema or of a tool's
// inputSchema, with its rules. The sidecar checks answers; see [Sidecar.CheckForm].
//
//protocol:union
type Field interface {
	isField()
	Head() FieldHead
}

// FieldHead has the members of all fields.
type FieldHead struct {
	// Name is the property's name, and the member of the answer.
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
	// Nullable: null is an answer, too. Such a field is never Required.
	Nullable bool `json:"nullable,omitempty"`
	// NullIfLeftOut: the server gets null for a field that the person left out, because it requires the property.
	NullIfLeftOut bool `json:"nullIfLeftOut,omitempty"`
	// Secret: the field seems to ask for a password, a token, a key or a card number, which MCP
	// forbids in a form (2025-11-25, "Elicitation: Security Considerations"). Front ends mask its
	// value, and only the server gets it; see [MaskSecrets].
	Secret bool `json:"secret,omitempty"`
}

// Head returns the members that all fields have.
func (h FieldHead) Head() FieldHead { return h }

// StringField is a text.
//
//protocol:variant Field string
type StringField struct {
	Type tag[StringField] `json:"type"`
	FieldHead
	Default *string `json:"default,omitempty"`
	// MinLength and MaxLength count Unicode code points.
	MinLength *int `json:"minLength,omitempty"`
	MaxLength *int `json:"maxLength,omitempty"`
	// Pattern is the server's regular expression, in ECMA-262. It must match somewhere in the text.
	Pattern string `json:"pattern,omitempty"`
	// PatternUnchecked: Assent shows the pattern but cannot check it, because it uses lookaround or backreferences,
	// or is too large. The server checks it.
	PatternUnchecked bool         `json:"patternUnchecked,omitempty"`
	Format           StringFormat `json:"format,omitempty"`
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
	Type tag[NumberField] `json:"type"`
	FieldHead
	// Integer allows whole numbers only.
	Integer bool     `json:"integer,omitempty"`
	Default *float64 `json:"default,omitempty"`
	// DefaultText is the default as the server wrote it; present if a double cannot hold it
	// exactly.
	DefaultText string   `json:"defaultText,omitempty"`
	Minimum     *float64 `json:"minimum,omitempty"`
	Maximum     *float64 `json:"maximum,omitempty"`
}

// BooleanField is a yes or a no.
//
//protocol:variant Field boolean
type BooleanField struct {
	Type tag[BooleanField] `json:"type"`
	FieldHead
	Default *bool `json:"default,omitempty"`
}

// ChoiceField is one of several values. An answer has the option's text, and the sidecar sends its JSON.
//
//protocol:variant Field choice
type ChoiceField struct {
	Type tag[ChoiceField] `json:"type"`
	FieldHead
	Options []Option `json:"options,omitempty"`
	Default *string  `json:"default,omitempty"`
}

// ChoicesField is any of several values. An answer has the options' texts, and the sidecar sends their JSON.
//
//protocol:variant Field choices
type ChoicesField struct {
	Type tag[ChoicesField] `json:"type"`
	FieldHead
	Options  []Option `json:"options,omitempty"`
	MinItems *int     `json:"minItems,omitempty"`
	MaxItems *int     `json:"maxItems,omitempty"`
	// Default selects options. An empty list selects none, which is an answer; absent leaves the field
	// out.
	Default []string `json:"default,omitzero"`
}

// ListField is a list that the person types, one item a line.
//
//protocol:variant Field list
type ListField struct {
	Type tag[ListField] `json:"type"`
	FieldHead
	// Item is what each item must be: a StringField, NumberField or BooleanField without a name.
	Item     Field `json:"item"`
	MinItems *int  `json:"minItems,omitempty"`
	MaxItems *int  `json:"maxItems,omitempty"`
	// Unique: no two items may be equal.
	Unique bool `json:"unique,omitempty"`
	// Default has the lines. An empty list is an answer; absent leaves the field out.
	Default []string `json:"default,omitzero"`
}

// Option is one choice.
type Option struct {
	// Value is a text that no other option of the field has.
	Value string `json:"value"`
	// JSON is the value as the server wrote it, if it is not the text Value.
	JSON string `json:"json,omitempty"`
	// Title is shown instead of the value, if the server gave one.
	Title string `json:"title,omitempty"`
}

// JSONField is a property of a tool's input that no other field can show. The person types it as
// JSON. Elicitation never has one.
//
//protocol:variant Field json
type JSONField struct {
	Type tag[JSONField] `json:"type"`
	FieldHead
	// Schema is the property's own JSON Schema.
	Schema  json.RawMessage `json:"schema"`
	Default json.RawMessage `json:"default,omitempty"`
}

// masked replaces a secret value.
const masked = "•••"

// MaskSecrets returns an answer as it may be shown and saved. It replaces the values of fields that ask for a secret,
// and of the fields in marked. Without such a field, it returns content itself. Content that is not an object is
// masked whole.
func MaskSecrets(fields []Field, content json.RawMessage, marked ...string) json.RawMessage {
	var given map[string]json.RawMessage
	secret := func(f Field) bool {
		head := f.Head()
		return head.Secret || slices.Contains(marked, head.Name)
	}
	if !slices.ContainsFunc(fields, secret) || len(content) == 0 {
		return content
	}
	if json.Unmarshal(content, &given) != nil {
		return json.RawMessage(`"` + masked + `"`)
	}
	var shown bytes.Buffer
	for _, f := range fields { // in the order that an answer has
		head := f.Head()
		value, ok := given[head.Name]
		if !ok {
			continue
		}
		name, err := json.Marshal(head.Name)
		if err != nil {
			continue // a string can always be written
		}
		if secret(f) {
			value = json.RawMessage(`"` + masked + `"`)
		}
		if shown.Len() > 0 {
			shown.WriteByte(',')
		}
		shown.Write(name)
		shown.WriteByte(':')
		shown.Write(value)
	}
	return json.RawMessage("{" + shown.String() + "}")
}
