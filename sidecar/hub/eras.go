package hub

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"assent/sidecar/config"
	"assent/sidecar/wire"
)

// Eras remembers over restarts in which era a server spoke last, under a key of its configuration. A
// server that is silent on server/discover then costs its patience once, and not at every start. The
// methods may be called from any goroutine.
type Eras interface {
	Era(key string) string
	SetEra(key, era string)
}

// eraKey is that of a server: who changes how it starts may have changed what it speaks.
func eraKey(c config.Server) string {
	raw, err := json.Marshal([]any{c.Name, c.Source, c.Transport, c.Command, c.Args, c.URL})
	if err != nil {
		return c.Name
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:16])
}

// rememberedEra is what is known of a server before it has said anything.
func (h *Hub) rememberedEra(c config.Server) wire.Era {
	if c.ProtocolVersion == config.LegacyProtocol {
		return wire.EraLegacy
	}
	if h.opts.Eras == nil {
		return wire.EraUnknown
	}
	switch era := wire.Era(h.opts.Eras.Era(eraKey(c))); era {
	case wire.EraLegacy, wire.EraModern:
		return era
	default:
		return wire.EraUnknown
	}
}

// rememberEra keeps what a server spoke, or that this is not known any more.
func (h *Hub) rememberEra(c config.Server, era wire.Era) {
	if h.opts.Eras != nil && c.ProtocolVersion == "" {
		h.opts.Eras.SetEra(eraKey(c), string(era))
	}
}
