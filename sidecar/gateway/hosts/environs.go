package hosts

import (
	"assent/sidecar/config"
	"assent/sidecar/gateway"
	"assent/sidecar/hub/session"
)

// starts are the hosts for which servers start; see [Use]. The lock of [Hosts] guards them.
type starts struct {
	// sessions has those of the sessions that last, by their ids, and last that of the last session, by its server.
	sessions, last map[string]session.StartsFor
}

// startIn has the server of a session start in the environment of the session's host, until end is called.
func (h *Hosts) startIn(id string, u Use) (end func()) {
	if !u.Own || u.Environ == nil {
		return func() {}
	}
	to := session.StartsFor{Environ: u.Environ}
	if u.Program != "" {
		to.Programs = []string{u.Program}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
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
	if c := h.tasks[taskID]; c != nil {
		return c.starts[s.Name]
	}
	if taskID == "" && s.Own {
		return h.starts.last[s.NameInSource()]
	}
	return session.StartsFor{}
}
