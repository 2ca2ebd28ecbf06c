package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// forgetTyped discards input that was not read yet. If that fails, the input is read.
func forgetTyped(tty *os.File) {
	_ = unix.IoctlSetInt(int(tty.Fd()), unix.TCFLSH, unix.TCIFLUSH)
}
