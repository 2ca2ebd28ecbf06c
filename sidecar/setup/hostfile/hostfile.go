// Package hostfile reads and edits the servers in the configuration files of programs, in JSON with comments, TOML and
// YAML.
//
// An edit changes the members that say how a server is reached, and leaves all else as it is: comments, order, indentation,
// line ends, the byte order mark. Comments within a replaced value go, and in TOML and YAML those behind it. The package
// parses the result of each edit: it must equal the old file except for that server. An edit that fails changes nothing. A
// [File] belongs to one goroutine. The package reads and writes no disk.
package hostfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"assent/sidecar/config"
)

// Syntax is the syntax of a file.
type Syntax string

// The syntaxes. JSON may have comments and trailing commas.
const (
	JSON Syntax = "json"
	TOML Syntax = "toml"
	YAML Syntax = "yaml"
)

// Member is a member of a server's entry.
type Member struct {
	Name  string
	Value any // as [json.Marshal] takes it
}

// Entry is the entry of a server in a file.
type Entry struct {
	Name string
	// Value is the entry as plain JSON.
	Value json.RawMessage
}

// File is a configuration file.
type File struct {
	syntax Syntax
	bom    bool
	crlf   bool
	doc    document
}

// Path leads to the servers of a file: it has the names of the objects around them. The servers may be in a list, as in
// Continue's YAML. Each element of the list then has a member "name".
type Path []string

// Launch are the names of the members that say how a server is reached. Only these are edited.
type Launch []string

// document is a parsed file of one syntax.
type document interface {
	// value returns the whole file as decoded JSON.
	value() (any, error)
	// entries returns the servers at a path, in their order.
	entries(at Path) ([]Entry, error)
	// route replaces the launch members of an entry.
	route(at Path, name string, launch Launch, by []Member) error
	// restore replaces the launch members of an entry by those of the same entry in another file of that syntax.
	restore(at Path, name string, launch Launch, original document) error
	// add adds an entry, and remove removes one.
	add(at Path, name string, members []Member) error
	remove(at Path, name string) error
	bytes() []byte
	clone() (document, error)
}

// ErrNoEntry says that a file has no such server.
var ErrNoEntry = errors.New("there is no such entry")

const bom = "\ufeff"

// Parse reads a file. An empty one has no servers.
func Parse(syntax Syntax, data []byte) (*File, error) {
	f := &File{syntax: syntax}
	if err := config.CheckEncoding(data); err != nil {
		return nil, err
	}
	data, f.bom = bytes.CutPrefix(data, []byte(bom))
	f.crlf = bytes.Contains(data, []byte("\r\n"))
	var err error
	f.doc, err = parse(syntax, data, f.crlf)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func parse(syntax Syntax, data []byte, crlf bool) (document, error) {
	switch syntax {
	case TOML:
		return parseTOML(data, crlf)
	case YAML:
		return parseYAML(data, crlf)
	default:
		return parseJSON(data, crlf)
	}
}

// Bytes returns the file as it is now.
func (f *File) Bytes() []byte {
	if f.bom {
		return append([]byte(bom), f.doc.bytes()...)
	}
	return f.doc.bytes()
}

// Value returns the value at a path as plain JSON, or nil if there is none.
func (f *File) Value(at ...string) json.RawMessage {
	v, err := f.doc.value()
	if err != nil {
		return nil
	}
	for _, name := range at {
		object, _ := v.(map[string]any)
		var ok bool
		if v, ok = object[name]; !ok {
			return nil
		}
	}
	raw, err := encode(v)
	if err != nil {
		return nil
	}
	return raw
}

// Entries returns the servers at a path.
func (f *File) Entries(at Path) ([]Entry, error) { return f.doc.entries(at) }

// Entry returns a server.
func (f *File) Entry(at Path, name string) (Entry, error) {
	entries, err := f.doc.entries(at)
	if err != nil {
		return Entry{}, err
	}
	i := slices.IndexFunc(entries, func(e Entry) bool { return e.Name == name })
	if i < 0 {
		return Entry{}, ErrNoEntry
	}
	return entries[i], nil
}

// Route replaces the launch members of a server.
func (f *File) Route(at Path, name string, launch Launch, by []Member) error {
	return f.edit(at, name, func(d document) error { return d.route(at, name, launch, by) })
}

// Restore gives a server the launch members that it has in an earlier state of the file.
func (f *File) Restore(at Path, name string, launch Launch, original *File) error {
	return f.edit(at, name, func(d document) error { return d.restore(at, name, launch, original.doc) })
}

// Add adds a server. It fails if the file has a server of that name.
func (f *File) Add(at Path, name string, members []Member) error {
	if _, err := f.Entry(at, name); err == nil {
		return fmt.Errorf("it has an entry %q already", name)
	}
	return f.edit(at, name, func(d document) error { return d.add(at, name, members) })
}

// Remove removes a server.
func (f *File) Remove(at Path, name string) error {
	return f.edit(at, name, func(d document) error { return d.remove(at, name) })
}

// edit edits a copy, and keeps it if everything except the named server is as before.
func (f *File) edit(at Path, name string, change func(document) error) error {
	after, err := f.doc.clone()
	if err != nil {
		return err
	}
	if err := change(after); err != nil {
		return err
	}
	// The check parses the written bytes, because an edit may write other values than it means to.
	again, err := parse(f.syntax, after.bytes(), f.crlf)
	if err != nil {
		return fmt.Errorf("the edit would break the file: %w", err)
	}
	old, err := f.doc.value()
	if err != nil {
		return err
	}
	now, err := again.value()
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(without(old, at, name), without(now, at, name)) {
		return fmt.Errorf("%q cannot be edited without a change elsewhere in the file: edit it by hand", name)
	}
	f.doc = again
	return nil
}

// without returns a decoded file without one server, and without the objects that are empty then.
func without(v any, at Path, name string) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, value := range v {
			if len(at) == 0 {
				if key != name {
					out[key] = value
				}
				continue
			}
			if key == at[0] {
				if value = without(value, at[1:], name); value == nil {
					continue
				}
			}
			out[key] = value
		}
		if len(out) == 0 {
			return nil
		}
		return out
	case []any:
		if len(at) > 0 {
			return v
		}
		out := slices.DeleteFunc(slices.Clone(v), func(element any) bool {
			object, _ := element.(map[string]any)
			return object["name"] == name
		})
		if len(out) == 0 {
			return nil
		}
		return out
	}
	return v
}

// decode decodes JSON, and keeps numbers as they are written.
func decode(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	return v, d.Decode(&v)
}

// encode returns a value as JSON that people can read: without escapes for HTML.
func encode(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(out.Bytes()), nil
}

// lineEnds returns a text of this package with the line ends of a file.
func lineEnds(text string, crlf bool) string {
	if crlf {
		return strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

// unit returns the indentation of the file's first indented line.
func unit(text []byte) string {
	for line := range bytes.Lines(text) {
		rest := bytes.TrimLeft(line, " \t")
		switch n := len(line) - len(rest); {
		case n == 0 || n > 8 || len(bytes.TrimSpace(rest)) == 0:
		case line[0] == '\t':
			return "\t"
		default:
			return string(line[:n])
		}
	}
	return "\t"
}
