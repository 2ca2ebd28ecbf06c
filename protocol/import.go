package protocol

import "encoding/json"

// FindImportsResult lists the files of other programs that configure MCP servers, the most likely
// sources first.
type FindImportsResult struct {
	Sources []ImportSource `json:"sources,omitempty"`
}

// ImportSource is a configuration file of another program.
type ImportSource struct {
	// Program is the program's name, for the person.
	Program string `json:"program"`
	// Path is the path of the file. It identifies the source in [ImportParams].
	Path    string         `json:"path"`
	Servers []ImportServer `json:"servers,omitempty"`
	// Problem says why the file, or a part of it, could not be read.
	Problem string `json:"problem,omitempty"`
}

// ImportServer is a server that can be copied.
type ImportServer struct {
	Name string `json:"name"`
	// Entry is what would be written under the server's name.
	Entry json.RawMessage `json:"entry"`
	// Known: a server of this name is configured already. An import does not change it.
	Known bool `json:"known,omitempty"`
	// Warnings are sentences for the person about differences between the copy and the original, and
	// about risks such as a secret in plain text.
	Warnings []string `json:"warnings,omitempty"`
}

// ImportParams says what to copy, and where to.
type ImportParams struct {
	// Folder is the path of the workspace folder.
	Folder  string       `json:"folder"`
	Servers []ImportName `json:"servers,omitempty"`
}

// ImportName names a server of a source.
type ImportName struct {
	Path string `json:"path"`
	Name string `json:"name"`
}

// ImportResult lists the imported servers.
type ImportResult struct {
	// Path is the file that was written to.
	Path string `json:"path"`
	// Imported are the names of the servers that were added.
	Imported []string `json:"imported,omitempty"`
}
