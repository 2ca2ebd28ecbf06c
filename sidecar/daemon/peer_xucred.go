//go:build darwin || freebsd

package daemon

import "golang.org/x/sys/unix"

// peerUser returns the user of the process at the other end of a socket; see LOCAL_PEERCRED in unix(4).
func peerUser(fd int) (int, error) {
	credentials, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return -1, err
	}
	return int(credentials.Uid), nil
}
