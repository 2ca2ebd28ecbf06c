package form

import (
	"encoding/json"
	"fmt"
	"math"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"assent/protocol"
)

// Check compares an answer with the fields of its form. It returns the answer as it goes to the
// server, its members in the order of the fields and otherwise untouched, or what is wrong with it.
//
// A default is a proposal to the person, so a member that is absent stays absent.
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
	for _, f := range fields {
		head := f.Head()
		known[head.Name] = true
		value, ok := given.get(head.Name)
		if !ok {
			if head.Required {
				problems = append(problems, protocol.FieldProblem{Name: head.Name, Message: "This is required."})
			}
			continue
		}
		if message := checkValue(f, value); message != "" {
			problems = append(problems, protocol.FieldProblem{Name: head.Name, Message: message})
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

// checkValue returns what is wrong with a value, or nothing.
func checkValue(f protocol.Field, value json.RawMessage) string {
	switch f := f.(type) {
	case protocol.StringField:
		var s *string
		if json.Unmarshal(value, &s) != nil || s == nil {
			return "This must be a text."
		}
		return checkText(f, *s)
	case protocol.NumberField:
		var n *float64
		if json.Unmarshal(value, &n) != nil || n == nil {
			return "This must be a number."
		}
		return checkNumber(f, *n)
	case protocol.BooleanField:
		var b *bool
		if json.Unmarshal(value, &b) != nil || b == nil {
			return "This must be yes or no."
		}
	case protocol.ChoiceField:
		var s *string
		if json.Unmarshal(value, &s) != nil || s == nil || !isOption(f.Options, *s) {
			return "This must be one of the choices."
		}
	case protocol.ChoicesField:
		var chosen []string
		if json.Unmarshal(value, &chosen) != nil || chosen == nil {
			return "This must be a list of choices."
		}
		return checkChoices(f, chosen)
	case protocol.JSONField:
		return "" // the server judges it
	}
	return ""
}

func checkText(f protocol.StringField, s string) string {
	length := utf8.RuneCountInString(s)
	switch {
	case f.MinLength != nil && length < *f.MinLength:
		return fmt.Sprintf("This must have at least %d characters.", *f.MinLength)
	case f.MaxLength != nil && length > *f.MaxLength:
		return fmt.Sprintf("This must have at most %d characters.", *f.MaxLength)
	}
	if f.Pattern != "" {
		pattern, err := regexp.Compile(f.Pattern)
		if err != nil || !pattern.MatchString(s) {
			return fmt.Sprintf("This must match the pattern %s.", f.Pattern)
		}
	}
	switch f.Format {
	case protocol.FormatEmail:
		if a, err := mail.ParseAddress(s); err != nil || a.Address != s {
			return "This must be an e-mail address."
		}
	case protocol.FormatURI:
		if u, err := url.Parse(s); err != nil || u.Scheme == "" || strings.ContainsAny(s, " \t\r\n") {
			return "This must be a URI, with its scheme."
		}
	case protocol.FormatDate:
		if _, err := time.Parse(time.DateOnly, s); err != nil {
			return "This must be a date such as 2026-07-28."
		}
	case protocol.FormatDateTime:
		if _, err := time.Parse(time.RFC3339, s); err != nil {
			return "This must be a date and time such as 2026-07-28T12:00:00Z."
		}
	}
	return ""
}

func checkNumber(f protocol.NumberField, n float64) string {
	switch {
	case f.Integer && n != math.Trunc(n):
		return "This must be a whole number."
	case f.Minimum != nil && n < *f.Minimum:
		return fmt.Sprintf("This must be at least %v.", *f.Minimum)
	case f.Maximum != nil && n > *f.Maximum:
		return fmt.Sprintf("This must be at most %v.", *f.Maximum)
	}
	return ""
}

func checkChoices(f protocol.ChoicesField, chosen []string) string {
	for i, s := range chosen {
		if !isOption(f.Options, s) {
			return "This must be a list of the choices."
		}
		if slices.Contains(chosen[:i], s) {
			return "A choice can be chosen once only."
		}
	}
	switch {
	case f.MinItems != nil && len(chosen) < *f.MinItems:
		return fmt.Sprintf("Choose at least %d.", *f.MinItems)
	case f.MaxItems != nil && len(chosen) > *f.MaxItems:
		return fmt.Sprintf("Choose at most %d.", *f.MaxItems)
	}
	return ""
}

func isOption(options []protocol.Option, value string) bool {
	return slices.ContainsFunc(options, func(o protocol.Option) bool { return o.Value == value })
}
