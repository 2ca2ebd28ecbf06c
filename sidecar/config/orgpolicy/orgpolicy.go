// Package orgpolicy decides whether an organisation's managed files let a server be used.
//
// Administrators write such files for single hosts, and one for Assent. [Policies.Check] compares a server with all of them.
// A policy only restricts: no file allows a server that another one blocks. Claude Code's files count as one, with one list.
// [Policies.Check] compares the server itself, never the host's entry that starts "assent gateway". A denied command or URL of
// any file holds for all of Assent. Denied names and allow lists hold for the sessions of that file's host. A file that cannot
// be read blocks every server of its host; Assent's own file blocks every server.
//
// What people deny to Claude Code in their own settings holds for its sessions, and for nothing else.
//
// The package reads no files, has no state, and can be used by several goroutines. It is a guard rail and no sandbox: a copied
// program, or a shell that starts it, passes any list of commands.
package orgpolicy

import (
	"fmt"
	"slices"
	"strings"

	"assent/sidecar/base/lazyregexp"
	"assent/sidecar/base/reason"
)

// Kind is the format of a managed file.
type Kind string

// The formats.
const (
	Assent        Kind = "assent"         // policy.json of Assent
	ClaudeCode    Kind = "claude-code"    // managed-settings.json, and those of managed-settings.d
	ClaudeServers Kind = "claude-servers" // managed-mcp.json of Claude Code
	ClaudeOwn     Kind = "claude-own"     // settings.json of Claude Code, which is the person's
	Copilot       Kind = "copilot-cli"    // managed-settings.json of GitHub Copilot
	VSCode        Kind = "vscode"         // policy.json of VS Code
	Codex         Kind = "codex"          // requirements.toml
	Gemini        Kind = "gemini-cli"     // settings.json and system-defaults.json of the system
	Qwen          Kind = "qwen-code"      // the same of Qwen Code
	QwenDefaults  Kind = "qwen-defaults"  // system-defaults.json of Qwen Code
)

// hosts returns the hosts that obey a file, or nil for all.
func (k Kind) hosts() []string {
	switch k {
	case Assent:
		return nil
	case ClaudeServers, ClaudeOwn:
		return []string{string(ClaudeCode)}
	case QwenDefaults:
		return []string{string(Qwen)}
	case Copilot:
		return []string{string(Copilot), string(VSCode), "jetbrains"}
	}
	return []string{string(k)}
}

// holdsFor reports whether all of a file holds for a session that is one of any of the hosts.
func (k Kind) holdsFor(hosts []string) bool {
	return k.hosts() == nil || slices.ContainsFunc(k.hosts(), func(host string) bool { return slices.Contains(hosts, host) })
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
	// Unresolved: some variables get their values at the start, and the server is checked again then. Until that, Assent's own
	// allow list does not count. The allow lists of hosts do not have the server, because hosts are not asked at a start.
	Unresolved bool
	// Paths are those of the program: where it was found, and where links lead from there. Unless they are known, there are none.
	Paths []string
	// readings are those of the command, and addresses those of both URLs. Check sets them.
	readings  [][]string
	addresses []address
}

// isRemote reports whether the server is reached by a URL.
func (s Server) isRemote() bool { return s.URL != "" }

// commands returns all forms of the command that a list may deny.
func (s Server) commands() [][]string {
	all := [][]string{s.Command, s.Resolved}
	for _, path := range s.Paths {
		if len(s.Resolved) > 0 {
			all = append(all, append([]string{path}, s.Resolved[1:]...))
		}
	}
	return all
}

// Blocked says that the organisation does not let a server be used.
type Blocked struct {
	// File is the path of the managed file, and Entry what in it decides.
	File, Entry string
	// Message is the administrator's text for people; it may be empty.
	Message string
	// Missing is what an administrator, or the person with IsOwn, would add to the file to allow the server. It is empty if the
	// server is denied, or if no line would allow it.
	Missing string
	// IsOwn: the file is the person's, and no organisation's.
	IsOwn bool
}

// Error implements error.
func (b *Blocked) Error() string {
	by := "your organisation"
	if b.IsOwn {
		by = "your own settings"
	}
	text := fmt.Sprintf("Blocked by %s: %s, %s", by, b.File, b.Entry)
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
	// own is of Assent's own file.
	own Own
	// allowed are the allow lists. A server has to be in each.
	allowed []allowList
	// ofEntries is the person's own allow list, with which Claude Code compares its entries; nil for none. See [Policies.CheckEntry].
	ofEntries *allowList
}

