// Command bench measures what the sidecar costs: each figure beside its reference, in one run on one
// machine, the rounds of the two interleaved. The ratios are what to read; the times drift with the
// machine.
//
// With "soak" it puts a day of asks through one daemon instead, and sees what is lost and what grows: see soak.go.
//
// It starts the real binary and speaks its protocol as a front end that answers at once. The MCP
// server at the other end is this program again, on go-sdk or without a library. The references on Node.js
// are in hosts/, and speak the same protocol as far as it takes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) > 0 && args[0] == serverCommand {
		return serveMCP(ctx)
	}
	if len(args) > 0 && args[0] == rawServerCommand {
		return serveRaw(args[1:])
	}
	if len(args) > 0 && args[0] == readerCommand {
		return readModel(ctx, args[1:])
	}
	if len(args) > 0 && args[0] == seedCommand {
		return seed(ctx, args[1:])
	}
	if len(args) > 0 && args[0] == shimCommand {
		return copyShim(ctx, args[1:])
	}
	if len(args) > 0 && args[0] == hopCommand {
		return copyHop(ctx, args[1:])
	}
	if len(args) > 0 && args[0] == proxyCommand {
		return serveProxy(ctx)
	}
	if len(args) > 0 && args[0] == soakCommand {
		return runSoak(ctx, args[1:])
	}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	rounds := flags.Int("rounds", 7, "how often each figure is measured")
	asks := flags.Int("asks", 1000, "how many asks a round has")
	chunks := flags.Int("chunks", 50_000, "how many chunks a model's answer has")
	hosts := flags.String("hosts", "", "the folder of the bundled hosts on Node.js, which npm run bench makes")
	node := flags.String("node", "node", "the Node.js that runs them")
	report := flags.String("json", "", "write the table as JSON to this file, too")
	only := flags.String("only", "", "measure what has this name alone")
	if err := flags.Parse(args); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "assent-bench")
	if err != nil {
		return err
	}
	b := &bench{ctx: ctx, dir: dir, rounds: *rounds, asks: *asks, chunks: *chunks, only: *only, hosts: *hosts, node: *node, report: *report}
	return errors.Join(b.run(), os.RemoveAll(dir))
}

// bench is one run.
type bench struct {
	ctx                  context.Context // of the whole program
	dir                  string
	rounds, asks, chunks int
	only                 string
	hosts, node, report  string

	sidecar, self string
}

// build makes the sidecar that is measured.
func (b *bench) build() error {
	var err error
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	b.sidecar = filepath.Join(b.dir, "assent")
	build := exec.CommandContext(b.ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", b.sidecar, "./sidecar/cmd/assent")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the sidecar: %w\n%s", err, out)
	}
	return nil
}

func (b *bench) run() error {
	if err := b.build(); err != nil {
		return err
	}
	machine := thisMachine()
	var rows []row
	for _, m := range []struct {
		name    string
		measure func() ([]row, error)
	}{
		{"ask", b.ask},
		{"typescript", b.typescript},
		{"person", b.person},
		{"everyone", b.everyone},
		{"start", b.start},
		{"daemon", b.daemon},
		{"gateway", b.gateway},
		{"connect", b.connect},
		{"memory", b.memory},
		{"history", b.history},
		{"pages", b.pages},
		{"tasks", b.tasks},
		{"crowd", b.crowd},
		{"stream", b.stream},
		{"scan", b.scan},
	} {
		if b.only != "" && b.only != m.name {
			continue
		}
		fmt.Fprintln(os.Stderr, "bench: measuring", m.name)
		more, err := m.measure()
		if err != nil {
			return err
		}
		for i := range more {
			more[i].group = m.name
		}
		rows = append(rows, more...)
	}
	if len(rows) == 0 {
		return fmt.Errorf("nothing to measure is called %q", b.only)
	}
	if b.report != "" {
		if err := writeReport(b.report, machine, rows); err != nil {
			return err
		}
	}
	return printTable(os.Stdout, machine, rows)
}
