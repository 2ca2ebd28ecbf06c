package wire

import (
	"errors"
	"os/exec"
	"unsafe"

	"golang.org/x/sys/windows"
)

// group is a job object that kills its processes when its handle is closed, even by the death of
// this process.
type group struct{ job windows.Handle }

// startInGroup starts cmd in a job of its own.
func startInGroup(cmd *exec.Cmd) (group, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return group{}, err
	}
	g := group{job}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{
			LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
		},
	}
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err != nil {
		return group{}, errors.Join(err, g.close())
	}
	if err := cmd.Start(); err != nil {
		return group{}, errors.Join(err, g.close())
	}
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(cmd.Process.Pid))
	if err == nil {
		err = errors.Join(windows.AssignProcessToJobObject(job, process), windows.CloseHandle(process))
	}
	if err != nil {
		return group{}, errors.Join(err, cmd.Process.Kill(), cmd.Wait(), g.close())
	}
	return g, nil
}

// terminate is kill, because Windows has no signal for a request to end.
func (g group) terminate() { g.kill() }

// An error here means that the group has no processes left.
func (g group) kill() { _ = windows.TerminateJobObject(g.job, 1) }

func (g group) close() error { return windows.CloseHandle(g.job) }
