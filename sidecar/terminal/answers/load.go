package answers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"assent/sidecar/base/nearest"
)

const (
	// maxFile and maxRules bound a file, in bytes and in rules.
	maxFile  = 1 << 20
	maxRules = 10_000
	// maxDepth bounds the nesting of an answer's values.
	maxDepth = 100
	// maxDelay bounds the delay of a rule.
	maxDelay = 24 * time.Hour
)

// Load reads a file of answers. clean must be the function that cleaned the texts of a strict file's questions when they
// were recorded.
func Load(name string, clean func(string) string) (*File, error) {
	data, err := readFile(name)
	if err != nil {
		return nil, fmt.Errorf("the answers cannot be read: %w", err)
	}
	return Parse(name, data, clean)
}

// readFile reads a file, within the limit of its size.
func readFile(name string) (_ []byte, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return readBounded(f, name)
}

func readBounded(r io.Reader, name string) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("%s has more than %d bytes", name, maxFile)
	}
	return data, err
}

// document reads the only document of a file.
func (p reader) document(data []byte) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	switch err := decoder.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%s: is empty, and must have the key \"answers\"", p.name)
	case err != nil:
		return nil, p.syntax(err)
	}
	if err := decoder.Decode(&more); err == nil {
		return nil, p.errorf(&more, "a second document begins here: there must be one")
	} else if !errors.Is(err, io.EOF) {
		return nil, p.syntax(err)
	}
	return doc.Content[0], nil
}

