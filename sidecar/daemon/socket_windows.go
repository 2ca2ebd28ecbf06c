package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"

	"github.com/Microsoft/go-winio"
	"golang.org/x/sys/windows"
)

// pipeBuffer is the size of a pipe's buffers, in bytes.
const pipeBuffer = 64 << 10

// listen creates the pipe. Only this person and the system may open it; the default list would let others read. In
// message mode, one direction of the pipe can be closed.
func listen(a Address) (net.Listener, error) {
	sid, err := currentSID()
	if err != nil {
		return nil, err
	}
	l, err := winio.ListenPipe(a.Socket, &winio.PipeConfig{
		SecurityDescriptor: descriptor(sid), MessageMode: true, InputBufferSize: pipeBuffer, OutputBufferSize: pipeBuffer,
	})
	if errors.Is(err, windows.ERROR_ACCESS_DENIED) {
		err = fmt.Errorf("%w: another program has made the pipe", err)
	}
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", a.Socket, err)
	}
	return l, nil
}

// removeSocket does nothing: a pipe ends with its process.
func removeSocket(Address) error { return nil }

// connect connects to the daemon. Its process must belong to this person: any program can create a pipe of this name
// first.
func connect(ctx context.Context, a Address) (net.Conn, error) {
	conn, err := winio.DialPipeContext(ctx, a.Socket)
	if err != nil {
		return nil, err
	}
	if err := checkServer(conn); err != nil {
		return nil, errors.Join(fmt.Errorf("find out who made the pipe %s: %w", a.Socket, err), conn.Close())
	}
	return conn, nil
}

func checkServer(conn net.Conn) (err error) {
	pipe, ok := conn.(interface{ Fd() uintptr })
	if !ok {
		return fmt.Errorf("a %T has no handle", conn)
	}
	var pid uint32
	if err := windows.GetNamedPipeServerProcessId(windows.Handle(pipe.Fd()), &pid); err != nil {
		return err
	}
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, pid)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, windows.CloseHandle(process)) }()
	var token windows.Token
	if err := windows.OpenProcessToken(process, windows.TOKEN_QUERY, &token); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, token.Close()) }()
	owner, err := token.GetTokenUser()
	if err != nil {
		return err
	}
	sid, err := currentSID()
	if err != nil {
		return err
	}
	if owner.User.Sid.String() != sid {
		return fmt.Errorf("process %d is another user's", pid)
	}
	return nil
}

// admit accepts every client, because the pipe's list keeps others out.
func admit(net.Conn) error { return nil }

// isAbsent reports whether a connection's error says that there is no daemon, or that it left at that
// moment.
func isAbsent(err error) bool {
	for _, absent := range []error{
		fs.ErrNotExist, io.EOF, io.ErrUnexpectedEOF, winio.ErrFileClosed,
		windows.ERROR_BROKEN_PIPE, windows.ERROR_NO_DATA, windows.ERROR_PIPE_NOT_CONNECTED,
	} {
		if errors.Is(err, absent) {
			return true
		}
	}
	return false
}

// isCrowded reports whether a daemon does not accept waiting connections.
func isCrowded(err error) bool { return errors.Is(err, windows.ERROR_PIPE_BUSY) }
