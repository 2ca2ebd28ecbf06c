package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/rs/zerolog"
	"golang.org/x/term"

	"assent/protocol"
	"assent/sidecar/leftover"
	"assent/sidecar/secret"
	"assent/sidecar/server"
	"assent/sidecar/terminal/answers"
	"assent/sidecar/terminal/attach"
	"assent/sidecar/visible"
)

// askName signs answers: in the journal, and for a front end that answers too late.
const askName = "Assent's terminal"

// session is one run: a sidecar of its own, and an answerer of asks.
type session struct {
	o    Options
	line *commandLine
	// shown: stdout is a terminal, which a server's text must not control.
	shown bool
	// width returns the width of stdout's terminal in columns, and noteWidth that of stderr's; 0 for no terminal.
	width, noteWidth func() int
	// paint is for stdout, and notePaint for stderr.
	paint, notePaint paint
	sidecar          *attach.Sidecar
	// answerer is nil if nobody can answer.
	answerer answerer
	person   *someone // nil unless a person answers
	// completions are those of the answerer, in place of a model's.
	completions []completion
	recorder    *recorder // nil without a recording
	clean       *cleaner
	// folder is the temporary folder of the store, which is removed at the end; empty for --data-dir.
	folder string

	events *mailbox[any]
	stop   context.CancelFunc
	pump   sync.WaitGroup // takes the events out
	asking sync.WaitGroup // one for each open ask
	// failed brings the error that ends the run.
	failed chan error
	// watched brings the events that a command waits for: those of tasks, and pieces of a model's text.
	watched *mailbox[any]
	asks    map[askKey]context.CancelCauseFunc // of the pump alone

	inputting sync.Mutex // guards inputs, and is held while one is asked for
	inputs    map[inputKey]string

	explaining sync.Mutex // guards explains
	explains   []string   // the servers with an explained failure

	// said writes a model's text to stdout, and sampled one to stderr; nil if that is no terminal.
	said, sampled *flow

	talking sync.Mutex // held while something is written to stderr
	// display is stderr on a terminal that can be drawn on; nil for another stderr.
	display  *display
	progress progress
}

// inputKey names an input of a server. Other configuration files may use the same id.
type inputKey struct{ source, server, id string }

// askKey names an ask's message.
type askKey struct {
	taskID    string
	messageID int64
}

