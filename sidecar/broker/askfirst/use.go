package askfirst

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"assent/sidecar/base/lazyregexp"
	"assent/sidecar/base/realpath"
)

// Use is what an agent is about to do.
type Use struct {
	// Tool is the host's name of the tool, and Input its input.
	Tool  string
	Input map[string]any
	// Command is the shell line, for a tool that runs one; see [CommandOf].
	Command string
	// Unclear: the input could not be read, so that every rule is about the use.
	Unclear bool
	// Folder is that of the session, and Cwd where the tool works.
	Folder, Cwd string
}

// Find returns the first rule about a use, and a sentence for the person; nil for none.
func Find(rules []Rule, u *Use) (rule *Rule, why string) {
	if u.Unclear && len(rules) > 0 {
		return &rules[0], "Your rules say to ask before some uses of tools, and Assent cannot read this one."
	}
	var read *line
	for i := range rules {
		r := &rules[i]
		if u.Command != "" && read == nil && r.Tool == "" {
			read = readLine(u.Command)
		}
		switch {
		case r.Tool != "":
			if prefix, open := strings.CutSuffix(r.Tool, "*"); u.Tool == r.Tool || open && strings.HasPrefix(u.Tool, prefix) {
				return r, fmt.Sprintf("Your rule says to ask before the tool %s.", u.Tool)
			}
		case r.Command != "":
			if read == nil {
				continue
			}
			switch read.runs(strings.Fields(r.Command)) {
			case yes:
				return r, fmt.Sprintf("Your rule says to ask before %s.", r.Command)
			case perhaps:
				return r, fmt.Sprintf("Your rule says to ask before %s, and Assent cannot read this line for sure.", r.Command)
			}
		case r.Outside:
			if outside := u.outside(read); outside != "" {
				return r, fmt.Sprintf("Your rule says to ask before anything outside of %s, and there is %s.", u.Folder, outside)
			}
		}
	}
	return nil, ""
}

// texts are the members of inputs whose texts are no paths.
var texts = []string{"content", "new_string", "old_string", "new_source", "edits", "prompt", "description", "plan", "query"}

// CommandOf returns the shell line in the input of a tool, by the names that tools have for it; "" for none. A list of words becomes a
// line. It reports whether the input is clear.
func CommandOf(input map[string]any) (line string, clear bool) {
	var lines []string
	for _, name := range []string{"command", "cmd", "script", "shell", "command_line", "commandLine"} {
		var words []string
		switch value := input[name].(type) {
		case string:
			if _, ok := input["args"].([]any); !ok {
				lines = append(lines, value)
				continue
			}
			words = []string{value}
		case []any:
			words = textsIn(value)
		default:
			continue
		}
		args, _ := input["args"].([]any)
		var line strings.Builder
		for _, w := range append(words, textsIn(args)...) {
			quoted, err := syntax.Quote(w, syntax.LangBash)
			if err != nil {
				return "", false
			}
			line.WriteString(quoted + " ")
		}
		lines = append(lines, line.String())
	}
	return strings.Join(lines, "\n"), true
}

// textsIn returns the texts in a list.
func textsIn(list []any) (all []string) {
	for _, one := range list {
		if text, ok := one.(string); ok {
			all = append(all, text)
		}
	}
	return all
}

// outside returns what a use has outside of the folder of its session, for a sentence; "" for nothing.
func (u *Use) outside(l *line) string {
	look := u.newLook()
	if l != nil {
		if what := look.line(l); what != "" {
			return what
		}
	}
	var walk func(name string, v any) string
	walk = func(name string, v any) string {
		switch v := v.(type) {
		case string:
			if v != u.Command && !slices.Contains(texts, name) {
				return look.paths(v)
			}
		case []any:
			for _, one := range v {
				if what := walk("", one); what != "" {
					return what
				}
			}
		case map[string]any:
			for name, one := range v {
				if what := walk(name, one); what != "" {
					return what
				}
			}
		}
		return ""
	}
	return walk("", u.Input)
}

// The bounds of a look.
const (
	maxPlaces = 64
	maxNames  = 2000
	maxBraces = 4096 // bytes of a word with braces
	maxPath   = 32 << 10
	maxLooks  = 20_000 // names in the file system, as the host waits only so long for its hook
)

