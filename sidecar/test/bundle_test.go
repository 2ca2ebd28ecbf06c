package test

import (
	"archive/zip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestABundleIsAddedAndRuns adds a bundle by the real program, and calls its server.
func TestABundleIsAddedAndRuns(t *testing.T) {
	t.Parallel()
	h, folder, config := newDaemonHome(t), t.TempDir(), t.TempDir()
	f, err := os.Create(filepath.Join(folder, "survey.mcpb"))
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for name, text := range map[string]string{
		"manifest.json": `{"manifest_version": "0.3", "name": "survey", "version": "1.0.0", "server": {"type": "binary", "entry_point": "x",
			"mcp_config": {"command": "asks-all", "args": ["${__dirname}/data.txt"], "env": {"TOKEN": "${user_config.greeting}"}}},
			"user_config": {"greeting": {"type": "string", "title": "A greeting", "required": true}}}`,
		"data.txt": "unpacked",
	} {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	assent := func(args ...string) string {
		c := h.command(args...)
		c.Dir = folder
		c.Env = append(c.Env, "XDG_CONFIG_HOME="+config, "HOME="+config, "AppData="+config)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	assent("add", "survey.mcpb", "--input", "greeting=hello", "--yes")
	var data []string
	err = filepath.WalkDir(config, func(path string, _ os.DirEntry, err error) error {
		if filepath.Base(path) == "data.txt" {
			data = append(data, path)
		}
		return err
	})
	if err != nil || len(data) != 1 || filepath.Base(filepath.Dir(filepath.Dir(data[0]))) != "bundles" {
		t.Errorf("the bundle's file is at %q, %v", data, err)
	}
	if got := assent("call", "survey", "token", "--trust"); !strings.Contains(got, "hello") {
		t.Errorf("the bundle's server says %q", got)
	}
}
