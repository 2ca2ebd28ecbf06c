package protocol

import (
	"bytes"
	"encoding/json"
	"slices"
)

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
	// Secret: the field seems to ask for a password, a token, a key or the number of a card, which MCP
	// forbids in a form (2025-11-25, "Elicitation: Security Considerations"). What is typed is masked
	// and goes to the server alone; see [MaskSecrets].
	Secret bool `json:"secret,omitempty"`
}

// Head returns what a field has in common with the others.
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
	// Pattern is a regular expression of ECMA-262, as the server wrote it, that must match somewhere in
	// the text.
	Pattern string `json:"pattern,omitempty"`
	// Program is what checks the pattern. Absent if it is beyond what can be checked in time that is
	// linear in the text: then the pattern is only shown, and the server judges.
	Program *PatternProgram `json:"program,omitempty"`
	Format  StringFormat    `json:"format,omitempty"`
}

// PatternProgram is a regular expression as a machine without memory. Both sides run the same one, so
// that they cannot disagree and no expression can take their time: no engine of regular expressions
// reads a server's pattern. A thread begins at Start with each character; the pattern matches where
// one gets to a [PatternMatch]. Texts of more than 10,000 code points are not matched.
type PatternProgram struct {
	// Start and what refers to steps are positions in Steps.
	Start int           `json:"start"`
	Steps []PatternStep `json:"steps"`
	// Classes are sets of code points: the first and the last of each range, in order.
	Classes [][]int `json:"classes"`
}

// PatternStep is one step of a [PatternProgram].
type PatternStep struct {
	Op PatternOp `json:"op"`
	// Out is the next step; of no meaning to [PatternMatch] and [PatternFail].
	Out int `json:"out"`
	// Arg is the other next step of a [PatternEither], and the class of a [PatternChar].
	Arg int `json:"arg"`
}

// PatternOp is what a step does.
type PatternOp string

// The steps.
const (
	// PatternEither goes two ways.
	PatternEither PatternOp = "either"
	// PatternChar takes a character of a class.
	PatternChar PatternOp = "char"
	// PatternBegin and PatternEnd hold at either end of the text.
	PatternBegin PatternOp = "begin"
	PatternEnd   PatternOp = "end"
	// PatternBoundary holds between a letter, digit or underscore of ASCII and what is none;
	// PatternInside holds elsewhere.
	PatternBoundary PatternOp = "boundary"
	PatternInside   PatternOp = "inside"
	PatternMatch    PatternOp = "match"
	PatternFail     PatternOp = "fail"
)

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
	// DefaultText is the default as the server wrote it, where a double does not hold it exactly.
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

// ChoiceField is one of several texts.
//
//protocol:variant Field choice
type ChoiceField struct {
	Type tag[ChoiceField] `json:"type"`
	FieldHead
	Options []Option `json:"options,omitempty"`
	Default *string  `json:"default,omitempty"`
}

// ChoicesField is any of several texts.
//
//protocol:variant Field choices
type ChoicesField struct {
	Type tag[ChoicesField] `json:"type"`
	FieldHead
	Options  []Option `json:"options,omitempty"`
	MinItems *int     `json:"minItems,omitempty"`
	MaxItems *int     `json:"maxItems,omitempty"`
	// Default, where it is there and empty, ticks none: that is an answer, as leaving the field out is not.
	Default []string `json:"default,omitzero"`
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
	Type tag[JSONField] `json:"type"`
	FieldHead
	// Schema is the property's own JSON Schema.
	Schema  json.RawMessage `json:"schema"`
	Default json.RawMessage `json:"default,omitempty"`
}

// masked replaces a secret value.
const masked = "•••"

// MaskSecrets returns an answer as it may be shown and kept: the values of the fields that ask for a
// secret, and of those that are marked as secret by their names, are replaced. Without such a field, it is the answer
// itself; one that is no object is masked whole.
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
	for _, f := range fields { // in their order, which an answer has
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
