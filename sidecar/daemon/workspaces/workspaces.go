// Package workspaces holds the open workspaces of a process, one for each data folder.
//
// A [Set] may be used from any goroutine. It opens a workspace for the first front end that names its data folder. It
// closes the workspace when no front end has been attached for a while and no work is under way. A workspace that only
// transient front ends used is closed as soon as the last front end leaves and no work is under way; a temporary one is
// closed even if work is under way. [Set.Close] returns when all workspaces are closed. The package knows neither how
// front ends connect nor their messages.
package workspaces

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"assent/sidecar/base/leftover"
	"assent/sidecar/base/realpath"
	"assent/sidecar/base/secret"
	"assent/sidecar/base/tap"
	"assent/sidecar/broker/askfirst"
	"assent/sidecar/gateway/agents"
	"assent/sidecar/gateway/hosts"
	"assent/sidecar/wire/apps"
	"assent/sidecar/workspace"
)

// DefaultIdleTime is how long a workspace stays open without front ends.
const DefaultIdleTime = 10 * time.Minute

// Options configure a [Set].
type Options struct {
	// Version is the program's version.
	Version string
	// RunsDir is that of [workspace.SharedDirs] of every workspace.
	RunsDir string
	// UserFile is that of [workspace.Options] for a [Place] without one.
	UserFile string
	// Secret returns a secret that is kept beside a person's own mcp.json; see [workspace.Options].
	Secret func(userFile, name string) (string, error)
	// Apps is [workspace.Options.Apps] of every workspace.
	Apps *apps.Server
	// IdleTime is how long a workspace stays open without a front end and without work under way.
	IdleTime time.Duration
	// Log gets the log lines, as JSON. The secrets of a workspace are masked in its lines.
	Log io.Writer
	// Tap gets a transcript of every connection, with secrets masked; see package tap. It may be
	// nil.
	Tap io.Writer
	// AskFirst is [workspace.Person.AskFirst].
	AskFirst *askfirst.Rules
	// Unwatched is that of [workspace.SharedDirs].
	Unwatched bool
	// Notify is [workspace.Person.Notify].
	Notify func(text string) error
}

// Place identifies the workspace of a front end.
type Place struct {
	// DataDir is the absolute path of the data folder. Symbolic links to a folder lead to the same workspace.
	DataDir string `json:"dataDir"`
	// LoginsDir is as in [workspace.SharedDirs], Environ and Folder as in [workspace.Options]. The front end that opens the
	// workspace determines them. A nil Environ means the daemon's own, or that of the open workspace.
	LoginsDir string   `json:"loginsDir,omitempty"`
	Environ   []string `json:"environ,omitempty"`
	Folder    string   `json:"folder,omitempty"`
	// UserFile is the person's own mcp.json, as in [workspace.Options]. The front end says where it is, because the daemon may
	// have been started in another environment.
	UserFile string `json:"userFile,omitempty"`
	// Temporary: the data folder is removed when the last front end has left. It must be empty, and its name must
	// match [leftover.TemporaryPattern]. The front end that opens the workspace determines it.
	Temporary bool `json:"temporary,omitempty"`
	// DecisionsDir is as in [workspace.SharedDirs].
	DecisionsDir string `json:"decisionsDir,omitempty"`
	// LogLevel is the lowest level that is logged.
	LogLevel zerolog.Level `json:"logLevel"`
}

// Set holds all open workspaces.
type Set struct {
	opts Options

	person  workspace.Person
	closing sync.WaitGroup // the goroutines that close workspaces
	asking  sync.WaitGroup // the goroutines that ask them for open work

	mu     sync.Mutex // guards the fields below
	open   map[string]*entry
	closed bool
}

// entry is an open workspace, or one that is being opened. The set's lock guards its fields.
type entry struct {
	// Workspace is set when opened is closed. It stays nil if opening it failed.
	*workspace.Workspace
	opened chan struct{}
	place  Place // its folders are resolved
	users  int
	// rests counts how often the last user has left. Only the idle timer of the present rest has
	// an effect.
	rests int
	idle  *time.Timer // runs while there are no users
	// gone is closed when the workspace is closed. It is nil before the closing begins.
	gone chan struct{}
	// asked holds a value while the workspace is asked for open work.
	asked chan struct{}
}

