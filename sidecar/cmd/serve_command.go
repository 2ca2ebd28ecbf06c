package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"assent/sidecar/base/secret"
	"assent/sidecar/base/visible"
	"assent/sidecar/config"
	"assent/sidecar/daemon"
	"assent/sidecar/daemon/workspaces"
	"assent/sidecar/terminal"
)

func serveCommand(stdin io.Reader, stdout, stderr io.Writer) *cobra.Command {
	c := &cobra.Command{
		Use: "serve", Short: "serve Assent's protocol on stdin and stdout, for a front end", Args: noArguments,
		Long: fmt.Sprintf(`serve attaches a front end to the daemon, which it starts if none runs. With --standalone
it is the daemon itself, and ends with its front end: for containers, for CI, and where a
detached process may not read your folders. If another process is the daemon, it attaches
to that.

It exits with %d if the daemon ends before the front end.`, terminal.ExitEnded),
		Example: `  assent serve --data-dir kept --log-level debug
  assent serve --standalone --tap wire.txtar`,
	}
	dataDir := c.Flags().String("data-dir", "", "keep tasks in this `folder` (default: in the user's configuration folder)")
	loginsDir := c.Flags().String("logins-dir", "", "lock logins in this `folder`, which all windows with the same secrets share (default: in that of --data-dir)")
	level := zerolog.InfoLevel
	c.Flags().TextVar(&level, "log-level", level, "minimum log level: debug, info, warn or error")
	tapFile := c.Flags().String("tap", "", "write a transcript of every wire to this `file`, secrets masked; needs --standalone")
	standalone := c.Flags().Bool("standalone", false, "be the daemon in this process, and log to stderr")
	update := c.Flags().Bool("update", false, "end an older daemon, even if work is open in it")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		place, err := placeOf(*dataDir, *loginsDir, level)
		if err != nil {
			return terminal.Exit(1, err)
		}
		serve := relay
		if *standalone {
			serve = func(ctx context.Context, f frontEnd) error { return serveAlone(ctx, f, *tapFile) }
		} else if *tapFile != "" {
			return terminal.Exit(terminal.ExitUsage, errors.New("--tap needs --standalone: the daemon has the wires"))
		}
		ctx, cancel := context.WithCancel(cmd.Context())
		var watch sync.WaitGroup
		watch.Go(untilOrphaned(ctx, cancel))
		defer watch.Wait()
		defer cancel()
		err = serve(ctx, frontEnd{place, *update, pollable(stdin), stdout, stderr})
		if err == nil || ctx.Err() != nil {
			return nil
		}
		log := logTo(visible.JSONWriter(stderr), level)
		if errors.Is(err, daemon.ErrEnded) {
			log.Warn().Err(err).Msg("serve")
			return terminal.Exit(terminal.ExitEnded, nil)
		}
		line := log.Error().Err(err)
		if refusal, ok := errors.AsType[*daemon.Refusal](err); ok {
			line = line.Str("code", refusal.Code)
		}
		line.Msg("serve")
		return terminal.Exit(1, nil)
	}
	return c
}

// placeOf says which workspace a front end of this process is for.
func placeOf(dataDir, loginsDir string, level zerolog.Level) (workspaces.Place, error) {
	place := workspaces.Place{LogLevel: level, Environ: os.Environ(), UserFile: config.UserFile()}
	var err error
	if place.Folder, err = os.Getwd(); err == nil {
		place.DataDir, err = terminal.DataFolder(dataDir)
	}
	if err == nil {
		place.DataDir, err = filepath.Abs(place.DataDir)
	}
	if err == nil && loginsDir != "" {
		place.LoginsDir, err = filepath.Abs(loginsDir)
	}
	return place, err
}

func logTo(w io.Writer, level zerolog.Level) zerolog.Logger {
	return zerolog.New(w).Level(level).With().Timestamp().Logger()
}

// frontEnd is one on stdin and stdout, and its workspace.
type frontEnd struct {
	place workspaces.Place
	// update ends an older daemon, even if work is open in it.
	update         bool
	stdin          io.Reader
	stdout, stderr io.Writer
}

// The codes of the lines on stderr that a front end reads, beside [daemon.CodeOlder].
const (
	codeHangs   = "hangs"
	codeAnswers = "answers"
)

// relay has the daemon serve a front end.
func relay(ctx context.Context, f frontEnd) error {
	paceRelay()
	o, err := f.options()
	if err != nil {
		return err
	}
	conn, welcome, err := daemon.Dial(ctx, o)
	if err != nil {
		return err
	}
	return f.relay(ctx, o, conn, welcome)
}

func (f frontEnd) options() (daemon.Options, error) {
	o, err := daemonOptions()
	if err != nil {
		return o, err
	}
	o.Replace = f.update
	return withPlace(o, f.place)
}

// relay copies what the front end and the daemon say. Stderr says whether the daemon is older, and whether it hangs.
func (f frontEnd) relay(ctx context.Context, o daemon.Options, conn net.Conn, welcome daemon.Welcome) error {
	log := logTo(visible.JSONWriter(f.stderr), min(f.place.LogLevel, zerolog.WarnLevel)) // a front end reads it
	if welcome.Open != "" {
		log.Warn().Str("code", daemon.CodeOlder).Str("open", welcome.Open).Str("build", welcome.Build).Int("pid", welcome.PID).
			Msg("an older daemon serves until nothing is open")
		updating, cancel := context.WithCancel(ctx)
		var asking sync.WaitGroup
		asking.Go(func() {
			if err := daemon.Update(updating, o); err != nil && updating.Err() == nil {
				log.Error().Err(err).Msg("the daemon was not updated")
			}
		})
		defer asking.Wait()
		defer cancel()
	}
	conn = daemon.Watch(conn, o, func(hangs error) {
		if hangs != nil {
			log.Warn().Str("code", codeHangs).Int("pid", welcome.PID).Err(hangs).Msg("the daemon hangs")
		} else {
			log.Warn().Str("code", codeAnswers).Msg("the daemon answers again")
		}
	})
	return daemon.Relay(ctx, conn, f.stdin, f.stdout)
}

