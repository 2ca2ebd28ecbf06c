// Package cmd is the program of Assent: the sidecar of the extension, and a front end of its own for a terminal. The
// sidecar holds the connections to MCP servers and the tasks that use them, and speaks with its front end over stdio.
// [Main] runs it, once in a process.
package cmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"assent/protocol"
	"assent/sidecar/base/leftover"
	"assent/sidecar/config/managedfiles"
	"assent/sidecar/example"
	"assent/sidecar/terminal"
)

// version is set by the linker.
var version = "dev"

// Main runs the program with the process's arguments, and returns the exit code.
func Main() int {
	// A log line without a reader must not kill this process before the servers have ended. Children
	// would inherit an ignored signal.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), ends()...)
	defer stop()
	return run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
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
		fmt.Fprintf(stderr, "assent: there is no working folder: %v\n", err)
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
	return terminal.Run(ctx, args, terminal.Options{
		Version: version, Folder: folder, Stdin: stdin, Stdout: stdout, Stderr: stderr, Interrupts: interrupts,
		Connect: connect, Hosts: addedHosts, HostFiles: func() ([]terminal.HostFile, []protocol.ConfigProblem, error) { return hostFiles(folder) },
		Policy: managedfiles.New("", os.Environ()),
	}, serveCommand(stdin, stdout, stderr), gatewayCommand(folder, stdin, stdout, stderr), hookCommand(folder, stdin, stdout, stderr), openCommand(folder, stdout, stderr), setupCommand(folder, stdin, stdout, stderr), restoreCommand(folder, stdout), hostsCommand(folder, stdout), daemonCommand(stdout), exampleCommand(), journalCommand(), leftoversCommand(), versionCommand)
}

// exampleCommand is the command that starts the example server; see package example.
func exampleCommand() *cobra.Command {
	return &cobra.Command{
		Use: example.Command, Short: "run an MCP server with questions, to try Assent", Args: noArguments,
		Long:    "example-server is an MCP server on stdin and stdout. Its tool asks you for a form and a model for a text.",
		Example: "  assent call plan_lunch -- assent example-server",
		RunE:    func(cmd *cobra.Command, _ []string) error { return example.Serve(cmd.Context(), version) },
	}
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
