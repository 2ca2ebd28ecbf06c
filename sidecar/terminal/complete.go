package terminal

import (
	"slices"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"assent/protocol"
	"assent/sidecar/config"
)

// complete registers shell completions for a command's words and flags. They start no server.
func complete(c *cobra.Command, l *commandLine, o Options, w words) {
	servers := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return configuredNames(l.configFile, o.Folder), cobra.ShellCompDirectiveNoFileComp
	}
	c.ValidArgsFunction = cobra.NoFileCompletions
	if w == serverWord || w == toolWords || w == maybeServerWord {
		c.ValidArgsFunction = func(c *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return servers(c, args, toComplete)
		}
	}
	propose := map[string]cobra.CompletionFunc{
		"output": cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp),
		"log-level": cobra.FixedCompletions([]string{
			zerolog.DebugLevel.String(), zerolog.InfoLevel.String(), zerolog.WarnLevel.String(), zerolog.ErrorLevel.String(),
		}, cobra.ShellCompDirectiveNoFileComp),
		"server": servers,
	}
	for _, name := range []string{"config", "answers", "record", "replay"} {
		extensions := []string{"yaml", "yml", "json"}
		if name == "config" {
			extensions = []string{"json"}
		}
		propose[name] = cobra.FixedCompletions(extensions, cobra.ShellCompDirectiveFilterFileExt)
	}
	propose["data-dir"] = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
	for name, f := range propose {
		if c.Flags().Lookup(name) == nil {
			continue
		}
		if err := c.RegisterFlagCompletionFunc(name, f); err != nil {
			cobra.CompErrorln(err.Error()) // a flag is registered twice, which a test would show
		}
	}
}

// configuredNames returns the servers of an mcp.json, or of the folder's. It returns none if the file cannot be read,
// because the command itself reports the reason.
func configuredNames(file, folder string) []string {
	configured := ConfiguredFolder(file, folder)
	var names []string
	for _, server := range config.Load(protocol.Configuration{WorkspaceFolders: []protocol.WorkspaceFolder{configured}}, config.UserFile()).Servers {
		names = append(names, server.Name)
	}
	slices.Sort(names)
	return names
}
