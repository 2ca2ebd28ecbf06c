package procinfo

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// most bounds how many processes are returned.
const most = 10

// Listeners reports whether a process listens on a TCP port of this machine's own addresses, and which.
// Processes of other users are not listed.
func Listeners(port int) (listening bool, by []Process, err error) {
	inodes := map[string]bool{}
	for _, table := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
		f, err := os.Open(table)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the system has no IPv6
		}
		if err != nil {
			return false, nil, err
		}
		err = sockets(f, port, inodes)
		if err := errors.Join(err, f.Close()); err != nil {
			return false, nil, fmt.Errorf("%s: %w", table, err)
		}
	}
	if len(inodes) == 0 {
		return false, nil, nil
	}
	for _, pid := range pids() {
		if len(by) < most && holds(pid, inodes) {
			by = append(by, process(pid))
		}
	}
	return true, by, nil
}

// sockets adds the inodes of the sockets that listen on a port, from a table of proc_pid_net(5).
func sockets(table io.Reader, port int, inodes map[string]bool) error {
	const listen = "0A"
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 10 || fields[3] != listen {
			continue
		}
		address, hexPort, _ := strings.Cut(fields[1], ":")
		if p, err := strconv.ParseUint(hexPort, 16, 16); err == nil && int(p) == port && isOwn(address) {
			inodes["socket:["+fields[9]+"]"] = true
		}
	}
	return lines.Err()
}

// isOwn reports whether a listening address includes this machine: the wildcard, or the loopback. The
// kernel writes words of four bytes in its own byte order, which is reversed here.
func isOwn(address string) bool {
	raw, err := hex.DecodeString(address)
	if err != nil {
		return false
	}
	for word := range slices.Chunk(raw, 4) {
		slices.Reverse(word)
	}
	switch zero := make([]byte, len(raw)); {
	case bytes.Equal(raw, zero):
		return true
	case len(raw) == 4:
		return raw[0] == 127
	case len(raw) == 16:
		mapped := bytes.Equal(raw[:10], zero[:10]) && raw[10] == 0xff && raw[11] == 0xff && raw[12] == 127
		return mapped || bytes.Equal(raw[:15], zero[:15]) && raw[15] == 1
	default:
		return false
	}
}

// holds reports whether a process has one of these files open.
func holds(pid int, files map[string]bool) bool {
	folder := filepath.Join("/proc", strconv.Itoa(pid), "fd")
	entries, err := os.ReadDir(folder)
	if err != nil {
		return false // it has ended, or belongs to another user
	}
	for _, e := range entries {
		if to, err := os.Readlink(filepath.Join(folder, e.Name())); err == nil && files[to] {
			return true
		}
	}
	return false
}

// Orphans returns this user's processes that were started with these arguments and whose parent has
// ended. A script is identified by the arguments after its interpreter.
func Orphans(argv []string) ([]Process, error) {
	if len(argv) == 0 {
		return nil, nil
	}
	var left []Process
	for _, pid := range pids() {
		if len(left) < most && pid != os.Getpid() && isOf(arguments(pid), argv) && isMine(pid) && isAlone(pid) {
			left = append(left, process(pid))
		}
	}
	return left, nil
}

// maxInterpreter is how many words may precede a script: "/usr/bin/env", "node".
const maxInterpreter = 2

// isOf reports whether a process was started with argv, ignoring the path of its program.
func isOf(process, argv []string) bool {
	before := len(process) - len(argv)
	return before >= 0 && before <= maxInterpreter &&
		filepath.Base(process[before]) == filepath.Base(argv[0]) && slices.Equal(process[before+1:], argv[1:])
}

func arguments(pid int) []string {
	raw, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	if err != nil || len(raw) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(raw), "\x00"), "\x00")
}

func isMine(pid int) bool {
	for line := range strings.Lines(read(pid, "status")) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "Uid:" {
			return fields[1] == strconv.Itoa(os.Getuid())
		}
	}
	return false
}

// isAlone reports whether a process was reparented to init or to a session's systemd, because its
// parent has ended. A service of theirs looks the same.
func isAlone(pid int) bool {
	parent := stat(pid).parent
	return parent == 1 || parent > 1 && strings.TrimSpace(read(parent, "comm")) == "systemd"
}

// pids returns the ids of all processes in ascending order.
func pids() []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var ids []int
	for _, e := range entries {
		if id, err := strconv.Atoi(e.Name()); err == nil {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// tick is the unit of times in proc_pid_stat(5). Linux uses 100 per second on every system that Go
// supports.
const tick = time.Second / 100

func process(pid int) Process {
	p := Process{PID: pid, Name: strings.TrimSpace(read(pid, "comm"))}
	if start := stat(pid).start; start > 0 {
		if boot := bootTime(); !boot.IsZero() {
			p.Since = boot.Add(time.Duration(start) * tick)
		}
	}
	return p
}

// stated is a part of proc_pid_stat(5).
type stated struct {
	state         string
	parent, group int
	start         int64 // in ticks since the boot
}

// stat returns zeros if the process has ended.
func stat(pid int) stated { return parseStat(read(pid, "stat")) }

func parseStat(text string) stated {
	// The name in parentheses may contain any characters.
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 20 {
		return stated{}
	}
	s := stated{state: fields[0]}
	s.parent, _ = strconv.Atoi(fields[1])
	s.group, _ = strconv.Atoi(fields[2])
	s.start, _ = strconv.ParseInt(fields[19], 10, 64)
	return s
}

func bootTime() time.Time {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return time.Time{}
	}
	for line := range strings.Lines(string(text)) {
		if seconds, ok := strings.CutPrefix(line, "btime "); ok {
			if s, err := strconv.ParseInt(strings.TrimSpace(seconds), 10, 64); err == nil {
				return time.Unix(s, 0)
			}
		}
	}
	return time.Time{}
}

// read returns a file of a process in /proc, or "" if the process has ended.
func read(pid int, name string) string {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), name))
	if err != nil {
		return ""
	}
	return string(text)
}
