package procinfo

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// zombie is SZOMB of sys/proc.h: a process that has ended, but that its parent has not waited for.
const zombie = 5

// Boot identifies this boot of this machine.
func Boot() (string, error) { return unix.Sysctl("kern.bootsessionuuid") }

// StartOf returns [Running.Start] of a process. The error is [fs.ErrNotExist] only if the process has ended.
func StartOf(pid int) (string, error) {
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if errors.Is(err, unix.EIO) { // the system has no data
		err = fs.ErrNotExist
	}
	if err != nil {
		return "", fmt.Errorf("process %d: %w", pid, err)
	}
	return startOf(p), nil
}

// Processes returns this user's running processes. Those whose environment had the entry, such as
// "NAME=value", are marked. The system hides the environment of its own programs.
func Processes(entry string) ([]Running, error) {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.uid", os.Geteuid())
	if err != nil {
		return nil, fmt.Errorf("list the processes: %w", err)
	}
	var running []Running
	for i := range all {
		p := &all[i]
		if p.Proc.P_stat == zombie {
			continue
		}
		pid := int(p.Proc.P_pid)
		running = append(running, Running{
			PID: pid, Parent: int(p.Eproc.Ppid), Group: int(p.Eproc.Pgid), Start: startOf(p), Marked: isMarked(pid, entry),
		})
	}
	return running, nil
}

func startOf(p *unix.KinfoProc) string {
	return fmt.Sprintf("%d.%06d", p.Proc.P_starttime.Sec, p.Proc.P_starttime.Usec)
}

// isMarked reads the system's record of a process's start: the number of its arguments, the path of its program, the
// arguments, and the environment.
func isMarked(pid int, entry string) bool {
	const number = 4 // bytes
	raw, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil || len(raw) < number {
		return false // it has ended, or belongs to another user
	}
	arguments := int(binary.NativeEndian.Uint32(raw))
	_, rest, _ := bytes.Cut(raw[number:], []byte{0})
	texts := bytes.Split(bytes.TrimLeft(rest, "\x00"), []byte{0})
	if arguments > len(texts) {
		return false
	}
	return slices.ContainsFunc(texts[arguments:], func(e []byte) bool { return string(e) == entry })
}
