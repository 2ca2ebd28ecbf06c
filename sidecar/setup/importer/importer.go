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

	"assent/protocol"
	"assent/sidecar/config"
)

const (
	// maxSource bounds a file of another program, in bytes: Claude Code keeps much else in its own.
	maxSource = 32 << 20
	// maxServers bounds the servers of one file that are shown for a copy, and maxInFile all of a file, those of other
	// projects included.
	maxServers = 200
	maxInFile  = 1000
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
		if pl.Own {
			continue
		}
		f := read(p, pl)
		if len(f.servers) == 0 && len(f.problems) == 0 {
			continue
		}
		source := protocol.ImportSource{Program: pl.Program, Path: pl.Path, Problem: f.problem()}
		for _, s := range f.servers {
			source.Servers = append(source.Servers, protocol.ImportServer{
				Name: s.Name, Entry: s.Entry, Known: slices.Contains(known, s.Name), Warnings: s.Warnings,
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
	var chosen []Server
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
			i := slices.IndexFunc(p.all(), func(pl Place) bool { return pl.Path == want.Path && !pl.Own })
			if i < 0 {
				return nil, protocol.Errorf(protocol.CodeInvalidParams, "%s is not a file that servers are imported from", want.Path)
			}
			f = read(p, p.all()[i])
			files[want.Path] = f
		}
		i := slices.IndexFunc(f.servers, func(s Server) bool { return s.Name == want.Name })
		if i < 0 {
			return nil, protocol.Errorf(protocol.CodeInvalidParams, "%s no longer has a server %q: look for servers again", want.Path, want.Name)
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
	servers  []Server
	problems []string
}

// Server is a server as Assent would have it.
type Server struct {
	Name string
	// Entry is its object in an mcp.json.
	Entry json.RawMessage
	// Warnings say what the copy would not do as the original does.
	Warnings []string
	// Fails is the warning of a probable reason why the copy cannot start, empty if there is none.
	Fails string
	// inputs are the inputs that the entry names. They are copied with it.
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
func read(p Places, pl Place) file {
	var f file
	data, err := config.ReadFile(pl.Path, maxSource)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			f.problems = append(f.problems, fmt.Sprintf("it cannot be read: %v", err))
		}
		return f
	}
	if len(strings.TrimSpace(string(data))) == 0 {
		return f
	}
	doc, err := pl.Parse(data)
	if err != nil {
		if pl.IsAboutServers(data) {
			f.problems = append(f.problems, "it cannot be read: "+err.Error())
		}
		return f
	}
	inputs := pl.inputs(doc)
	seen := map[string]bool{}
	for _, c := range pl.containers(doc) {
		isOpen := func(folder string) bool { return p.samePath(folder, c.folder) }
		if c.folder != "" && !slices.ContainsFunc(p.Folders, isOpen) {
			continue
		}
		entries, err := doc.Entries(c.at)
		if err != nil {
			f.problems = append(f.problems, "its servers are not an object")
			continue
		}
		for _, e := range entries {
			switch {
			case seen[e.Name] || pl.noServer(e.Value):
				continue
			case len(f.servers) == maxServers:
				f.problems = append(f.problems, fmt.Sprintf("it has more than %d servers", maxServers))
				return f
			}
			seen[e.Name] = true
			s, err := pl.translate(e, inputs, true)
			if err != nil {
				f.problems = append(f.problems, fmt.Sprintf("the server %.100q %v", e.Name, err))
				continue
			}
			f.servers = append(f.servers, s)
		}
	}
	return f
}
