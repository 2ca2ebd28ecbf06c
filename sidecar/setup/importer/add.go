package importer

import "encoding/json"

// Added is a server for an mcp.json.
type Added struct {
	Name  string
	Entry json.RawMessage
	// Inputs are the inputs that the entry uses.
	Inputs []AddedInput
}

// AddedInput is an input as mcp.json has it.
type AddedInput struct {
	ID  string
	Raw json.RawMessage
}

// Add adds a server to an mcp.json, which it creates if necessary, and reports whether it did. It never replaces a server
// of the same name. After an error, nothing was written.
func Add(path string, a Added) (bool, error) {
	s := Server{Name: a.Name, Entry: a.Entry}
	for _, in := range a.Inputs {
		s.inputs = append(s.inputs, input{id: in.ID, raw: in.Raw})
	}
	added, err := write(path, []Server{s})
	return len(added) > 0, err
}
