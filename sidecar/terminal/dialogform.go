package terminal

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"assent/protocol"
)

// mostListed bounds the options of a list. If there are more, the person types one, because huh draws a whole list,
// including the part that is not visible.
const mostListed = 100

// longLine is the allowed length from which a text field gets several rows, in characters.
const longLine = 300

// The choices at the end of a form.
const (
	formSend = iota
	formDecline
	formCancel
	formChange
)

// filling is a field that the person is filling in.
type filling struct {
	page  *page
	field protocol.Field
	// value returns the field's value; nil leaves the field out.
	value func() json.RawMessage
	// marked reports whether the person marked the answer as secret.
	marked bool
}

// mark marks the answer as secret, or removes the mark.
func (f *filling) mark() {
	f.marked = !f.marked
	f.page.title = titleOf(f.field)
	if f.marked {
		f.page.title += " (secret)"
	}
	if hide := f.page.control.hide; hide != nil {
		hide(f.marked)
	}
}

// fill implements [prompter]: a page for each field, and a last one that shows all values. If the sidecar refused the
// answer, fill begins with the first problem.
func (q *dialogs) fill(ctx context.Context, words formWords, fields []protocol.Field, kept *filled, problems []protocol.FieldProblem) (json.RawMessage, error) {
	again := map[string]string{}
	for _, problem := range problems {
		again[problem.Name] = problem.Message
	}
	d := &dialog{declinable: words.decline != ""}
	fillings := make([]*filling, len(fields))
	for i, f := range fields {
		name := f.Head().Name
		initial := defaultOf(f)
		if kept.values != nil {
			initial = kept.values[name]
		}
		fillings[i] = newFilling(f, initial)
		fillings[i].page.text = func() string { return fieldText(words.about, f, i == 0) }
		fillings[i].page.problem = again[name]
		fillings[i].page.check = func() string { return fieldProblem(f, fillings[i].value()) }
		if words.secrets && canMark(f) {
			fillings[i].page.mark = fillings[i].mark
			if slices.Contains(kept.secret, name) {
				fillings[i].mark()
			}
		}
		d.pages = append(d.pages, fillings[i].page)
	}
	wrong := func(after int) int { // the next page with a problem, or the last page
		for i := after; i < len(fillings); i++ {
			if fillings[i].page.problem != "" {
				return i
			}
		}
		return len(fillings)
	}
	changing := problems == nil || len(fields) > 0 && wrong(0) == len(fields)
	if !changing {
		d.at = wrong(0)
	}
	for i, f := range fillings {
		refused := string(f.value())
		f.page.next = func() int {
			f.page.problem = "" // the check of this page has passed
			if string(f.value()) == refused {
				f.page.problem = again[f.field.Head().Name] // the sidecar found it, and the check did not
			}
			if changing {
				return i + 1
			}
			return wrong(i + 1)
		}
	}
	at := 0
	last := &page{title: words.question, problem: again[""], whole: true}
	ways, names := []int{formSend}, []string{words.send}
	if words.decline != "" {
		ways, names = append(ways, formDecline), append(names, words.decline)
	}
	ways, names = append(ways, formCancel), append(names, words.cancel)
	if len(fields) > 0 {
		ways, names = append(ways, formChange), append(names, "Change something")
	}
	last.control = listControl(&at, names)
	last.text = func() string { return fillingsText(words.about, fillings) }
	last.next = func() int {
		if ways[at] == formChange {
			at, changing = 0, true
			return 0
		}
		return -1
	}
	d.pages = append(d.pages, last)
	if problems != nil {
		q.s.note("The answer is not right yet:\n%s", problemLines(problems))
	}
	if err := q.run(ctx, d); err != nil {
		return nil, err
	}
	switch ways[at] {
	case formDecline:
		return nil, errDeclined
	case formCancel:
		return nil, errDismissed
	}
	*kept = filled{values: map[string]json.RawMessage{}}
	for _, f := range fillings {
		name := f.field.Head().Name
		if value := f.value(); value != nil {
			kept.values[name] = value
		}
		if f.marked {
			kept.secret = append(kept.secret, name)
		}
	}
	content, err := objectOf(fields, kept.values)
	if err != nil {
		return nil, err
	}
	q.answered(words.about, fields, protocol.MaskSecrets(fields, content, kept.secret...))
	return content, nil
}

// titleOf returns a field's title in one line that is safe to show.
func titleOf(f protocol.Field) string {
	head := f.Head()
	if title := oneLine(head.Title, 200); title != "" {
		return title
	}
	return oneLine(head.Name, 200)
}

// fieldText describes a field. The message of the form is above the first field.
func fieldText(about string, f protocol.Field, first bool) string {
	var b strings.Builder
	if first {
		fmt.Fprintf(&b, "%s\n\n", safe(about))
	}
	head := f.Head()
	need := "may be left out"
	if head.Required {
		need = "required"
	}
	fmt.Fprintf(&b, "%s (%s, %s)\n", strong(titleOf(f)), safe(kindOf(f)), need)
	if head.Description != "" {
		fmt.Fprintf(&b, "%s\n", safe(head.Description))
	}
	if head.Secret {
		b.WriteString("Careful: this seems to ask for a secret, which MCP forbids in a form. It is not stored.\n")
	}
	if options := optionsOf(f); len(options) > mostListed {
		for _, o := range options {
			fmt.Fprintf(&b, "- %s\n", optionName(o))
		}
	}
	return b.String()
}

