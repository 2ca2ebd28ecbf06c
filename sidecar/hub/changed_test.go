package hub_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"assent/protocol"
	"assent/sidecar/hub"
)

// A change of a server may lead to the question which server it hides, while others list all servers.
func TestAChangeOfAServerMayAskWhatItHides(t *testing.T) {
	var h atomic.Pointer[hub.Hub]
	var lists sync.WaitGroup
	f := newFixtureOf(t, func(o *hub.Options) {
		changed := o.Changed
		o.Changed = func(s protocol.Server) {
			changed(s)
			if h.Load() == nil {
				return
			}
			lists.Go(func() { h.Load().Servers() })
			for range 1000 {
				runtime.Gosched() // the list has begun
			}
			h.Load().HiddenBy(s.Name)
		}
	}, over(t, protocol.TransportStdio, handshake("s")))
	h.Store(f.Hub)
	if _, err := f.Start(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Stop("s"); err != nil {
		t.Fatal(err)
	}
	lists.Wait()
}
