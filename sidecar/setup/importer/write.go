package importer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"assent/sidecar/base/atomicfile"
	"assent/sidecar/config"
	"assent/sidecar/setup/hostfile"
)

// maxTarget bounds the file that is written to, in bytes; config reads no larger one.
const maxTarget = 4 << 20

// write adds servers to an mcp.json, which it creates if necessary, and returns the names of the added ones. It skips
// servers with names in the file.
func write(path string, servers []Server) ([]string, error) {
	f, err := atomicfile.Read(path, maxTarget)
	if err != nil {
		return nil, err
	}
	text, added, err := Insert(f.Data, servers)
	if err != nil {
		return nil, fmt.Errorf("%s %w", path, err)
	}
	if len(text) > maxTarget {
		return nil, fmt.Errorf("%s would have more than %d bytes", path, maxTarget)
	}
	if len(added) == 0 {
		return nil, nil
	}
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o755); err != nil {
		return nil, err
	}
	return added, f.Replace(text)
}

// Insert returns an mcp.json with servers added, and the names of those that it did not have. The rest of it stays as it
// is, comments and a byte order mark included.
func Insert(old []byte, servers []Server) ([]byte, []string, error) {
	mark := []byte("\ufeff")
	old, marked := bytes.CutPrefix(old, mark)
	if !marked {
		mark = nil
	}
	if len(bytes.TrimSpace(old)) == 0 {
		old = []byte("{}\n")
	}
	root, err := config.Parse(old)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot be read, so that nothing can be added to it: %s", strings.TrimPrefix(err.Error(), "hujson: "))
	}
	d := document{root: &root, crlf: bytes.Contains(old, []byte("\r\n"))}
	if _, ok := root.Value.(*hujson.Object); !ok {
		return nil, nil, errors.New("is not an object")
	}
	var added []string
	for _, s := range servers {
		if member(member(&root, "servers"), s.Name) != nil {
			continue
		}
		for _, in := range s.inputs {
			if err := d.addInput(in, s.Name); err != nil {
				return nil, nil, err
			}
		}
		if err := d.ensure("servers", &hujson.Object{}); err != nil {
			return nil, nil, err
		}
		if err := d.add(s.Entry, "servers", s.Name); err != nil {
			return nil, nil, err
		}
		added = append(added, s.Name)
	}
	return append(mark, root.Pack()...), added, nil
}

// document is an mcp.json that is added to.
type document struct {
	root *hujson.Value
	crlf bool
}

// add puts a value at the end of an object or an array, on a line of its own.
func (d document) add(raw json.RawMessage, at ...string) error {
	return hostfile.Insert(d.root, at, raw, d.crlf)
}

// ensure adds a member of the same kind as empty to the root, if it has none, or null.
func (d document) ensure(name string, empty hujson.ValueTrimmed) error {
	v := member(d.root, name)
	switch {
	case v == nil:
		return d.add(json.RawMessage(hujson.Value{Value: empty}.Pack()), name)
	case v.Value.Kind() == 'n':
		v.Value = empty
	case v.Value.Kind() != empty.Kind():
		return fmt.Errorf("has a member %q of another type", name)
	}
	return nil
}

// member returns an object's member, or nil.
func member(v *hujson.Value, name string) *hujson.Value {
	if v == nil {
		return nil
	}
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	for i := range object.Members {
		if literal, ok := object.Members[i].Name.Value.(hujson.Literal); ok && literal.String() == name {
			return &object.Members[i].Value
		}
	}
	return nil
}

// standard returns a value as plain JSON.
func standard(v hujson.Value) json.RawMessage {
	v = v.Clone()
	v.Minimize()
	return v.Pack()
}

// addInput adds an input, unless the file has the same one. A server must not get the value that was
// asked for in the name of another.
func (d document) addInput(in input, server string) error {
	if err := d.ensure("inputs", &hujson.Array{}); err != nil {
		return err
	}
	array, _ := member(d.root, "inputs").Value.(*hujson.Array)
	for _, v := range slices.Backward(array.Elements) { // the last one of an id counts
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
	return d.add(in.raw, "inputs", "-")
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
