package daemon

import (
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// silence is the default.
const silence = 10 * time.Second

// heldDaemon is the other end of a watched connection, in a bubble.
type heldDaemon struct {
	t *testing.T
	// conn is the front end's.
	conn net.Conn
	net.Conn
	begun time.Time
	hangs atomic.Bool
	// probed holds the times of the probes, and told the calls of tell, each with its time. Read them after
	// [synctest.Wait].
	probed []time.Duration
	told   []string
}

func newHeldDaemon(t *testing.T) *heldDaemon {
	t.Helper()
	ours, theirs := net.Pipe()
	d := &heldDaemon{t: t, Conn: theirs, begun: time.Now()}
	d.conn = watch(ours, silence, func(context.Context) error {
		d.probed = append(d.probed, time.Since(d.begun))
		if d.hangs.Load() {
			return fmt.Errorf("the daemon %w", ErrHangs)
		}
		return nil
	}, func(err error) { d.told = append(d.told, fmt.Sprint(time.Since(d.begun), " ", err)) })
	go func() { _, _ = io.Copy(io.Discard, d.conn) }()
	t.Cleanup(func() { _, _ = d.conn.Close(), theirs.Close() })
	return d
}

// ask sends something from the front end to the daemon.
func (d *heldDaemon) ask() {
	d.t.Helper()
	go func() { _, _ = d.conn.Write([]byte("x")) }()
	if _, err := d.Read(make([]byte, 1)); err != nil {
		d.t.Error(err)
	}
	synctest.Wait()
}

// say sends something from the daemon to the front end.
func (d *heldDaemon) say() {
	d.t.Helper()
	if _, err := d.Write([]byte("x")); err != nil {
		d.t.Error(err)
	}
	synctest.Wait()
}

// after lets time pass, and checks the calls of tell until then.
func (d *heldDaemon) after(pass time.Duration, told ...string) {
	d.t.Helper()
	time.Sleep(pass)
	synctest.Wait()
	if !slices.Equal(d.told, told) {
		d.t.Errorf("told %q, want %q", d.told, told)
	}
}

func (d *heldDaemon) wantProbes(want ...time.Duration) {
	d.t.Helper()
	if !slices.Equal(d.probed, want) {
		d.t.Errorf("probed at %v, want %v", d.probed, want)
	}
}

func TestADaemonThatAnswersIsProbedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newHeldDaemon(t)
		d.after(time.Hour)
		d.say() // without a request
		d.after(time.Hour)
		d.wantProbes()
		d.ask()
		d.after(silence - 1)
		d.say()
		d.after(time.Second)
		d.say()
		d.after(time.Hour)
		d.wantProbes(2*time.Hour + 21*time.Second - 1)
	})
}

func TestADaemonThatTakesLongIsProbedLessAndLess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newHeldDaemon(t)
		d.ask()
		d.after(75 * time.Second)
		d.ask() // so the front end waits for an answer again
		d.after(5 * time.Second)
		d.ask() // does not delay the probe
		d.after(5 * time.Second)
		d.wantProbes(10*time.Second, 30*time.Second, 70*time.Second, 85*time.Second)
		d.say()
		d.after(time.Hour)
		d.wantProbes(10*time.Second, 30*time.Second, 70*time.Second, 85*time.Second, 95*time.Second)
	})
}

func TestADaemonThatHangsAndGoesOn(t *testing.T) {
	t.Run("with its answer", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := newHeldDaemon(t)
			d.hangs.Store(true)
			d.ask()
			d.after(silence, "10s the daemon does not answer")
			d.after(7*time.Second, "10s the daemon does not answer")
			d.hangs.Store(false)
			d.say()
			d.after(time.Hour, "10s the daemon does not answer", "17s <nil>")
			d.hangs.Store(true)
			d.ask()
			d.after(time.Minute, "10s the daemon does not answer", "17s <nil>", "1h0m27s the daemon does not answer")
		})
	})
	t.Run("after something else came", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := newHeldDaemon(t)
			d.hangs.Store(true)
			d.ask()
			d.after(5 * time.Second)
			d.say()
			d.after(silence, "15s the daemon does not answer")
		})
	})
	t.Run("without one", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := newHeldDaemon(t)
			d.hangs.Store(true)
			d.ask()
			d.after(time.Minute, "10s the daemon does not answer")
			d.hangs.Store(false)
			d.after(time.Minute, "10s the daemon does not answer", "1m20s <nil>")
		})
	})
}

func TestADaemonThatDoesNotReadHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newHeldDaemon(t)
		d.hangs.Store(true)
		go func() { _, _ = d.conn.Write([]byte("a long message")) }() // a pipe has no buffer
		time.Sleep(5 * time.Second)
		d.say() // sent before
		d.after(silence, "15s the daemon does not answer")
	})
}

func TestNothingIsToldAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, until := range []time.Duration{time.Second, silence + time.Second} { // before a probe, and in the middle of one
			ours, theirs := net.Pipe()
			conn := watch(ours, silence, func(ctx context.Context) error {
				<-ctx.Done()
				return fmt.Errorf("the daemon %w", ErrHangs)
			}, func(err error) { t.Errorf("told %v", err) })
			go func() { _, _ = conn.Write([]byte("x")) }()
			time.Sleep(until)
			_, _ = conn.Close(), theirs.Close()
			time.Sleep(time.Hour)
		}
	})
}