// tooMany is what is outside once a look has come to its bound.
const tooMany = "more than Assent can look at in time"

// look searches for paths outside of a folder.
type look struct {
	folder string // where it really is
	// places are the folders in which a path may begin. With moves, the line goes to one that it does not name.
	places []string
	moves  bool
	seen   map[string]bool
	left   int // how many names may still be looked at
}

func (u *Use) newLook() *look {
	return &look{folder: realpath.Of(u.Folder), places: []string{u.Cwd}, seen: map[string]bool{}, left: maxLooks}
}

// line returns what a shell line names outside.
func (k *look) line(l *line) string {
	if l.unclear {
		return "a line that cannot be read for sure"
	}
	if l.blanks != nil {
		if what := k.line(l.blanks); what != "" {
			return what
		}
	}
	for _, c := range l.commands {
		if what := k.goes(c); what != "" {
			return what
		}
		for _, part := range c.parts() {
			if what := k.changes(part); what != "" {
				return what
			}
		}
	}
	for _, c := range l.commands {
		if what := k.command(c); what != "" {
			return what
		}
	}
	for _, w := range l.others {
		if what := k.word(w); what != "" {
			return what
		}
	}
	for _, inner := range l.inner {
		if !inner.certain {
			continue
		}
		if what := k.line(inner.line); what != "" {
			return what
		}
	}
	return ""
}

// changes adds the folders to which a command changes, and returns one that is not known.
func (k *look) changes(c command) string {
	name := c[0].name()
	if name != "cd" && name != "pushd" && name != "popd" {
		return ""
	}
	k.moves = true
	named := false
	for _, w := range c[1:] {
		if w.text == "-" || !strings.HasPrefix(w.text, "-") {
			named = true
			if what := k.goTo(w); what != "" {
				return what
			}
		}
	}
	if !named {
		return "another folder"
	}
	return ""
}

// goes adds the folders that a command is told to work in, and returns one that is not known.
func (k *look) goes(c command) string {
	for i, w := range c {
		option, value, _ := strings.Cut(w.text, "=")
		switch {
		case !slices.Contains([]string{"-C", "--directory", "--chdir", "--prefix", "--cwd", "--work-tree"}, option):
			if strings.HasPrefix(w.text, "-C") && len(w.text) > 2 {
				w.text = w.text[2:]
				if what := k.goTo(w); what != "" {
					return what
				}
			}
			continue
		case value != "":
			w.text = value
		case i+1 < len(c):
			w = c[i+1]
		default:
			continue
		}
		if what := k.goTo(w); what != "" {
			return what
		}
	}
	return ""
}

// goTo adds a folder.
func (k *look) goTo(w word) string {
	if w.unknown || w.pattern {
		return "a folder that is not known before it runs"
	}
	for _, place := range slices.Clone(k.places) {
		next := filepath.Join(place, w.text)
		if filepath.IsAbs(w.text) {
			next = filepath.Clean(w.text)
		}
		if !slices.Contains(k.places, next) {
			k.places = append(k.places, next)
		}
	}
	if len(k.places) > maxPlaces {
		return "a line that goes to many folders"
	}
	return ""
}

// command returns what a command names outside.
func (k *look) command(c command) string {
	for i, w := range c {
		if i == 0 && !w.unknown && (filepath.IsAbs(w.text) || strings.HasPrefix(w.text, "/") || !strings.ContainsAny(w.text, `/\~`)) {
			continue // the line only runs this program of the system
		}
		if what := k.word(w); what != "" {
			return what
		}
	}
	for _, part := range c.parts() {
		name := part[0].name()
		switch {
		case slices.Contains(interpreters, name) && part.code() != noCode:
			return "a program in another language"
		case name == "xargs" || name == "parallel":
			return "words that are not known before it runs"
		case slices.Contains(languages, name):
			for _, w := range part[1:] {
				if what := k.inCode(w.text); what != "" {
					return what
				}
			}
		}
	}
	if c.readsElsewhere() {
		return "a shell that reads its commands from elsewhere"
	}
	return ""
}

