package terminal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"assent/protocol"
	"assent/sidecar/broker/form"
)

// mostOptions bounds how many options are listed at once.
const mostOptions = 30

// filled is a form as the person filled it in.
type filled struct {
	// values maps the names of the fields to their values, without the fields that were left out. It is nil before the
	// first answer.
	values map[string]json.RawMessage
	// secret names the fields that the person marked as secret.
	secret []string
}

// canMark reports whether the person may mark a field as secret. They may if the field is typed and does not ask for a
// secret anyway.
func canMark(f protocol.Field) bool {
	switch f.(type) {
	case protocol.StringField, protocol.NumberField:
		return !f.Head().Secret
	}
	return false
}

// fill implements [prompter]. It asks for all fields, or again for those with a problem.
func (p *person) fill(ctx context.Context, words formWords, fields []protocol.Field, kept *filled, problems []protocol.FieldProblem) (json.RawMessage, error) {
	again := map[string]bool{}
	for _, problem := range problems {
		again[problem.Name] = true
	}
	if problems != nil {
		p.s.note("The answer is not right yet:\n%s", problemLines(problems))
	} else {
		p.s.head("\n%s", words.about)
		if words.decline == "" {
			p.s.note("(:cancel dismisses it, :help explains)")
		} else {
			p.s.note("(:decline says no, :cancel dismisses it, :help explains)")
		}
	}
	if kept.values == nil || again[""] {
		*kept, again = filled{values: map[string]json.RawMessage{}}, nil
	}
	for _, f := range fields {
		name := f.Head().Name
		if len(again) > 0 && !again[name] {
			continue
		}
		var mark func()
		if words.secrets && canMark(f) {
			mark = func() { kept.secret = append(kept.secret, name) }
		}
		value, err := p.field(ctx, f, slices.Contains(kept.secret, name), mark)
		if err != nil {
			return nil, err
		}
		delete(kept.values, name)
		if value != nil {
			kept.values[name] = value
		}
	}
	if problems == nil {
		word, err := p.choose(ctx, words.question+" (yes, no, again): ", "yes", "no", "again")
		switch {
		case err != nil:
			return nil, err
		case word == "no":
			return nil, errDeclined
		case word == "again":
			*kept = filled{}
			return p.fill(ctx, words, fields, kept, nil)
		}
	}
	return objectOf(fields, kept.values)
}

