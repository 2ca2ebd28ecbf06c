package hostfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"assent/sidecar/config"
)

// jsonFile is JSON with comments and trailing commas. Its tree holds all of its text, so that only edited parts change.
type jsonFile struct {
	root hujson.Value
	crlf bool
	// empty: the file had no value at all.
	empty bool
}

func parseJSON(data []byte, crlf bool) (document, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		root, err := hujson.Parse([]byte("{}\n"))
		return &jsonFile{root: root, crlf: crlf, empty: true}, err
	}
	root, err := config.Parse(data)
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
	}
	if _, ok := root.Value.(*hujson.Object); !ok {
		return nil, errors.New("it is not an object")
	}
	return &jsonFile{root: root, crlf: crlf}, nil
}

func (f *jsonFile) bytes() []byte {
	if f.empty {
		return nil
	}
	return f.root.Pack()
}

func (f *jsonFile) clone() (document, error) {
	root, err := copyOf(f.root)
	return &jsonFile{root: root, crlf: f.crlf, empty: f.empty}, err
}

func (f *jsonFile) value() (any, error) { return decode(standard(f.root)) }

// copyOf returns a copy of a value. Clone of hujson loses commas after the last member.
func copyOf(v hujson.Value) (hujson.Value, error) { return hujson.Parse(v.Pack()) }

// standard returns a value as plain JSON.
func standard(v hujson.Value) json.RawMessage {
	v = v.Clone()
	v.Minimize()
	return v.Pack()
}

// member returns an object's last member of a name, as decoders do, or nil.
func member(v *hujson.Value, name string) *hujson.Value {
	if v == nil {
		return nil
	}
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	for i := len(object.Members) - 1; i >= 0; i-- {
		if nameOf(object.Members[i]) == name {
			return &object.Members[i].Value
		}
	}
	return nil
}

func nameOf(m hujson.ObjectMember) string {
	literal, _ := m.Name.Value.(hujson.Literal)
	return literal.String()
}

// container returns the object that holds the servers, or nil.
func (f *jsonFile) container(at Path) (*hujson.Object, error) {
	v := &f.root
	for _, name := range at {
		if v = member(v, name); v == nil {
			return nil, nil
		}
	}
	object, ok := v.Value.(*hujson.Object)
	if !ok && v.Value.Kind() != 'n' { // null has no servers
		return nil, fmt.Errorf("%q is not an object", strings.Join(at, "."))
	}
	return object, nil
}

func (f *jsonFile) entries(at Path) ([]Entry, error) {
	object, err := f.container(at)
	if object == nil {
		return nil, err
	}
	var entries []Entry
	seen := map[string]bool{}
	for _, m := range slices.Backward(object.Members) {
		if name := nameOf(m); !seen[name] { // of two members with one name, the last counts
			seen[name] = true
			entries = append(entries, Entry{Name: name, Value: standard(m.Value)})
		}
	}
	slices.Reverse(entries)
	return entries, nil
}

// entry returns the object of a server.
func (f *jsonFile) entry(at Path, name string) (*hujson.Object, error) {
	container, err := f.container(at)
	if err != nil {
		return nil, err
	}
	if container == nil {
		return nil, ErrNoEntry
	}
	v := member(&hujson.Value{Value: container}, name)
	if v == nil {
		return nil, ErrNoEntry
	}
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, fmt.Errorf("the entry %q is not an object", name)
	}
	return object, nil
}

func (f *jsonFile) route(at Path, name string, launch Launch, by []Member) error {
	object, err := f.entry(at, name)
	if err != nil {
		return err
	}
	var extra hujson.Extra // the white space before a member on its own line
	if len(object.Members) > 0 {
		extra = blank(object.Members[0].Name.BeforeExtra)
	}
	var members []hujson.ObjectMember
	for _, m := range by {
		raw, err := encode(m.Value)
		if err != nil {
			return err
		}
		value, err := hujson.Parse(raw)
		if err != nil {
			return err
		}
		spaced(&value)
		value.BeforeExtra = hujson.Extra(" ")
		members = append(members, hujson.ObjectMember{Name: hujson.Value{BeforeExtra: extra, Value: hujson.String(m.Name)}, Value: value})
	}
	if notes := notes(object, launch); len(notes) > 0 && len(members) > 0 {
		if after := blank(notes); bytes.ContainsRune(after, '\n') { // a comment may need the line end
			extra = after
		}
		members[0].Name.BeforeExtra = slices.Concat(bytes.TrimRight(notes, " \t\r\n"), extra)
	}
	swap(object, launch, members)
	return nil
}

