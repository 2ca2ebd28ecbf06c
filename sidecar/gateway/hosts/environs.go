package hosts

import "assent/sidecar/config"

// environs are the environments of hosts in which servers start; see [Use]. The lock of [Hosts] guards them.
type environs struct {
	// sessions has those of the sessions that last, by their ids, and last that of the last session, by its server.
	sessions, last map[string][]string
}

// startIn has the server of a session start in the environment of the session's host, until end is called.
func (h *Hosts) startIn(session string, u Use) (end func()) {
	if !u.Own || u.Environ == nil {
		return func() {}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.environs.sessions[session], h.environs.last[u.Server] = u.Environ, u.Environ
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.environs.sessions, session)
	}
}

// EnvironOf is [session.Options.HostEnviron].
func (h *Hosts) EnvironOf(taskID string, s config.Server) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c := h.tasks[taskID]; c != nil {
		return c.environs[s.Name]
	}
	if taskID == "" && s.Own {
		return h.environs.last[s.NameInSource()]
	}
	return nil
}
