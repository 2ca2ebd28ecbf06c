package config

import (
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/rs/zerolog"
)

// settle is how long a file must rest before it is read: editors write in several steps.
const settle = 100 * time.Millisecond

// Watcher calls back when an mcp.json or .mcp.json of a watched folder may have changed. Its methods may be called
// from any goroutine; after Close nothing calls back.
type Watcher struct {
	changed func()
	log     zerolog.Logger
	done    chan struct{}

	wg sync.WaitGroup

	mu      sync.Mutex // guards the fields below
	closed  bool
	watcher *fsnotify.Watcher
	watched []string
	userDir string // the folder of the person's own file
}

// NewWatcher returns a watcher that watches nothing yet.
func NewWatcher(changed func(), log zerolog.Logger) *Watcher {
	return &Watcher{changed: changed, log: log, done: make(chan struct{})}
}

// Watch replaces the watched folders, the person's own file, and the editor's. Both files may be empty.
func (w *Watcher) Watch(folders []string, userFile, editorFile string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	if w.watcher == nil {
		if len(folders) == 0 && userFile == "" && editorFile == "" {
			return
		}
		watcher, err := fsnotify.NewWatcher()
		if err != nil {
			w.log.Warn().Err(err).Msg("changes of mcp.json will not be seen")
			return
		}
		w.watcher = watcher
		w.wg.Go(func() { w.run(watcher) })
	}
	// A folder is watched and not the file: editors replace it by another one. The workspace's
	// folder tells when .vscode itself comes or goes.
	var paths []string
	for _, f := range folders {
		paths = append(paths, f, filepath.Join(f, filepath.Dir(FileName)))
	}
	if w.userDir = ""; userFile != "" {
		w.userDir = filepath.Dir(userFile)
		paths = append(paths, filepath.Dir(w.userDir), w.userDir)
	}
	if editorFile != "" {
		paths = append(paths, filepath.Dir(editorFile))
	}
	for _, old := range w.watched {
		if !slices.Contains(paths, old) {
			_ = w.watcher.Remove(old) // it may be gone from the disk
		}
	}
	w.watched = paths
	for _, path := range paths {
		w.add(path)
	}
}

// add watches a folder, where it exists. The lock must be held.
func (w *Watcher) add(path string) {
	if err := w.watcher.Add(path); err != nil {
		w.log.Debug().Err(err).Str("path", path).Msg("not watched")
	}
}

// Close stops the watching and returns when no callback runs any more.
func (w *Watcher) Close() {
	w.mu.Lock()
	watcher := w.watcher
	if !w.closed {
		close(w.done)
	}
	w.closed = true
	w.mu.Unlock()
	if watcher != nil {
		if err := watcher.Close(); err != nil {
			w.log.Debug().Err(err).Msg("closing the watcher")
		}
	}
	w.wg.Wait()
}

func (w *Watcher) run(watcher *fsnotify.Watcher) {
	timer := time.NewTimer(settle)
	timer.Stop()
	for {
		select {
		case event, ok := <-watcher.Events:
			if !ok {
				return
			}
			base := filepath.Base(event.Name)
			w.mu.Lock()
			isFolder := base == filepath.Dir(FileName) || event.Name == w.userDir
			if isFolder {
				w.add(event.Name)
			}
			w.mu.Unlock()
			switch {
			case isFolder:
				timer.Reset(settle)
			case base == filepath.Base(FileName), base == RootFileName:
				timer.Reset(settle)
			}
		case err, ok := <-watcher.Errors:
			if !ok {
				return
			}
			w.log.Warn().Err(err).Msg("watching mcp.json")
		case <-timer.C:
			w.changed()
		case <-w.done:
			return
		}
	}
}
