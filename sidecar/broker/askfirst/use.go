package askfirst

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"assent/sidecar/base/realpath"
)

// Use is what an agent is about to do.
type Use struct {
	// Tool is the host's name of the tool, and Input its input.
	Tool  string
	Input map[string]any
	// Command is the shell line, for a tool that runs one.
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
			read = readLine(u.Command, 0)
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

// texts are the members of inputs that are no paths.
var texts = []string{"content", "new_string", "old_string", "new_source", "edits", "prompt", "description", "plan", "command", "url", "query"}

// outside returns what a use has outside of the folder of its session, for a sentence; "" for nothing.
func (u *Use) outside(l *line) string {
	if l != nil {
		if what := u.outsideOf(l); what != "" {
			return what
		}
	}
	var walk func(v any) string
	walk = func(v any) string {
		switch v := v.(type) {
		case string:
			return u.outsidePath(v, false)
		case []any:
			for _, one := range v {
				if what := walk(one); what != "" {
					return what
				}
			}
		case map[string]any:
			for name, one := range v {
				if slices.Contains(texts, name) {
					continue
				}
				if what := walk(one); what != "" {
					return what
				}
			}
		}
		return ""
	}
	return walk(u.Input)
}

// outsideOf returns what a shell line names outside.
func (u *Use) outsideOf(l *line) string {
	if l.unclear {
		return "a line that cannot be read for sure"
	}
	moves := slices.ContainsFunc(l.commands, func(c []word) bool {
		return slices.Contains([]string{"cd", "pushd", "popd"}, c[0].name())
	})
	check := func(w word) string {
		if w.unknown {
			return "a word that is not known before it runs"
		}
		for _, path := range paths(w.text) {
			if what := u.outsidePath(path, moves); what != "" {
				return what
			}
		}
		return ""
	}
	for _, c := range l.commands {
		if name := c[0].name(); len(c) == 1 && (name == "cd" || name == "pushd" || name == "popd") {
			return "another folder"
		}
		for i, w := range c {
			if i == 0 && !w.unknown {
				continue // the program itself is not what it works on
			}
			if what := check(w); what != "" {
				return what
			}
		}
		if slices.Contains(interpreters, c[0].name()) && slices.ContainsFunc(c[1:], func(w word) bool { return w.text == "-c" || w.text == "-e" }) {
			return "a program in another language"
		}
		if readsElsewhere(c) {
			return "a shell that reads its commands from elsewhere"
		}
	}
	for _, w := range l.others {
		if what := check(w); what != "" {
			return what
		}
	}
	for _, inner := range l.inner {
		if !inner.certain {
			continue
		}
		if what := u.outsideOf(inner.line); what != "" {
			return what
		}
	}
	return ""
}

// paths are the texts in a word that may be paths.
func paths(text string) []string {
	if strings.Contains(text, "://") && !strings.Contains(text, "file://") {
		return nil
	}
	all := []string{text}
	for _, mark := range []string{"=", ":"} {
		if _, after, ok := strings.Cut(text, mark); ok {
			all = append(all, strings.Split(after, mark)...)
		}
	}
	if strings.HasPrefix(text, "-") && strings.IndexByte(text, '/') == 2 {
		all = append(all, text[2:]) // -I/usr/include
	}
	return all
}

// outsidePath returns a path that is outside, quoted; "" for one inside. With moves, the line goes to another folder first.
func (u *Use) outsidePath(path string, moves bool) string {
	quoted := fmt.Sprintf("%q", path)
	up := slices.Contains(strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' }), "..")
	switch {
	case strings.ContainsAny(path, "\n"):
		return ""
	case strings.HasPrefix(path, "~"), path == "-":
		if path == "-" && !moves {
			return "" // the standard input
		}
		return quoted
	case slices.Contains([]string{"/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty"}, path):
		return ""
	case filepath.IsAbs(path) || strings.HasPrefix(path, "/"):
	case up && moves:
		return quoted
	case up || strings.ContainsRune(path, filepath.Separator):
		path = filepath.Join(u.Cwd, path)
	default:
		return ""
	}
	inside, err := filepath.Rel(realpath.Of(u.Folder), realpath.Of(path))
	if err != nil || inside == ".." || strings.HasPrefix(inside, ".."+string(filepath.Separator)) {
		return quoted
	}
	return ""
}
