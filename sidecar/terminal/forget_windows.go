package terminal

import (
	"os"

	"golang.org/x/sys/windows"
)

// forgetTyped discards input that was not read yet. If that fails, the input is read.
func forgetTyped(tty *os.File) {
	_ = windows.FlushConsoleInputBuffer(windows.Handle(tty.Fd()))
}
