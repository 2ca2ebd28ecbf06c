package terminal

import "sync"

// mailbox passes on events from goroutines that must not wait. Its reader never waits for a person, so the mailbox
// stays small.
type mailbox[T any] struct {
	ready chan struct{} // capacity 1: has a value if there are items

	mu    sync.Mutex // guards items
	items []T
}

func newMailbox[T any]() *mailbox[T] { return &mailbox[T]{ready: make(chan struct{}, 1)} }

func (m *mailbox[T]) put(item T) {
	m.mu.Lock()
	m.items = append(m.items, item)
	m.mu.Unlock()
	select {
	case m.ready <- struct{}{}:
	default:
	}
}

// take removes and returns all items, the oldest first.
func (m *mailbox[T]) take() []T {
	m.mu.Lock()
	defer m.mu.Unlock()
	items := m.items
	m.items = nil
	return items
}
