package browser

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"assent/protocol"
	"assent/sidecar/daemon/workspaces"
)

// Target is what a page shows.
type Target struct {
	Place         workspaces.Place       `json:"place"`
	Configuration protocol.Configuration `json:"configuration"`
	// Prompts are what the person could say first in a new task.
	Prompts []string `json:"prompts,omitempty"`
}

// configurationFile is the file in which the person would add a server.
func (t Target) configurationFile() string {
	for _, folder := range t.Configuration.WorkspaceFolders {
		return filepath.Join(folder.Path, ".vscode", "mcp.json")
	}
	return ".vscode/mcp.json"
}

// view is a target that was opened. Its page may be loaded again.
type view struct {
	target  Target
	version string
	// name is in the address, and cookie in the browser.
	name, cookie string

	// token opens the view until a time; "" once it has. The server's lock guards both.
	token string
	until time.Time

	examples *examples

	mu    sync.Mutex // guards files
	files []keptFile // the oldest first
}

// maxKept bounds the files that a view keeps, in bytes. The oldest go.
const maxKept = 64 << 20

// keptFile is a file of a message that is not sent yet, for a page that is loaded again.
type keptFile struct {
	id   string
	file json.RawMessage
}

// keep keeps a file until the daemon ends, and returns its id.
func (v *view) keep(file json.RawMessage) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	kept := keptFile{rand.Text(), file}
	v.files = append(v.files, kept)
	size := 0
	for i, f := range slices.Backward(v.files) {
		if size += len(f.file); size > maxKept {
			v.files = slices.Clone(v.files[i+1:])
			break
		}
	}
	return kept.id
}

// kept returns a file, or nil if it is gone.
func (v *view) kept(id string) json.RawMessage {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, f := range v.files {
		if f.id == id {
			return f.file
		}
	}
	return nil
}

func (v *view) forget(ids []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.files = slices.DeleteFunc(v.files, func(f keptFile) bool { return slices.Contains(ids, f.id) })
}

// examples are the data folders with the example server.
type examples struct {
	mu    sync.Mutex
	added map[string]bool
}

func (e *examples) set(dataDir string, added bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.added[dataDir] = added
}

func (e *examples) has(dataDir string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.added[dataDir]
}

// admits reports whether a request has the view's cookie. It has none before the token is redeemed.
func (v *view) admits(r *http.Request) bool {
	cookie, err := r.Cookie(cookieName)
	return err == nil && subtle.ConstantTimeCompare([]byte(cookie.Value), []byte(v.cookie)) == 1
}

// introduction is how a page introduces itself to the workspace.
func (v *view) introduction() protocol.InitializeParams {
	return protocol.InitializeParams{
		ProtocolVersion: protocol.Version,
		ClientInfo:      protocol.Implementation{Name: "a browser", Version: v.version},
		Capabilities: protocol.FrontEndCapabilities{
			Elicitation: true, Sampling: true, ConfirmServers: true, OpenURL: true, Apps: true, AppForms: true,
		},
		Configuration: v.configuration(),
	}
}

func (v *view) configuration() protocol.Configuration {
	c := v.target.Configuration
	c.ExampleServer = c.ExampleServer || v.examples.has(v.target.Place.DataDir)
	return c
}
