package answers

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Field is a field of a form for a template: its name, a description of its value, and a plausible example.
type Field struct {
	Name string
	// Example is JSON.
	Example json.RawMessage
	Note    string
}

// mostMessage bounds how many characters of a message a template quotes.
const mostMessage = 200

// Template returns a rule for an ask, which a person can paste and fill in.
func Template(a Ask, fields []Field) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  - match:\n      server: %s\n", quote(a.Server))
	if len(a.Tools) == 1 {
		fmt.Fprintf(&b, "      tool: %s\n", quote(a.Tools[0]))
	}
	fmt.Fprintf(&b, "      kind: %s\n", a.Kind)
	if message := []rune(strings.Join(strings.Fields(a.Message), " ")); len(message) > 0 {
		fmt.Fprintf(&b, "      message: %s\n", quote(string(message[:min(len(message), mostMessage)])))
	}
	switch {
	case a.Kind == Input:
		b.WriteString("    answer: \"\"\n")
	case a.Kind == Completion:
		b.WriteString("    completion: \"\"\n")
	case a.Kind != Form:
		b.WriteString("    approve: true\n")
	case len(fields) == 0:
		b.WriteString("    answer: {}\n")
	default:
		b.WriteString("    answer:\n")
		for _, f := range fields {
			fmt.Fprintf(&b, "      %s: %s", quote(f.Name), f.Example)
			if f.Note != "" {
				fmt.Fprintf(&b, " # %s", strings.Join(strings.Fields(f.Note), " "))
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// quote returns a text as JSON, which is valid YAML, with hidden characters escaped.
func quote(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(text) != nil {
		return `""` // always possible for a string
	}
	return reveal(strings.TrimSuffix(b.String(), "\n"))
}
