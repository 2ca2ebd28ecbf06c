package daemon

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

// ErrHangs says that a process holds the instance lock, but does not answer.
var ErrHangs = errors.New("does not answer")

// Watch returns a connection of [Dial] to a daemon that may hang. If nothing arrives for a time after a write, or after
// the last message that followed it, Watch probes the daemon on a second connection. Only a failed probe counts, never
// the time alone: a call may take long, a notification has no answer, and the computer may have slept. If the probe
// succeeds and data came back before, the next probe follows the next write. If no data came back, each wait is twice
// as long as the last. Watch calls tell with an [ErrHangs] for a person if the daemon does not answer, and with nil
// when it answers again. The calls do not overlap, and there is none after Close. Tell must not close the connection.
func Watch(conn net.Conn, o Options, tell func(error)) net.Conn {
	return watch(conn, o.timeouts.orDefault().silence, func(ctx context.Context) error {
		_, err := o.status(ctx)
		return err
	}, tell)
}

// watched is a connection of [Watch].
type watched struct {
	net.Conn
	silence time.Duration
	timer   *time.Timer // calls ask
	end     context.CancelFunc
	asks    sync.WaitGroup

	mu sync.Mutex // guards the fields below, and the order of Close and ask
	// wait is the timer's present time, or the next one during an ask; 0 if no probe is due.
	wait time.Duration
	// back: data arrived after the last write began. It need not be an answer to it.
	back bool
	// writing counts the writes that have not returned, because a daemon that hangs does not read.
	writing int
	// heard ends the present ask; nil if there is none.
	heard context.CancelFunc
}

// watch is Watch with another probe, which fails with ErrHangs if the daemon does not answer.
func watch(conn net.Conn, silence time.Duration, probe func(context.Context) error, tell func(error)) *watched {
	ctx, cancel := context.WithCancel(context.Background())
	w := &watched{Conn: conn, silence: silence, end: cancel}
	w.timer = time.AfterFunc(time.Hour, func() { w.ask(ctx, probe, tell) })
	w.timer.Stop()
	return w
}

// Write implements [net.Conn].
func (w *watched) Write(b []byte) (int, error) {
	w.mu.Lock()
	w.writing++
	w.back = false
	if w.wait == 0 || w.wait > w.silence {
		w.await()
	}
	w.mu.Unlock()
	n, err := w.Conn.Write(b)
	w.mu.Lock()
	w.writing--
	w.mu.Unlock()
	return n, err
}

// Read implements [net.Conn].
func (w *watched) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	if n == 0 {
		return n, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.back = true
	if w.heard != nil {
		w.heard()
	}
	if w.wait > 0 {
		w.await()
	}
	return n, err
}

// await sets the timer for a probe. The lock must be held.
func (w *watched) await() {
	w.wait = w.silence
	if w.heard == nil {
		w.timer.Reset(w.wait)
	}
}

// ask probes the daemon. If it hangs, ask repeats that until it answers or sends something.
func (w *watched) ask(ctx context.Context, probe func(context.Context) error, tell func(error)) {
	w.mu.Lock()
	if ctx.Err() != nil || w.heard != nil { // the timer was stopped or set too late
		w.mu.Unlock()
		return
	}
	w.asks.Add(1)
	defer w.asks.Done()
	silent, heard := context.WithCancel(ctx)
	defer heard()
	w.heard = heard
	w.wait *= 2
	w.mu.Unlock()

	told := false
	for pause := w.silence; ; pause *= 2 {
		err := probe(silent)
		if silent.Err() != nil || !errors.Is(err, ErrHangs) {
			break
		}
		if !told {
			told = true
			tell(err)
		}
		select {
		case <-silent.Done():
		case <-time.After(pause):
		}
	}
	if told && ctx.Err() == nil {
		tell(nil)
	}

	w.mu.Lock()
	defer w.mu.Unlock()
	w.heard = nil
	switch {
	case w.back && w.writing == 0 && silent.Err() == nil:
		w.wait = 0
	case ctx.Err() == nil:
		w.timer.Reset(w.wait)
	}
}

// CloseWrite ends this direction. The other end may still send.
func (w *watched) CloseWrite() error {
	if half, ok := w.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// Close implements [io.Closer].
func (w *watched) Close() error {
	w.mu.Lock()
	w.end()
	w.timer.Stop()
	w.mu.Unlock()
	err := w.Conn.Close()
	w.asks.Wait()
	return err
}
