package workspaces

import "time"

// Hurry bounds how long a workspace may take to answer for others.
func (s *Set) Hurry(timeout time.Duration) { s.person.Timeout = timeout }

// Open is how many workspaces are open.
func (s *Set) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

// Rested is as if the idle timer of a workspace's rest ran out.
func (s *Set) Rested(dir string, rest int) {
	s.mu.Lock()
	w := s.open[resolved(dir)]
	s.mu.Unlock()
	s.rested(w, rest)
}

// Rests is how often a workspace that is open had no front ends.
func (s *Set) Rests(dir string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[resolved(dir)].rests
}
