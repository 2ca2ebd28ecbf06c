package hostfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlFile is TOML. It is edited as text, by the places of its expressions.
type tomlFile struct {
	text  []byte
	crlf  bool
	parts []tomlPart
	whole map[string]any
}

// tomlPart is a table's header, or a key with its value. It includes the comment at the end of its last line.
type tomlPart struct {
	// key is the whole key, from the root.
	key []string
	// written is how many names of the key, from the last one, are in the part itself.
	written    int
	header     bool
	list       bool // of [[tables]]
	start, end int
	// value is where the value ends.
	value int
	// inline is a table in braces.
	inline bool
}

func parseTOML(data []byte, crlf bool) (document, error) {
	f := &tomlFile{text: data, crlf: crlf}
	if err := toml.Unmarshal(data, &f.whole); err != nil {
		var at *toml.DecodeError
		if errors.As(err, &at) {
			line, column := at.Position()
			return nil, fmt.Errorf("line %d, column %d: %s", line, column, strings.TrimPrefix(err.Error(), "toml: "))
		}
		return nil, errors.New(strings.TrimPrefix(err.Error(), "toml: "))
	}
	f.whole, _ = finite(f.whole).(map[string]any)
	p := unstable.Parser{KeepComments: true}
	p.Reset(data)
	var table []string
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind == unstable.Comment {
			continue
		}
		part := tomlPart{header: e.Kind != unstable.KeyValue, list: e.Kind == unstable.ArrayTable}
		var key []string
		first, last := -1, 0
		for it := e.Key(); it.Next(); {
			n := it.Node()
			key = append(key, string(n.Data))
			if first < 0 {
				first = int(n.Raw.Offset)
			}
			last = int(n.Raw.Offset + n.Raw.Length)
		}
		part.written = len(key)
		if part.header {
			table = key
			part.key = key
		} else {
			part.key = slices.Concat(table, key)
			part.inline = e.Value().Kind == unstable.InlineTable
			last = int(e.Raw.Offset + e.Raw.Length)
		}
		part.start = bytes.LastIndexByte(data[:first], '\n') + 1
		part.value, part.end = last, len(data)
		if i := bytes.IndexByte(data[last:], '\n'); i >= 0 {
			part.end = last + i + 1
		}
		f.parts = append(f.parts, part)
	}
	if err := p.Error(); err != nil {
		return nil, err
	}
	return f, nil
}

// finite returns a value with texts in the place of the numbers that JSON does not have.
func finite(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key := range v {
			v[key] = finite(v[key])
		}
	case []any:
		for i := range v {
			v[i] = finite(v[i])
		}
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return fmt.Sprint(v)
		}
	}
	return v
}

func (f *tomlFile) bytes() []byte { return f.text }

func (f *tomlFile) clone() (document, error) {
	c := *f
	return &c, nil
}

func (f *tomlFile) value() (any, error) {
	raw, err := json.Marshal(f.whole)
	if err != nil {
		return nil, err
	}
	return decode(raw)
}

func (f *tomlFile) entries(at Path) ([]Entry, error) {
	var v any = f.whole
	for _, name := range at {
		object, ok := v.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%q is not a table", strings.Join(at, "."))
		}
		if v, ok = object[name]; !ok {
			return nil, nil
		}
	}
	servers, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%q is not a table", strings.Join(at, "."))
	}
	var names []string
	for _, part := range f.parts {
		if len(part.key) > len(at) && slices.Equal(part.key[:len(at)], at) && !slices.Contains(names, part.key[len(at)]) {
			names = append(names, part.key[len(at)])
		}
	}
	for name := range servers { // of a table in braces around all
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	var entries []Entry
	for _, name := range names {
		raw, err := encode(servers[name])
		if err != nil {
			return nil, err
		}
		entries = append(entries, Entry{Name: name, Value: raw})
	}
	return entries, nil
}

// of returns the parts of a server, and the indices of its launch members.
func (f *tomlFile) of(at Path, name string, launch Launch) (parts []tomlPart, launches []bool, err error) {
	full := append(slices.Clone(at), name)
	for _, part := range f.parts {
		switch {
		case len(part.key) >= len(full) && slices.Equal(part.key[:len(full)], full):
			if part.list {
				return nil, nil, fmt.Errorf("%q has lists of tables, which cannot be edited: edit it by hand", name)
			}
			parts = append(parts, part)
			launches = append(launches, len(part.key) > len(full) && slices.Contains(launch, part.key[len(full)]))
		case part.inline && len(part.key) < len(full) && slices.Equal(part.key, full[:len(part.key)]):
			return nil, nil, fmt.Errorf("its servers are in braces: write each as a table of its own, [%s]", tomlKey(full))
		}
	}
	if len(parts) == 0 {
		return nil, nil, ErrNoEntry
	}
	return parts, launches, nil
}

