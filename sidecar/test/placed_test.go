package test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// placed is an MCP server without an SDK that tells where it is: as WHO, in which folder, and with which roots. ERA is the
// version that it speaks, a legacy one or 2026-07-28. A legacy one asks for the roots after the handshake if the client
// declares them, and whenever they change. The tool where returns its knowledge; the tool roots asks for the roots in any case; the tool process returns what the
// server's process got.
// Like npx, it runs what the folder in which it starts has in place of its own code: the name in node_modules/placed.
func placed() {
	modern := os.Getenv("ERA") == "2026-07-28"
	folder, err := os.Getwd()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	at := whereabouts{Who: os.Getenv("WHO"), Folder: folder}
	if code, err := os.ReadFile(filepath.Join("node_modules", "placed")); err == nil {
		at.Who = string(code)
	}
	asked := 0
	var asking json.RawMessage // the call of roots
	askForRoots := func() {
		asked++
		say(`"id":"roots %d","method":"roots/list"`, asked)
	}
	tellOf := func(id json.RawMessage, v any) {
		text, err := json.Marshal(v)
		if err == nil {
			text, err = json.Marshal(string(text))
		}
		if err != nil {
			panic(err) // it can always be encoded
		}
		say(`"id":%s,"result":{"resultType":"complete","content":[{"type":"text","text":%s}]}`, id, text)
	}
	tell := func(id json.RawMessage) { tellOf(id, at) }
	for m := range hears() {
		switch {
		case m.Method == "server/discover" && modern:
			say(`"id":%s,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":%q,"version":"1"}}}`, m.ID, at.Who)
		case m.Method == "initialize" && !modern:
			at.Declared = rootsIn(m.Params.Capabilities)
			m.initialized(at.Who, `{"tools":{}}`)
		case m.Method == "notifications/initialized" && at.Declared != nil, m.Method == "notifications/roots/list_changed":
			askForRoots()
		case m.Method == "tools/list":
			say(`"id":%s,"result":{"resultType":"complete","tools":[{"name":"where","inputSchema":{"type":"object"}},{"name":"roots","inputSchema":{"type":"object"}},{"name":"process","inputSchema":{"type":"object"}}]}`, m.ID)
		case m.Method == "tools/call" && m.Params.Name == "process":
			tellOf(m.ID, processOf(folder))
		case m.Method == "tools/call" && modern:
			at.Declared = rootsIn(m.Params.Meta.Capabilities)
			if m.Params.Name == "roots" && m.Params.InputResponses == nil {
				say(`"id":%s,"result":{"resultType":"input_required","inputRequests":{"q":{"method":"roots/list"}},"requestState":"s"}`, m.ID)
				continue
			}
			at.Roots = m.Params.InputResponses["q"]
			tell(m.ID)
		case m.Method == "tools/call" && m.Params.Name == "roots":
			asking = m.ID
			askForRoots()
		case m.Method == "tools/call":
			tell(m.ID)
		case m.Method == "" && m.ID != nil: // an answer about the roots
			if at.Roots = m.Result; m.Error != nil {
				at.Roots = json.RawMessage(`"refused"`)
			}
			if asking != nil {
				tell(asking)
				asking = nil
			}
		default:
			m.unknown()
		}
	}
}

// whereabouts is what [placed] tells.
type whereabouts struct {
	Who, Folder string
	// Declared is the client's capability for roots, and Roots the last answer; both nil for none.
	Declared, Roots json.RawMessage `json:",omitempty"`
}

// rootsIn returns the capability for roots.
func rootsIn(capabilities json.RawMessage) json.RawMessage {
	var c struct{ Roots json.RawMessage }
	_ = json.Unmarshal(capabilities, &c) // without capabilities there is none
	return c.Roots
}

// process is what a server's process got.
type process struct {
	Args, Env             []string
	Folder, Stdin, Stdout string
}

// processOf returns what this process got.
func processOf(folder string) process {
	kind := func(f *os.File) string {
		info, err := f.Stat()
		if err != nil {
			return err.Error()
		}
		return info.Mode().Type().String()
	}
	p := process{Args: os.Args, Env: os.Environ(), Folder: folder, Stdin: kind(os.Stdin), Stdout: kind(os.Stdout)}
	p.Env = slices.DeleteFunc(p.Env, func(kv string) bool { return strings.HasPrefix(kv, "GORACE=") }) // of the tests themselves
	slices.Sort(p.Env)
	return p
}
