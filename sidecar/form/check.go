package form

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"assent/protocol"
)

// Check compares an answer with the fields of its form. It returns the answer for the server, with
// its members in the order of the fields and otherwise unchanged, or its problems.
//
// A default is only a proposal to the person, so an absent member stays absent.
func Check(fields []protocol.Field, answer json.RawMessage) (json.RawMessage, []protocol.FieldProblem) {
	if len(answer) == 0 {
		answer = json.RawMessage("{}")
	}
	var given object
	if err := json.Unmarshal(answer, &given); err != nil {
		return nil, []protocol.FieldProblem{{Message: fmt.Sprintf("The answer cannot be read: %v.", err)}}
	}
	var checked object
	var problems []protocol.FieldProblem
	known := map[string]bool{}
	values := make(map[string]json.RawMessage, len(given))
	for _, m := range given {
		values[m.name] = m.value
	}
	for _, f := range fields {
		head := f.Head()
		known[head.Name] = true
		value, ok := values[head.Name]
		if !ok {
			if head.Required {
				problems = append(problems, protocol.FieldProblem{Name: head.Name, Message: "This is required.", Keyword: protocol.KeywordRequired})
			}
			continue
		}
		value, problem := checkValue(f, value)
		if problem.Message != "" {
			problem.Name = head.Name
			problems = append(problems, problem)
		}
		checked = append(checked, member{head.Name, value})
	}
	for _, m := range given {
		if !known[m.name] {
			problems = append(problems, protocol.FieldProblem{Name: m.name, Message: "The form has no such field."})
		}
	}
	if problems != nil {
		return nil, problems
	}
	content, err := json.Marshal(checked)
	if err != nil {
		return nil, []protocol.FieldProblem{{Message: err.Error()}}
	}
	return content, nil
}

// fieldProblem returns a problem of a field. The caller sets the field's name.
func fieldProblem(keyword protocol.Keyword, format string, args ...any) protocol.FieldProblem {
	return protocol.FieldProblem{Message: fmt.Sprintf(format, args...), Keyword: keyword}
}

// none means no problem.
var none protocol.FieldProblem

// checkValue returns a value as the server gets it, and its problem or none.
func checkValue(f protocol.Field, value json.RawMessage) (json.RawMessage, protocol.FieldProblem) {
	switch f := f.(type) {
	case protocol.StringField:
		s, ok := readText(value)
		if !ok {
			return value, fieldProblem(protocol.KeywordType, "This must be a text.")
		}
		return value, checkText(f, s)
	case protocol.NumberField:
		text, n, ok := numberText(value)
		if !ok {
			return value, fieldProblem(protocol.KeywordType, "This must be a number.")
		}
		return text, checkNumber(f, string(text), n)
	case protocol.BooleanField:
		var b *bool
		if json.Unmarshal(value, &b) != nil || b == nil {
			return value, fieldProblem(protocol.KeywordType, "This must be yes or no.")
		}
	case protocol.ChoiceField:
		s, ok := readText(value)
		if !ok || !optionSet(f.Options)[s] {
			return value, fieldProblem(protocol.KeywordEnum, "This must be one of the choices.")
		}
	case protocol.ChoicesField:
		var chosen []*string
		if json.Unmarshal(value, &chosen) != nil || chosen == nil {
			return value, fieldProblem(protocol.KeywordType, "This must be a list of choices.")
		}
		return value, checkChoices(f, chosen)
	case protocol.JSONField:
		return value, none // the server checks it
	}
	return value, none
}

// Characters returns a number of characters as a text, such as "2 characters".
func Characters(n int) string {
	if n == 1 {
		return "1 character"
	}
	return fmt.Sprintf("%d characters", n)
}

func checkText(f protocol.StringField, s string) protocol.FieldProblem {
	length := utf8.RuneCountInString(s)
	switch {
	case f.MinLength != nil && length < *f.MinLength:
		return fieldProblem(protocol.KeywordMinLength, "This must have at least %s.", Characters(*f.MinLength))
	case f.MaxLength != nil && length > *f.MaxLength:
		return fieldProblem(protocol.KeywordMaxLength, "This must have at most %s.", Characters(*f.MaxLength))
	}
	if message := wrongFormat(f.Format, s); message != "" {
		return fieldProblem(protocol.KeywordFormat, "%s", message)
	}
	if f.Pattern != "" && !f.PatternUnchecked && !matches(f.Pattern, s) {
		if f.Description != "" { // more useful to a person than a regular expression
			return fieldProblem(protocol.KeywordPattern, "This does not match: %s.", strings.TrimRight(clip([]byte(f.Description)), ".:"))
		}
		return fieldProblem(protocol.KeywordPattern, "This must match the pattern %s.", clip([]byte(f.Pattern)))
	}
	return none
}

// checkNumber checks a number of JSON, given as a text and as the nearest double.
func checkNumber(f protocol.NumberField, text string, nearest float64) protocol.FieldProblem {
	exact, ok := parseNumber(text)
	switch {
	case !ok || f.Integer && !exact.whole():
		return fieldProblem(protocol.KeywordType, "This must be a whole number.")
	case f.Minimum != nil && nearest < *f.Minimum:
		return fieldProblem(protocol.KeywordMinimum, "This must be at least %s.", Number(*f.Minimum))
	case f.Maximum != nil && nearest > *f.Maximum:
		return fieldProblem(protocol.KeywordMaximum, "This must be at most %s.", Number(*f.Maximum))
	}
	return none
}

func checkChoices(f protocol.ChoicesField, chosen []*string) protocol.FieldProblem {
	known := optionSet(f.Options)
	seen := map[string]bool{}
	for _, s := range chosen {
		if s == nil || !known[*s] {
			return fieldProblem(protocol.KeywordEnum, "This must be a list of the choices.")
		}
		if seen[*s] {
			return fieldProblem("", "A choice can be chosen once only.")
		}
		seen[*s] = true
	}
	switch {
	case f.MinItems != nil && len(chosen) < *f.MinItems:
		return fieldProblem(protocol.KeywordMinItems, "Choose at least %d.", *f.MinItems)
	case f.MaxItems != nil && len(chosen) > *f.MaxItems:
		return fieldProblem(protocol.KeywordMaxItems, "Choose at most %d.", *f.MaxItems)
	}
	return none
}
