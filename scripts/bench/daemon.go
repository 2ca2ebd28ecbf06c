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
)

const (
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
func (h *home) open(servers map[string]any, flags ...string) (float64, error) {
	began := time.Now()
	f, err := attach(h.relay("data", flags...))
	if err != nil {
		return 0, err
	}
	h.windows = append(h.windows, f)
	err = f.shakeHands(servers)
	return milliseconds(time.Since(began)), err
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

// daemon measures windows of one daemon: how soon one is served, beside a process of its own, and the memory of many,
// beside that of one.
func (b *bench) daemon() ([]row, error) {
	var second, many comparison
	servers := b.nodeServers(windowServers)
	for range b.rounds {
		var alone float64
		err := b.withHome(func(h *home) (err error) {
			alone, err = h.open(servers, "--standalone")
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("standalone: %w", err)
		}
		err = b.withHome(func(h *home) error {
			var one float64
			for n := 1; n <= mostWindows; n++ {
				took, err := h.open(servers)
				if err != nil {
					return err
				}
				if n == 2 {
					second.add(took, alone)
				}
				if n != 1 && n != mostWindows {
					continue
				}
				mb, err := h.atRest()
				if err != nil {
					return err
				}
				if n == 1 {
					one = mb
				} else {
					many.add(mb, one)
				}
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("windows: %w", err)
		}
	}
	what := fmt.Sprintf("private memory with %d servers on Node.js, daemon and %d windows", windowServers, mostWindows)
	return []row{
		{what: "the second window served", unit: "ms", figure: second.figure, reference: second.reference, referenceIs: "--standalone"},
		{what: what, unit: "MB", figure: many.figure, reference: many.reference, referenceIs: "one window", bar: bar{limit: 1.5}},
	}, nil
}

// atRest has the newest window use all servers, and returns after a rest the private memory of the daemon, its servers and
// the relays, in megabytes.
func (h *home) atRest() (float64, error) {
	w := h.windows[len(h.windows)-1]
	if _, err := w.newTask(); err != nil {
		return 0, err
	}
	if _, err := w.listAll(h.nodeServers(windowServers)); err != nil {
		return 0, err
	}
	time.Sleep(rest)
	daemon, err := h.daemonPID()
	if err != nil {
		return 0, err
	}
	pids, err := children(daemon, nodeServer)
	pids = append(pids, daemon)
	for _, w := range h.windows {
		pids = append(pids, w.Cmd.Process.Pid)
	}
	total := 0.0
	for _, pid := range pids {
		mb, privateErr := privateMB(pid)
		total, err = total+mb, errors.Join(err, privateErr)
	}
	return total, err
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
