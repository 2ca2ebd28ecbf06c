package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/fsnotify/fsnotify"
)

// PrintLog writes the older log and the present one. With follow, it continues with the lines that this daemon or the
// next one adds, until ctx ends.
func PrintLog(ctx context.Context, a Address, w io.Writer, follow bool) error {
	var watcher *fsnotify.Watcher
	if follow {
		var err error
		if watcher, err = watchLog(a); err != nil { // before the log is read, so that no line is missed
			return err
		}
		defer watcher.Close()
	}
	older, err := openIfThere(a.Log + olderSuffix)
	if err == nil && older != nil {
		_, err = io.Copy(w, older)
		err = errors.Join(err, older.Close())
	}
	if err != nil {
		return err
	}
	l := &logReader{path: a.Log}
	defer l.close()
	if !follow {
		return l.copyTo(w)
	}
	return l.follow(ctx, watcher, w)
}

// FollowLog writes the lines that this daemon or the next one adds to the log from now on. The caller calls end, which
// returns when all lines so far are written.
func FollowLog(a Address, w io.Writer) (end func() error, err error) {
	watcher, err := watchLog(a)
	if err != nil {
		return nil, err
	}
	l := &logReader{path: a.Log}
	if l.file, err = openIfThere(a.Log); err == nil && l.file != nil {
		_, err = l.file.Seek(0, io.SeekEnd)
	}
	if err != nil {
		l.close()
		return nil, errors.Join(fmt.Errorf("follow the log: %w", err), watcher.Close())
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		defer l.close()
		ended <- errors.Join(l.follow(ctx, watcher, w), watcher.Close())
	}()
	return func() error {
		cancel()
		return <-ended
	}, nil
}

// watchLog returns a watcher of the log's folder.
func watchLog(a Address) (*fsnotify.Watcher, error) {
	if err := keepPrivate(a.Folder); err != nil { // there may not have been a daemon yet
		return nil, err
	}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("follow the log: %w", err)
	}
	if err := watcher.Add(a.Folder); err != nil {
		return nil, errors.Join(fmt.Errorf("follow the log: %w", err), watcher.Close())
	}
	return watcher, nil
}

// logReader is a position in a log that may be rotated.
type logReader struct {
	path string
	file *os.File // nil until there is one
}

// copyTo writes the new lines, to the end of the present file.
func (l *logReader) copyTo(w io.Writer) error {
	for {
		next, err := openIfThere(l.path)
		if err != nil {
			return err
		}
		if l.file != nil { // the last lines before the log was rotated
			if _, err := io.Copy(w, l.file); err != nil {
				return errors.Join(err, closeIfThere(next))
			}
		}
		if next == nil || l.file != nil && sameFile(l.file, next) {
			return closeIfThere(next)
		}
		l.close()
		l.file = next
	}
}

// follow writes new lines until ctx ends, and then the rest.
func (l *logReader) follow(ctx context.Context, watcher *fsnotify.Watcher, w io.Writer) error {
	for {
		over := ctx.Err() != nil
		if err := l.copyTo(w); err != nil || over {
			return err
		}
		select {
		case <-ctx.Done():
		case err := <-watcher.Errors:
			return fmt.Errorf("follow the log: %w", err)
		case <-watcher.Events:
		}
	}
}

func (l *logReader) close() {
	_ = closeIfThere(l.file) // it was only read
}

func sameFile(a, b *os.File) bool {
	x, errX := a.Stat()
	y, errY := b.Stat()
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// openIfThere returns nil for a file that does not exist.
func openIfThere(path string) (*os.File, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return file, err
}

func closeIfThere(file *os.File) error {
	if file == nil {
		return nil
	}
	return file.Close()
}
