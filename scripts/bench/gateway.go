package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

const (
	// askBlock is how many calls one host makes before it is the next one's turn.
	askBlock = 25
	// gatewayCost and gatewayLate are how many microseconds a gateway may add to a call beyond what two processes cost by
	// themselves: at the median, and of the 99th of 100.
	gatewayCost = 200
	gatewayLate = 800
	// callsAtOnce is how many calls are in flight where their number in a second is measured.
	callsAtOnce = 32
	// listCost is how many milliseconds a list may take that is kept.
	listCost = 20
	// crossSessions is how many sessions there are on as many servers, of which each uses crossUses.
	crossSessions = 10
	crossUses     = 2
	// manyServers is how many servers one host has, and manyTools how many tools each.
	manyServers = 10
	manyTools   = 20
)

// gateway measures calls through `assent gateway` beside the same calls without it.
func (b *bench) gateway() ([]row, error) {
	calls, err := b.gatewayCalls()
	if err != nil {
		return nil, fmt.Errorf("calls: %w", err)
	}
	var processes, request, session comparison
	for range b.rounds {
		n, err := b.gatewayProcesses()
		if err != nil {
			return nil, fmt.Errorf("processes: %w", err)
		}
		processes.add(n, crossSessions*crossUses)
		if err := b.keptLists(&request, &session); err != nil {
			return nil, fmt.Errorf("lists: %w", err)
		}
	}
	return append(
		calls,
		row{what: fmt.Sprintf("server processes of %d sessions that use %d of %d servers", crossSessions, crossUses, crossSessions), figure: processes.figure, reference: processes.reference, referenceIs: "in use", bar: bar{limit: 1}},
		row{what: "the first tools/list of a session, kept", unit: "ms", figure: request.figure, reference: request.reference, referenceIs: "goal", bar: bar{limit: 1}},
		row{what: "from a session's start to its tools, kept", unit: "ms", figure: session.figure, reference: session.reference, referenceIs: "server on Node.js"},
	), nil
}

// The ways to the raw server that are measured.
const (
	direct = iota
	twoHops
	sdkProxy
	throughAssent
	throughAll // `assent gateway` with manyServers
	ways
)

