// Package leftover ends the processes of servers that a killed Assent left behind.
//
// A [Run] is one sidecar, or one command in a terminal. It has a file, and holds a lock on it. The system releases the
// lock when the process ends, however it ends. The file has a token and, for each server, a process id and a start time.
// The run puts the token into the environment of its servers, and their children inherit it, also in sessions of their
// own.
//
// A file without its lock proves that its run is dead. Then the processes that are proven to be the run's are ended:
// those with the token, those with an id and a start time from the file, and the groups of these. Names and command
// lines prove nothing. A process without proof is left alone. The file may also name a temporary folder of the run, which
// is removed after that.
//
// A run that ends in good order ends by the same proof what its servers left behind.
//
// Two look for such files. Each run starts a keeper with its first server; it waits until the run has died, and looks
// at the file of that run. And [Begin] looks at all files. A server may itself have started an Assent, as in a shell.
// While that lives, its whole tree is spared.
//
// A [Run] may be used from any goroutine, and a nil one does nothing. Where the system cannot prove any of this, [Begin]
// returns nil. On Windows, job objects end what servers started.
package leftover

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"assent/sidecar/base/procinfo"
)

// Variable is the name of the token in the environment of servers.
const Variable = "ASSENT_SERVER"

// Folder returns where this user's runs have their files.
func Folder() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(cache, "assent", "runs"), nil
}

// Run marks the servers of one sidecar, so that they can be recognised once it is dead.
type Run struct {
	record record
	file   *held
	log    zerolog.Logger
	// looked is closed when the processes of earlier runs have been ended; stop ends that early.
	looked chan struct{}
	stop   context.CancelFunc

	keep   sync.Once
	keeper *keeper // nil before the first server, and if it could not be started; set by keep
}

// TemporaryPattern is the pattern for the names of temporary folders, as of [os.MkdirTemp].
const TemporaryPattern = "assent-*"

// Begin creates a run, and starts to end the processes that dead runs in the folder left behind. The caller calls [Run.End]
// once its servers have ended. Temporary is the path of a folder that the caller removes after that, or empty. If the run
// is killed, its keeper or the next start removes the folder, once the servers have ended.
func Begin(folder, temporary string, log zerolog.Logger) (*Run, error) {
	boot, err := procinfo.Boot()
	if errors.Is(err, errors.ErrUnsupported) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find out which boot this is: %w", err)
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	r := &Run{log: log, record: record{Token: rand.Text(), Boot: boot, PID: os.Getpid(), Temporary: temporary}, looked: make(chan struct{})}
	if r.file, err = create(folder, r.record); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	go func() { // End waits for it
		defer close(r.looked)
		endDead(ctx, folder, boot, log)
	}()
	return r, nil
}

// Mark returns the entry for the environment of a server's process, as "NAME=value"; it is empty for a nil run. Mark first
// waits until the processes of earlier runs have ended, or ctx has, because one of them may hold a file or a port that this
// server needs.
func (r *Run) Mark(ctx context.Context) string {
	if r == nil {
		return ""
	}
	select {
	case <-r.looked:
	case <-ctx.Done():
	}
	r.keep.Do(func() {
		var err error
		if r.keeper, err = startKeeper(r.file.path); err != nil {
			r.log.Warn().Err(err).Msg("servers that outlive a killed Assent are ended by its next start only")
		}
	})
	return r.record.mark()
}

// Started writes a server's process id and start time into the file. They prove the process where its environment
// cannot be read.
func (r *Run) Started(pid int) {
	if r == nil {
		return
	}
	start, err := procinfo.StartOf(pid)
	if err == nil {
		err = r.file.add(started{PID: pid, Start: start})
	}
	if err != nil { // it may have ended already
		r.log.Debug().Err(err).Int("pid", pid).Msg("the start of a server was not noted")
	}
}

// LongestEnd is how long [Run.End] may take.
const LongestEnd = 2*grace + time.Second

// End ends what the servers left behind, as after a kill, and removes the file. The servers themselves have ended by
// then.
func (r *Run) End() error {
	if r == nil {
		return nil
	}
	r.stop()
	<-r.looked
	marked := true
	r.keep.Do(func() { marked = false }) // no keeper starts from here on
	if !marked {
		return r.file.remove()
	}
	ctx, cancel := context.WithTimeout(context.Background(), LongestEnd)
	defer cancel()
	noted, err := readRecord(r.file.path)
	all := false
	if err == nil {
		all, err = noted.endServers(ctx, r.file.path, r.log)
	}
	if err = errors.Join(err, r.keeper.end()); err != nil || !all {
		return errors.Join(err, r.file.lock.Close())
	}
	return r.file.remove()
}

// EndOf ends the processes that the run with this file left behind, if the run is dead or dies within a few seconds. The
// keeper calls it.
func EndOf(ctx context.Context, path string) error {
	boot, err := procinfo.Boot()
	if err != nil {
		return err
	}
	file, err := holdSoon(ctx, path)
	if file == nil || err != nil {
		return err // another process has ended them, or is about to
	}
	return endRun(ctx, file, boot, zerolog.Nop())
}

// Unmarked returns an environment without a token: that of a process which must not end with the servers.
func Unmarked(environ []string) []string {
	var rest []string
	for _, e := range environ {
		if !strings.HasPrefix(e, Variable+"=") {
			rest = append(rest, e)
		}
	}
	return rest
}