// errClosed is the error for a front end that is no longer served.
var errClosed = errors.New("the daemon is leaving")

// New returns a set without workspaces.
func New(opts Options) *Set {
	if opts.IdleTime == 0 {
		opts.IdleTime = DefaultIdleTime
	}
	s := &Set{opts: opts, person: workspace.Person{Timeout: workspace.DefaultTimeout, Notify: opts.Notify, AskFirst: opts.AskFirst}, open: map[string]*entry{}}
	if opts.AskFirst != nil {
		opts.AskFirst.Listen(s.person.AskFirstChanged)
	}
	return s
}

// Attach serves a front end over conn until conn or ctx ends. If the workspace then closes at once, Attach waits for
// that. See [workspace.Workspace.Attach].
func (s *Set) Attach(ctx context.Context, place Place, conn io.ReadWriter) error {
	w, err := s.take(ctx, place)
	if err != nil {
		return err
	}
	defer s.leave(w)
	return w.Attach(ctx, conn, conn)
}

// AttachHost serves a host over conn, as Attach serves a front end. See [workspace.Workspace.AttachHost].
func (s *Set) AttachHost(ctx context.Context, place Place, conn io.ReadWriteCloser, u hosts.Use) error {
	w, err := s.take(ctx, place)
	if err != nil {
		return err
	}
	defer s.leave(w)
	u.Environ = place.Environ
	return w.AttachHost(ctx, conn, u)
}

// AttachAgent serves a hook of an agent's host over conn, which closes with it. See [workspace.Workspace.AttachAgent].
// If no front end shows the person each question, the host's own prompt is enough. A workspace that is not open has
// asked nothing.
func (s *Set) AttachAgent(ctx context.Context, place Place, conn io.ReadWriteCloser, folder string, e *agents.Event) error {
	if use := e.Use(folder); use != nil {
		if s.opts.AskFirst != nil {
			s.opts.AskFirst.Count(use, e.Host())
		}
		return conn.Close()
	}
	if e.Asks() && !s.person.Attended() || !e.Asks() && !s.isOpen(place) {
		return conn.Close()
	}
	if s.opts.AskFirst != nil {
		e.Explain(folder, s.opts.AskFirst.Why)
	}
	w, err := s.take(ctx, place)
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	defer s.leave(w)
	return w.AttachAgent(ctx, conn, folder, e)
}

func (s *Set) isOpen(place Place) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[realpath.Of(place.DataDir)] != nil
}

// ServeHost serves an HTTP request of a host. See [workspace.Workspace.ServeHost].
func (s *Set) ServeHost(rw http.ResponseWriter, r *http.Request, place Place, credential string, u hosts.Use) {
	w, err := s.take(r.Context(), place)
	if err != nil {
		http.Error(rw, err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer s.leave(w)
	w.ServeHost(rw, r, credential, u)
}

// EndHost ends the sessions over HTTP of a host that has lost its credential.
func (s *Set) EndHost(credential string) {
	s.mu.Lock()
	var open []*workspace.Workspace
	for _, w := range s.open {
		if w.Workspace != nil && w.gone == nil {
			open = append(open, w.Workspace)
		}
	}
	s.mu.Unlock()
	for _, w := range open {
		w.EndHost(credential)
	}
}

// take returns the workspace of a data folder, and opens it if necessary. It waits for one that is being opened or
// closed. Callers for other folders do not wait.
func (s *Set) take(ctx context.Context, place Place) (*entry, error) {
	if !filepath.IsAbs(place.DataDir) {
		return nil, fmt.Errorf("the data folder %q is not an absolute path", place.DataDir)
	}
	place.DataDir = realpath.Of(place.DataDir)
	if place.LoginsDir != "" {
		place.LoginsDir = realpath.Of(place.LoginsDir)
	}
	for renewed := false; ; {
		s.mu.Lock()
		w := s.open[place.DataDir]
		switch {
		case s.closed:
			s.mu.Unlock()
			return nil, errClosed
		case w == nil:
			w = &entry{opened: make(chan struct{}), place: place, users: 1, asked: make(chan struct{}, 1)}
			s.open[place.DataDir] = w
			s.mu.Unlock()
			if err := s.begin(w); err != nil {
				return nil, err
			}
			return w, nil
		case w.gone != nil:
			s.mu.Unlock()
			if err := await(ctx, w.gone); err != nil {
				return nil, err
			}
			continue
		case !renewed && w.users == 0 && w.Workspace != nil && w.place.isOutdated(place):
			rest := w.rests
			s.mu.Unlock()
			s.rested(w, rest)
			renewed = true // or work is under way, which is more important
			continue
		}
		w.stopTimer()
		w.users++
		s.mu.Unlock()
		err := await(ctx, w.opened)
		if err == nil && w.Workspace != nil {
			return w, nil
		}
		s.leave(w)
		if err != nil {
			return nil, err
		}
	}
}

// isOutdated reports whether next differs from the place that opened the workspace: in its environment, such as a new
// PATH, or in the path of the person's own mcp.json. Servers should start with the new ones.
func (p Place) isOutdated(next Place) bool {
	return next.UserFile != "" && p.UserFile != next.UserFile || next.Environ != nil && !slices.Equal(lasting(p.Environ), lasting(next.Environ))
}

// lasting returns the variables of an environment that stay the same when a window is reopened.
func lasting(environ []string) []string {
	kept := slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return strings.HasPrefix(name, "VSCODE_") || strings.HasPrefix(name, "ELECTRON_") || strings.HasPrefix(name, "XDG_ACTIVATION_") ||
			slices.Contains([]string{"_", "SHLVL", "PWD", "OLDPWD", "DESKTOP_STARTUP_ID"}, name)
	})
	slices.Sort(kept)
	return kept
}

