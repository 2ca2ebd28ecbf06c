//go:build unix

package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"syscall"
)

// listen creates the socket. The caller holds the instance lock, so an existing file is from an earlier daemon.
func listen(a Address) (net.Listener, error) {
	info, err := os.Lstat(a.Socket)
	if err == nil && info.Mode()&os.ModeSocket == 0 {
		return nil, fmt.Errorf("%s is in the place of the daemon's socket: remove it", a.Socket)
	}
	if err := removeSocket(a); err != nil {
		return nil, fmt.Errorf("remove the socket of an earlier daemon: %w", err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: a.Socket})
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	l.SetUnlinkOnClose(false) // the path may then have another daemon's socket
	// The folder is private already. This is for checks of the socket alone.
	if err := os.Chmod(a.Socket, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("listen: %w", err), l.Close())
	}
	return l, nil
}

// removeSocket removes the socket, if it exists. The caller holds the instance lock.
func removeSocket(a Address) error { return removeIfThere(a.Socket) }

// connect connects to the daemon. Its process must belong to this person.
func connect(ctx context.Context, a Address) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", a.Socket)
	if err != nil {
		return nil, err
	}
	if err := checkPeer(conn, os.Geteuid()); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// admit fails for a client of another user.
func admit(conn net.Conn) error { return checkPeer(conn, os.Geteuid()) }

// checkPeer fails if the process at the other end does not belong to a user.
func checkPeer(conn net.Conn, user int) error {
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return fmt.Errorf("who is at the other end of a %T is not known", conn)
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	uid := -1
	var asked error
	if err := raw.Control(func(fd uintptr) { uid, asked = peerUser(int(fd)) }); err != nil {
		return err
	}
	if asked != nil {
		return fmt.Errorf("find out who is at the other end: %w", asked)
	}
	if uid != user {
		return fmt.Errorf("the process at the other end is of user %d, not of user %d", uid, user)
	}
	return nil
}

// isAbsent reports whether a connection's error says that there is no daemon, or that it left at that
// moment.
func isAbsent(err error) bool {
	for _, absent := range []error{fs.ErrNotExist, syscall.ENOTDIR, syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EPIPE, io.EOF, io.ErrUnexpectedEOF} {
		if errors.Is(err, absent) {
			return true
		}
	}
	return false
}

// isCrowded reports whether a daemon does not accept waiting connections.
func isCrowded(err error) bool { return errors.Is(err, syscall.EAGAIN) }
