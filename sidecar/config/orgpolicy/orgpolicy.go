// Package orgpolicy decides whether an organisation's managed files let a server be used.
//
// Administrators write such files for single hosts, and one for Assent. [Policies.Check] compares a server with all of them.
// A policy only restricts: no file allows a server that another one blocks. Claude Code's files count as one, with one list.
// [Policies.Check] compares the server itself, never the host's entry that starts "assent gateway". A denied command or URL of
// any file holds for all of Assent. Denied names and allow lists hold for the sessions of that file's host. A file that cannot
// be read blocks every server of its host; Assent's own file blocks every server.
//
// The package reads no files, has no state, and can be used by several goroutines. It is a guard rail and no sandbox: a copied
// program, or a shell that starts it, passes any list of commands.
package orgpolicy

import (
	"fmt"
	"slices"
	"strings"

	"assent/sidecar/base/lazyregexp"
)

// Kind is the format of a managed file.
type Kind string

// The formats.
const (
	Assent        Kind = "assent"         // policy.json of Assent
	ClaudeCode    Kind = "claude-code"    // managed-settings.json, and those of managed-settings.d
	ClaudeServers Kind = "claude-servers" // managed-mcp.json of Claude Code
	Copilot       Kind = "copilot-cli"    // managed-settings.json of GitHub Copilot
	VSCode        Kind = "vscode"         // policy.json of VS Code
	Codex         Kind = "codex"          // requirements.toml
	Gemini        Kind = "gemini-cli"     // settings.json of the system
)

// hosts returns the hosts that obey a file, or nil for all.
func (k Kind) hosts() []string {
	switch k {
	case Assent:
		return nil
	case ClaudeServers:
		return []string{string(ClaudeCode)}
	case Copilot:
		return []string{string(Copilot), string(VSCode), "jetbrains"}
	}
	return []string{string(k)}
}

// holdsFor reports whether all of a file holds for a host's sessions.
func (k Kind) holdsFor(host string) bool {
	return k.hosts() == nil || slices.Contains(k.hosts(), host)
}

// File is a managed file as it was found.
type File struct {
	Path string
	Kind Kind
	// Data is the text, and Err why it cannot be read.
	Data []byte
	Err  error
}

// Server is a server as its definition says it: Command and its arguments, or URL.
type Server struct {
	Name string
	// Command and URL are as they are written, with their variables.
	Command []string
	URL     string
	// Resolved and ResolvedURL are the same after the variables. They are empty if a variable has no value yet.
	Resolved    []string
	ResolvedURL string
	// Path is the full path of the program, if it is known.
	Path string
}

// isRemote reports whether the server is reached by a URL.
func (s Server) isRemote() bool { return s.URL != "" }

// commands returns all forms of the command that a list may deny.
func (s Server) commands() [][]string {
	all := [][]string{s.Command, s.Resolved}
	if s.Path != "" && len(s.Resolved) > 0 {
		all = append(all, append([]string{s.Path}, s.Resolved[1:]...))
	}
	return slices.DeleteFunc(all, func(c []string) bool { return len(c) == 0 })
}

// Blocked says that the organisation does not let a server be used.
type Blocked struct {
	// File is the path of the managed file, and Entry what in it decides.
	File, Entry string
	// Message is the administrator's text for people; it may be empty.
	Message string
}

// Error implements error.
func (b *Blocked) Error() string {
	text := fmt.Sprintf("Blocked by your organisation: %s, %s", b.File, b.Entry)
	if b.Message != "" {
		text += ". " + b.Message
	}
	return text
}

// Policies are the managed files of a machine, as they were read. The zero value blocks nothing.
type Policies struct{ files []rules }

// rules are those of one file.
type rules struct {
	path string
	kind Kind
	// message is the administrator's text for people. Only Assent's own file has one.
	message string
	// broken is why the file blocks everything; it is empty for a good one.
	broken string
	denied []entry
	// allowed are the allow lists. A server has to be in each.
	allowed []allowList
}

// allowList is one allow list of a file.
type allowList struct {
	// member is where the file has it.
	member string
	// entries are Claude Code's, whose files have one list together.
	entries []entry
	// holds reports whether the server is in the list. It is nil for entries.
	holds func(Server) bool
}

// New reads the texts of managed files. It never fails: a file that cannot be read blocks, and [Policies.Check] says so.
// Environ returns the value of a variable that an entry of a host's file names, and whether it is set.
func New(files []File, environ func(name string) (string, bool)) Policies {
	var p Policies
	for _, f := range files {
		r := rules{path: f.Path, kind: f.Kind}
		err := f.Err
		if err == nil {
			err = r.read(f.Data, func(text string) string { return expand(text, environ) })
		}
		if err != nil {
			r.broken = fmt.Sprintf("which cannot be used: %v", err)
		}
		p.files = append(p.files, r)
	}
	return p
}

// Check returns why a server may not be used in a session of a host, or nil. The host is empty for a terminal. For one that
// has no file, the denied commands and URLs of all files hold, and Assent's own file.
func (p Policies) Check(host string, s Server) *Blocked {
	for _, r := range p.files {
		whole := r.kind.holdsFor(host)
		if whole && r.broken != "" {
			return r.blocked(r.broken)
		}
		for _, e := range r.denied {
			if (whole || e.kind != byName) && e.denies(s) {
				return r.blocked("entry " + e.text)
			}
		}
	}
	var united *rules
	var entries []entry
	for i, r := range p.files {
		if !r.kind.holdsFor(host) {
			continue
		}
		for _, list := range r.allowed {
			switch {
			case list.holds != nil:
				if !list.holds(s) {
					return r.blocked(fmt.Sprintf("%s does not have this server", list.member))
				}
			case r.kind == ClaudeCode:
				if united == nil {
					united = &p.files[i]
				}
				entries = append(entries, list.entries...)
			case !allows(list.entries, s, r.kind):
				return r.blocked(fmt.Sprintf("%s does not have this server", list.member))
			}
		}
	}
	if united != nil && !allows(entries, s, united.kind) {
		return united.blocked("allowedMcpServers does not have this server")
	}
	return nil
}

func (r rules) blocked(entry string) *Blocked {
	return &Blocked{File: r.path, Entry: entry, Message: r.message}
}

// variable is how the hosts write a variable of the environment, perhaps with a default.
var variable = lazyregexp.New(`\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}`)

// expand puts in the variables that are set.
func expand(text string, environ func(string) (string, bool)) string {
	return variable().ReplaceAllStringFunc(text, func(match string) string {
		parts := variable().FindStringSubmatch(match)
		if value, ok := environ(parts[1]); ok {
			return value
		}
		if strings.Contains(match, ":-") {
			return parts[2]
		}
		return match
	})
}
