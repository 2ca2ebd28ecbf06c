package form

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// measurePattern translates a regular expression of ECMA-262 (JSON Schema, "pattern") for Go, and returns the number of
// steps that it compiles to and of characters that its classes list. It returns an error if the expression uses
// lookaround, backreferences or another dialect. The server then checks the pattern.
func measurePattern(pattern string) (steps, classRunes int, err error) {
	translated, err := translate(pattern)
	if err != nil {
		return 0, 0, err
	}
	expression, err := syntax.Parse(translated, syntax.Perl)
	if err != nil {
		return 0, 0, err
	}
	compiled, err := syntax.Compile(expression.Simplify())
	if err != nil {
		return 0, 0, err
	}
	if len(compiled.Inst) > maxPatternSteps {
		return 0, 0, fmt.Errorf("it has %d steps, and %d can be checked", len(compiled.Inst), maxPatternSteps)
	}
	known := map[*rune]bool{} // a repeated class is the same slice
	for _, inst := range compiled.Inst {
		if len(inst.Rune) > 0 && !known[&inst.Rune[0]] {
			known[&inst.Rune[0]] = true
			classRunes += len(inst.Rune)
		}
	}
	return len(compiled.Inst), classRunes, nil
}

// matches reports whether a pattern matches somewhere in a text. Like Go's engine, it takes time linear in both. A
// pattern that cannot be checked here matches every text.
func matches(pattern, text string) bool {
	if utf8.RuneCountInString(text) > maxTextRunes {
		return true
	}
	expression, err := compile(pattern)
	return err != nil || expression.MatchString(text)
}

// compiled caches the patterns of forms, which are checked at every change.
var compiled recent[string, *regexp.Regexp]

// compile returns Go's expression for one of ECMA-262.
func compile(pattern string) (*regexp.Regexp, error) {
	compileAnew := func() (*regexp.Regexp, error) {
		translated, err := translate(pattern)
		if err != nil {
			return nil, err
		}
		return regexp.Compile(translated)
	}
	if len(pattern) > mostKeptBytes {
		return compileAnew()
	}
	return compiled.get(pattern, compileAnew)
}

const (
	// space is \s of ECMA-262, and notSpace its complement.
	space    = `\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`
	notSpace = `\x{0}-\x{8}\x{e}-\x{1f}!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`
	// dot is any character except line ends.
	dot = `[^\n\r\x{2028}\x{2029}]`
)

// translate returns Go's syntax for an expression of ECMA-262.
func translate(pattern string) (string, error) {
	t := &translator{rest: []rune(pattern)}
	for len(t.rest) > 0 {
		if err := t.term(); err != nil {
			return "", err
		}
	}
	return t.out.String(), nil
}

type translator struct {
	rest []rune
	out  strings.Builder
}

// take removes n characters and returns them.
func (t *translator) take(n int) string {
	taken := string(t.rest[:n])
	t.rest = t.rest[n:]
	return taken
}

func (t *translator) starts(prefix string) bool {
	for i, r := range []rune(prefix) {
		if i >= len(t.rest) || t.rest[i] != r {
			return false
		}
	}
	return true
}

func (t *translator) term() error {
	switch r := t.rest[0]; r {
	case '\\':
		a, err := t.escape(false)
		if err != nil {
			return err
		}
		if a.set != "" {
			t.out.WriteString("[" + a.set + "]")
		} else {
			t.out.WriteString(a.text())
		}
	case '(':
		return t.group()
	case '[':
		return t.class()
	case '.':
		t.take(1)
		t.out.WriteString(dot)
	case '^':
		t.take(1)
		t.out.WriteString(`\A`)
	case '$':
		t.take(1)
		t.out.WriteString(`\z`)
	case ')', '|', '*', '+', '?':
		t.out.WriteString(t.take(1))
	case '{':
		t.repeat()
	default:
		t.take(1)
		t.out.WriteString(literal(r))
	}
	return nil
}

// repeat writes {2}, {2,} and {2,3}. Any other brace is a literal.
func (t *translator) repeat() {
	for i, r := range t.rest[1:] {
		switch {
		case r >= '0' && r <= '9', r == ',' && i > 0:
			continue
		case r == '}' && i > 0 && strings.Count(string(t.rest[1:i+1]), ",") <= 1:
			t.out.WriteString(t.take(i + 2))
			return
		}
		break
	}
	t.take(1)
	t.out.WriteString(`\{`)
}

// group writes the beginning of a group. Captures are not needed.
func (t *translator) group() error {
	t.take(1)
	switch {
	case !t.starts("?"):
	case t.starts("?:"):
		t.take(2)
	case t.starts("?<") && !t.starts("?<=") && !t.starts("?<!"):
		end := strings.IndexRune(string(t.rest), '>')
		if end < 0 {
			return fmt.Errorf("a group's name has no end")
		}
		t.take(len([]rune(string(t.rest)[:end])) + 1)
	default:
		return fmt.Errorf("it looks around, or has a group of another dialect")
	}
	t.out.WriteString("(?:")
	return nil
}

