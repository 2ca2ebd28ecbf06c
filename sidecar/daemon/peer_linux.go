package daemon

import "golang.org/x/sys/unix"

// peerUser returns the user of the process at the other end of a socket; see SO_PEERCRED in unix(7).
func peerUser(fd int) (int, error) {
	credentials, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return -1, err
	}
	return int(credentials.Uid), nil
}