func await(ctx context.Context, event <-chan struct{}) error {
	select {
	case <-event:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// begin opens a workspace. If that fails or panics, the waiting callers try again.
func (s *Set) begin(w *entry) error {
	var opened *workspace.Workspace
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if w.Workspace = opened; opened == nil {
			delete(s.open, w.place.DataDir)
		}
		close(w.opened)
	}()
	if w.place.Temporary {
		if err := checkTemporary(w.place.DataDir); err != nil {
			return err
		}
	}
	opened = s.openWorkspace(w.place)
	return nil
}

// checkTemporary fails for a folder that may contain other files, because it will be removed.
func checkTemporary(dir string) error {
	if named, err := filepath.Match(leftover.TemporaryPattern, filepath.Base(dir)); err != nil || !named {
		return fmt.Errorf("%s has not the name of a temporary folder", dir)
	}
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("%s is not empty, so it is not a temporary folder", dir)
	}
	return err
}

// Name returns the value of "workspace" in each log line of the workspace.
func (p Place) Name() string { return realpath.Of(p.DataDir) }

func (s *Set) openWorkspace(place Place) *workspace.Workspace {
	masker := secret.NewMasker()
	log := zerolog.New(masker.Writer(s.opts.Log)).Level(place.LogLevel).With().Timestamp().Str("workspace", place.DataDir).Logger()
	userFile := cmp.Or(place.UserFile, s.opts.UserFile)
	opts := workspace.Options{
		Version: s.opts.Version, DataDir: place.DataDir, Temporary: place.Temporary,
		SharedDirs: workspace.SharedDirs{RunsDir: s.opts.RunsDir, DecisionsDir: place.DecisionsDir, LoginsDir: place.LoginsDir, Unwatched: s.opts.Unwatched},
		UserFile:   userFile, Environ: place.Environ, Folder: place.Folder,
		Log: log, Masker: masker, Person: &s.person, Apps: s.opts.Apps,
	}
	if s.opts.Secret != nil {
		opts.Secret = func(name string) (string, error) { return s.opts.Secret(userFile, name) }
	}
	if s.opts.Tap != nil {
		opts.Tap = tap.New(s.opts.Tap, masker)
	}
	return workspace.Open(opts)
}

// leave records that a front end has detached. If that closes the workspace, leave waits.
func (s *Set) leave(w *entry) {
	s.mu.Lock()
	w.users--
	if w.users > 0 || w.Workspace == nil || s.closed {
		s.mu.Unlock()
		return
	}
	s.rest(w)
	rest := w.rests
	s.mu.Unlock()
	if w.Lasting() && !w.place.Temporary {
		return
	}
	s.rested(w, rest)
	s.mu.Lock()
	gone := w.gone
	s.mu.Unlock()
	if gone != nil {
		<-gone
	}
}

