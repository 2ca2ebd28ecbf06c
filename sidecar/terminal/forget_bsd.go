//go:build darwin || freebsd || netbsd || openbsd

package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// forgetTyped throws away what was typed and not read. Where that fails it is read.
func forgetTyped(tty *os.File) {
	_ = unix.IoctlSetPointerInt(int(tty.Fd()), unix.TIOCFLUSH, unix.TCIFLUSH)
}
