//go:build unix

package daemon

import (
	"os"
	"strconv"
	"syscall"
)

// startDetached starts a process in a session of its own, which no terminal's end reaches.
func startDetached(program []string, attributes *os.ProcAttr) (*os.Process, error) {
	keepDescriptors()
	attributes.Dir, attributes.Sys = "/", &syscall.SysProcAttr{Setsid: true}
	return os.StartProcess(program[0], program, attributes)
}

// keepDescriptors has no child inherit a descriptor that this process inherited. Otherwise a daemon could hold a pipe whose
// end its starter's shell waits for.
func keepDescriptors() {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd) // Go has set it for its own
		}
	}
}
