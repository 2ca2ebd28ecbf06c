package daemon

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// startDetached starts a process without a console, and outside the job of this one, because many programs end their
// jobs with themselves. If the job does not allow that, the daemon ends with the job.
func startDetached(program []string, attributes *os.ProcAttr) (*os.Process, error) {
	folder, err := windows.GetSystemDirectory()
	if err != nil {
		return nil, err
	}
	const detached = windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP
	attributes.Dir, attributes.Sys = folder, &syscall.SysProcAttr{HideWindow: true, CreationFlags: detached | windows.CREATE_BREAKAWAY_FROM_JOB}
	process, err := os.StartProcess(program[0], program, attributes)
	if errors.Is(err, windows.ERROR_ACCESS_DENIED) {
		attributes.Sys.CreationFlags = detached
		process, err = os.StartProcess(program[0], program, attributes)
	}
	return process, err
}
