package terminal

import (
	"os"

	"golang.org/x/sys/windows"
)

// forgetTyped throws away what was typed and not read. Where that fails it is read.
func forgetTyped(tty *os.File) {
	_ = windows.FlushConsoleInputBuffer(windows.Handle(tty.Fd()))
}
