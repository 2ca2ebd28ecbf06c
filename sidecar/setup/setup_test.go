package setup_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"assent/sidecar/config/managedfiles"
	"assent/sidecar/setup"
	"assent/sidecar/setup/hostfile"
	"assent/sidecar/setup/importer"
)

// machine has a home folder and a project folder of its own.
type machine struct {
	t    *testing.T
	work string
	setup.Options
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	work, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	work = filepath.ToSlash(work) // the places are those of Linux on each system
	return &machine{t, work, setup.Options{
		Places: importer.Places{
			OS: "linux", Home: path.Join(work, "home"), Env: func(string) string { return "" },
			Folders: []string{path.Join(work, "project")},
		},
		Folder: path.Join(work, "assent"), UserFile: path.Join(work, "assent", "mcp.json"),
		Command: "assent", Projects: true, Policy: managedfiles.New(path.Join(work, "root"), nil),
	}}
}

func (m *machine) path(name string) string { return path.Join(m.work, name) }

func (m *machine) write(name string, data []byte) {
	m.t.Helper()
	if err := os.MkdirAll(filepath.Dir(m.path(name)), 0o700); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(m.path(name), data, 0o600); err != nil {
		m.t.Fatal(err)
	}
}

func (m *machine) read(name string) []byte {
	m.t.Helper()
	data, err := os.ReadFile(m.path(name))
	if err != nil {
		m.t.Fatal(err)
	}
	return data
}

func (m *machine) find() *setup.Plan {
	m.t.Helper()
	p, err := setup.Find(m.Options)
	if err != nil {
		m.t.Fatal(err)
	}
	return p
}

// route runs Find and Apply for all hosts.
func (m *machine) route() *setup.Result {
	m.t.Helper()
	r, err := m.find().Apply(setup.ToFile)
	if err != nil || len(r.Problems) > 0 {
		m.t.Fatal(r, err)
	}
	return r
}

func (m *machine) restore() *setup.Undone {
	m.t.Helper()
	u, err := setup.Restore(m.Options)
	if err != nil {
		m.t.Fatal(err)
	}
	return u
}

// place returns the place of a file.
func (m *machine) place(name string) importer.Place {
	m.t.Helper()
	all := m.Places.Files()
	i := slices.IndexFunc(all, func(pl importer.Place) bool { return pl.Path == m.path(name) })
	if i < 0 {
		m.t.Fatalf("%s is no host's file", name)
	}
	return all[i]
}

// found returns the servers of a file as its host's format has them.
func (m *machine) found(name string) []importer.Found {
	m.t.Helper()
	pl := m.place(name)
	doc, err := pl.Parse(m.read(name))
	if err != nil {
		m.t.Fatalf("%v:\n%s", err, m.read(name))
	}
	found, err := pl.Servers(doc)
	if err != nil {
		m.t.Fatal(err)
	}
	return found
}

// servers returns the servers of a file, as in mcp.json, by their path in the file.
func (m *machine) servers(name string) map[string]string {
	m.t.Helper()
	servers := map[string]string{}
	for _, f := range m.found(name) {
		if f.Err != nil {
			m.t.Errorf("%s %v", f.Name, f.Err)
		}
		servers[strings.Join(f.At, " ")+" "+f.Name] = string(f.Server.Entry)
	}
	return servers
}

// realFile is one of testdata/files.
type realFile struct {
	name, path string
	data       []byte
}

func realFiles(t *testing.T) []realFile {
	t.Helper()
	paths, err := filepath.Glob("testdata/files/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var all []realFile
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			path, variant, _ := strings.Cut(f.Name, "#")
			data := f.Data
			words := strings.Fields(variant)
			if slices.Contains(words, "crlf") {
				data = bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n"))
			}
			if slices.Contains(words, "bom") {
				data = append([]byte("\ufeff"), data...)
			}
			if slices.Contains(words, "noeol") {
				data = bytes.TrimRight(data, "\r\n")
			}
			all = append(all, realFile{f.Name, path, data})
		}
	}
	return all
}

