package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"text/tabwriter"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"assent/protocol"
	"assent/sidecar/base/visible"
	"assent/sidecar/daemon"
	"assent/sidecar/daemon/workspaces"
	"assent/sidecar/gateway/httphosts"
	"assent/sidecar/gateway/mcpserver"
	"assent/sidecar/terminal"
)

// hostsCommand is "assent hosts".
func hostsCommand(folder string, stdout io.Writer) *cobra.Command {
	c := &cobra.Command{
		Use: "hosts", Short: "let programs use your servers over HTTP",
		Long: `hosts manages the programs that use your servers over HTTP, because they
cannot start "assent gateway". Each has its own token. While there is a host, the
daemon keeps running.`,
		Example: `  assent hosts add Goose --server shop
  assent hosts list
  assent hosts remove Goose`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return terminal.Exit(terminal.ExitUsage, fmt.Errorf("there is no command %q: there is add, list or remove", args[0]))
			}
			c.SetOut(c.ErrOrStderr())
			return errors.Join(c.Help(), terminal.Exit(terminal.ExitUsage, nil))
		},
	}
	c.AddCommand(addHostCommand(folder, stdout), listHostsCommand(stdout), &cobra.Command{
		Use: "remove NAME", Short: "take a host's token back, and end its sessions", Example: "  assent hosts remove Goose", Args: oneHost,
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := askHosts(cmd, hostsParams{Remove: args[0]})
			return err
		},
	})
	return c
}

// oneHost is the error of a command that is not given the name of one host.
func oneHost(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return terminal.Exit(terminal.ExitUsage, errors.New("give one NAME, in quotes if it has spaces"))
	}
	return nil
}

func addHostCommand(folder string, stdout io.Writer) *cobra.Command {
	c := &cobra.Command{
		Use: "add NAME", Short: "print an address and a token for a host",
		Long: `add prints the address at which a host finds the servers of this folder, and its token. The
token is shown only once.`,
		Example: "  assent hosts add Goose --server shop", Args: oneHost,
	}
	server := c.Flags().String("server", "", "offer only this `server`, with its own names (default: all servers, with the server's name before each tool's)")
	configFile := c.Flags().String("config", "", "take the servers from this `file` (default: the folder's .vscode/mcp.json)")
	dataDir := c.Flags().String("data-dir", "", "keep the conversations in this `folder` (default: one for each folder and --config, in the user's configuration folder)")
	trust := c.Flags().Bool("trust", false, "run servers as configured, without your confirmation")
	idle := c.Flags().Duration("idle", mcpserver.DefaultIdleTime, "end a session that has had no request and no open stream for this `time`")
	setHost := hostFlags(c.Flags())
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if *idle <= 0 {
			return terminal.Exit(terminal.ExitUsage, fmt.Errorf("--idle is %s: give a time such as 30m", *idle))
		}
		configured := terminal.ConfiguredFolder(*configFile, folder)
		place, err := hostPlace(*dataDir, folder, configured.ConfigFile, zerolog.InfoLevel)
		if err != nil {
			return terminal.Exit(1, err)
		}
		place.Environ = nil // it has secrets, and is not for a file
		p := hostParams{Place: place}
		p.Host.Server, p.Host.IdleTime = *server, *idle
		setHost(&p.Host)
		configured.Confirmed = *trust
		p.Host.Configuration.WorkspaceFolders = []protocol.WorkspaceFolder{configured}
		added, err := askHosts(cmd, hostsParams{Add: args[0], Uses: p})
		if err == nil {
			_, err = fmt.Fprintf(stdout, "URL     %s\nHeader  Authorization: Bearer %s\n", added.URL, added.Token)
		}
		return err
	}
	return c
}

func listHostsCommand(stdout io.Writer) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "show the hosts", Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := askHosts(cmd, hostsParams{})
			if err != nil {
				return err
			}
			table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
			if len(all.Hosts) > 0 {
				fmt.Fprintln(table, "HOST\tSERVER\tFOLDER")
			}
			for _, h := range all.Hosts {
				var uses hostParams
				if err := json.Unmarshal(h.Uses, &uses); err != nil {
					return terminal.Exit(1, err)
				}
				server := "all"
				if uses.Host.Server != "" {
					server = uses.Host.Server
				}
				fmt.Fprintf(table, "%s\t%s\t%s\n", visible.Text(h.Name), visible.Text(server), visible.Text(uses.Place.Folder))
			}
			return table.Flush()
		},
	}
}

// hostsParams are the params of a hello that is [daemon.Hosts]: a host to add or one to remove, or neither for the list.
type hostsParams struct {
	Add    string     `json:"add,omitempty"`
	Uses   hostParams `json:"uses"`
	Remove string     `json:"remove,omitempty"`
}

// hostsAnswer is the daemon's answer.
type hostsAnswer struct {
	URL   string           `json:"url,omitempty"`
	Token string           `json:"token,omitempty"`
	Hosts []httphosts.Host `json:"hosts,omitempty"`
	Error string           `json:"error,omitempty"`
}

// addedHosts returns the hosts for a report.
func addedHosts(ctx context.Context) ([]terminal.Host, error) {
	var answer hostsAnswer
	err := askDaemon(ctx, daemon.Hosts, hostsParams{}, &answer)
	if err == nil && answer.Error != "" {
		err = errors.New(answer.Error)
	}
	if err != nil {
		return nil, err
	}
	var hosts []terminal.Host
	for _, h := range answer.Hosts {
		var uses hostParams
		if err := json.Unmarshal(h.Uses, &uses); err != nil {
			return nil, err
		}
		hosts = append(hosts, terminal.Host{Name: h.Name, Server: uses.Host.Server, Folder: uses.Place.Folder, Configuration: uses.Host.Configuration})
	}
	return hosts, nil
}

func askHosts(cmd *cobra.Command, p hostsParams) (hostsAnswer, error) {
	var answer hostsAnswer
	err := askDaemon(cmd.Context(), daemon.Hosts, p, &answer)
	if err == nil && answer.Error != "" {
		err = errors.New(answer.Error)
	}
	if err != nil {
		return answer, terminal.Exit(1, err)
	}
	return answer, nil
}

// answerHosts answers a client that is [daemon.Hosts], in the daemon.
func answerHosts(hosts *httphosts.Server, hello daemon.Hello, conn net.Conn) error {
	var p hostsParams
	if err := json.Unmarshal(hello.Params, &p); err != nil {
		return fmt.Errorf("a command about hosts cannot be read: %w", err)
	}
	var answer hostsAnswer
	var err error
	switch {
	case p.Add != "":
		var uses json.RawMessage
		if uses, err = json.Marshal(p.Uses); err == nil {
			answer.URL, answer.Token, err = hosts.Add(p.Add, uses)
		}
	case p.Remove != "":
		var removed bool
		if removed, err = hosts.Remove(p.Remove); err == nil && !removed {
			err = fmt.Errorf("there is no host %q", p.Remove)
		}
	default:
		answer.Hosts = hosts.Hosts()
	}
	if err != nil {
		answer.Error = err.Error()
	}
	return json.NewEncoder(conn).Encode(answer)
}

// serveHTTPHost serves a request over HTTP.
func serveHTTPHost(open *workspaces.Set, w http.ResponseWriter, r *http.Request, h httphosts.Host) {
	var p hostParams
	if err := json.Unmarshal(h.Uses, &p); err != nil {
		http.Error(w, "What the host may use cannot be read. Remove it and add it again.", http.StatusInternalServerError)
		return
	}
	open.ServeHost(w, r, p.Place, h.TokenHash, p.Host)
}
