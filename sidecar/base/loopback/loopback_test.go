package loopback

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
)

// pipes is a listener for connections in memory.
type pipes struct {
	dialed chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.dialed:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return nil }

// ofUser is a connection of a user, or one without a user that can be found out.
type ofUser struct {
	net.Conn
	uid int
	err error
}

// serve serves a handler in memory until the test ends, and returns how to connect as a user.
func serve(t *testing.T, h http.HandlerFunc) (dial func(uid int, err error) net.Conn) {
	t.Helper()
	in := &pipes{make(chan net.Conn), make(chan struct{})}
	l := &Listener{Listener: in, log: zerolog.Nop(), userOf: func(c net.Conn) (int, error) {
		of := c.(ofUser)
		return of.uid, of.err
	}}
	server := NewServer(h, 1<<10)
	ended := make(chan error)
	go func() { ended <- server.Serve(l) }()
	t.Cleanup(func() {
		if err := errors.Join(server.Close(), <-ended); !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("Serve: %v", err)
		}
	})
	return func(uid int, err error) net.Conn {
		ours, theirs := net.Pipe()
		t.Cleanup(func() { _ = ours.Close() })
		in.dialed <- ofUser{theirs, uid, err}
		return ours
	}
}

// isClosed reports whether the other end has closed a connection. It waits until something can be read.
func isClosed(c net.Conn) bool {
	_, err := c.Read(make([]byte, 1))
	return errors.Is(err, io.EOF)
}

func ask(t *testing.T, c net.Conn, request string) *http.Response {
	t.Helper()
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatalf("send %q: %v", request, err)
	}
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Fatalf("read: %v", err)
	}
	return response
}

const get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

func answer(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "here") }

func TestWhoMayConnect(t *testing.T) {
	for _, tt := range []struct {
		name   string
		uid    int
		err    error
		refuse bool
	}{
		{name: "this user", uid: os.Geteuid()},
		{name: "root", uid: 0},
		{name: "another user", uid: os.Geteuid() + 1, refuse: true},
		{name: "one that has gone", err: os.ErrNotExist, refuse: true},
		{name: "a system that does not say", err: errors.ErrUnsupported},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := serve(t, answer)(tt.uid, tt.err)
				if tt.refuse {
					if !isClosed(c) {
						t.Error("the connection is open")
					}
					return
				}
				if got := ask(t, c, get); got.StatusCode != http.StatusOK {
					t.Errorf("the status is %d", got.StatusCode)
				}
			})
		})
	}
}

func TestAStrangerIsNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") == "" {
				http.Error(w, "who?", http.StatusUnauthorized)
				return
			}
			Admit(w, r)
			answer(w, r)
		})
		stranger := dial(os.Geteuid(), nil)
		if got := ask(t, stranger, get); !got.Close {
			t.Error("the response to a stranger keeps the connection")
		}
		if !isClosed(stranger) {
			t.Error("the stranger's connection is open")
		}
		known := dial(os.Geteuid(), nil)
		for range 2 {
			if got := ask(t, known, "GET / HTTP/1.1\r\nHost: x\r\nAuthorization: yes\r\n\r\n"); got.Close || got.StatusCode != http.StatusOK {
				t.Errorf("the response is %s and closes: %t", got.Status, got.Close)
			}
		}
	})
}

func TestManyStrangersLeaveRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial := serve(t, func(w http.ResponseWriter, r *http.Request) { Admit(w, r); answer(w, r) })
		known := dial(os.Geteuid(), nil)
		_ = ask(t, known, get)
		strangers := make([]net.Conn, maxStrangers+20)
		for i := range strangers {
			strangers[i] = dial(os.Geteuid(), nil)
		}
		began := time.Now()
		for i, c := range strangers[:20] {
			if !isClosed(c) || time.Since(began) > 0 {
				t.Errorf("the stranger %d kept its place", i)
			}
		}
		for i, c := range append(strangers[20:], known) {
			if got := ask(t, c, get); got.StatusCode != http.StatusOK {
				t.Errorf("the connection %d gets %s", i, got.Status)
			}
		}
	})
}

func TestWhatAConnectionMayHold(t *testing.T) {
	for _, tt := range []struct {
		name, sent string
		after      time.Duration
	}{
		{"nothing", "", headerTimeout},
		{"half a header", "GET / HTTP/1.1\r\nHost:", headerTimeout},
		{"half a body", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc", bodyTimeout},
		{"a request, and then nothing", get, idleTimeout},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := serve(t, func(w http.ResponseWriter, r *http.Request) {
					Admit(w, r)
					_, _ = io.Copy(io.Discard, r.Body)
					answer(w, r)
				})(os.Geteuid(), nil)
				began := time.Now()
				go func() { _, _ = io.Copy(c, strings.NewReader(tt.sent)) }()
				_, _ = io.Copy(io.Discard, c)
				if took := time.Since(began); took > tt.after+time.Second {
					t.Errorf("the connection ended after %s, want %s", took, tt.after)
				}
			})
		})
	}
}

// A handler that answers for a long time, such as a stream, is not ended by the limit of its request's body.
func TestAStreamHasNoLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := serve(t, func(w http.ResponseWriter, r *http.Request) {
			Admit(w, r)
			_, _ = io.Copy(io.Discard, r.Body)
			select {
			case <-r.Context().Done():
				http.Error(w, context.Cause(r.Context()).Error(), http.StatusInternalServerError)
			case <-time.After(time.Hour):
				answer(w, r)
			}
		})(os.Geteuid(), nil)
		if got := ask(t, c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"); got.StatusCode != http.StatusOK {
			t.Errorf("the status is %s", got.Status)
		}
	})
}
