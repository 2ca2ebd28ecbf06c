// Command assent is the sidecar of the Assent extension: it holds the connections to MCP servers and
// the tasks that use them, and speaks with its front end over stdio. It is also a front end of its own, for a
// terminal.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"assent/sidecar/leftover"
	"assent/sidecar/secret"
	"assent/sidecar/server"
	"assent/sidecar/tap"
	"assent/sidecar/terminal"
	"assent/sidecar/visible"
)

// version is set by the linker.
var version = "dev"

func main() {
	// A log line that nobody reads must not kill us before the servers have ended. Ignoring the signal
	// would do, and would be inherited by them.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	easeGarbage()
	ctx, stop := signal.NotifyContext(context.Background(), ends()...)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// ends are the signals that are to end the program in good order.
func ends() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // of a terminal that is closed; nohup has it ignored
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// run is the whole program. It returns the exit code: those of package terminal, or 3 for a journal that was altered.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	folder, err := os.Getwd()
	if err != nil {
		fmt.Fprintf(stderr, "assent: there is no folder to be in: %v\n", err)
		return terminal.ExitFailed
	}
	// An interrupt ends ctx. In a front end, the first one is to cancel the call in good order.
	interrupts := make(chan os.Signal, 2)
	signal.Notify(interrupts, ends()...)
	defer signal.Stop(interrupts)
	versionCommand := &cobra.Command{
		Use: "version", Short: "print the version", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), version)
			return err
		},
	}
	return terminal.Run(ctx, longFlags(args), terminal.Options{
		Version: version, Folder: folder, Stdin: stdin, Stdout: stdout, Stderr: stderr, Interrupts: interrupts,
	}, serveCommand(stdin, stdout, stderr), journalCommand(), leftoversCommand(), versionCommand)
}

// longFlags gives the flags of serve and journal a second dash, where they have one, as they could always be written.
func longFlags(args []string) []string {
	if len(args) == 0 || args[0] != "serve" && args[0] != "journal" {
		return args
	}
	out := slices.Clone(args)
	for i, arg := range out {
		if len(arg) > 2 && arg[0] == '-' && arg[1] >= 'a' && arg[1] <= 'z' {
			out[i] = "-" + arg
		}
	}
	return out
}

func serveCommand(stdin io.Reader, stdout, stderr io.Writer) *cobra.Command {
	c := &cobra.Command{
		Use: "serve", Short: "speak Assent's protocol on stdin and stdout, as a front end wants it", Args: noArguments,
		Example: "  assent serve --data-dir kept --log-level debug --tap wire.txtar",
	}
	dataDir := c.Flags().String("data-dir", "", "keep tasks in this `folder` (default: in the user's configuration folder)")
	loginsDir := c.Flags().String("logins-dir", "", "lock logins in this `folder`, which all windows with the same secrets share (default: in that of --data-dir)")
	level := zerolog.InfoLevel
	c.Flags().TextVar(&level, "log-level", level, "log what is at least this important: debug, info, warn or error")
	tapFile := c.Flags().String("tap", "", "write a transcript of every wire to this `file`, secrets masked")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		return serve(cmd.Context(), *dataDir, *loginsDir, level, *tapFile, stdin, stdout, stderr)
	}
	return c
}

// leftoversCommand is the command that a run's keeper executes once the run is dead; see package leftover.
func leftoversCommand() *cobra.Command {
	return &cobra.Command{
		Use: leftover.Command + " FILE", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return leftover.EndOf(cmd.Context(), args[0]) },
	}
}

// noArguments is the error of a command that takes none.
func noArguments(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return terminal.Exit(terminal.ExitUsage, fmt.Errorf("unexpected argument %q", args[0]))
	}
	return nil
}

// serve returns an error that says the exit code.
func serve(ctx context.Context, dataDir, loginsDir string, level zerolog.Level, tapFile string, stdin io.Reader, stdout, stderr io.Writer) error {
	masker := secret.NewMasker()
	log := zerolog.New(masker.Writer(visible.JSONWriter(stderr))).Level(level).With().Timestamp().Logger()
	folder, err := terminal.DataFolder(dataDir)
	if err != nil {
		return terminal.Exit(1, err)
	}
	runs, err := leftover.Folder()
	if err != nil {
		log.Warn().Err(err).Msg("servers that outlive a killed sidecar are not ended")
	}
	opts := server.Options{Version: version, DataDir: folder, LoginsDir: loginsDir, RunsDir: runs, Log: log, Masker: masker}
	if tapFile != "" {
		file, err := os.OpenFile(tapFile, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
		if err != nil {
			return terminal.Exit(1, fmt.Errorf("the tap cannot be written: %w", err))
		}
		opts.Tap = tap.New(file, masker)
		defer func() {
			if err := errors.Join(opts.Tap.Err(), file.Close()); err != nil {
				log.Error().Err(err).Msg("the tap is not whole")
			}
		}()
	}

	ctx, cancel := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() { untilOrphaned(ctx, cancel) })
	defer watch.Wait()
	defer cancel()
	if err := server.New(opts).Serve(ctx, pollable(stdin), stdout); err != nil {
		log.Error().Err(err).Msg("serve")
		return terminal.Exit(1, nil)
	}
	return nil
}
