// Package terminal is the front end for a terminal: it runs a tool of an MCP server, shows what servers have, and
// asks the person, or a file of answers, what a server asks meanwhile.
//
// It speaks the protocol with a sidecar in its own process (package attach) and decides nothing that the sidecar
// decides: what may be asked, whether an answer is right, what a server is told. Results go to stdout, all else to
// stderr. [Run] is called once for a process; what it starts has ended when it returns, but for one read of stdin,
// which nothing can interrupt.
package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// The exit codes, as docs/terminal.md lists them.
const (
	ExitOK = 0
	// ExitToolFailed: the tool itself says that it failed (2025-11-25, "Tools: Error Handling").
	ExitToolFailed = 1
	ExitUsage      = 2
	// ExitFailed: there is no result: the server could not be reached, was lost or gave an error; or the result
	// could not be written.
	ExitFailed = 3
	// ExitUnanswered: something was asked that nobody was there to answer, or that no rule of the answers does.
	ExitUnanswered  = 4
	ExitInterrupted = 130
)

// Options are what a run needs of its process.
type Options struct {
	// Version is the program's own.
	Version string
	// Folder is where the person is: an absolute path.
	Folder string
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	// Interrupts are Ctrl-C and its like: the first cancels the call, the second leaves. It may be nil.
	Interrupts <-chan os.Signal
}

// Commands are the commands that [Run] knows, with what they are for.
var Commands = []struct{ Name, Purpose string }{
	{"call", "run a tool of a server"},
	{"servers", "list the configured servers"},
	{"tools", "list the tools of a server"},
	{"resources", "list the resources of a server"},
	{"prompts", "list the prompts of a server"},
	{"doctor", "start a server, and say what is wrong where it does not"},
}

// usageError is a wrong command line.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// errInterrupted says that the person left.
var errInterrupted = errors.New("interrupted")

// unanswered is an ask that has no answer here.
type unanswered struct{ text string }

func (e *unanswered) Error() string { return e.text }

// errToolFailed stands for a result that was printed, and says that the tool failed.
var errToolFailed = errors.New("the tool says that it failed")

// Run is one of the [Commands]. It returns the exit code. Ctx ends everything at once; interrupting a call in
// good order is what [Options.Interrupts] is for.
func Run(ctx context.Context, args []string, o Options) int {
	err := run(ctx, args, o)
	var wrong *usageError
	var open *unanswered
	switch {
	case err == nil:
		return ExitOK
	case errors.Is(err, errHelp):
		fmt.Fprint(o.Stdout, usage)
		return ExitOK
	case errors.Is(err, errInterrupted):
		return ExitInterrupted
	case errors.As(err, &wrong):
		fmt.Fprintf(o.Stderr, "assent: %s\n\nRun \"assent %s --help\" for what there is.\n", wrong.text, args[0])
		return ExitUsage
	case errors.Is(err, errToolFailed):
		return ExitToolFailed
	case errors.As(err, &open):
		fmt.Fprintf(o.Stderr, "assent: %s\n", open.text)
		return ExitUnanswered
	default:
		fmt.Fprintf(o.Stderr, "assent: %s\n", safe(err.Error()))
		return ExitFailed
	}
}

func run(ctx context.Context, args []string, o Options) (err error) {
	if len(args) == 0 {
		return usagef("there is no command")
	}
	line, err := parse(args, o)
	if err != nil {
		return err
	}
	s, err := newSession(ctx, line, o)
	if err != nil {
		return err
	}
	defer func() {
		closed := make(chan error, 1)
		go func() { closed <- s.close() }()
		select {
		case closeErr := <-closed:
			err = errors.Join(err, closeErr)
		case <-o.Interrupts: // a server takes its time to end, and the person will not wait
			err = errInterrupted
		}
	}()
	if line.server != "" {
		if err := s.known(ctx); err != nil {
			return err
		}
	}
	work := s.list
	switch line.command {
	case "call":
		return s.call(ctx)
	case "doctor":
		work = s.doctor
	}
	// A list has nothing to cancel in good order: the first interrupt ends it.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- work(ctx) }()
	select {
	case err := <-done:
		return err
	case err := <-s.failed:
		cancel()
		<-done
		return err
	case <-o.Interrupts:
		cancel()
		<-done
		return errInterrupted
	}
}

// print writes a result.
func (s *session) print(format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if s.shown {
		text = safe(text)
	}
	if _, err := io.WriteString(s.o.Stdout, text); err != nil {
		return fmt.Errorf("the result cannot be written to stdout: %w", err)
	}
	return nil
}

// note tells the person something. That it cannot be told is no reason to stop.
func (s *session) note(format string, args ...any) {
	s.talking.Lock()
	defer s.talking.Unlock()
	_, _ = io.WriteString(s.o.Stderr, safe(fmt.Sprintf(format, args...))+"\n")
}
