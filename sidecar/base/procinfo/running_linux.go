package procinfo

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Boot identifies this boot of this machine, and the namespace in which this process sees process ids.
func Boot() (string, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", err
	}
	namespace, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(boot)) + " " + namespace, nil
}

// StartOf returns [Running.Start] of a process. The error is [fs.ErrNotExist] only if the process has ended.
func StartOf(pid int) (string, error) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	s := parseStat(string(text))
	if errors.Is(err, syscall.ESRCH) || err == nil && s.hasEnded() { // ESRCH: it ended while the file was read
		err = fs.ErrNotExist
	}
	if err != nil {
		return "", fmt.Errorf("process %d: %w", pid, err)
	}
	return strconv.FormatInt(s.start, 10), nil
}

// Processes returns the running processes. Those whose environment had the entry, such as "NAME=value", are
// marked. The environment of another user's process is not readable.
func Processes(entry string) ([]Running, error) {
	var running []Running
	for _, pid := range pids() {
		s := stat(pid)
		if s.hasEnded() {
			continue
		}
		running = append(running, Running{
			PID: pid, Parent: s.parent, Group: s.group, Start: strconv.FormatInt(s.start, 10), Marked: isMarked(pid, entry),
		})
	}
	return running, nil
}

// hasEnded reports whether a process does not exist, or is a zombie that its parent has not waited for.
func (s stated) hasEnded() bool { return s.state == "" || s.state == "Z" || s.state == "X" }

func isMarked(pid int, entry string) bool {
	environ, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	if err != nil {
		return false // it has ended, or belongs to another user
	}
	return slices.ContainsFunc(bytes.Split(environ, []byte{0}), func(e []byte) bool { return string(e) == entry })
}
