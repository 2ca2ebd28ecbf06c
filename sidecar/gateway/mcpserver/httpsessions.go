package mcpserver

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
)

// program is a host of 2026-07-28: its credential, and the name that its requests tell.
type program struct{ credential, name string }

// httpSession is a session over HTTP.
type httpSession struct {
	*Session
	// of is the host of a session of 2026-07-28.
	of      program
	streams *streams

	// The lock of HTTP guards what follows.

	uses   int         // the HTTP requests that are served, with the open streams
	rested time.Time   // when the last one ended
	idle   *time.Timer // runs while there are none
}

// use notes that a request is served. The lock must be held.
func (s *httpSession) use() {
	s.uses++
	s.idle.Stop()
}

// rest notes that a request was served. A session without any ends after the idle time.
func (h *HTTP) rest(s *httpSession) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.uses--; s.uses == 0 && h.has(s) {
		s.rested = time.Now()
		s.idle.Reset(h.opts.IdleTime)
	}
}

// serves reports whether a session has an HTTP request open.
func (h *HTTP) serves(s *httpSession) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return s.uses > 0
}

// has reports whether a session is served. The lock must be held.
func (h *HTTP) has(s *httpSession) bool { return h.legacy[s.ID] == s || h.modern[s.of] == s }

// HasSessions reports whether a session lasts.
func (h *HTTP) HasSessions() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.legacy)+len(h.modern) > 0
}

// notServed says that no session begins.
const notServed = "the server is closing, the token was taken back, or the host has too many open sessions"

// modernSession returns the session of a program, as beginSession.
func (h *HTTP) modernSession(ctx context.Context, of program) *httpSession {
	h.mu.Lock()
	s := h.modern[of]
	if s != nil && !h.isClosed && ctx.Err() == nil {
		s.use()
		h.mu.Unlock()
		return s
	}
	return h.begin(ctx, of.credential, func(s *httpSession) { s.of, h.modern[of] = of, s })
}

// beginSession opens a session for a host that sends initialize. It is used until rest is called. It is nil after Close, and
// if the request's context has ended. If the host has too many, the one that rests longest ends. If none rests, there is no
// other.
func (h *HTTP) beginSession(ctx context.Context, credential string) *httpSession {
	h.mu.Lock()
	return h.begin(ctx, credential, func(s *httpSession) { s.main, h.legacy[s.ID] = s.streams.main(), s })
}

// begin opens a session, and has add add it. It is called with the lock held, and releases it.
func (h *HTTP) begin(ctx context.Context, credential string, add func(*httpSession)) *httpSession {
	var resting []*httpSession
	open := 0
	for _, s := range h.all() {
		if s.Credential == credential {
			open++
			if s.uses == 0 {
				resting = append(resting, s)
			}
		}
	}
	isFull := open >= maxSessions
	if h.isClosed || ctx.Err() != nil || isFull && len(resting) == 0 {
		h.mu.Unlock()
		return nil
	}
	s := h.newSession(credential)
	add(s)
	s.use()
	var over []*httpSession
	if isFull {
		over = h.remove([]*httpSession{slices.MinFunc(resting, func(a, b *httpSession) int { return a.rested.Compare(b.rested) })})
	}
	h.mu.Unlock()
	h.endAll(over)
	return s
}

// newSession returns a session. The lock must be held.
func (h *HTTP) newSession(credential string) *httpSession {
	s := &httpSession{Session: newSession(uuid.NewString(), h.server, h.opts.Log), streams: newStreams()}
	s.Credential, s.isConnected = credential, func() bool { return h.serves(s) }
	s.idle = time.AfterFunc(h.opts.IdleTime, func() { h.endIdle(s) })
	return s
}

// endIdle ends a session at the end of its idle time, unless it is used again.
func (h *HTTP) endIdle(s *httpSession) {
	h.mu.Lock()
	if s.uses > 0 {
		h.mu.Unlock()
		return
	}
	over := h.remove([]*httpSession{s})
	h.mu.Unlock()
	h.endAll(over)
}

// End ends the sessions of a credential with their streams, and waits for their requests.
func (h *HTTP) End(credential string) {
	h.mu.Lock()
	var all []*httpSession
	for _, s := range h.all() {
		if s.Credential == credential {
			all = append(all, s)
		}
	}
	over := h.remove(all)
	h.mu.Unlock()
	h.endAll(over)
}

// Close ends all sessions and waits for their requests. Later requests are refused.
func (h *HTTP) Close() {
	h.mu.Lock()
	h.isClosed = true
	over := h.remove(h.all())
	h.mu.Unlock()
	h.endAll(over)
	h.ending.Wait()
}

// all returns the sessions. The lock must be held.
func (h *HTTP) all() []*httpSession {
	return slices.AppendSeq(slices.Collect(maps.Values(h.legacy)), maps.Values(h.modern))
}

// remove takes sessions out, and returns those that no other caller took out. Nothing is served in them from now on. They
// are for endAll. The lock must be held.
func (h *HTTP) remove(all []*httpSession) (over []*httpSession) {
	for _, s := range all {
		if !h.has(s) {
			continue
		}
		if h.modern[s.of] == s {
			delete(h.modern, s.of)
		}
		delete(h.legacy, s.ID)
		s.idle.Stop()
		h.ending.Add(1)
		over = append(over, s)
	}
	return over
}

// endAll ends sessions that were taken out, and waits for them.
func (h *HTTP) endAll(over []*httpSession) {
	for _, s := range over {
		s.end(ErrEnded)
	}
	for _, s := range over {
		s.close(ErrEnded)
		s.streams.close()
		h.ending.Done()
	}
}
