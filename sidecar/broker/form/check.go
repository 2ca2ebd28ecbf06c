package form

import (
	"encoding/json"
	"fmt"
	"slices"
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
		if !ok && head.NullIfLeftOut {
			value, ok = json.RawMessage("null"), true
		}
		switch {
		case !ok && head.Required:
			problems = append(problems, protocol.FieldProblem{Name: head.Name, Message: "This is required.", Keyword: protocol.KeywordRequired})
			continue
		case !ok:
			continue
		case head.Nullable && string(value) == "null":
			checked = append(checked, member{head.Name, value})
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

// Described returns an answer with only those members that the form describes, and without null for a field that may be left
// out, as some SDKs write it. What [Check] cannot read stays as it is.
func Described(fields []protocol.Field, answer json.RawMessage) json.RawMessage {
	var given object
	if len(answer) == 0 || json.Unmarshal(answer, &given) != nil {
		return answer
	}
	described := slices.DeleteFunc(given, func(m member) bool {
		i := slices.IndexFunc(fields, func(f protocol.Field) bool { return f.Head().Name == m.name })
		return i < 0 || string(m.value) == "null" && !fields[i].Head().Required && !fields[i].Head().Nullable
	})
	if len(described) == len(given) {
		return answer
	}
	content, err := json.Marshal(described)
	if err != nil {
		return answer
	}
	return content
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
		o := indexed(f.Options).find(value)
		if o == nil {
			return value, fieldProblem(protocol.KeywordEnum, "This must be one of the choices.")
		}
		return jsonOf(o), none
	case protocol.ChoicesField:
		var given []json.RawMessage
		if json.Unmarshal(value, &given) != nil || given == nil {
			return value, fieldProblem(protocol.KeywordType, "This must be a list of choices.")
		}
		return checkChoices(f, given)
	case protocol.ListField:
		var given []json.RawMessage
		if json.Unmarshal(value, &given) != nil || given == nil {
			return value, fieldProblem(protocol.KeywordType, "This must be a list.")
		}
		return checkList(f, given)
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

// checkChoices returns the values of the chosen options as the server gets them.
func checkChoices(f protocol.ChoicesField, given []json.RawMessage) (json.RawMessage, protocol.FieldProblem) {
	by, seen := indexed(f.Options), map[*protocol.Option]bool{}
	values := make([]json.RawMessage, 0, len(given))
	for _, one := range given {
		o := by.find(one)
		if o == nil {
			return nil, fieldProblem(protocol.KeywordEnum, "This must be a list of the choices.")
		}
		if seen[o] {
			return nil, fieldProblem("", "A choice can be chosen once only.")
		}
		seen[o] = true
		values = append(values, jsonOf(o))
	}
	switch {
	case f.MinItems != nil && len(given) < *f.MinItems:
		return nil, fieldProblem(protocol.KeywordMinItems, "Choose at least %d.", *f.MinItems)
	case f.MaxItems != nil && len(given) > *f.MaxItems:
		return nil, fieldProblem(protocol.KeywordMaxItems, "Choose at most %d.", *f.MaxItems)
	}
	return asArray(values), none
}

// checkList returns the items of a list as the server gets them.
func checkList(f protocol.ListField, given []json.RawMessage) (json.RawMessage, protocol.FieldProblem) {
	seen := map[string]int{}
	values := make([]json.RawMessage, 0, len(given))
	for i, one := range given {
		value, problem := checkValue(f.Item, one)
		if problem.Message != "" {
			problem.Message = fmt.Sprintf("Item %d: %s", i+1, problem.Message)
			return nil, problem
		}
		key := canonicalOf(value)
		if first := seen[key]; f.Unique && first > 0 {
			return nil, fieldProblem("", "Item %d is the same as item %d, and each must differ.", i+1, first)
		}
		seen[key] = i + 1
		values = append(values, value)
	}
	switch {
	case f.MinItems != nil && len(given) < *f.MinItems:
		return nil, fieldProblem(protocol.KeywordMinItems, "This must have at least %s.", Items(*f.MinItems))
	case f.MaxItems != nil && len(given) > *f.MaxItems:
		return nil, fieldProblem(protocol.KeywordMaxItems, "This must have at most %s.", Items(*f.MaxItems))
	}
	return asArray(values), none
}

// Items returns a number of items as a text, such as "2 items".
func Items(n int) string {
	if n == 1 {
		return "1 item"
	}
	return fmt.Sprintf("%d items", n)
}

func asArray(values []json.RawMessage) json.RawMessage {
	array := []byte{'['}
	for i, value := range values {
		if i > 0 {
			array = append(array, ',')
		}
		array = append(array, value...)
	}
	return append(array, ']')
}
