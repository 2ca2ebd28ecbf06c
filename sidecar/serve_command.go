package main

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

	"assent/sidecar/daemon"
	"assent/sidecar/secret"
	"assent/sidecar/terminal"
	"assent/sidecar/visible"
	"assent/sidecar/workspaces"
)

func serveCommand(stdin io.Reader, stdout, stderr io.Writer) *cobra.Command {
	c := &cobra.Command{
		Use: "serve", Short: "speak Assent's protocol on stdin and stdout, as a front end wants it", Args: noArguments,
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
	c.Flags().TextVar(&level, "log-level", level, "log what is at least this important: debug, info, warn or error")
	tapFile := c.Flags().String("tap", "", "write a transcript of every wire to this `file`, secrets masked; needs --standalone")
	standalone := c.Flags().Bool("standalone", false, "be the daemon in this process, and log to stderr")
	update := c.Flags().Bool("update", false, "end an older daemon, also if something is open in it")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		place, err := placeOf(*dataDir, *loginsDir, level)
		if err != nil {
			return terminal.Exit(1, err)
		}
		serve := func(ctx context.Context, place workspaces.Place, stdin io.Reader, stdout, stderr io.Writer) error {
			return relay(ctx, place, *update, stdin, stdout, stderr)
		}
		if *standalone {
			serve = func(ctx context.Context, place workspaces.Place, stdin io.Reader, stdout, stderr io.Writer) error {
				return serveAlone(ctx, place, *tapFile, stdin, stdout, stderr)
			}
		} else if *tapFile != "" {
			return terminal.Exit(terminal.ExitUsage, errors.New("--tap needs --standalone: the daemon has the wires"))
		}
		ctx, cancel := context.WithCancel(cmd.Context())
		var watch sync.WaitGroup
		watch.Go(func() { untilOrphaned(ctx, cancel) })
		defer watch.Wait()
		defer cancel()
		err = serve(ctx, place, pollable(stdin), stdout, stderr)
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
	place := workspaces.Place{LogLevel: level, Environ: os.Environ()}
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

// relay has the daemon serve a front end.
func relay(ctx context.Context, place workspaces.Place, update bool, stdin io.Reader, stdout, stderr io.Writer) error {
	avoidGarbage()
	o, err := placeOptions(place)
	if err != nil {
		return err
	}
	o.Replace = update
	conn, welcome, err := daemon.Dial(ctx, o)
	if err != nil {
		return err
	}
	if welcome.Open != "" {
		log := logTo(visible.JSONWriter(stderr), min(place.LogLevel, zerolog.WarnLevel)) // a front end reads it
		log.Warn().Str("code", daemon.CodeOlder).Str("open", welcome.Open).Str("build", welcome.Build).
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
	return daemon.Relay(ctx, conn, stdin, stdout)
}

// dial returns a connection with a workspace in the daemon.
func dial(ctx context.Context, place workspaces.Place) (net.Conn, error) {
	o, err := placeOptions(place)
	if err != nil {
		return nil, err
	}
	conn, _, err := daemon.Dial(ctx, o)
	return conn, err
}

func placeOptions(place workspaces.Place) (daemon.Options, error) {
	o, err := daemonOptions()
	if err == nil {
		o.Params, err = json.Marshal(place)
	}
	return o, err
}

// serveAlone serves a front end in this process, unless another process is the daemon.
func serveAlone(ctx context.Context, place workspaces.Place, tapFile string, stdin io.Reader, stdout, stderr io.Writer) (err error) {
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
	conn, err := attachAlone(ctx, place, stderr, tap, func() io.ReadWriter { return &stdio{stdin, stdout} })
	if conn == nil {
		return err
	}
	if tap != nil {
		return errors.Join(errors.New("the tap would stay empty: another process is the daemon, see \"assent daemon status\""), conn.Close())
	}
	return daemon.Relay(ctx, conn, stdin, stdout)
}

// attachAlone calls frontEnd, serves it in this process, and returns when it has ended. If another process is the daemon,
// attachAlone returns a connection with the workspace there.
func attachAlone(ctx context.Context, place workspaces.Place, log, tap io.Writer, frontEnd func() io.ReadWriter) (net.Conn, error) {
	easeGarbage()
	o, err := placeOptions(place)
	if err != nil {
		return nil, err
	}
	lines := visible.JSONWriter(log)
	serving, open := serveOptions(o, lines, tap)
	serving.Log = logTo(secret.NewMasker().Writer(lines), place.LogLevel)
	return daemon.ServeAlone(ctx, serving, func(ctx context.Context) error { return open.Attach(ctx, place, frontEnd()) })
}

// connect is [terminal.Options.Connect].
func connect(ctx context.Context, place workspaces.Place, standalone bool, log io.Writer) (net.Conn, error) {
	if !standalone {
		return dialFollowing(ctx, place, log)
	}
	ours, theirs := net.Pipe()
	here := make(chan struct{})
	var elsewhere net.Conn
	done := make(chan error, 1)
	go func() {
		var err error
		elsewhere, err = attachAlone(ctx, place, log, nil, func() io.ReadWriter { close(here); return theirs })
		done <- err
	}()
	select {
	case err := <-done:
		if elsewhere == nil && err == nil {
			err = daemon.ErrEnded // already
		}
		return elsewhere, errors.Join(err, ours.Close(), theirs.Close())
	case <-here:
		return &ownConn{ours, sync.OnceValue(func() error { return errors.Join(ours.Close(), <-done) })}, nil
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