func newSession(ctx context.Context, line *commandLine, o Options) (_ *session, err error) {
	s := &session{
		o: o, line: line, shown: isTerminal(o.Stdout),
		width: func() int { return widthOf(o.Stdout) }, noteWidth: func() int { return widthOf(o.Stderr) },
		paint: paintOf(o.Stdout), notePaint: paintOf(o.Stderr),
		events: newMailbox[any](), failed: make(chan error, 1), watched: newMailbox[any](),
		asks: map[askKey]context.CancelCauseFunc{}, clean: newCleaner(), inputs: map[inputKey]string{},
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	// Before anything else is written there.
	here := isTerminal(o.Stdin) && isTerminal(o.Stderr)
	s.draw()
	if s.shown {
		s.said = &flow{write: s.write, width: s.width}
	}
	if s.noteWidth() > 0 {
		s.sampled = &flow{width: s.noteWidth, write: func(text string) error {
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
	dataDir, decisionsDir := line.dataDir, ""
	if dataDir == "" {
		if s.folder, err = os.MkdirTemp("", leftover.TemporaryPattern); err != nil {
			return nil, fmt.Errorf("there is no place for the conversation: %w", err)
		}
		dataDir = s.folder
		if decisionsDir, err = DataFolder(""); err != nil {
			decisionsDir = "" // decisions are forgotten with the conversation
		}
	}
	masker := secret.NewMasker()
	log := zerolog.New(masker.Writer(visible.JSONWriter(s.o.Stderr))).Level(line.logLevel).With().Timestamp().Logger()
	runs, err := leftover.Folder()
	if err != nil {
		log.Warn().Err(err).Msg("servers that outlive a killed command are not ended")
	}
	s.sidecar = attach.Start(ctx, server.Options{
		Version: o.Version, DataDir: dataDir, Temporary: s.folder != "", DecisionsDir: decisionsDir, RunsDir: runs,
		Log: log, Masker: masker,
	}, frontEnd{s})
	pumping, stop := context.WithCancel(ctx)
	s.stop = stop
	s.pump.Go(func() { s.take(pumping) })
	_, err = s.sidecar.Initialize(ctx, &protocol.InitializeParams{
		ProtocolVersion: protocol.Version,
		ClientInfo:      protocol.Implementation{Name: askName, Version: o.Version},
		Capabilities:    capabilities,
		Configuration:   line.configuration,
	})
	return s, err
}

// meet finds out who answers; here reports whether a person is at a terminal.
func (s *session) meet(here bool) error {
	line, review := s.line, protocol.ReviewNever // who wrote the completions has seen them
	var file *answers.File
	var err error
	if line.answers != "" {
		if file, err = answers.Load(line.answers); err != nil {
			return usagef("%v", err)
		}
	}
	switch {
	case line.replay != "":
		if s.answerer, err = newReplay(s, line.replay, file); err != nil {
			return err
		}
	case file != nil:
		s.answerer = &script{session: s, file: file}
		if file.Has(answers.Review) {
			review = ""
		}
	case line.plain || here:
		s.person = newSomeone(s)
		s.answerer, review = s.person, ""
	default:
		review = ""
	}
	if review != "" {
		line.configuration.Sampling = &protocol.SamplingSettings{Review: review}
	}
	if line.record != "" {
		s.recorder, err = newRecorder(line.record, s.clean)
	}
	return err
}

// keep writes the recording of a run without an error. It returns err, joined with its own.
func (s *session) keep(err error) error {
	switch {
	case s.recorder == nil:
		return err
	case err == nil || errors.Is(err, errToolFailed):
		return errors.Join(err, s.recorder.save())
	}
	s.note("Nothing was recorded in %s: what failed is no example.", s.recorder.file)
	return err
}

// close ends everything, and dismisses open asks.
func (s *session) close() error {
	var errs []error
	if s.person != nil {
		s.person.restore()
	}
	if s.sidecar != nil {
		errs = append(errs, s.sidecar.Close())
		s.stop()
		s.pump.Wait()
		s.asking.Wait()
	}
	if s.display != nil {
		s.display.show(nil)
	}
	return errors.Join(append(errs, s.removeFolder())...)
}

// removeFolder removes the temporary conversation. A conversation in --data-dir stays.
func (s *session) removeFolder() error {
	if s.folder == "" {
		return nil
	}
	return os.RemoveAll(s.folder)
}

// draw puts a display on stderr, unless that is no terminal, cannot move its cursor, or the person wants plain lines.
func (s *session) draw() {
	tty, ok := s.o.Stderr.(*os.File)
	if !ok || s.line.plain || !isTerminal(tty) || os.Getenv("TERM") == "dumb" {
		return
	}
	s.display = &display{out: tty, width: s.noteWidth}
	s.o.Stderr = s.display
	if s.shown { // a person has one terminal
		s.o.Stdout = &results{s.display, s.o.Stdout}
	}
}

// interrupt does what a Ctrl-C does that the terminal makes a signal of.
func (s *session) interrupt() {
	select {
	case s.o.Interrupts <- os.Interrupt:
	default: // nothing waits for it, or two are waiting already
	}
}

// fail ends the run, unless it is ending already.
func (s *session) fail(err error) {
	select {
	case s.failed <- err:
	default:
	}
}

// isTerminal reports whether a stream is a terminal's.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// modelSettings are of an endpoint of OpenAI's kind.
func modelSettings(url, model string) *protocol.OpenAISettings {
	settings := &protocol.OpenAISettings{BaseURL: url, Model: model}
	if key := os.Getenv("ASSENT_MODEL_KEY"); key != "" {
		settings.APIKey = &protocol.Secret{Secret: key}
	}
	return settings
}
