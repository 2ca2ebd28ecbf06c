//go:build unix

package cmd

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// pollable returns a pipe or a socket that the runtime polls, instead of blocking a thread in a read. Between two
// messages, that thread would hold a processor of the runtime, which the runtime then takes back at regular
// intervals: an eighth of the cost of an ask. Any other file is returned unchanged. The other end sees no
// difference.
func pollable(in io.Reader) io.Reader {
	file, ok := in.(*os.File)
	if !ok {
		return in
	}
	info, err := file.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return in
	}
	fd := file.Fd()
	if err := syscall.SetNonblock(int(fd), true); err != nil {
		return in
	}
	return polled{os.NewFile(fd, file.Name())}
}

// polled is a pipe that can be closed under its reader, for whom it has ended then.
type polled struct{ *os.File }

// Read implements [io.Reader].
func (p polled) Read(b []byte) (int, error) {
	n, err := p.File.Read(b)
	if errors.Is(err, os.ErrClosed) {
		err = io.EOF
	}
	return n, err
}
