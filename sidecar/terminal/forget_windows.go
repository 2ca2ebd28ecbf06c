package terminal

import (
	"os"

	"golang.org/x/sys/windows"
)

// forgetTyped discards typed input that was not read yet. If that fails, the next reader gets the input.
func forgetTyped(tty *os.File) {
	_ = windows.FlushConsoleInputBuffer(windows.Handle(tty.Fd()))
}
