package leftover

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"assent/sidecar/base/procinfo"
)

// grace is how long a process has to end after SIGTERM, and again after SIGKILL.
const grace = 2 * time.Second

// strange is the age at which the file of another boot is removed. Until then, another machine that shares the folder may
// need it.
const strange = 7 * 24 * time.Hour

// endDead ends the processes that the dead runs in a folder left behind.
func endDead(ctx context.Context, folder, boot string, log zerolog.Logger) {
	paths, err := filesIn(folder)
	if err != nil {
		log.Warn().Err(err).Msg("what earlier runs left behind is not known")
		return
	}
	for _, path := range paths {
		file, err := holdDead(path)
		if err == nil && file != nil {
			err = endRun(ctx, file, boot, log)
		}
		if err != nil && ctx.Err() == nil {
			log.Warn().Err(err).Str("file", path).Msg("what an earlier run left behind was not ended")
		}
	}
}

// endRun ends the processes that a dead run left behind, and releases its file. It removes the file if no process is left.
func endRun(ctx context.Context, file *held, boot string, log zerolog.Logger) error {
	r, err := readRecord(file.path)
	if err != nil {
		return errors.Join(err, file.lock.Close())
	}
	if r.Boot != boot {
		if info, err := os.Stat(file.path); err == nil && time.Since(info.ModTime()) > strange {
			return file.remove()
		}
		return file.lock.Close()
	}
	all, err := r.endServers(ctx, file.path, log)
	if err != nil || !all {
		return errors.Join(err, file.lock.Close())
	}
	return errors.Join(r.removeTemporary(), file.remove())
}

// removeTemporary removes the run's temporary folder. A path that is no such folder's proves nothing, and stays.
func (r record) removeTemporary() error {
	if named, err := filepath.Match(TemporaryPattern, filepath.Base(r.Temporary)); err != nil || !named || !filepath.IsAbs(r.Temporary) {
		return err
	}
	return os.RemoveAll(r.Temporary)
}

// endServers sends SIGTERM to the processes of a run, and later SIGKILL. It looks for them again each time, because a process
// may start another. All reports whether no process is left, not even a spared one.
func (r record) endServers(ctx context.Context, path string, log zerolog.Logger) (all bool, err error) {
	asked := map[procinfo.Running]bool{}
	refused := map[int]error{} // by process id, for example of a process that changed its user
	begun := time.Now()
	for {
		left, spared, err := r.left(path)
		if err != nil || len(left) == 0 {
			return !spared, err
		}
		passed := time.Since(begun)
		if passed > 2*grace {
			why := slices.Collect(maps.Values(refused))
			return false, errors.Join(append(why, fmt.Errorf("%d processes do not end, the first is %d", len(left), left[0].PID))...)
		}
		for _, p := range left {
			var err error
			switch {
			case passed > grace:
				err = signal(p, syscall.SIGKILL)
			case !asked[p]:
				asked[p] = true
				log.Warn().Int("pid", p.PID).Msg("ending a process that a server left behind")
				err = signal(p, syscall.SIGTERM)
			}
			if err != nil {
				refused[p.PID] = err
			}
		}
		if !sleep(ctx) {
			return false, ctx.Err()
		}
	}
}

// signal sends a signal to a process, unless its id belongs to another process by now.
func signal(p procinfo.Running, s syscall.Signal) error {
	// On a system with process handles, the id cannot go to another process from here on.
	process, err := os.FindProcess(p.PID)
	if err != nil {
		return err
	}
	defer func() { _ = process.Release() }() // it fails for a process that has ended
	if start, err := procinfo.StartOf(p.PID); err != nil || start != p.Start {
		return nil // it has ended
	}
	if err := process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("end process %d: %w", p.PID, err)
	}
	return nil
}

// left returns the processes of the run that may be ended; spared reports whether others stay.
func (r record) left(path string) (left []procinfo.Running, spared bool, err error) {
	all, err := procinfo.Processes(r.mark())
	if err != nil {
		return nil, false, err
	}
	owners, err := living(filepath.Dir(path), path)
	if err != nil {
		return nil, false, err
	}
	left, spared = r.proven(all, append(owners, os.Getpid()))
	return left, spared, nil
}

// proven returns the run's processes, without the trees that have a process of another run. Spared reports whether there is
// such a tree. Owners are the processes of the other runs.
func (r record) proven(all []procinfo.Running, owners []int) (left []procinfo.Running, spared bool) {
	byID := map[int]procinfo.Running{}
	for _, p := range all {
		byID[p.PID] = p
	}
	isServer := func(pid int) bool {
		start, noted := r.servers[pid]
		return noted && byID[pid].Start == start
	}
	isOurs := func(pid int) bool {
		p, runs := byID[pid]
		return runs && (p.Marked || isServer(pid) || isServer(p.Group))
	}
	// root returns the furthest ancestor that is ours, or the process itself; 0 if none of them is ours.
	root := func(pid int) int {
		furthest := 0
		for seen := map[int]bool{}; pid > 1 && !seen[pid]; pid = byID[pid].Parent {
			if seen[pid] = true; isOurs(pid) {
				furthest = pid
			}
		}
		return furthest
	}
	owned := map[int]bool{}
	for _, owner := range owners {
		owned[root(owner)] = true
	}
	for _, p := range all {
		switch {
		case !isOurs(p.PID):
		case owned[root(p.PID)]:
			spared = true
		default:
			left = append(left, p)
		}
	}
	return left, spared
}