// notes returns the comments beside the launch members.
func notes(object *hujson.Object, launch Launch) hujson.Extra {
	var all hujson.Extra
	for _, m := range object.Members {
		for _, extra := range []hujson.Extra{m.Name.BeforeExtra, m.Name.AfterExtra, m.Value.BeforeExtra, m.Value.AfterExtra} {
			if slices.Contains(launch, nameOf(m)) && len(bytes.TrimSpace(extra)) > 0 {
				if len(all) > 0 {
					extra = bytes.TrimLeft(extra, " \t")
				}
				all = append(all, extra...)
			}
		}
	}
	return all
}

// spaced puts a blank after each comma of a list.
func spaced(v *hujson.Value) {
	if array, ok := v.Value.(*hujson.Array); ok {
		for i := range array.Elements {
			if i > 0 {
				array.Elements[i].BeforeExtra = hujson.Extra(" ")
			}
		}
	}
}

// blank returns the white space directly before a value: at most one line end, and the indentation.
func blank(extra hujson.Extra) hujson.Extra {
	text := extra[len(bytes.TrimRight(extra, " \t\r\n")):]
	at := bytes.LastIndexByte(text, '\n')
	if at < 0 {
		return slices.Clone(text)
	}
	if at > 0 && text[at-1] == '\r' {
		at--
	}
	return slices.Clone(text[at:])
}

// swap replaces an object's launch members.
func swap(object *hujson.Object, launch Launch, members []hujson.ObjectMember) {
	isLaunch := func(m hujson.ObjectMember) bool { return slices.Contains(launch, nameOf(m)) }
	at := max(0, slices.IndexFunc(object.Members, isLaunch))
	comma := trailingComma(object)
	kept := slices.DeleteFunc(slices.Clone(object.Members), isLaunch)
	object.Members = slices.Insert(kept, min(at, len(kept)), members...)
	setTrailingComma(object, comma)
}

// trailingComma reports whether a comma follows the last member.
func trailingComma(object *hujson.Object) bool {
	n := len(object.Members)
	return n > 0 && object.Members[n-1].Value.AfterExtra != nil
}

// setTrailingComma sets whether a comma follows the last member. The tree says so by an AfterExtra that is not nil.
func setTrailingComma(object *hujson.Object, comma bool) {
	n := len(object.Members)
	if n == 0 {
		return
	}
	last := &object.Members[n-1].Value
	switch {
	case comma && last.AfterExtra == nil:
		last.AfterExtra = hujson.Extra{}
	case !comma && last.AfterExtra != nil:
		object.AfterExtra = slices.Concat(last.AfterExtra, object.AfterExtra)
		last.AfterExtra = nil
	}
}

func (f *jsonFile) restore(at Path, name string, launch Launch, original document) error {
	was, ok := original.(*jsonFile)
	if !ok {
		return errors.New("it is another kind of file")
	}
	from, err := was.entry(at, name)
	if err != nil {
		return err
	}
	to, err := f.entry(at, name)
	if err != nil {
		return err
	}
	clone, err := copyOf(hujson.Value{Value: from})
	if err != nil {
		return err
	}
	from = clone.Value.(*hujson.Object)
	if slices.Equal(rest(from, launch), rest(to, launch)) {
		*to = *from // comments between the members, too
		return nil
	}
	var members []hujson.ObjectMember
	for _, m := range from.Members {
		if slices.Contains(launch, nameOf(m)) {
			members = append(members, m)
		}
	}
	swap(to, launch, members)
	return nil
}

// rest returns all members except the launch members, as JSON.
func rest(object *hujson.Object, launch Launch) []string {
	var out []string
	for _, m := range object.Members {
		if name := nameOf(m); !slices.Contains(launch, name) {
			out = append(out, name+"="+string(standard(m.Value)))
		}
	}
	return out
}

func (f *jsonFile) add(at Path, name string, members []Member) error {
	f.empty = false
	d := tree{root: &f.root, unit: unit(f.root.Pack()), crlf: f.crlf}
	for i := range at {
		if err := d.ensure(at[:i+1]); err != nil {
			return err
		}
	}
	indent := strings.Repeat(d.unit, len(at)+1)
	var out strings.Builder
	out.WriteString("{")
	for i, m := range members {
		key, err := encode(m.Name)
		if err != nil {
			return err
		}
		value, err := encode(m.Value)
		if err != nil {
			return err
		}
		if i > 0 {
			out.WriteString(",")
		}
		fmt.Fprintf(&out, "\n%s%s%s: %s", indent, d.unit, key, strings.ReplaceAll(string(value), `","`, `", "`))
	}
	out.WriteString("\n" + indent + "}")
	return d.put(append(slices.Clone(at), name), out.String())
}

func (f *jsonFile) remove(at Path, name string) error {
	container, err := f.container(at)
	if err != nil {
		return err
	}
	if container == nil {
		return ErrNoEntry
	}
	comma := trailingComma(container)
	n := len(container.Members)
	container.Members = slices.DeleteFunc(container.Members, func(m hujson.ObjectMember) bool { return nameOf(m) == name })
	if len(container.Members) == n {
		return ErrNoEntry
	}
	setTrailingComma(container, comma)
	return nil
}

