package daemon

import (
	"context"
	"errors"

	"github.com/fsnotify/fsnotify"
)

// errGone is the cause for which a daemon leaves if other processes no longer find its lock file.
var errGone = errors.New("its lock file was removed or replaced")

// watchSeat makes the daemon leave if its lock file is removed, for example with its folder: another daemon would then
// start, and both would own the same data. The front ends connect to the other daemon.
func (s *server) watchSeat(ctx context.Context) {
	watcher, err := fsnotify.NewWatcher()
	if err == nil {
		defer watcher.Close()
		err = watcher.Add(s.instance.address.Folder)
	}
	if err != nil {
		s.o.Log.Warn().Err(err).Msg("whether the daemon's folder is removed will not be seen")
		return
	}
	for {
		if !s.instance.isThere() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.leave(errGone)
			return
		}
		select {
		case <-ctx.Done():
			return
		case err := <-watcher.Errors: // for example too many events, so that some were missed
			s.o.Log.Debug().Err(err).Msg("watching the daemon's folder")
		case <-watcher.Events:
		}
	}
}
