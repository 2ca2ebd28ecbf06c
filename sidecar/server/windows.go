package server

import (
	"slices"
	"strings"
	"time"

	"assent/sidecar/store"
)

// lookEvery is how often is looked what other windows have done.
const lookEvery = 300 * time.Millisecond

// window says how other windows know this one, and which of them have the same servers: those of the same
// folders.
func (s *Server) window() store.Window {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names, paths []string
	for _, f := range s.configuration.WorkspaceFolders {
		names, paths = append(names, f.Name), append(paths, f.Path)
	}
	slices.Sort(paths)
	name := s.frontEnd.Name
	if len(names) > 0 {
		name += ": " + strings.Join(names, ", ")
	}
	return store.Window{Name: name, Workspace: strings.Join(paths, "\n")}
}

// lost ends what goes on in a task that another window took.
func (s *Server) lost(taskID string) {
	s.chat.Leave(taskID)
	s.hub.LeaveTask(taskID)
}
