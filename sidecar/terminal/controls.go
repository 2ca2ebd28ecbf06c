package terminal

import (
	"errors"
	"fmt"
	"strings"

	"charm.land/huh/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// newControl returns a control for a huh field. It uses the terminal's own 16 colours, which the person chose.
func newControl(f huh.Field, title, describe func(string), rows func(int) int) control {
	keys := huh.NewDefaultKeyMap()
	keys.Text.Editor.SetEnabled(false)
	f = f.WithTheme(huh.ThemeFunc(huh.ThemeBase16)).WithKeyMap(keys)
	// Enter ends every page, including the first and the last.
	f = f.WithPosition(huh.FieldPosition{Field: 1, FirstField: 0, LastField: 2, GroupCount: 1})
	return control{Field: f, title: title, describe: describe, rows: rows}
}

// lineControl returns an input for one line.
func lineControl(value *string, secret bool, check func(string) error) control {
	f := huh.NewInput().Value(value).Validate(check)
	c := newControl(f, func(s string) { f.Title(s) }, func(s string) { f.Description(s) }, nil)
	c.hide = func(hidden bool) {
		if hidden {
			f.EchoMode(huh.EchoModePassword)
		} else {
			f.EchoMode(huh.EchoModeNormal)
		}
	}
	c.hide(secret)
	return c
}

// textControl returns an input for a text of several lines.
func textControl(value *string, check func(string) error) control {
	f := huh.NewText().Value(value).ExternalEditor(false).Validate(check)
	rows := func(int) int { return min(max(strings.Count(*value, "\n")+2, 3), 15) }
	return newControl(f, func(s string) { f.Title(s) }, func(s string) { f.Description(s) }, rows)
}

// listControl returns an input for one of several options. value is the option's index.
func listControl(value *int, names []string) control {
	f := huh.NewSelect[int]().Options(options(names)...).Value(value)
	return newControl(f, func(s string) { f.Title(s) }, func(s string) { f.Description(s) }, rowsOf(names, 2))
}

// ticksControl returns an input for any number of several options.
func ticksControl(value *[]int, names []string) control {
	f := huh.NewMultiSelect[int]().Options(options(names)...).Value(value)
	return newControl(f, func(s string) { f.Title(s) }, func(s string) { f.Description(s) }, rowsOf(names, 6))
}

// options returns the options of a list. huh recognises ticked options by their names, so no two have the same name.
func options(names []string) []huh.Option[int] {
	seen := map[string]bool{}
	list := make([]huh.Option[int], len(names))
	for i, name := range names {
		unique := name
		for n := 2; seen[unique]; n++ {
			unique = fmt.Sprintf("%s #%d", name, n)
		}
		seen[unique] = true
		list[i] = huh.NewOption(unique, i)
	}
	return list
}

// rowsOf returns how many rows names take at a width, each after a prefix of before columns.
func rowsOf(names []string, before int) func(width int) int {
	return func(width int) int {
		rows := 0
		for _, name := range names {
			rows += lipgloss.Height(ansi.Wrap(name, max(1, width-before), ""))
		}
		return rows
	}
}

// typedText is a text that the person edits, and its initial value.
type typedText struct {
	// value is the control's text. first is that text before any key was pressed. It can differ from raw, because the
	// control replaces characters that would move the cursor.
	value, first string
	// raw is the text that the control was given. It is the result unless the person changes the text.
	raw string
}

func newTypedText(raw string, make func(value *string) control) (*typedText, control) {
	t := &typedText{value: safe(raw), raw: raw}
	c := make(&t.value)
	c.Update(nil) // value is now the text that the control shows
	t.first = t.value
	return t, c
}

// text returns the text, and whether the person changed it.
func (t *typedText) text() (string, bool) {
	if t.value == t.first {
		return t.raw, false
	}
	return t.value, true
}

// whole reports whether the control shows exactly the text that it was given.
func (t *typedText) whole() bool { return t.first == t.raw }

func anything(string) error { return nil }

func problemError(text string) error {
	if text == "" {
		return nil
	}
	return errors.New(text)
}
