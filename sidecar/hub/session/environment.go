package session

import (
	"slices"
	"strings"

	"assent/sidecar/config"
)

// environOf returns the environment in which the server starts for a task, or for what belongs to no task.
func (s *Server) environOf(taskID string) []string {
	if of := s.dialer.opts.HostEnviron; of != nil {
		if environ := of(taskID, s.config); environ != nil {
			return environ
		}
	}
	return s.dialer.opts.Environment.Environ
}

// environment returns the environment of a start. What a host has in its own may be secret.
func (c *Conn) environment() config.Environment {
	e := c.server.dialer.opts.Environment
	if slices.Equal(c.environ, e.Environ) {
		return e
	}
	e.Environ = c.environ
	for _, kv := range c.environ {
		if name, value, _ := strings.Cut(kv, "="); e.Note != nil {
			e.Note(c.server.config, "env:"+name, value)
		}
	}
	return e
}
