package orgpolicy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"

	"assent/sidecar/base/reason"
)

// read reads the text of a file. An error blocks every server for which the file holds.
func (r *rules) read(data []byte, expand func(string) string) error {
	if r.kind == Codex {
		return r.codex(data)
	}
	if r.kind == Gemini || r.kind.isQwen() {
		plain, err := hujson.Standardize(slices.Clone(data))
		if err != nil {
			return fmt.Errorf("it is no JSON: %s", strings.TrimPrefix(ended(err), "hujson: "))
		}
		data = plain
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return fmt.Errorf("it is no JSON object: %s%s", place(data, err), ended(err))
	}
	if members == nil {
		return errors.New("it is no JSON object")
	}
	switch r.kind {
	case Assent:
		return r.assent(members)
	case ClaudeServers:
		return r.exclusive(members)
	case Gemini, Qwen, QwenDefaults:
		return r.settings(members)
	case VSCode:
		return r.vscode(members, expand)
	case ClaudeOwn:
		if entries, _, err := listed(members["allowedMcpServers"], false, r.kind, expand); err == nil {
			r.ofEntries = &allowList{member: "allowedMcpServers", entries: entries}
		}
		delete(members, "allowedMcpServers") // people cannot add to an organisation's list
		return r.lists(members, "allowedMcpServers", "deniedMcpServers", expand)
	default:
		if err := r.plugins(members["strictPluginOnlyCustomization"]); err != nil {
			return err
		}
		return r.lists(members, "allowedMcpServers", "deniedMcpServers", expand)
	}
}

// place says where in a file an error of JSON is, if that is known.
func place(data []byte, err error) string {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) || syntax.Offset > int64(len(data)) {
		return ""
	}
	before := data[:max(syntax.Offset-1, 0)]
	if int(syntax.Offset) == len(data) && strings.HasPrefix(syntax.Error(), "unexpected end") {
		before = data
	}
	return fmt.Sprintf("line %d, column %d: ", 1+bytes.Count(before, []byte("\n")), len(before)-bytes.LastIndexByte(before, '\n'))
}

// ended is the reason of an error of a file. The end of a file is not that of a connection.
func ended(err error) string {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return strings.ReplaceAll(err.Error(), io.ErrUnexpectedEOF.Error(), "the file ends in the middle")
	}
	return reason.Of(err)
}

// plugins reads the member by which Claude Code has no servers but those of plugins, which Assent's are not: true, or a list
// with "mcp".
func (r *rules) plugins(raw json.RawMessage) error {
	var all bool
	var some []string
	if len(raw) > 0 && json.Unmarshal(raw, &all) != nil && json.Unmarshal(raw, &some) != nil {
		return errors.New(`"strictPluginOnlyCustomization" cannot be read`)
	}
	if all || slices.Contains(some, "mcp") {
		r.allowed = append(r.allowed, allowList{member: "strictPluginOnlyCustomization", holds: func(Server) bool { return false }})
	}
	return nil
}

// lists reads the two lists of a file. A list of the wrong type is an error. So is a bad entry in a file of GitHub Copilot or
// Assent; the others leave it out.
func (r *rules) lists(members map[string]json.RawMessage, allowed, denied string, expand func(string) string) error {
	var problems []error
	take := func(member string, deny bool) []entry {
		entries, bad, err := listed(members[member], deny, r.kind, expand)
		if err == nil && (r.kind == Copilot || r.kind == Assent) {
			err = bad
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", member, err))
		}
		return entries
	}
	if _, ok := members[denied]; ok {
		r.denied = take(denied, true)
	}
	if _, ok := members[allowed]; ok {
		r.allowed = append(r.allowed, allowList{member: allowed, entries: take(allowed, false)})
	}
	return errors.Join(problems...)
}

// assent reads Assent's own file, in which an unknown member is an error: it may restrict what this version does not know.
func (r *rules) assent(members map[string]json.RawMessage) error {
	if raw, ok := members["message"]; ok && json.Unmarshal(raw, &r.message) != nil {
		return errors.New(`"message" is no text`)
	}
	if raw, ok := members["version"]; ok && string(raw) != "1" {
		return errors.New(`"version" must be 1: this Assent is too old for the policy`)
	}
	if err := known("", members, "version", "message", "servers", "gateway", "setup", "browser", "approvals", "models", "journal", "recording"); err != nil {
		return err
	}
	if err := r.own.read(members); err != nil {
		return err
	}
	raw, ok := members["servers"]
	if !ok {
		return nil
	}
	var servers map[string]json.RawMessage
	if json.Unmarshal(raw, &servers) != nil || servers == nil {
		return errors.New(`"servers" is no object`)
	}
	if err := known("servers.", servers, "allowed", "denied"); err != nil {
		return err
	}
	if err := r.lists(servers, "allowed", "denied", func(text string) string { return text }); err != nil {
		return err
	}
	for _, list := range r.allowed {
		for _, e := range list.entries {
			if e.kind == byName {
				return fmt.Errorf("the entry %s allows by a name, which the person chooses: use serverCommand or serverUrl", e.text)
			}
		}
	}
	return nil
}

