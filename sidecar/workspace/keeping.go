package workspace

import (
	"context"
	"sync"

	"assent/sidecar/task/journal"
)

// keeping is the background work of an open and configured workspace.
type keeping struct {
	// results and records bring the days for which results and records are kept, the newest setting only.
	results, records chan int
	begun            sync.Once
	running          sync.WaitGroup
	ctx              context.Context // ends as the workspace closes
	stop             context.CancelFunc
}

func newKeeping() *keeping {
	k := &keeping{results: make(chan int, 1), records: make(chan int, 1)}
	k.ctx, k.stop = context.WithCancel(context.Background())
	return k
}

// begin starts the background work of the workspace. The workspace is configured already.
func (w *Workspace) begin() {
	k := w.keeping
	k.running.Go(func() { // reads the store, for which the handshake does not wait
		if err := w.chat.Resume(w.hosts.Restore()); err != nil {
			w.opts.Log.Error().Err(err).Msg("MCP tasks were not taken up again")
		}
		w.countAsks()
	})
	k.running.Go(func() { w.tasks.KeepResults(k.ctx, k.results) })
	k.running.Go(func() { w.tasks.KeepDeleted(k.ctx) })
	k.running.Go(func() { w.tasks.KeepStore(k.ctx) })
	k.running.Go(func() { journal.Keep(k.ctx, w.tasks.Store, k.records, w.now, w.opts.Log) })
}
