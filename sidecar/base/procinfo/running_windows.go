package procinfo

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"golang.org/x/sys/windows"
)

// Boot is not supported on this system.
func Boot() (string, error) { return "", errors.ErrUnsupported }

// stillActive is STILL_ACTIVE of minwinbase.h: the exit code of a running process.
const stillActive = 259

// StartOf returns [Running.Start] of a process. The error is [fs.ErrNotExist] only if the process has ended.
func StartOf(pid int) (string, error) {
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if errors.Is(err, windows.ERROR_INVALID_PARAMETER) { // no process has this id
		err = fs.ErrNotExist
	}
	if err != nil {
		return "", fmt.Errorf("process %d: %w", pid, err)
	}
	var code uint32
	var created, exited, kernel, user windows.Filetime
	err = errors.Join(
		windows.GetExitCodeProcess(process, &code),
		windows.GetProcessTimes(process, &created, &exited, &kernel, &user),
		windows.CloseHandle(process),
	)
	if err == nil && code != stillActive {
		err = fs.ErrNotExist
	}
	if err != nil {
		return "", fmt.Errorf("process %d: %w", pid, err)
	}
	return strconv.FormatInt(created.Nanoseconds(), 10), nil
}

// Processes is not supported on this system.
func Processes(string) ([]Running, error) { return nil, errors.ErrUnsupported }
