package cmd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/gen2brain/beeep"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"assent/sidecar/base/leftover"
	"assent/sidecar/base/secret"
	"assent/sidecar/base/visible"
	"assent/sidecar/browser"
	"assent/sidecar/config"
	"assent/sidecar/config/managedfiles"
	"assent/sidecar/config/orgpolicy"
	"assent/sidecar/daemon"
	"assent/sidecar/daemon/workspaces"
	"assent/sidecar/gateway/httphosts"
	"assent/sidecar/terminal"
	"assent/sidecar/wire/apps"
)

// daemonCommand is "assent daemon".
func daemonCommand(stdout io.Writer) *cobra.Command {
	c := &cobra.Command{
		Use: "daemon", Short: "show or stop the process that all windows share",
		Long: `The daemon is one process for each person and machine. Front ends start it, and
it ends after ten idle minutes.

Its files are in the folder .assent in your home, or in the folder that the
environment variable ` + daemon.FolderVariable + ` names, for example in a container.`,
		Example: `  assent daemon status --json
  assent daemon stop --force`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return terminal.Exit(terminal.ExitUsage, fmt.Errorf("there is no command %q: there is status, stop or log", args[0]))
			}
			c.SetOut(c.ErrOrStderr())
			return errors.Join(c.Help(), terminal.Exit(terminal.ExitUsage, nil))
		},
	}
	c.AddCommand(daemonStatusCommand(), daemonStopCommand(), daemonLogCommand(), &cobra.Command{
		Use: "run", Short: "be the daemon, unless another process is", Hidden: true, Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return runDaemon(cmd.Context(), stdout) },
	})
	return c
}

// daemonOptions say where the daemon is, and which build this is.
func daemonOptions() (daemon.Options, error) {
	address, err := daemon.Locate()
	if err != nil {
		return daemon.Options{}, terminal.Exit(1, err)
	}
	return daemon.Options{Address: address, Build: build()}, nil
}

// build is the version, or when the program of a developer was built: a daemon of yesterday's build is replaced.
func build() string {
	if version != "dev" {
		return version
	}
	path, err := os.Executable()
	if err != nil {
		return version
	}
	info, err := os.Stat(path)
	if err != nil {
		return version
	}
	return daemon.Development + info.ModTime().UTC().Format(time.RFC3339)
}

// runDaemon is the daemon's process.
func runDaemon(ctx context.Context, stdout io.Writer) error {
	paceDaemon()
	o, err := daemonOptions()
	if err != nil {
		return err
	}
	file := daemon.NewLog(o.Address.Log)
	defer file.Close()
	lines := visible.JSONWriter(file)
	log := zerolog.New(secret.NewMasker().Writer(lines)).With().Timestamp().Logger()
	ready, _ := stdout.(io.WriteCloser)
	serving, _ := serveOptions(o, lines, nil)
	serving.Log, serving.Ready = log, ready
	if err := daemon.Serve(ctx, serving); err != nil {
		return terminal.Exit(1, err)
	}
	return nil
}

// serveOptions are those of a daemon in this process, with its workspaces. The log and the tap are as of
// [workspaces.Options].
func serveOptions(o daemon.Options, log, tap io.Writer) (daemon.ServeOptions, *workspaces.Set) {
	frames := apps.New(zerolog.New(secret.NewMasker().Writer(log)).With().Timestamp().Logger())
	open := workspaces.New(workspaces.Options{Apps: frames, Version: version, RunsDir: runsFolder(), UserFile: config.UserFile(), Secret: keptSecret, Log: log, Tap: tap, Notify: notifyDesktop, AskFirst: askFirst()})
	logger := zerolog.New(secret.NewMasker().Writer(log)).With().Timestamp().Logger()
	policy := managedfiles.New("", os.Environ())
	pages := browser.New(browser.Options{
		Permit: func() error {
			if blocked := policy.Forbids(orgpolicy.Browser); blocked != nil {
				return blocked
			}
			return nil
		},
		Version: version, Panel: browser.Panel(), Apps: frames, Log: logger,
		Attach: func(ctx context.Context, t browser.Target, conn io.ReadWriter) error {
			return open.Attach(ctx, t.Place, conn)
		},
	})
	overHTTP := httphosts.New(httphosts.Options{
		File: o.Address.Hosts, Log: logger,
		Serve:   func(w http.ResponseWriter, r *http.Request, h httphosts.Host) { serveHTTPHost(open, w, r, h) },
		Removed: func(h httphosts.Host) { open.EndHost(h.TokenHash) },
	})
	return daemon.ServeOptions{
		Options: o,
		Begin:   overHTTP.Begin,
		Grace:   workspaces.LongestClose, WaitsFor: open.WaitsFor,
		Stays: func() bool { return len(overHTTP.Hosts()) > 0 },
		Busy:  func() string { return cmp.Or(open.Busy(), pages.Busy()) },
		Close: func() {
			overHTTP.Close()
			pages.Close()
			open.Close()
			frames.Close()
		},
		Attach: func(ctx context.Context, hello daemon.Hello, conn net.Conn) error {
			switch hello.Client {
			case daemon.Host:
				return attachHost(ctx, open, hello, conn)
			case daemon.Agent:
				return attachAgent(ctx, open, hello, conn)
			case daemon.Browser:
				return openPage(pages, hello, conn)
			case daemon.Hosts:
				return answerHosts(overHTTP, hello, conn)
			}
			var place workspaces.Place
			if err := json.Unmarshal(hello.Params, &place); err != nil {
				return fmt.Errorf("what the front end says of its workspace cannot be read: %w", err)
			}
			return open.Attach(ctx, place, interrupted{conn})
		},
	}, open
}

