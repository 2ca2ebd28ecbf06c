package terminal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/rs/zerolog"
	"golang.org/x/term"

	"assent/protocol"
	"assent/sidecar/server"
	"assent/sidecar/terminal/answers"
	"assent/sidecar/terminal/attach"
)

// askName is what answers are signed with: in the journal, and to whoever comes second.
const askName = "Assent's terminal"

// session is one run: a sidecar of its own, and who answers what is asked.
type session struct {
	o    Options
	line *commandLine
	// shown: stdout is a terminal, which must not be told what to do by a stranger's text.
	shown   bool
	sidecar *attach.Sidecar
	// answerer is nil where nobody is there.
	answerer answerer
	person   *person       // nil unless a person answers
	file     *answers.File // nil unless a file answers
	// folder is the store's, where it is to be removed at the end.
	folder string

	events *mailbox[any]
	stop   context.CancelFunc
	pump   sync.WaitGroup // takes the events out
	asking sync.WaitGroup // one for each open ask
	// failed brings why the run cannot go on, ended how calls ended.
	failed chan error
	ended  chan protocol.TaskEventParams
	asks   map[askKey]context.CancelCauseFunc // of the pump alone

	talking sync.Mutex // held while something is written to stderr
}

// askKey names an ask's message.
type askKey struct {
	taskID    string
	messageID int64
}

func newSession(ctx context.Context, line *commandLine, o Options) (_ *session, err error) {
	s := &session{
		o: o, line: line, shown: isTerminal(o.Stdout),
		events: newMailbox[any](), failed: make(chan error, 1), ended: make(chan protocol.TaskEventParams, 1),
		asks: map[askKey]context.CancelCauseFunc{},
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	capabilities := protocol.FrontEndCapabilities{}
	switch {
	case line.answers != "":
		if s.file, err = answers.Load(line.answers); err != nil {
			return nil, usagef("%v", err)
		}
		s.answerer = &script{session: s, file: s.file}
		capabilities = protocol.FrontEndCapabilities{
			Elicitation: true, Sampling: true, Inputs: true,
			LanguageModels: len(s.file.Completions()) > 0, OpenURL: true,
		}
		if !s.file.Has(answers.Review) { // who wrote the completions has seen them
			line.configuration.Sampling = &protocol.SamplingSettings{Review: protocol.ReviewNever}
		}
	case line.plain || isTerminal(o.Stdin) && isTerminal(o.Stderr):
		s.person = newPerson(s)
		s.answerer = s.person
		capabilities = protocol.FrontEndCapabilities{Elicitation: true, Sampling: true, Inputs: true, OpenURL: true}
	}
	dataDir := line.dataDir
	if dataDir == "" {
		if s.folder, err = os.MkdirTemp("", "assent-*"); err != nil {
			return nil, fmt.Errorf("there is no place for the conversation: %w", err)
		}
		dataDir = s.folder
	}
	log := zerolog.New(o.Stderr).Level(line.logLevel).With().Timestamp().Logger()
	s.sidecar = attach.Start(ctx, server.Options{Version: o.Version, DataDir: dataDir, Log: log}, frontEnd{s})
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

// close ends everything. What is still asked is dismissed.
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
	if s.folder != "" {
		errs = append(errs, os.RemoveAll(s.folder))
	}
	return errors.Join(errs...)
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
