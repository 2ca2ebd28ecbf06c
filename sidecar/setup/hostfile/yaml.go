package hostfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"assent/sidecar/base/lazyregexp"
)

// maxYAML bounds a file in YAML, in bytes: its parser is slow.
const maxYAML = 4 << 20

// yamlFile is YAML. It is edited as text, by the lines of its nodes.
type yamlFile struct {
	text  []byte
	crlf  bool
	root  *yaml.Node // nil for an empty file
	lines []int      // where each line begins
}

func parseYAML(data []byte, crlf bool) (document, error) {
	if len(data) > maxYAML {
		return nil, fmt.Errorf("it has more than %d bytes", maxYAML)
	}
	f := &yamlFile{text: data, crlf: crlf, lines: []int{0}}
	for i, b := range data {
		if b == '\n' {
			f.lines = append(f.lines, i+1)
		}
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	switch err := d.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return f, nil
	case err != nil:
		return nil, yamlError(err)
	}
	if err := d.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, errors.New("it has more than one document")
	}
	if len(doc.Content) == 1 && doc.Content[0].Tag != "!!null" {
		f.root = doc.Content[0]
		if f.root.Kind != yaml.MappingNode {
			return nil, errors.New("it is not a mapping")
		}
	}
	asWritten(f.root)
	if _, err := f.value(); err != nil {
		return nil, err
	}
	return f, nil
}

// yamlError returns an error without the texts of the file, which may be secrets.
func yamlError(err error) error {
	var types *yaml.TypeError
	if errors.As(err, &types) && len(types.Errors) > 0 {
		err = errors.New(types.Errors[0])
	}
	text := strings.Replace(err.Error(), "found character that cannot start any token", "found a tab, or another character that cannot start a value", 1)
	return errors.New(quotedText().ReplaceAllString(strings.TrimPrefix(text, "yaml: "), "anchor"))
}

var quotedText = lazyregexp.New(`(?s)anchor '.*'`)

// asWritten makes dates texts, as programs read them (YAML 1.2, core schema), and numbers stay as they are written: a program
// that wants a text may make another one of 1.10, 007 and 1_000.
func asWritten(n *yaml.Node) {
	if n == nil {
		return
	}
	switch n.Tag {
	case "!!timestamp":
		n.Tag = "!!str"
	case "!!int", "!!float":
		var number float64
		if n.Kind != yaml.ScalarNode || n.Decode(&number) != nil {
			return
		}
		text := strconv.FormatFloat(number, 'f', -1, 64)
		switch {
		case text == n.Value:
			return
		case math.IsInf(number, 0) || math.IsNaN(number):
			text = n.Value // which JSON does not have
		case json.Valid([]byte(n.Value)):
			text = oddNumber + n.Value
		case strings.Contains(text, "."):
			text = oddNumber + text + "0"
		default:
			text = oddNumber + text + ".0"
		}
		n.Tag, n.Value = "!!str", text
	}
	for i, inner := range n.Content {
		if isKey := n.Kind == yaml.MappingNode && i%2 == 0; !isKey || inner.Tag == "!!timestamp" {
			asWritten(inner)
		}
	}
}

// oddNumber begins the text of a number that is not in its shortest form. It stays so in JSON.
const oddNumber = "\x00number "

func (f *yamlFile) bytes() []byte { return f.text }

func (f *yamlFile) clone() (document, error) {
	c := *f
	return &c, nil
}

func (f *yamlFile) value() (any, error) {
	if f.root == nil {
		return map[string]any{}, nil
	}
	return plain(f.root)
}

// plain decodes a node as JSON.
func plain(n *yaml.Node) (any, error) {
	var v any
	if err := n.Decode(&v); err != nil {
		return nil, yamlError(err)
	}
	raw, err := json.Marshal(textKeys(v))
	if err != nil {
		return nil, err
	}
	return decode(raw)
}

// textKeys makes the keys of mappings texts, and odd numbers numbers.
func textKeys(v any) any {
	switch v := v.(type) {
	case map[any]any:
		out := map[string]any{}
		for key, value := range v {
			out[fmt.Sprint(key)] = textKeys(value)
		}
		return out
	case map[string]any:
		for key := range v {
			v[key] = textKeys(v[key])
		}
	case []any:
		for i := range v {
			v[i] = textKeys(v[i])
		}
	case string:
		if number, ok := strings.CutPrefix(v, oddNumber); ok {
			return json.Number(number)
		}
	}
	return v
}

// child returns the key and the value of a mapping's member.
func child(n *yaml.Node, name string) (key, value *yaml.Node) {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i], n.Content[i+1]
		}
	}
	return nil, nil
}

// container returns the node that holds the servers, or nil.
func (f *yamlFile) container(at Path) (key, value *yaml.Node, err error) {
	value = f.root
	for _, name := range at {
		if key, value = child(value, name); value == nil {
			return nil, nil, nil
		}
	}
	if value != nil && value.Tag != "!!null" && value.Kind != yaml.MappingNode && value.Kind != yaml.SequenceNode {
		return nil, nil, fmt.Errorf("%q is not a list of servers", strings.Join(at, "."))
	}
	return key, value, nil
}