// gatewayCalls has all ways take turns with blocks of calls.
func (b *bench) gatewayCalls() ([]row, error) {
	var medians, lates, rates [ways]sample
	var cpu, cpuTogether comparison
	var addedDirect, addedHops, addedProxy, lateDirect, lateHops sample
	for range b.rounds {
		err := b.withWays(func(callers [ways]*caller, daemon int) error {
			var each [ways]sample
			var overDirect, overHops, overProxy sample
			for block := range max(b.asks/askBlock, 2) {
				var micros [ways]float64
				for turn := range ways {
					i := (block + turn) % ways
					times, err := callers[i].calls(toolOf(i), askBlock, 1)
					if err != nil {
						return err
					}
					micros[i] = times.micros().median()
					each[i] = append(each[i], times.micros()...)
				}
				overDirect = append(overDirect, micros[throughAssent]-micros[direct])
				overHops = append(overHops, micros[throughAssent]-micros[twoHops])
				overProxy = append(overProxy, micros[sdkProxy]-micros[direct])
			}
			addedDirect = append(addedDirect, overDirect.median())
			addedHops = append(addedHops, overHops.median())
			addedProxy = append(addedProxy, overProxy.median())
			late := func(i int) float64 { return each[i].quantile(0.99) }
			lateDirect = append(lateDirect, late(throughAssent)-late(direct))
			lateHops = append(lateHops, late(throughAssent)-late(twoHops))
			for i, c := range callers {
				medians[i], lates[i] = append(medians[i], each[i].median()), append(lates[i], late(i))
				times, err := c.calls(toolOf(i), 5*b.asks, callsAtOnce)
				if err != nil {
					return err
				}
				rates[i] = append(rates[i], times.perSecond())
			}
			return errors.Join(b.callCPU(&cpu, callers, daemon, b.asks, 1), b.callCPU(&cpuTogether, callers, daemon, 5*b.asks, callsAtOnce))
		})
		if err != nil {
			return nil, err
		}
	}
	constant := func(f float64) sample {
		s := make(sample, b.rounds)
		for i := range s {
			s[i] = f
		}
		return s
	}
	inFlight := fmt.Sprintf("%d in flight", callsAtOnce)
	return []row{
		{what: "a call, p50", unit: "us", figure: medians[throughAssent], reference: medians[direct], referenceIs: "no gateway"},
		{what: "a call, p99", unit: "us", figure: lates[throughAssent], reference: lates[direct], referenceIs: "no gateway"},
		{what: "a call through two processes that copy, p50", unit: "us", figure: medians[twoHops], reference: medians[direct], referenceIs: "no gateway"},
		{what: "a call through a proxy on go-sdk, p50", unit: "us", figure: medians[sdkProxy], reference: medians[direct], referenceIs: "no gateway"},
		{what: "added to a call, p50", unit: "us", figure: addedDirect, reference: addedProxy, referenceIs: "by the proxy"},
		{what: "added beyond two processes that copy, p50", unit: "us", figure: addedHops, reference: constant(gatewayCost), referenceIs: "may be added", bar: bar{limit: 1}},
		{what: "added to a call, p99", unit: "us", figure: lateDirect},
		{what: "added beyond two processes that copy, p99", unit: "us", figure: lateHops, reference: constant(gatewayLate), referenceIs: "may be added", bar: bar{limit: 1}},
		{what: fmt.Sprintf("a call where the host has all %d servers of %d tools, p50", manyServers, manyTools), unit: "us", figure: medians[throughAll], reference: medians[throughAssent], referenceIs: "one server"},
		{what: "CPU of the daemon for a call, one by one", unit: "us", figure: cpu.figure, reference: cpu.reference, referenceIs: "the proxy"},
		{what: "CPU of the daemon for a call, " + inFlight, unit: "us", figure: cpuTogether.figure, reference: cpuTogether.reference, referenceIs: "the proxy"},
		{what: "calls, " + inFlight, unit: "1/s", figure: rates[throughAssent], reference: rates[sdkProxy], referenceIs: "the proxy", bar: bar{limit: 1, atLeast: true}},
	}, nil
}

// callCPU measures what calls cost the daemon, and the proxy.
func (b *bench) callCPU(c *comparison, callers [ways]*caller, daemon, n, atOnce int) error {
	cost := func(way, pid int) (float64, error) {
		before, err := cpuMicros(pid)
		if err != nil {
			return 0, err
		}
		if _, err := callers[way].calls(toolOf(way), n, atOnce); err != nil {
			return 0, err
		}
		after, err := cpuMicros(pid)
		return (after - before) / float64(n), err
	}
	ours, err := cost(throughAssent, daemon)
	if err != nil {
		return err
	}
	proxy, err := cost(sdkProxy, callers[sdkProxy].cmd.Process.Pid)
	c.add(ours, proxy)
	return err
}

// toolOf is the name of the tool on a way.
func toolOf(way int) string {
	if way == throughAll {
		return "raw0__" + askTool
	}
	return askTool
}

// usualServers are raw servers with many tools.
func (b *bench) usualServers() map[string]any {
	servers := b.rawServers(manyServers)
	for _, s := range servers {
		s.(map[string]any)["args"] = []string{rawServerCommand, strconv.Itoa(manyTools)}
	}
	return servers
}

// withWays runs f with a host on each way to the raw server.
func (b *bench) withWays(f func(callers [ways]*caller, daemon int) error) error {
	return b.withGateway(b.usualServers(), func(h *home) (err error) {
		var callers [ways]*caller
		socket := filepath.Join(h.folder, "hop")
		hop := b.command(b.self, hopCommand, socket)
		hop.Stderr = os.Stderr
		listening, err := hop.StdoutPipe()
		if err != nil {
			return err
		}
		if err := hop.Start(); err != nil {
			return err
		}
		if _, err := bufio.NewReader(listening).ReadString('\n'); err != nil {
			return err
		}
		for i, start := range [ways]func() (*caller, error){
			direct:        func() (*caller, error) { return startCaller(b.command(b.self, rawServerCommand)) },
			twoHops:       func() (*caller, error) { return startCaller(b.command(b.self, shimCommand, socket)) },
			sdkProxy:      func() (*caller, error) { return startCaller(b.command(b.self, proxyCommand)) },
			throughAssent: func() (*caller, error) { return h.host("raw0") },
			throughAll:    func() (*caller, error) { return h.host() },
		} {
			c, err := start()
			if err != nil {
				return fmt.Errorf("way %d: %w", i, err)
			}
			callers[i] = c
			if _, err := c.calls(toolOf(i), max(b.asks/10, 10), 1); err != nil {
				return fmt.Errorf("way %d: %w", i, err)
			}
		}
		daemon, err := h.daemonPID()
		if err == nil {
			err = f(callers, daemon)
		}
		for _, c := range callers {
			err = errors.Join(err, c.close())
		}
		return errors.Join(err, hop.Wait())
	})
}

