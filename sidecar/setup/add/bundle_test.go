package add_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/sidecar/setup/add"
)

// zipped is a file of a bundle.
type zipped struct {
	name, text string
	mode       fs.FileMode
}

const manifest = `{
	"manifest_version": "0.3", "name": "files", "version": "1.0.0", "description": "Files",
	"server": {"type": "node", "entry_point": "server/index.js", "mcp_config": {
		"command": "node", "args": ["${__dirname}/server/index.js", "${user_config.folders}", "--home=${HOME}${/}x", "--level", "${user_config.level}", "--verbose=${user_config.verbose}", "${user_config.left}"],
		"env": {"KEY": "${user_config.key}", "TOKEN": "clear text", "DOCS": "${DOCUMENTS}"},
		"platform_overrides": {"win32": {"command": "node.exe", "env": {"WINDOWS": "1"}}}}},
	"user_config": {
		"folders": {"type": "directory", "title": "Folders", "multiple": true, "required": true, "default": ["${HOME}"]},
		"level": {"type": "number", "default": 3},
		"verbose": {"type": "boolean", "default": false, "title": "Say more"},
		"left": {"type": "string"},
		"key": {"type": "string", "title": "Key", "sensitive": true, "required": true}},
	"compatibility": {"platforms": ["linux", "win32", "darwin"]}
}`

