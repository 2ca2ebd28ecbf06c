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
	// grace is how long a server may take to leave after its stdin was closed, and again after it
	// was asked to terminate.
	grace = 2 * time.Second
	// LongestClose is how long [Process.Close] takes at most: two graces, and one for pipes that a process outside the
	// server's group holds open.
	LongestClose = 3 * grace
	// tailLines is how many of the last lines of stderr are kept.
	tailLines = 20
	// tailLine bounds each of them, in bytes.
	tailLine = 4 << 10
)

// Process is a server's process, and whatever it started in its turn: all of them end with it.
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
	exitErr     error         // how; to be read after exited
	killed      atomic.Bool   // Close had to end it

	mu   sync.Mutex // guards tail
	tail []string
}

// StartProcess starts a server. Each line of its stderr goes to stderr as well as to the tail that
// [Process.Stderr] returns.
func StartProcess(cmd *exec.Cmd, stderr func(line string)) (*Process, error) {
	p := &Process{cmd: cmd, ended: make(chan struct{}), drained: make(chan struct{}), exited: make(chan struct{})}
	p.stdoutEnded = sync.OnceFunc(func() { close(p.ended) })
	p.close = sync.OnceValue(p.stop)
	// Pipes of our own: those of os/exec are closed when the process ends, read or not.
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
		awaitExit(cmd.Process.Pid) // without a thread, where that can be
		p.exitErr = cmd.Wait()
		// Whoever the server left behind would keep its pipes, and its locks; and whoever left the
		// group can keep the pipes still.
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

// closeUnless closes a pipe that does not end by itself in time.
func closeUnless(ended <-chan struct{}, pipe *os.File) {
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
		_ = pipe.Close() // it may have been closed meanwhile, which is as good
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

// Close ends the process as the specification says: its stdin is closed, then it is asked to
// terminate, then it is killed with its whole group. It returns when all of that is over, which is
// within [LongestClose], and can be called again.
func (p *Process) Close() error { return p.close() }

func (p *Process) stop() error {
	errIn := p.stdin.Close()
	p.stdoutEnded() // nobody reads on
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

// Exit waits until the process has ended, and says how in words. It says nothing where Close had to end
// the process.
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

// ExitCode waits until the process has ended, and returns its code; ok is false where it did not leave by
// itself.
func (p *Process) ExitCode() (code int, ok bool) {
	<-p.exited
	if p.killed.Load() || p.cmd.ProcessState == nil || !p.cmd.ProcessState.Exited() {
		return 0, false
	}
	return p.cmd.ProcessState.ExitCode(), true
}

// Stderr returns the last lines that the server wrote there.
func (p *Process) Stderr() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.tail...)
}

func (p *Process) drain(r io.Reader, line func(string)) {
	lines := bufio.NewReaderSize(r, tailLine)
	for {
		// A line that is longer comes in parts; nothing is worth more memory here.
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