// inCode returns what a text in another language names outside.
func (k *look) inCode(text string) string {
	if !strings.ContainsAny(text, " \t\n\"'()<>;|&`{}") {
		return ""
	}
	for _, token := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n\"'()<>;|&`,{}", r) }) {
		if token == "/" || strings.HasPrefix(token, "/") && !inRoot(token) {
			continue
		}
		if what := k.path(token); what != "" {
			return what
		}
	}
	return ""
}

// inRoot reports whether the first name of an absolute path is there.
func inRoot(path string) bool {
	first, _, _ := strings.Cut(strings.TrimLeft(path, "/"), "/")
	_, err := os.Lstat("/" + first)
	return err == nil && first != ""
}

// word returns what a word names outside.
func (k *look) word(w word) string {
	switch {
	case w.unknown:
		return "a word that is not known before it runs"
	case !w.pattern:
		return k.paths(w.text)
	}
	all := braces(w.text)
	if all == nil {
		return "names that are not known before it runs"
	}
	for _, text := range all {
		if what := k.paths(text); what != "" {
			return what
		}
		if what := k.names(text); what != "" {
			return what
		}
	}
	return ""
}

// names returns what a pattern for names of files stands for outside.
func (k *look) names(pattern string) string {
	names, places := strings.Split(strings.ReplaceAll(pattern, "[!", "[^"), "/"), k.places
	if isWhole(pattern) {
		places = []string{rootOf(pattern)}
	}
	for _, place := range places {
		if !k.namesInside(place, names) {
			return fmt.Sprintf("%q", pattern)
		}
	}
	return ""
}

// namesInside reports whether all that a pattern stands for, from its first name with a mark on, is inside. It is no if that is not
// known.
func (k *look) namesInside(place string, names []string) bool {
	found, patterns := []string{realpath.Of(place)}, 0
	for _, name := range names {
		var next []string
		if !strings.ContainsAny(name, "*?[") {
			for _, path := range found {
				next = append(next, whereFrom(path, name))
			}
		} else {
			if patterns++; patterns > 3 || strings.HasPrefix(name, ".") {
				return false // such as .?, which stands for .., too
			}
			for _, path := range found {
				matches, err := k.matches(path, name)
				if err != nil {
					return false
				}
				next = append(next, matches...)
			}
		}
		if found = next; len(found) > maxNames {
			return false
		}
		if k.left -= len(found); k.left < 0 {
			return false
		}
		if patterns > 0 && slices.ContainsFunc(found, func(path string) bool { return !k.isInside(path) }) {
			return false
		}
	}
	return true
}

// matches returns the paths in a folder whose names match a pattern; none if it is no folder.
func (k *look) matches(folder, pattern string) (all []string, err error) {
	f, err := os.Open(folder)
	if err != nil {
		return nil, nil
	}
	defer f.Close()
	entries, _ := f.Readdirnames(k.left + 1)
	if k.left -= len(entries); k.left < 0 {
		return nil, errors.New(tooMany)
	}
	for _, entry := range entries {
		is, err := filepath.Match(pattern, entry)
		if err != nil {
			return nil, err
		}
		if is {
			all = append(all, filepath.Join(folder, entry))
		}
	}
	return all, nil
}

// braces returns the texts for which one with braces stands; nil if they are too many.
func braces(text string) []string {
	if len(text) > maxBraces {
		return nil
	}
	for start := strings.IndexByte(text, '{'); start >= 0; {
		depth, cuts := 0, []int{start}
		for i := start; i < len(text) && (i == start || depth > 0); i++ {
			switch c := text[i]; {
			case c == '{':
				depth++
			case c == '}':
				if depth--; depth == 0 {
					cuts = append(cuts, i)
				}
			case c == ',' && depth == 1:
				cuts = append(cuts, i)
			}
		}
		if depth == 0 && len(cuts) > 2 {
			var all []string
			ends := braces(text[cuts[len(cuts)-1]+1:])
			for i := range len(cuts) - 1 {
				middles := braces(text[cuts[i]+1 : cuts[i+1]])
				if ends == nil || middles == nil || len(all)+len(ends)*len(middles) > maxPlaces {
					return nil
				}
				for _, middle := range middles {
					for _, end := range ends {
						all = append(all, text[:start]+middle+end)
					}
				}
			}
			return all
		}
		next := strings.IndexByte(text[start+1:], '{')
		if next < 0 {
			break
		}
		start += 1 + next
	}
	return []string{text}
}