// known returns an error for the first member that has none of the names.
func known(where string, members map[string]json.RawMessage, names ...string) error {
	for name := range members {
		if !slices.Contains(names, name) {
			return fmt.Errorf("%q is not known: this Assent is too old for the policy", where+name)
		}
	}
	return nil
}

// exclusive reads managed-mcp.json: there are no servers but its own. A server is one of them by its name and definition, or
// if the file itself starts "assent gateway" for it.
func (r *rules) exclusive(members map[string]json.RawMessage) error {
	var servers map[string]struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
		URL     string   `json:"url"`
	}
	if err := json.Unmarshal(members["mcpServers"], &servers); err != nil {
		return errors.New(`"mcpServers" cannot be read`)
	}
	r.allowed = append(r.allowed, allowList{member: "mcpServers", holds: func(s Server) bool {
		for name, c := range servers {
			program := strings.TrimSuffix(strings.ToLower(c.Command[strings.LastIndexAny(c.Command, `/\`)+1:]), ".exe")
			switch {
			case program == "assent" && startsFor(c.Args, s.Name):
				return true
			case name != s.Name:
			case s.isRemote() && c.URL != "" && c.URL == s.ResolvedURL, !s.isRemote() && c.Command != "" && slices.Equal(append([]string{c.Command}, c.Args...), s.Resolved):
				return true
			}
		}
		return false
	}})
	return nil
}

// startsFor reports whether arguments have Assent offer a server, or all.
func startsFor(args []string, server string) bool {
	return len(args) > 0 && args[0] == "gateway" && (len(args) == 1 || args[len(args)-1] == server)
}

// vscode reads the policies of VS Code. Those that are no list count as unset there, and block here.
func (r *rules) vscode(members map[string]json.RawMessage, expand func(string) string) error {
	if raw, ok := members["ChatMCP"]; ok {
		var access string
		switch _ = json.Unmarshal(raw, &access); access {
		case "all":
		case "registry":
			return errors.New(`"ChatMCP" allows the servers of a registry, which Assent does not know`)
		default:
			return fmt.Errorf(`"ChatMCP" is %s`, raw)
		}
	}
	for _, name := range []string{"ChatAllowedMcpServers", "ChatDeniedMcpServers"} {
		var text string // a list may be written as a text, which is the form in a registry
		if json.Unmarshal(members[name], &text) == nil && text != "" {
			members[name] = json.RawMessage(text)
		}
	}
	return r.lists(members, "ChatAllowedMcpServers", "ChatDeniedMcpServers", expand)
}

func (k Kind) isQwen() bool { return k == Qwen || k == QwenDefaults }

// settings reads the system's settings of Gemini CLI, or of Qwen Code, which took them from it. An empty list of allowed servers
// is none in Gemini CLI. An excluded name counts without its case, which is stricter than there. Qwen Code has patterns, and its
// older names of the lists. In both programs, no settings of a person take an excluded name from the defaults. A server has to be
// in each list of Gemini CLI's; to one in the defaults of Qwen Code, people can add.
func (r *rules) settings(members map[string]json.RawMessage) error {
	if raw, ok := members["admin"]; ok && r.kind == Gemini {
		if err := r.admin(raw); err != nil {
			return err
		}
	}
	lists := map[string]json.RawMessage{}
	if raw, ok := members["mcp"]; ok && json.Unmarshal(raw, &lists) != nil {
		return errors.New(`"mcp" cannot be read`)
	}
	if r.kind == QwenDefaults {
		delete(lists, "allowed")
		delete(members, "allowMCPServers")
	}
	if err := errors.Join(r.names("mcp.allowed", lists["allowed"], true), r.names("mcp.excluded", lists["excluded"], false)); err != nil {
		return err
	}
	if r.kind.isQwen() {
		return errors.Join(r.names("allowMCPServers", members["allowMCPServers"], true), r.names("excludeMCPServers", members["excludeMCPServers"], false))
	}
	return nil
}

// names reads a list of names.
func (r *rules) names(member string, raw json.RawMessage, isAllowed bool) error {
	var names []string
	if raw != nil && json.Unmarshal(raw, &names) != nil {
		return fmt.Errorf("%q cannot be read", member)
	}
	var entries []entry
	for _, name := range names {
		text := regexp.QuoteMeta(name)
		if r.kind.isQwen() {
			text = strings.NewReplacer(`\*`, "(?s:.*)", `\?`, "(?s:.)").Replace(text)
		}
		if !isAllowed {
			text = "(?i:" + text + ")"
		}
		whole, err := regexp.Compile(`\A` + text + `\z`)
		if err != nil {
			return fmt.Errorf("%q has a pattern that is too long", member)
		}
		entries = append(entries, entry{kind: byName, text: fmt.Sprintf("%q of %s", name, member), names: whole})
	}
	switch {
	case !isAllowed:
		r.denied = append(r.denied, entries...)
	case len(names) > 0 || r.kind == Qwen && names != nil:
		r.allowed = append(r.allowed, allowList{member: member, holds: func(s Server) bool {
			return slices.ContainsFunc(entries, func(e entry) bool { return e.has(s) })
		}})
	}
	return nil
}

// adminServers is a list of Gemini CLI's vendor.
const adminServers = "admin.mcp.config"

// admin reads what Gemini CLI itself takes only from its vendor's server. A server of the list has its URL from there.
func (r *rules) admin(raw json.RawMessage) error {
	var admin struct {
		MCP struct {
			Enabled *bool `json:"enabled"`
			Config  map[string]struct {
				URL string `json:"url"`
			} `json:"config"`
		} `json:"mcp"`
	}
	if json.Unmarshal(raw, &admin) != nil {
		return errors.New(`"admin.mcp" cannot be read`)
	}
	if enabled := admin.MCP.Enabled; enabled != nil && !*enabled {
		return errors.New(`"admin.mcp.enabled" is false`)
	}
	if len(admin.MCP.Config) > 0 {
		r.allowed = append(r.allowed, allowList{member: adminServers, holds: func(s Server) bool {
			server, ok := admin.MCP.Config[s.Name]
			return ok && s.isRemote() && s.ResolvedURL == server.URL
		}})
	}
	return nil
}

// codex reads the requirements of Codex: a server needs a table of its name, and the identity in it.
func (r *rules) codex(data []byte) error {
	var file map[string]any
	if err := toml.Unmarshal(data, &file); err != nil {
		var at *toml.DecodeError
		if errors.As(err, &at) {
			line, column := at.Position()
			return fmt.Errorf("it is no TOML: line %d, column %d: %s", line, column, strings.TrimPrefix(at.Error(), "toml: "))
		}
		return fmt.Errorf("it is no TOML: %w", err)
	}
	value, ok := file["mcp_servers"]
	if !ok {
		return nil
	}
	servers, ok := value.(map[string]any)
	if !ok {
		return errors.New(`"mcp_servers" is no table`)
	}
	r.allowed = append(r.allowed, allowList{member: "mcp_servers", holds: func(s Server) bool {
		server, _ := servers[s.Name].(map[string]any)
		identity, _ := server["identity"].(map[string]any)
		if s.isRemote() {
			return s.ResolvedURL != "" && matches(identity["url"], s.ResolvedURL)
		}
		if len(s.Resolved) == 0 {
			return false
		}
		if program, ok := identity["command"].(string); ok {
			return program == s.Resolved[0]
		}
		command, _ := identity["command"].(map[string]any)
		args, ok := command["args"].([]any)
		if !ok || command["executable"] != s.Resolved[0] || len(args) != len(s.Resolved)-1 {
			return false
		}
		for i, arg := range args {
			if !matches(arg, s.Resolved[i+1]) {
				return false
			}
		}
		return true
	}})
	return nil
}

// matches reports whether a text is what Codex's matcher says: a text, or a table with match and value or expression.
func matches(matcher any, text string) bool {
	if exact, ok := matcher.(string); ok {
		return exact == text
	}
	table, _ := matcher.(map[string]any)
	value, hasValue := table["value"].(string)
	switch table["match"] {
	case "exact":
		return hasValue && value == text
	case "prefix":
		return hasValue && strings.HasPrefix(text, value)
	case "regex":
		expression, ok := table["expression"].(string)
		whole, err := regexp.Compile(`\A(?:` + expression + `)\z`)
		return ok && err == nil && whole.MatchString(text)
	}
	return false
}