// fillingsText lists the values that would be sent.
func fillingsText(about string, fillings []*filling) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", safe(about))
	for _, f := range fillings {
		value := f.value()
		shown := "(left out)"
		switch {
		case value == nil:
		case f.field.Head().Secret || f.marked:
			shown = "•••"
		default:
			shown = oneLine(shownDefault(value), 1000)
		}
		mark := " "
		if f.page.problem != "" {
			mark = "!"
		}
		fmt.Fprintf(&b, "%s %s: %s\n", mark, strong(titleOf(f.field)), shown)
	}
	return b.String()
}

// newFilling returns a field with its page and initial value; nil means none.
func newFilling(f protocol.Field, initial json.RawMessage) *filling {
	set := func(c control, value func() json.RawMessage) *filling {
		return &filling{page: &page{title: titleOf(f), control: c}, field: f, value: value}
	}
	options := optionsOf(f)
	required := f.Head().Required
	switch f := f.(type) {
	case protocol.BooleanField:
		return set(oneOf([]json.RawMessage{json.RawMessage("true"), json.RawMessage("false")}, []string{"Yes", "No"}, required, initial))
	case protocol.ChoiceField:
		if len(options) > mostListed {
			break
		}
		values, names := make([]json.RawMessage, len(options)), make([]string, len(options))
		for i, o := range options {
			values[i], names[i] = jsonOf(o), optionName(o)
		}
		return set(oneOf(values, names, required, initial))
	case protocol.ChoicesField:
		if len(options) > mostListed || len(options) == 0 {
			break
		}
		var given []json.RawMessage
		_ = json.Unmarshal(initial, &given) // any other value ticks nothing
		names, ticked := make([]string, len(options)), []int{}
		for i, o := range options {
			names[i] = optionName(o)
			if slices.ContainsFunc(given, func(one json.RawMessage) bool { return string(one) == string(jsonOf(o)) }) {
				ticked = append(ticked, i)
			}
		}
		return set(ticksControl(&ticked, names), func() json.RawMessage {
			if len(ticked) == 0 && !required && f.Default == nil {
				return nil
			}
			picked := make([]json.RawMessage, len(ticked))
			for i, at := range ticked {
				picked[i] = jsonOf(options[at])
			}
			return quote(picked)
		})
	}
	return set(typedControl(f, options, initial))
}

// oneOf returns a control for one of several values. A field that is not required can be left out.
func oneOf(values []json.RawMessage, names []string, required bool, initial json.RawMessage) (control, func() json.RawMessage) {
	at := max(0, slices.IndexFunc(values, func(v json.RawMessage) bool { return string(v) == string(initial) }))
	if !required || len(values) == 0 {
		values, names = append(values, nil), append(names, "(leave it out)")
		if initial == nil {
			at = len(values) - 1
		}
	}
	return listControl(&at, names), func() json.RawMessage { return values[at] }
}

// typedControl returns a control for a field that the person types.
func typedControl(f protocol.Field, options []protocol.Option, initial json.RawMessage) (control, func() json.RawMessage) {
	raw := ""
	if initial != nil {
		raw = shownDefault(initial)
		if string(initial) == `""` {
			raw = ""
		}
	}
	_, list := f.(protocol.ListField)
	if list {
		raw = linesOf(initial)
	}
	var typed *typedText
	check := func(text string) error {
		if text == typed.first || text == "" {
			return nil // unchanged, or left out
		}
		_, problem := parseField(f, options, text)
		return problemError(problem)
	}
	long := list || strings.Contains(raw, "\n")
	if s, ok := f.(protocol.StringField); ok && s.Format == "" && s.MaxLength != nil && *s.MaxLength >= longLine {
		long = true
	}
	typed, c := newTypedText(raw, func(value *string) control {
		if long && !f.Head().Secret {
			return textControl(value, check)
		}
		return lineControl(value, f.Head().Secret, check)
	})
	return c, func() json.RawMessage {
		text, changed := typed.text()
		switch {
		case !changed:
			return initial
		case text == "":
			return nil
		}
		value, problem := parseField(f, options, text)
		if problem != "" {
			return quote(text) // the sidecar names the problem
		}
		return value
	}
}

// linesOf returns the items of a list, each on a line.
func linesOf(list json.RawMessage) string {
	var items []json.RawMessage
	_ = json.Unmarshal(list, &items) // any other value has no lines
	lines := make([]string, len(items))
	for i, item := range items {
		lines[i] = shownDefault(item)
	}
	return strings.Join(lines, "\n")
}

// optionName returns the name of an option in a list.
func optionName(o protocol.Option) string {
	return cmp.Or(oneLine(namedOption(o), 200), `""`)
}

// quote returns a text, or a list, as JSON.
func quote(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null") // cannot happen: texts can be encoded
	}
	return raw
}
