package main

import (
	"encoding/json"
	"fmt"
	"os"
)

// typescript measures asks as [bench.ask] does, beside a client of the TypeScript SDK. It is in the server's
// own process tree: what the hop to a front end costs is in the sidecar's figures alone.
func (b *bench) typescript() ([]row, error) {
	var rows []row
	for _, server := range []struct{ name, command string }{{"a go-sdk server", serverCommand}, {"a raw server", rawServerCommand}} {
		var p50, p95, rate comparison
		for i := range b.rounds {
			floor, err := b.typescriptAsks(server.command)
			if err != nil {
				return nil, fmt.Errorf("TypeScript client of %s: %w", server.name, err)
			}
			ours, err := b.sidecarAsks(b.roundDir("typescript-"+server.command, i), server.command)
			if err != nil {
				return nil, fmt.Errorf("sidecar of %s: %w", server.name, err)
			}
			alone, floorAlone := ours.alone.micros(), floor.alone.micros()
			p50.add(alone.median(), floorAlone.median())
			p95.add(alone.quantile(0.95), floorAlone.quantile(0.95))
			rate.add(ours.together.perSecond(), floor.together.perSecond())
		}
		rows = append(
			rows,
			row{what: "an ask of " + server.name + " answered at once, p50", unit: "us", figure: p50.figure, reference: p50.reference, referenceIs: bareClientName},
			row{what: "an ask of " + server.name + " answered at once, p95", unit: "us", figure: p95.figure, reference: p95.reference, referenceIs: bareClientName},
			row{what: fmt.Sprintf("asks of %s, %d open at once", server.name, askCrowd), unit: "1/s", figure: rate.figure, reference: rate.reference, referenceIs: bareClientName},
		)
	}
	return rows, nil
}

// typescriptAsks runs what [bench.askRuns] runs.
func (b *bench) typescriptAsks(command string) (a asked, err error) {
	runs := []askInput{{N: max(b.asks/10, 10), AtOnce: 1}, {N: b.asks, AtOnce: 1}, {N: 5 * b.asks, AtOnce: askCrowd}}
	in, err := json.Marshal(map[string]any{"command": b.self, "args": []string{command}, "tool": askTool, "runs": runs})
	if err != nil {
		return a, err
	}
	cmd, err := b.hostCommand(bareClientHost, string(in))
	if err != nil {
		return a, err
	}
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return a, err
	}
	var results []struct {
		Text string  `json:"text"`
		CPU  float64 `json:"cpu"`
	}
	if err := json.Unmarshal(out, &results); err != nil || len(results) != len(runs) {
		return a, fmt.Errorf("it wrote %q", out)
	}
	a.cpuAlone = results[1].CPU / float64(runs[1].N)
	a.cpuTogether = results[2].CPU / float64(runs[2].N)
	if err := json.Unmarshal([]byte(results[1].Text), &a.alone); err != nil {
		return a, err
	}
	return a, json.Unmarshal([]byte(results[2].Text), &a.together)
}
