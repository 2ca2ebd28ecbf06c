package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"assent/protocol"
	"assent/sidecar/diagnose"
	"assent/sidecar/wire"
)

// maxStray is how many lines that are not MCP are kept of a connection.
const maxStray = 5

// noted holds facts about a server that are only shown, not used.
type noted struct {
	tail diagnose.LogTail

	// The fields below are guarded by the server's lock.

	failure   *diagnose.Failure // the last one
	handshake *wire.Handshake
	// calls holds the exchanges under way, and since when.
	calls map[*exchange]time.Time
	// counts holds how long the lists were when they were last read, until they change.
	counts map[protocol.ListKind]int64
}

// noteFailure keeps how a connection ended by itself, and returns a sentence on why. The list of servers, the page of
// one, a conversation and a terminal all show it.
func (s *server) noteFailure(ctx context.Context, c *conn, err error, stderr []string) string {
	var exitCode func() (int, bool)
	if c.link != nil {
		exitCode = c.link.exitCode
	}
	c.mu.Lock()
	f := diagnose.NewFailure(err, !c.since.IsZero(), stderr, c.strayed, exitCode)
	c.mu.Unlock()
	s.mu.Lock()
	s.noted.failure = f
	s.mu.Unlock()
	sentence := s.hub.machine().Explain(ctx, s.config, f)
	if redact := s.hub.opts.Redact; redact != nil {
		sentence = redact(sentence)
	}
	return sentence
}

// machine returns this machine, as servers start on it.
func (h *Hub) machine() diagnose.Machine {
	return diagnose.Machine{Environment: h.opts.Environment, Log: h.opts.Log}
}

// noteCall keeps an exchange while it lasts.
func (s *server) noteCall(x *exchange) (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.noted.calls == nil {
		s.noted.calls = map[*exchange]time.Time{}
	}
	s.noted.calls[x] = time.Now()
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.noted.calls, x)
	}
}

// noteCountLocked keeps how long a list is. A page that cannot be read has been complained of already.
func (s *server) noteCountLocked(kind protocol.ListKind, list []json.RawMessage) {
	n := int64(0)
	for _, raw := range list {
		var page map[string]json.RawMessage
		var items []json.RawMessage
		if json.Unmarshal(raw, &page) == nil && json.Unmarshal(page[string(kind)], &items) == nil {
			n += int64(len(items))
		}
	}
	if s.noted.counts == nil {
		s.noted.counts = map[protocol.ListKind]int64{}
	}
	s.noted.counts[kind] = n
}

// noteStray keeps the beginning of a frame that is not MCP.
func (c *conn) noteStray(data []byte) {
	text := strings.TrimRight(string(data[:min(len(data), diagnose.MaxLine)]), "\r\n")
	c.server.noted.tail.Add(protocol.LogStdout, "", text)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.strayed) < maxStray {
		c.strayed = append(c.strayed, text)
	}
}

// Start connects to a server if there is no connection. A person who refused to run the server is asked again.
func (h *Hub) Start(ctx context.Context, name string) (protocol.Server, error) {
	s, err := h.server(name)
	if err != nil {
		return protocol.Server{}, err
	}
	return s.startedByPerson(ctx)
}

// Inspect returns what is known of a server, and why it does not start; see [diagnose.Machine.Inspect]. It starts nothing.
// Nothing is left out that may be a secret, which is the caller's to do.
func (h *Hub) Inspect(ctx context.Context, name string) (*protocol.ServerInspection, error) {
	s, err := h.server(name)
	if err != nil {
		return nil, err
	}
	return h.machine().Inspect(ctx, s.snapshot()), nil
}

// snapshot returns what is known of the server now.
func (s *server) snapshot() diagnose.Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := diagnose.Snapshot{
		Config: s.config, Server: s.infoLocked(), Handshake: s.noted.handshake, Counts: maps.Clone(s.noted.counts),
		Failure: s.noted.failure, Log: &s.noted.tail,
	}
	for c := range s.running {
		c.mu.Lock()
		shown := protocol.ServerConnection{TaskID: c.taskID, Since: c.since.UnixMilli()}
		c.mu.Unlock()
		if c.link.pid != nil {
			shown.PID = int64(c.link.pid())
		}
		now.Connections = append(now.Connections, shown)
	}
	slices.SortFunc(now.Connections, func(a, b protocol.ServerConnection) int {
		return cmp.Or(cmp.Compare(a.Since, b.Since), cmp.Compare(a.TaskID, b.TaskID))
	})
	for x, since := range s.noted.calls {
		now.Calls = append(now.Calls, protocol.ServerCall{
			TaskID: x.taskID, MessageID: x.hooks.MessageID, ToolName: x.toolName, ResourceURI: x.resourceURI, Since: since.UnixMilli(),
		})
	}
	slices.SortFunc(now.Calls, func(a, b protocol.ServerCall) int {
		return cmp.Or(cmp.Compare(a.Since, b.Since), cmp.Compare(a.TaskID, b.TaskID), cmp.Compare(a.MessageID, b.MessageID))
	})
	return now
}
