//go:build unix

package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// runShell runs a shell until its output is enough, it has ended, or the timeout has passed, and
// returns the output. It then kills the whole session. stdin is empty.
func runShell(shell string, args, env []string, timeout time.Duration, enough func(output string) bool) (string, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer r.Close()
	cmd := exec.Command(shell, args...)
	cmd.Env, cmd.Stdout = env, w
	// A session of its own: an interactive shell wants to own the terminal, and would stop when the
	// sidecar has one.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	_ = w.Close() // a pipe that nothing was written to
	if err != nil {
		return "", fmt.Errorf("cannot be started: %w", err)
	}
	// A deadline ends the reading also where something that the shell started keeps the pipe.
	deadline := r.SetReadDeadline(time.Now().Add(timeout))
	var output strings.Builder
	var reading error
	for part := make([]byte, 32<<10); deadline == nil && reading == nil && !enough(output.String()); {
		var n int
		n, reading = r.Read(part)
		output.Write(part[:n])
		if output.Len() > maxLoginOutput {
			reading = fmt.Errorf("wrote more than %d bytes", maxLoginOutput)
		}
	}
	// After this, the session has no processes left.
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	waiting := cmd.Wait()
	switch {
	case deadline != nil:
		return output.String(), deadline
	case errors.Is(reading, os.ErrDeadlineExceeded):
		return output.String(), fmt.Errorf("did not answer within %v", timeout)
	case reading != nil && !errors.Is(reading, io.EOF):
		return output.String(), reading
	case waiting != nil && reading != nil:
		return output.String(), fmt.Errorf("ended with %w", waiting)
	default:
		return output.String(), nil
	}
}