// withPlace has a connection attached to a workspace.
func withPlace(o daemon.Options, place workspaces.Place) (daemon.Options, error) {
	var err error
	o.Params, err = json.Marshal(place)
	return o, err
}

// serveAlone serves a front end in this process, unless another process is the daemon.
func serveAlone(ctx context.Context, f frontEnd, tapFile string) (err error) {
	o, err := f.options()
	if err != nil {
		return err
	}
	o.Alone = true
	var tap io.Writer
	if tapFile != "" {
		file, err := os.OpenFile(tapFile, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
		if err != nil {
			return fmt.Errorf("the tap cannot be written: %w", err)
		}
		kept := &keptError{w: file}
		tap = kept
		defer func() {
			if tapErr := errors.Join(kept.err, file.Close()); tapErr != nil {
				err = errors.Join(err, fmt.Errorf("the tap is not whole: %w", tapErr))
			}
		}()
	}
	conn, welcome, err := attachAlone(ctx, o, f.place, f.stderr, tap, func() io.ReadWriter { return &stdio{f.stdin, f.stdout} })
	if conn == nil {
		return err
	}
	if tap != nil {
		return errors.Join(errors.New("the tap would stay empty: another process is the daemon, see \"assent daemon status\""), conn.Close())
	}
	return f.relay(ctx, o, conn, welcome)
}

// attachAlone calls frontEnd, serves it in this process, and returns when it has ended. If another process is the daemon,
// attachAlone returns a connection with the workspace there.
func attachAlone(
	ctx context.Context, o daemon.Options, place workspaces.Place, log, tap io.Writer, frontEnd func() io.ReadWriter,
) (net.Conn, daemon.Welcome, error) {
	paceDaemon()
	lines := visible.JSONWriter(log)
	serving, open := serveOptions(o, lines, tap)
	serving.Log = logTo(secret.NewMasker().Writer(lines), place.LogLevel)
	return daemon.ServeAlone(ctx, serving, func(ctx context.Context) error { return open.Attach(ctx, place, frontEnd()) })
}

// connect is [terminal.Options.Connect].
func connect(ctx context.Context, place workspaces.Place, standalone bool, log io.Writer, say func(string)) (net.Conn, error) {
	attach := dialFollowing
	if standalone {
		attach = dialAlone
	}
	o, err := daemonOptions()
	if err != nil {
		return nil, err
	}
	conn, welcome, err := attach(ctx, o, place, log)
	if err != nil || welcome.PID == 0 { // it is in this process
		return conn, err
	}
	if welcome.Open != "" {
		say(fmt.Sprintf("An older daemon, Assent %s, serves this command, because %s. The next command replaces it when nothing is open. To replace it now, run \"assent daemon stop\".",
			welcome.Build, welcome.Open))
	}
	return daemon.Watch(conn, o, func(hangs error) {
		if hangs != nil {
			say(fmt.Sprintf("Still waiting: %v.", hangs))
		} else {
			say("The daemon answers again.")
		}
	}), nil
}

// dialAlone returns a connection with a workspace in this process, and no welcome. The process is a daemon of its own: the end
// of another command never ends this one. The store of a data folder has one process all the same.
func dialAlone(ctx context.Context, o daemon.Options, place workspaces.Place, log io.Writer) (net.Conn, daemon.Welcome, error) {
	o, err := withPlace(o, place)
	if err != nil {
		return nil, daemon.Welcome{}, err
	}
	address, remove, err := daemon.Apart()
	if err != nil {
		return nil, daemon.Welcome{}, err
	}
	o.Address = address
	ours, theirs := net.Pipe()
	here := make(chan struct{})
	done := make(chan error, 1)
	go func() {
		_, _, err := attachAlone(ctx, o, place, log, nil, func() io.ReadWriter { close(here); return theirs })
		done <- errors.Join(err, remove())
	}()
	select {
	case err := <-done:
		if err == nil {
			err = daemon.ErrEnded // already
		}
		return nil, daemon.Welcome{}, errors.Join(err, ours.Close(), theirs.Close())
	case <-here:
		return &ownConn{ours, sync.OnceValue(func() error { return errors.Join(ours.Close(), <-done) })}, daemon.Welcome{}, nil
	}
}

// ownConn is a connection with a workspace in this process.
type ownConn struct {
	net.Conn
	end func() error
}

// Close implements [io.Closer]. It returns when the workspace and the daemon in this process have ended.
func (c *ownConn) Close() error { return c.end() }

// stdio is a front end's two pipes.
type stdio struct {
	io.Reader
	io.Writer
}

// Close implements [io.Closer].
func (s *stdio) Close() error {
	var errs []error
	for _, end := range []any{s.Reader, s.Writer} {
		if c, ok := end.(io.Closer); ok {
			if err := c.Close(); !errors.Is(err, os.ErrClosed) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// keptError keeps the first error of a writer, after which it writes nothing. It may be used from any goroutine.
type keptError struct {
	w io.Writer

	mu  sync.Mutex // guards err, and is held while something is written
	err error
}

// Write implements [io.Writer].
func (k *keptError) Write(b []byte) (n int, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err == nil {
		n, k.err = k.w.Write(b)
	}
	return n, k.err
}
