package terminal

import (
	"context"
	"fmt"
	"strings"

	"assent/protocol"
)

// mostDescription is how much of a description a line of a list has, in characters.
const mostDescription = 100

// server is the server that the command line names.
func (s *session) server() *protocol.ServerParams {
	return &protocol.ServerParams{ServerName: s.line.server}
}

func (s *session) listServers(ctx context.Context) error {
	list, err := s.sidecar.ListServers(ctx)
	if err != nil {
		return err
	}
	s.problems(list.Problems)
	return listed(s, list, list.Servers, func(v protocol.Server) []string {
		return []string{v.Name, string(v.Transport), v.Command, v.Source}
	})
}

func (s *session) listTools(ctx context.Context) error {
	list, err := s.sidecar.ListTools(ctx, s.server())
	if err != nil {
		return s.explained(ctx, s.line.server, err)
	}
	return listed(s, list, list.Tools, func(v protocol.Tool) []string {
		var fields []string
		for _, f := range v.Fields {
			head := f.Head()
			if name := head.Name; head.Required {
				fields = append(fields, name)
			} else {
				fields = append(fields, "["+name+"]")
			}
		}
		return []string{v.Name, strings.Join(fields, " "), v.Description}
	})
}

func (s *session) listPrompts(ctx context.Context) error {
	list, err := s.sidecar.ListPrompts(ctx, s.server())
	if err != nil {
		return s.explained(ctx, s.line.server, err)
	}
	return listed(s, list, list.Prompts, func(v protocol.Prompt) []string {
		return []string{v.Name, v.Description}
	})
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
	}{list.Resources, templates.ResourceTemplates}
	if s.line.json {
		return s.printJSON(all)
	}
	err = listed(s, nil, all.Resources, func(v protocol.Resource) []string {
		return []string{v.URI, v.Name, v.Description}
	})
	if err != nil {
		return err
	}
	return listed(s, nil, all.ResourceTemplates, func(v protocol.ResourceTemplate) []string {
		return []string{v.URITemplate, v.Name, v.Description}
	})
}

// listed prints a list: one object as JSON, or a line for each item, its parts separated by tabs, the first of which is
// the name.
func listed[T any](s *session, whole any, items []T, columns func(T) []string) error {
	if s.line.json {
		return s.printJSON(whole)
	}
	for _, item := range items {
		parts := columns(item)
		for i := range parts {
			limit := mostDescription
			if i == 0 {
				limit = 1000 // it is what one copies
			}
			parts[i] = oneLine(parts[i], limit)
		}
		if err := s.print("%s\n", strings.TrimRight(strings.Join(parts, "\t"), "\t")); err != nil {
			return err
		}
	}
	return nil
}

// problems tells what is wrong with the configuration.
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
