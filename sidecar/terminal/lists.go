package terminal

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"assent/protocol"
	"assent/sidecar/config"
)

// server returns the server that the command line names.
func (s *session) server() *protocol.ServerParams {
	return &protocol.ServerParams{ServerName: s.line.server}
}

func (s *session) listServers(ctx context.Context) error {
	list, err := s.sidecar.ListServers(ctx)
	if err != nil {
		return err
	}
	s.problems(list.Problems)
	t := table{columns: []column{{header: "name"}, {header: "transport"}, {header: "command", cut: true}, {header: "source", cut: true}}}
	for _, v := range list.Servers {
		t.rows = append(t.rows, []string{v.Name, string(v.Transport), s.briefCommand(v.Command), s.near(v.Source)})
		if v.Blocked != "" {
			s.note("assent: the MCP server %q: %s", v.Name, v.Blocked)
		}
	}
	return s.list(list, t, s.noServers(list.Problems))
}

// briefCommand returns a command line as a list on a terminal has room for it: a program without its folder, and paths
// inside the current folder relative to that. A pipe gets the whole line.
func (s *session) briefCommand(command string) string {
	if !s.stdout.isTerminal || strings.Contains(command, "://") {
		return command
	}
	words := strings.Split(command, " ")
	for i, word := range words {
		switch {
		case !filepath.IsAbs(word):
		case i == 0:
			words[i] = filepath.Base(word)
		default:
			words[i] = s.near(word)
		}
	}
	return strings.Join(words, " ")
}

// tryExample is a way out where no server is configured.
const tryExample = "Try the example server: assent call plan_lunch -- assent example-server"

// noServers says why the list of servers is empty.
func (s *session) noServers(problems []protocol.ConfigProblem) string {
	if len(problems) > 0 {
		return "No MCP server can be used here: the lines above name the configured servers that cannot be read."
	}
	return "No MCP server is configured here: there is none in " + s.configuredIn() + ".\n" + tryExample
}

// configuredIn names the files that can configure servers.
func (s *session) configuredIn() string {
	if s.line.configFile != "" {
		return s.line.configFile
	}
	return config.FileName + " or " + config.RootFileName
}

func (s *session) listTools(ctx context.Context) error {
	list, err := s.sidecar.ListTools(ctx, s.server())
	if err != nil {
		return s.explained(ctx, s.line.server, err)
	}
	t := table{columns: []column{{header: "tool"}, {header: "arguments"}, {header: "description"}}}
	for _, v := range list.Tools {
		var fields []string
		for _, f := range v.Fields {
			head := f.Head()
			fields = append(fields, argumentWord(head.Name, head.Required))
		}
		if v.MoreArguments {
			fields = append(fields, "[…]")
		}
		t.rows = append(t.rows, []string{v.Name, strings.Join(fields, " "), v.Description})
	}
	s.oddities(list.Problems)
	return s.list(list, t, s.hasNo("tools"))
}

// argumentWord formats an argument for a list.
func argumentWord(name string, required bool) string {
	if required {
		return name
	}
	return "[" + name + "]"
}

// hasNo returns a sentence that the server has no items of a kind.
func (s *session) hasNo(kind string) string {
	return fmt.Sprintf("The server %q has no %s.", s.line.server, kind)
}

func (s *session) listPrompts(ctx context.Context) error {
	list, err := s.sidecar.ListPrompts(ctx, s.server())
	if err != nil {
		return s.explained(ctx, s.line.server, err)
	}
	t := table{columns: []column{{header: "prompt"}, {header: "arguments"}, {header: "description"}}}
	for _, v := range list.Prompts {
		var names []string
		for _, a := range v.Arguments {
			names = append(names, argumentWord(a.Name, a.Required))
		}
		t.rows = append(t.rows, []string{v.Name, strings.Join(names, " "), v.Description})
	}
	s.oddities(list.Problems)
	return s.list(list, t, s.hasNo("prompts"))
}

func (s *session) listResources(ctx context.Context) error {
	list, err := s.sidecar.ListResources(ctx, s.server())
	if err != nil {
		return s.explained(ctx, s.line.server, err)
	}
	templates, err := s.sidecar.ListResourceTemplates(ctx, s.server())
	if err != nil {
		return err
	}
	all := struct {
		Resources         []protocol.Resource         `json:"resources,omitempty"`
		ResourceTemplates []protocol.ResourceTemplate `json:"resourceTemplates,omitempty"`
		Problems          []string                    `json:"problems,omitempty"`
	}{list.Resources, templates.ResourceTemplates, slices.Concat(list.Problems, templates.Problems)}
	t := table{columns: []column{{header: "URI"}, {header: "name"}, {header: "description"}}}
	for _, v := range all.Resources {
		t.rows = append(t.rows, []string{v.URI, v.Name, v.Description})
	}
	for _, v := range all.ResourceTemplates {
		t.rows = append(t.rows, []string{v.URITemplate, v.Name, v.Description})
	}
	s.oddities(list.Problems)
	s.oddities(templates.Problems)
	return s.list(all, t, s.hasNo("resources"))
}

// oddities prints the sentences about odd parts of a list of the server.
func (s *session) oddities(problems []string) {
	for _, p := range problems {
		s.note("%s", p)
	}
}

// problems prints the problems of the configuration.
func (s *session) problems(problems []protocol.ConfigProblem) {
	for _, p := range problems {
		p.Source = s.sourceOf(p.Source)
		s.note("%s: %s", placeOf(p), p.Message)
	}
}

// placeOf returns the file of a problem, with the line and column if they are known.
func placeOf(p protocol.ConfigProblem) string {
	if p.Line == 0 {
		return p.Source
	}
	return fmt.Sprintf("%s:%d:%d", p.Source, p.Line, p.Column)
}
