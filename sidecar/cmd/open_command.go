package cmd

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"runtime"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"assent/protocol"
	"assent/sidecar/browser"
	"assent/sidecar/daemon"
	"assent/sidecar/terminal"
)

// openCommand is "assent open".
func openCommand(folder string, stdout, stderr io.Writer) *cobra.Command {
	c := &cobra.Command{
		Use: "open", Short: "show the panel in the browser",
		Long: `open shows the panel in your browser: the conversations of this folder, and the questions
of all others. The address that it prints is valid once, and only on this machine.`,
		Example: `  assent open
  assent open --print`,
		Args: noArguments,
	}
	flags := c.Flags()
	configFile := flags.String("config", "", "take the servers from this `file` (default: the folder's .vscode/mcp.json)")
	dataDir := flags.String("data-dir", "", "show the conversations in this `folder` (default: one for each folder and --config, in the user's configuration folder)")
	trust := flags.Bool("trust", false, "run servers as configured, without your confirmation")
	onlyPrint := flags.Bool("print", false, "print the address, and open no browser")
	model := terminal.ModelFlags(flags)
	prompts := flags.StringArray("prompt", nil, "")
	level := zerolog.WarnLevel
	flags.TextVar(&level, "log-level", level, "minimum log level: debug, info, warn or error")
	if err := flags.MarkHidden("prompt"); err != nil { // for the demo
		panic(err) // it was just defined
	}
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		if _, err := fs.Stat(browser.Panel(), "main.js.gz"); err != nil {
			fmt.Fprintln(stderr, "assent: this program was built without the panel: run npm run build in Assent's sources, and build it again. Its daemon has no page.")
		}
		configured := terminal.ConfiguredFolder(*configFile, folder)
		place, err := hostPlace(*dataDir, folder, configured.ConfigFile, level)
		if err != nil {
			return terminal.Exit(1, err)
		}
		configured.Confirmed, configured.NoRoot = *trust, false
		t := browser.Target{Place: place, Prompts: *prompts}
		t.Configuration.WorkspaceFolders = []protocol.WorkspaceFolder{configured}
		if t.Configuration.Model, err = model(); err != nil {
			return err
		}
		address, err := pageAddress(cmd.Context(), t)
		if err != nil {
			return terminal.Exit(1, err)
		}
		if _, err := fmt.Fprintln(stdout, address); err != nil || *onlyPrint {
			return err
		}
		if err := openBrowser(address); err != nil {
			fmt.Fprintf(stderr, "assent: no browser was opened (%v). Open the address above in one.\n", err)
		}
		return nil
	}
	return c
}

// opened is the daemon's answer to a client that is [daemon.Browser].
type opened struct {
	URL   string `json:"url,omitempty"`
	Error string `json:"error,omitempty"`
}

// pageAddress has the daemon serve a page.
func pageAddress(ctx context.Context, t browser.Target) (string, error) {
	var answer opened
	if err := askDaemon(ctx, daemon.Browser, t, &answer); err != nil {
		return "", err
	}
	if answer.Error != "" {
		return "", errors.New(answer.Error)
	}
	return answer.URL, nil
}

// askDaemon has the daemon answer a client with a line of JSON. It starts the daemon if there is none.
func askDaemon(ctx context.Context, client daemon.ClientKind, params, answer any) error {
	o, err := daemonOptions()
	if err != nil {
		return err
	}
	o.Client = client
	if o.Params, err = json.Marshal(params); err != nil {
		return err
	}
	conn, _, err := daemon.Dial(ctx, o)
	if err != nil {
		return err
	}
	line, err := bufio.NewReader(conn).ReadBytes('\n')
	if err := errors.Join(err, conn.Close()); err != nil {
		return err
	}
	return json.Unmarshal(line, answer)
}

// openPage answers a client that is [daemon.Browser], in the daemon.
func openPage(pages *browser.Server, hello daemon.Hello, conn net.Conn) error {
	var target browser.Target
	if err := json.Unmarshal(hello.Params, &target); err != nil {
		return fmt.Errorf("what the page is to show cannot be read: %w", err)
	}
	var answer opened
	var err error
	if answer.URL, err = pages.Open(target); err != nil {
		answer.Error = err.Error()
	}
	return json.NewEncoder(conn).Encode(answer)
}

// openBrowser opens an address in the person's browser. It fails without a screen.
func openBrowser(address string) error {
	var opener []string
	switch runtime.GOOS {
	case "darwin":
		opener = []string{"open"}
	case "windows":
		opener = []string{"rundll32", "url.dll,FileProtocolHandler"}
	default:
		if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
			return errors.New("there is no screen")
		}
		opener = []string{"xdg-open"}
	}
	return exec.Command(opener[0], append(opener[1:], address)...).Run()
}
