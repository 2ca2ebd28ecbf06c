// Package terminal is the front end for a terminal: it runs a tool of an MCP server, shows what servers have, and
// asks the person, or a file of answers, what a server asks meanwhile.
//
// Where stdin and stderr are a terminal that can be drawn on, it asks in dialogs, which have the terminal one after the
// other (dialogs), and all else that is written to stderr gives way to them (display). Elsewhere it asks line by line
// (person).
//
// It speaks the protocol with a sidecar in its own process (package attach) and decides nothing that the sidecar
// decides: what may be asked, whether an answer is right, what a server is told. Results go to stdout, all else to
// stderr. [Run] is called once for a process; what it starts has ended when it returns, but for one read of stdin,
// which nothing can interrupt.
//
// The command line is read by spf13/cobra. What is no front end of its own, as "serve" and "journal", is given to
// [NewCommand] by the program, and ends with [Exit].
package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"assent/sidecar/visible"
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
	ExitUnanswered = 4
	// ExitDrifted: what was asked is not what was recorded.
	ExitDrifted     = 5
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
	// Interrupts are Ctrl-C and its like: the first cancels the call, the second leaves. Run puts those in that are
	// typed where no signal comes of them. It may be nil.
	Interrupts chan os.Signal
}

// usageError is a wrong command line.
type usageError struct {
	text string
	// wayOut says how to find out what there is; empty stands for the command's help.
	wayOut string
}

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return &usageError{text: fmt.Sprintf(format, args...)} }

// errInterrupted says that the person left.
var errInterrupted = errors.New("interrupted")

// unanswered is an ask that has no answer here.
type unanswered struct{ text string }

func (e *unanswered) Error() string { return e.text }

// errToolFailed stands for a result that was printed, and says that the tool failed.
var errToolFailed = errors.New("the tool says that it failed")

// runSession runs the work of a command with a sidecar of its own, and waits for what that started.
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
		case <-o.Interrupts: // a server takes its time to end, and the person will not wait
			err = errInterrupted
			defer func() { _ = s.removeFolder() }() // last: the sidecar may write until the process ends
		}
		if s.person != nil {
			s.person.restore() // a dialog may not have ended
		}
	}()
	if line.server != "" {
		if err := s.known(ctx, line.server); err != nil {
			return err
		}
	}
	return work(ctx, s)
}

// atOnce runs what has nothing to cancel in good order: the first interrupt ends it.
func atOnce(work func(context.Context, *session) error) func(context.Context, *session, []string) error {
	return func(ctx context.Context, s *session, _ []string) error {
		return s.untilInterrupted(ctx, func(ctx context.Context) error { return work(ctx, s) })
	}
}

// untilInterrupted runs what the first interrupt ends, or a question that nobody answers.
func (s *session) untilInterrupted(ctx context.Context, work func(context.Context) error) error {
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
	case <-s.o.Interrupts:
		cancel()
		<-done
		return errInterrupted
	}
}

// print writes a result. On a terminal all its hidden characters are made visible; in a pipe or a file only those that
// could control a terminal later.
func (s *session) print(format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if s.shown {
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

// stream writes a piece of what a model says to stdout. On a terminal it is wrapped between words.
func (s *session) stream(text string) error {
	if s.said == nil {
		return s.print("%s", text)
	}
	return s.said.put(safe(text))
}

// note tells the person something. That it cannot be told is no reason to stop.
func (s *session) note(format string, args ...any) {
	s.tell(func(line string) string { return line }, format, args...)
}

// aside is as note, for what matters less than the rest.
func (s *session) aside(format string, args ...any) { s.tell(s.notePaint.faint, format, args...) }

// head is as note, for what the lines after it are about.
func (s *session) head(format string, args ...any) { s.tell(s.notePaint.bold, format, args...) }

// tell writes lines to stderr in a style. On a terminal they are wrapped between words.
func (s *session) tell(style func(string) string, format string, args ...any) {
	s.talking.Lock()
	defer s.talking.Unlock()
	for _, f := range []*flow{s.said, s.sampled} {
		if f != nil {
			_ = f.end() // whoever writes there next is told
		}
	}
	lines := strings.Split(wrapped(safe(fmt.Sprintf(format, args...)), s.noteWidth()), "\n")
	for i := range lines {
		lines[i] = style(lines[i])
	}
	_, _ = io.WriteString(s.o.Stderr, strings.Join(lines, "\n")+"\n")
}
