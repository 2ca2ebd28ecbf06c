package session

// await records what the start of the connection waits for; empty means nothing.
func (c *Conn) await(what string) {
	s := c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	c.awaits = what
	if len(s.running) == 0 {
		s.dialer.opts.Changed(s.infoLocked())
	}
}

// awaitsLocked returns a sentence on what a start waits for, or "".
func (s *Server) awaitsLocked() string {
	for _, c := range s.conns {
		if c.awaits != "" {
			return "It waits for " + c.awaits + "."
		}
	}
	return ""
}
