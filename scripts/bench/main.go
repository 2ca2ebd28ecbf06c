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
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM) // the daemons have to end
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) > 0 {
		switch rest := args[1:]; args[0] {
		case serverCommand:
			return serveMCP(ctx)
		case rawServerCommand:
			return serveRaw(rest)
		case seedCommand:
			return seed(ctx, rest)
		case shimCommand:
			return copyShim(ctx, rest)
		case hopCommand:
			return copyHop(ctx, rest)
		case proxyCommand:
			return serveProxy(ctx)
		case soakCommand:
			return runSoak(ctx, rest)
		}
	}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	rounds := flags.Int("rounds", 7, "how often each figure is measured")
	asks := flags.Int("asks", 1000, "how many asks a round has")
	hosts := flags.String("hosts", "", "the folder of the bundled hosts on Node.js, which npm run bench makes")
	node := flags.String("node", "node", "the Node.js that runs them")
	only := flags.String("only", "", "measure these groups alone, separated by commas")
	if err := flags.Parse(args); err != nil {
		return err
	}
	groups, err := chosen(*only)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "assent-bench")
	if err != nil {
		return err
	}
	b := &bench{ctx: ctx, dir: dir, rounds: *rounds, asks: *asks, hosts: *hosts, node: *node}
	return errors.Join(b.run(groups), os.RemoveAll(dir))
}

// bench is one run.
type bench struct {
	ctx          context.Context // of the whole program
	dir          string
	rounds, asks int
	hosts, node  string

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

// group is a part of the table.
type group struct {
	name    string
	measure func(*bench) ([]row, error)
}

func allGroups() []group {
	return []group{
		{"ask", (*bench).ask},
		{"person", (*bench).person},
		{"everyone", (*bench).everyone},
		{"start", (*bench).start},
		{"daemon", (*bench).daemon},
		{"gateway", (*bench).gateway},
		{"neighbours", (*bench).neighbours},
		{"connect", (*bench).connect},
		{"memory", (*bench).memory},
		{"large", (*bench).large},
		{"agents", (*bench).agents},
		{"hook", (*bench).hook},
	}
}

// chosen returns the groups with the names that are separated by commas, in the order of the table: all of them for no
// name.
func chosen(names string) ([]group, error) {
	all := allGroups()
	if names == "" {
		return all, nil
	}
	wanted := map[string]bool{}
	for name := range strings.SplitSeq(names, ",") {
		wanted[strings.TrimSpace(name)] = true
	}
	var found []group
	var known []string
	for _, g := range all {
		if known = append(known, g.name); wanted[g.name] {
			found = append(found, g)
			delete(wanted, g.name)
		}
	}
	for name := range wanted {
		return nil, fmt.Errorf("there is no group %q to measure; there are %s, and npm run bench has panel and pixels too", name, strings.Join(known, ", "))
	}
	return found, nil
}

func (b *bench) run(groups []group) error {
	if err := b.build(); err != nil {
		return err
	}
	machine := thisMachine()
	var rows []row
	for _, g := range groups {
		fmt.Fprintln(os.Stderr, "bench: measuring", g.name)
		more, err := g.measure(b)
		if err != nil {
			return err
		}
		for i := range more {
			more[i].group = g.name
		}
		rows = append(rows, more...)
	}
	return printTable(os.Stdout, machine, rows)
}
