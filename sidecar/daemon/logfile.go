package daemon

import (
	"errors"
	"os"
	"runtime/debug"
	"sync"
)

// maxLog is the size at which a log is rotated, in bytes.
const maxLog = 5 << 20

// olderSuffix is the suffix of the previous log. Only these two logs are kept.
const olderSuffix = ".1"

// LogFile is a log that is rotated at the start of a daemon and at 5 MB. It may be used from any goroutine. Each Write
// is a whole line.
type LogFile struct {
	path  string
	limit int64

	mu   sync.Mutex // guards the fields below
	file *os.File
	size int64
}

// NewLog returns a log whose file is created with its first line, because a process that does not become the daemon
// writes none. The runtime also writes crashes to it.
func NewLog(path string) *LogFile { return &LogFile{path: path, limit: maxLog} }

// begin renames the present file to its older name, and opens a new one.
func (l *LogFile) begin() error {
	if l.file != nil {
		// Some systems cannot rename an open file.
		err := errors.Join(debug.SetCrashOutput(nil, debug.CrashOptions{}), l.file.Close())
		l.file = nil
		if err != nil {
			return err
		}
	}
	// On Windows, a file that another process reads cannot be renamed. It then grows further, so that no lines are
	// lost.
	_ = os.Rename(l.path, l.path+olderSuffix)
	file, err := os.OpenFile(l.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	l.file, l.size = file, 0
	return debug.SetCrashOutput(file, debug.CrashOptions{})
}

// Write implements [io.Writer].
func (l *LogFile) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil || l.size > 0 && l.size+int64(len(line)) > l.limit {
		if err := l.begin(); err != nil {
			return 0, err
		}
	}
	n, err := l.file.Write(line)
	l.size += int64(n)
	return n, err
}

// Close ends the log.
func (l *LogFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	return errors.Join(debug.SetCrashOutput(nil, debug.CrashOptions{}), l.file.Close())
}
