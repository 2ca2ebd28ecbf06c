package terminal

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/config"
)

const usage = `assent speaks with MCP servers in a terminal, and asks you what they ask.

Usage:
	assent call SERVER TOOL [flags]             run a tool
	assent servers [flags]                      list the configured servers
	assent tools|resources|prompts SERVER       list what a server has
	assent doctor SERVER                        start it, and say what is wrong where it does not

SERVER is a name in .vscode/mcp.json, or a URL. In its place a command may come last:
	assent call TOOL [flags] -- COMMAND ARGS...

Flags:
	--arg name=value      an argument of the tool; JSON where its schema wants no text
	--json object         all arguments at once, as a JSON object
	--output text|json    how to print the result (default: text)
	--answers file        answer what is asked from this file, instead of asking you
	--plain               ask line by line, also where stdin is no terminal
	--config file         take the servers from this mcp.json
	--model-url url       an endpoint of OpenAI's kind that answers sampling requests; its key
	                      is taken from ASSENT_MODEL_KEY
	--model name          the model to ask there
	--data-dir folder     keep the conversation and the journal in this folder (default: nowhere)
	--log-level level     log to stderr: debug, info, warn or error (default: disabled)

Results are on stdout, everything else on stderr. It exits with 0 where all went well, 1 where the tool says that it
failed, 2 for a wrong command line, 3 where there is no result, 4 where something was asked that nobody answered, and
130 where it was interrupted. See docs/terminal.md.
`

// maxConfig bounds an mcp.json, in bytes.
const maxConfig = 4 << 20

var errHelp = errors.New("help")

// commandLine is what the person wants.
type commandLine struct {
	command string
	// server is empty for the command "servers".
	server string
	tool   string
	// configuration has the server in it, where the command line says how to reach it.
	configuration protocol.Configuration

	arguments []argument
	object    json.RawMessage // nil where --json was not given
	json      bool            // the result is printed as JSON
	answers   string
	plain     bool
	dataDir   string
	logLevel  zerolog.Level
}

// argument is an --arg.
type argument struct{ name, value string }

// parse reads a command line, whose first word is the command.
func parse(args []string, o Options) (*commandLine, error) {
	line := &commandLine{command: args[0], logLevel: zerolog.Disabled}
	rest, launch := args[1:], []string(nil)
	if at := slices.Index(rest, "--"); at >= 0 {
		rest, launch = rest[:at], rest[at+1:]
		if len(launch) == 0 {
			return nil, usagef("no command follows the --")
		}
	}
	var configFile, object, output, modelURL, model string
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // errors are told by the caller, and by nobody else
	flags.StringVar(&configFile, "config", "", "")
	flags.StringVar(&line.dataDir, "data-dir", "", "")
	flags.TextVar(&line.logLevel, "log-level", line.logLevel, "")
	flags.StringVar(&output, "output", "text", "")
	flags.StringVar(&line.answers, "answers", "", "")
	flags.BoolVar(&line.plain, "plain", false, "")
	flags.StringVar(&modelURL, "model-url", "", "")
	flags.StringVar(&model, "model", "", "")
	if line.command == "call" {
		flags.StringVar(&object, "json", "", "")
		flags.Func("arg", "", line.addArgument)
	}
	var words []string
	for len(rest) > 0 { // flags may stand between the words
		switch err := flags.Parse(rest); {
		case errors.Is(err, flag.ErrHelp):
			return nil, errHelp
		case err != nil:
			return nil, usagef("%v", err)
		}
		rest = flags.Args()
		if len(rest) > 0 {
			words, rest = append(words, rest[0]), rest[1:]
		}
	}
	switch output {
	case "text", "json":
		line.json = output == "json"
	default:
		return nil, usagef("--output is text or json, not %q", output)
	}
	if line.plain && line.answers != "" {
		return nil, usagef("--plain asks you, and --answers asks a file: give one of them")
	}
	if object != "" {
		var members map[string]json.RawMessage
		if err := json.Unmarshal([]byte(object), &members); err != nil || members == nil {
			return nil, usagef("--json is not a JSON object: %v", cmpError(err, "it is null"))
		}
		if len(line.arguments) > 0 {
			return nil, usagef("give the arguments by --json or by --arg, not by both")
		}
		line.object = json.RawMessage(object)
	}
	if modelURL != "" || model != "" {
		if modelURL == "" || model == "" {
			return nil, usagef("--model-url and --model belong together")
		}
		line.configuration.Model.OpenAI = modelSettings(modelURL, model)
	}
	if err := line.take(words, launch); err != nil {
		return nil, err
	}
	return line, line.reach(configFile, launch, o)
}

