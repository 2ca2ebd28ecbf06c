package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"assent/sidecar/broker/attribution"
	"assent/sidecar/hub/session"
)

// sessionRoots are the roots of a host's session. The lock of hosts guards them.
type sessionRoots struct {
	// declared is what the host declared about roots; nil if it has none.
	declared json.RawMessage
	// asked are the hosts of the calls that run: each can be asked.
	asked []*attribution.Host
	// between asks the host while no call runs; nil before it has said that its roots changed.
	between func(ctx context.Context) (json.RawMessage, error)
	// last is the last answer of the host; nil if there is none, or none that is still true.
	last json.RawMessage
}

// rootsOf is [session.Options.HostRoots].
func (h *hosts) rootsOf(taskID string) (session.HostRoots, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.tasks[taskID]
	if s == nil {
		return session.HostRoots{}, false
	}
	return session.HostRoots{Capability: s.roots.declared, List: func(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
		return h.listRoots(ctx, s, params)
	}}, true
}

// canAsk notes that a call of a session can ask its host, until the result is called.
func (h *hosts) canAsk(s *hostSession, declared json.RawMessage, host *attribution.Host) (stop func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.roots.declared, s.roots.asked = declared, append(s.roots.asked, host)
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		s.roots.asked = slices.DeleteFunc(s.roots.asked, func(one *attribution.Host) bool { return one == host })
	}
}

// rootsTimeout bounds how long a host may take to tell its roots while no call runs.
const rootsTimeout = 30 * time.Second

// listRoots asks the host of a session for its roots: during a call, else between calls, else it is the last answer.
func (h *hosts) listRoots(ctx context.Context, s *hostSession, params json.RawMessage) (json.RawMessage, error) {
	h.mu.Lock()
	asked, between, last := slices.Clone(s.roots.asked), s.roots.between, s.roots.last
	h.mu.Unlock()
	for _, host := range asked {
		if raw, err := host.Roots(ctx, &attribution.Request{Method: "roots/list", Params: params}); err == nil {
			return h.keepRoots(s, raw), nil
		}
	}
	if last != nil {
		return last, nil
	}
	if between == nil {
		return nil, errors.New("the host did not list its roots")
	}
	ctx, cancel := context.WithTimeout(ctx, rootsTimeout)
	defer cancel()
	raw, err := between(ctx)
	if err != nil {
		return nil, errors.New("the host did not list its roots")
	}
	return h.keepRoots(s, raw), nil
}

// keepRoots keeps an answer of the host, and returns it.
func (h *hosts) keepRoots(s *hostSession, raw json.RawMessage) json.RawMessage {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.roots.last = raw
	return raw
}

// RootsChanged implements [gateway.Upstream].
func (h *hosts) RootsChanged(session string, list func(ctx context.Context) (json.RawMessage, error)) {
	h.mu.Lock()
	s := h.sessions[session]
	taskID := ""
	if s != nil {
		s.roots.between, s.roots.last = list, nil
		taskID = s.taskID
	}
	h.mu.Unlock()
	if taskID != "" {
		h.telling.Go(func() { h.w.hub.HostRootsChanged(taskID) }) // writes to servers, and a notification must not block
	}
}