// TestEveryFileComesBack routes each of more than 50 files that are written as real ones, and restores it.
func TestEveryFileComesBack(t *testing.T) {
	files := realFiles(t)
	if len(files) < 50 {
		t.Fatalf("there are %d files", len(files))
	}
	for _, f := range files {
		for _, share := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s share=%v", f.name, share), func(t *testing.T) {
				t.Parallel()
				m := newMachine(t)
				m.Share = share
				m.write(f.path, f.data)
				others := map[string][]byte{}
				if share {
					for name, text := range map[string]string{
						"home/.gemini/settings.json":       "{\n  \"ui\": {}\n}\n",
						"home/.config/goose/config.yaml":   "GOOSE_MODEL: x\n",
						"home/.codex/config.toml":          "model = \"x\"",
						"home/.continue/config.yaml":       "mcpServers:\n  - name: other\n    command: o\n",
						"home/.config/opencode/other.json": "{}",
					} {
						if name != f.path {
							m.write(name, []byte(text))
							others[name] = []byte(text)
						}
					}
				}
				before := m.servers(f.path)
				plan := m.find()
				isWrong := func(p setup.Problem) bool { return !strings.Contains(p.Message, "is not shared: it is switched off") }
				if slices.ContainsFunc(plan.Problems, isWrong) || len(plan.Files) == 0 {
					t.Fatalf("%+v", plan)
				}
				if !bytes.Equal(m.read(f.path), f.data) {
					t.Fatal("Find wrote")
				}
				m.route()
				routed := m.servers(f.path)
				for where, entry := range routed {
					if !strings.Contains(entry, `"command":"assent","args":["gateway",`) {
						t.Errorf("%s is %s, in\n%s", where, entry, m.read(f.path))
					}
					delete(before, where)
				}
				if len(before) > 0 {
					t.Errorf("%v is gone from\n%s", before, m.read(f.path))
				}
				for _, secret := range []string{"ghp_", "sk-0123", "abcdefghijkl", "0123456789abcdef"} {
					for name, data := range m.written() {
						if bytes.Contains(data, []byte(secret)) && name != f.path {
							t.Errorf("%s has a secret:\n%s", name, data)
						}
					}
				}
				if !stricter(f.data, m.read(f.path)) {
					t.Errorf("this is plain JSON no more:\n%s", m.read(f.path))
				}
				if again := m.find(); len(again.Files) > 0 && !share {
					t.Errorf("a second run would change %v", again.Files)
				}
				undone := m.restore()
				if len(undone.Problems) > 0 {
					t.Fatal(undone.Problems)
				}
				others[f.path] = f.data
				for name, data := range others {
					if diff := cmp.Diff(string(data), string(m.read(name))); diff != "" {
						t.Errorf("%s (-want +got):\n%s", name, diff)
					}
				}
				if left := slices.Sorted(maps.Keys(m.written())); len(left) != len(others) {
					t.Errorf("there is left: %v", left)
				}
			})
		}
	}
}

// stricter reports whether a file is still plain JSON, if it was before.
func stricter(before, after []byte) bool {
	bom := []byte("\ufeff")
	return !json.Valid(bytes.TrimPrefix(before, bom)) || json.Valid(bytes.TrimPrefix(after, bom))
}