func (f *tomlFile) route(at Path, name string, launch Launch, by []Member) error {
	return f.swap(at, name, launch, func(prefix, indent string) string {
		var out strings.Builder
		for _, m := range by {
			fmt.Fprintf(&out, "%s%s%s = %s\n", indent, prefix, tomlKey([]string{m.Name}), tomlValue(m.Value))
		}
		return out.String()
	}, "", by)
}

// swap replaces the launch members of a server by lines at the place of the first one, and by tables after the server's.
func (f *tomlFile) swap(at Path, name string, launch Launch, lines func(prefix, indent string) string, tables string, values []Member) error {
	parts, launches, err := f.of(at, name, launch)
	if err != nil {
		return err
	}
	full := len(at) + 1
	if i := slices.IndexFunc(parts, func(p tomlPart) bool { return !p.header && len(p.key) == full }); i >= 0 {
		return f.swapInline(at, name, parts[i], launch, values)
	}
	// The place: the first line of a launch member, or after the header.
	place := slices.IndexFunc(parts, func(p tomlPart) bool { return p.header && len(p.key) == full })
	prefix, indent, where := "", "", 0
	if place >= 0 {
		where = parts[place].end
		indent = f.indent(parts[place])
	}
	for i, p := range parts {
		// A key of the server itself, not one of its tables.
		if launches[i] && !p.header && p.written >= len(p.key)-full {
			ours := p.written - (len(p.key) - full)
			prefix = ""
			if ours > 0 {
				prefix = tomlKey(p.key[full-ours:full]) + "."
			}
			where, indent, place = p.start, f.indent(p), i
			break
		}
	}
	if place < 0 {
		return fmt.Errorf("%q has no place of its own: write it as a table, [%s]", name, tomlKey(append(slices.Clone(at), name)))
	}
	// The end of this section, before the comments of the next one.
	next := slices.IndexFunc(f.parts, func(p tomlPart) bool { return p.header && p.start >= where })
	if next < 0 {
		next = len(f.parts)
	}
	after := max(where, f.parts[next-1].end)
	edits := []edit{{where, where, lineEnds(lines(prefix, indent), f.crlf)}}
	if tables != "" {
		edits = append(edits, edit{after, after, lineEnds(tables, f.crlf)})
	}
	for i, p := range parts {
		if launches[i] {
			edits = append(edits, edit{p.start, p.end, ""})
		}
	}
	f.text = apply(f.text, edits, f.crlf)
	return nil
}

// swapInline is swap for a server that is a table in braces.
func (f *tomlFile) swapInline(at Path, name string, part tomlPart, launch Launch, values []Member) error {
	entries, err := f.entries(at)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(entries, func(e Entry) bool { return e.Name == name })
	if i < 0 {
		return ErrNoEntry
	}
	now, err := ordered(entries[i].Value)
	if err != nil {
		return err
	}
	members := slices.Clone(values)
	for _, m := range now {
		if !slices.Contains(launch, m.Name) {
			members = append(members, m)
		}
	}
	line := f.indent(part) + tomlKey(part.key[len(part.key)-part.written:]) + " = " + tomlTable(members)
	f.text = apply(f.text, []edit{{part.start, part.value, line}}, f.crlf) // the comment behind it stays
	return nil
}

// indent returns the white space before a part.
func (f *tomlFile) indent(p tomlPart) string {
	line := f.text[p.start:p.end]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

func (f *tomlFile) restore(at Path, name string, launch Launch, original document) error {
	was, ok := original.(*tomlFile)
	if !ok {
		return errors.New("it is another kind of file")
	}
	parts, launches, err := was.of(at, name, launch)
	if err != nil {
		return err
	}
	entries, err := was.entries(at)
	if err != nil {
		return err
	}
	entry := entries[slices.IndexFunc(entries, func(e Entry) bool { return e.Name == name })]
	all, err := ordered(entry.Value)
	if err != nil {
		return err
	}
	values := slices.DeleteFunc(all, func(m Member) bool { return !slices.Contains(launch, m.Name) })
	full := len(at) + 1
	var tables strings.Builder
	for i, p := range parts {
		if launches[i] && (p.header || p.written < len(p.key)-full) {
			tables.Write(was.text[p.start:p.end])
		}
	}
	lines := func(prefix, indent string) string {
		var out strings.Builder
		for i, p := range parts {
			if !launches[i] || p.header || p.written < len(p.key)-full {
				continue
			}
			// The line as it was, behind the prefix that a key has here.
			line := was.text[p.start:p.end]
			equal := keyEnd(line)
			out.WriteString(indent + prefix + tomlKey(p.key[full:]))
			out.WriteString(strings.ReplaceAll(string(line[equal:]), "\r\n", "\n"))
		}
		return out.String()
	}
	return f.swap(at, name, launch, lines, strings.ReplaceAll(tables.String(), "\r\n", "\n"), values)
}

// keyEnd returns where a key ends in the line that it begins.
func keyEnd(line []byte) int {
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '"', '\'':
			quote := line[i]
			for i++; i < len(line) && line[i] != quote; i++ {
				if quote == '"' && line[i] == '\\' {
					i++
				}
			}
		case '=':
			for i > 0 && (line[i-1] == ' ' || line[i-1] == '\t') {
				i--
			}
			return i
		}
	}
	return len(line)
}

