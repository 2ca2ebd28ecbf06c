//go:build darwin || freebsd || netbsd || openbsd

package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// forgetTyped discards typed input that was not read yet. If that fails, the next reader gets the input.
func forgetTyped(tty *os.File) {
	_ = unix.IoctlSetPointerInt(int(tty.Fd()), unix.TIOCFLUSH, unix.TCIFLUSH)
}
