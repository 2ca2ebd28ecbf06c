package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"assent/protocol"
)

const (
	// relayCost is how many microseconds a relay may add to an ask.
	relayCost = 100
	// askBlock is how many asks one window makes before it is the other's turn.
	askBlock = 25
	// windowServers is how many servers each of the windows has.
	windowServers = 10
	// mostWindows is how many windows one daemon is measured with, at the most.
	mostWindows = 10
)

// nodeServer is an MCP server without a library, on Node.js as most servers are.
const nodeServer = `require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result =
    method === "initialize"
      ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "node", version: "1" } }
      : method === "tools/list" ? { tools: [] } : {};
  console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
});`

func (b *bench) nodeServers(n int) map[string]any {
	servers := map[string]any{}
	for i := range n {
		servers[fmt.Sprint("node", i)] = map[string]any{"command": b.node, "args": []string{"-e", nodeServer}, "protocolVersion": "2025-11-25"}
	}
	return servers
}

// home is a folder with its own daemon, and the windows that the daemon serves.
type home struct {
	*bench
	folder  string
	windows []*frontEnd
}

// withHome runs f with a daemon's folder, and ends all that f started.
func (b *bench) withHome(f func(*home) error) error {
	folder, err := os.MkdirTemp("", "assent-bench-") // a short path, as a socket needs it
	if err != nil {
		return err
	}
	h := &home{bench: b, folder: folder}
	err = f(h)
	for _, w := range h.windows {
		err = errors.Join(err, w.Close())
	}
	_, stopErr := h.run("daemon", "stop")
	return errors.Join(err, stopErr, os.RemoveAll(folder))
}

// run runs a command, even if the bench was interrupted: the daemon has to end.
func (h *home) run(args ...string) ([]byte, error) {
	c := exec.CommandContext(context.WithoutCancel(h.ctx), h.sidecar, args...)
	c.Env = append(os.Environ(), "ASSENT_DAEMON_DIR="+h.folder)
	return c.Output()
}

// open starts a window, and returns how many milliseconds passed until it was served.
func (h *home) open(servers map[string]any, flags ...string) (*frontEnd, float64, error) {
	began := time.Now()
	f, err := attach(h.relay("data", flags...))
	if err != nil {
		return nil, 0, err
	}
	h.windows = append(h.windows, f)
	err = f.shakeHands(servers, protocol.ModelSettings{})
	return f, milliseconds(time.Since(began)), err
}

// relay is the process of a window on a data folder.
func (h *home) relay(dataDir string, flags ...string) *exec.Cmd {
	c := h.command(h.sidecar, append([]string{"serve", "--data-dir", filepath.Join(h.folder, dataDir), "--log-level", "error"}, flags...)...)
	c.Env = append(os.Environ(), "ASSENT_DAEMON_DIR="+h.folder)
	return c
}

// daemonPID is the process of the daemon.
func (h *home) daemonPID() (int, error) {
	status, err := h.status()
	return status.PID, err
}

// daemonStatus is what the daemon says of itself.
type daemonStatus struct {
	PID        int `json:"pid"`
	Goroutines int `json:"goroutines"`
}

func (h *home) status() (status daemonStatus, err error) {
	out, err := h.run("daemon", "status", "--json")
	if err != nil {
		return status, err
	}
	return status, json.Unmarshal(out, &status)
}

