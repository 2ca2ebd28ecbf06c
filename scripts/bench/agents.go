package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	// agentHosts hosts have agentServers servers each, and use agentUses of them.
	agentHosts   = 10
	agentServers = 10
	agentUses    = 2
	// agentSettle is when a new daemon has nothing to do any more. Half a minute after its start it empties its store's log.
	agentSettle = 40 * time.Second
	// agentRest is for how long the questions of half of them stay open while nothing happens.
	agentRest = time.Minute
)

// agents measures ten hosts at once. Half of them wait for the answer of a person.
func (b *bench) agents() ([]row, error) {
	var processes, mb, cpu, wakeUps comparison
	for range min(b.rounds, 2) { // a round takes more than a minute
		if err := b.agentsAtRest(&processes, &mb, &cpu, &wakeUps); err != nil {
			return nil, err
		}
	}
	of := fmt.Sprintf("%d hosts, %d of %d servers used, half of them with a question", agentHosts, agentUses, agentServers)
	return []row{
		{what: "processes of servers: " + of, figure: processes.figure, reference: processes.reference, referenceIs: "in use", bar: bar{limit: 1}},
		{what: "memory of the daemon", unit: "MB", figure: mb.figure, reference: mb.reference, referenceIs: "without hosts"},
		{what: "CPU of the daemon at rest, of a core", unit: "%", figure: cpu.figure, reference: cpu.reference, referenceIs: "goal", bar: bar{limit: 1}},
		{what: "the daemon wakes up at rest", unit: "1/s", figure: wakeUps.figure, reference: wakeUps.reference, referenceIs: "goal", bar: bar{limit: 1}},
	}, nil
}

func (b *bench) agentsAtRest(processes, mb, cpu, wakeUps *comparison) error {
	return b.withGateway(b.rawServers(agentServers), func(h *home) (err error) {
		var alone float64
		var daemon int
		for i := range agentHosts {
			c, err := h.host()
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, c.close()) }()
			if i == 0 {
				if daemon, err = h.daemonPID(); err != nil {
					return err
				}
				if alone, err = privateMB(daemon); err != nil {
					return err
				}
			}
			for use := range agentUses {
				tool := fmt.Sprintf("raw%d__%s", (i+use)%agentServers, askTool)
				if _, err := c.calls(tool, 1, 1); err != nil {
					return err
				}
				if use == 0 && i%2 == 0 {
					if err := c.send("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{"n":1,"atOnce":1}}`, tool)); err != nil {
						return err
					}
				}
			}
		}
		time.Sleep(agentSettle)
		busy, err := cpuMicros(daemon)
		if err != nil {
			return err
		}
		woke, err := switches(daemon)
		if err != nil {
			return err
		}
		time.Sleep(agentRest)
		busyAfter, err := cpuMicros(daemon)
		if err != nil {
			return err
		}
		wokeAfter, err := switches(daemon)
		if err != nil {
			return err
		}
		now, err := privateMB(daemon)
		if err != nil {
			return err
		}
		pids, err := children(daemon, rawServerCommand)
		seconds := agentRest.Seconds()
		processes.add(float64(len(pids)), agentHosts*agentUses)
		mb.add(now, alone)
		cpu.add((busyAfter-busy)/seconds/1e6*100, 0.1)
		wakeUps.add((wokeAfter-woke)/seconds, 1)
		return err
	})
}

// switches counts how often the threads of a process gave up their core, and so had to be woken.
func switches(pid int) (float64, error) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil {
		return 0, err
	}
	total := 0.0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			continue // a thread that has ended
		}
		for line := range strings.Lines(string(data)) {
			if count, ok := strings.CutPrefix(line, "voluntary_ctxt_switches:"); ok {
				n, err := strconv.ParseFloat(strings.TrimSpace(count), 64)
				if err != nil {
					return 0, err
				}
				total += n
			}
		}
	}
	return total, nil
}
