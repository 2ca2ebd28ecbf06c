package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"

	"github.com/rs/zerolog"
	"golang.org/x/term"

	"assent/protocol"
	"assent/sidecar/base/leftover"
	"assent/sidecar/base/visible"
	"assent/sidecar/config"
	"assent/sidecar/config/orgpolicy"
	"assent/sidecar/daemon"
	"assent/sidecar/daemon/workspaces"
	"assent/sidecar/terminal/answers"
	"assent/sidecar/terminal/attach"
)

// askName is this front end's name in the journal, and for another front end that answers too late.
const askName = "Assent's terminal"

// session is one run: a front end of a workspace, and an answerer of asks.
type session struct {
	o       Options
	line    *commandLine
	stdout  stdout
	stderr  stderr
	sidecar *attach.Sidecar
	answering
	recorder *recorder // nil without a recording
	clean    *cleaner
	// configuredBy is the front end that configured the servers and settings of the workspace. It is empty if those of
	// the command line apply.
	configuredBy string
	// left reports that the person no longer waits, not even for the daemon. Only the goroutine that runs the command
	// uses it.
	left bool

	feed     feed
	inputs   givenInputs
	own      ownTasks
	failures explainedFailures
	refusals refusals
}

// answering is the part of a session that answers asks.
type answering struct {
	answerer answerer        // nil if no one can answer
	person   *personAnswerer // nil unless a person answers
	// completions are the answerer's completions, which replace a model.
	completions []completion
}

// stdout is the output of a command.
type stdout struct {
	isTerminal bool       // then a server's text must not control it
	width      func() int // of the terminal in columns; 0 for no terminal
	paint      paint
	model      *flow // writes a model's text; nil if stdout is no terminal
}

// stderr is the stream of messages that are not output.
type stderr struct {
	width func() int // of the terminal in columns; 0 for no terminal
	paint paint
	mu    sync.Mutex // held while something is written
	model *flow      // writes a model's answer to a server; nil if stderr is no terminal
	// display draws on stderr; nil if stderr cannot be drawn on.
	display  *display
	progress progress
}

// feed holds what the sidecar sends during a run.
type feed struct {
	events *mailbox[any]
	stop   context.CancelFunc
	pump   sync.WaitGroup // handles the events
	asking sync.WaitGroup // the goroutines that answer, one for each open ask
	// failed receives the error that ends the run.
	failed chan error
	// watched receives the events that a command waits for: those of tasks, and pieces of a model's text.
	watched *mailbox[any]
	asks    map[askKey]context.CancelCauseFunc // only the pump uses it
	// followed is the call of the MCP task that the command follows. Only the goroutine that runs the command uses it.
	followed protocol.Call
}

// givenInputs are the values that the person gave in this run.
type givenInputs struct {
	mu     sync.Mutex // guards values, and is held while the person is asked for one
	values map[inputKey]string
}

// ownTasks are the conversations of this run. Other front ends may have other conversations in the same workspace.
type ownTasks struct {
	mu    sync.Mutex // guards tasks
	tasks map[string]bool
}

// explainedFailures are the servers whose failure this run has explained.
type explainedFailures struct {
	mu      sync.Mutex // guards servers
	servers []string
}

// inputKey identifies an input of a server. Another configuration file may use the same id for another input.
type inputKey struct{ source, server, id string }

// askKey identifies the message of an ask or a call.
type askKey struct {
	taskID    string
	messageID int64
}

