// Command protogen reads package protocol and writes its two generated files: protocol_gen.go
// (dispatch, stubs, union codecs) and protocol.ts (the same API for TypeScript). Run it by
// "go generate ./protocol"; the test beside this file fails while either is stale.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "protogen:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	files, err := Generate(dir)
	if err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Generate returns the generated files of the package in dir, by name.
func Generate(dir string) (map[string][]byte, error) {
	api, err := load(dir)
	if err != nil {
		return nil, err
	}
	goSource, err := api.goSource()
	if err != nil {
		return nil, err
	}
	ts, err := api.typeScript()
	if err != nil {
		return nil, err
	}
	return map[string][]byte{"protocol_gen.go": goSource, "protocol.ts": ts}, nil
}