// allowList is one allow list of a file.
type allowList struct {
	// member is where the file has it.
	member string
	// entries are for Claude Code, where all files have one list together.
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
		switch {
		case err != nil && f.Kind == ClaudeOwn:
			continue // Claude Code leaves it out, too
		case err != nil:
			r.broken = reason.Of(err)
		}
		p.files = append(p.files, r)
	}
	return p
}

// Restricts reports whether there is a server that [Policies.Check] would not let be used.
func (p Policies) Restricts() bool {
	return slices.ContainsFunc(p.files, func(r rules) bool { return r.broken != "" || len(r.denied)+len(r.allowed) > 0 })
}

// CheckEntry returns why a host's own files do not let the host start the entry of a server, or nil. It is the host that compares
// the entry, so that the files of others and Assent's own do not count. What people allow in their own settings of Claude Code counts
// if no organisation has an allow list, to which theirs would only add.
func (p Policies) CheckEntry(host string, entry Server) *Blocked {
	var own Policies
	for _, r := range p.files {
		if slices.Contains(r.kind.hosts(), host) {
			own.files = append(own.files, r)
		}
	}
	blocked := own.Check(entry, host)
	if blocked == nil && !slices.ContainsFunc(own.files, func(r rules) bool { return r.kind == ClaudeCode && len(r.allowed) > 0 }) {
		for _, r := range own.files {
			if r.ofEntries != nil && !allows(r.ofEntries.entries, entry, r.kind) {
				return r.missing(r.ofEntries.member, entry)
			}
		}
	}
	if blocked != nil && host == string(Codex) {
		blocked.Missing = "" // it has one identity for each name, and that is the server's
	}
	return blocked
}

// Check returns why a server may not be used in a session of hosts, or nil. A session has several names of hosts if these are
// said in several ways; the files of all of them hold. It has none in a terminal. For a host that has no file, the denied
// commands and URLs of all files hold, and Assent's own file.
func (p Policies) Check(s Server, hosts ...string) *Blocked {
	s.readings, s.addresses = readings(s.commands()...), addresses(s.URL, s.ResolvedURL)
	for _, r := range p.files {
		whole := r.kind.holdsFor(hosts)
		if whole && r.broken != "" {
			return r.blocked("which cannot be used: " + r.broken)
		}
		for _, e := range r.denied {
			if (whole || e.kind != byName && r.kind != ClaudeOwn) && e.has(s) {
				return r.blocked("entry " + e.text)
			}
		}
	}
	var united *rules
	var entries []entry
	for i, r := range p.files {
		if !r.kind.holdsFor(hosts) || r.kind == Assent && s.Unresolved {
			continue
		}
		for _, list := range r.allowed {
			switch {
			case list.holds != nil:
				if !list.holds(s) {
					return r.missing(list.member, s)
				}
			case r.kind == ClaudeCode:
				if united == nil {
					united = &p.files[i]
				}
				entries = append(entries, list.entries...)
			case !allows(list.entries, s, r.kind):
				return r.missing(list.member, s)
			}
		}
	}
	if united != nil && !allows(entries, s, united.kind) {
		return united.missing("allowedMcpServers", s)
	}
	return nil
}

// State is what became of a managed file.
type State struct {
	Path string
	// Hosts obey the whole file in their sessions. Without any, the file holds for all.
	Hosts []string
	// Problem is why the file blocks all servers for these, or empty.
	Problem string
}

// States returns what became of the files of organisations.
func (p Policies) States() (all []State) {
	for _, r := range p.files {
		if r.kind == ClaudeOwn {
			continue
		}
		all = append(all, State{r.path, r.kind.hosts(), r.broken})
	}
	return all
}

// missing blocks a server that an allow list does not have.
func (r rules) missing(member string, s Server) *Blocked {
	b := r.blocked(member + " does not have this server")
	if member != adminServers { // which is no administrator's of this machine
		b.Missing = r.kind.line(s)
	}
	return b
}

func (r rules) blocked(entry string) *Blocked {
	return &Blocked{File: r.path, Entry: entry, Message: r.message, IsOwn: r.kind == ClaudeOwn}
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
