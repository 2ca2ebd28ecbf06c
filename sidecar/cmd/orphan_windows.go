package cmd

import (
	"os"

	"golang.org/x/sys/windows"
)

// parent returns what reports whether the parent is alive. The handle is kept until the process
// ends.
func parent() (alive func() bool, err error) {
	handle, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(os.Getppid()))
	if err != nil {
		return nil, err
	}
	return func() bool {
		event, err := windows.WaitForSingleObject(handle, 0)
		return err != nil || event == uint32(windows.WAIT_TIMEOUT)
	}, nil
}
