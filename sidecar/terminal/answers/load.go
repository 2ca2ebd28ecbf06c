package answers

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

const (
	// maxFile and maxRules bound a file, in bytes and in rules.
	maxFile  = 1 << 20
	maxRules = 10_000
	// maxDelay bounds how long a rule may wait.
	maxDelay = 24 * time.Hour
)

// Load reads a file of answers.
func Load(name string) (*File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("the answers cannot be read: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("the answers cannot be read: %w", err)
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("%s has more than %d bytes", name, maxFile)
	}
	return Parse(name, data)
}

// Parse reads the answers that a file holds.
func Parse(name string, data []byte) (_ *File, err error) {
	p := reader{name}
	file, err := parser.ParseBytes(data, 0)
	var syntax yaml.Error
	switch {
	case errors.As(err, &syntax) && syntax.GetToken() != nil:
		at := syntax.GetToken().Position
		return nil, fmt.Errorf("%s:%d:%d: %s", name, at.Line, at.Column, syntax.GetMessage())
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	case len(file.Docs) != 1 || file.Docs[0].Body == nil:
		return nil, fmt.Errorf("%s: must be one document with the key \"answers\"", name)
	}
	result := &File{Name: name, used: map[*Rule]int{}}
	err = p.members(file.Docs[0].Body, "the file", map[string]func(ast.Node) error{
		"answers": func(node ast.Node) error {
			list, ok := node.(*ast.SequenceNode)
			if !ok {
				return p.errorf(node, "answers must be a list of rules")
			}
			if len(list.Values) > maxRules {
				return p.errorf(node, "there are more than %d rules", maxRules)
			}
			for _, node := range list.Values {
				rule, err := p.rule(node)
				if err != nil {
					return err
				}
				result.Rules = append(result.Rules, rule)
			}
			return nil
		},
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// reader reads the nodes of one file.
type reader struct{ name string }

// errorf makes an error with a node's place.
func (p reader) errorf(node ast.Node, format string, args ...any) error {
	at := node.GetToken().Position
	return fmt.Errorf("%s:%d:%d: %s", p.name, at.Line, at.Column, fmt.Sprintf(format, args...))
}

// members reads a mapping whose keys are all known.
func (p reader) members(node ast.Node, what string, known map[string]func(ast.Node) error) error {
	mapping, ok := node.(ast.MapNode)
	if !ok {
		return p.errorf(node, "%s must be a mapping", what)
	}
	var names []string
	for name := range known {
		names = append(names, name)
	}
	slices.Sort(names)
	for values := mapping.MapRange(); values.Next(); {
		key := values.Key()
		read := known[key.GetToken().Value]
		if read == nil {
			wrong := key.GetToken().Value
			if near := Nearest(wrong, names); near != "" {
				return p.errorf(key, "%s has no key %q: did you mean %q?", what, wrong, near)
			}
			return p.errorf(key, "%s has no key %q: it has %s", what, wrong, Either(names))
		}
		if err := read(values.Value()); err != nil {
			return err
		}
	}
	return nil
}

// rule reads a rule.
func (p reader) rule(node ast.Node) (*Rule, error) {
	r := &Rule{File: p.name, Line: line(node), Times: 1}
	ways := []string{}
	way := func(w Way, read func(ast.Node) error) func(ast.Node) error {
		return func(node ast.Node) error {
			r.Way, ways = w, append(ways, string(w))
			return read(node)
		}
	}
	err := p.members(node, "a rule", map[string]func(ast.Node) error{
		"match": func(node ast.Node) error {
			return p.members(node, "match", map[string]func(ast.Node) error{
				"server":  p.text(&r.Server),
				"tool":    p.text(&r.Tool),
				"message": p.text(&r.Message),
				"kind": func(node ast.Node) error {
					err := p.text((*string)(&r.Kind))(node)
					if err == nil && !slices.Contains(kinds, string(r.Kind)) {
						return p.errorf(node, "there is no kind %q: it is %s", r.Kind, Either(kinds))
					}
					return err
				},
				"schema": func(node ast.Node) error {
					if yaml.NodeToValue(node, &r.Schema) != nil {
						return p.errorf(node, "schema must be a list of names of fields")
					}
					return nil
				},
			})
		},
		"answer":     way(Answer, p.json(&r.Answer)),
		"completion": way(Complete, func(node ast.Node) error { r.Completion = new(string); return p.text(r.Completion)(node) }),
		"approve":    way(Approve, p.yes("approve")),
		"decline":    way(Decline, p.yes("decline")),
		"cancel":     way(Cancel, p.yes("cancel")),
		"model":      p.text(&r.Model),
		"delay": func(node ast.Node) error {
			var text string
			err := p.text(&text)(node)
			if err != nil {
				return err
			}
			if r.Delay, err = time.ParseDuration(text); err != nil || r.Delay < 0 || r.Delay > maxDelay {
				return p.errorf(node, "delay must be a time such as 500ms or 2s, and at most %v", maxDelay)
			}
			return nil
		},
		"times": func(node ast.Node) error {
			n, err := strconv.Atoi(node.GetToken().Value)
			if err != nil || n < 0 {
				return p.errorf(node, "times must be a number; 0 is without end")
			}
			r.Times = n
			return nil
		},
	})
	switch {
	case err != nil:
		return nil, err
	case len(ways) != 1:
		return nil, p.errorf(node, "a rule needs one of answer, approve, completion, decline or cancel, and has %s", count(ways))
	case r.Kind != "" && !r.suits(r.Kind):
		return nil, p.errorf(node, "%s is no way out of what has the kind %s", r.Way, r.Kind)
	case r.Model != "" && r.Way != Approve:
		return nil, p.errorf(node, "model goes with approve alone")
	}
	return r, nil
}

func count(ways []string) string {
	if len(ways) == 0 {
		return "none"
	}
	return strings.Join(ways, " and ")
}

// line is where a node begins.
func line(node ast.Node) int {
	if m, ok := node.(ast.MapNode); ok {
		if values := m.MapRange(); values.Next() {
			return values.Key().GetToken().Position.Line
		}
	}
	return node.GetToken().Position.Line
}

// text reads a text; a number or a yes is the text that it was written as.
func (p reader) text(into *string) func(ast.Node) error {
	return func(node ast.Node) error {
		if _, ok := node.(ast.ScalarNode); !ok {
			return p.errorf(node, "this must be a text")
		}
		if s, ok := node.(*ast.StringNode); ok {
			*into = s.Value
		} else if s, ok := node.(*ast.LiteralNode); ok {
			*into = s.Value.Value
		} else {
			*into = node.GetToken().Value
		}
		return nil
	}
}

// yes reads a key that can only be true: false would leave open what to do instead.
func (p reader) yes(key string) func(ast.Node) error {
	return func(node ast.Node) error {
		if b, ok := node.(*ast.BoolNode); !ok || !b.Value {
			return p.errorf(node, "%s must be true", key)
		}
		return nil
	}
}

// json reads any value.
func (p reader) json(into *json.RawMessage) func(ast.Node) error {
	return func(node ast.Node) error {
		var v any
		err := yaml.NodeToValue(node, &v)
		if err == nil {
			*into, err = json.Marshal(v)
		}
		if err != nil {
			return p.errorf(node, "this cannot be read as JSON: %v", err)
		}
		return nil
	}
}
