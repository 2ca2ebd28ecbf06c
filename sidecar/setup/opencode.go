package setup

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"assent/sidecar/base/atomicfile"
)

// opencodePlugin is the text of the plugin, with "PROGRAM" for the program.
//
//go:embed opencode.js
var opencodePlugin string

// findOpencodePlugin plans opencode's plugin. It returns nil if opencode is not installed.
func findOpencodePlugin(o Options) (*HookPlan, error) {
	folder := filepath.Join(o.Places.XDG(), "opencode")
	if _, err := os.Stat(folder); err != nil && (o.Installed == nil || !o.Installed("opencode")) {
		return nil, nil
	}
	p := &HookPlan{Host: "opencode", Path: filepath.Join(folder, "plugin", "assent.js"), options: o}
	var err error
	if p.file, err = atomicfile.Read(p.Path, maxFile); err != nil {
		return nil, err
	}
	head, _, _ := strings.Cut(opencodePlugin, "\n")
	if p.file.Exists && !strings.HasPrefix(string(p.file.Data), head) {
		return nil, fmt.Errorf("%s is not Assent's: rename it", p.Path)
	}
	if err := p.file.Writable(); err != nil {
		return nil, err
	}
	program, err := json.Marshal(o.Command)
	if err != nil {
		return nil, err
	}
	p.after = []byte(strings.Replace(opencodePlugin, `"PROGRAM"`, string(program), 1))
	if string(p.after) != string(p.file.Data) {
		p.Plugin, p.Renews = string(p.after), p.file.Exists
	}
	return p, nil
}
