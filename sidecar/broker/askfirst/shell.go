package askfirst

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"
)

// The bounds of what is read.
const (
	maxLine  = 256 << 10
	maxDepth = 4
)

// The programs that run what their arguments say: a word of theirs that is not known may be any command.
var (
	shells       = []string{"sh", "bash", "dash", "zsh", "ksh", "fish"}
	wrappers     = append([]string{"sudo", "doas", "env", "nohup", "nice", "time", "timeout", "command", "exec", "builtin", "xargs", "eval", "source", ".", "ssh", "su", "watch", "setsid", "stdbuf", "chroot", "parallel", "script", "trap"}, shells...)
	interpreters = []string{"python", "python3", "node", "perl", "ruby", "php", "deno", "bun", "osascript", "pwsh", "powershell", "cmd"}
)

// line is a shell line, as far as it can be read.
type line struct {
	// unclear: it cannot be read.
	unclear bool
	// commands are the words of each command, and others the words beside them, such as the files of redirections.
	commands [][]word
	others   []word
	inner    []innerLine
}

// innerLine is a text in a line that may be a shell line itself. It is certain if a shell or the like is given it.
type innerLine struct {
	*line
	text    string
	certain bool
}

// word is a word of a line.
type word struct {
	text string
	// unknown: it is known only when the line runs. pattern: it stands for the names of files, or for several words.
	unknown, pattern bool
}

// name is the name of a program, without its folder.
func (w word) name() string {
	if w.unknown || w.pattern {
		return ""
	}
	return strings.TrimSuffix(filepath.Base(filepath.FromSlash(w.text)), ".exe")
}

// readLine reads a shell line.
func readLine(text string, depth int) *line {
	l := &line{}
	if len(text) > maxLine || depth > maxDepth {
		l.unclear = true
		return l
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		l.unclear = true
		return l
	}
	ofCommands := map[*syntax.Word]bool{}
	syntax.Walk(file, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.CallExpr:
			var words []word
			for _, arg := range node.Args {
				ofCommands[arg] = true
				words = append(words, readWord(arg))
			}
			if len(words) > 0 {
				l.commands = append(l.commands, words)
				for _, w := range words[1:] {
					l.addInner(w, slices.Contains(wrappers, words[0].name()), depth)
				}
			}
		case *syntax.Word:
			if !ofCommands[node] {
				w := readWord(node)
				l.others = append(l.others, w)
				l.addInner(w, false, depth)
			}
		}
		return true
	})
	return l
}

// addInner adds a word that may be a line itself.
func (l *line) addInner(w word, certain bool, depth int) {
	if !w.unknown && strings.ContainsAny(w.text, " \t\n;|&") {
		l.inner = append(l.inner, innerLine{readLine(w.text, depth+1), w.text, certain})
	}
}

// readWord reads a word as the shell does, as far as that does not depend on what it finds when it runs.
func readWord(w *syntax.Word) (read word) {
	var b strings.Builder
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			read.pattern = unquoted(&b, part.Value) || read.pattern
		case *syntax.SglQuoted:
			read.unknown = read.unknown || part.Dollar
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			for _, inner := range part.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok {
					read.unknown = true
					continue
				}
				quoted(&b, lit.Value)
			}
		default:
			read.unknown = true
		}
	}
	read.text = b.String()
	return read
}

// unquoted adds a text outside of quotes, and reports whether it is a pattern.
func unquoted(b *strings.Builder, text string) (pattern bool) {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '\\':
			if i++; i < len(text) && text[i] != '\n' {
				b.WriteByte(text[i])
			}
		default:
			pattern = pattern || strings.IndexByte("*?[{", c) >= 0
			b.WriteByte(c)
		}
	}
	return pattern
}

// quoted adds a text in double quotes.
func quoted(b *strings.Builder, text string) {
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && strings.IndexByte("$`\"\\\n", text[i+1]) >= 0 {
			if i++; text[i] == '\n' {
				continue
			}
		}
		b.WriteByte(text[i])
	}
}