// Parse parses a file of answers; see [Load].
func Parse(name string, data []byte, clean func(string) string) (*File, error) {
	p := reader{name}
	root, err := p.document(data)
	if err != nil {
		return nil, err
	}
	if key, _ := member(root, "asks"); key != nil {
		return nil, p.errorf(key, "an unpublished version of Assent recorded this: record it again with --record")
	}
	strict, _ := member(root, "strict")
	result := &File{Name: name, Strict: strict != nil, clean: clean, used: map[*Rule]int{}}
	err = p.members(root, "the file", map[string]func(*yaml.Node) error{
		"strict": p.yes("strict"),
		"answers": func(node *yaml.Node) error {
			if node.Kind != yaml.SequenceNode {
				return p.errorf(node, "answers must be a list of rules")
			}
			if len(node.Content) > maxRules {
				return p.errorf(node, "there are more than %d rules", maxRules)
			}
			var g *group
			for _, node := range node.Content {
				rule, together, err := p.rule(node, result.Strict)
				switch {
				case err != nil:
					return err
				case together && g == nil:
					return p.errorf(node, "the first question cannot be together with one before it")
				case result.Strict && !together:
					g = &group{all: make(chan struct{})}
				}
				if g != nil {
					g.waits++
					rule.source.group = g
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

// errorf returns an error with a node's position.
func (p reader) errorf(node *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("%s:%d:%d: %s", p.name, node.Line, node.Column, fmt.Sprintf(format, args...))
}

// syntax returns the error of invalid YAML. The line in the error may be missing, an adjacent one, or that of the start
// of the faulty part.
func (p reader) syntax(err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 0
	if n, _ := fmt.Sscanf(text, "line %d:", &line); n == 1 {
		_, text, _ = strings.Cut(text, ": ")
		return fmt.Errorf("%s: this is not YAML, near line %d: %s", p.name, line, text)
	}
	return fmt.Errorf("%s: this is not YAML: %s", p.name, text)
}

// members reads a mapping. Unknown keys are errors.
func (p reader) members(node *yaml.Node, what string, known map[string]func(*yaml.Node) error) error {
	if node.Kind != yaml.MappingNode {
		return p.errorf(node, "%s must be a mapping", what)
	}
	names := slices.Sorted(maps.Keys(known))
	seen := map[string]bool{}
	for i := 0; i < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		read := known[key.Value]
		if read == nil {
			if near := nearest.Name(key.Value, names); near != "" {
				return p.errorf(key, "%s has no key %q: did you mean %q?", what, key.Value, near)
			}
			return p.errorf(key, "%s has no key %q: it has %s", what, key.Value, Either(names))
		}
		if seen[key.Value] {
			return p.errorf(key, "%s has the key %q twice", what, key.Value)
		}
		seen[key.Value] = true
		if err := read(value); err != nil {
			return err
		}
	}
	return nil
}

// rule reads a rule. A rule of a strict file has a question in place of what an ask must match.
func (p reader) rule(node *yaml.Node, strict bool) (r *Rule, together bool, err error) {
	r = &Rule{File: p.name, Line: node.Line, Times: 1}
	ways := []string{}
	way := func(w Way, read func(*yaml.Node) error) func(*yaml.Node) error {
		return func(node *yaml.Node) error {
			r.Way, ways = w, append(ways, string(w))
			return read(node)
		}
	}
	words := func(node *yaml.Node) error { r.Completion = new(string); return p.text(r.Completion)(node) }
	known := map[string]func(*yaml.Node) error{
		"answer":     way(Answer, func(node *yaml.Node) error { r.source.given = node; return p.json(&r.Answer)(node) }),
		"completion": way(Complete, func(node *yaml.Node) error { r.source.given = node; return words(node) }),
		"approve":    way(Approve, p.yes("approve")),
		"decline":    way(Decline, p.yes("decline")),
		"cancel":     way(Cancel, p.yes("cancel")),
		"fail":       way(Fail, words),
		"model":      p.text(&r.Model),
		"toolUses": func(node *yaml.Node) error {
			var raw json.RawMessage
			if err := p.json(&raw)(node); err != nil {
				return err
			}
			if json.Unmarshal(raw, &r.ToolUses) != nil {
				return p.errorf(node, "toolUses must be a list of id, name and input")
			}
			return nil
		},
		"delay": func(node *yaml.Node) error {
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
	}
	if strict {
		known["asked"] = func(node *yaml.Node) error { r.source.asked = node; return p.question(node, r) }
		known["together"] = func(node *yaml.Node) error { together = true; return p.yes("together")(node) }
	} else {
		known["match"] = func(node *yaml.Node) error { return p.match(node, r) }
		known["times"] = func(node *yaml.Node) error {
			n, err := strconv.Atoi(node.Value)
			if err != nil || n < 0 {
				return p.errorf(node, "times must be a number; 0 is without end")
			}
			r.Times = n
			return nil
		}
	}
	err = p.members(node, "a rule", known)
	switch {
	case err != nil:
		return nil, false, err
	case len(ways) != 1:
		return nil, false, p.errorf(node, "a rule needs one of answer, approve, completion, decline, cancel or fail, and has %s", count(ways))
	case strict && r.Kind == "":
		return nil, false, p.errorf(node, `a rule of a strict file has the key "asked", with a kind`)
	case r.Kind != "" && !r.suits(r.Kind):
		return nil, false, p.errorf(node, "%s cannot settle an ask of the kind %s", r.Way, r.Kind)
	case r.Model != "" && r.Way != Approve:
		return nil, false, p.errorf(node, "model goes with approve alone")
	case r.ToolUses != nil && r.Way != Complete:
		return nil, false, p.errorf(node, "toolUses go with completion alone")
	}
	return r, together, nil
}

// match reads what an ask must match.
func (p reader) match(node *yaml.Node, r *Rule) error {
	return p.members(node, "match", map[string]func(*yaml.Node) error{
		"server":  p.text(&r.Server),
		"tool":    p.text(&r.Tool),
		"message": p.text(&r.Message),
		"kind":    p.kind(r, kinds),
		"schema": func(node *yaml.Node) error {
			if node.Kind != yaml.SequenceNode {
				return p.errorf(node, "schema must be a list of names of fields")
			}
			for _, node := range node.Content {
				name := ""
				if err := p.text(&name)(node); err != nil {
					return err
				}
				r.Schema = append(r.Schema, name)
			}
			return nil
		},
	})
}

// question checks the question of a strict file, and reads its kind. No review is asked: what the server gets is the
// answer to the completion.
func (p reader) question(node *yaml.Node, r *Rule) error {
	var ignored string
	anything := func(node *yaml.Node) error {
		_, err := p.value(node, maxDepth)
		return err
	}
	return p.members(node, "asked", map[string]func(*yaml.Node) error{
		"kind":      p.kind(r, slices.DeleteFunc(slices.Clone(kinds), func(kind string) bool { return Kind(kind) == Review })),
		"server":    p.text(&ignored),
		"tools":     anything,
		"message":   p.text(&ignored),
		"url":       p.text(&ignored),
		"fields":    anything,
		"request":   anything,
		"arguments": anything,
	})
}

// kind reads one of these kinds.
func (p reader) kind(r *Rule, kinds []string) func(*yaml.Node) error {
	return func(node *yaml.Node) error {
		err := p.text((*string)(&r.Kind))(node)
		if err == nil && !slices.Contains(kinds, string(r.Kind)) {
			return p.errorf(node, "there is no kind %q: it is %s", r.Kind, Either(kinds))
		}
		return err
	}
}

func count(ways []string) string {
	if len(ways) == 0 {
		return "none"
	}
	return strings.Join(ways, " and ")
}

// text reads a text. A number or a boolean becomes a text as it is in the file.
func (p reader) text(into *string) func(*yaml.Node) error {
	return func(node *yaml.Node) error {
		if node.Kind != yaml.ScalarNode {
			return p.errorf(node, "this must be a text")
		}
		*into = node.Value
		return nil
	}
}

// yes reads the value of a key, which must be true, because false would not say what to do instead.
func (p reader) yes(key string) func(*yaml.Node) error {
	return func(node *yaml.Node) error {
		if yes := false; node.Decode(&yes) != nil || !yes {
			return p.errorf(node, "%s must be true", key)
		}
		return nil
	}
}

// json reads any value.
func (p reader) json(into *json.RawMessage) func(*yaml.Node) error {
	return func(node *yaml.Node) error {
		value, err := p.value(node, maxDepth)
		if err != nil {
			return err
		}
		*into, err = json.Marshal(value)
		return err
	}
}

// value returns a node's value for encoding/json. Numbers stay as in the file if they are valid JSON, and dates of YAML
// become texts.
func (p reader) value(node *yaml.Node, depth int) (any, error) {
	if depth == 0 {
		return nil, p.errorf(node, "this lies more than %d values deep", maxDepth)
	}
	switch node.Kind {
	case yaml.MappingNode:
		object := map[string]any{}
		for i := 0; i < len(node.Content); i += 2 {
			key := node.Content[i]
			if _, twice := object[key.Value]; key.Kind != yaml.ScalarNode || twice {
				return nil, p.errorf(key, "this key is not a text, or is repeated")
			}
			member, err := p.value(node.Content[i+1], depth-1)
			if err != nil {
				return nil, err
			}
			object[key.Value] = member
		}
		return object, nil
	case yaml.SequenceNode:
		list := []any{}
		for _, node := range node.Content {
			item, err := p.value(node, depth-1)
			if err != nil {
				return nil, err
			}
			list = append(list, item)
		}
		return list, nil
	case yaml.ScalarNode:
		return p.scalar(node)
	}
	return nil, p.errorf(node, "aliases are not known here: write the value out")
}

func (p reader) scalar(node *yaml.Node) (v any, err error) {
	switch node.ShortTag() {
	case "!!int", "!!float":
		if json.Valid([]byte(node.Value)) {
			return json.RawMessage(node.Value), nil
		}
		number := 0.0
		if err := node.Decode(&number); err != nil || math.IsInf(number, 0) || math.IsNaN(number) {
			return nil, p.errorf(node, "JSON has no such number")
		}
		return number, nil
	case "!!bool", "!!null":
		if err := node.Decode(&v); err != nil {
			return nil, p.errorf(node, "this cannot be read: %v", err)
		}
		return v, nil
	}
	return node.Value, nil
}
