package config

import (
	"fmt"
	"path/filepath"
	"strings"

	"assent/sidecar/base/lazyregexp"
)

// maxNearMisses bounds how many are told of one command.
const maxNearMisses = 5

// siblings are commands that do the same under another name.
var siblings = map[string][]string{
	"python": {"python3"}, "python3": {"python"}, "pip": {"pip3"}, "node": {"nodejs"}, "docker": {"podman"}, "npx": {"bunx", "pnpm"}, "uvx": {"uv"},
}

// nearMisses says what the folders have instead of a command, in sentences.
func (s system) nearMisses(command string, folders []string, pathext string) []string {
	var found []string
	add := func(format string, args ...any) {
		if len(found) < maxNearMisses {
			found = append(found, fmt.Sprintf(format, args...))
		}
	}
	in := func(name string) string {
		path, _ := s.search(name, folders, pathext)
		return path
	}
	if first, rest, ok := strings.Cut(command, " "); ok && in(first) != "" {
		add(`%q is a whole command line, and %s is a program: give %q as "command" and %q, word by word, as "args".`, command, in(first), first, strings.TrimSpace(rest))
	}
	if name := withoutExtension(command); !s.windows && name != command && in(name) != "" {
		add(`The extension %s is of Windows, and %s is here: give %q as "command".`, filepath.Ext(command), in(name), name)
	}
	for _, folder := range folders {
		path := s.join(strings.TrimRight(folder, `/\`), command)
		if !s.windows && s.isFile(path) && !s.isProgram(path) {
			add("%s is there and may not be executed: allow it with chmod +x.", path)
		}
	}
	for _, name := range siblings[command] {
		if path := in(name); path != "" {
			add("There is %s, with the command %q.", path, name)
		}
	}
	return found
}

// fileNearMisses says what there is instead of a command that is a path.
func (s system) fileNearMisses(command, path string, folders []string, pathext string) []string {
	if s.isFolder(path) {
		return []string{fmt.Sprintf("%s is a folder.", path)}
	}
	if name := withoutExtension(path); !s.windows && name != path && s.isProgram(name) {
		return []string{fmt.Sprintf("The extension %s is of Windows, and %s is here.", filepath.Ext(path), name)}
	}
	if first, rest, ok := strings.Cut(command, " "); ok && (s.isProgram(first) || s.finds(first, folders, pathext)) {
		return []string{fmt.Sprintf(`%q is a whole command line: give %q as "command" and %q, word by word, as "args".`, command, first, strings.TrimSpace(rest))}
	}
	if !s.isAbs(command) {
		return []string{"The command is looked for from the folder in which the server starts: see \"cwd\"."}
	}
	return nil
}

// finds reports whether folders have a program.
func (s system) finds(command string, folders []string, pathext string) bool {
	path, _ := s.search(command, folders, pathext)
	return !s.named(command) && path != ""
}

// notACommand returns a sentence, after a blank, about a command that a shell would read in another way, or "".
func (s system) notACommand(command string) string {
	first, rest, isLine := strings.Cut(command, " ")
	switch hint := shellHint(command); {
	case hint != "":
		return " " + hint
	case isLine && !s.isAbs(command) && !strings.Contains(first, "/"):
		return fmt.Sprintf(` Give %q as "command" and %q, word by word, as "args".`, first, strings.TrimSpace(rest))
	}
	return ""
}

// shellHint returns a sentence about what a shell would replace in a text, and mcp.json does not, or "".
func shellHint(text string) string {
	if rest, ok := strings.CutPrefix(text, "~"); ok && (rest == "" || rest[0] == '/' || rest[0] == '\\') {
		return fmt.Sprintf("No shell reads it: for ~ write ${userHome}, as in %q.", "${userHome}"+rest)
	}
	if match := shellOnly().FindStringSubmatch(text); match != nil {
		return fmt.Sprintf("No shell reads it: for %s write ${env:%s}.", match[0], match[1]+match[2])
	}
	return ""
}

// shellOnly matches a variable as shells write it: $HOME, %APPDATA%.
var shellOnly = lazyregexp.New(`\$([A-Za-z_][A-Za-z0-9_]*)|%([A-Za-z_][A-Za-z0-9_]*)%`)

// withoutExtension returns a command without an extension of Windows' programs.
func withoutExtension(command string) string {
	switch ext := extension(command); ext {
	case ".cmd", ".exe", ".bat", ".ps1", ".com":
		return command[:len(command)-len(ext)]
	}
	return command
}

// managers are the version managers by a part of the folders in which they put programs.
var managers = []struct{ part, name string }{
	{"/.nvm/", "nvm"},
	{"/.volta/", "volta"},
	{"/volta/bin/", "volta"},
	{"/.asdf/", "asdf"},
	{"/mise/", "mise"},
	{"/.pyenv/", "pyenv"},
	{"/pyenv-win/", "pyenv"},
	{"/.rbenv/", "rbenv"},
	{"/.nodenv/", "nodenv"},
	{"/.fnm/", "fnm"},
	{"/fnm/", "fnm"},
	{"/fnm_multishells/", "fnm"},
	{"/nvm/", "nvm"},
}

// manager returns the version manager that a program belongs to, or "".
func manager(path string) string {
	path = strings.ToLower(strings.ReplaceAll(path, `\`, "/"))
	for _, m := range managers {
		if strings.Contains(path, m.part) {
			return m.name
		}
	}
	return ""
}