// plain reports whether a text is plain words of a command.
func plain(text string) bool {
	l := readLine(text, 0)
	return !l.unclear && len(l.commands) == 1 && len(l.others) == 0 && len(l.inner) == 0 &&
		!slices.ContainsFunc(l.commands[0], func(w word) bool { return w.unknown || w.pattern }) &&
		slices.EqualFunc(l.commands[0], strings.Fields(text), func(w word, t string) bool { return w.text == t })
}

// answer says whether a line runs something.
type answer int

const (
	no answer = iota
	perhaps
	yes
)

// runs reports whether a line runs a command that begins with words.
func (l *line) runs(words []string) answer {
	if l.unclear {
		return perhaps
	}
	best := no
	for _, c := range l.commands {
		best = max(best, runsIn(c, words))
	}
	for _, inner := range l.inner {
		switch {
		case inner.unclear || !inner.certain && len(inner.commands) == 0:
			if inner.certain || mentions(inner.text, words) {
				best = max(best, perhaps)
			}
		case inner.certain:
			best = max(best, inner.runs(words))
		case inner.runs(words) == yes || mentions(inner.text, words):
			best = yes
		}
	}
	return best
}

// runsIn reports whether the words of a command run it: by themselves, or by a program that runs others.
func runsIn(c []word, words []string) answer {
	best := no
	first := c[0].name()
	runsOthers := slices.Contains(wrappers, first)
	for i, w := range c {
		if w.unknown || w.pattern {
			if i == 0 || runsOthers {
				best = max(best, perhaps)
			}
			continue
		}
		if w.name() == words[0] {
			best = max(best, goesOn(c[i+1:], words[1:]))
		}
	}
	if readsElsewhere(c) {
		best = max(best, perhaps)
	}
	return best
}

// readsElsewhere reports whether a command is a shell that is given no commands and no file.
func readsElsewhere(c []word) bool {
	return slices.Contains(shells, c[0].name()) && !slices.ContainsFunc(c[1:], func(w word) bool {
		return w.unknown || !strings.HasPrefix(w.text, "-") || w.text == "--version" || w.text == "--help"
	})
}

// goesOn reports whether the words after a program's name are those wanted: its options anywhere, and the others in their order, with
// options and their values before each.
func goesOn(rest []word, wanted []string) answer {
	if len(wanted) == 0 {
		return yes
	}
	sure := yes
	var order []string
	for _, want := range wanted {
		if !strings.HasPrefix(want, "-") {
			order = append(order, want)
			continue
		}
		switch has := hasOption(rest, want); has {
		case no:
			return no
		default:
			sure = min(sure, has)
		}
	}
	isOption := false
	for _, w := range rest {
		switch {
		case len(order) == 0:
			return sure
		case w.unknown || w.pattern:
			return perhaps
		case w.text == order[0]:
			order, isOption = order[1:], false
		case strings.HasPrefix(w.text, "-"):
			isOption = true
		case isOption:
			isOption = false // perhaps the value
		default:
			return no
		}
	}
	if len(order) > 0 {
		return no
	}
	return sure
}

// hasOption reports whether words have an option: a long one, perhaps shortened or with a value, or the letters of short ones.
func hasOption(words []word, want string) answer {
	long := strings.HasPrefix(want, "--")
	letters := strings.TrimLeft(want, "-")
	for _, w := range words {
		switch {
		case w.unknown || w.pattern:
			return perhaps
		case long:
			if name, _, _ := strings.Cut(w.text, "="); len(name) > 2 && strings.HasPrefix(want, name) {
				return yes
			}
		case strings.HasPrefix(w.text, "-") && !strings.HasPrefix(w.text, "--"):
			letters = strings.Map(func(r rune) rune {
				if strings.ContainsRune(w.text, r) {
					return -1
				}
				return r
			}, letters)
			if letters == "" {
				return yes
			}
		}
	}
	return no
}

// mentions reports whether a text has words one after the other, whatever is between them.
func mentions(text string, words []string) bool {
	all := strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_.", r)
	})
	for i := range all {
		if len(all[i:]) >= len(words) && slices.Equal(all[i:i+len(words)], words) {
			return true
		}
	}
	return false
}
