package wire

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// grace is how long a server may take to end after its stdin was closed, and again after SIGTERM.
	grace = 2 * time.Second
	// LongestClose is how long [Process.Close] takes at most: grace two times for the server, and once more for pipes
	// that a process outside the server's group holds open.
	LongestClose = 3 * grace
	// tailLines is how many of the last lines of stderr are kept.
	tailLines = 20
	// tailLine is the most bytes of each of them.
	tailLine = 4 << 10
)

// Process is a server's process and the processes that it started. Close ends them all. All methods may be called from
// any goroutine.
type Process struct {
	cmd    *exec.Cmd
	group  group
	stdin  *os.File
	stdout *os.File
	close  func() error

	stdoutEnded func()        // closes ended
	ended       chan struct{} // closed when stdout has ended
	drained     chan struct{} // closed when stderr has ended
	exited      chan struct{} // closed when the process and its output have ended
	exitErr     error         // valid only after exited
	killed      atomic.Bool   // Close had to end it

	mu   sync.Mutex // guards tail
	tail []string
}

// StartProcess starts a server. Each line of its stderr goes to the function stderr, and the last ones are kept for
// [Process.Stderr].
func StartProcess(cmd *exec.Cmd, stderr func(line string)) (*Process, error) {
	p := &Process{cmd: cmd, ended: make(chan struct{}), drained: make(chan struct{}), exited: make(chan struct{})}
	p.stdoutEnded = sync.OnceFunc(func() { close(p.ended) })
	p.close = sync.OnceValue(p.stop)
	// os/exec would close its own pipes when the process ends, even if they hold data.
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, inRead.Close(), inWrite.Close())
	}
	errRead, errWrite, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, inRead.Close(), inWrite.Close(), outRead.Close(), outWrite.Close())
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inRead, outWrite, errWrite
	p.stdin, p.stdout = inWrite, outRead

	started := make(chan error, 1)
	go func() {
		defer close(p.exited)
		group, err := parent.start(cmd)
		p.group = group
		started <- err
		if err != nil {
			return
		}
		defer parent.left()
		awaitExit(cmd.Process.Pid) // without blocking a thread, if the system allows that
		p.exitErr = cmd.Wait()
		// Processes that the server left behind would keep its pipes and locks. A process outside the group can
		// still keep the pipes.
		p.group.kill()
		closeUnless(p.drained, errRead)
		closeUnless(p.ended, outRead)
	}()
	err = errors.Join(<-started, inRead.Close(), outWrite.Close(), errWrite.Close())
	if err != nil {
		return nil, errors.Join(err, inWrite.Close(), outRead.Close(), errRead.Close())
	}
	go func() {
		defer close(p.drained)
		defer errRead.Close()
		p.drain(errRead, stderr)
	}()
	return p, nil
}

// closeUnless closes a pipe that does not end in time.
func closeUnless(ended <-chan struct{}, pipe *os.File) {
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
		_ = pipe.Close() // it may be closed already
	}
}

// Read reads from the server's stdout.
func (p *Process) Read(b []byte) (int, error) {
	n, err := p.stdout.Read(b)
	if err != nil {
		p.stdoutEnded()
	}
	return n, err
}

// Write writes to the server's stdin.
func (p *Process) Write(b []byte) (int, error) { return p.stdin.Write(b) }

// Close ends the process in the steps of the specification (2025-11-25, "Lifecycle: Shutdown"): it closes stdin, then
// sends SIGTERM, then kills the whole group. It returns when the process has ended, within [LongestClose]. Further calls
// return the same.
func (p *Process) Close() error { return p.close() }

func (p *Process) stop() error {
	errIn := p.stdin.Close()
	p.stdoutEnded() // no one reads on
	if !p.waitExit() {
		p.killed.Store(true)
		p.group.terminate()
		if !p.waitExit() {
			p.group.kill()
		}
	}
	<-p.exited
	<-p.drained
	if err := p.stdout.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return err
	}
	return errors.Join(errIn, p.group.close())
}

func (p *Process) waitExit() bool {
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
		return false
	}
}

// Exit waits until the process has ended, and returns how as a text. The text is empty if Close had to end it.
func (p *Process) Exit() string {
	<-p.exited
	var exit *exec.ExitError
	switch {
	case p.killed.Load():
		return ""
	case p.exitErr == nil:
		return "it exited"
	case errors.As(p.exitErr, &exit):
		return fmt.Sprintf("it ended with %s", exit.ProcessState)
	default:
		return p.exitErr.Error()
	}
}

// PID returns the process's id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// ExitCode waits until the process has ended, and returns its exit code; ok is false if it did not end on its
// own.
func (p *Process) ExitCode() (code int, ok bool) {
	<-p.exited
	if p.killed.Load() || p.cmd.ProcessState == nil || !p.cmd.ProcessState.Exited() {
		return 0, false
	}
	return p.cmd.ProcessState.ExitCode(), true
}

// Stderr returns the last lines that the server wrote to stderr.
func (p *Process) Stderr() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.tail...)
}

func (p *Process) drain(r io.Reader, line func(string)) {
	lines := bufio.NewReaderSize(r, tailLine)
	for {
		// A longer line arrives in parts.
		part, _, err := lines.ReadLine()
		if err != nil {
			return
		}
		text := strings.TrimRight(strings.ToValidUTF8(string(part), "�"), "\r")
		p.mu.Lock()
		p.tail = append(p.tail, text)
		if len(p.tail) > tailLines {
			p.tail = p.tail[1:]
		}
		p.mu.Unlock()
		line(text)
	}
}
