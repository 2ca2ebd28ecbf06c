// Package httphosts offers the gateway over Streamable HTTP, on a port of the loopback interface.
//
// Each host has a token of its own, and is known by it. The tokens' hashes, the port and what each host uses are kept in a file,
// so that a host finds its address again. A request has to show a token and a Host header of ours. One with an Origin comes from
// a web page and is refused, unless the page is our own.
//
// A [Server] may be used from any goroutine. [Server.Close] returns when all requests have ended. The package does not know
// MCP.
package httphosts

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/rs/zerolog"

	"assent/sidecar/base/atomicfile"
	"assent/sidecar/base/loopback"
)

// path is where the gateway is.
const path = "/mcp"

// Host is a program that may use the gateway.
type Host struct {
	// Name is the person's.
	Name string `json:"name"`
	// Uses names the servers and the workspace. The package does not read it.
	Uses json.RawMessage `json:"uses"`
	// TokenHash is the SHA-256 of its token, in hexadecimal digits.
	TokenHash string `json:"tokenHash"`
}

// Options are what a [Server] needs.
type Options struct {
	// File keeps the hosts. Its folder must be private.
	File string
	// Serve serves a request of a host that has shown its token.
	Serve func(w http.ResponseWriter, r *http.Request, h Host)
	// Removed is called when a host's token was taken back, and its requests were told to end. Nil is not called.
	Removed func(h Host)
	Log     zerolog.Logger
}

// kept is the content of the file.
type kept struct {
	Port  int    `json:"port"`
	Hosts []Host `json:"hosts"`
}

// Server serves hosts over HTTP.
type Server struct {
	opts Options
	work sync.WaitGroup // the goroutine that accepts, and the requests

	mu       sync.Mutex // guards the fields below
	unread   error      // why the file cannot be read; then it is not replaced
	kept     kept
	http     *http.Server // nil before the first host
	isClosed bool
	// lives end when hosts are removed, by the hashes of their tokens.
	lives map[string]life
}

// life is the time for which a host has its token.
type life struct {
	ctx context.Context
	end context.CancelFunc
}

// New returns a server that does not listen before Begin.
func New(opts Options) *Server { return &Server{opts: opts, lives: map[string]life{}} }

// Begin serves the hosts that the file has. If it cannot, it logs why, and Add tries again. Only one process may begin: the
// others would take its port.
func (s *Server) Begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unread = s.readLocked()
	err := s.unread
	if err == nil && len(s.kept.Hosts) > 0 {
		err = s.listenLocked()
	}
	if err != nil {
		s.opts.Log.Error().Err(err).Msg("hosts are not served over HTTP")
	}
}

func (s *Server) readLocked() error {
	text, err := os.ReadFile(s.opts.File)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &s.kept); err != nil {
		return fmt.Errorf("%s cannot be read, delete it and add the hosts again: %w", s.opts.File, err)
	}
	return nil
}

// writeLocked replaces the file.
func (s *Server) writeLocked(k kept) error {
	text, err := json.MarshalIndent(k, "", "  ")
	if err != nil {
		return err
	}
	if err := atomicfile.Write(s.opts.File, append(text, '\n')); err != nil {
		return err
	}
	s.kept = k
	return nil
}

func (s *Server) listenLocked() error {
	listener, err := loopback.Listen(context.Background(), s.kept.Port, s.opts.Log)
	if err != nil {
		return err
	}
	s.kept.Port = listener.Port()
	s.http = loopback.NewServer(s, 32<<10)
	server := s.http
	s.work.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.opts.Log.Error().Err(err).Msg("hosts are no longer served over HTTP")
		}
	})
	return nil
}

