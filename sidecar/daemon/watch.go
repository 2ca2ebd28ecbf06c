package daemon

import (
	"context"
	"errors"

	"github.com/fsnotify/fsnotify"
)

// errGone is the cause for which a daemon leaves whose lock is on a file that others do not find.
var errGone = errors.New("its lock file was removed or replaced")

// watchSeat has the daemon leave if its lock file is removed, such as with its folder: another daemon starts then, and both
// would own what there is one owner of. Their front ends come back to the other one.
func (s *server) watchSeat(ctx context.Context) {
	watcher, err := fsnotify.NewWatcher()
	if err == nil {
		defer watcher.Close()
		err = watcher.Add(s.seat.address.Folder)
	}
	if err != nil {
		s.o.Log.Warn().Err(err).Msg("whether the daemon's folder is removed will not be seen")
		return
	}
	for {
		if !s.seat.isThere() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.leave(errGone)
			return
		}
		select {
		case <-ctx.Done():
			return
		case err := <-watcher.Errors: // such as of too many events: some were missed
			s.o.Log.Debug().Err(err).Msg("watching the daemon's folder")
		case <-watcher.Events:
		}
	}
}
