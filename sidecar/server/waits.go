package server

import (
	"sync"

	"assent/protocol"
)

// waitsForWindow is why a server does not start that needs an input or a confirmation while no window can ask for it.
const waitsForWindow = "It waits for a window of this workspace, which has to ask you something."

// serverWaits counts the requests for each server that wait for a front end.
type serverWaits struct {
	mu    sync.Mutex // guards count
	count map[string]int
}

// change reports whether the server begins or ends to wait.
func (s *serverWaits) change(serverName string, by int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count == nil {
		s.count = map[string]int{}
	}
	before := s.count[serverName]
	s.count[serverName] += by
	return (before == 0) != (before+by == 0)
}

// says returns a server as front ends see it: with the reason if it waits.
func (s *serverWaits) says(info protocol.Server) protocol.Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count[info.Name] > 0 && info.State == protocol.ServerStarting {
		info.Reason = waitsForWindow
	}
	return info
}

// serverWaits tells the front ends that a server waits for one, or waits no more.
func (w *Workspace) serverWaits(serverName string, waits bool) {
	by := -1
	if waits {
		by = 1
	}
	if !w.waits.change(serverName, by) {
		return
	}
	for _, info := range w.hub.Servers() {
		if info.Name == serverName {
			w.serverChanged(info)
		}
	}
}

// servers returns the configured servers as front ends see them.
func (w *Workspace) servers(all []protocol.Server) []protocol.Server {
	for i := range all {
		all[i] = w.waits.says(all[i])
	}
	return all
}
