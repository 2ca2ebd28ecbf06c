package server

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/rs/zerolog"
)

// maxEras bounds how many servers are remembered; beyond it all are forgotten, which costs a probe each.
const maxEras = 500

// eras is the file that remembers which era servers speak; see [hub.Eras]. What cannot be read or kept
// is found out anew.
type eras struct {
	path string
	log  zerolog.Logger

	mu    sync.Mutex // guards the fields below
	known map[string]string
}

func (s *Server) eras() *eras {
	return &eras{path: filepath.Join(s.opts.DataDir, "eras.json"), log: s.opts.Log}
}

func (e *eras) load() {
	if e.known != nil {
		return
	}
	e.known = map[string]string{}
	raw, err := os.ReadFile(e.path)
	if err == nil {
		err = json.Unmarshal(raw, &e.known)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		e.log.Info().Err(err).Msg("the servers' eras are found out anew")
		e.known = map[string]string{}
	}
}

// Era implements [hub.Eras].
func (e *eras) Era(key string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.load()
	return e.known[key]
}

// SetEra implements [hub.Eras].
func (e *eras) SetEra(key, era string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.load()
	if e.known[key] == era {
		return
	}
	if len(e.known) >= maxEras {
		clear(e.known)
	}
	e.known[key] = era
	if era == "" {
		delete(e.known, key)
	}
	if err := e.save(); err != nil {
		e.log.Info().Err(err).Msg("a server's era was not kept")
	}
}

// save replaces the file at once, as another window may read it.
func (e *eras) save() error {
	raw, err := json.Marshal(e.known)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(e.path), "eras-*.tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), e.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
