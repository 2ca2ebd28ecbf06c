package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// forgetTyped discards typed input that was not read yet. If that fails, the next reader gets the input.
func forgetTyped(tty *os.File) {
	_ = unix.IoctlSetInt(int(tty.Fd()), unix.TCFLSH, unix.TCIFLUSH)
}