// withGateway runs f with a daemon's folder, and servers for the hosts in it.
func (b *bench) withGateway(servers map[string]any, f func(*home) error) error {
	return b.withHome(func(h *home) error {
		configured, err := json.Marshal(map[string]any{"servers": servers})
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(h.folder, "mcp.json"), configured, 0o600); err != nil {
			return err
		}
		err = f(h)
		_, stopErr := h.run("daemon", "stop", "--force")
		return errors.Join(err, stopErr)
	})
}

// host starts `assent gateway` as a host does. Without a name, it has all servers.
func (h *home) host(server ...string) (*caller, error) {
	args := append([]string{"gateway", "--config", filepath.Join(h.folder, "mcp.json"), "--data-dir", filepath.Join(h.folder, "data"), "--trust"}, server...)
	c := h.command(h.sidecar, args...)
	c.Env = append(os.Environ(), "ASSENT_DAEMON_DIR="+h.folder)
	return startCaller(c)
}

// gatewayProcesses counts the processes of servers while sessions use some of them each.
func (b *bench) gatewayProcesses() (n float64, err error) {
	err = b.withGateway(b.rawServers(crossSessions), func(h *home) (err error) {
		for i := range crossSessions {
			c, err := h.host()
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, c.close()) }()
			if _, err := c.request("tools/list", "{}"); err != nil {
				return err
			}
			for use := range crossUses {
				if _, err := c.calls(fmt.Sprintf("raw%d__%s", (i+use)%crossSessions, askTool), 1, 1); err != nil {
					return err
				}
			}
		}
		daemon, err := h.daemonPID()
		if err != nil {
			return err
		}
		pids, err := children(daemon, rawServerCommand)
		n = float64(len(pids))
		return err
	})
	return n, err
}

// keptLists measures sessions that list the tools of a server that does not run, in a daemon that does.
func (b *bench) keptLists(request, session *comparison) error {
	servers := b.nodeServers(1)
	maps.Copy(servers, b.rawServers(1))
	return b.withGateway(servers, func(h *home) error {
		list := func(start func() (*caller, error)) (whole, alone float64, err error) {
			began := time.Now()
			c, err := start()
			if err != nil {
				return 0, 0, err
			}
			asked := time.Now()
			_, err = c.request("tools/list", "{}")
			whole, alone = milliseconds(time.Since(began)), milliseconds(time.Since(asked))
			return whole, alone, errors.Join(err, c.close())
		}
		ours := func() (*caller, error) { return h.host("node0") }
		bare := func() (*caller, error) { return startCaller(b.command(b.node, "-e", nodeServer)) }
		if _, _, err := list(ours); err != nil { // now they are kept
			return err
		}
		if _, err := h.run("daemon", "stop", "--force"); err != nil {
			return err
		}
		other, err := h.host("raw0") // starts the daemon again
		if err != nil {
			return err
		}
		const times = 5
		var whole, alone, node sample
		for range times {
			w, a, err := list(ours)
			if err != nil {
				return err
			}
			n, _, err := list(bare)
			if err != nil {
				return err
			}
			whole, alone, node = append(whole, w), append(alone, a), append(node, n)
		}
		daemon, err := h.daemonPID()
		if err != nil {
			return err
		}
		if pids, err := children(daemon, nodeServer); err != nil || len(pids) > 0 {
			return fmt.Errorf("%d servers were started: %w", len(pids), err)
		}
		request.add(alone.median(), listCost)
		session.add(whole.median(), node.median())
		return other.close()
	})
}
