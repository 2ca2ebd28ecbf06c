// Package session manages the connections to MCP servers, from start to end.
//
// A [Dialer] holds what all connections of a workspace share. A [Server] holds the connections to one configured
// server: one for each task that uses a legacy server, and one for all tasks if the server needs no session or is
// configured to be shared. A [Conn] is one connection with its handshake, its clocks and its end. The package starts a
// server at its first use, reconnects after the network lost it, and closes unused connections.
//
// Requests and notifications of a server go to the [Handler] of its Server. The package does not know about exchanges.
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
	"assent/sidecar/base/leftover"
	"assent/sidecar/config"
	"assent/sidecar/hub/diagnose"
	"assent/sidecar/wire"
)

// DefaultHandshake is how long a server's start may take. npx may have to download the server first.
const DefaultHandshake = 2 * time.Minute

// DefaultKeepAlive is the interval between pings on an unused connection over the network, and how long the server has
// to answer one.
const DefaultKeepAlive = 30 * time.Second

// Timing holds the time limits for servers. A zero field means its default.
type Timing struct {
	// Handshake bounds a server's start; 0 means [DefaultHandshake].
	Handshake time.Duration
	// KeepAlive is the interval between pings; 0 means [DefaultKeepAlive].
	KeepAlive time.Duration
	// Housekeeping bounds each request except calls of tools; 0 means [DefaultHousekeeping].
	Housekeeping time.Duration
	// RootsTimeout is how long a first call waits for roots/list; 0 means [DefaultRootsTimeout].
	RootsTimeout time.Duration
}

// OfTasks says what tasks of hosts and of terminals have of their own. Each function is called with locks of the servers held,
// and may be nil.
type OfTasks struct {
	// HostRoots returns the roots of a task's host, and reports whether the task is one of a host.
	HostRoots func(taskID string) (roots HostRoots, isHosts bool)
	// TaskFolders returns the folders of which a task's terminal told, and reports whether the task is one of a terminal.
	TaskFolders func(taskID string) (folders []protocol.WorkspaceFolder, isTerminals bool)
	// StartsFor returns for whom a server starts for a task, or for what belongs to no task.
	StartsFor func(taskID string, server config.Server) StartsFor
}

// Options configure a Dialer.
type Options struct {
	Timing
	OfTasks
	// Changed gets every new state of a server. It must not call the server.
	Changed func(protocol.Server)
	// Confirm blocks until a server may run as it is configured, or returns why it may not. It is called before each
	// connection. asked reports whether a person has just started the server. If Confirm is nil, every server may run.
	Confirm func(ctx context.Context, server config.Server, asked bool) error
	// CallsTools reports whether to declare the capability sampling.tools to a server.
	CallsTools func(ctx context.Context, serverName string) bool
	// Redact removes secrets from the sentence that explains why a server failed, which may quote the server. It may be
	// nil.
	Redact func(string) string
	// Environment is the environment in which servers start.
	Environment config.Environment
	// Capabilities returns the capabilities of the front ends; nil means none. Assent declares no others to servers.
	Capabilities func() protocol.FrontEndCapabilities
	Client       protocol.Implementation
	// Authorize wraps the round tripper for a server at a URL, which may require authorization. It may be nil.
	Authorize func(server config.Server, at *url.URL, login config.OAuth, way http.RoundTripper) http.RoundTripper
	// Memory may be nil. The dialer then probes the era of each server itself.
	Memory Memory
	// Tap gets every frame as it was on the wire. It must not retain the bytes.
	Tap func(serverName string, fromServer bool, frame []byte)
	// Leftovers mark the processes of servers; nil marks none.
	Leftovers *leftover.Run
	Log       zerolog.Logger
}

// Dialer opens connections. It holds what the connections of a workspace share.
type Dialer struct {
	opts    Options
	network *http.Transport
	starts  startSlots   // of processes
	idle    atomic.Int64 // set by [Dialer.SetIdle]
	// iconsRevision is the newest [protocol.Server.IconsRevision] of any server. All servers share it, so that a server
	// that is configured again never reuses a revision.
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

// Close closes the idle HTTP connections. Call it after all servers have stopped.
func (d *Dialer) Close() { d.network.CloseIdleConnections() }

// SetIdle sets how long a connection to a legacy server may be unused before it is closed; the next use starts the
// server again. It applies to connections that belong to one task or serve discovery. 0 keeps them open. A connection
// that all tasks share stays open, because the server may have state in it that cannot be restored. [Server.UpdateIdle]
// applies the change to open connections.
//
// A connection is unused if three conditions hold: its task has no exchange under way, such as a call, an MCP task that
// is followed, or a page that the person has gone to; no list is being read on it; and no request of the server waits
// for an answer.
func (d *Dialer) SetIdle(after time.Duration) { d.idle.Store(int64(after)) }

// SetFolders replaces the workspace folders, which are the roots of the tasks that have no others. It returns the URIs of the
// roots that are gone, and all roots, for [Server.SetRoots].
func (d *Dialer) SetFolders(folders []protocol.WorkspaceFolder) (gone []string, roots []*mcp.Root) {
	d.mu.Lock()
	defer d.mu.Unlock()
	old := rootsIn(d.folders)
	d.folders = folders
	roots = rootsIn(folders)
	for _, r := range old {
		if !slices.ContainsFunc(roots, func(n *mcp.Root) bool { return n.URI == r.URI }) {
			gone = append(gone, r.URI)
		}
	}
	return gone, roots
}

// rootsIn returns the roots among folders.
func rootsIn(folders []protocol.WorkspaceFolder) []*mcp.Root {
	roots := []*mcp.Root{}
	for _, f := range folders {
		if f.NoRoot {
			continue
		}
		path := filepath.ToSlash(f.Path)
		if !strings.HasPrefix(path, "/") {
			path = "/" + path // a Windows drive
		}
		roots = append(roots, &mcp.Root{URI: (&url.URL{Scheme: "file", Path: path}).String(), Name: f.Name})
	}
	return roots
}

// Machine returns this machine, with the environment in which servers start.
func (d *Dialer) Machine() diagnose.Machine {
	return diagnose.Machine{Environment: d.opts.Environment, Log: d.opts.Log}
}

// LongestClose is how long [Server.Stop] takes at most if the server does not end by itself.
const LongestClose = closeTimeout + wire.LongestClose
