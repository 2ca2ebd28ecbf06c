package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// soakCommand makes this program put a day of asks through one daemon, and see what is lost and what grows.
const soakCommand = "soak"

// The people of the soak: two windows on each of the folders, and each window has a task with its own servers.
const (
	soakFolders   = 5
	soakWindows   = 2 * soakFolders
	windowLanes   = 5 // the servers of a window, which all ask at once
	soakServers   = soakWindows * windowLanes
	soakCycles    = 24 // hours of the day
	laneCalls     = 5  // calls of each server in an hour
	mostAtOnce    = 10 // asks that a server has open together
	soakLimit     = 30 * time.Minute
	soakSilence   = 2 * time.Minute // without a message, an ask is lost
	mayGrow       = 1.05            // of the memory, from a third of the work to its end
	mayVary       = 1.02            // of the goroutines
	soakCalls     = soakCycles * soakServers * laneCalls
	soakUsualAsks = 1_000_000
)

// soak is one run.
type soak struct {
	*home
	asks    int
	seed    uint64
	began   time.Time
	windows [soakWindows]*soakWindow
	counts  soakCounts
	states  []soakState // after each cycle
}

// soakCounts is what happened.
type soakCounts struct {
	answered                atomic.Int64 // asks of which the server has the answer
	closed, killed, guests  atomic.Int64 // windows
	serversKilled, repeated atomic.Int64
	refused                 atomic.Int64 // answers to asks that were answered before
}

func runSoak(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet(soakCommand, flag.ContinueOnError)
	asks := flags.Int("asks", soakUsualAsks, "how many asks are asked")
	seed := flags.Uint64("seed", 0, "of the random numbers that decide when a window or a server ends; 0 is another one each time")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *asks < soakCalls {
		return fmt.Errorf("-asks %d: give at least %d, one for each call of the soak", *asks, soakCalls)
	}
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	dir, err := os.MkdirTemp("", "assent-soak")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, soakLimit, fmt.Errorf("it took more than %v", soakLimit))
	defer cancel()
	b := &bench{ctx: ctx, dir: dir}
	return errors.Join(b.soak(*asks, *seed), os.RemoveAll(dir))
}

// soak runs the soak, prints its table, and fails if a bar is missed.
func (b *bench) soak(asks int, seed uint64) error {
	if err := b.build(); err != nil {
		return err
	}
	machine := thisMachine()
	var rows []row
	err := b.withHome(func(h *home) error {
		s := &soak{home: h, asks: asks, seed: seed, began: time.Now()}
		fmt.Fprintf(os.Stderr, "soak: %d asks, -seed %d, daemon in %s\n", asks, seed, h.folder)
		err := errors.Join(s.work(), s.closeWindows())
		if err != nil {
			return fmt.Errorf("%w\nthe daemon's log ends with\n%s", errors.Join(err, context.Cause(b.ctx)), h.logEnd())
		}
		rows = s.rows()
		more, err := s.databaseRows()
		rows = append(rows, more...)
		return err
	})
	if err != nil {
		return err
	}
	if err := printTable(os.Stdout, machine, rows); err != nil {
		return err
	}
	return missedBars(rows)
}

// logEnd returns the last lines of the daemon's log.
func (h *home) logEnd() string {
	out, err := h.run("daemon", "log")
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return strings.Join(lines[max(len(lines)-10, 0):], "\n")
}

// work has all servers ask, hour by hour, and measures the daemon after each hour.
func (s *soak) work() error {
	for i := range s.windows {
		s.windows[i] = &soakWindow{soak: s, index: i, random: rand.New(rand.NewPCG(s.seed, uint64(i)))}
	}
	for i, w := range s.windows {
		if err := w.open(w.folder()); err != nil {
			return fmt.Errorf("window %d: %w", i, err)
		}
	}
	for cycle := range soakCycles {
		before, began := s.counts.answered.Load(), time.Now()
		var all errgroup.Group
		for _, w := range s.windows {
			all.Go(func() error {
				if err := w.cycle(cycle); err != nil {
					return fmt.Errorf("hour %d, window %d: %w", cycle+1, w.index, err)
				}
				return nil
			})
		}
		if err := all.Wait(); err != nil {
			return err
		}
		took := time.Since(began)
		state, err := s.measure()
		if err != nil {
			return fmt.Errorf("measure after hour %d: %w", cycle+1, err)
		}
		s.states = append(s.states, state)
		answered := s.counts.answered.Load()
		fmt.Fprintf(os.Stderr, "soak: hour %d of %d: %d asks, %.0f a second, %v\n",
			cycle+1, soakCycles, answered, float64(answered-before)/took.Seconds(), state)
	}
	return nil
}

// closeWindows closes all windows at once.
func (s *soak) closeWindows() error {
	var all sync.WaitGroup
	errs := make([]error, len(s.windows))
	for i, w := range s.windows {
		if w != nil && w.front != nil {
			all.Go(func() { errs[i] = w.close() })
		}
	}
	all.Wait()
	return errors.Join(errs...)
}

