// Command assent is the sidecar of the Assent extension: it holds the connections to MCP servers and
// the tasks that use them, and speaks with its front end over stdio. It is also a front end of its own, for a
// terminal.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/rs/zerolog"

	"assent/sidecar/server"
	"assent/sidecar/tap"
)

// version is set by the linker.
var version = "dev"

const usage = `assent is the sidecar of the Assent extension for VS Code.

Usage:
	assent serve [flags]   speak Assent's protocol on stdin and stdout
	assent journal         show, export or verify the journal
	assent version         print the version

In a terminal:
	assent call SERVER TOOL                       run a tool, and be asked what its server asks
	assent servers                                list the configured servers
	assent tools|resources|prompts SERVER         list what a server has
	assent doctor SERVER                          say why a server does not start

Run "assent serve -help" or "assent call -help" for the flags, and "assent journal help" for its commands.
`

func main() {
	// A log line that nobody reads must not kill us before the servers have ended. Ignoring the signal
	// would do, and would be inherited by them.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the whole program. It returns the exit code: 0, 1 for a failure, 2 for a wrong command line, or
// 3 for a journal that was altered; those of the commands for a terminal are in package terminal.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	command := ""
	if len(args) > 0 {
		command = args[0]
	}
	if isTerminalCommand(command) {
		return runTerminal(ctx, args, stdin, stdout, stderr)
	}
	switch command {
	case "serve":
		return serve(ctx, args[1:], stdin, stdout, stderr)
	case "journal":
		return runJournal(ctx, args[1:], stdout, stderr)
	case "version":
		fmt.Fprintln(stdout, version)
		return 0
	case "help", "-h", "-help", "--help":
		fmt.Fprint(stdout, usage)
		return 0
	case "":
		fmt.Fprint(stderr, usage)
		return 2
	default:
		fmt.Fprintf(stderr, "assent: there is no command %q\n\n%s", command, usage)
		return 2
	}
}

func serve(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("assent serve", flag.ContinueOnError)
	flags.SetOutput(stderr)
	dataDir := flags.String("data-dir", "", "keep tasks in this `folder` (default: in the user's configuration folder)")
	level := zerolog.InfoLevel
	flags.TextVar(&level, "log-level", level, "log what is at least this important: debug, info, warn or error")
	tapFile := flags.String("tap", "", "write a transcript of every wire to this `file`, secrets masked")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "assent serve: unexpected argument %q\n", flags.Arg(0))
		return 2
	}

	log := zerolog.New(stderr).Level(level).With().Timestamp().Logger()
	folder, err := dataFolder(*dataDir)
	if err != nil {
		fmt.Fprintf(stderr, "assent serve: %v\n", err)
		return 1
	}
	opts := server.Options{Version: version, DataDir: folder, Log: log}
	if *tapFile != "" {
		file, err := os.OpenFile(*tapFile, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
		if err != nil {
			fmt.Fprintf(stderr, "assent serve: the tap cannot be written: %v\n", err)
			return 1
		}
		opts.Tap = tap.New(file)
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
	if err := server.New(opts).Serve(ctx, stdin, stdout); err != nil {
		log.Error().Err(err).Msg("serve")
		return 1
	}
	return 0
}
