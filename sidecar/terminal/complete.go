package terminal

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"assent/sidecar/config"
	"assent/sidecar/visible"
)

// complete says what a shell may propose for a command's words and flags. Nothing is started for it.
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
			cobra.CompErrorln(err.Error()) // it is registered twice, which a test would show
		}
	}
}

// configuredNames are the servers of an mcp.json, or of the folder's, but for names with hidden characters: the shell
// prints them. A shell that waits for them gets none where the file cannot be read: the command itself says why.
func configuredNames(file, folder string) []string {
	switch {
	case file == "":
		file = filepath.Join(folder, config.FileName)
	case !filepath.IsAbs(file):
		file = filepath.Join(folder, file)
	}
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	data, err := config.ReadFile(file, maxConfig)
	if err != nil {
		return nil
	}
	root, err := config.Parse(data)
	if err != nil {
		return nil
	}
	root.Standardize()
	var content struct{ Servers map[string]json.RawMessage }
	if json.Unmarshal(root.Pack(), &content) != nil {
		return nil
	}
	names := slices.Sorted(maps.Keys(content.Servers))
	return slices.DeleteFunc(names, func(name string) bool { return strings.ContainsFunc(name, visible.Hidden) })
}
