package hub

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"

	"assent/sidecar/config"
	"assent/sidecar/confirm"
	"assent/sidecar/diagnose"
	"assent/sidecar/wire"
)

// Memory keeps facts about servers over restarts, under a key of their configuration. The methods may be
// called from any goroutine.
type Memory interface {
	Recall(key string) Learned
	Keep(key string, l Learned)
}

// Learned holds facts about a server from its connections. In the zero value nothing is known.
type Learned struct {
	// Era is the one in which the server spoke last. With it, a server that does not answer server/discover starts
	// without [wire.ProbeTimeout].
	Era wire.Era `json:"era,omitempty"`
	// AsksByRequests: the server accepts 2026-07-28, but its tools ask by requests, which only the versions
	// before have. Assent speaks 2025-11-25 with it. Identity is then the server's own name and version; a
	// server with another one is probed again.
	AsksByRequests bool   `json:"asksByRequests,omitempty"`
	Identity       string `json:"identity,omitempty"`
	// Roots is what a legacy server did after its last start.
	Roots RootsHabit `json:"roots,omitempty"`
}

// memoryKey returns a server's key. A server that is started in another way may speak another version.
func memoryKey(c config.Server) string {
	raw, err := json.Marshal([]any{c.Name, c.Source, c.Transport, c.Command, c.Args, c.URL})
	if err != nil {
		return c.Name
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:16])
}

// recall returns what earlier connections to a server have shown.
func (h *Hub) recall(c config.Server) Learned {
	if h.opts.Memory == nil {
		return Learned{}
	}
	l := h.opts.Memory.Recall(memoryKey(c))
	if l.Era != wire.EraLegacy && l.Era != wire.EraModern {
		l.Era = wire.EraUnknown
	}
	return l
}

// firstEra returns the era in which the first connection to a server begins.
func firstEra(c config.Server, l Learned) wire.Era {
	if c.ProtocolVersion == config.LegacyProtocol {
		return wire.EraLegacy
	}
	return l.Era
}

// learnEraLocked notes what a connection that has just become ready shows of its server.
func (s *server) learnEraLocked(c *conn) {
	h := c.link.handshake
	s.era, s.version = h.Era, h.Version
	if s.config.ProtocolVersion != "" {
		return // the configuration chose, not the server
	}
	s.learned.Era = h.Era
	switch who := identity(h); {
	case !s.learned.AsksByRequests:
	case h.Era == wire.EraModern:
		// It refused initialize, so it speaks no older version.
		s.modernOnly = s.modernOnly || c.known == wire.EraLegacy
		s.learned.AsksByRequests, s.learned.Identity = false, ""
	case s.learned.Identity == "":
		s.learned.Identity = who
	case s.learned.Identity != who:
		// Another version of the server may ask as 2026-07-28 has it: the next start finds out.
		s.learned = Learned{}
	}
	s.keepLearnedLocked()
}

// keepLearnedLocked keeps the facts about the server for later starts.
func (s *server) keepLearnedLocked() {
	if s.hub.opts.Memory != nil {
		s.hub.opts.Memory.Keep(memoryKey(s.config), s.learned)
	}
}

// forgetEraLocked forgets the era of a server that did not start: the server may have changed. The fact that its
// tools ask by requests is forgotten only if the server was silent. A server without an older version refuses the
// handshake, and is probed at once.
func (s *server) forgetEraLocked(c *conn) {
	if errors.As(c.err, new(*confirm.NotConfirmed)) {
		return // it was not started
	}
	if s.config.ProtocolVersion != "" || s.learned.AsksByRequests && !errors.As(c.err, new(wire.TimeoutError)) {
		return
	}
	s.learned.Era, s.learned.AsksByRequests, s.learned.Identity = wire.EraUnknown, false, ""
	s.era = wire.EraUnknown
	s.keepLearnedLocked()
}

// identity is a server's own name and version, as its handshake has them.
func identity(h *wire.Handshake) string {
	shown := diagnose.Handshake(h)
	return shown.Name + " " + shown.Version
}
