package protocol

import "encoding/json"

// FindImportsResult is every file of another program that configures MCP servers, in the order in
// which people are likely to want them.
type FindImportsResult struct {
	Sources []ImportSource `json:"sources,omitempty"`
}

// ImportSource is a configuration file of another program.
type ImportSource struct {
	// Program is its name, for the person.
	Program string `json:"program"`
	// Path is the file's, and names the source in [ImportParams].
	Path    string         `json:"path"`
	Servers []ImportServer `json:"servers,omitempty"`
	// Problem says why the file, or a part of it, cannot be read.
	Problem string `json:"problem,omitempty"`
}

// ImportServer is a server that can be copied.
type ImportServer struct {
	Name string `json:"name"`
	// Entry is what would be written under the server's name.
	Entry json.RawMessage `json:"entry"`
	// Known reports that a server of this name is configured already, and would be left as it is.
	Known bool `json:"known,omitempty"`
	// Warnings are sentences for the person: what the copy would not do as the original does, such as a
	// secret in plain text.
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

// ImportResult says what was written.
type ImportResult struct {
	// Path is the file that was written to.
	Path string `json:"path"`
	// Imported are the names of the servers in it now.
	Imported []string `json:"imported,omitempty"`
}