func (f *tomlFile) add(at Path, name string, members []Member) error {
	for _, p := range f.parts {
		if p.inline && len(p.key) <= len(at) && slices.Equal(p.key, at[:len(p.key)]) {
			return fmt.Errorf("its servers are in braces: write each as a table of its own, [%s.NAME]", tomlKey(at))
		}
	}
	var out strings.Builder
	if n := len(f.text); n > 0 {
		if f.text[n-1] != '\n' {
			out.WriteByte('\n')
		}
		out.WriteByte('\n')
	}
	fmt.Fprintf(&out, "[%s]\n", tomlKey(append(slices.Clone(at), name)))
	for _, m := range members {
		fmt.Fprintf(&out, "%s = %s\n", tomlKey([]string{m.Name}), tomlValue(m.Value))
	}
	f.text = append(bytes.Clone(f.text), lineEnds(out.String(), f.crlf)...)
	return nil
}

func (f *tomlFile) remove(at Path, name string) error {
	parts, _, err := f.of(at, name, nil)
	if err != nil {
		return err
	}
	var edits []edit
	for _, p := range parts {
		edits = append(edits, edit{p.start, p.end, ""})
	}
	f.text = apply(f.text, edits, f.crlf)
	return nil
}

// edit replaces a piece of a text.
type edit struct {
	start, end int
	text       string
}

// apply makes edits that do not overlap. Before a text of whole lines, it ends a last line that has no line end.
func apply(text []byte, edits []edit, crlf bool) []byte {
	slices.SortStableFunc(edits, func(a, b edit) int { return a.start - b.start })
	var out []byte
	at := 0
	for _, e := range edits {
		out = append(out, text[at:e.start]...)
		if n := len(out); e.text != "" && n > 0 && out[n-1] != '\n' && strings.HasSuffix(e.text, "\n") && e.start == len(text) {
			out = append(out, lineEnds("\n", crlf)...)
		}
		out = append(out, e.text...)
		at = max(at, e.end)
	}
	return append(out, text[at:]...)
}

// ordered returns an object's members in their order in the text.
func ordered(raw json.RawMessage) ([]Member, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("it is not an object")
	}
	var members []Member
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		var v any
		if err := d.Decode(&v); err != nil {
			return nil, err
		}
		members = append(members, Member{Name: t.(string), Value: v})
	}
	return members, nil
}

// tomlKey writes a key.
func tomlKey(names []string) string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = name
		bare := name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == ""
		if !bare {
			out[i] = tomlText(name)
		}
	}
	return strings.Join(out, ".")
}

// tomlText writes a text. TOML has the escapes of JSON, and needs one for DEL too.
func tomlText(text string) string {
	raw, err := encode(text)
	if err != nil { // a text can always be encoded
		return strconv.Quote(text)
	}
	return strings.ReplaceAll(string(raw), "\x7f", `\u007f`)
}

// tomlValue writes a value of JSON.
func tomlValue(v any) string {
	switch v := v.(type) {
	case string:
		return tomlText(v)
	case []string:
		out := make([]string, len(v))
		for i, text := range v {
			out[i] = tomlText(text)
		}
		return "[" + strings.Join(out, ", ") + "]"
	case []any:
		out := make([]string, len(v))
		for i, element := range v {
			out[i] = tomlValue(element)
		}
		return "[" + strings.Join(out, ", ") + "]"
	case map[string]any:
		raw, err := encode(v)
		if err != nil {
			return "{}"
		}
		members, err := ordered(raw)
		if err != nil {
			return "{}"
		}
		return tomlTable(members)
	default:
		return fmt.Sprint(v) // a number, true or false
	}
}

// tomlTable writes a table in braces.
func tomlTable(members []Member) string {
	out := make([]string, len(members))
	for i, m := range members {
		out[i] = tomlKey([]string{m.Name}) + " = " + tomlValue(m.Value)
	}
	return "{ " + strings.Join(out, ", ") + " }"
}
