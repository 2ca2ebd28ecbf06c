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
	"slices"
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

// maxTold bounds what a host says about a question, in bytes.
const maxTold = 1 << 10

// hookTimeout is how long the daemon may take to answer a hook at first, and to say nothing to an event.
const hookTimeout = 5 * time.Second

// countTimeout is how long the daemon may take to count a use that the host asks about. The host waits for it.
const countTimeout = 200 * time.Millisecond

// agentParams are the params of a hello of a hook.
type agentParams struct {
	Place workspaces.Place `json:"place"`
	// Folder is that of the host's session.
	Folder string `json:"folder"`
	// Agent is the name of the host, as in [agents.Read]. A hook of Claude Code of an older version has none.
	Agent string `json:"agent"`
}

// hookCommand is "assent hook".
func hookCommand(folder string, stdin io.Reader, stdout, stderr io.Writer) *cobra.Command {
	c := &cobra.Command{
		Use: "hook AGENT", Short: "show a coding agent's own questions in Assent",
		Long: `Claude Code and the plugin of opencode run hook; "assent setup --hook" adds both. AGENT is
claude or opencode. hook reads the agent's question from stdin, shows it in the panel, and
prints your decision. It prints nothing without a daemon or a panel, after an error, or if
you leave the question to the agent's own prompt, which stays open and then decides.

hook always exits with 0, because Claude Code takes other codes as an answer.`,
		Example:   "  assent hook claude < frame.json",
		Args:      cobra.ArbitraryArgs,
		ValidArgs: agents.Names(),
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
		if len(args) != 1 || !slices.Contains(agents.Names(), args[0]) {
			return errors.New(`the agent is missing or unknown: there is "assent hook claude" and "assent hook opencode"`)
		}
		ctx, cancel := context.WithCancel(cmd.Context())
		var watch sync.WaitGroup
		watch.Go(untilOrphaned(ctx, cancel))
		defer watch.Wait()
		defer cancel()
		h := hook{args[0], folder, bufio.NewReader(stdin), stdout}
		if h.agent == "claude" {
			h.folder = cmp.Or(os.Getenv("CLAUDE_PROJECT_DIR"), folder)
		}
		return h.run(ctx)
	}
	return c
}

// hook is a hook that an agent's host has started.
type hook struct {
	// agent is the host's name, as in [agents.Read], and folder that of its session.
	agent, folder string
	stdin         *bufio.Reader
	stdout        io.Writer
}

// run reads an event, and prints the decision about it, if there is one.
func (h hook) run(ctx context.Context) error {
	frame, event, err := h.readFrame(ctx)
	if err != nil {
		return err
	}
	if event.Starts() {
		return h.askAtStart()
	}
	if use := event.Use(h.folder); use != nil {
		forced, err := askFirstIf(use, h.stdout)
		if forced {
			_ = h.serve(ctx, frame, event) // the daemon only counts it
		}
		return err
	}
	return h.serve(ctx, frame, event)
}

// serve has the daemon serve an event, and prints the decision, if there is one.
func (h hook) serve(ctx context.Context, frame []byte, event *agents.Event) error {
	asks := event.Asks()
	place, err := hostPlace("", h.folder, "", zerolog.WarnLevel)
	if err != nil {
		return err
	}
	place.Environ, place.UserFile = nil, "" // a hook starts no server, and its own variables must not renew the workspace
	o, err := daemonOptions()
	if err != nil {
		return err
	}
	o.Client = daemon.Agent
	if o.Params, err = json.Marshal(agentParams{place, h.folder, h.agent}); err != nil {
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
	answers := bufio.NewReader(conn)
	if event.Tells() {
		go func() { // ends with its read, or with the process
			h.tell(conn)
			_ = conn.Close()
		}()
	}
	decision, err := mcpserver.ReadLine(answers, maxHookFrame)
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
	if _, err := h.stdout.Write(decision); err != nil {
		return err
	}
	if event.Tells() {
		_, _ = io.Copy(io.Discard, answers) // until the daemon has heard what became of it, or stdin has ended
		return nil
	}
	_, err = conn.Write([]byte("printed\n"))
	return err
}

// tell tells the daemon what stdin says about the question, and waits until the daemon has closed conn.
func (h hook) tell(conn net.Conn) {
	line, err := mcpserver.ReadLine(h.stdin, maxTold)
	if err != nil {
		return // the host has left
	}
	if _, err := conn.Write(line); err == nil {
		_, _ = io.Copy(io.Discard, h.stdin)
	}
}

// readFrame reads what a host tells its hook, and returns it in one line: all of stdin, or where more follows, the first line.
func (h hook) readFrame(ctx context.Context) (frame []byte, e *agents.Event, err error) {
	type read struct {
		raw []byte
		err error
	}
	done := make(chan read, 1)
	go func() { // ends with its read, or with the process
		if h.agent == "opencode" {
			raw, err := mcpserver.ReadLine(h.stdin, maxHookFrame)
			done <- read{raw, err}
			return
		}
		raw, err := io.ReadAll(io.LimitReader(h.stdin, maxHookFrame+1))
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
		return nil, nil, fmt.Errorf("what the agent says has more than %d MiB", maxHookFrame>>20)
	}
	if e, err = agents.Read(h.agent, r.raw); err != nil {
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

// askAtStart prints the person's rules for a host that asks by rules of its own. It needs no daemon.
func (h hook) askAtStart() error {
	folder, err := terminal.DataFolder("")
	if err != nil {
		return err
	}
	output, err := agents.AskAtStart(askfirst.Read(askfirst.File(folder)))
	if err == nil {
		_, err = h.stdout.Write(append(output, '\n'))
	}
	return err
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
	e, err := agents.Read(cmp.Or(p.Agent, "claude"), frame)
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	return open.AttachAgent(ctx, p.Place, interrupted{conn}, p.Folder, e)
}