func cmpError(err error, otherwise string) error {
	if err != nil {
		return err
	}
	return errors.New(otherwise)
}

func (l *commandLine) addArgument(text string) error {
	name, value, ok := strings.Cut(text, "=")
	switch {
	case !ok || name == "":
		return fmt.Errorf("%q is not name=value", text)
	case slices.ContainsFunc(l.arguments, func(a argument) bool { return a.name == name }):
		return fmt.Errorf("%q is given twice; a list is given as JSON: %s='[1, 2]'", name, name)
	}
	l.arguments = append(l.arguments, argument{name, value})
	return nil
}

// take gives the words their meaning.
func (l *commandLine) take(words, launch []string) error {
	wanted := []string{"SERVER"}
	switch l.command {
	case "servers":
		wanted = nil
	case "call":
		wanted = append(wanted, "TOOL")
	}
	if launch != nil && len(wanted) > 0 {
		wanted = wanted[1:]
	}
	switch {
	case len(words) < len(wanted):
		return usagef("%s is missing", wanted[len(words)])
	case len(words) > len(wanted):
		return usagef("unexpected argument %q", words[len(wanted)])
	}
	if len(wanted) > 0 && wanted[0] == "SERVER" {
		l.server, words = words[0], words[1:]
	}
	if len(words) > 0 {
		l.tool = words[0]
	}
	return nil
}

// reach says how to reach the server. One that the command line itself names is alone: what the folder configures
// must not come in its place.
func (l *commandLine) reach(configFile string, launch []string, o Options) error {
	scheme, _, isURL := strings.Cut(l.server, "://")
	if launch == nil && !isURL {
		return l.configured(configFile, o)
	}
	if configFile != "" {
		return usagef("--config is for servers by name")
	}
	type server struct {
		Type    protocol.Transport `json:"type"`
		Command string             `json:"command,omitempty"`
		Args    []string           `json:"args,omitempty"`
		URL     string             `json:"url,omitempty"`
	}
	var s server
	switch {
	case launch != nil && l.command == "servers":
		return usagef("servers lists what is configured: there is nothing to start")
	case launch != nil:
		s = server{Type: protocol.TransportStdio, Command: launch[0], Args: launch[1:]}
		l.server = strings.TrimSuffix(filepath.Base(launch[0]), ".exe")
	case scheme == "ws" || scheme == "wss":
		s = server{Type: protocol.TransportWS, URL: l.server}
	case scheme == "http" || scheme == "https":
		s = server{Type: protocol.TransportHTTP, URL: l.server}
	default:
		return usagef("%q is no URL of a server: it is http, https, ws or wss", l.server)
	}
	raw, err := json.Marshal(map[string]server{l.server: s})
	if err != nil {
		return err
	}
	l.configuration.Servers = raw
	return nil
}

// configured takes the servers from where they are configured.
func (l *commandLine) configured(configFile string, o Options) error {
	if configFile == "" {
		l.configuration.WorkspaceFolders = []protocol.WorkspaceFolder{{Name: filepath.Base(o.Folder), Path: o.Folder}}
		return nil
	}
	if !filepath.IsAbs(configFile) {
		configFile = filepath.Join(o.Folder, configFile)
	}
	// A folder's own file is read as such, which gives its variables and its faults their places.
	if folder, ok := strings.CutSuffix(configFile, string(filepath.Separator)+config.FileName); ok {
		l.configuration.WorkspaceFolders = []protocol.WorkspaceFolder{{Name: filepath.Base(folder), Path: folder}}
	}
	data, err := config.ReadFile(configFile, maxConfig)
	if err != nil {
		return usagef("--config: %v", err)
	}
	if l.configuration.WorkspaceFolders != nil {
		return nil
	}
	root, err := config.Parse(data)
	if err != nil {
		return usagef("%s: %v", configFile, err)
	}
	root.Standardize()
	var file struct{ Servers, Inputs json.RawMessage }
	if err := json.Unmarshal(root.Pack(), &file); err != nil {
		return usagef("%s: %v", configFile, err)
	}
	if len(file.Servers) == 0 {
		return usagef(`%s has no member "servers"`, configFile)
	}
	l.configuration.Servers, l.configuration.Inputs = file.Servers, file.Inputs
	return nil
}
