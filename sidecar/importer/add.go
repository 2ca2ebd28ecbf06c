package importer

import "encoding/json"

// Added is a server that is to be in an mcp.json.
type Added struct {
	Name  string
	Entry json.RawMessage
	// Inputs are those that the entry names.
	Inputs []AddedInput
}

// AddedInput is an input as mcp.json has it.
type AddedInput struct {
	ID  string
	Raw json.RawMessage
}

// Add adds a server to an mcp.json, which it makes where there is none. It reports whether it did: a name that is in the file
// is never given to another server. An error means that nothing was written.
func Add(path string, a Added) (bool, error) {
	s := server{name: a.Name, entry: a.Entry}
	for _, in := range a.Inputs {
		s.inputs = append(s.inputs, input{id: in.ID, raw: in.Raw})
	}
	added, err := write(path, []server{s})
	return len(added) > 0, err
}
