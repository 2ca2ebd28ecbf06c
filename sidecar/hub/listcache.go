package hub

import (
	"encoding/json"
	"maps"
	"sync"
	"time"

	"assent/protocol"
)

// listPause is how long the next change of a list waits to be announced.
const listPause = 200 * time.Millisecond

// listCache keeps the lists of a server for as long as the server allows, and announces their changes. It may be used from
// any goroutine.
type listCache struct {
	// announce announces a change of a list.
	announce func(kind protocol.ListKind)

	mu sync.Mutex // guards the fields below
	// lists are the lists that may be used again; changes counts how often the server said that each has changed.
	lists   map[protocol.ListKind]pages
	changes map[protocol.ListKind]int
	// counts holds the lengths of the lists as they were last read, until the lists change.
	counts map[protocol.ListKind]int64
	// problems are those of the lists as they were last read.
	problems map[protocol.ListKind][]string
	// announcing holds the timers until the next change of a list can be announced.
	announcing map[protocol.ListKind]*time.Timer
	// closed reports that no change is announced any more.
	closed bool
}

func newListCache(announce func(kind protocol.ListKind)) *listCache {
	return &listCache{
		announce: announce,
		lists:    map[protocol.ListKind]pages{}, changes: map[protocol.ListKind]int{}, problems: map[protocol.ListKind][]string{},
		announcing: map[protocol.ListKind]*time.Timer{},
	}
}

// change forgets a list, because the server said that it has changed. Changes are announced a few times a second at most. The
// last change is always announced.
func (l *listCache) change(kind protocol.ListKind) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changes[kind]++
	delete(l.lists, kind)
	delete(l.counts, kind)
	if kind == protocol.ListResources {
		l.changes[ListTemplates]++
		delete(l.lists, ListTemplates)
	}
	if l.announcing[kind] != nil || l.closed {
		return
	}
	l.announce(kind)
	announced := l.changes[kind]
	// The callback does nothing once the list is closed, so nothing has to wait for it.
	l.announcing[kind] = time.AfterFunc(listPause, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.announcing, kind)
		if !l.closed && l.changes[kind] != announced {
			l.announce(kind)
		}
	})
}

// generation changes with each change of a list.
func (l *listCache) generation(kind protocol.ListKind) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changes[kind]
}

// keep keeps a list for as long as the server allows, unless it has changed since the generation in which it was asked for.
func (l *listCache) keep(kind protocol.ListKind, p pages, generation int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.problems[kind] = p.problems
	if l.changes[kind] == generation {
		if kind == protocol.ListTools {
			p.tools = sync.OnceValue(func() map[string]json.RawMessage { return toolsByName(p.raw) })
		}
		l.lists[kind] = p
		if l.counts == nil {
			l.counts = map[protocol.ListKind]int64{}
		}
		l.counts[kind] = p.count(kind)
	}
}

// cached returns a list that is still fresh, or nil.
func (l *listCache) cached(kind protocol.ListKind) []json.RawMessage {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p, ok := l.lists[kind]; ok && time.Now().Before(p.fresh) {
		return p.raw
	}
	return nil
}

// tool returns the definition of a tool from the list of tools as the server last gave it, even if the list should be asked for
// again before it is used. It is nil if the list has no such tool, or has not been read since it changed.
func (l *listCache) tool(name string) json.RawMessage {
	l.mu.Lock()
	tools := l.lists[protocol.ListTools].tools
	l.mu.Unlock()
	if tools == nil {
		return nil
	}
	return tools()[name]
}

// problemsOf returns those of a list as it was last read.
func (l *listCache) problemsOf(kind protocol.ListKind) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.problems[kind]
}

// clear forgets every list.
func (l *listCache) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.lists)
}

// close ends the announcements.
func (l *listCache) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
}

// counted returns how long the lists were when they were last read.
func (l *listCache) counted() map[protocol.ListKind]int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.counts)
}

// pages is a list as the server last gave it.
type pages struct {
	raw   []json.RawMessage
	fresh time.Time // until when it may be used again
	// problems are sentences about the odd parts of the list.
	problems []string
	// tools returns the definitions of tools by their names, if this is the list of tools. The list is parsed at the first
	// call, and once: it can be long, and every result needs its tool.
	tools func() map[string]json.RawMessage
}

// toolsByName returns the tools on the pages of a list.
func toolsByName(pages []json.RawMessage) map[string]json.RawMessage {
	byName := map[string]json.RawMessage{}
	for _, page := range pages {
		for _, tool := range elements(member(page, string(protocol.ListTools))) {
			byName[textOf(tool, "name")] = tool
		}
	}
	return byName
}

// count returns how long a list is.
func (p pages) count(kind protocol.ListKind) (n int64) {
	for _, page := range p.raw {
		n += int64(len(elements(member(page, string(kind)))))
	}
	return n
}
