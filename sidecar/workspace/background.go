package workspace

import (
	"context"
	"sync"

	"assent/sidecar/task/journal"
)

// background is the work in the background of an open and configured workspace.
type background struct {
	// results and records bring the days for which results and records are kept, the newest setting only.
	results, records chan int
	begun            sync.Once
	running          sync.WaitGroup
	ctx              context.Context // ends as the workspace closes
	stop             context.CancelFunc
}

func newBackground() *background {
	b := &background{results: make(chan int, 1), records: make(chan int, 1)}
	b.ctx, b.stop = context.WithCancel(context.Background())
	return b
}

// begin starts the background work of the workspace. The workspace is configured already.
func (w *Workspace) begin() {
	b := w.background
	b.running.Go(func() { // reads the store, for which the handshake does not wait
		if err := w.chat.Resume(w.hosts.Restore()); err != nil {
			w.opts.Log.Error().Err(err).Msg("MCP tasks were not taken up again")
		}
		w.countAsks()
	})
	b.running.Go(func() { w.keepPolicy(b.ctx) })
	b.running.Go(func() { w.tasks.KeepResults(b.ctx, b.results) })
	b.running.Go(func() { w.tasks.KeepDeleted(b.ctx) })
	b.running.Go(func() { w.tasks.KeepStore(b.ctx) })
	b.running.Go(func() { journal.Keep(b.ctx, w.tasks.Store, b.records, w.now, w.opts.Log) })
}
