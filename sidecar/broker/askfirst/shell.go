package askfirst

import (
	"slices"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"
)

// The bounds of a line: its bytes, those of all lines in it together, the words of a command, and how deep lines are in lines. The
// host waits only so long for its hook, and then goes on without it.
const (
	maxLine  = 256 << 10
	maxAll   = 4 * maxLine
	maxWords = 1000
	maxDepth = 4
)

// reading is the state of a line that is read with the lines in it.
type reading struct {
	depth int
	left  *int // bytes
}

// deeper is the state of a line in the line.
func (r reading) deeper() reading { return reading{r.depth + 1, r.left} }

// The programs that run what their arguments say: a word of theirs that is not known may be any command.
var (
	shells   = []string{"sh", "bash", "dash", "zsh", "ksh", "fish", "ash"}
	wrappers = append([]string{
		"sudo", "doas", "env", "nohup", "nice", "time", "timeout", "command", "exec", "builtin", "xargs", "eval", "source", ".", "ssh", "su", "watch",
		"setsid", "stdbuf", "chroot", "parallel", "script", "trap", "alias", "noglob", "nocorrect", "iex", "invoke-expression", "start-process", "start",
	}, shells...)
	// containers run a shell that is among their words.
	containers   = []string{"docker", "podman", "nerdctl", "kubectl", "lxc", "busybox", "wsl", "find"}
	interpreters = []string{"python", "python2", "python3", "node", "nodejs", "perl", "ruby", "php", "deno", "bun", "osascript", "pwsh", "powershell", "cmd"}
	// languages have programs in a word that may name files.
	languages = []string{"awk", "gawk", "mawk", "nawk", "sed", "gsed", "ed", "ex", "vi", "vim", "nvim", "emacs", "sqlite3", "psql", "mysql", "gdb", "tclsh", "expect", "m4", "jq"}
	// renaming programs give a program another name.
	renaming = []string{"alias", "hash", "ln", "cp", "mv", "install"}
)

// shellMarks are the characters of a word that may be more than one word for a shell.
const shellMarks = " \t\n;|&$`'\"\\(){}<>*?["

// line is a shell line, as far as it can be read.
type line struct {
	// unclear: it cannot be read.
	unclear bool
	// commands are the words of each command, others the words beside them, such as the files of redirections, and fed the texts
	// that a command reads.
	commands []command
	others   []word
	fed      []word
	inner    []innerLine
	// blanks is the same line with its odd blanks as plain ones, and without characters that are not seen; nil if it is the same.
	blanks *line
}

// innerLine is a text in a line that may be a shell line itself. It is certain if a shell or the like is given it.
type innerLine struct {
	*line
	text    string
	certain bool
}

// command are the words of a command, at least one.
type command []word

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
	return programName(w.text)
}

