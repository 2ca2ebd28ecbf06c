// Package importer finds the MCP servers that other programs have configured, and copies them into a
// workspace folder's mcp.json.
//
// [Find] only reads, and shows each server as it would be written, with what the copy would not do as
// the original does. [Import] reads again and writes: all that was asked for or nothing. The files of
// other programs are never changed, and a name that is taken is never given to another server. The
// package keeps no state; two imports into one file are to be made one after the other.
package importer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"assent/protocol"
	"assent/sidecar/config"
)

const (
	// maxSource bounds a file of another program, in bytes: Claude Code keeps much else in its own.
	maxSource = 32 << 20
	// maxServers bounds the servers of one file.
	maxServers = 200
	// maxEntry bounds what a server may say about itself, in bytes.
	maxEntry = 64 << 10
	// maxProblems bounds the problems of one file that are told.
	maxProblems = 5
)

// Find returns the files of other programs that configure servers, or should and cannot be read. Known
// are the names of the servers that are configured already.
func Find(p Places, known []string) []protocol.ImportSource {
	var sources []protocol.ImportSource
	for _, pl := range p.all() {
		f := read(p, pl)
		if len(f.servers) == 0 && len(f.problems) == 0 {
			continue
		}
		source := protocol.ImportSource{Program: pl.program, Path: pl.path, Problem: f.problem()}
		for _, s := range f.servers {
			source.Servers = append(source.Servers, protocol.ImportServer{
				Name: s.name, Entry: s.entry, Known: slices.Contains(known, s.name), Warnings: s.warnings,
			})
		}
		sources = append(sources, source)
	}
	return sources
}

// Import copies servers, named as by [Find], into a folder's mcp.json. It skips a server with a known
// name, or with a name in the file. An error means that nothing was written.
func Import(p Places, params *protocol.ImportParams, known []string) (*protocol.ImportResult, error) {
	if !slices.Contains(p.Folders, params.Folder) {
		return nil, protocol.Errorf(protocol.CodeInvalidParams, "%s is not a folder of this workspace", params.Folder)
	}
	var chosen []server
	from := map[string]string{} // path by server name
	files := map[string]file{}
	for _, want := range params.Servers {
		if earlier, ok := from[want.Name]; ok {
			if earlier == want.Path {
				continue
			}
			return nil, protocol.Errorf(protocol.CodeInvalidParams,
				"the server %q is chosen from both %s and %s: choose one of them", want.Name, earlier, want.Path)
		}
		from[want.Name] = want.Path
		f, ok := files[want.Path]
		if !ok {
			i := slices.IndexFunc(p.all(), func(pl place) bool { return pl.path == want.Path })
			if i < 0 {
				return nil, protocol.Errorf(protocol.CodeInvalidParams, "%s is not a file that servers are imported from", want.Path)
			}
			f = read(p, p.all()[i])
			files[want.Path] = f
		}
		i := slices.IndexFunc(f.servers, func(s server) bool { return s.name == want.Name })
		if i < 0 {
			return nil, protocol.Errorf(protocol.CodeInvalidParams, "%s has no server %q any more: look for servers again", want.Path, want.Name)
		}
		if !slices.Contains(known, want.Name) {
			chosen = append(chosen, f.servers[i])
		}
	}
	path := filepath.Join(params.Folder, config.FileName)
	imported, err := write(path, chosen)
	if err != nil {
		return nil, fmt.Errorf("nothing was imported: %w", err)
	}
	return &protocol.ImportResult{Path: path, Imported: imported}, nil
}

// file is what a file of another program holds.
type file struct {
	servers  []server
	problems []string
}

// server is a server as Assent would have it.
type server struct {
	name     string
	entry    json.RawMessage
	warnings []string
	// inputs are the inputs that the entry uses, in the form to copy.
	inputs []input
}

// problem returns the problems as one text.
func (f file) problem() string {
	if n := len(f.problems) - maxProblems; n > 0 {
		return fmt.Sprintf("%s; and %d more problems", strings.Join(f.problems[:maxProblems], "; "), n)
	}
	return strings.Join(f.problems, "; ")
}

// read reads the servers of a place; of two with the same name it is the first that its program uses.
func read(p Places, pl place) file {
	var f file
	data, err := config.ReadFile(pl.path, maxSource)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			f.problems = append(f.problems, fmt.Sprintf("it cannot be read: %v", err))
		}
		return f
	}
	if len(strings.TrimSpace(string(data))) == 0 {
		return f
	}
	root, err := config.Parse(data)
	if err != nil {
		if pl.dialect.mayBeElse == "" || strings.Contains(string(data), pl.dialect.mayBeElse) {
			f.problems = append(f.problems, "it cannot be read: "+strings.TrimPrefix(err.Error(), "hujson: "))
		}
		return f
	}
	inputs := pl.dialect.inputs(&root)
	seen := map[string]bool{}
	for _, servers := range pl.dialect.servers(p, &root) {
		object, ok := servers.Value.(*hujson.Object)
		if !ok {
			f.problems = append(f.problems, "its servers are not an object")
			continue
		}
		for _, m := range object.Members {
			literal, _ := m.Name.Value.(hujson.Literal)
			name := literal.String()
			switch {
			case seen[name]:
				continue
			case len(f.servers) == maxServers:
				f.problems = append(f.problems, fmt.Sprintf("it has more than %d servers", maxServers))
				return f
			}
			seen[name] = true
			s, err := pl.translate(name, m.Value, inputs)
			if err != nil {
				f.problems = append(f.problems, fmt.Sprintf("the server %.100q %v", name, err))
				continue
			}
			f.servers = append(f.servers, s)
		}
	}
	return f
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
