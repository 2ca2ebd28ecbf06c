package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/rs/zerolog"
)

// settle is how long a file must rest before it is read: editors write in several steps. One that is gone or empty has longer:
// some programs remove a file and write it again.
const (
	settle      = 100 * time.Millisecond
	settleEmpty = 2 * time.Second
)

// rest returns how long a file must rest that has changed.
func rest(path string) time.Duration {
	if info, err := os.Stat(path); err != nil || info.Mode().IsRegular() && info.Size() == 0 {
		return settleEmpty
	}
	return settle
}

// AnyFile in the place of a file's name has [Watcher] watch all files of a folder.
const AnyFile = "*"

// Watcher calls back when a watched file may have changed. Its methods may be called from any goroutine; after Close nothing
// calls back.
type Watcher struct {
	changed func()
	log     zerolog.Logger
	done    chan struct{}

	wg sync.WaitGroup

	mu      sync.Mutex // guards the fields below
	closed  bool
	watcher *fsnotify.Watcher
	files   []string
	folders []string // that are watched
}

// NewWatcher returns a watcher that watches nothing yet.
func NewWatcher(changed func(), log zerolog.Logger) *Watcher {
	return &Watcher{changed: changed, log: log, done: make(chan struct{})}
}

// Watch replaces the watched files. They need not exist, nor do their folders.
func (w *Watcher) Watch(files []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	if w.watcher == nil {
		if len(files) == 0 {
			return
		}
		watcher, err := fsnotify.NewWatcher()
		if err != nil {
			w.log.Warn().Err(err).Msg("changes of configuration files will not be seen")
			return
		}
		w.watcher = watcher
		w.wg.Go(func() { w.run(watcher) })
	}
	w.files = files
	w.watchFolders()
}

// watchFolders watches the folder of each file, or the nearest one above it that there is. The file itself is not watched:
// editors replace it by another one. The lock must be held.
func (w *Watcher) watchFolders() {
	var folders []string
	for _, file := range w.files {
		for folder := filepath.Dir(file); !slices.Contains(folders, folder); folder = filepath.Dir(folder) {
			err := w.watcher.Add(folder)
			if err == nil {
				folders = append(folders, folder)
				break
			}
			w.log.Debug().Err(err).Str("path", folder).Msg("not watched")
			if folder == filepath.Dir(folder) {
				break
			}
		}
	}
	for _, old := range w.folders {
		if !slices.Contains(folders, old) {
			_ = w.watcher.Remove(old) // it may be gone from the disk
		}
	}
	w.folders = folders
}

// concerns reports whether a change is one of a watched file, or of a folder on the way to one. It compares names: of two
// paths to one folder only the first is watched. The lock must be held.
func (w *Watcher) concerns(changed string) bool {
	return slices.ContainsFunc(w.files, func(file string) bool {
		if filepath.Base(file) == AnyFile {
			file = filepath.Dir(file)
			if endsAs(filepath.Dir(changed), file) {
				return true
			}
		}
		for !endsAs(file, changed) {
			if file == filepath.Dir(file) {
				return false
			}
			file = filepath.Dir(file)
		}
		return true
	})
}

// endsAs reports whether two paths end with the same name, for a system that may ignore case.
func endsAs(a, b string) bool { return strings.EqualFold(filepath.Base(a), filepath.Base(b)) }

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
			w.mu.Lock()
			if w.concerns(event.Name) {
				timer.Reset(rest(event.Name))
			}
			w.mu.Unlock()
		case err, ok := <-watcher.Errors: // for example too many events, so that some were missed
			if !ok {
				return
			}
			w.log.Warn().Err(err).Msg("watching configuration files")
			timer.Reset(settle)
		case <-timer.C:
			w.mu.Lock()
			w.watchFolders() // of which some may have come or gone
			w.mu.Unlock()
			w.changed()
		case <-w.done:
			return
		}
	}
}