// tree is JSON to which values are added.
type tree struct {
	root *hujson.Value
	// unit is the indentation of one level.
	unit string
	crlf bool
}

// Insert puts a value into JSON, at the end of the object that the path names before the last name, or of the list if that is
// "-". The object or list must exist.
func Insert(root *hujson.Value, at Path, raw json.RawMessage, crlf bool) error {
	d := tree{root: root, unit: unit(root.Pack()), crlf: crlf}
	return d.add(at, raw)
}

// ensure makes an empty object at a path if there is no value, or null.
func (d tree) ensure(at Path) error {
	v := d.root
	for _, name := range at {
		if v = member(v, name); v == nil {
			return d.add(at, json.RawMessage("{}"))
		}
	}
	if v.Value.Kind() == 'n' {
		v.Value = &hujson.Object{}
	}
	if _, ok := v.Value.(*hujson.Object); !ok {
		return fmt.Errorf("%q is not an object", strings.Join(at, "."))
	}
	return nil
}

// add puts a value at the end of an object, or of a list if the last name is "-", on its own line.
func (d tree) add(at Path, raw json.RawMessage) error {
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, raw, strings.Repeat(d.unit, len(at)), d.unit); err != nil {
		return err
	}
	return d.put(at, pretty.String())
}

// put is add for a value that is formatted already.
func (d tree) put(at Path, text string) error {
	value, err := hujson.Parse([]byte(lineEnds(text, d.crlf)))
	if err != nil {
		return err
	}
	parent := d.root
	for _, name := range at[:len(at)-1] {
		if parent = member(parent, name); parent == nil {
			return ErrNoEntry
		}
	}
	end := lineEnds("\n", d.crlf)
	line, outer := end+strings.Repeat(d.unit, len(at)), end+strings.Repeat(d.unit, len(at)-1)
	switch v := parent.Value.(type) {
	case *hujson.Object:
		var before hujson.Extra
		comma := trailingComma(v)
		before, v.AfterExtra = comments(v.AfterExtra)
		setTrailingComma(v, len(v.Members) > 0)
		value.BeforeExtra = hujson.Extra(" ")
		v.Members = append(v.Members, hujson.ObjectMember{
			Name: hujson.Value{BeforeExtra: ownLine(before, line), Value: hujson.String(at[len(at)-1])}, Value: value,
		})
		setTrailingComma(v, comma)
		v.AfterExtra = lastLine(v.AfterExtra, outer)
	case *hujson.Array:
		var before hujson.Extra
		before, v.AfterExtra = comments(v.AfterExtra)
		comma := false
		if n := len(v.Elements); n > 0 {
			comma = v.Elements[n-1].AfterExtra != nil
			if !comma {
				v.Elements[n-1].AfterExtra = hujson.Extra{}
			}
		}
		value.BeforeExtra, value.AfterExtra = ownLine(before, line), nil
		if comma {
			value.AfterExtra = hujson.Extra{}
		}
		v.Elements = append(v.Elements, value)
		v.AfterExtra = lastLine(v.AfterExtra, outer)
	default:
		return fmt.Errorf("%q is neither an object nor a list", strings.Join(at[:len(at)-1], "."))
	}
	return nil
}

// comments splits the text before a closing bracket into the comments in the line of the last value, and the rest.
func comments(extra hujson.Extra) (line, rest hujson.Extra) {
	end := 0
	for i := 0; i < len(extra); i++ {
		switch {
		case extra[i] == '\n':
			return slices.Clone(extra[:end]), slices.Clone(extra[end:])
		case bytes.HasPrefix(extra[i:], []byte("//")):
			n := bytes.IndexByte(extra[i:], '\n')
			if n < 0 {
				n = len(extra) - i
			}
			end = i + len(bytes.TrimRight(extra[i:i+n], "\r"))
			return slices.Clone(extra[:end]), slices.Clone(extra[end:])
		case bytes.HasPrefix(extra[i:], []byte("/*")):
			n := bytes.Index(extra[i+2:], []byte("*/"))
			if n < 0 {
				return slices.Clone(extra[:end]), slices.Clone(extra[end:])
			}
			i += n + 3
			end = i + 1
		}
	}
	return slices.Clone(extra[:end]), slices.Clone(extra[end:])
}

// ownLine returns the white space with which a value begins a line.
func ownLine(before hujson.Extra, line string) hujson.Extra {
	return slices.Concat(bytes.TrimRight(before, " \t\r\n"), []byte(line))
}

// lastLine returns the white space with which a closing bracket begins a line.
func lastLine(after hujson.Extra, line string) hujson.Extra {
	if bytes.ContainsRune(after, '\n') {
		return after
	}
	return slices.Concat(bytes.TrimRight(after, " \t"), []byte(line))
}
