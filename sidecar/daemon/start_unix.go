//go:build unix

package daemon

import (
	"os"
	"strconv"
	"syscall"
)

// startDetached starts a process in its own session, so that closing a terminal does not end it.
func startDetached(program []string, attributes *os.ProcAttr) (*os.Process, error) {
	keepDescriptors()
	attributes.Dir, attributes.Sys = "/", &syscall.SysProcAttr{Setsid: true}
	return os.StartProcess(program[0], program, attributes)
}

// keepDescriptors keeps children from inheriting the descriptors that this process inherited. Otherwise a daemon could
// hold a pipe open that the starter's shell waits for.
func keepDescriptors() {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd) // Go has set it for its own descriptors
		}
	}
}
