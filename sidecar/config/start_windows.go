package config

import (
	"os/exec"
	"syscall"
)

// setLine gives a process its command line as it is.
func setLine(cmd *exec.Cmd, line string) { cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: line} }
