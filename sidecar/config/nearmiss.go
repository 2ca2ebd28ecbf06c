package config

import (
	"fmt"
	"path/filepath"
	"strings"
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
func (s system) fileNearMisses(command, path, pathext string) []string {
	if s.isFolder(path) {
		return []string{fmt.Sprintf("%s is a folder.", path)}
	}
	if name := withoutExtension(path); !s.windows && name != path && s.isProgram(name) {
		return []string{fmt.Sprintf("The extension %s is of Windows, and %s is here.", filepath.Ext(path), name)}
	}
	if first, rest, ok := strings.Cut(command, " "); ok && s.isProgram(first) {
		return []string{fmt.Sprintf(`%q is a whole command line: give %q as "command" and %q, word by word, as "args".`, command, first, strings.TrimSpace(rest))}
	}
	if !s.isAbs(command) {
		return []string{"The command is looked for from the folder in which the server starts: see \"cwd\"."}
	}
	return nil
}

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
