package workspace

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/rs/zerolog"

	"assent/sidecar/base/atomicfile"
	"assent/sidecar/hub/session"
)

// maxLearned bounds how many servers are remembered; beyond it all are forgotten, which costs a probe each.
const maxLearned = 500

// memory is the file with the dialects of servers; see [session.Memory]. Data that cannot be read or saved is
// detected again.
type memory struct {
	path string
	log  zerolog.Logger

	mu    sync.Mutex // guards the fields below
	known map[string]session.Learned
}

var _ session.Memory = (*memory)(nil)

func (w *Workspace) memory() *memory {
	return &memory{path: filepath.Join(w.opts.DataDir, "eras.json"), log: w.opts.Log}
}

func (m *memory) load() {
	if m.known != nil {
		return
	}
	m.known = map[string]session.Learned{}
	raw, err := os.ReadFile(m.path)
	if err == nil {
		err = json.Unmarshal(raw, &m.known)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		m.log.Info().Err(err).Msg("cannot read the servers' stored eras")
		m.known = map[string]session.Learned{}
	}
}

// Recall implements [session.Memory].
func (m *memory) Recall(key string) session.Learned {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.load()
	return m.known[key]
}

// Keep implements [session.Memory].
func (m *memory) Keep(key string, l session.Learned) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.load()
	if m.known[key] == l {
		return
	}
	if len(m.known) >= maxLearned {
		clear(m.known)
	}
	m.known[key] = l
	if l == (session.Learned{}) {
		delete(m.known, key)
	}
	if err := m.save(); err != nil {
		m.log.Info().Err(err).Msg("cannot save a server's era")
	}
}

func (m *memory) save() error {
	raw, err := json.Marshal(m.known)
	if err != nil {
		return err
	}
	return atomicfile.Write(m.path, raw)
}
