// Package browser shows the panel in a web browser.
//
// A [Server] serves the panel's page on a port of the loopback interface, and joins each page with a workspace as a front end.
// Who gets through could run tools, so three things are asked of a request: a cookie, which a browser gets for a token that is
// valid once and that other users of the machine do not have; a Host header of ours, which a DNS name that was rebound does not
// send; and for everything but a page's own GET an Origin of ours, which no other website has.
//
// A Server may be used from any goroutine. [Server.Close] returns when all that it started has ended.
package browser

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/rs/zerolog"

	"assent/sidecar/base/loopback"
	"assent/sidecar/wire/apps"
)

const (
	// tokenLife is for how long a token opens a page.
	tokenLife = 5 * time.Minute
	// maxMessage bounds a message of a page, in bytes: more than any answer of a person.
	maxMessage = 16 << 20
	// maxViews bounds the views. The one that was opened first goes.
	maxViews = 100
)

// Options are what a [Server] needs.
type Options struct {
	// Version is the program's own.
	Version string
	// Panel has the compressed files of the panel: main.js.gz, main.css.gz and the files that they
	// load. Its imports.txt names those that main.js imports, one a line.
	Panel fs.FS
	// Attach serves a front end over conn until conn or ctx ends.
	Attach func(ctx context.Context, t Target, conn io.ReadWriter) error
	// Permit returns why the panel may not be shown in a browser; nil permits it.
	Permit func() error
	// Apps serves the frames of MCP Apps, which the pages may show; nil if there are none.
	Apps *apps.Server
	Log  zerolog.Logger
}

// Server serves the panel to browsers.
type Server struct {
	opts     Options
	ctx      context.Context // ends with Close
	end      context.CancelFunc
	work     sync.WaitGroup // the goroutine that accepts, and the pages
	examples *examples

	mu    sync.Mutex // guards the fields below
	http  *http.Server
	port  int
	views []*view
	pages int // that are open
}

// New returns a server that does not listen before the first [Server.Open].
func New(opts Options) *Server {
	ctx, end := context.WithCancel(context.Background())
	return &Server{opts: opts, ctx: ctx, end: end, examples: &examples{added: map[string]bool{}}}
}

// Open returns the address of a page for a target. It opens the page once, in one browser, within five minutes.
func (s *Server) Open(t Target) (address string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return "", errors.New("the daemon is leaving")
	}
	if err := s.permit(); err != nil {
		return "", err
	}
	if s.http == nil {
		if err := s.listenLocked(); err != nil {
			return "", err
		}
	}
	v := &view{
		target: t, version: s.opts.Version, examples: s.examples,
		name: rand.Text(), cookie: rand.Text(), token: rand.Text(), until: time.Now().Add(tokenLife),
	}
	if len(s.views) == maxViews {
		s.views = s.views[1:]
	}
	s.views = append(s.views, v)
	return fmt.Sprintf("http://127.0.0.1:%d/%s/open?token=%s", s.port, v.name, v.token), nil
}

// permit is [Options.Permit].
func (s *Server) permit() error {
	if s.opts.Permit == nil {
		return nil
	}
	if err := s.opts.Permit(); err != nil {
		return fmt.Errorf("the panel cannot be shown in a browser: %w", err)
	}
	return nil
}

func (s *Server) listenLocked() error {
	listener, err := loopback.Listen(s.ctx, 0, s.opts.Log)
	if err != nil {
		return err
	}
	s.port = listener.Port()
	s.http = loopback.NewServer(s, 32<<10)
	s.work.Go(func() {
		if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.opts.Log.Error().Err(err).Msg("the browser's pages are no longer served")
		}
	})
	return nil
}

// Busy returns what would be lost if the process ended, or an empty text.
func (s *Server) Busy() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pages == 0 {
		return ""
	}
	return "a page is open in a browser"
}

// Close ends all pages. No page is opened from now on.
func (s *Server) Close() {
	s.mu.Lock()
	s.end()
	server := s.http
	s.mu.Unlock()
	if server != nil {
		_ = server.Close() // the listener's error changes nothing
	}
	s.work.Wait()
}

// enter notes that a page is open, unless the server is closed.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return false
	}
	s.pages++
	s.work.Add(1)
	return true
}

func (s *Server) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages--
	s.work.Done()
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Cross-Origin-Resource-Policy", "same-origin")
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	name, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	v := s.view(name)
	forbidden := s.permit()
	switch {
	case forbidden != nil:
		http.Error(w, forbidden.Error(), http.StatusForbidden)
	case !s.isOurs(r):
		http.Error(w, "This address is not Assent's.", http.StatusForbidden)
	case r.Method != http.MethodGet:
		w.Header().Set("Allow", "GET")
		http.Error(w, "There is only GET.", http.StatusMethodNotAllowed)
	case v != nil && rest == "open" && s.redeem(v, r.URL.Query().Get("token")):
		http.SetCookie(w, &http.Cookie{Name: cookieName, Value: v.cookie, Path: "/" + v.name + "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
		loopback.Admit(w, r)
		http.Redirect(w, r, "/"+v.name+"/", http.StatusSeeOther)
	case v == nil || !v.admits(r):
		http.Error(w, `This address is no longer valid. Run "assent open" for a new one.`, http.StatusForbidden)
	default:
		loopback.Admit(w, r)
		s.serve(w, r, v, rest)
	}
}

// serve answers a request that has shown its view's cookie.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, v *view, rest string) {
	switch rest {
	case "":
		s.page(w)
	case "bridge":
		s.bridge(w, r, v)
	default:
		s.asset(w, r, rest)
	}
}

