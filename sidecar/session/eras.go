package session

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

// habits are how a server speaks. The server's lock guards them.
type habits struct {
	// era is what the server spoke last; the next connection begins with it.
	era wire.Era
	// learned is kept over restarts.
	learned Learned
	// modernOnly: the server refused to be spoken to in an older version than 2026-07-28.
	modernOnly bool
	// handshake is the last one; nil before the first.
	handshake *wire.Handshake
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
func (d *Dialer) recall(c config.Server) Learned {
	if d.opts.Memory == nil {
		return Learned{}
	}
	l := d.opts.Memory.Recall(memoryKey(c))
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
func (s *Server) learnEraLocked(c *Conn) {
	h := c.link.handshake
	s.habits.handshake, s.habits.era = h, h.Era
	if s.config.ProtocolVersion != "" {
		return // the configuration chose, not the server
	}
	s.habits.learned.Era = h.Era
	switch who := identity(h); {
	case !s.habits.learned.AsksByRequests:
	case h.Era == wire.EraModern:
		// It refused initialize, so it speaks no older version.
		s.habits.modernOnly = s.habits.modernOnly || c.known == wire.EraLegacy
		s.habits.learned.AsksByRequests, s.habits.learned.Identity = false, ""
	case s.habits.learned.Identity == "":
		s.habits.learned.Identity = who
	case s.habits.learned.Identity != who:
		// Another version of the server may ask as 2026-07-28 has it: the next start finds out.
		s.habits.learned = Learned{}
	}
	s.keepLearnedLocked()
}

// keepLearnedLocked keeps the facts about the server for later starts.
func (s *Server) keepLearnedLocked() {
	if s.dialer.opts.Memory != nil {
		s.dialer.opts.Memory.Keep(memoryKey(s.config), s.habits.learned)
	}
}

// forgetEraLocked forgets the era of a server that did not start: the server may have changed. The fact that its
// tools ask by requests is forgotten only if the server was silent. A server without an older version refuses the
// handshake, and is probed at once.
func (s *Server) forgetEraLocked(c *Conn) {
	if errors.As(c.err, new(*confirm.NotConfirmed)) {
		return // it was not started
	}
	if s.config.ProtocolVersion != "" || s.habits.learned.AsksByRequests && !errors.As(c.err, new(wire.TimeoutError)) {
		return
	}
	s.habits.learned.Era, s.habits.learned.AsksByRequests, s.habits.learned.Identity = wire.EraUnknown, false, ""
	s.habits.era = wire.EraUnknown
	s.keepLearnedLocked()
}

// identity is a server's own name and version, as its handshake has them.
func identity(h *wire.Handshake) string {
	shown := diagnose.Handshake(h)
	return shown.Name + " " + shown.Version
}

// Era returns the era that the server spoke last.
func (s *Server) Era() wire.Era {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.habits.era
}

// FallBack has Assent speak 2025-11-25 with the server from then on. It reports whether Assent does, and whether that is a
// change. Calls under way end in the version in which they began. If MCP tasks are followed, the server does not fall back,
// because one era does not know the tasks of the other.
func (s *Server) FallBack(following bool) (older, changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.gone != "" || s.habits.modernOnly:
		return false, false
	case s.habits.learned.AsksByRequests:
		return true, false
	case following:
		return false, false
	}
	s.dialer.opts.Log.Info().Str("server", s.config.Name).Msg("the server's tools ask by requests, falling back to " + config.LegacyProtocol)
	s.habits.era = wire.EraLegacy
	s.habits.learned.Era, s.habits.learned.AsksByRequests, s.habits.learned.Identity = wire.EraLegacy, true, ""
	s.keepLearnedLocked()
	for id, c := range s.conns {
		if s.running[c] && c.IsModern() {
			delete(s.conns, id)
			c.leave()
		}
	}
	return true, true
}
