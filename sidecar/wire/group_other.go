//go:build unix && !linux

package wire

import "syscall"

func groupAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
