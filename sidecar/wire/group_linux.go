package wire

import "syscall"

// groupAttributes also terminates the server when this process is killed, because a busy server may
// not notice the end of its stdin.
func groupAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