// written returns all files, by name.
func (m *machine) written() map[string][]byte {
	m.t.Helper()
	all := map[string][]byte{}
	err := filepath.WalkDir(m.work, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(m.work, path)
		if err != nil {
			return err
		}
		all[filepath.ToSlash(name)], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return all
}

// TestEditsInBetweenSurvive changes each file after Apply, as people and hosts do, and then restores it. The change stays, the
// entries of Assent do not, and each server is as it was.
func TestEditsInBetweenSurvive(t *testing.T) {
	for _, f := range realFiles(t) {
		for seed := range uint64(2) {
			t.Run(fmt.Sprintf("%s %d", f.name, seed), func(t *testing.T) {
				t.Parallel()
				m := newMachine(t)
				m.write(f.path, f.data)
				before := m.servers(f.path)
				m.route()
				random := rand.New(rand.NewPCG(seed, 1))
				edited, kept := m.edit(random, f.path)
				m.write(f.path, edited)
				undone := m.restore()
				if len(undone.Problems) > 0 {
					t.Fatalf("%+v, from\n%s", undone.Problems, edited)
				}
				if len(undone.Files) != 2 || undone.Files[0].How != setup.Merged {
					t.Errorf("%+v", undone.Files)
				}
				after := m.read(f.path)
				for _, text := range kept {
					if !bytes.Contains(after, []byte(text)) {
						t.Errorf("%q is gone from\n%s", text, after)
					}
				}
				if bytes.Contains(after, []byte("gateway")) {
					t.Errorf("Assent is still in\n%s", after)
				}
				if diff := cmp.Diff(before, m.servers(f.path)); diff != "" {
					t.Errorf("(-want +got):\n%s\n%s", diff, after)
				}
				if !stricter(f.data, after) {
					t.Errorf("this is plain JSON no more:\n%s", after)
				}
			})
		}
	}
}

// edit returns a file with a few changes, and texts that must stay.
func (m *machine) edit(random *rand.Rand, name string) (text []byte, kept []string) {
	m.t.Helper()
	text = m.read(name)
	hasBOM := bytes.HasPrefix(text, []byte("\ufeff"))
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	syntax := m.place(name).Syntax()
	if syntax == hostfile.JSON && random.IntN(3) == 0 { // a host writes the whole file as it likes
		doc, err := hostfile.Parse(syntax, text)
		if err != nil {
			m.t.Fatal(err)
		}
		var whole any
		if err := json.Unmarshal(doc.Value(), &whole); err != nil {
			m.t.Fatal(err)
		}
		mark(random, whole)
		if text, err = json.MarshalIndent(whole, "", strings.Repeat(" ", random.IntN(5))); err != nil {
			m.t.Fatal(err)
		}
		if bytes.Contains(text, []byte("marked")) {
			kept = append(kept, "marked")
		}
	}
	for n := range 1 + random.IntN(3) {
		word := fmt.Sprintf("edited%d", n)
		kept = append(kept, word)
		end := "\n"
		if bytes.Contains(text, []byte("\r\n")) {
			end = "\r\n"
		}
		switch syntax {
		case hostfile.TOML:
			if random.IntN(2) == 0 {
				text = slices.Concat([]byte(word+" = 1 # x"+end), text)
			} else {
				text = slices.Concat(bytes.TrimRight(text, "\r\n"), []byte(end+end+"["+word+"]"+end+"x = 1"+end))
			}
		case hostfile.YAML:
			if random.IntN(2) == 0 {
				text = slices.Concat([]byte(word+": 1 # x"+end), text)
			} else {
				text = slices.Concat(bytes.TrimRight(text, "\r\n"), []byte(end+word+": [x]"+end))
			}
		default:
			at := bytes.IndexByte(text, '{') + 1
			if bytes.HasPrefix(text, []byte("//")) {
				at = bytes.Index(text, []byte("\n{")) + 2
			}
			text = slices.Concat(text[:at], []byte(end+` "`+word+`": [1, 2],`), text[at:])
		}
	}
	if hasBOM {
		text = append([]byte("\ufeff"), text...)
	}
	return text, kept
}

// mark adds a member to an entry of Assent.
func mark(random *rand.Rand, v any) {
	object, ok := v.(map[string]any)
	if !ok {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if inner, ok := object[name].(map[string]any); ok && inner["command"] == "assent" && name != "transport" && random.IntN(2) == 0 {
			inner["marked"] = true
		} else {
			mark(random, object[name])
		}
	}
}
