package orgpolicy

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
)

// by is what an entry compares.
type by string

const (
	byName    by = "serverName"
	byCommand by = "serverCommand"
	byURL     by = "serverUrl"
)

// entry is an entry of the lists that Claude Code, GitHub Copilot, VS Code and Assent have.
type entry struct {
	kind by
	// text is the entry as the file has it.
	text string
	name string
	// names has the names, if the entry has more than one.
	names   *regexp.Regexp
	command []string
	// expanded is the command after the variables. Readings are those of both.
	expanded []string
	readings [][]string
	url      string
	// addresses has the URL in its parts, if it is one. HasNoCase: upper and lower case are the same in its path.
	addresses []address
	hasNoCase bool
}

// listed reads a list. Its entries have one member each; the first that has not is the error, beside those that have. A
// deny list takes each member of such an entry as an entry of its own, which denies more. A list of Assent has only URLs with a
// scheme and a host.
func listed(raw json.RawMessage, deny bool, of Kind, expand func(string) string) (entries []entry, bad, err error) {
	var items []json.RawMessage
	if bytes.Equal(bytes.TrimSpace(raw), []byte("null")) || json.Unmarshal(raw, &items) != nil {
		return nil, nil, errors.New("it is no list")
	}
	for _, item := range items {
		var members map[string]json.RawMessage
		_ = json.Unmarshal(item, &members) // another value has no members
		var compact bytes.Buffer
		_ = json.Compact(&compact, item) // it was read from JSON
		text := compact.String()
		var found []entry
		for _, kind := range []by{byName, byCommand, byURL} {
			e := entry{kind: kind, text: text}
			value, ok := members[string(kind)]
			if !ok {
				continue
			}
			switch kind {
			case byName:
				ok = json.Unmarshal(value, &e.name) == nil && e.name != ""
			case byCommand:
				ok = json.Unmarshal(value, &e.command) == nil && len(e.command) > 0
				for _, part := range e.command {
					e.expanded = append(e.expanded, expand(part))
				}
				e.readings = readings(e.command, e.expanded)
			case byURL:
				ok = json.Unmarshal(value, &e.url) == nil && e.url != ""
				e.url = expand(e.url)
				// The programs leave out a URL that they do not understand. In Assent's file it is a mistake that is said.
				e.addresses = addresses(e.url)
				ok = ok && (len(e.addresses) > 0 || of != Assent)
				// Claude Code and GitHub Copilot compare paths with their case.
				e.hasNoCase = of == VSCode || of == Assent
			}
			if ok {
				found = append(found, e)
			}
		}
		if len(members) != 1 || len(found) != 1 {
			bad = errors.New("the entry " + text + " needs one of serverName, serverCommand and serverUrl, a URL with https:// or *://")
			if !deny {
				continue
			}
		}
		entries = append(entries, found...)
	}
	return entries, bad, nil
}

// has reports whether the entry is for the server: before or after its variables, by any reading.
func (e entry) has(s Server) bool {
	switch e.kind {
	case byName:
		return e.name == s.Name || e.names != nil && e.names.MatchString(s.Name)
	case byCommand:
		return slices.ContainsFunc(e.readings, func(entry []string) bool {
			return slices.ContainsFunc(s.readings, func(command []string) bool { return denyCommand(entry, command) })
		})
	default:
		return slices.ContainsFunc(e.addresses, func(pattern address) bool {
			return slices.ContainsFunc(s.addresses, func(a address) bool { return denyURL(pattern, a, e.hasNoCase) })
		})
	}
}

// allows reports whether an allow list has the server, after its variables. In Claude Code and GitHub Copilot a name counts
// only if the list has no entry of the server's own kind. In Assent's own list a name never counts: the person chooses it.
func allows(entries []entry, s Server, kind Kind) bool {
	of := byCommand
	if s.isRemote() {
		of = byURL
	}
	names := kind == VSCode || kind != Assent && !slices.ContainsFunc(entries, func(e entry) bool { return e.kind == of })
	return slices.ContainsFunc(entries, func(e entry) bool {
		switch {
		case e.kind == byName:
			return names && e.name == s.Name
		case e.kind != of:
			return false
		case of == byCommand:
			return slices.Equal(s.Resolved, e.expanded)
		}
		return allowURL(e.url, s.ResolvedURL, kind == VSCode)
	})
}
