package hosts

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"assent/sidecar/base/jsonscan"
	"assent/sidecar/broker/attribution"
	"assent/sidecar/hub/session"
)

// listRoots asks a host for its roots.
type listRoots = func(ctx context.Context) (json.RawMessage, error)

// roots are the roots of a host in a conversation. The lock of [Hosts] guards them.
type roots struct {
	// declared is what the host declared about roots; nil if it has none.
	declared json.RawMessage
	// asked are the hosts of the calls that run: each can be asked.
	asked []*attribution.Host
	// last is the last answer of the host; nil if there is none, or none that is still true.
	last json.RawMessage
}

// RootsOf is [session.Options.HostRoots].
func (h *Hosts) RootsOf(taskID string) (session.HostRoots, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.tasks[taskID]
	if c == nil {
		return session.HostRoots{}, false
	}
	return session.HostRoots{Capability: c.roots.declared, List: func(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
		return h.listRoots(ctx, c, params)
	}}, true
}

// canAsk notes that a call of a conversation can ask its host, until the result is called.
func (h *Hosts) canAsk(c *conversation, declared json.RawMessage, host *attribution.Host) (stop func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c.roots.declared, c.roots.asked = declared, append(c.roots.asked, host)
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		c.roots.asked = slices.DeleteFunc(c.roots.asked, func(one *attribution.Host) bool { return one == host })
	}
}

// rootsTimeout bounds how long a host may take to tell its roots while no call runs.
const rootsTimeout = 30 * time.Second

// listRoots asks the host of a conversation for its roots: during a call, else between calls, else it is the last answer.
func (h *Hosts) listRoots(ctx context.Context, c *conversation, params json.RawMessage) (json.RawMessage, error) {
	h.mu.Lock()
	asked, between, last := slices.Clone(c.roots.asked), slices.Collect(maps.Values(c.sessions)), c.roots.last
	h.mu.Unlock()
	for _, host := range asked {
		if raw, err := host.Roots(ctx, &attribution.Request{Method: "roots/list", Params: params}); err == nil {
			return h.recordRoots(c, raw), nil
		}
	}
	if last != nil {
		return last, nil
	}
	ctx, cancel := context.WithTimeout(ctx, rootsTimeout)
	defer cancel()
	for _, list := range between {
		if list == nil {
			continue
		}
		if raw, err := list(ctx); err == nil {
			return h.recordRoots(c, raw), nil
		}
	}
	return nil, errors.New("the host did not list its roots")
}

// recordRoots records an answer of the host, and returns its roots alone: servers refuse the whole list for one that is odd.
func (h *Hosts) recordRoots(c *conversation, raw json.RawMessage) json.RawMessage {
	roots := []json.RawMessage{}
	var said []json.RawMessage
	_ = json.Unmarshal(jsonscan.Member(raw, "roots"), &said) // another value has none
	for _, root := range said {
		if strings.HasPrefix(jsonscan.Text(root, "uri"), "file://") {
			roots = append(roots, root)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	c.roots.last = append(jsonscan.AppendMember([]byte{'{'}, "roots", jsonscan.Array(roots)), '}')
	return c.roots.last
}

// RootsChanged implements [gateway.Upstream].
func (h upstream) RootsChanged(session string, list func(ctx context.Context) (json.RawMessage, error)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.conversations {
		if _, isIn := c.sessions[session]; !isIn {
			continue
		}
		c.sessions[session], c.roots.last = list, nil
		if taskID := c.taskID; taskID != "" {
			h.telling.Go(func() { h.opts.Hub.HostRootsChanged(taskID) }) // writes to servers, and a notification must not block
		}
	}
}