// share returns how many of all the asks a call has: as many as another one, or one more.
func (s *soak) share(cycle, window, lane, call int) int {
	i := ((cycle*soakWindows+window)*windowLanes+lane)*laneCalls + call
	return s.asks*(i+1)/soakCalls - s.asks*i/soakCalls
}

// soakState is the daemon at rest.
type soakState struct {
	at                            time.Duration // since the soak began
	status                        daemonStatus
	own, whole                    float64 // megabytes
	descriptors, threads, servers int     // the servers' processes
}

func (s soakState) String() string {
	return fmt.Sprintf("%.1f MB, %.1f MB resident, %d descriptors, %d goroutines, %d threads, %d servers, %v",
		s.own, s.whole, s.descriptors, s.status.Goroutines, s.threads, s.servers, s.at.Round(time.Second))
}

// measure measures the daemon after a rest. All windows are attached to their own folders, their newest tasks are
// connected to their servers, and nothing is open.
func (s *soak) measure() (state soakState, err error) {
	time.Sleep(rest)
	if state.status, err = s.status(); err != nil {
		return state, err
	}
	pid := state.status.PID
	if len(s.states) > 0 && pid != s.states[0].status.PID {
		return state, fmt.Errorf("the daemon is process %d, and was process %d", pid, s.states[0].status.PID)
	}
	if state.own, err = residentMB(pid, ownMemory); err != nil {
		return state, err
	}
	if state.whole, err = residentMB(pid, wholeMemory); err != nil {
		return state, err
	}
	if state.descriptors, err = countFiles(pid, "fd"); err != nil {
		return state, err
	}
	if state.threads, err = countFiles(pid, "task"); err != nil {
		return state, err
	}
	servers, err := children(pid, rawServerCommand)
	state.servers, state.at = len(servers), time.Since(s.began)
	return state, err
}

// countFiles counts what a folder of a process in /proc has.
func countFiles(pid int, folder string) (int, error) {
	entries, err := os.ReadDir(filepath.Join("/proc", fmt.Sprint(pid), folder))
	return len(entries), err
}

// rows are what happened, and what the daemon has in the last three hours beside what it had in those after a third of the
// work: the tenth of thirty minutes. The collector leaves a little more or less after each hour.
func (s *soak) rows() []row {
	const hours, third, answered = 3, "after a third of the work", "an ask with its own answer"
	memory := bar{limit: mayGrow}
	if s.asks < soakUsualAsks {
		memory = bar{} // after a third of the work, SQLite's caches are not full yet
	}
	first, last := s.states[soakCycles/3-1:][:hours], s.states[soakCycles-hours:]
	beside := func(what, unit string, of func(soakState) float64, bar bar) row {
		r := row{what: what, unit: unit, referenceIs: third, bar: bar}
		for i := range hours {
			r.figure, r.reference = append(r.figure, of(last[i])), append(r.reference, of(first[i]))
		}
		return r
	}
	c := &s.counts
	count := func(what string, n *atomic.Int64) row { return row{what: what, figure: sample{float64(n.Load())}} }
	rows := []row{
		{
			what: answered, figure: sample{float64(c.answered.Load())}, reference: sample{float64(s.asks)}, referenceIs: "asked",
			bar: bar{limit: 1, atLeast: true},
		},
		{
			what: "time", unit: "min", figure: sample{last[hours-1].at.Minutes()}, reference: sample{soakLimit.Minutes()}, referenceIs: "may take",
			bar: bar{limit: 1},
		},
		count("windows closed and opened again", &c.closed),
		count("windows killed and opened again", &c.killed),
		count("windows closed, their asks answered in another folder's", &c.guests),
		count("servers killed between calls", &c.serversKilled),
		count("calls repeated, as their server was killed", &c.repeated),
		count("answers refused, as the ask had one", &c.refused),
		beside("the daemon's own memory", "MB", func(s soakState) float64 { return s.own }, memory),
		beside("its resident memory", "MB", func(s soakState) float64 { return s.whole }, memory),
		beside("its descriptors", "", func(s soakState) float64 { return float64(s.descriptors) }, bar{limit: 1}),
		beside("its goroutines", "", func(s soakState) float64 { return float64(s.status.Goroutines) }, bar{limit: mayVary}),
		beside("its threads", "", func(s soakState) float64 { return float64(s.threads) }, bar{}),
		beside("processes of servers", "", func(s soakState) float64 { return float64(s.servers) }, bar{limit: 1}),
	}
	for i := range rows {
		rows[i].group = "soak"
	}
	return rows
}

// missedBars names the rows that are not as they should be.
func missedBars(rows []row) error {
	var errs []error
	for _, r := range rows {
		if ratio := r.ratios().median(); r.bar != (bar{}) && !r.bar.met(ratio) {
			of := func(s sample) string { return strings.TrimSpace(decimal(s.median()) + " " + r.unit) }
			errs = append(errs, fmt.Errorf("%s: %s, %s %s: the ratio is %.4f, and should be %v",
				r.what, of(r.figure), r.referenceIs, of(r.reference), ratio, r.bar))
		}
	}
	return errors.Join(errs...)
}
