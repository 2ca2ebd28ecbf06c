package hub

import (
	"encoding/json"
	"maps"
	"sync"
	"time"

	"assent/protocol"
	"assent/sidecar/base/jsonscan"
)

const (
	// listPause is how long the next change of a list waits to be announced. Each wait is twice as long as the one before,
	// since a server may send a change after each request for its list.
	listPause        = 200 * time.Millisecond
	longestListPause = 30 * time.Second
	// quietPauses is after how many pauses without a change a list is as one that never changed.
	quietPauses = 10
)

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
	// announced holds the last announcement of each list. The lists in waiting have a change that was not announced yet.
	announced map[protocol.ListKind]announcement
	waiting   map[protocol.ListKind]bool
	// closed reports that no change is announced any more.
	closed bool
}

// announcement is one of a list's changes.
type announcement struct {
	at    time.Time
	pause time.Duration // until the next one
}

func newListCache(announce func(kind protocol.ListKind)) *listCache {
	return &listCache{
		announce: announce,
		lists:    map[protocol.ListKind]pages{}, changes: map[protocol.ListKind]int{}, problems: map[protocol.ListKind][]string{},
		announced: map[protocol.ListKind]announcement{}, waiting: map[protocol.ListKind]bool{},
	}
}

// change forgets a list, because the server said that it has changed. It announces the change at once, unless the list
// changes again and again. The last change is always announced.
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
	if l.waiting[kind] {
		return
	}
	last := l.announced[kind]
	since := time.Since(last.at)
	switch {
	case since > quietPauses*last.pause:
		l.announceLocked(kind, listPause)
	case since >= last.pause:
		l.announceLocked(kind, min(2*last.pause, longestListPause))
	default:
		l.waiting[kind] = true
		// The callback does nothing once the list is closed, so nothing has to wait for it.
		time.AfterFunc(last.pause-since, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			delete(l.waiting, kind)
			l.announceLocked(kind, min(2*last.pause, longestListPause))
		})
	}
}

// announceLocked announces a change now. The next one is announced after a pause at the earliest.
func (l *listCache) announceLocked(kind protocol.ListKind, pause time.Duration) {
	if !l.closed {
		l.announced[kind] = announcement{time.Now(), pause}
		l.announce(kind)
	}
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
		for _, tool := range elements(jsonscan.Member(page, string(protocol.ListTools))) {
			byName[jsonscan.Text(tool, "name")] = tool
		}
	}
	return byName
}

// count returns how long a list is.
func (p pages) count(kind protocol.ListKind) (n int64) {
	for _, page := range p.raw {
		n += int64(len(elements(jsonscan.Member(page, string(kind)))))
	}
	return n
}