// bundleFile writes a bundle, and returns the options to read it with.
func bundleFile(t *testing.T, files ...zipped) add.Options {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate}
		h.SetMode(f.mode)
		w, err := z.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(f.name, "/") {
			if _, err := w.Write([]byte(f.text)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	dir := file(t, "x.mcpb", b.String())
	return add.Options{Folder: dir, BundleDir: filepath.Join(dir, "bundles"), OS: "linux", Limits: add.Limits{Packed: 1 << 20, Unpacked: 10_000, Files: 10}}
}

func TestABundle(t *testing.T) {
	o := bundleFile(t,
		zipped{"manifest.json", manifest, 0o644}, zipped{"server/", "", fs.ModeDir | 0o755},
		zipped{"server/index.js", "// a server", 0o644}, zipped{"bin/tool", "#!", 0o777 | fs.ModeSetuid})
	s, err := add.Read("x.mcpb", o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(o.BundleDir); err == nil {
		t.Error("a bundle that is only read is unpacked")
	}
	for _, folder := range []string{"/a", "/b"} {
		if err := s.Give("folders", folder, false); err != nil {
			t.Fatal(err)
		}
	}
	into := s.Bundle()
	if filepath.Dir(into) != o.BundleDir || !strings.HasPrefix(filepath.Base(into), "files-") {
		t.Errorf("it is unpacked to %s", into)
	}
	want := `files {"type":"stdio","command":"node","args":["` + strings.ReplaceAll(into, `\`, `\\`) + `/server/index.js","/a","/b","--home=${userHome}${/}x","--level","3","--verbose=false"],"env":{"DOCS":"${userHome}${/}Documents","KEY":"${input:files-key}","TOKEN":"${input:files-TOKEN}"}}
{"type":"promptString","id":"files-key","description":"Key","password":true}
{"type":"promptString","id":"files-TOKEN","description":"TOKEN","password":true}`
	if diff := cmp.Diff(want, written(t, s)); diff != "" {
		t.Errorf("written (-want +got):\n%s", diff)
	}
	if err := s.Give("verbose", "perhaps", false); err == nil {
		t.Error("a boolean took another value")
	}

	undo, err := s.Unpack()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]struct {
		text string
		mode fs.FileMode
	}{"server/index.js": {"// a server", 0o600}, "bin/tool": {"#!", 0o700}, "manifest.json": {manifest, 0o600}} {
		path := filepath.Join(into, name)
		data, err := os.ReadFile(path)
		if err != nil || string(data) != want.text {
			t.Errorf("%s has %q, %v", name, data, err)
		}
		if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode() != want.mode {
			t.Errorf("%s has the mode %v, want %v", name, info.Mode(), want.mode)
		}
	}
	// The same bundle is unpacked already, and stays.
	if undoNothing, err := s.Unpack(); err != nil || undoNothing() != nil {
		t.Error("the same bundle was unpacked again")
	}
	if _, err := os.Stat(into); err != nil {
		t.Error(err)
	}
	if err := undo(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(o.BundleDir); err != nil || len(left) > 0 {
		t.Errorf("after it was undone there is %v, %v", left, err)
	}

	o.OS = "windows"
	s, err = add.Read("x.mcpb", o)
	if err != nil || !strings.Contains(written(t, s), `"command":"node.exe"`) || !strings.Contains(written(t, s), `"WINDOWS":"1"`) {
		t.Errorf("on Windows it is %+v, %v", s, err)
	}
}

func TestABundleThatIsRefused(t *testing.T) {
	own := zipped{"manifest.json", manifest, 0o644}
	with := func(name string) []zipped { return []zipped{own, {name, "x", 0o644}} }
	many := []zipped{own}
	for i := range 20 {
		many = append(many, zipped{name: strings.Repeat("a", i+1)})
	}
	endless := []zipped{own}
	for i := range 3000 {
		endless = append(endless, zipped{name: fmt.Sprintf("%0100d/", i), mode: fs.ModeDir | 0o755})
	}
	replaced := func(old, text string) []zipped {
		return []zipped{{"manifest.json", strings.Replace(manifest, old, text, 1), 0o644}}
	}
	tests := []struct {
		name  string
		files []zipped
		want  string
	}{
		{"a way out", with("../evil"), "a path that no bundle may have: ../evil"},
		{"a way out in the middle", with("a/../../evil"), "a path that no bundle may have"},
		{"a root", with("/etc/passwd"), "a path that no bundle may have"},
		{"a drive", with("C:/evil"), "a path that no bundle may have"},
		{"a backslash", with(`..\evil`), "a path that no bundle may have"},
		{"a stream of Windows", with("a:b"), "a path that no bundle may have"},
		{"a hidden character", with("a\u202eb"), "a<U+202E>b"},
		{"a control character", with("a\x1b[2J"), "a path that no bundle may have"},
		{"a folder itself", with("./a"), "a path that no bundle may have"},
		{"a long path", with(strings.Repeat("a/", 300) + "a"), "a path that no bundle may have"},
		{"a link", []zipped{own, {"a", "/etc/passwd", fs.ModeSymlink | 0o777}}, "neither a file nor a folder"},
		{"a device", []zipped{own, {"a", "", fs.ModeDevice | 0o666}}, "neither a file nor a folder"},
		{"a file twice", []zipped{own, {"a", "1", 0o644}, {"A", "2", 0o644}}, "has the file A twice"},
		{"many files", many, "more than 10 files"},
		{"a list of files without an end", endless, "its list of files is too long"},
		{"a bomb", []zipped{own, {"a", strings.Repeat("\x00", 900_000), 0o644}}, "more than 10000 bytes once it is unpacked"},
		{"no manifest", []zipped{{"a", "x", 0o644}}, "has no manifest.json"},
		{"a manifest that is no JSON", []zipped{{"manifest.json", "{", 0o644}}, "cannot be read"},
		{"no name", []zipped{{"manifest.json", "{}", 0o644}}, "has no name"},
		{"no command", []zipped{{"manifest.json", `{"name": "a"}`, 0o644}}, "no server.mcp_config.command"},
		{"another system", replaced(`["linux", "win32", "darwin"]`, `["plan9"]`), "is for plan9"},
		{"a variable of Assent's", replaced("${HOME}${/}x", "${env:AWS_SECRET}"), "uses the variable ${env:AWS_SECRET}"},
		{"an unknown value", replaced("${user_config.left}", "${user_config.nothing}"), "does not ask for"},
		{"a variable in a default", replaced(`"default": 3`, `"default": "${env:A}"`), "a variable that Assent does not know"},
		{"an unpinned package", replaced(`"command": "node", "args": ["${__dirname}/server/index.js", `, `"command": "npx", "args": ["-y", "evil", `), "has no exact version"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := bundleFile(t, tt.files...)
			s, err := add.Read("x.mcpb", o)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.ContainsAny(err.Error(), "\u202e\x1b") {
				t.Errorf("Read = %+v, %v; want an error with %q", s, err, tt.want)
			}
		})
	}
	o := bundleFile(t, own)
	o.Limits.Packed = 10
	if _, err := add.Read("x.mcpb", o); err == nil || !strings.Contains(err.Error(), "more than 10 bytes") {
		t.Errorf("a large file: %v", err)
	}
	o.Folder = file(t, "x.mcpb", "no zip")
	if _, err := add.Read("x.mcpb", o); err == nil {
		t.Error("a file that is no zip was read")
	}
}

// TestABombThatLiesOfItsSize has a large file with a header that says it is small.
func TestABombThatLiesOfItsSize(t *testing.T) {
	o := bundleFile(t, zipped{"manifest.json", manifest, 0o644}, zipped{"a", strings.Repeat("\x00", 900_000), 0o644})
	path := filepath.Join(o.Folder, "x.mcpb")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(data, binary.LittleEndian.AppendUint32(nil, 900_000)); n == 0 {
		t.Fatal("no header has the size")
	}
	data = bytes.ReplaceAll(data, binary.LittleEndian.AppendUint32(nil, 900_000), binary.LittleEndian.AppendUint32(nil, 9))
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := add.Read("x.mcpb", o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Unpack(); err == nil {
		t.Error("the bomb was unpacked")
	}
	if left, err := os.ReadDir(o.BundleDir); err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
}

func TestABundleThatChanges(t *testing.T) {
	o := bundleFile(t, zipped{"manifest.json", manifest, 0o644})
	s, err := add.Read("x.mcpb", o)
	if err != nil {
		t.Fatal(err)
	}
	other := bundleFile(t, zipped{"manifest.json", manifest, 0o644}, zipped{"evil", "x", 0o644})
	if err := os.Rename(filepath.Join(other.Folder, "x.mcpb"), filepath.Join(o.Folder, "x.mcpb")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Unpack(); err == nil || !strings.Contains(err.Error(), "has changed since it was shown") {
		t.Errorf("Unpack = %v", err)
	}
}