// Add lets a host use the gateway. The token is returned this once. An error says if the name is taken.
func (s *Server) Add(name string, uses json.RawMessage) (address, token string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.isClosed:
		return "", "", errors.New("the daemon is leaving")
	case s.unread != nil:
		return "", "", s.unread
	case strings.TrimSpace(name) == "":
		return "", "", errors.New("a host has a name")
	case slices.ContainsFunc(s.kept.Hosts, func(h Host) bool { return h.Name == name }):
		return "", "", fmt.Errorf("there is a host %q already. Remove it first", name)
	}
	if s.http == nil {
		if err := s.listenLocked(); err != nil {
			return "", "", err
		}
	}
	token = rand.Text()
	next := kept{s.kept.Port, append(slices.Clone(s.kept.Hosts), Host{name, uses, hash(token)})}
	if err := s.writeLocked(next); err != nil {
		return "", "", err
	}
	return fmt.Sprintf("http://127.0.0.1:%d%s", s.kept.Port, path), token, nil
}

// Hosts returns the hosts.
func (s *Server) Hosts() []Host {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.kept.Hosts)
}

// Remove takes a host's token back, and reports whether there was one. The host's requests end.
func (s *Server) Remove(name string) (removed bool, err error) {
	h, err := s.remove(name)
	if h == nil || err != nil {
		return false, err
	}
	if s.opts.Removed != nil {
		s.opts.Removed(*h)
	}
	return true, nil
}

// remove takes a host out, and has its requests end. It is nil if there is none.
func (s *Server) remove(name string) (*Host, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.IndexFunc(s.kept.Hosts, func(h Host) bool { return h.Name == name })
	if at < 0 {
		return nil, s.unread
	}
	h := s.kept.Hosts[at]
	if err := s.writeLocked(kept{s.kept.Port, slices.Delete(slices.Clone(s.kept.Hosts), at, at+1)}); err != nil {
		return nil, err
	}
	if life, ok := s.lives[h.TokenHash]; ok {
		life.end()
		delete(s.lives, h.TokenHash)
	}
	return &h, nil
}

// Close ends all requests. No host is added from now on.
func (s *Server) Close() {
	s.mu.Lock()
	s.isClosed = true
	server := s.http
	s.mu.Unlock()
	if server != nil {
		_ = server.Close() // the listener's error changes nothing
	}
	s.work.Wait()
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.enter() {
		http.Error(w, "Assent is ending.", http.StatusServiceUnavailable)
		return
	}
	defer s.work.Done()
	switch h, life, known := s.host(r); {
	case !s.isOurs(r):
		http.Error(w, "This address is not Assent's.", http.StatusForbidden)
	case strings.TrimSuffix(r.URL.Path, "/") != path:
		http.NotFound(w, r)
	case !known:
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, `The token is missing or wrong. Run "assent hosts add NAME" for one.`, http.StatusUnauthorized)
	default:
		loopback.Admit(w, r)
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(life, cancel)()
		s.opts.Serve(w, r.WithContext(ctx), h)
	}
}

// enter notes a request, unless the server is closed.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isClosed {
		return false
	}
	s.work.Add(1)
	return true
}

// isOurs reports whether a request has our Host and no Origin of another page.
func (s *Server) isOurs(r *http.Request) bool {
	s.mu.Lock()
	port := s.kept.Port
	s.mu.Unlock()
	ours := []string{fmt.Sprintf("127.0.0.1:%d", port), fmt.Sprintf("localhost:%d", port)}
	for _, origin := range r.Header.Values("Origin") {
		if !slices.ContainsFunc(ours, func(host string) bool { return origin == "http://"+host }) {
			return false
		}
	}
	return slices.Contains(ours, r.Host)
}

// host returns the host that a request's token belongs to, with a context that ends when the token is taken back.
func (s *Server) host(r *http.Request) (h Host, life context.Context, known bool) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return Host{}, nil, false
	}
	shown := hash(strings.TrimSpace(token))
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.kept.Hosts {
		if subtle.ConstantTimeCompare([]byte(shown), []byte(h.TokenHash)) == 1 {
			return h, s.lifeLocked(h.TokenHash), true
		}
	}
	return Host{}, nil, false
}

func (s *Server) lifeLocked(tokenHash string) context.Context {
	l, ok := s.lives[tokenHash]
	if !ok {
		l.ctx, l.end = context.WithCancel(context.Background())
		s.lives[tokenHash] = l
	}
	return l.ctx
}

func hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
