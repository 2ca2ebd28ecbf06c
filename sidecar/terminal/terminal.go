// Package terminal is the front end for a terminal: it runs a tool of an MCP server, lists what servers offer, and puts
// the questions of servers to the person, or to a file of answers.
//
// If stdin and stderr are a terminal that can be drawn on, it asks in dialogs, one after the other (dialogs). It holds
// back other text for stderr until a dialog ends (display). Otherwise it asks line by line (person).
//
// It attaches to a workspace over a connection (package attach). The workspace is a temporary one of its own, or that
// of a data folder, to which other front ends may be attached. The workspace decides which questions are allowed,
// whether an answer is valid, and what a server is told. A command ignores conversations that are not its own. Results
// go to stdout, everything else to stderr. [Run] is called once in a process. When it returns, everything that it
// started in this process has ended, except for one read of stdin, which cannot be interrupted.
//
// spf13/cobra reads the command line. The program gives [NewCommand] the commands that are not front ends, such as
// "serve" and "journal"; they end with [Exit].
package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"

	"assent/protocol"
	"assent/sidecar/base/visible"
	"assent/sidecar/config/managedfiles"
	"assent/sidecar/daemon/workspaces"
)

// The exit codes, as docs/terminal.md lists them.
const (
	ExitOK = 0
	// ExitToolFailed means that the tool itself reported a failure (2025-11-25, "Tools: Error Handling").
	ExitToolFailed = 1
	ExitUsage      = 2
	// ExitFailed means that there is no result: the server could not be reached, was lost or gave an error. It also
	// means that the result could not be written.
	ExitFailed = 3
	// ExitUnanswered means that no one could answer an ask, or that no rule of the file of answers matched it.
	ExitUnanswered = 4
	// ExitDrifted means that an ask differs from the recording.
	ExitDrifted = 5
	// ExitEnded means that the daemon ended before the front end; see [protocol.ExitEnded].
	ExitEnded       = protocol.ExitEnded
	ExitInterrupted = 130
)

// Options are what a run needs from its process.
type Options struct {
	// Version is the version of the program.
	Version string
	// Folder is the absolute path of the current folder.
	Folder string
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	// Connect attaches this process to the workspace of a place, in the daemon. If no daemon runs, it starts one: in a
	// process of its own or, if standalone is set, in this process, which writes its log to log. Connect calls say with
	// news of the daemon for the person, even after it has returned. Closing the connection detaches, and waits until
	// all work in this process has ended.
	Connect func(ctx context.Context, place workspaces.Place, standalone bool, log io.Writer, say func(string)) (net.Conn, error)
	// Hosts returns the programs that were added to use servers over HTTP. It may be nil.
	Hosts func(ctx context.Context) ([]Host, error)
	// HostFiles returns the hosts' own files with MCP servers, and those that cannot be read. It may be nil.
	HostFiles func() ([]HostFile, []protocol.ConfigProblem, error)
	// Policy are the organisation's files. It may be nil.
	Policy *managedfiles.Files
	// Interrupts receives Ctrl-C and other interrupts: the first cancels the call, the second stops waiting. Run itself
	// sends the Ctrl-C of a dialog, for which the terminal sends no signal. It may be nil.
	Interrupts chan os.Signal
}

// usageError is the error of a wrong command line.
type usageError struct {
	text string
	// wayOut tells how to correct the command line; empty means the command's help.
	wayOut string
}

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return &usageError{text: fmt.Sprintf(format, args...)} }

// errInterrupted is the error of a command that the person interrupted.
var errInterrupted = errors.New("interrupted")

// unanswered is the error of an ask that this command cannot answer.
type unanswered struct{ text string }

func (e *unanswered) Error() string { return e.text }

// nobody says what to do where a command has no terminal and no file of answers.
const nobody = "There is no person to answer: run it in a terminal, or give --answers"

// errToolFailed is the error of a tool that failed. Its result has been printed already.
var errToolFailed = errors.New("the tool says that it failed")

// runSession runs the work of a command in a workspace, and waits for everything that the work started.
func runSession(ctx context.Context, line *commandLine, o Options, work func(context.Context, *session) error) (err error) {
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
		case <-o.Interrupts: // a server may take long to end, and the person does not wait for it
			err = errInterrupted
		}
		if s.person != nil {
			s.person.restore() // a dialog may not have ended
		}
	}()
	if line.server != "" {
		err = s.known(ctx, line.server)
	}
	if err == nil {
		err = work(ctx, s)
	}
	if err != nil && s.gone() && !errors.Is(err, errToolFailed) {
		err = errEnded
	}
	return err
}

// atOnce returns a command that the first interrupt ends, because work has nothing to cancel on a server.
func atOnce(work func(context.Context, *session) error) func(context.Context, *session, []string) error {
	return func(ctx context.Context, s *session, _ []string) error {
		return s.untilInterrupted(ctx, func(ctx context.Context) error { return work(ctx, s) })
	}
}

// untilInterrupted runs work until the first interrupt, or an unanswered question, ends it.
func (s *session) untilInterrupted(ctx context.Context, work func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- work(ctx) }()
	select {
	case err := <-done:
		return err
	case err := <-s.feed.failed:
		cancel()
		<-done
		return err
	case <-s.o.Interrupts:
		cancel()
		<-done
		return errInterrupted
	}
}

// print writes a result to stdout. On a terminal, it makes all hidden characters visible; in a pipe or a file, only
// those that could control a terminal later.
func (s *session) print(format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if s.stdout.isTerminal {
		return s.write(safe(text))
	}
	return s.write(visible.Data(text))
}

func (s *session) write(text string) error {
	if _, err := io.WriteString(s.o.Stdout, text); err != nil {
		return fmt.Errorf("the result cannot be written to stdout: %w", err)
	}
	return nil
}

// stream writes a piece of a model's text to stdout. On a terminal, it wraps the text between words.
func (s *session) stream(text string) error {
	if s.stdout.model == nil {
		return s.print("%s", text)
	}
	return s.stdout.model.put(safe(text))
}

// note writes a text for the person to stderr. If that fails, the run continues.
func (s *session) note(format string, args ...any) {
	s.tell(func(line string) string { return line }, format, args...)
}

// aside is note for a less important text, which is faint on a terminal.
func (s *session) aside(format string, args ...any) { s.tell(s.stderr.paint.faint, format, args...) }

// head is note for a heading of the lines after it, which is bold on a terminal.
func (s *session) head(format string, args ...any) { s.tell(s.stderr.paint.bold, format, args...) }

// tell writes lines to stderr in a style. On a terminal, it wraps them between words.
func (s *session) tell(style func(string) string, format string, args ...any) {
	s.stderr.mu.Lock()
	defer s.stderr.mu.Unlock()
	for _, f := range []*flow{s.stdout.model, s.stderr.model} {
		if f != nil {
			_ = f.end() // the next write returns the error
		}
	}
	lines := strings.Split(wrapped(safe(fmt.Sprintf(format, args...)), s.stderr.width()), "\n")
	for i := range lines {
		lines[i] = style(lines[i])
	}
	_, _ = io.WriteString(s.o.Stderr, strings.Join(lines, "\n")+"\n")
}