func newSession(ctx context.Context, line *commandLine, o Options) (_ *session, err error) {
	s := &session{
		o: o, line: line, clean: newCleaner(),
		stdout: stdout{isTerminal: IsTerminal(o.Stdout), width: func() int { return widthOf(o.Stdout) }, paint: paintOf(o.Stdout)},
		stderr: stderr{width: func() int { return widthOf(o.Stderr) }, paint: paintOf(o.Stderr)},
		feed: feed{
			events: newMailbox[any](), failed: make(chan error, 1), watched: newMailbox[any](),
			asks: map[askKey]context.CancelCauseFunc{},
		},
		inputs: givenInputs{values: map[inputKey]string{}}, own: ownTasks{tasks: map[string]bool{}},
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	// This must come before any output to stderr.
	here := IsTerminal(o.Stdin) && IsTerminal(o.Stderr)
	s.draw()
	if s.stdout.isTerminal {
		s.stdout.model = &flow{write: s.write, width: s.stdout.width}
	}
	if s.stderr.width() > 0 {
		s.stderr.model = &flow{width: s.stderr.width, write: func(text string) error {
			_, err := io.WriteString(s.o.Stderr, text)
			return err
		}}
	}
	capabilities := protocol.FrontEndCapabilities{}
	if err := s.meet(here); err != nil {
		return nil, err
	}
	if s.answerer != nil {
		s.completions = s.answerer.completions()
		capabilities = protocol.FrontEndCapabilities{
			Elicitation: true, Sampling: true, Inputs: true, OpenURL: true, LanguageModels: len(s.completions) > 0,
		}
	}
	capabilities.ConfirmServers = s.person != nil
	place, err := s.place()
	if err != nil {
		return nil, err
	}
	ctx, s.feed.stop = context.WithCancel(ctx)
	conn, err := s.connect(ctx, place)
	if err != nil {
		if place.Temporary {
			err = errors.Join(err, os.RemoveAll(place.DataDir))
		}
		return nil, err
	}
	s.sidecar = attach.New(ctx, conn, frontEnd{s}, zerolog.New(visible.JSONWriter(s.o.Stderr)).Level(line.logLevel).With().Timestamp().Logger())
	s.feed.pump.Go(func() { s.take(ctx) })
	result, err := s.sidecar.Initialize(ctx, &protocol.InitializeParams{
		ProtocolVersion: protocol.Version,
		ClientInfo:      protocol.Implementation{Name: askName, Version: o.Version},
		Capabilities:    capabilities,
		Configuration:   line.configuration,
		Transient:       true,
	})
	if err == nil {
		s.configuredBy = result.ConfiguredBy
	} else if s.gone() {
		err = errEnded
	}
	return s, err
}

// place returns the workspace that the command line is for. Without --data-dir, it is a temporary workspace of its own.
func (s *session) place() (workspaces.Place, error) {
	place := workspaces.Place{DataDir: s.line.dataDir, Environ: os.Environ(), Folder: s.o.Folder, UserFile: config.UserFile(), LogLevel: s.line.logLevel}
	if place.DataDir != "" {
		if !filepath.IsAbs(place.DataDir) {
			place.DataDir = filepath.Join(s.o.Folder, place.DataDir)
		}
		return place, nil
	}
	var err error
	if place.DecisionsDir, err = DataFolder(""); err != nil {
		place.DecisionsDir = "" // decisions are forgotten with the conversation
	}
	place.Temporary = true
	if place.DataDir, err = os.MkdirTemp("", leftover.TemporaryPattern); err == nil {
		place.DataDir, err = filepath.Abs(place.DataDir)
	}
	if err != nil {
		return place, fmt.Errorf("cannot create a folder for the conversation: %w: give one with --data-dir, or correct TMPDIR", err)
	}
	return place, nil
}

// connect attaches to the daemon. An interrupt ends that.
func (s *session) connect(ctx context.Context, place workspaces.Place) (conn net.Conn, err error) {
	connected := make(chan struct{})
	go func() {
		defer close(connected)
		conn, err = s.o.Connect(ctx, place, s.line.standalone, s.o.Stderr, func(text string) { s.note("%s", text) })
	}()
	select {
	case <-connected:
	case <-s.o.Interrupts:
		s.feed.stop()
		if <-connected; err == nil {
			err = conn.Close()
		}
		return nil, errors.Join(errInterrupted, err)
	}
	if errors.Is(err, daemon.ErrEnded) {
		err = errEnded
	}
	return conn, err
}

// errEnded is the error of a command during which the daemon ended.
var errEnded = Exit(ExitEnded, errors.New("the daemon has ended in the middle: run the command again"))

// gone reports whether the connection is over.
func (s *session) gone() bool {
	select {
	case <-s.sidecar.Done():
		return true
	default:
		return false
	}
}

// owns records that a conversation belongs to this run.
func (s *session) owns(taskID string) {
	s.own.mu.Lock()
	defer s.own.mu.Unlock()
	s.own.tasks[taskID] = true
}

// isOwn reports whether a conversation belongs to this run.
func (s *session) isOwn(taskID string) bool {
	s.own.mu.Lock()
	defer s.own.mu.Unlock()
	return s.own.tasks[taskID]
}

// newTask starts a conversation.
func (s *session) newTask(ctx context.Context) (*protocol.Task, error) {
	task, err := s.sidecar.CreateTask(ctx, &protocol.CreateTaskParams{})
	if err == nil {
		s.owns(task.ID)
	}
	return task, err
}

// meet chooses the answerer. here reports whether a person is at a terminal.
func (s *session) meet(here bool) error {
	line, review := s.line, protocol.ReviewNever // the author of the file has seen its completions
	var err error
	switch {
	case line.answers != "" || line.replay != "":
		script, err := newScript(s, line)
		if err != nil {
			return err
		}
		s.answerer = script
		if script.file.Has(answers.Review) {
			review = ""
		}
	case line.plain || here:
		s.person = newPersonAnswerer(s)
		s.answerer, review = s.person, ""
	default:
		review = ""
	}
	if review != "" {
		line.configuration.Sampling = &protocol.SamplingSettings{Review: review}
	}
	if line.record != "" {
		if err := s.o.Policy.Forbids(orgpolicy.Recording); err != nil {
			return Exit(ExitFailed, fmt.Errorf("--record: nothing may be recorded. %w", err))
		}
		s.recorder, err = newRecorder(line.record, s.clean)
	}
	return err
}

// keep writes the recording of a run that succeeded or in which only the tool failed. It returns err, joined with an
// error of its own.
func (s *session) keep(err error) error {
	switch {
	case s.recorder == nil:
		return err
	case err == nil || errors.Is(err, errToolFailed):
		return errors.Join(err, s.recorder.save())
	}
	s.note("Nothing was recorded in %s, because the call failed.", s.recorder.file)
	return err
}

// close ends the session, and dismisses its open asks.
func (s *session) close() error {
	var errs []error
	if s.person != nil {
		s.person.restore()
	}
	if s.left {
		s.feed.stop()
	}
	if s.sidecar != nil {
		errs = append(errs, s.sidecar.Close())
	}
	if s.feed.stop != nil {
		s.feed.stop()
	}
	s.feed.pump.Wait()
	s.feed.asking.Wait()
	if s.stderr.display != nil {
		s.stderr.display.show(nil)
	}
	return errors.Join(errs...)
}

// draw sets up the display on stderr, unless stderr is no terminal, cannot move its cursor, or the person wants plain
// lines.
func (s *session) draw() {
	tty, ok := s.o.Stderr.(*os.File)
	if !ok || s.line.plain || !IsTerminal(tty) || os.Getenv("TERM") == "dumb" {
		return
	}
	s.stderr.display = &display{out: tty, width: s.stderr.width}
	s.o.Stderr = s.stderr.display
	if s.stdout.isTerminal { // stdout is assumed to be the same terminal
		s.o.Stdout = &results{s.stderr.display, s.o.Stdout}
	}
}

// interrupt has the effect of a Ctrl-C for which the terminal sends a signal.
func (s *session) interrupt() {
	select {
	case s.o.Interrupts <- os.Interrupt:
	default: // no one receives interrupts, or two are pending already
	}
}

// fail ends the run with an error, unless it is ending already.
func (s *session) fail(err error) {
	select {
	case s.feed.failed <- err:
	default:
	}
}

// IsTerminal reports whether a stream is a terminal's.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// modelSettings returns the settings of an OpenAI-compatible endpoint.
func modelSettings(url, model string) protocol.EndpointSettings {
	settings := protocol.EndpointSettings{Provider: protocol.ProviderOpenAI, BaseURL: url}
	if model != "" {
		settings.Models = []string{model}
	}
	if key := os.Getenv("ASSENT_MODEL_KEY"); key != "" {
		settings.APIKey = &protocol.Secret{Secret: key}
	}
	return settings
}