func (f *yamlFile) entries(at Path) ([]Entry, error) {
	_, servers, err := f.container(at)
	if servers == nil {
		return nil, err
	}
	var entries []Entry
	add := func(name string, n *yaml.Node) error {
		v, err := plain(n)
		if err != nil {
			return err
		}
		raw, err := encode(v)
		if err != nil {
			return err
		}
		entries = append(entries, Entry{Name: name, Value: raw})
		return nil
	}
	switch servers.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(servers.Content); i += 2 {
			if err := add(servers.Content[i].Value, servers.Content[i+1]); err != nil {
				return nil, err
			}
		}
	case yaml.SequenceNode:
		for _, n := range servers.Content {
			if _, name := child(n, "name"); name != nil {
				if err := add(name.Value, n); err != nil {
					return nil, err
				}
			}
		}
	}
	return entries, nil
}

// entry returns where an entry begins, and its mapping.
func (f *yamlFile) entry(at Path, name string) (start int, value *yaml.Node, err error) {
	_, servers, err := f.container(at)
	if err != nil {
		return 0, nil, err
	}
	if servers == nil {
		return 0, nil, ErrNoEntry
	}
	var where *yaml.Node
	if servers.Kind == yaml.MappingNode {
		where, value = child(servers, name)
	} else {
		for _, n := range servers.Content {
			if _, v := child(n, "name"); v != nil && v.Value == name {
				where, value = n, n
			}
		}
	}
	switch {
	case value == nil:
		return 0, nil, ErrNoEntry
	case value.Kind != yaml.MappingNode || value.Anchor != "" || where.Anchor != "":
		return 0, nil, fmt.Errorf("the entry %q has an anchor, or is an alias: write it out", name)
	case value.Style&yaml.FlowStyle != 0 || servers.Style&yaml.FlowStyle != 0:
		return 0, nil, fmt.Errorf("the entry %q is in braces: write it in lines", name)
	}
	for _, n := range value.Content {
		if n.Anchor != "" || n.Kind == yaml.AliasNode || n.Tag == "!!merge" {
			return 0, nil, fmt.Errorf("the entry %q has an anchor, or an alias: write it out", name)
		}
	}
	return f.lines[where.Line-1], value, nil
}

// yamlPart is a member of an entry: from its key to the end of its last line.
type yamlPart struct {
	name       string
	start, end int
	column     int // of the key, from 0
}

// parts returns the members of an entry.
func (f *yamlFile) parts(entry *yaml.Node) []yamlPart {
	var parts []yamlPart
	for i := 0; i+1 < len(entry.Content); i += 2 {
		key, value := entry.Content[i], entry.Content[i+1]
		column := f.column(key)
		parts = append(parts, yamlPart{
			name: key.Value, start: f.lines[key.Line-1] + column, column: column,
			end: f.end(key.Line, column, value.Kind == yaml.SequenceNode && value.Style&yaml.FlowStyle == 0),
		})
	}
	return parts
}

// column returns how many bytes are before a node in its line. YAML counts characters.
func (f *yamlFile) column(n *yaml.Node) int {
	line := f.text[f.lines[n.Line-1]:]
	at := 0
	for i := range string(line) {
		if at == n.Column-1 {
			return i
		}
		at++
	}
	return len(line)
}

// end returns the end of a member that begins in a line, with its key in a column. The member ends before the next line that
// is not indented more, without the empty lines and comments above that line. The dashes of a list may be in the key's column.
func (f *yamlFile) end(line, column int, list bool) int {
	end := len(f.text)
	if line < len(f.lines) {
		end = f.lines[line]
	}
	for i := line; i < len(f.lines); i++ {
		text := f.text[f.lines[i]:]
		if n := bytes.IndexByte(text, '\n'); n >= 0 {
			text = text[:n+1]
		}
		rest := bytes.TrimLeft(text, " ")
		trimmed := bytes.TrimSpace(rest)
		in := len(text) - len(rest)
		dash := list && in == column && (bytes.HasPrefix(trimmed, []byte("- ")) || string(trimmed) == "-")
		comment := len(trimmed) > 0 && trimmed[0] == '#'
		switch {
		case len(trimmed) == 0:
		case in <= column && !dash && !comment:
			return end
		case in <= column && comment:
		default:
			end = f.lines[i] + len(text)
		}
	}
	return end
}

func (f *yamlFile) route(at Path, name string, launch Launch, by []Member) error {
	return f.swap(at, name, launch, func(indent string) (string, error) { return yamlLines(by, indent) })
}

// yamlLines writes members. The first one is not indented.
func yamlLines(members []Member, indent string) (string, error) {
	var out strings.Builder
	for i, m := range members {
		raw, err := encode(m.Value)
		if err != nil {
			return "", err
		}
		if i > 0 {
			out.WriteString(indent)
		}
		out.WriteString(yamlKey(m.Name) + ": " + strings.ReplaceAll(string(raw), `","`, `", "`) + "\n")
	}
	return out.String(), nil
}

