// Package apps serves the pages of MCP Apps (SEP-1865, version 2026-01-26) to frames of a front end.
//
// What a server wrote runs in two frames. The outer one is a small page of ours that passes messages on; the inner one
// is the app. Both have an opaque origin, so that an app has no storage and reaches nothing of ours. The app's own
// Content-Security-Policy lists the addresses it may load from. That of the outer frame holds the app to its one
// address: it cannot carry data away by going to another page. See docs/security.md.
//
// The package knows no servers, no tasks and no protocol: it reads what a server says of an app ([Tool], [ReadPage]), and
// serves it ([Server]). A Server may be used from any goroutine. [Server.Close] returns when its listener has ended.
package apps

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"

	"github.com/rs/zerolog"

	"assent/sidecar/base/loopback"
)

// maxOpen bounds the apps that are open at once. The one that was opened first goes.
const maxOpen = 32

// Server serves open apps on a port of the loopback interface.
type Server struct {
	log  zerolog.Logger
	work sync.WaitGroup // the goroutine that accepts

	mu     sync.Mutex // guards the fields below
	closed bool
	http   *http.Server
	origin string
	open   []*app // the oldest first
}

// app is an open app.
type app struct {
	id     string
	page   Page
	policy string
	// connections is the value of Connection-Allowlist.
	connections string
	// gone is called when the app makes room for another.
	gone func(id string)
}

// New returns a server that does not listen before it is needed.
func New(log zerolog.Logger) *Server { return &Server{log: log} }

// Origin returns the origin of all frames, such as http://127.0.0.1:40123. The server listens from now on.
func (s *Server) Origin() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listenLocked()
}

// Open serves a page from now on and returns the app's random id and the address of its frame. The app may
// load from the page's domains only if allowed is set. If the app has to make room for another, gone is called once, and must
// not call the server.
func (s *Server) Open(page Page, allowed bool, gone func(id string)) (id, address string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	origin, err := s.listenLocked()
	if err != nil {
		return "", "", err
	}
	domains := page.Domains
	if !allowed {
		domains = Domains{}
	}
	a := &app{id: rand.Text(), page: page, policy: policyOf(domains), connections: connectionsOf(domains), gone: gone}
	if len(s.open) == maxOpen {
		s.open[0].gone(s.open[0].id)
		s.open = s.open[1:]
	}
	s.open = append(s.open, a)
	return a.id, origin + framePath + a.id, nil
}

// Shut ends an app. Shutting it again does nothing.
func (s *Server) Shut(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, a := range s.open {
		if a.id == id {
			s.open = append(s.open[:i:i], s.open[i+1:]...)
			return
		}
	}
}

// Close ends all apps. None is opened from now on.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed, s.open = true, nil
	server := s.http
	s.mu.Unlock()
	if server != nil {
		_ = server.Close() // the listener's error changes nothing
	}
	s.work.Wait()
}

func (s *Server) listenLocked() (string, error) {
	if s.closed {
		return "", errors.New("the daemon is leaving")
	}
	if s.http != nil {
		return s.origin, nil
	}
	listener, err := loopback.Listen(context.Background(), 0, s.log)
	if err != nil {
		return "", fmt.Errorf("listen for the frames of apps: %w", err)
	}
	s.origin = "http://" + listener.Addr().String()
	s.http = loopback.NewServer(s, 16<<10)
	serving := s.http
	s.work.Go(func() {
		if err := serving.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.log.Error().Err(err).Msg("the frames of apps are no longer served")
		}
	})
	return s.origin, nil
}

const (
	framePath = "/frame/"
	appPath   = "/app/"
)

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setHeaders(w.Header())
	switch {
	case !isLoopback(r.Host):
		http.Error(w, "This address is not Assent's.", http.StatusForbidden)
		return
	case r.Method != http.MethodGet:
		w.Header().Set("Allow", "GET")
		http.Error(w, "There is only GET.", http.StatusMethodNotAllowed)
		return
	}
	outer, isOuter := strings.CutPrefix(r.URL.Path, framePath)
	inner, isInner := strings.CutPrefix(r.URL.Path, appPath)
	a := s.find(outer)
	if isInner {
		a = s.find(inner)
	}
	switch {
	case a != nil && isOuter:
		loopback.Admit(w, r)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", outerPolicy(r.Host, outer))
		_, _ = w.Write(outerPage) // an error means that the browser has gone
	case a != nil && isInner:
		loopback.Admit(w, r)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", a.policy)
		w.Header().Set("Connection-Allowlist", a.connections)
		_, _ = w.Write(a.page.HTML)
	default:
		http.NotFound(w, r)
	}
}

func (s *Server) find(id string) *app {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.open {
		if a.id == id {
			return a
		}
	}
	return nil
}

// isLoopback reports whether a Host header names this machine. A DNS name that was rebound to it does not. The port may be
// another one: VS Code forwards one of its own to a remote machine.
func isLoopback(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	return name == "127.0.0.1" || name == "localhost"
}
