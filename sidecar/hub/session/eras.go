package session

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"

	"assent/sidecar/config"
	"assent/sidecar/config/confirm"
	"assent/sidecar/hub/diagnose"
	"assent/sidecar/wire"
)

// Memory keeps facts about servers across restarts, by a key of their configuration. The methods may be called from any
// goroutine.
type Memory interface {
	Recall(key string) Learned
	Keep(key string, l Learned)
}

// Learned holds what earlier connections revealed about a server. The zero value means that nothing is known.
type Learned struct {
	// Era is the era that the server spoke last. A legacy server gets initialize at once, and a modern one only after
	// [wire.PatientProbeTimeout].
	Era wire.Era `json:"era,omitempty"`
	// AsksByRequests reports that the server accepts 2026-07-28, but its tools ask by requests to the client, which
	// only earlier versions have. Assent speaks 2025-11-25 with it. Identity is then the server's own name and version;
	// if it changes, the server is probed again.
	AsksByRequests bool   `json:"asksByRequests,omitempty"`
	Identity       string `json:"identity,omitempty"`
	// Roots tells whether a legacy server asked for the roots after its last start.
	Roots RootsHabit `json:"roots,omitempty"`
}

// dialect records how a server speaks. The server's lock guards it.
type dialect struct {
	// era is the era that the server spoke last; the next connection begins with it.
	era wire.Era
	// learned is kept across restarts.
	learned Learned
	// modernOnly reports that the server refused the versions before 2026-07-28.
	modernOnly bool
	// handshake is the last handshake; nil before the first.
	handshake *wire.Handshake
}

// memoryKey returns a server's key in [Memory]. It covers how the server is started, because the same name with another
// command or URL may speak another version.
func memoryKey(c config.Server) string {
	raw, err := json.Marshal([]any{c.Name, c.Source, c.Transport, c.Command, c.Args, c.URL})
	if err != nil {
		return c.Name
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:16])
}

// recall returns what [Memory] has about a server.
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

// learnEraLocked records what a newly ready connection reveals about its server.
func (s *Server) learnEraLocked(c *Conn) {
	h := c.link.handshake
	s.dialect.handshake, s.dialect.era = h, h.Era
	if s.config.ProtocolVersion != "" {
		return // the configuration chose, not the server
	}
	if s.dialect.learned.Era = h.Era; h.AlsoModern {
		s.dialect.learned.Era = wire.EraModern // at its next start it gets more time
	}
	switch who := identity(h); {
	case !s.dialect.learned.AsksByRequests:
	case h.Era == wire.EraModern:
		// The server refused initialize, so it speaks no older version.
		s.dialect.modernOnly = s.dialect.modernOnly || c.known == wire.EraLegacy
		s.dialect.learned.AsksByRequests, s.dialect.learned.Identity = false, ""
	case s.dialect.learned.Identity == "":
		s.dialect.learned.Identity = who
	case s.dialect.learned.Identity != who:
		// Another version of the server may ask in the way of 2026-07-28. The next start probes it.
		s.dialect.learned = Learned{}
	}
	s.keepLearnedLocked()
}

// keepLearnedLocked keeps the facts about the server for later starts.
func (s *Server) keepLearnedLocked() {
	if s.dialer.opts.Memory != nil {
		s.dialer.opts.Memory.Keep(memoryKey(s.config), s.dialect.learned)
	}
}

// forgetEraLocked forgets the era of a server that did not start, because the server may have changed. It forgets that
// the tools ask by requests only if the server did not answer in time. A server that does not speak the older version
// refuses the handshake, and is then probed at once.
func (s *Server) forgetEraLocked(c *Conn) {
	if errors.As(c.err, new(*confirm.NotConfirmed)) {
		return // it was not started
	}
	if len(s.running) > 0 {
		return // it proves the era
	}
	if s.config.ProtocolVersion != "" || s.dialect.learned.AsksByRequests && !errors.As(c.err, new(wire.TimeoutError)) {
		return
	}
	s.dialect.learned.Era, s.dialect.learned.AsksByRequests, s.dialect.learned.Identity = wire.EraUnknown, false, ""
	s.dialect.era = wire.EraUnknown
	s.keepLearnedLocked()
}

// identity returns the name and version that a server gave in its handshake.
func identity(h *wire.Handshake) string {
	shown := diagnose.Handshake(h)
	return shown.Name + " " + shown.Version
}

// Era returns the era that the server spoke last.
func (s *Server) Era() wire.Era {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dialect.era
}

// FallBack makes Assent speak 2025-11-25 with the server from now on. older reports whether Assent does so after the
// call, and changed whether this call changed it. Calls under way end in the version in which they began. If following
// is true, Assent follows MCP tasks of the server. FallBack then changes nothing, because the tasks of one era do not
// exist in the other.
func (s *Server) FallBack(following bool) (older, changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.gone != nil || s.dialect.modernOnly:
		return false, false
	case s.dialect.learned.AsksByRequests:
		return true, false
	case following:
		return false, false
	}
	s.dialer.opts.Log.Info().Str("server", s.config.Name).Msg("the server's tools ask by requests, falling back to " + config.LegacyProtocol)
	s.dialect.era = wire.EraLegacy
	s.dialect.learned.Era, s.dialect.learned.AsksByRequests, s.dialect.learned.Identity = wire.EraLegacy, true, ""
	s.keepLearnedLocked()
	for id, c := range s.conns {
		if s.running[c] && c.IsModern() {
			delete(s.conns, id)
			c.leave()
		}
	}
	return true, true
}
