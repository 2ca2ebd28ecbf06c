package wire

import "syscall"

// groupAttributes also has the server terminated when we are killed: one that has something to wait
// for does not notice that its stdin has ended.
func groupAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