// yamlKey writes a key, as JSON unless it is a plain word.
func yamlKey(name string) string {
	if name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-") == "" && name[0] != '-' &&
		!slices.Contains([]string{"y", "n", "yes", "no", "on", "off", "true", "false", "null"}, strings.ToLower(name)) {
		return name
	}
	raw, err := encode(name)
	if err != nil { // a text can always be encoded
		return name
	}
	return string(raw)
}

// swap replaces the launch members of an entry by lines.
func (f *yamlFile) swap(at Path, name string, launch Launch, lines func(indent string) (string, error)) error {
	_, entry, err := f.entry(at, name)
	if err != nil {
		return err
	}
	parts := f.parts(entry)
	if len(parts) == 0 {
		return ErrNoEntry
	}
	first := max(0, slices.IndexFunc(parts, func(p yamlPart) bool { return slices.Contains(launch, p.name) }))
	indent := strings.Repeat(" ", parts[first].column)
	text, err := lines(indent)
	if err != nil {
		return err
	}
	var edits []edit
	for i, p := range parts {
		isLaunch := slices.Contains(launch, p.name)
		switch {
		case i == first && isLaunch:
			edits = append(edits, edit{p.start, p.end, lineEnds(text, f.crlf)})
		case i == first: // the entry had no launch member
			edits = append(edits, edit{p.start, p.start, lineEnds(text+indent, f.crlf)})
		case isLaunch:
			edits = append(edits, edit{f.lineOf(p.start), p.end, ""})
		}
	}
	f.text = apply(f.text, edits, f.crlf)
	return nil
}

// lineOf returns where the line of a place begins.
func (f *yamlFile) lineOf(at int) int { return bytes.LastIndexByte(f.text[:at], '\n') + 1 }

func (f *yamlFile) restore(at Path, name string, launch Launch, original document) error {
	was, ok := original.(*yamlFile)
	if !ok {
		return errors.New("it is another kind of file")
	}
	_, from, err := was.entry(at, name)
	if err != nil {
		return err
	}
	return f.swap(at, name, launch, func(indent string) (string, error) {
		var out strings.Builder
		for _, p := range was.parts(from) {
			if !slices.Contains(launch, p.name) {
				continue
			}
			text := strings.ReplaceAll(string(was.text[p.start:p.end]), "\r\n", "\n")
			if !strings.HasSuffix(text, "\n") {
				text += "\n"
			}
			for i, line := range strings.SplitAfter(text, "\n") {
				switch {
				case line == "":
				case i == 0 && out.Len() == 0:
					out.WriteString(line)
				case i == 0:
					out.WriteString(indent + line)
				case strings.TrimSpace(line) == "":
					out.WriteString(line)
				default: // indented as it was, from its key
					out.WriteString(indent + strings.TrimPrefix(line, strings.Repeat(" ", p.column)))
				}
			}
		}
		return out.String(), nil
	})
}

func (f *yamlFile) add(at Path, name string, members []Member) error {
	if len(at) != 1 {
		return errors.New("a server can be added to a mapping at the top only")
	}
	key, servers, err := f.container(at)
	if err != nil {
		return err
	}
	var out strings.Builder
	list := len(members) > 0 && members[0].Name == "name"
	write := func(indent string) error {
		if list {
			text, err := yamlLines(members, indent+"  ")
			out.WriteString(indent + "- " + text)
			return err
		}
		text, err := yamlLines(members, indent+"  ")
		out.WriteString(indent + yamlKey(name) + ":\n" + indent + "  " + text)
		return err
	}
	where := len(f.text)
	switch {
	case key == nil:
		out.WriteString(yamlKey(at[0]) + ":\n")
		err = write("  ")
	case servers.Tag == "!!null" && servers.Value == "":
		where = f.end(key.Line, f.column(key), false)
		err = write("  ")
	case servers.Style&yaml.FlowStyle != 0 || len(servers.Content) == 0:
		return fmt.Errorf("%q is in braces: write it in lines", at[0])
	default:
		first := servers.Content[0]
		column := f.column(first)
		if servers.Kind == yaml.SequenceNode { // the dash is before
			line := f.text[f.lines[first.Line-1]:]
			column = len(line) - len(bytes.TrimLeft(line, " "))
		}
		where = f.end(key.Line, f.column(key), servers.Kind == yaml.SequenceNode)
		err = write(strings.Repeat(" ", column))
	}
	if err != nil {
		return err
	}
	f.text = apply(f.text, []edit{{where, where, lineEnds(out.String(), f.crlf)}}, f.crlf)
	return nil
}

func (f *yamlFile) remove(at Path, name string) error {
	start, entry, err := f.entry(at, name)
	if err != nil {
		return err
	}
	_, servers, err := f.container(at)
	if err != nil {
		return err
	}
	line, column := 0, 0
	if servers.Kind == yaml.MappingNode {
		key, _ := child(servers, name)
		line, column = key.Line, f.column(key)
	} else {
		line = entry.Line
		text := f.text[start:]
		column = len(text) - len(bytes.TrimLeft(text, " "))
	}
	f.text = apply(f.text, []edit{{start, f.end(line, column, false), ""}}, f.crlf)
	return nil
}
