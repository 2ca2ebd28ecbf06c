package cmd

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"assent/sidecar/base/reason"
	"assent/sidecar/base/visible"
	"assent/sidecar/broker/askfirst"
	"assent/sidecar/daemon"
	"assent/sidecar/daemon/workspaces"
	"assent/sidecar/gateway/agents"
	"assent/sidecar/gateway/mcpserver"
	"assent/sidecar/terminal"
)

// maxHookFrame bounds what a host tells its hook, in bytes.
const maxHookFrame = 16 << 20

// hookTimeout is how long the daemon may take to answer a hook at first, and to say nothing to an event.
const hookTimeout = 5 * time.Second

// countTimeout is how long the daemon may take to count a use that the host asks about. The host waits for it.
const countTimeout = 200 * time.Millisecond

// agentParams are the params of a hello of a hook.
type agentParams struct {
	Place workspaces.Place `json:"place"`
	// Folder is that of the host's session.
	Folder string `json:"folder"`
}

// hookCommand is "assent hook".
func hookCommand(folder string, stdin io.Reader, stdout, stderr io.Writer) *cobra.Command {
	c := &cobra.Command{
		Use: "hook claude", Short: "show a coding agent's own questions in Assent",
		Long: `hook is a command hook of Claude Code. It reads from stdin what Claude Code asks, has the
panel ask you, and prints your decision. Without a decision it prints nothing, and
Claude Code's own prompt counts, which is open all the while: without a daemon or a
panel, after an error, and if you leave the question to the prompt.

It always exits with 0, because another code would say something to Claude Code.`,
		Example:   "  assent hook claude < frame.json",
		Args:      cobra.ArbitraryArgs,
		ValidArgs: []string{"claude"},
		// A flag of another version would end it with 2, which refuses what Claude Code is about to do.
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
	}
	c.RunE = func(cmd *cobra.Command, args []string) (err error) {
		defer func() {
			if err != nil {
				fmt.Fprintf(stderr, "assent hook: no decision: %s\n", visible.Line(err.Error()))
			}
			err = nil
		}()
		log := logTo(visible.JSONWriter(stderr), zerolog.WarnLevel)
		defer reason.Panicked(&log, "the hook", &err) // a panic's exit code would refuse what the host is about to do
		if len(args) != 1 || args[0] != "claude" {
			return errors.New(`the agent is missing or unknown: there is "assent hook claude"`)
		}
		ctx, cancel := context.WithCancel(cmd.Context())
		var watch sync.WaitGroup
		watch.Go(untilOrphaned(ctx, cancel))
		defer watch.Wait()
		defer cancel()
		return runHook(ctx, cmp.Or(os.Getenv("CLAUDE_PROJECT_DIR"), folder), stdin, stdout)
	}
	return c
}

// runHook reads an event, and prints the decision about it, if there is one.
func runHook(ctx context.Context, folder string, stdin io.Reader, stdout io.Writer) error {
	frame, event, err := readHookFrame(ctx, stdin)
	if err != nil {
		return err
	}
	if use := event.Use(folder); use != nil {
		forced, err := askFirstIf(use, stdout)
		if forced {
			_ = serveHook(ctx, folder, frame, event, stdout) // the daemon only counts it
		}
		return err
	}
	return serveHook(ctx, folder, frame, event, stdout)
}

// serveHook has the daemon serve an event, and prints the decision, if there is one.
func serveHook(ctx context.Context, folder string, frame []byte, event *agents.Event, stdout io.Writer) error {
	asks := event.Asks()
	place, err := hostPlace("", folder, "", zerolog.WarnLevel)
	if err != nil {
		return err
	}
	place.Environ, place.UserFile = nil, "" // a hook starts no server, and its own variables must not renew the workspace
	o, err := daemonOptions()
	if err != nil {
		return err
	}
	o.Client = daemon.Agent
	if o.Params, err = json.Marshal(agentParams{place, folder}); err != nil {
		return err
	}
	limit := hookTimeout
	if event.Use("") != nil {
		limit = countTimeout
	}
	joining, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	conn, err := daemon.Join(joining, o)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // what matters was written
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	if !asks {
		if err := conn.SetDeadline(time.Now().Add(limit)); err != nil {
			return err
		}
	}
	if _, err := conn.Write(append(frame, '\n')); err != nil {
		return err
	}
	decision, err := mcpserver.ReadLine(bufio.NewReader(conn), maxHookFrame)
	switch {
	case errors.Is(err, io.EOF):
		return nil // no decision
	case err != nil:
		return err
	case !stop(): // the host has ended this process, or has gone
		return context.Cause(ctx)
	case !asks || !json.Valid(decision):
		return errors.New("the daemon's answer cannot be read")
	}
	if _, err := stdout.Write(decision); err != nil {
		return err
	}
	_, err = conn.Write([]byte("printed\n"))
	return err
}

// readHookFrame reads what a host tells its hook, and returns it in one line.
func readHookFrame(ctx context.Context, stdin io.Reader) (frame []byte, e *agents.Event, err error) {
	type read struct {
		raw []byte
		err error
	}
	done := make(chan read, 1)
	go func() { // ends with its read, or with the process
		raw, err := io.ReadAll(io.LimitReader(stdin, maxHookFrame+1))
		done <- read{raw, err}
	}()
	var r read
	select {
	case r = <-done:
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
	switch {
	case r.err != nil:
		return nil, nil, r.err
	case len(r.raw) > maxHookFrame:
		return nil, nil, fmt.Errorf("what Claude Code says has more than %d MiB", maxHookFrame>>20)
	}
	if e, err = agents.ReadClaude(r.raw); err != nil {
		return nil, nil, err
	}
	var line bytes.Buffer
	err = json.Compact(&line, r.raw)
	return line.Bytes(), e, err
}

// askFirst returns the person's rules about what the hosts of agents ask first; nil without a folder for them.
func askFirst() *askfirst.Rules {
	folder, err := terminal.DataFolder("")
	if err != nil {
		return nil
	}
	return askfirst.New(askfirst.File(folder))
}

// askFirstIf has the host ask the person before a use that one of their rules is about, and reports whether it did. It needs no
// daemon. In doubt the host asks: if the rules are there and cannot be read.
func askFirstIf(use *askfirst.Use, stdout io.Writer) (forced bool, err error) {
	folder, err := terminal.DataFolder("")
	if err != nil {
		return false, err
	}
	why := askfirst.Why(askfirst.File(folder), use)
	if why == "" {
		return false, nil
	}
	output, err := agents.AskFirst("Assent: " + visible.Line(why))
	if err == nil {
		_, err = stdout.Write(append(output, '\n'))
	}
	return err == nil, err
}

// attachAgent serves a hook in the daemon.
func attachAgent(ctx context.Context, open *workspaces.Set, hello daemon.Hello, conn net.Conn) error {
	var p agentParams
	if err := json.Unmarshal(hello.Params, &p); err != nil {
		return errors.Join(fmt.Errorf("what the hook wants cannot be read: %w", err), conn.Close())
	}
	if err := conn.SetReadDeadline(time.Now().Add(hookTimeout)); err != nil {
		return err
	}
	frame, err := mcpserver.ReadLine(bufio.NewReader(conn), maxHookFrame+1)
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	if err := conn.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	e, err := agents.ReadClaude(frame)
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	return open.AttachAgent(ctx, p.Place, interrupted{conn}, p.Folder, e)
}
