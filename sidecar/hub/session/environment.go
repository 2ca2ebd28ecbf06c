package session

import (
	"slices"
	"strings"

	"assent/sidecar/config"
)

// StartsFor is the host for which a server starts. The zero value is none.
type StartsFor struct {
	// Environ is the environment in which the server starts, in the form of [os.Environ]; nil means that of the dialer.
	Environ []string
	// Programs are the names of the host, as in the table of package importer.
	Programs []string
	// Permit is the Permit of [config.Environment] for the host; nil means that of the dialer.
	Permit func(config.Server, config.Start) error
}

// startsFor returns for whom the server starts for a task, or for what belongs to no task.
func (s *Server) startsFor(taskID string) (to StartsFor) {
	if of := s.dialer.opts.StartsFor; of != nil {
		to = of(taskID, s.config)
	}
	if to.Environ == nil {
		to.Environ = s.dialer.opts.Environment.Environ
	}
	return to
}

// has reports whether the server has the environment in which it would start for a task.
func (c *Conn) has(taskID string) bool {
	return slices.Equal(c.startsFor.Environ, c.server.startsFor(taskID).Environ)
}

// isOfHost reports whether a host says in which environment the server starts for a task.
func (s *Server) isOfHost(taskID string) bool {
	of := s.dialer.opts.StartsFor
	return of != nil && of(taskID, s.config).Environ != nil
}

// environment returns the environment of a start. What a host has in its own may be secret.
func (c *Conn) environment() config.Environment {
	e, to := c.server.dialer.opts.Environment, c.startsFor
	if to.Permit != nil {
		e.Permit = to.Permit
	}
	if slices.Equal(to.Environ, e.Environ) {
		return e
	}
	e.Environ = to.Environ
	for _, kv := range e.Environ {
		if name, value, _ := strings.Cut(kv, "="); e.Note != nil {
			e.Note(c.server.config, "env:"+name, value)
		}
	}
	return e
}