// objectOf returns values as a JSON object, in the order of the fields.
func objectOf(fields []protocol.Field, values map[string]json.RawMessage) (json.RawMessage, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for _, field := range fields {
		name := field.Head().Name
		value, ok := values[name]
		if !ok {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		quoted, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		b.Write(quoted)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// field asks for a field until the sidecar would accept the value. It returns nil for a field that is left out. The
// terminal does not show a secret value as it is typed. field calls mark when the person marks this field as secret; if
// mark is nil, they cannot.
func (p *person) field(ctx context.Context, f protocol.Field, secret bool, mark func()) (json.RawMessage, error) {
	head := f.Head()
	secret = secret || head.Secret
	need := ""
	if head.Required {
		need = ", required"
	}
	p.s.note("%s (%s%s)", titleOf(f), kindOf(f), need)
	if head.Description != "" {
		p.s.note("  %s", head.Description)
	}
	if head.Secret {
		p.s.note("  Careful: this seems to ask for a secret, which MCP forbids in a form. It is not stored.")
	}
	options := optionsOf(f)
	p.list(options, "")
	switch f.(type) {
	case protocol.ChoicesField:
		p.s.note("  Separate several by commas; - is none.")
	case protocol.ListField:
		p.s.note("  One item on each line, and an empty line after the last; - is none.")
	}
	proposed := defaultOf(f)
	prompt := "> "
	if proposed != nil {
		prompt = fmt.Sprintf("[%s] > ", oneLine(shownDefault(proposed), 60))
	}
	for {
		text, err := p.lineOrMark(ctx, secret, secret || mark != nil, prompt)
		switch {
		case errors.Is(err, errMarked):
			if !secret {
				secret = true
				mark()
			}
			p.s.note("  This answer is a secret: it goes to the server, and is not stored.")
			continue
		case err != nil:
			return nil, err
		}
		if text == "" {
			problem := fieldProblem(f, proposed)
			if problem == "" {
				return proposed, nil
			}
			p.s.note("  %s", problem)
			continue
		}
		if rest, ok := strings.CutPrefix(text, "/"); ok && len(options) > 0 {
			p.list(options, rest)
			continue
		}
		if _, list := f.(protocol.ListField); list {
			if text, err = p.moreLines(ctx, secret, text); err != nil {
				return nil, err
			}
		}
		value, problem := parseField(f, options, text)
		if problem == "" {
			problem = fieldProblem(f, value)
		}
		if problem == "" {
			return value, nil
		}
		p.s.note("  %s", problem)
	}
}

// moreLines returns the first line of a list with the lines after it. An array of JSON, and "-", are the whole list.
func (p *person) moreLines(ctx context.Context, secret bool, first string) (string, error) {
	if whole := strings.TrimSpace(first); whole == "-" || strings.HasPrefix(whole, "[") && json.Valid([]byte(whole)) {
		return first, nil
	}
	lines := []string{first}
	for {
		line, err := p.lineOrMark(ctx, secret, false, "> ")
		if err != nil || line == "" {
			return strings.Join(lines, "\n"), err
		}
		lines = append(lines, line)
	}
}

// parseField returns the value that a typed text stands for, or a problem.
func parseField(f protocol.Field, options []protocol.Option, text string) (json.RawMessage, string) {
	trimmed := strings.TrimSpace(text)
	var value any
	switch f := f.(type) {
	case protocol.NumberField:
		var number json.Number
		if json.Unmarshal([]byte(trimmed), &number) == nil && trimmed[0] != '"' {
			return json.RawMessage(trimmed), ""
		}
		value = trimmed // the sidecar names the problem
	case protocol.BooleanField:
		switch strings.ToLower(trimmed) {
		case "y", "yes", "true":
			value = true
		case "n", "no", "false":
			value = false
		default:
			return nil, "Type yes or no."
		}
	case protocol.ChoiceField:
		option, ok := pick(options, trimmed)
		if !ok {
			return nil, "Not one of the options. Type /text to search them."
		}
		return jsonOf(option), ""
	case protocol.ChoicesField:
		picked := []json.RawMessage{}
		if trimmed != "-" {
			for word := range strings.SplitSeq(trimmed, ",") {
				option, ok := pick(options, strings.TrimSpace(word))
				if !ok {
					return nil, fmt.Sprintf("%q is none of the options. Separate several by commas; - is none.", strings.TrimSpace(word))
				}
				value := jsonOf(option)
				if !slices.ContainsFunc(picked, func(one json.RawMessage) bool { return string(one) == string(value) }) {
					picked = append(picked, value)
				}
			}
		}
		value = picked
	case protocol.ListField:
		return parseList(f, trimmed)
	case protocol.JSONField:
		if !json.Valid([]byte(text)) {
			return nil, "That is not JSON."
		}
		return json.RawMessage(text), ""
	case protocol.StringField:
		switch {
		case text == `""`:
			text = ""
		case f.Format == protocol.FormatDateTime:
			text = moment(text, time.Now())
		}
		value = text
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, err.Error()
	}
	return raw, ""
}

// parseList returns the list that lines stand for, or a problem.
func parseList(f protocol.ListField, text string) (json.RawMessage, string) {
	if strings.HasPrefix(text, "[") && json.Valid([]byte(text)) {
		return json.RawMessage(text), ""
	}
	items := []json.RawMessage{}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "" || text == "-" {
			continue
		}
		item, problem := parseField(f.Item, nil, line)
		if problem != "" {
			return nil, fmt.Sprintf("%s: %s", line, problem)
		}
		items = append(items, item)
	}
	raw, err := json.Marshal(items)
	if err != nil {
		return nil, err.Error()
	}
	return raw, ""
}

// numbered reports whether the person can choose options by their place in the list. They cannot if options look like
// numbers themselves.
func numbered(options []protocol.Option) bool {
	return !slices.ContainsFunc(options, func(o protocol.Option) bool {
		_, value := strconv.Atoi(o.Value)
		_, title := strconv.Atoi(o.Title)
		return value == nil || title == nil
	})
}

// jsonOf returns the value of an option.
func jsonOf(o protocol.Option) json.RawMessage {
	if o.JSON != "" {
		return json.RawMessage(o.JSON)
	}
	return quote(o.Value)
}

// jsonOfTexts returns the values of options that are named by their texts.
func jsonOfTexts(options []protocol.Option, texts []string) []json.RawMessage {
	values := []json.RawMessage{}
	for _, o := range options {
		if slices.Contains(texts, o.Value) {
			values = append(values, jsonOf(o))
		}
	}
	return values
}

// pick returns the option that was typed: its number, its value or its title.
func pick(options []protocol.Option, text string) (protocol.Option, bool) {
	if n, err := strconv.Atoi(text); err == nil && numbered(options) {
		if n < 1 || n > len(options) {
			return protocol.Option{}, false
		}
		return options[n-1], true
	}
	for _, o := range options {
		if o.Value == text {
			return o, true
		}
	}
	at := slices.IndexFunc(options, func(o protocol.Option) bool { return strings.EqualFold(o.Title, text) })
	if at < 0 || text == "" {
		return protocol.Option{}, false
	}
	return options[at], true
}

// list shows the options that contain a text, at most [mostOptions] of them.
func (p *person) list(options []protocol.Option, text string) {
	shown, byNumber := 0, numbered(options)
	for i, o := range options {
		title := namedOption(o)
		if !strings.Contains(strings.ToLower(title), strings.ToLower(text)) {
			continue
		}
		if shown++; shown > mostOptions {
			p.s.note("  … of %d: /text lists those with a text in them", len(options))
			return
		}
		if byNumber {
			p.s.note("  %d. %s", i+1, oneLine(title, 200))
		} else {
			p.s.note("  - %s", oneLine(title, 200))
		}
	}
}

// namedOption returns an option's title, with its value if that says more.
func namedOption(o protocol.Option) string {
	switch {
	case o.Title == "":
		return o.Value
	case strings.EqualFold(o.Title, o.Value):
		return o.Title
	}
	return fmt.Sprintf("%s (%s)", o.Title, o.Value)
}

func optionsOf(f protocol.Field) []protocol.Option {
	switch f := f.(type) {
	case protocol.ChoiceField:
		return f.Options
	case protocol.ChoicesField:
		return f.Options
	}
	return nil
}

// defaultOf returns the default of a field, or nil.
func defaultOf(f protocol.Field) json.RawMessage {
	var value any
	switch f := f.(type) {
	case protocol.StringField:
		if f.Default == nil {
			return nil
		}
		value = *f.Default
	case protocol.NumberField:
		switch {
		case f.DefaultText != "":
			value = f.DefaultText
		case f.Default == nil:
			return nil
		default:
			value = *f.Default
		}
	case protocol.BooleanField:
		if f.Default == nil {
			return nil
		}
		value = *f.Default
	case protocol.ChoiceField:
		if f.Default == nil {
			return nil
		}
		if values := jsonOfTexts(f.Options, []string{*f.Default}); len(values) > 0 {
			return values[0]
		}
		return nil
	case protocol.ChoicesField:
		if f.Default == nil {
			return nil
		}
		value = jsonOfTexts(f.Options, f.Default)
	case protocol.ListField:
		if f.Default == nil {
			return nil
		}
		items, problem := parseList(f, strings.Join(f.Default, "\n"))
		if problem != "" {
			return nil // the sidecar has checked it
		}
		return items
	case protocol.JSONField:
		return f.Default
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return nil // cannot happen: numbers in JSON are finite
	}
	return raw
}

// shownDefault returns a default for reading: a text comes without its quotes.
func shownDefault(raw json.RawMessage) string {
	if text := unquote(raw); text != "" {
		return text
	}
	return string(raw)
}

func unquote(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return ""
	}
	return text
}

// kindOf describes what a field needs.
func kindOf(f protocol.Field) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	switch f := f.(type) {
	case protocol.StringField:
		add("text")
		switch f.Format {
		case "":
		case protocol.FormatDateTime:
			parts[0] = momentHint(time.Now())
		case protocol.FormatDate:
			parts[0] = "date, such as 2026-11-21"
		default:
			parts[0] = string(f.Format)
		}
		if f.MinLength != nil {
			add("at least %s", form.Characters(*f.MinLength))
		}
		if f.MaxLength != nil {
			add("at most %s", form.Characters(*f.MaxLength))
		}
		if f.Pattern != "" && f.Description == "" {
			add("matching %s", oneLine(f.Pattern, 80))
		}
	case protocol.NumberField:
		add("number")
		if f.Integer {
			parts[0] = "whole number"
		}
		if f.Minimum != nil {
			add("at least %s", form.Number(*f.Minimum))
		}
		if f.Maximum != nil {
			add("at most %s", form.Number(*f.Maximum))
		}
	case protocol.BooleanField:
		add("yes or no")
	case protocol.ChoiceField:
		add("one of %d", len(f.Options))
	case protocol.ChoicesField:
		add("any of %d", len(f.Options))
		if f.MinItems != nil {
			add("at least %d", *f.MinItems)
		}
		if f.MaxItems != nil {
			add("at most %d", *f.MaxItems)
		}
	case protocol.ListField:
		add("list, each item: %s", kindOf(f.Item))
		if f.MinItems != nil {
			add("at least %s", form.Items(*f.MinItems))
		}
		if f.MaxItems != nil {
			add("at most %s", form.Items(*f.MaxItems))
		}
	case protocol.JSONField:
		add("JSON")
	}
	return strings.Join(parts, ", ")
}
