package answers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"

	"assent/sidecar/base/visible"
	"assent/sidecar/base/wildcard"
)

// nodeOf returns a value as YAML, in the order of encoding/json, with clean applied to each text.
func nodeOf(v any, clean func(string) string) (*yaml.Node, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return readNode(d, clean, maxDepth)
}

func readNode(d *json.Decoder, clean func(string) string, depth int) (*yaml.Node, error) {
	if depth == 0 {
		return nil, fmt.Errorf("a value lies more than %d values deep", maxDepth)
	}
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case json.Delim:
		node := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		if t == '[' {
			node.Kind, node.Tag = yaml.SequenceNode, "!!seq"
		}
		for d.More() {
			item, err := readNode(d, clean, depth-1)
			if err != nil {
				return nil, err
			}
			node.Content = append(node.Content, item)
		}
		_, err := d.Token()
		return node, err
	case json.Number:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: t.String()}, nil // YAML resolves the type of the plain scalar
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: fmt.Sprint(t)}, nil
	case string:
		return textNode(clean(t)), nil
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}, nil
}

func textNode(text string) *yaml.Node {
	node := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
	if strings.ContainsFunc(text, visible.Hidden) {
		node.Style = yaml.DoubleQuotedStyle // this style can represent any text
	}
	return node
}

// reveal replaces hidden characters in quoted texts with escapes of their code points.
func reveal(text string) string {
	var out strings.Builder
	for _, r := range text {
		switch {
		case visible.Hidden(r) && r > 0xffff:
			fmt.Fprintf(&out, `\U%08X`, r)
		case visible.Hidden(r):
			fmt.Fprintf(&out, `\u%04X`, r)
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// write writes a node as a document.
func write(w io.Writer, node *yaml.Node) error {
	var b strings.Builder
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(node); err != nil {
		return err
	}
	if err := e.Close(); err != nil {
		return err
	}
	_, err := io.WriteString(w, reveal(b.String()))
	return err
}

// likeTag marks a text of a recording in which each * stands for any text.
const likeTag = "!like"

// asRecorded returns a recorded node for a comparison with an asked one. It has the members in the same order, and no
// styles. A !like text that matches is replaced with the asked text.
func asRecorded(recorded, asked *yaml.Node) *yaml.Node {
	out := &yaml.Node{Kind: recorded.Kind, Tag: recorded.ShortTag(), Value: recorded.Value}
	switch recorded.Kind {
	case yaml.ScalarNode:
		if recorded.Tag == likeTag && asked != nil && asked.Kind == yaml.ScalarNode && wildcard.Match(recorded.Value, asked.Value) {
			return asked
		}
		switch out.Tag {
		case "!!int", "!!float":
			out.Tag = "" // as in the asked node
		case "!!bool", "!!null":
		default:
			return textNode(recorded.Value)
		}
	case yaml.SequenceNode:
		for i, item := range recorded.Content {
			var other *yaml.Node
			if asked != nil && asked.Kind == yaml.SequenceNode && i < len(asked.Content) {
				other = asked.Content[i]
			}
			out.Content = append(out.Content, asRecorded(item, other))
		}
	case yaml.MappingNode:
		put := func(key, value, other *yaml.Node) {
			out.Content = append(out.Content, textNode(key.Value), asRecorded(value, other))
		}
		if asked != nil && asked.Kind == yaml.MappingNode {
			for i := 0; i < len(asked.Content); i += 2 {
				if key, value := member(recorded, asked.Content[i].Value); key != nil {
					put(key, value, asked.Content[i+1])
				}
			}
		}
		for i := 0; i < len(recorded.Content); i += 2 {
			if key, _ := member(asked, recorded.Content[i].Value); key == nil {
				put(recorded.Content[i], recorded.Content[i+1], nil)
			}
		}
	}
	return out
}

// member returns the key and the value of a mapping's member. It returns nil if there is no such member, or if the node
// is not a mapping.
func member(node *yaml.Node, name string) (key, value *yaml.Node) {
	if node == nil || node.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i < len(node.Content); i += 2 {
		if node.Content[i].Value == name {
			return node.Content[i], node.Content[i+1]
		}
	}
	return nil, nil
}

// without returns a mapping without a member.
func without(node *yaml.Node, name string) *yaml.Node {
	out := *node
	out.Content = nil
	for i := 0; i < len(node.Content); i += 2 {
		if node.Content[i].Value != name {
			out.Content = append(out.Content, node.Content[i], node.Content[i+1])
		}
	}
	return &out
}