// cookieName is the name of the cookie. Its path has the name of the view, so that no server on another port gets it.
const cookieName = "assent"

// isOurs reports whether a request has our Host and, if it has one, our Origin. A browser sends no Origin with a page's own GET,
// and always sends one with a WebSocket; see bridge.
func (s *Server) isOurs(r *http.Request) bool {
	s.mu.Lock()
	host := fmt.Sprintf("127.0.0.1:%d", s.port)
	s.mu.Unlock()
	origin, hasOrigin := r.Header["Origin"]
	return r.Host == host && (!hasOrigin || len(origin) == 1 && origin[0] == "http://"+host)
}

func (s *Server) view(name string) *view {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range s.views {
		if v.name == name {
			return v
		}
	}
	return nil
}

// redeem reports whether a token opens a view. It does so once.
func (s *Server) redeem(v *view, token string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v.token == "" || time.Now().After(v.until) || subtle.ConstantTimeCompare([]byte(token), []byte(v.token)) == 0 {
		return false
	}
	v.token = ""
	return true
}

// page sends the panel's page. The panel's scripts need no nonce, since this origin serves nothing but the panel's own files.
// With a nonce, which is another one for each load, the browser would compile all of them again. The nonce of the empty script
// is for the frame that draws diagrams: drawImage.ts.
func (s *Server) page(w http.ResponseWriter) {
	if _, err := fs.Stat(s.opts.Panel, "main.js.gz"); err != nil {
		http.Error(w, "This build of Assent has no panel. Build it with npm run build.", http.StatusNotFound)
		return
	}
	frames := "'none'"
	if s.opts.Apps != nil {
		origin, err := s.opts.Apps.Origin()
		if err != nil {
			s.opts.Log.Error().Err(err).Msg("apps cannot be shown")
		} else {
			frames = origin
		}
	}
	nonce := rand.Text()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", strings.Join([]string{
		"default-src 'none'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
		"script-src 'self' 'nonce-" + nonce + "'", "style-src 'self'", "font-src 'self'", "img-src 'self' data:", "media-src data:", "connect-src 'self'", "frame-src " + frames,
	}, "; "))
	_, _ = fmt.Fprintf(w, `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Assent</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="main.css">
%s</head>
<body data-host="browser">
<div id="root"></div>
<script type="application/json" nonce="%s"></script>
<script type="module" src="main.js"></script>
</body>
</html>
`, s.preloads(), nonce) // an error means that the browser has gone
}

// preloads returns links to what main.js imports. The browser fetches it together with main.js, and not after it has read that.
func (s *Server) preloads() string {
	names, err := fs.ReadFile(s.opts.Panel, "imports.txt")
	if err != nil {
		return "" // the page is only slower
	}
	var links strings.Builder
	for name := range strings.Lines(string(names)) {
		fmt.Fprintf(&links, "<link rel=\"modulepreload\" href=\"%s\">\n", strings.TrimSpace(name))
	}
	return links.String()
}

// contentTypes are those of the panel's files, by their extension. What the system says of them may differ.
var contentTypes = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".ttf": "font/ttf",
}

// asset sends a file of the panel. All browsers unpack gzip.
func (s *Server) asset(w http.ResponseWriter, r *http.Request, name string) {
	contentType := contentTypes[path.Ext(name)]
	content, err := fs.ReadFile(s.opts.Panel, name+".gz") // an error also for a name that climbs
	if contentType == "" || err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Encoding", "gzip")
	_, _ = w.Write(content) // an error means that the browser has gone
}

// bridge joins a page with its workspace until one of them ends.
func (s *Server) bridge(w http.ResponseWriter, r *http.Request, v *view) {
	if r.Header.Get("Origin") == "" {
		http.Error(w, "A WebSocket names its origin.", http.StatusForbidden)
		return
	}
	if !s.enter() {
		http.Error(w, "Assent is ending.", http.StatusServiceUnavailable)
		return
	}
	defer s.leave()
	page, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // it has answered
	}
	page.SetReadLimit(maxMessage)
	ours, theirs := net.Pipe()
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	var attached sync.WaitGroup
	attached.Go(func() {
		if err := s.opts.Attach(ctx, v.target, theirs); err != nil {
			s.opts.Log.Debug().Err(err).Msg("a page has left its workspace")
		}
		_ = theirs.Close() // it never fails
	})
	b := &bridge{view: v, page: page, workspace: ours}
	s.opts.Log.Debug().Err(b.serve(ctx)).Msg("a page has gone")
	cancel()
	attached.Wait()
}