// daemon measures windows of one daemon beside one that is the daemon itself.
func (b *bench) daemon() ([]row, error) {
	var ask, added, first, second, one, three, ten, own, started comparison
	for range b.rounds {
		relayed, direct, more, err := b.askInTurns()
		if err != nil {
			return nil, fmt.Errorf("asks: %w", err)
		}
		ask.add(relayed, direct)
		added.add(more, relayCost)

		var alone float64
		var aloneMB windowMemory
		err = b.withHome(func(h *home) (err error) {
			if _, alone, err = h.open(b.nodeServers(windowServers), "--standalone"); err == nil {
				aloneMB, err = h.atRest()
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("standalone: %w", err)
		}
		err = b.withHome(func(h *home) error {
			var oneMB windowMemory
			for n := 1; n <= mostWindows; n++ {
				_, took, err := h.open(b.nodeServers(windowServers))
				if err != nil {
					return err
				}
				switch n {
				case 1:
					first.add(took, alone)
				case 2:
					second.add(took, alone)
				}
				if n != 1 && n != 3 && n != mostWindows {
					continue
				}
				mb, err := h.atRest()
				if err != nil {
					return err
				}
				switch n {
				case 1:
					one.add(mb.all(), aloneMB.all())
					oneMB = mb
				case 3:
					three.add(mb.all(), oneMB.all())
				default:
					ten.add(mb.all(), oneMB.all())
					own.add(mb.own, oneMB.own)
					started.add(float64(mb.processes), windowServers)
				}
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("windows: %w", err)
		}
	}
	const standalone, window = "--standalone", "one window"
	what := fmt.Sprintf("private memory with %d servers on Node.js, ", windowServers)
	return []row{
		{what: "an ask of a raw server through the relay, p50", unit: "us", figure: ask.figure, reference: ask.reference, referenceIs: standalone},
		{what: "added to it by the relay", unit: "us", figure: added.figure, reference: added.reference, referenceIs: "may be added", bar: bar{limit: 1}},
		{what: "the first window, which starts the daemon, served", unit: "ms", figure: first.figure, reference: first.reference, referenceIs: standalone},
		{what: "the second window served", unit: "ms", figure: second.figure, reference: second.reference, referenceIs: standalone},
		{what: what + "daemon and one window", unit: "MB", figure: one.figure, reference: one.reference, referenceIs: standalone},
		{what: what + "daemon and three windows", unit: "MB", figure: three.figure, reference: three.reference, referenceIs: window},
		{what: what + fmt.Sprintf("daemon and %d windows", mostWindows), unit: "MB", figure: ten.figure, reference: ten.reference, referenceIs: window, bar: bar{limit: 1.5}},
		{what: fmt.Sprintf("the same without the servers, daemon and %d windows", mostWindows), unit: "MB", figure: own.figure, reference: own.reference, referenceIs: window},
		{what: fmt.Sprintf("processes of the %d servers of %d windows", windowServers, mostWindows), figure: started.figure, reference: started.reference, referenceIs: "servers", bar: bar{limit: 1}},
	}, nil
}

// askInTurns has a window of a daemon and one that is the daemon itself take turns with blocks of asks. So what else goes on
// in the machine slows both of them. It returns the medians of both, in microseconds, and that of the differences of two
// blocks one after the other.
func (b *bench) askInTurns() (relayed, direct, added float64, err error) {
	err = b.withHome(func(one *home) error {
		return b.withHome(func(other *home) error {
			askers := [2]func(n int) (float64, error){}
			for i, h := range []*home{one, other} {
				flags := [][]string{nil, {"--standalone"}}[i]
				if askers[i], err = h.asker(flags); err != nil {
					return fmt.Errorf("%v: %w", flags, err)
				}
			}
			var medians [2]sample
			var differences sample
			for block := range max(b.asks/askBlock, 2) {
				var micros [2]float64
				for turn := range askers {
					i := (block + turn) % len(askers)
					if micros[i], err = askers[i](askBlock); err != nil {
						return err
					}
					medians[i] = append(medians[i], micros[i])
				}
				differences = append(differences, micros[0]-micros[1])
			}
			relayed, direct, added = medians[0].median(), medians[1].median(), differences.median()
			return nil
		})
	})
	return relayed, direct, added, err
}

// asker opens a window, and returns what makes asks one after the other in it and returns their median in microseconds.
func (h *home) asker(flags []string) (func(n int) (float64, error), error) {
	servers := map[string]any{"bench": map[string]any{"command": h.self, "args": []string{rawServerCommand}, "protocolVersion": "2025-11-25"}}
	f, _, err := h.open(servers, flags...)
	if err != nil {
		return nil, err
	}
	taskID, err := f.newTask()
	if err != nil {
		return nil, err
	}
	ask := func(n int) (float64, error) {
		times, err := f.answerAsks(taskID, askInput{N: n, AtOnce: 1})
		return times.micros().median(), err
	}
	_, err = ask(max(h.bench.asks/10, 10))
	return ask, err
}

// windowMemory is the private memory of windows, in megabytes.
type windowMemory struct {
	own       float64 // of the daemon and the relays
	servers   float64
	processes int // of servers
}

func (m windowMemory) all() float64 { return m.own + m.servers }

// atRest has the newest window use all servers, and measures after a rest.
func (h *home) atRest() (m windowMemory, err error) {
	w := h.windows[len(h.windows)-1]
	if _, err := w.newTask(); err != nil {
		return m, err
	}
	if _, err := w.listAll(h.nodeServers(windowServers)); err != nil {
		return m, err
	}
	time.Sleep(rest)
	daemon, err := h.daemonPID()
	if err != nil {
		return m, err
	}
	pids := map[int]bool{daemon: true}
	for _, w := range h.windows {
		pids[w.Cmd.Process.Pid] = true // or it is the daemon
	}
	for pid := range pids {
		mb, err := privateMB(pid)
		if err != nil {
			return m, err
		}
		m.own += mb
	}
	servers, err := children(daemon, nodeServer)
	for _, pid := range servers {
		mb, err := privateMB(pid)
		if err != nil {
			return m, err
		}
		m.servers += mb
	}
	m.processes = len(servers)
	return m, err
}

// privateMB reads the memory that no other process shares.
func privateMB(pid int) (float64, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, err
	}
	total := 0.0
	for line := range strings.Lines(string(data)) {
		if name, rest, ok := strings.Cut(line, ":"); ok && strings.HasPrefix(name, "Private_") {
			kb, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 64)
			if err != nil {
				return 0, err
			}
			total += kb / 1024
		}
	}
	return total, nil
}

// children returns a process's children that were started with an argument.
func children(pid int, argument string) (pids []int, err error) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			continue // a thread that has ended
		}
		for child := range strings.FieldsSeq(string(data)) {
			command, err := os.ReadFile(filepath.Join("/proc", child, "cmdline"))
			if err != nil || !strings.Contains(string(command), argument) {
				continue
			}
			n, err := strconv.Atoi(child)
			if err != nil {
				return nil, err
			}
			pids = append(pids, n)
		}
	}
	return pids, nil
}
