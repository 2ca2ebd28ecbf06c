package ask

import (
	"cmp"
	"maps"
	"slices"
	"sync"
)

// openAsks are the open asks of a task by their id. They change while the task is locked, but can be read without the
// lock, so that an answer does not wait for a save just to find its ask. The zero value is empty.
type openAsks struct {
	mu   sync.Mutex // guards open
	open map[string]*ask
}

// get returns an open ask, or nil.
func (s *openAsks) get(id string) *ask {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[id]
}

// put adds an ask.
func (s *openAsks) put(a *ask) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[string]*ask{}
	}
	s.open[a.question.AskID] = a
}

// drop takes out an ask.
func (s *openAsks) drop(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, id)
}

// inOrder returns them in the order of their messages.
func (s *openAsks) inOrder() []*ask {
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.open))
	s.mu.Unlock()
	slices.SortFunc(all, func(x, y *ask) int { return cmp.Compare(x.message.ID, y.message.ID) })
	return all
}