// programName is the name of a program at a path. Some file systems do not tell git from GIT, and for zsh =git is where git is.
func programName(path string) string {
	name := strings.ToLower(strings.TrimPrefix(path[strings.LastIndexAny(path, `/\`)+1:], "="))
	for _, end := range []string{".exe", ".cmd", ".bat", ".com"} {
		name = strings.TrimSuffix(name, end)
	}
	return name
}

// readLine reads a shell line.
func readLine(text string) *line { return reading{0, new(maxAll)}.line(text) }

// line reads a line.
func (r reading) line(text string) *line {
	l := &line{}
	if *r.left -= len(text); len(text) > maxLine || *r.left < 0 || r.depth > maxDepth {
		l.unclear = true
		return l
	}
	if plain := plainBlanks(text); plain != text {
		l.blanks = r.deeper().line(plain)
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		l.unclear = true
		return l
	}
	done := map[*syntax.Word]bool{}
	feed := func(w *syntax.Word) {
		if w != nil {
			done[w] = true
			read := readWord(w)
			l.fed = append(l.fed, read)
			l.addInner(read, false, r)
		}
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.CallExpr:
			var c command
			for _, arg := range node.Args {
				done[arg] = true
				c = append(c, readWord(arg))
			}
			l.unclear = l.unclear || len(c) > maxWords
			if len(c) > 0 && !l.unclear {
				l.add(c, r)
			}
		case *syntax.Redirect:
			switch node.Op {
			case syntax.Hdoc, syntax.DashHdoc:
				done[node.Word] = true // what the text ends with
				feed(node.Hdoc)
			case syntax.WordHdoc:
				feed(node.Word)
			}
		case *syntax.Word:
			if !done[node] {
				w := readWord(node)
				l.others = append(l.others, w)
				l.addInner(w, false, r)
			}
		}
		return true
	})
	return l
}

// plainBlanks returns a text with each blank as one of ASCII, and without characters that are not seen.
func plainBlanks(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsSpace(r):
			return ' '
		case unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, text)
}

// add adds a command, and the lines among its words.
func (l *line) add(c command, r reading) {
	c.markPlaces()
	l.commands = append(l.commands, c)
	certain := c.runsOthers()
	for _, w := range c[1:] {
		l.addInner(w, certain, r)
	}
	// These make one line of their words.
	joins := slices.Contains([]string{"eval", "ssh", "watch", "iex"}, c[0].name())
	if joins && len(c) > 2 && !slices.ContainsFunc(c, func(w word) bool { return w.unknown }) {
		var texts []string
		for _, w := range c[1:] {
			texts = append(texts, w.text)
		}
		l.addInner(word{text: strings.Join(texts, " ")}, true, r)
	}
}

// addInner adds a word that may be a line itself.
func (l *line) addInner(w word, certain bool, r reading) {
	marks := " \t\n;|&"
	if certain {
		marks = shellMarks
	}
	if w.unknown || !strings.ContainsAny(w.text, marks) {
		return
	}
	l.inner = append(l.inner, innerLine{r.deeper().line(w.text), w.text, certain})
	if _, value, ok := strings.Cut(w.text, "="); ok && certain {
		l.inner = append(l.inner, innerLine{r.deeper().line(value), value, certain})
	}
	if certain && strings.HasPrefix(w.text, "-") && len(w.text) > 2 { // such as env "-Sgit push"
		l.inner = append(l.inner, innerLine{r.deeper().line(w.text[2:]), w.text[2:], certain})
	}
}

// runsOthers reports whether a command runs what its words say.
func (c command) runsOthers() bool {
	first := c[0].name()
	return slices.Contains(wrappers, first) && !(first == "command" && len(c) > 1 && strings.EqualFold(c[1].text, "-v")) ||
		slices.Contains(containers, first) && slices.ContainsFunc(c, func(w word) bool {
			return slices.Contains(shells, w.name()) || slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir"}, w.text)
		})
}

// parts are the commands that a command may run with its own words, itself the first.
func (c command) parts() []command {
	all := []command{c}
	if c.runsOthers() {
		for i := range c[1:] {
			all = append(all, c[i+1:])
		}
	}
	return all
}

// markPlaces marks the words of an xargs in which it replaces a text by its input.
func (c command) markPlaces() {
	at := slices.IndexFunc(c, func(w word) bool { return w.name() == "xargs" })
	if at < 0 {
		return
	}
	place := ""
	for i := at + 1; i < len(c); i++ {
		switch text := c[i].text; {
		case text == "-I" || text == "-J":
			if i+1 < len(c) {
				place = c[i+1].text
			}
		case text == "-i" || text == "--replace":
			place = "{}"
		case strings.HasPrefix(text, "-I") || strings.HasPrefix(text, "-i") || strings.HasPrefix(text, "-J"):
			place = text[2:]
		case strings.HasPrefix(text, "--replace="):
			place = strings.TrimPrefix(text, "--replace=")
		}
	}
	for i := at + 1; place != "" && i < len(c); i++ {
		c[i].unknown = c[i].unknown || strings.Contains(c[i].text, place)
	}
}

// readWord reads a word as the shell does, as far as that does not depend on the time of the run.
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
	l := readLine(text)
	return !l.unclear && len(l.commands) == 1 && len(l.others) == 0 && len(l.fed) == 0 && len(l.inner) == 0 && l.blanks == nil &&
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
	if l.blanks != nil && l.blanks.runs(words) != no {
		best = perhaps
	}
	for _, c := range l.commands {
		best = max(best, c.runs(words))
		for _, part := range c.parts() {
			if slices.Contains(interpreters, part[0].name()) {
				best = max(best, l.runsInCode(part, words))
			}
		}
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

// runsInCode reports whether a program in another language that a command of the line is given may run a command.
func (l *line) runsInCode(c command, words []string) answer {
	given := c[1:]
	switch c.code() {
	case noCode:
		return no
	case fedCode:
		if given = l.fed; len(given) == 0 {
			return perhaps
		}
	}
	for _, w := range given {
		option := strings.ToLower(w.text)
		encoded := strings.HasSuffix(c[0].name(), "sh") || c[0].name() == "powershell"
		if w.unknown || mentionsAll(w.text, words) || encoded && (option == "-e" || option == "-ec" || strings.HasPrefix(option, "-enc")) {
			return perhaps
		}
	}
	return no
}

// runs reports whether the words of a command run it: by themselves, or by a program that runs others.
func (c command) runs(words []string) answer {
	best := no
	program, runsOthers := programName(words[0]), c.runsOthers()
	adds := slices.ContainsFunc(c, func(w word) bool { return w.name() == "xargs" || w.name() == "parallel" })
	for i, w := range c {
		if w.unknown || w.pattern {
			if i == 0 || runsOthers {
				best = max(best, perhaps)
			}
			continue
		}
		switch name := w.name(); {
		case name == program:
			if best = max(best, goesOn(c[i+1:], words[1:])); adds {
				best = max(best, perhaps)
			}
			if slices.ContainsFunc(c, func(w word) bool { return strings.Contains(w.text, "alias.") }) {
				best = max(best, perhaps)
			}
		case len(words) > 1 && name == program+"-"+strings.ToLower(words[1]): // such as git-push
			best = max(best, goesOn(c[i+1:], words[2:]))
		}
		if slices.Contains(renaming, c[0].name()) && mentions(w.text, []string{program}) {
			best = max(best, perhaps)
		}
	}
	if c.readsElsewhere() {
		best = max(best, perhaps)
	}
	return best
}

// readsElsewhere reports whether a command runs commands that are not among its words, nor in a file that they name.
func (c command) readsElsewhere() bool {
	for _, part := range c.parts() {
		rest := part[1:]
		has := func(options ...string) bool {
			return slices.ContainsFunc(rest, func(w word) bool { return slices.Contains(options, w.text) })
		}
		switch name := part[0].name(); {
		case slices.Contains(shells, name):
			if !has("--version", "--help") && shellReads(rest) {
				return true
			}
		case name == "su":
			if !slices.ContainsFunc(rest, func(w word) bool { return strings.HasPrefix(w.text, "-c") || strings.HasPrefix(w.text, "--c") }) {
				return true
			}
		case name == "sudo" || name == "doas":
			if has("-s", "-i", "--shell", "--login") {
				return true
			}
		case name == "ssh":
			if sshReads(rest) {
				return true
			}
		case name == "parallel":
			if !has(":::", ":::+", "--version", "--help") {
				return true
			}
		case name == "xargs":
			if len(rest) > 0 && slices.Contains(wrappers, rest[len(rest)-1].name()) {
				return true
			}
		case name == "iex" || name == "invoke-expression":
			if len(rest) == 0 {
				return true
			}
		}
	}
	return false
}

// shellReads reports whether a shell with these words reads its commands from its input.
func shellReads(words []word) bool {
	for _, w := range words {
		switch {
		case w.unknown:
			return false // it is asked about as such
		case slices.Contains([]string{"/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}, w.text):
			return true
		case !strings.HasPrefix(w.text, "-"):
			return false
		case !strings.HasPrefix(w.text, "--") && strings.Contains(w.text, "s"):
			return true
		}
	}
	return true
}

// sshReads reports whether ssh with these words is given no command.
func sshReads(words []word) bool {
	operands := 0
	for i := 0; i < len(words); i++ {
		switch text := words[i].text; {
		case operands > 0 || !strings.HasPrefix(text, "-"):
			operands++
		case len(text) == 2 && strings.Contains("BbcDEeFIiJLlmOoPpQRSWw", text[1:]):
			i++ // its value
		}
	}
	return operands < 2
}

// Where the program of an interpreter is.
type codePlace int

const (
	noCode    codePlace = iota // in a file
	givenCode                  // among its words
	fedCode                    // in its input
)

// code says where the program of an interpreter is.
func (c command) code() codePlace {
	options := "ceE"
	switch c[0].name() {
	case "php":
		options = "rR"
	case "node", "nodejs", "bun":
		options = "ep"
	case "python", "python2", "python3":
		options = "c"
	}
	for _, w := range c[1:] {
		text := strings.ToLower(w.text)
		switch {
		case slices.Contains([]string{"--version", "--help", "-v", "-h"}, text):
			return noCode
		case slices.Contains([]string{"--eval", "--print", "--command", "eval", "/c", "/k"}, text):
			return givenCode
		case text == "-", text == "/dev/stdin":
			return fedCode
		case w.unknown || !strings.HasPrefix(w.text, "-"):
			return noCode
		case !strings.HasPrefix(w.text, "--") && (strings.ContainsAny(w.text, options) || strings.HasPrefix(text, "-enc")):
			return givenCode
		}
	}
	return fedCode
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

// hasOption reports whether words have an option: a long one, perhaps shortened or with a value, or the letters of short ones. A long
// and a short one that begin alike may be the same.
func hasOption(words []word, want string) answer {
	long := strings.HasPrefix(want, "--") && len(want) > 2
	letters, sure := strings.TrimLeft(want, "-"), yes
	without := func(text string) {
		letters = strings.Map(func(r rune) rune {
			switch {
			case strings.ContainsRune(text, r):
				return -1
			case strings.ContainsRune(strings.ToLower(text), unicode.ToLower(r)):
				sure = perhaps
				return -1
			}
			return r
		}, letters)
	}
	best := no
	for _, w := range words {
		isLong := strings.HasPrefix(w.text, "--")
		switch {
		case w.unknown || w.pattern:
			return perhaps
		case long && isLong:
			if name, _, _ := strings.Cut(w.text, "="); len(name) > 2 && strings.HasPrefix(want, name) {
				return yes
			}
		case long:
			if strings.HasPrefix(w.text, "-") && strings.Contains(w.text, want[2:3]) {
				best = perhaps
			}
		case isLong && len(w.text) > 2:
			if before := letters; strings.ContainsRune(before, rune(w.text[2])) {
				without(w.text[2:3])
				sure = perhaps
			}
		case strings.HasPrefix(w.text, "-"):
			without(w.text)
		}
		if !long && letters == "" {
			return sure
		}
	}
	return best
}

// mentions reports whether a text has words one after the other, with any marks between them.
func mentions(text string, words []string) bool {
	all := tokens(text)
	for i := range all {
		if len(all[i:]) >= len(words) && slices.Equal(all[i:i+len(words)], words) {
			return true
		}
	}
	return false
}

// mentionsAll reports whether a text has all the words anywhere.
func mentionsAll(text string, words []string) bool {
	all := tokens(text)
	return !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(all, w) })
}

// tokens are the words and numbers of a text in any language.
func tokens(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_.", r)
	})
}
