package daemon

import (
	"bufio"
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener in memory.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error { p.once.Do(func() { close(p.closed) }); return nil }

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "memory"} }

// dial returns a connection before its hello.
func (p *pipes) dial() *peer {
	ours, theirs := net.Pipe()
	p.conns <- theirs
	return &peer{ours, bufio.NewReader(ours)}
}

// attachTo returns an attached front end.
func (p *pipes) attachTo(t *testing.T) *peer {
	t.Helper()
	c := p.dial()
	var w Welcome
	if err := c.writeLine(Hello{Build: "1.0.0", Protocol: Protocol, Client: FrontEnd}); err != nil {
		t.Fatal(err)
	}
	if err := c.readLine(&w); err != nil || !w.OK {
		t.Fatalf("%+v, %v", w, err)
	}
	return c
}

// inMemory runs a daemon over pipes, in a bubble. Ended is closed when it has left.
func inMemory(t *testing.T, o ServeOptions) (p *pipes, ended <-chan struct{}) {
	t.Helper()
	p = newPipes()
	o.Build = "1.0.0"
	if o.Attach == nil {
		o.Attach = untilEnd
	}
	s := newServer(o)
	s.admit = func(net.Conn) error { return nil }
	done := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	go func() {
		defer close(done)
		if err := s.serve(ctx, p, nil); err != nil {
			t.Error(err)
		}
	}()
	return p, done
}

func untilEnd(ctx context.Context, _ Hello, conn net.Conn) error {
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	_, err := io.Copy(io.Discard, conn)
	return err
}

// wantHere checks, once all goroutines block, whether the daemon has left.
func wantHere(t *testing.T, ended <-chan struct{}, want bool) {
	t.Helper()
	synctest.Wait()
	here := true
	select {
	case <-ended:
		here = false
	default:
	}
	if here != want {
		t.Fatalf("the daemon is here: %v, want %v", here, want)
	}
}

func TestAnIdleDaemonLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, ended := inMemory(t, ServeOptions{})
		time.Sleep(DefaultIdleTime - 1)
		wantHere(t, ended, true)
		time.Sleep(time.Nanosecond)
		wantHere(t, ended, false)
	})
}

func TestAnAttachedClientKeepsTheDaemon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, ended := inMemory(t, ServeOptions{IdleTime: time.Minute})
		first, second := p.attachTo(t), p.attachTo(t)
		time.Sleep(time.Hour)
		wantHere(t, ended, true)
		_ = first.Close()
		time.Sleep(time.Hour)
		wantHere(t, ended, true)
		time.Sleep(30 * time.Second) // the idle time starts again when the last client leaves
		_ = second.Close()
		synctest.Wait()
		time.Sleep(time.Minute - 1)
		wantHere(t, ended, true)
		time.Sleep(time.Nanosecond)
		wantHere(t, ended, false)
	})
}

func TestOpenWorkKeepsTheDaemon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open atomic.Bool
		open.Store(true)
		_, ended := inMemory(t, ServeOptions{IdleTime: time.Minute, Busy: func() string {
			if open.Load() {
				return "a question is open"
			}
			return ""
		}})
		time.Sleep(time.Hour)
		wantHere(t, ended, true)
		open.Store(false)
		time.Sleep(time.Minute)
		wantHere(t, ended, false)
	})
}

// Busy is called without a lock. During the call, a client may attach, begin work and leave.
func TestWorkThatBeginsAsTheIdleTimeEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open atomic.Bool
		p, ended := inMemory(t, ServeOptions{IdleTime: time.Minute, Busy: func() string {
			busy := ""
			if open.Load() {
				busy = "a question is open"
			}
			time.Sleep(2 * time.Second)
			return busy
		}})
		time.Sleep(time.Minute + time.Second)
		c := p.attachTo(t)
		open.Store(true)
		_ = c.Close()
		time.Sleep(time.Hour)
		wantHere(t, ended, true)
		open.Store(false)
		time.Sleep(2 * time.Minute)
		wantHere(t, ended, false)
	})
}

// If both happen at once, the client is served, or finds no daemon. A welcome is never followed by the daemon's
// end.
func TestComingAsTheIdleTimeEnds(t *testing.T) {
	for range 100 {
		synctest.Test(t, func(t *testing.T) {
			p, ended := inMemory(t, ServeOptions{IdleTime: time.Minute})
			time.Sleep(time.Minute)
			ours, theirs := net.Pipe()
			select {
			case p.conns <- theirs:
			case <-p.closed:
				wantHere(t, ended, false)
				return
			}
			c := &peer{ours, bufio.NewReader(ours)}
			var w Welcome
			err := c.writeLine(Hello{Build: "1.0.0", Protocol: Protocol, Client: FrontEnd})
			if err == nil {
				err = c.readLine(&w)
			}
			wantHere(t, ended, err == nil)
			time.Sleep(time.Hour)
			wantHere(t, ended, err == nil)
		})
	}
}

func TestASilentClientIsLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, ended := inMemory(t, ServeOptions{IdleTime: time.Hour})
		var silent []*peer
		for range maxWaiting {
			silent = append(silent, p.dial())
		}
		begun := time.Now()
		p.attachTo(t) // waits for the timeout of the silent clients
		if waited := time.Since(begun); waited > 15*time.Second {
			t.Errorf("another client waited for %v", waited)
		}
		for _, c := range silent {
			if _, err := c.in.ReadByte(); err == nil {
				t.Error("a silent client was told something")
			}
		}
		wantHere(t, ended, true)
	})
}

func TestAClientThatDoesNotReadIsLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, ended := inMemory(t, ServeOptions{IdleTime: time.Hour})
		c := p.dial()
		if err := c.writeLine(Hello{Build: "1.0.0", Protocol: Protocol, Client: FrontEnd}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute) // a pipe has no buffer: the welcome is not written
		if _, err := c.in.ReadByte(); err == nil {
			t.Error("the welcome came after all")
		}
		p.attachTo(t)
		wantHere(t, ended, true)
	})
}
