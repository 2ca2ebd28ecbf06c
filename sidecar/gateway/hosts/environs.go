package hosts

import (
	"assent/sidecar/config"
	"assent/sidecar/gateway"
	"assent/sidecar/hub/session"
)

// starts are the hosts for which servers start; see [Use]. The lock of [Hosts] guards them.
type starts struct {
	// sessions has those of the sessions that last, by their ids, and last that of the last session, by its server; "" is all.
	sessions, last map[string]session.StartsFor
}

// startIn has the person's own servers start for a session in the environment of the session's host, until end is called.
func (h *Hosts) startIn(id string, u Use) (end func()) {
	if u.Environ == nil {
		return func() {}
	}
	to := session.StartsFor{Environ: u.Environ}
	if u.Program != "" {
		to.Programs = []string{u.Program}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if u.Server == "" {
		clear(h.starts.last)
	}
	h.starts.sessions[id], h.starts.last[u.Server] = to, to
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.starts.sessions, id)
	}
}

// startLocked has the server of a request start for its session.
func (h *Hosts) startLocked(c *conversation, r gateway.Request) {
	to, ok := h.starts.sessions[r.Session]
	if !ok {
		return
	}
	if name := gateway.Program(r.Client); name != "" {
		to.Programs = append(to.Programs[:len(to.Programs):len(to.Programs)], name)
	}
	c.starts[r.Server] = to
}

// StartsFor is [session.Options.StartsFor].
func (h *Hosts) StartsFor(taskID string, s config.Server) session.StartsFor {
	h.mu.Lock()
	defer h.mu.Unlock()
	c, isHosts := h.tasks[taskID]
	switch {
	case !s.Own:
		return session.StartsFor{}
	case isHosts:
		return c.starts[s.Name]
	case taskID == "":
		if to, ok := h.starts.last[s.NameInSource()]; ok {
			return to
		}
		return h.starts.last[""]
	}
	return session.StartsFor{}
}