// rest closes a workspace after the idle time. The lock must be held.
func (s *Set) rest(w *entry) {
	w.stopTimer()
	w.rests++
	rest := w.rests
	w.idle = time.AfterFunc(s.opts.IdleTime, func() { s.rested(w, rest) })
}

// stopTimer stops the idle timer. The set's lock must be held.
func (w *entry) stopTimer() {
	if w.idle != nil {
		w.idle.Stop()
	}
}

// rested closes a workspace at the end of a rest, unless it was used since, work is under way in it, or a host has a session.
func (s *Set) rested(w *entry, rest int) {
	// Without the lock: a task that waits for its disk is locked, and other workspaces must not wait for it.
	over := w.place.Temporary || w.Busy() == "" && !w.Shown() && !w.HasSessions()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed || w.users > 0 || w.gone != nil || w.rests != rest:
	case over:
		s.end(w)
	default:
		s.rest(w)
	}
}

// end starts to close a workspace. The lock must be held.
func (s *Set) end(w *entry) {
	w.stopTimer()
	w.gone = make(chan struct{})
	s.closing.Go(func() {
		w.Close()
		if w.place.Temporary {
			if err := os.RemoveAll(w.place.DataDir); err != nil {
				log := zerolog.New(s.opts.Log).With().Timestamp().Str("workspace", w.place.DataDir).Logger()
				log.Warn().Err(err).Msg("a temporary folder stays")
			}
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.open, w.place.DataDir)
		close(w.gone)
	})
}

// Busy names the work that would be lost if the process ended, or returns "". It also names workspaces that do not
// answer.
func (s *Set) Busy() string {
	var all []*entry
	s.mu.Lock()
	for _, w := range s.open {
		if w.gone == nil && w.Workspace != nil {
			all = append(all, w)
		}
	}
	s.mu.Unlock()
	slices.SortFunc(all, func(a, b *entry) int { return strings.Compare(a.place.DataDir, b.place.DataDir) })
	ctx, cancel := context.WithTimeout(context.Background(), s.person.Timeout)
	defer cancel()
	answers := make([]<-chan string, len(all))
	for i, w := range all { // without the lock, as in rested
		answers[i] = s.ask(ctx, w)
	}
	var busy string
	var what []string
	for i, w := range all {
		select {
		case said := <-answers[i]:
			busy = cmp.Or(busy, said)
		case <-ctx.Done():
			what = append(what, fmt.Sprintf("the workspace %q does not answer", cmp.Or(w.Label(), w.place.DataDir)))
		}
	}
	if busy = cmp.Or(busy, s.person.Busy()); busy != "" {
		what = slices.Insert(what, 0, busy)
	}
	return strings.Join(what, ", ")
}

// ask asks a workspace for open work. At most one goroutine waits for a workspace that hangs; the others give up with
// ctx.
func (s *Set) ask(ctx context.Context, w *entry) <-chan string {
	answer := make(chan string, 1)
	s.asking.Go(func() {
		select {
		case w.asked <- struct{}{}:
			answer <- w.Busy()
			<-w.asked
		case <-ctx.Done():
		}
	})
	return answer
}

// LongestClose is how long a process with workspaces may take to end.
const LongestClose = workspace.LongestClose

// WaitsFor names what Close waits for, or returns "".
func (s *Set) WaitsFor() string {
	s.mu.Lock()
	var closing []*workspace.Workspace
	for _, w := range s.open {
		if w.gone != nil && w.Workspace != nil {
			closing = append(closing, w.Workspace)
		}
	}
	s.mu.Unlock()
	var what []string
	for _, w := range closing {
		for _, name := range w.Ending() {
			what = append(what, fmt.Sprintf("the MCP server %q", name))
		}
	}
	slices.Sort(what)
	return strings.Join(slices.Compact(what), ", ")
}

// Close closes all workspaces. Their front ends must have detached. Attach fails from now on.
func (s *Set) Close() {
	s.mu.Lock()
	s.closed = true
	for _, w := range s.open {
		if w.gone == nil {
			s.end(w)
		}
	}
	s.mu.Unlock()
	s.closing.Wait()
	s.asking.Wait()
	s.person.Close()
}