// notifyDesktop shows a notification of the operating system.
func notifyDesktop(text string) error { return beeep.Notify("Assent", text, "") }

// runsFolder is [workspaces.Options.RunsDir].
func runsFolder() string {
	runs, err := leftover.Folder()
	if err != nil {
		return "" // as [server.SharedDirs] says
	}
	return runs
}

// interrupted is a connection of which the workspace interrupts reads and writes when it closes it. The daemon closes it once
// the front end is detached, so a relay that has ended is in no status.
type interrupted struct{ net.Conn }

// Close implements [io.Closer].
func (i interrupted) Close() error { return i.SetDeadline(time.Unix(1, 0)) }

func daemonStatusCommand() *cobra.Command {
	c := &cobra.Command{Use: "status", Short: "show the daemon, and who is attached", Example: "  assent daemon status --json", Args: noArguments}
	asJSON := c.Flags().Bool("json", false, "print an object; null if no daemon runs")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		o, err := daemonOptions()
		if err != nil {
			return err
		}
		status, err := daemon.StatusOf(cmd.Context(), o)
		running := !errors.Is(err, daemon.ErrNone)
		if running && err != nil {
			return terminal.Exit(1, err)
		}
		out := cmd.OutOrStdout()
		switch {
		case *asJSON && running:
			err = json.NewEncoder(out).Encode(status)
		case *asJSON:
			_, err = fmt.Fprintln(out, "null")
		case !running:
			_, err = fmt.Fprintln(out, "No daemon runs.")
		default:
			err = printStatus(out, status)
		}
		return err
	}
	return c
}

func printStatus(w io.Writer, s daemon.Status) error {
	open := s.Busy
	if open == "" {
		open = "nothing"
	}
	log := s.Log
	if log == "" {
		log = "on stderr of the process"
	}
	_, err := fmt.Fprintf(w, "Process  %d\nBuild    %s\nSince    %s\nOpen     %s\nLog      %s\nSocket   %s\nAttached %d\n",
		s.PID, visible.Data(s.Build), s.Since.Local().Format(time.DateTime), visible.Data(open), log, s.Socket, len(s.Attached))
	for _, a := range s.Attached {
		_, printErr := fmt.Fprintf(w, "  process %d, Assent %s, since %s\n", a.PID, visible.Data(a.Build), a.Since.Local().Format(time.DateTime))
		err = errors.Join(err, printErr)
	}
	return err
}

func daemonStopCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "stop", Short: "end the daemon; the next front end starts it again", Args: noArguments,
		Example: "  assent daemon stop --force",
	}
	force := c.Flags().Bool("force", false, "kill the process, also if it does not answer")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		o, err := daemonOptions()
		if err != nil {
			return err
		}
		var pid int
		if *force {
			pid, err = daemon.Kill(cmd.Context(), o)
		} else {
			var status daemon.Status
			status, err = daemon.Stop(cmd.Context(), o, func(waitsFor string) {
				fmt.Fprintf(cmd.ErrOrStderr(), "Waiting for %s.\n", visible.Data(waitsFor))
			})
			pid = status.PID
		}
		text := fmt.Sprintf("The daemon, process %d, has ended.", pid)
		if errors.Is(err, daemon.ErrNone) {
			text, err = "No daemon runs.", nil
		}
		if err != nil {
			return terminal.Exit(1, err)
		}
		_, err = fmt.Fprintln(cmd.OutOrStdout(), text)
		return err
	}
	return c
}

func daemonLogCommand() *cobra.Command {
	c := &cobra.Command{Use: "log", Short: "print the daemon's log", Args: noArguments, Example: "  assent daemon log --follow"}
	follow := c.Flags().Bool("follow", false, "print new lines until you interrupt it")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		o, err := daemonOptions()
		if err != nil {
			return err
		}
		ctx, cancel := context.WithCancel(cmd.Context())
		var watch sync.WaitGroup
		watch.Go(untilOrphaned(ctx, cancel))
		defer watch.Wait()
		defer cancel()
		if err := daemon.PrintLog(ctx, o.Address, cmd.OutOrStdout(), *follow); err != nil {
			return terminal.Exit(1, err)
		}
		return nil
	}
	return c
}
