package hostfile_test

import (
	"bytes"
	"testing"

	"assent/sidecar/setup/hostfile"
)

// FuzzEdits routes, restores and removes every server of any file. No edit may panic, or change a byte if it fails; and what
// an edit leaves can be read.
func FuzzEdits(f *testing.F) {
	f.Add(uint8(0), "{\"s\": {\"a\": {\"command\": \"x\", // y\n \"args\": [1],}, /**/ \"b\": {}}}")
	f.Add(uint8(1), "[s.a] # x\ncommand = 'x'\nargs = [ # y\n]\n[s.a.env]\nA = \"\"\"\n\"\"\"\n[s]\nb.x = {y = 1}")
	f.Add(uint8(2), "s:\n  a: # x\n    command: |\n      x\n    args:\n    - y\n\n  b: {x: 1}\n")
	f.Add(uint8(2), "s:\n- name: a\n  command: x\n-   args: []\n    name: b")
	at, launch := hostfile.Path{"s"}, hostfile.Launch{"command", "args", "env"}
	members := []hostfile.Member{{Name: "command", Value: "assent"}, {Name: "args", Value: []string{"gateway", "a"}}}
	f.Fuzz(func(t *testing.T, kind uint8, text string) {
		syntax := []hostfile.Syntax{hostfile.JSON, hostfile.TOML, hostfile.YAML}[kind%3]
		original, err := hostfile.Parse(syntax, []byte(text))
		if err != nil {
			return
		}
		file, err := hostfile.Parse(syntax, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(file.Bytes(), []byte(text)) && len(bytes.TrimSpace([]byte(text))) > 0 {
			t.Fatalf("%q was read as %q", text, file.Bytes())
		}
		entries, err := file.Entries(at)
		if err != nil {
			return
		}
		edit := func(what func() error) {
			before := file.Bytes()
			err := what()
			if err != nil && !bytes.Equal(before, file.Bytes()) {
				t.Errorf("an edit that failed (%v) made %q of %q", err, file.Bytes(), before)
			}
			if _, err := hostfile.Parse(syntax, file.Bytes()); err != nil {
				t.Errorf("%q became %q: %v", before, file.Bytes(), err)
			}
		}
		for _, e := range entries {
			edit(func() error { return file.Route(at, e.Name, launch, members) })
		}
		edit(func() error { return file.Add(at, "new", members) })
		for _, e := range entries {
			edit(func() error { return file.Restore(at, e.Name, launch, original) })
			edit(func() error { return file.Remove(at, e.Name) })
		}
	})
}