// class writes a class of characters.
func (t *translator) class() error {
	t.take(1)
	var items strings.Builder
	negated := t.starts("^")
	if negated {
		t.take(1)
	}
	for {
		if len(t.rest) == 0 {
			return fmt.Errorf("a class has no end")
		}
		if t.starts("]") {
			t.take(1)
			break
		}
		from, err := t.classAtom()
		if err != nil {
			return err
		}
		if !t.starts("-") || t.starts("-]") || len(t.rest) < 2 {
			items.WriteString(from.inClass())
			continue
		}
		t.take(1)
		to, err := t.classAtom()
		if err != nil {
			return err
		}
		if from.set != "" || to.set != "" {
			return fmt.Errorf("a range has a class at its end")
		}
		items.WriteString(from.text() + "-" + to.text())
	}
	switch {
	case items.Len() > 0 && negated:
		t.out.WriteString("[^" + items.String() + "]")
	case items.Len() > 0:
		t.out.WriteString("[" + items.String() + "]")
	case negated:
		t.out.WriteString(`[\x{0}-\x{10ffff}]`)
	default:
		t.out.WriteString(`[^\x{0}-\x{10ffff}]`)
	}
	return nil
}

func (t *translator) classAtom() (atomOf, error) {
	if t.starts(`\`) {
		return t.escape(true)
	}
	r := t.rest[0]
	t.take(1)
	return atomOf{char: r}, nil
}

// atomOf is a character, an escape for several characters within a class, or a text that is copied as it is.
type atomOf struct {
	char      rune
	set       string
	assertion string
}

func (a atomOf) text() string {
	if a.assertion != "" {
		return a.assertion
	}
	return literal(a.char)
}

func (a atomOf) inClass() string {
	if a.set != "" {
		return a.set
	}
	return a.text()
}

// literal writes a character so that it is never anything else.
func literal(r rune) string { return fmt.Sprintf(`\x{%x}`, r) }

func (t *translator) escape(inClass bool) (atomOf, error) {
	t.take(1)
	if len(t.rest) == 0 {
		return atomOf{}, fmt.Errorf("it ends in a backslash")
	}
	r := t.rest[0]
	t.take(1)
	switch r {
	case 'd', 'D', 'w', 'W':
		return atomOf{set: `\` + string(r)}, nil
	case 's':
		return atomOf{set: space}, nil
	case 'S':
		return atomOf{set: notSpace}, nil
	case 't':
		return atomOf{char: '\t'}, nil
	case 'n':
		return atomOf{char: '\n'}, nil
	case 'v':
		return atomOf{char: '\v'}, nil
	case 'f':
		return atomOf{char: '\f'}, nil
	case 'r':
		return atomOf{char: '\r'}, nil
	case '0':
		if len(t.rest) > 0 && t.rest[0] >= '0' && t.rest[0] <= '9' {
			return atomOf{}, fmt.Errorf("it has an octal character")
		}
		return atomOf{char: 0}, nil
	case 'b':
		if inClass {
			return atomOf{char: '\b'}, nil
		}
		return atomOf{assertion: `\b`}, nil
	case 'B':
		if inClass {
			return atomOf{}, fmt.Errorf(`it has \B in a class`)
		}
		return atomOf{assertion: `\B`}, nil
	case 'x':
		code, err := t.hex(2)
		return atomOf{char: code}, err
	case 'u':
		code, err := t.unicode()
		return atomOf{char: code}, err
	case 'p', 'P':
		return t.property(r)
	}
	if r < 0x80 && !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_') {
		return atomOf{char: r}, nil
	}
	return atomOf{}, fmt.Errorf(`it has \%c, which cannot be checked here`, r)
}

func (t *translator) hex(digits int) (rune, error) {
	if len(t.rest) < digits {
		return 0, fmt.Errorf("a character's code is cut off")
	}
	code, err := strconv.ParseUint(t.take(digits), 16, 32)
	return rune(code), err
}

func (t *translator) unicode() (rune, error) {
	if t.starts("{") {
		end := strings.IndexByte(string(t.rest[:min(len(t.rest), 12)]), '}')
		if end < 2 {
			return 0, fmt.Errorf("a character's code is cut off")
		}
		code, err := strconv.ParseUint(t.take(end + 1)[1:end], 16, 32)
		if err != nil || code > 0x10ffff || utf16.IsSurrogate(rune(code)) {
			return 0, fmt.Errorf("it has the code of no character")
		}
		return rune(code), nil
	}
	code, err := t.hex(4)
	if err != nil || !utf16.IsSurrogate(code) {
		return code, err
	}
	if t.starts(`\u`) {
		t.take(2)
		low, err := t.hex(4)
		if pair := utf16.DecodeRune(code, low); err == nil && pair != 0xfffd {
			return pair, nil
		}
	}
	return 0, fmt.Errorf("it has half a character")
}

// property writes \p{…}: a general category, or a script.
func (t *translator) property(kind rune) (atomOf, error) {
	rest := string(t.rest)
	end := strings.IndexByte(rest, '}')
	if !t.starts("{") || end < 0 {
		return atomOf{}, fmt.Errorf("a property has no name")
	}
	name := rest[1:end]
	t.take(len([]rune(rest[:end])) + 1)
	for _, prefix := range []string{"General_Category=", "gc=", "Script=", "sc="} {
		name = strings.TrimPrefix(name, prefix)
	}
	for _, r := range name {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_') {
			return atomOf{}, fmt.Errorf("it has a property that cannot be checked here: %s", quote(name))
		}
	}
	return atomOf{set: `\` + string(kind) + `{` + name + `}`}, nil
}
