package cmd

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"assent/protocol"
	"assent/sidecar/base/visible"
	"assent/sidecar/daemon"
	"assent/sidecar/daemon/workspaces"
	"assent/sidecar/gateway"
	"assent/sidecar/gateway/hosts"
	"assent/sidecar/gateway/shim"
	"assent/sidecar/setup/importer"
	"assent/sidecar/terminal"
)

// hostParams are the params of a hello of a host.
type hostParams struct {
	Place workspaces.Place `json:"place"`
	Host  hosts.Use        `json:"host"`
}

// gatewayCommand is "assent gateway".
func gatewayCommand(folder string, stdin io.Reader, stdout, stderr io.Writer) *cobra.Command {
	c := &cobra.Command{
		Use: "gateway [SERVER]", Short: "run an MCP server that offers your servers to another program",
		Long: `gateway is an MCP server on stdin and stdout, for hosts such as Claude Code or Codex. It
offers one of your servers as it is, or all of them with the server's name in front of
each tool's. The servers run in Assent's daemon. You answer their
questions in Assent, even if the host cannot show them.

A server that the folder's file configures runs only if you have confirmed it, in
VS Code or with another command in a terminal, such as "assent tools SERVER".`,
		Example: `  claude mcp add shop -- assent gateway shop
  claude mcp add --scope user shop -- assent gateway --own --host claude-code shop
  assent gateway --config servers.json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return terminal.Exit(terminal.ExitUsage, fmt.Errorf("gateway offers one server, or without a name all of them: write an entry for each of %s", strings.Join(args, ", ")))
			}
			return nil
		},
	}
	own := c.Flags().Bool("own", false, "offer your own server SERVER, also if the folder's file has another of that name")
	program := c.Flags().String("host", "", "the `program` that starts this, as \"assent setup\" names it, such as codex")
	configFile := c.Flags().String("config", "", "take the servers from this `file` (default: the folder's .vscode/mcp.json)")
	dataDir := c.Flags().String("data-dir", "", "keep the conversations in this `folder` (default: one for each folder and --config, in the user's configuration folder)")
	trust := c.Flags().Bool("trust", false, "run servers as configured, without your confirmation")
	model := terminal.ModelFlags(c.Flags())
	setHost := hostFlags(c.Flags())
	level := zerolog.WarnLevel
	c.Flags().TextVar(&level, "log-level", level, "minimum log level: debug, info, warn or error")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case *own && len(args) == 0:
			return terminal.Exit(terminal.ExitUsage, errors.New("--own needs the name of a server"))
		case *own && *configFile != "":
			return terminal.Exit(terminal.ExitUsage, errors.New("--own is for your own servers, and --config takes them from another file: give one of them"))
		}
		configured := terminal.ConfiguredFolder(*configFile, folder)
		if *configFile != "" && len(args) == 0 { // with SERVER, the answers to the host say it
			if _, err := os.Stat(configured.ConfigFile); err != nil {
				return terminal.Exit(terminal.ExitUsage, fmt.Errorf("--config: %w", err))
			}
		}
		place, err := hostPlace(*dataDir, folder, configured.ConfigFile, level)
		if err != nil {
			return terminal.Exit(1, err)
		}
		p := hostParams{Place: place}
		p.Host.Own, p.Host.Program, p.Host.Environment = *own, *program, namedConversations()
		configured.Confirmed, configured.Vouched = *trust, importer.AsksForTrust(*program)
		if p.Host.Configuration.Model, err = model(); err != nil {
			return err
		}
		p.Host.Configuration.WorkspaceFolders = []protocol.WorkspaceFolder{configured}
		setHost(&p.Host)
		if len(args) > 0 {
			p.Host.Server = args[0]
		}
		ctx, cancel := context.WithCancel(cmd.Context())
		var watch sync.WaitGroup
		watch.Go(untilOrphaned(ctx, cancel))
		defer watch.Wait()
		defer cancel()
		err = runShim(ctx, p, pollable(stdin), stdout, stderr)
		if err == nil || ctx.Err() != nil {
			return nil
		}
		return terminal.Exit(1, err)
	}
	return c
}

// namedConversations returns the variables with which a host has named its conversation.
func namedConversations() map[string]string {
	set := map[string]string{}
	for _, name := range gateway.SessionVariables() {
		if value := os.Getenv(name); value != "" {
			set[name] = value
		}
	}
	return set
}

// hostFlags adds the flags that say what a host gets, and returns the function that sets the options by them.
func hostFlags(flags *pflag.FlagSet) func(*hosts.Use) {
	answerIn := gateway.AnswerInAssent
	flags.TextVar(&answerIn, "answer-in", answerIn, "`where` to answer questions of servers: assent, host or first (in both; the first answer counts)")
	asIs := flags.Bool("as-is", false, "pass results as they are, also to hosts that hide a part of them from their models")
	quiet := flags.Bool("quiet", false, "show no notification of the operating system if a question waits and no window is open")
	return func(u *hosts.Use) { u.AnswerIn, u.AsIs, u.Quiet = answerIn, *asIs, *quiet }
}

// hostPlace says which workspace a host is for: that of the folder in which it runs, or of the file that names its servers
// there. Hosts with different files in one folder have different servers.
func hostPlace(dataDir, folder, configFile string, level zerolog.Level) (workspaces.Place, error) {
	place, err := placeOf(dataDir, "", level)
	if err != nil || dataDir != "" { // then it may be the workspace of a window
		return place, err
	}
	usual, err := terminal.DataFolder("")
	if err != nil {
		return place, err
	}
	place.DecisionsDir = usual
	if configFile != "" {
		folder += "\x00" + configFile
	}
	key := sha256.Sum256([]byte(folder))
	place.DataDir = filepath.Join(usual, "hosts", hex.EncodeToString(key[:16]))
	return place, os.MkdirAll(place.DataDir, 0o700)
}

// runShim carries a host's frames to the daemon.
func runShim(ctx context.Context, p hostParams, stdin io.Reader, stdout, stderr io.Writer) error {
	paceRelay()
	o, err := daemonOptions()
	if err != nil {
		return err
	}
	o.Client = daemon.Host
	if o.Params, err = json.Marshal(p); err != nil {
		return err
	}
	return shim.Run(ctx, stdin, stdout, shim.Options{
		Dial: func(ctx context.Context) (io.ReadWriteCloser, error) {
			conn, _, err := daemon.Dial(ctx, o)
			if err != nil {
				return nil, err
			}
			return conn, nil
		},
		Unread: unread(stdout),
		Log:    logTo(visible.JSONWriter(stderr), p.Place.LogLevel),
	})
}

// attachHost serves a host in the daemon.
func attachHost(ctx context.Context, open *workspaces.Set, hello daemon.Hello, conn net.Conn) error {
	var p hostParams
	if err := json.Unmarshal(hello.Params, &p); err != nil {
		return errors.Join(fmt.Errorf("what the host wants cannot be read: %w", err), conn.Close())
	}
	return open.AttachHost(ctx, p.Place, interrupted{conn}, p.Host)
}
