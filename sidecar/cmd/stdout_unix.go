//go:build unix

package cmd

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// unreadPoll is how long one look at the other end of a pipe takes.
const unreadPoll = 200 * time.Millisecond

// unread returns a function that waits until a pipe or a socket has lost its readers, or ctx ends. It is nil for any
// other file.
func unread(out io.Writer) func(ctx context.Context) {
	file, ok := out.(*os.File)
	if !ok {
		return nil
	}
	info, err := file.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return nil
	}
	return func(ctx context.Context) {
		for ctx.Err() == nil {
			// Without events to wait for, only that the other end is closed ends the call early.
			closed, err := unix.Poll([]unix.PollFd{{Fd: int32(file.Fd())}}, int(unreadPoll.Milliseconds()))
			if err != nil && !errors.Is(err, unix.EINTR) {
				<-ctx.Done()
			}
			if closed > 0 {
				return
			}
		}
	}
}
