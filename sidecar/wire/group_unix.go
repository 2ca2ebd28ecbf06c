//go:build unix

package wire

import (
	"os/exec"
	"syscall"
)

// group is a process group, named by its leader.
type group struct{ pid int }

// startInGroup starts cmd as the leader of a new process group.
func startInGroup(cmd *exec.Cmd) (group, error) {
	cmd.SysProcAttr = groupAttributes()
	if err := cmd.Start(); err != nil {
		return group{}, err
	}
	return group{cmd.Process.Pid}, nil
}

// An error here means that the group has no processes left.

func (g group) terminate() { _ = syscall.Kill(-g.pid, syscall.SIGTERM) }

func (g group) kill() { _ = syscall.Kill(-g.pid, syscall.SIGKILL) }

func (g group) close() error { return nil }
