// Package loopback serves HTTP on the loopback interface, to programs of this user.
//
// Every user of the machine can connect to such a port. A connection of another user is closed at once, where the
// system says that (Linux). A connection is a stranger until a handler calls [Admit] for a request that has
// shown its token or cookie. Strangers are few: a new one takes the place of the oldest. A response to a stranger ends
// the connection, and a body that does not go on ends it too.
//
// A [Listener] may be used from any goroutine. The package starts no goroutine and knows neither tokens nor paths.
package loopback

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"assent/sidecar/base/procinfo"
)

// maxStrangers bounds the connections that have not shown a token or cookie.
const maxStrangers = 100

// Times after which a connection ends.
const (
	headerTimeout = 10 * time.Second // of a request's header
	bodyTimeout   = 30 * time.Second // of a body from which nothing comes
	idleTimeout   = time.Minute      // between two requests
)

// Listener accepts connections of this user on a port of 127.0.0.1.
type Listener struct {
	net.Listener
	log zerolog.Logger
	// userOf returns the user at the other end of a connection.
	userOf func(net.Conn) (int, error)

	mu        sync.Mutex // guards strangers
	strangers []*conn    // the oldest first
}

// Listen listens on a port, or on a free one if port is 0.
func Listen(ctx context.Context, port int, log zerolog.Logger) (*Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, err
	}
	return &Listener{Listener: l, log: log, userOf: userOf}, nil
}

// Port returns the port.
func (l *Listener) Port() int { return l.Addr().(*net.TCPAddr).Port }

// Accept implements [net.Listener].
func (l *Listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if !l.isPersons(c) {
			l.drop(c)
			continue
		}
		return l.add(c), nil
	}
}

// isPersons reports whether the daemon's user is at the other end, or root: it may do everything in any case, and the relay
// for the browsers of Windows runs as root in WSL. Where the system does not say, only the token protects.
func (l *Listener) isPersons(c net.Conn) bool {
	uid, err := l.userOf(c)
	if errors.Is(err, errors.ErrUnsupported) {
		return true
	}
	if err != nil {
		l.log.Debug().Err(err).Msg("cannot find out the user of a connection")
	}
	return err == nil && (uid == os.Geteuid() || uid == 0)
}

func userOf(c net.Conn) (int, error) {
	local, remote := c.LocalAddr().(*net.TCPAddr), c.RemoteAddr().(*net.TCPAddr)
	return procinfo.UserOf(remote.AddrPort(), local.AddrPort())
}

// drop closes a connection without a trace: a closed one in the usual way would stay in the system's tables for a minute.
func (l *Listener) drop(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // the connection closes all the same
	}
	_ = c.Close() // its error changes nothing
}

// add returns an accepted connection as a stranger.
func (l *Listener) add(c net.Conn) *conn {
	stranger := &conn{Conn: c, of: l}
	l.mu.Lock()
	var oldest *conn
	if len(l.strangers) == maxStrangers {
		oldest = l.strangers[0]
		l.strangers = slices.Delete(l.strangers, 0, 1)
	}
	l.strangers = append(l.strangers, stranger)
	l.mu.Unlock()
	if oldest != nil {
		l.drop(oldest.Conn)
	}
	return stranger
}

// forget takes a connection from the strangers.
func (l *Listener) forget(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.strangers, c); i >= 0 {
		l.strangers = slices.Delete(l.strangers, i, i+1)
	}
}

// conn is an accepted connection.
type conn struct {
	net.Conn
	of *Listener
}

// Close implements [net.Conn].
func (c *conn) Close() error {
	c.of.forget(c)
	return c.Conn.Close()
}

// connKey is the key of a request's [conn] in its context.
type connKey struct{}

// admission is whether a connection has been admitted. The handlers of one connection run one after the other.
type admission struct {
	conn     *conn
	admitted bool
}

// NewServer returns a server of h for the connections of a [Listener], with limits on what a connection may hold. The
// header of a request may have maxHeader bytes.
func NewServer(h http.Handler, maxHeader int) *http.Server {
	return &http.Server{
		Handler:           handler{h},
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			if c, ok := c.(*conn); ok {
				return context.WithValue(ctx, connKey{}, &admission{conn: c})
			}
			return ctx
		},
	}
}

// Admit keeps the connection of a request that has shown its token or cookie. Call it before the response begins.
func Admit(w http.ResponseWriter, r *http.Request) {
	w.Header().Del("Connection")
	if a, ok := r.Context().Value(connKey{}).(*admission); ok && !a.admitted {
		a.admitted = true
		a.conn.of.forget(a.conn)
	}
}

// handler bounds the bodies of requests, and has a response to a stranger end the connection.
type handler struct{ http.Handler }

// ServeHTTP implements [http.Handler].
func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if a, ok := r.Context().Value(connKey{}).(*admission); ok && !a.admitted {
		w.Header().Set("Connection", "close")
	}
	if r.ContentLength != 0 {
		body := &timedBody{ReadCloser: r.Body, control: http.NewResponseController(w)}
		body.extend(bodyTimeout)
		r.Body = body
	}
	h.Handler.ServeHTTP(w, r)
}

// timedBody is a body from which something has to come within bodyTimeout. Its end has no time limit: the connection is
// read on to see whether the other side leaves.
type timedBody struct {
	io.ReadCloser
	control *http.ResponseController
}

// Read implements [io.Reader].
func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	switch {
	case err == nil:
		b.extend(bodyTimeout)
	case errors.Is(err, io.EOF):
		b.extend(0)
	}
	return n, err
}

// extend sets a new limit, or none for 0.
func (b *timedBody) extend(limit time.Duration) {
	until := time.Time{}
	if limit > 0 {
		until = time.Now().Add(limit)
	}
	_ = b.control.SetReadDeadline(until) // a connection without deadlines, as of a test, has no limit
}