// address finds the addresses in a word that are not those of files.
var address = lazyregexp.New(`(?i)(^|[=:,@])[a-z][a-z0-9+.-]*://[^,]*`)

// paths returns a path in a text that is outside.
func (k *look) paths(text string) string {
	text = address().ReplaceAllStringFunc(text, func(found string) string {
		scheme, _, _ := strings.Cut(found, "://")
		if strings.HasSuffix(strings.ToLower(scheme), "file") || goesUp(found) {
			return found
		}
		return ""
	})
	all := []string{text}
	if _, value, ok := strings.Cut(text, "="); ok {
		all = append(all, value)
	}
	all = append(all, strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("=:,@", r) })...)
	for _, path := range all {
		if what := k.path(path); what != "" {
			return what
		}
		if !strings.HasPrefix(path, "-") || len(path) < 3 {
			continue
		}
		value := path[2:] // such as -I/usr/include
		if what := k.path(value); what != "" {
			return what
		}
		for _, mark := range []string{"..", "~", "/"} {
			at := strings.Index(value, mark)
			if at < 0 || mark == "/" && !inRoot(value[at:]) {
				continue
			}
			if what := k.path(value[at:]); what != "" {
				return what
			}
		}
	}
	return ""
}

// goesUp reports whether a path has "..".
func goesUp(path string) bool {
	return slices.Contains(strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' }), "..")
}

// path returns a path that is outside, quoted; "" for one inside.
func (k *look) path(path string) string {
	if path == "" || k.seen[path] {
		return ""
	}
	k.seen[path] = true
	quoted := fmt.Sprintf("%q", path)
	up := goesUp(path)
	switch {
	case path == "-":
		if k.moves {
			return quoted
		}
		return "" // the standard input
	case strings.HasPrefix(path, "~"):
		return quoted
	case strings.Contains(path, "\n") && !isWhole(path) && !strings.HasPrefix(path, "."):
		return "" // a text
	case slices.Contains([]string{"/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty"}, path):
		return ""
	case len(path) > maxPath:
		return "" // no system has such a path
	case isWhole(path):
		if k.left--; k.left < 0 {
			return tooMany
		}
		if !k.isInside(whereFrom(rootOf(path), path)) {
			return quoted
		}
		return ""
	case up && k.moves:
		return quoted
	}
	for _, place := range k.places {
		if k.left--; k.left < 0 {
			return tooMany
		}
		whole := filepath.Join(place, path)
		if !up && !strings.ContainsRune(path, filepath.Separator) {
			if _, err := os.Lstat(whole); err != nil {
				continue // a plain word
			}
		}
		if !k.isInside(whereFrom(place, path)) {
			return quoted
		}
	}
	return ""
}

// isWhole reports whether a path begins at the root.
func isWhole(path string) bool { return filepath.IsAbs(path) || strings.HasPrefix(path, "/") }

// rootOf returns where a whole path begins.
func rootOf(path string) string { return filepath.VolumeName(path) + string(filepath.Separator) }

// whereFrom returns where a path from a place really leads. As for the system, the way up from a link begins where the link leads.
func whereFrom(place, path string) string {
	if !goesUp(path) {
		return realpath.Of(filepath.Join(place, strings.TrimPrefix(path, filepath.VolumeName(path))))
	}
	at, missing := realpath.Of(place), 0 // missing are the last names of at that are not there
	for _, name := range strings.FieldsFunc(strings.TrimPrefix(path, filepath.VolumeName(path)), func(r rune) bool { return r == '/' || r == filepath.Separator }) {
		switch name {
		case ".":
			continue
		case "..":
			at, missing = filepath.Dir(at), max(missing-1, 0)
			continue
		}
		next := filepath.Join(at, name)
		info, err := os.Lstat(next)
		switch {
		case missing > 0 || err != nil:
			missing++
		case info.Mode()&os.ModeSymlink != 0:
			next = realpath.Of(next)
		}
		at = next
	}
	return at
}

// isInside reports whether a path is in the folder, or the folder itself.
func (k *look) isInside(path string) bool {
	rel, err := filepath.Rel(k.folder, realpath.Of(path))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
