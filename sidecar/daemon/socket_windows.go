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

// listen makes the pipe. Only this person and the system may open it; the default list would let others read. In the mode of
// messages the pipe can be closed in one direction.
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

// connect connects with the daemon, whose process must be this person's: any program can make a pipe of this name first.
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

// admit lets every client in: the pipe's list has kept the others out.
func admit(net.Conn) error { return nil }

// isAbsent reports whether an error of a connection says that no daemon is there, or that it just left.
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

// isCrowded reports whether a daemon does not accept the connections that wait for it.
func isCrowded(err error) bool { return errors.Is(err, windows.ERROR_PIPE_BUSY) }
