package main

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

const (
	// besideCost is how many milliseconds a list of all servers may take beside one that hangs and one that dies.
	besideCost = 3000
	// besideRatio is how many times longer a call may take beside the two.
	besideRatio = 1.2
	// slowServers is how many servers need slowStart seconds each, and slowCost in how many milliseconds all are to be listed.
	slowServers = 6
	slowStart   = 4
	slowCost    = 6000
)

// neighbours measures a host with all servers, of which some do not answer in time.
func (b *bench) neighbours() ([]row, error) {
	var list, call, slow comparison
	for range b.rounds {
		if err := b.besideBroken(&list, &call); err != nil {
			return nil, fmt.Errorf("beside broken servers: %w", err)
		}
		if err := b.besideSlow(&slow); err != nil {
			return nil, fmt.Errorf("beside slow servers: %w", err)
		}
	}
	return []row{
		{what: "the first tools/list beside a server that hangs and one that dies", unit: "ms", figure: list.figure, reference: list.reference, referenceIs: "goal", bar: bar{limit: 1}},
		{what: "a call beside the two, p50", unit: "us", figure: call.figure, reference: call.reference, referenceIs: "alone", bar: bar{limit: besideRatio}},
		{what: fmt.Sprintf("%d servers that need %d s each, until all are listed", slowServers, slowStart), unit: "ms", figure: slow.figure, reference: slow.reference, referenceIs: "goal", bar: bar{limit: 1}},
	}, nil
}

// shell is the entry of a server that is a line of a shell.
func shell(line string) map[string]any {
	return map[string]any{"command": "sh", "args": []string{"-c", line}}
}

// besideBroken measures the first list, and calls of a healthy server that take turns with those of the same server alone.
func (b *bench) besideBroken(list, call *comparison) error {
	servers := b.rawServers(2)
	servers["hangs"], servers["dies"] = shell("exec sleep 100000"), shell("sleep 2; exit 1")
	return b.withGateway(servers, func(h *home) error {
		all, err := h.host()
		if err != nil {
			return err
		}
		began := time.Now()
		if _, err := all.request("tools/list", "{}"); err != nil {
			return err
		}
		list.add(milliseconds(time.Since(began)), besideCost)
		alone, err := h.host("raw1")
		if err != nil {
			return err
		}
		var beside, usual sample
		for range max(b.asks/askBlock, 2) {
			for _, turn := range []struct {
				of    *caller
				tool  string
				times *sample
			}{{all, "raw0__" + askTool, &beside}, {alone, askTool, &usual}} {
				times, err := turn.of.calls(turn.tool, askBlock, 1)
				if err != nil {
					return err
				}
				*turn.times = append(*turn.times, times.micros()...)
			}
		}
		call.add(beside.median(), usual.median())
		return errors.Join(all.close(), alone.close())
	})
}

// besideSlow measures from a session's start until its list has all servers.
func (b *bench) besideSlow(slow *comparison) error {
	servers := map[string]any{}
	for i := range slowServers {
		servers[fmt.Sprint("slow", i)] = shell(fmt.Sprintf("sleep %d; exec %q %s", slowStart, b.self, rawServerCommand))
	}
	return b.withGateway(servers, func(h *home) error {
		began := time.Now()
		c, err := h.host()
		if err != nil {
			return err
		}
		for {
			tools, err := c.request("tools/list", "{}")
			if err != nil {
				return err
			}
			if strings.Count(string(tools), "__"+askTool+`"`) == slowServers {
				break
			}
			time.Sleep(20 * time.Millisecond) // a host waits for list_changed
		}
		slow.add(milliseconds(time.Since(began)), slowCost)
		return c.close()
	})
}
