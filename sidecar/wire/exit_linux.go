package wire

import (
	"os"

	"golang.org/x/sys/unix"
)

// awaitExit returns when a child has ended, or at once if the system would need a blocked thread for that.
func awaitExit(pid int) {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return // before Linux 5.10
	}
	child := os.NewFile(uintptr(fd), "pidfd")
	defer child.Close()
	conn, err := child.SyscallConn()
	if err != nil {
		return
	}
	// The poller reports when the descriptor is readable, which means the end of the process.
	// There is nothing to read.
	_ = conn.Read(func(fd uintptr) bool {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		return n > 0 || err != nil && err != unix.EINTR
	})
}
