package importer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"assent/sidecar/config"
)

// maxTarget bounds the file that is written to, in bytes; config reads no larger one.
const maxTarget = 4 << 20

// write adds servers to an mcp.json, which it creates if necessary, and returns the names of the added
// ones. It skips servers with names in the file.
func write(path string, servers []server) ([]string, error) {
	// A link stays one: people keep their configuration elsewhere.
	target, err := filepath.EvalSymlinks(path)
	mode := fs.FileMode(0o600) // the copy may hold what its source kept from others
	var old []byte
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(path); err == nil {
			return nil, fmt.Errorf("%s is a link to a file that is not there: make the file, or remove the link", path)
		}
		target = path
	case err != nil:
		return nil, err
	default:
		info, err := os.Stat(target)
		if err != nil {
			return nil, err
		}
		mode = info.Mode().Perm()
		if old, err = config.ReadFile(target, maxTarget); err != nil {
			return nil, err
		}
	}
	text, added, err := insert(old, servers)
	if err != nil {
		return nil, fmt.Errorf("%s %w", path, err)
	}
	if len(text) > maxTarget {
		return nil, fmt.Errorf("%s would have more than %d bytes", path, maxTarget)
	}
	if len(added) == 0 {
		return nil, nil
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return nil, err
	}
	return added, replace(target, old, text, mode)
}

// replace puts a new file in the place of the old one, in one step.
func replace(path string, old, text []byte, mode fs.FileMode) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".mcp-*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err != nil {
		return err
	}
	// An editor may have saved the file in the meantime. A change between this check and the next line
	// is not noticed.
	now, err := config.ReadFile(path, maxTarget)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !bytes.Equal(now, old) {
		return fmt.Errorf("%s was changed at the same time: try again", path)
	}
	return os.Rename(f.Name(), path)
}

// insert returns an mcp.json with servers added, and the names of those that were not in it. The
// rest of the file does not change, including comments.
func insert(old []byte, servers []server) ([]byte, []string, error) {
	if len(bytes.TrimSpace(old)) == 0 {
		old = []byte("{}\n")
	}
	root, err := config.Parse(old)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot be read, so that nothing can be added to it: %s", strings.TrimPrefix(err.Error(), "hujson: "))
	}
	d := document{root: &root, unit: unit(old)}
	if _, ok := root.Value.(*hujson.Object); !ok {
		return nil, nil, errors.New("is not an object")
	}
	var added []string
	for _, s := range servers {
		if member(member(&root, "servers"), s.name) != nil {
			continue
		}
		for _, in := range s.inputs {
			if err := d.addInput(in, s.name); err != nil {
				return nil, nil, err
			}
		}
		if err := d.ensure("servers", &hujson.Object{}); err != nil {
			return nil, nil, err
		}
		if err := d.addServer(s); err != nil {
			return nil, nil, err
		}
		added = append(added, s.name)
	}
	text := root.Pack()
	if bytes.Contains(old, []byte("\r\n")) {
		text = bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), []byte("\n"), []byte("\r\n"))
	}
	return text, added, nil
}

// document is an mcp.json that is added to.
type document struct {
	root *hujson.Value
	// unit is what a line is indented with for each level.
	unit string
}

// unit returns what a file indents with: that of its first line that is.
func unit(text []byte) string {
	for line := range bytes.Lines(text) {
		rest := bytes.TrimLeft(line, " \t")
		if n := len(line) - len(rest); n > 0 && n <= 8 && len(bytes.TrimSpace(rest)) > 0 {
			return string(line[:n])
		}
	}
	return "\t"
}

// ensure adds a member of the same kind as empty to the root, if it has none.
func (d document) ensure(name string, empty hujson.ValueTrimmed) error {
	v := member(d.root, name)
	if v == nil {
		return d.add("/"+name, 1, json.RawMessage(hujson.Value{Value: empty}.Pack()))
	}
	if v.Value.Kind() != empty.Kind() {
		return fmt.Errorf("has a member %q of another type", name)
	}
	return nil
}

func (d document) addServer(s server) error {
	name := strings.NewReplacer("~", "~0", "/", "~1").Replace(s.name) // RFC 6901, section 3
	return d.add("/servers/"+name, 2, s.entry)
}

// addInput adds an input, unless the file has the same one. A server must not get the value that was
// asked for in the name of another.
func (d document) addInput(in input, server string) error {
	if err := d.ensure("inputs", &hujson.Array{}); err != nil {
		return err
	}
	array, _ := member(d.root, "inputs").Value.(*hujson.Array)
	for _, v := range array.Elements {
		var other struct{ ID string }
		raw := standard(v)
		if json.Unmarshal(raw, &other) != nil || other.ID != in.id {
			continue
		}
		if sameJSON(raw, in.raw) {
			return nil
		}
		return fmt.Errorf("already asks for another input with the id %q than the one that the server %q needs: rename one of them", in.id, server)
	}
	return d.add("/inputs/-", 2, in.raw)
}

func sameJSON(a, b []byte) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	first, errA := json.Marshal(x)
	second, errB := json.Marshal(y)
	return errA == nil && errB == nil && bytes.Equal(first, second)
}

// add puts a value at the end of an object or an array, on a line of its own. Depth is how deep the
// value lies in the root.
func (d document) add(pointer string, depth int, raw json.RawMessage) error {
	patch := fmt.Sprintf(`[{"op": "add", "path": %s, "value": null}]`, []byte(hujson.String(pointer)))
	if err := d.root.Patch([]byte(patch)); err != nil {
		return err
	}
	indent := strings.Repeat(d.unit, depth)
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, raw, indent, d.unit); err != nil {
		return err
	}
	value, err := hujson.Parse(pretty.Bytes())
	if err != nil {
		return err
	}
	parent := d.root.Find(pointer[:strings.LastIndexByte(pointer, '/')])
	switch v := parent.Value.(type) {
	case *hujson.Object:
		m := &v.Members[len(v.Members)-1]
		m.Name.BeforeExtra = ownLine(m.Name.BeforeExtra, indent)
		m.Value.BeforeExtra, m.Value.Value = hujson.Extra(" "), value.Value
		v.AfterExtra = lastLine(v.AfterExtra, strings.Repeat(d.unit, depth-1))
	case *hujson.Array:
		e := &v.Elements[len(v.Elements)-1]
		e.BeforeExtra, e.Value = ownLine(e.BeforeExtra, indent), value.Value
		v.AfterExtra = lastLine(v.AfterExtra, strings.Repeat(d.unit, depth-1))
	}
	return nil
}

// ownLine returns the space before a value, so that the value begins a line.
func ownLine(before hujson.Extra, indent string) hujson.Extra {
	text := bytes.TrimRight(before, " \t\r\n")
	return slices.Concat(text, []byte("\n"+indent))
}

// lastLine returns the space before a closing bracket, so that the bracket begins a line.
func lastLine(after hujson.Extra, indent string) hujson.Extra {
	if bytes.ContainsRune(after, '\n') {
		return after
	}
	return slices.Concat(bytes.TrimRight(after, " \t"), []byte("\n"+indent))
}
