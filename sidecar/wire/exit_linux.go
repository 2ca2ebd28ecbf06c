package wire

import (
	"os"

	"golang.org/x/sys/unix"
)

// awaitExit returns when a child has ended, or when that cannot be said without waiting for it in a thread of its own.
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
	// The poller says when a read may succeed. There is nothing to read, and an end to ask for.
	_ = conn.Read(func(fd uintptr) bool {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		return n > 0 || err != nil && err != unix.EINTR
	})
}
