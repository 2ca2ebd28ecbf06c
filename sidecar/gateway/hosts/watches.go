package hosts

import (
	"context"
	"sync"

	"assent/sidecar/gateway/mcpserver"
)

// watches are the resources to which hosts subscribed. However many sessions subscribe to one, its server hears of one
// subscription.
type watches struct {
	// watch subscribes to a resource of a server until ctx ends; see [hub.Hub.Watch].
	watch func(ctx context.Context, server, uri string, began func(error))

	running sync.WaitGroup

	mu     sync.Mutex // guards what follows
	all    map[resource]*watch
	closed bool
}

// resource is a resource of a server.
type resource struct{ server, uri string }

// watch is a subscription.
type watch struct {
	users  int
	cancel context.CancelFunc
	// began is closed when the server was asked, or err says why it was not.
	began chan struct{}
	err   error
}

// subscribe subscribes to a resource until stop is called. It returns when the server was asked.
func (w *watches) subscribe(ctx context.Context, server, uri string) (stop func(), err error) {
	key := resource{server, uri}
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return nil, mcpserver.ErrEnded
	}
	one := w.all[key]
	if one == nil {
		one = w.startLocked(key)
	}
	one.users++
	w.mu.Unlock()
	stop = sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if one.users--; one.users == 0 {
			one.cancel()
			if w.all[key] == one {
				delete(w.all, key)
			}
		}
	})
	select {
	case <-one.began:
		err = one.err
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		stop()
		return nil, err
	}
	return stop, nil
}

func (w *watches) startLocked(key resource) *watch {
	ctx, cancel := context.WithCancel(context.Background())
	one := &watch{cancel: cancel, began: make(chan struct{})}
	w.all[key] = one
	var once sync.Once
	w.running.Go(func() {
		defer cancel()
		began := func(err error) {
			once.Do(func() {
				one.err = err
				close(one.began)
			})
		}
		w.watch(ctx, key.server, key.uri, began)
		began(ctx.Err())
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.all[key] == one { // the next to subscribe asks again
			delete(w.all, key)
		}
	})
	return one
}

// close ends all subscriptions, and waits for them.
func (w *watches) close() {
	w.mu.Lock()
	w.closed = true
	for _, one := range w.all {
		one.cancel()
	}
	w.mu.Unlock()
	w.running.Wait()
}
