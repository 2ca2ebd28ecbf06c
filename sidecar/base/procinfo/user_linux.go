package procinfo

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// UserOf returns the user of the socket at the local end of a TCP connection over IPv4 between addresses of this
// machine. It asks the kernel for this one socket (sock_diag(7)), because the table of all sockets is long when
// another user opens thousands. Where the kernel cannot be asked, it reads the table.
func UserOf(local, remote netip.AddrPort) (uid int, err error) {
	uid, err = diagnose(local, remote)
	if err == nil {
		return uid, nil
	}
	if _, other := diagnose(remote, local); other == nil {
		return 0, fs.ErrNotExist // the kernel knows the other end: this one has gone
	}
	const table = "/proc/self/net/tcp"
	f, err := os.Open(table)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return userOf(f, hexAddress(local), hexAddress(remote))
}

// Sizes of the messages of sock_diag(7).
const (
	sizeHeader  = 16              // nlmsghdr
	sizeRequest = sizeHeader + 56 // with inet_diag_req_v2
	sizeAnswer  = sizeHeader + 72 // with inet_diag_msg
	offsetUser  = sizeHeader + 64 // of inet_diag_msg's idiag_uid
)

// diagnose asks the kernel for the user of a socket.
func diagnose(local, remote netip.AddrPort) (uid int, err error) {
	const byFamily = 20 // SOCK_DIAG_BY_FAMILY
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return 0, err
	}
	defer func() { _ = unix.Close(fd) }()
	request := make([]byte, sizeRequest)
	native := binary.NativeEndian
	native.PutUint32(request, sizeRequest)
	native.PutUint16(request[4:], byFamily)
	native.PutUint16(request[6:], unix.NLM_F_REQUEST)
	body := request[sizeHeader:]
	body[0], body[1] = unix.AF_INET, unix.IPPROTO_TCP
	native.PutUint32(body[4:], ^uint32(0)) // in each state
	binary.BigEndian.PutUint16(body[8:], local.Port())
	binary.BigEndian.PutUint16(body[10:], remote.Port())
	from, to := local.Addr().Unmap().As4(), remote.Addr().Unmap().As4()
	copy(body[12:], from[:])
	copy(body[28:], to[:])
	native.PutUint64(body[48:], ^uint64(0)) // any cookie
	if err := unix.Sendto(fd, request, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return 0, err
	}
	answer := make([]byte, 512)
	n, _, err := unix.Recvfrom(fd, answer, 0)
	if err != nil {
		return 0, err
	}
	switch kind := native.Uint16(answer[4:]); {
	case n >= sizeAnswer && kind == byFamily:
		return int(native.Uint32(answer[offsetUser:])), nil
	case n >= sizeHeader+4 && kind == unix.NLMSG_ERROR:
		return 0, unix.Errno(-int32(native.Uint32(answer[sizeHeader:])))
	default:
		return 0, fmt.Errorf("the kernel's answer has the type %d and %d bytes: %w", kind, n, errors.ErrUnsupported)
	}
}

// userOf finds a socket in a table of proc_pid_net(5).
func userOf(table io.Reader, local, remote string) (uid int, err error) {
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		if fields := strings.Fields(lines.Text()); len(fields) > 7 && fields[1] == local && fields[2] == remote {
			return strconv.Atoi(fields[7])
		}
	}
	return 0, errors.Join(fs.ErrNotExist, lines.Err())
}

// hexAddress formats an address as in a table of proc_pid_net(5): the kernel's word of four bytes, in its own byte
// order.
func hexAddress(a netip.AddrPort) string {
	raw := a.Addr().Unmap().As4()
	return fmt.Sprintf("%08X:%04X", binary.NativeEndian.Uint32(raw[:]), a.Port())
}
