// Package session holds the connections to MCP servers, from start to end.
//
// A [Dialer] has what all connections of a workspace share. A [Server] holds the connections to one configured server: one
// for each task that uses a legacy server, and one for all tasks if the server needs no session or is configured to be
// shared. A [Conn] is one connection with its handshake, its clocks and its end. The package starts a server at its first
// use, reaches it again if the network lost it, and closes it if it is not used.
//
// Requests and notifications of a server go to the [Handler] of its Server. The package knows no exchange.
//
// All methods may be called from any goroutine. The comments of [Handler] say which of its methods a
// [Server] calls with its lock held.
package session

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/config"
	"assent/sidecar/diagnose"
	"assent/sidecar/leftover"
	"assent/sidecar/stack"
	"assent/sidecar/wire"
)

// DefaultHandshake is how long a server's start may take. npx may have to download the server first.
const DefaultHandshake = 2 * time.Minute

// DefaultKeepAlive is how long a connection over the network may be silent before it sends a ping, and how long the server has
// to answer it.
const DefaultKeepAlive = 30 * time.Second

// Timing bounds what servers may take. A zero field means its default.
type Timing struct {
	// Handshake bounds a server's start; 0 means [DefaultHandshake].
	Handshake time.Duration
	// KeepAlive: 0 means [DefaultKeepAlive].
	KeepAlive time.Duration
	// Housekeeping bounds each request except calls of tools; 0 means [DefaultHousekeeping].
	Housekeeping time.Duration
	// RootsTimeout: 0 means [DefaultRootsTimeout].
	RootsTimeout time.Duration
}

// Options configure a Dialer.
type Options struct {
	Timing
	// Changed gets every new state of a server. It must not call the server.
	Changed func(protocol.Server)
	// Confirm blocks until a server may run as it is configured, or returns why it may not. It is called before each
	// connection. asked reports that a person has just started the server. With nil every server may run.
	Confirm func(ctx context.Context, server config.Server, asked bool) error
	// CallsTools reports whether a server gets the capability to sample with tools.
	CallsTools func(ctx context.Context, serverName string) bool
	// Redact removes secrets from the sentence on why a server failed, which may quote the server. It may be nil.
	Redact func(string) string
	// Environment is the environment in which servers start.
	Environment config.Environment
	// Capabilities returns those of the front ends; nil means none. Servers get no others.
	Capabilities func() protocol.FrontEndCapabilities
	Client       protocol.Implementation
	// Authorize wraps the round tripper to a server at a URL that may require authorization. It may be nil.
	Authorize func(server config.Server, at *url.URL, login config.OAuth, way http.RoundTripper) http.RoundTripper
	// Memory may be nil. Each dialer then finds out the eras of servers itself.
	Memory Memory
	// Tap gets every frame as it was on the wire. It must not keep the bytes.
	Tap func(serverName string, fromServer bool, frame []byte)
	// Leftovers mark the processes of servers; nil marks none.
	Leftovers *leftover.Run
	// Stacks are the goroutines that write answers; see [wire.Options.Stacks].
	Stacks *stack.Pool
	Log    zerolog.Logger
}

// Dialer opens connections. It holds what the connections of a workspace share.
type Dialer struct {
	opts    Options
	network *http.Transport
	starts  startSlots   // of processes
	idle    atomic.Int64 // the last [Dialer.SetIdle]
	// iconsRevision is the newest [protocol.Server.IconsRevision] of any server: one that is configured again has no
	// revision twice.
	iconsRevision atomic.Int64

	mu      sync.Mutex // guards folders
	folders []protocol.WorkspaceFolder
}

// NewDialer returns a dialer.
func NewDialer(opts Options) *Dialer {
	opts.Handshake = cmp.Or(opts.Handshake, DefaultHandshake)
	opts.Housekeeping = cmp.Or(opts.Housekeeping, DefaultHousekeeping)
	opts.KeepAlive = cmp.Or(opts.KeepAlive, DefaultKeepAlive)
	opts.RootsTimeout = cmp.Or(opts.RootsTimeout, DefaultRootsTimeout)
	if opts.Capabilities == nil {
		opts.Capabilities = func() protocol.FrontEndCapabilities { return protocol.FrontEndCapabilities{} }
	}
	network := http.DefaultTransport.(*http.Transport).Clone()
	network.Proxy = config.Proxy(opts.Environment.Environ)
	return &Dialer{opts: opts, network: network, starts: make(startSlots, startsAtOnce)}
}

// Close closes the connections that no server uses any more. It is called when all servers are stopped.
func (d *Dialer) Close() { d.network.CloseIdleConnections() }

// SetIdle sets for how long a task's own connection to a legacy server may be unused before it is closed, and so the one that
// serves discovery; the next use starts the server again. 0 keeps them. A connection that all tasks share stays, because the
// server may have state in it that cannot be restored. [Server.UpdateIdle] applies the change to open connections.
//
// Unused means that no exchange of its task is under way, such as a call, an MCP task that is followed, or a page that the
// person has gone to; that no list is read, and that nothing is asked on it.
func (d *Dialer) SetIdle(after time.Duration) { d.idle.Store(int64(after)) }

// SetFolders replaces the workspace folders, which are the roots that servers may ask for. It returns the URIs of the roots
// that are gone, and all roots, for [Server.SetRoots].
func (d *Dialer) SetFolders(folders []protocol.WorkspaceFolder) (gone []string, roots []*mcp.Root) {
	d.mu.Lock()
	defer d.mu.Unlock()
	old := d.rootsLocked()
	d.folders = folders
	roots = d.rootsLocked()
	for _, r := range old {
		if !slices.ContainsFunc(roots, func(n *mcp.Root) bool { return n.URI == r.URI }) {
			gone = append(gone, r.URI)
		}
	}
	return gone, roots
}

// Roots returns the roots that servers may ask for.
func (d *Dialer) Roots() []*mcp.Root {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rootsLocked()
}

func (d *Dialer) rootsLocked() []*mcp.Root {
	roots := []*mcp.Root{}
	for _, f := range d.folders {
		path := filepath.ToSlash(f.Path)
		if !strings.HasPrefix(path, "/") {
			path = "/" + path // a Windows drive
		}
		roots = append(roots, &mcp.Root{URI: (&url.URL{Scheme: "file", Path: path}).String(), Name: f.Name})
	}
	return roots
}

// Machine returns this machine, as servers start on it.
func (d *Dialer) Machine() diagnose.Machine {
	return diagnose.Machine{Environment: d.opts.Environment, Log: d.opts.Log}
}

// LongestClose is how long [Server.Stop] takes at most if the server does not end by itself.
const LongestClose = closeTimeout + wire.LongestClose
