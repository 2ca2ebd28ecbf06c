package hub

import (
	"fmt"

	"assent/protocol"
)

// await notes what the start of the connection waits for; nothing if what is empty.
func (c *conn) await(what string) {
	s := c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	c.awaits = what
	if len(s.running) == 0 {
		s.hub.opts.Changed(s.infoLocked())
	}
}

// awaitsLocked says what a start waits for, or nothing.
func (s *server) awaitsLocked() string {
	for _, c := range s.conns {
		if c.awaits != "" {
			return "It waits for " + c.awaits + "."
		}
	}
	return ""
}

// tellAwaited tells a task what its exchange waits for.
func (s *server) tellAwaited(taskID, what string) {
	if what == "" {
		return
	}
	if t, err := s.hub.opts.Task(taskID); err == nil {
		t.Tell(protocol.Notice{Level: protocol.NoticeInfo, Text: fmt.Sprintf("The MCP server %q waits for %s.", s.config.Name, what)})
	}
}
