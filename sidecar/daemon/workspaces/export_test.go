package workspaces

import (
	"time"

	"assent/sidecar/base/realpath"
)

// Hurry bounds how long a workspace may take to answer for others.
func (s *Set) Hurry(timeout time.Duration) { s.person.Timeout = timeout }

// Open is how many workspaces are open.
func (s *Set) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

// Rested acts like the end of the idle timer of a workspace's rest.
func (s *Set) Rested(dir string, rest int) {
	s.mu.Lock()
	w := s.open[realpath.Of(dir)]
	s.mu.Unlock()
	s.rested(w, rest)
}

// Rests returns how often an open workspace lost its last front end.
func (s *Set) Rests(dir string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[realpath.Of(dir)].rests
}
