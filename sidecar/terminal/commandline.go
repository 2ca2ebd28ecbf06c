package terminal

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"assent/protocol"
	"assent/sidecar/config"
)

// commandLine is the parsed command line.
type commandLine struct {
	// server is empty if a command is for all servers, or for none.
	server string
	tool   string
	// configuration holds the server if the command line itself defines it.
	configuration protocol.Configuration
	definedServer
	callFlags
	answerFlags

	configFile string
	output     string
	json       bool // print the result as JSON
	// standalone runs the daemon in this process.
	standalone bool
	// trust runs the servers of the configuration file without confirmation.
	trust    bool
	dataDir  string
	logLevel zerolog.Level
	servers  []string // the servers that a model may use; empty means all
	// model returns the settings from the flags of the model; nil for a command without these flags.
	model func() (protocol.ModelSettings, error)
}

// definedServer holds the flags of a server that the command line itself defines.
type definedServer struct {
	// alone reports whether the command line defines a server. It is then the only server.
	alone                      bool
	protocolVersion, transport string
	headers, env, roots        []string
}

// callFlags are the arguments and the limits of a call.
type callFlags struct {
	arguments []argument
	// object is the object of --json; nil if the flag was not given. objectText is the flag's text.
	object     json.RawMessage
	objectText string
	// taskTTL is how long a server should keep the MCP task that a call becomes; 0 leaves that to the sidecar.
	taskTTL time.Duration
	// toolTimeout is how long a tool call may have neither a result nor progress; 0 means no limit.
	toolTimeout time.Duration
}

// answerFlags say who answers questions: files, or the person.
type answerFlags struct {
	answers, record, replay string
	plain                   bool
}

// argument is a value of --arg.
type argument struct{ name, value string }

// words says which positional arguments a command takes.
type words int

const (
	noWords         words = iota
	serverWord            // SERVER, or a command after --
	toolWords             // SERVER TOOL (or another item), or TOOL and a command after --
	maybeServerWord       // SERVER, a command after --, or neither
	otherWords            // the command's own words, and perhaps a command after --
)

// command is a command that talks to a workspace.
type command struct {
	use, short, long, example string
	words                     words
	// item replaces TOOL in toolWords, unless it is empty.
	item string
	// own names the command's own words. The last of them are optional, as many as optional says.
	own      []string
	optional int
	// flags adds the command's own flags.
	flags func(*pflag.FlagSet, *commandLine)
	// keeps reports whether the command is about stored conversations. They are in the default folder, unless
	// --data-dir names another.
	keeps bool
	run   func(ctx context.Context, s *session, words []string) error
}

// build returns the command for cobra.
func (c command) build(o Options) *cobra.Command {
	l := &commandLine{logLevel: zerolog.Disabled}
	out := &cobra.Command{Use: c.use, Short: c.short, Long: c.long, Example: c.example, Args: cobra.ArbitraryArgs}
	flags := out.Flags()
	flags.StringVar(&l.configFile, "config", "", "take the servers from this `file` (default: the folder's .vscode/mcp.json)")
	flags.StringVar(&l.dataDir, "data-dir", "", "the `folder` with the conversations and the journal")
	flags.TextVar(&l.logLevel, "log-level", l.logLevel, "minimum `level` of the log on stderr: debug, info, warn or error")
	flags.StringVar(&l.output, "output", "text", "the `form` of the result: text or json")
	flags.StringVar(&l.answers, "answers", "", "answer questions from this `file`, instead of asking you")
	flags.BoolVar(&l.plain, "plain", false, "ask line by line, even if stdin is not a terminal")
	flags.BoolVar(&l.standalone, "standalone", false, "run everything in this process, without the daemon")
	flags.BoolVar(&l.trust, "trust", false, "run servers as configured, without your confirmation")
	if c.words != noWords {
		flags.StringVar(&l.protocolVersion, "protocol-version", "", "speak this `version` of MCP with a server that the command line names: "+config.LegacyProtocol)
		flags.StringVar(&l.transport, "transport", "", "reach a server that the command line names by this `transport`: stdio, http, sse or ws")
		flags.StringArrayVar(&l.headers, "header", nil, "send this `header` (Name: value) to a server that the command line names by its URL; may be repeated")
		flags.StringArrayVar(&l.env, "env", nil, "set this `variable` (NAME=value) for a server that the command line names by its command; may be repeated")
		flags.StringArrayVar(&l.roots, "root", nil, "tell the server of this `folder` as a root; may be repeated")
	}
	if c.flags != nil {
		c.flags(flags, l)
	}
	out.RunE = func(cmd *cobra.Command, args []string) error {
		var launch []string
		if at := cmd.ArgsLenAtDash(); at >= 0 {
			if args, launch = args[:at], args[at:]; len(launch) == 0 {
				return usagef("no command follows the --")
			}
		}
		if err := l.check(); err != nil {
			return err
		}
		args, err := c.take(l, args, launch != nil)
		if err != nil {
			return err
		}
		if err := l.reach(launch, o); err != nil {
			return err
		}
		if c.keeps && l.dataDir == "" {
			if l.dataDir, err = DataFolder(""); err != nil {
				return err
			}
		}
		return runSession(context.WithoutCancel(cmd.Context()), l, o, func(ctx context.Context, s *session) error {
			return c.run(ctx, s, args)
		})
	}
	complete(out, l, o, c.words)
	return out
}

// asking adds the flags of commands during which servers may ask.
func asking(flags *pflag.FlagSet, l *commandLine) {
	flags.DurationVar(&l.toolTimeout, "tool-timeout", 0, "cancel a tool call after this `time` without a result or progress, unless the server has a toolTimeout (default: never)")
	flags.StringVar(&l.record, "record", "", "record questions and answers in this `file`")
	flags.StringVar(&l.replay, "replay", "", "another name of --answers, for a strict `file`")
	l.model = ModelFlags(flags)
}

// ModelFlags defines the flags of a model endpoint. The function returns their settings after parsing.
func ModelFlags(flags *pflag.FlagSet) func() (protocol.ModelSettings, error) {
	url := flags.String("model-url", "", "the `url` of an OpenAI-compatible endpoint; the key is read from ASSENT_MODEL_KEY")
	name := flags.String("model", "", "the `name` of the model to ask at --model-url")
	return func() (protocol.ModelSettings, error) {
		switch {
		case *url == "" && *name == "":
			return protocol.ModelSettings{}, nil
		case *url == "" || *name == "":
			return protocol.ModelSettings{}, usagef("--model-url and --model belong together")
		}
		return protocol.ModelSettings{Endpoints: []protocol.EndpointSettings{modelSettings(*url, *name)}}, nil
	}
}

// check returns an error if the flags do not fit together.
func (l *commandLine) check() error {
	switch l.output {
	case "text", "json":
		l.json = l.output == "json"
	default:
		return usagef("--output is text or json, not %q", l.output)
	}
	switch {
	case l.taskTTL < 0:
		return usagef("--task-ttl is a time such as 90s, 36h or 168h, not %v", l.taskTTL)
	case l.toolTimeout < 0 || l.toolTimeout%time.Second != 0:
		return usagef("--tool-timeout is a time in whole seconds such as 90s or 10m, not %v", l.toolTimeout)
	case l.protocolVersion != "" && l.protocolVersion != config.LegacyProtocol:
		return usagef("--protocol-version is %s, not %q: without it the newest version that the server knows is spoken", config.LegacyProtocol, l.protocolVersion)
	case l.plain && (l.answers != "" || l.replay != ""):
		return usagef("--plain asks you, and --answers asks a file: give one of them")
	case l.answers != "" && l.replay != "":
		return usagef("--replay is another name of --answers, for a strict file: give one of them")
	}
	if l.objectText != "" {
		var members map[string]json.RawMessage
		if err := json.Unmarshal([]byte(l.objectText), &members); err != nil || members == nil {
			return usagef("--json is not a JSON object: %v", cmpError(err, "it is null"))
		}
		if len(l.arguments) > 0 {
			return usagef("give the arguments by --json or by --arg, not by both")
		}
		l.object = json.RawMessage(l.objectText)
	}
	if l.model != nil {
		var err error
		if l.configuration.Model, err = l.model(); err != nil {
			return err
		}
	}
	if l.toolTimeout > 0 {
		l.configuration.Tools = &protocol.ToolSettings{Timeout: int64(l.toolTimeout / time.Second)}
	}
	return nil
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
		return fmt.Errorf("%q is repeated; write a list as JSON: %s='[1, 2]'", name, name)
	}
	l.arguments = append(l.arguments, argument{name, value})
	return nil
}

// take reads the positional arguments, and returns the command's own words.
func (c command) take(l *commandLine, words []string, launched bool) ([]string, error) {
	var wanted []string
	switch c.words {
	case otherWords:
		if len(words) < len(c.own)-c.optional {
			return nil, usagef("%s is missing", c.own[len(words)])
		}
		if len(words) > len(c.own) {
			return nil, usagef("unexpected argument %q", words[len(c.own)])
		}
		return words, nil
	case maybeServerWord:
		if len(words) > 0 && !launched {
			wanted = []string{"SERVER"}
		}
	case serverWord:
		wanted = []string{"SERVER"}
	case toolWords:
		wanted = []string{"SERVER", cmp.Or(c.item, "TOOL")}
	case noWords:
		if launched {
			return nil, usagef("%s takes no server: there is nothing to start", c.use)
		}
	}
	if launched && len(wanted) > 0 {
		wanted = wanted[1:]
	}
	switch {
	case len(words) < len(wanted):
		return nil, usagef("%s is missing", wanted[len(words)])
	case len(words) > len(wanted):
		return nil, usagef("unexpected argument %q", words[len(wanted)])
	}
	if len(wanted) > 0 && wanted[0] == "SERVER" {
		l.server, words = words[0], words[1:]
	}
	if len(words) > 0 {
		l.tool = words[0]
	}
	return nil, nil
}

// reach puts the server into the configuration. If the command line itself defines the server, it is the only one, so
// that no server of the folder can take its place.
func (l *commandLine) reach(launch []string, o Options) error {
	scheme, _, isURL := strings.Cut(l.server, "://")
	if launch == nil && !isURL {
		for _, f := range []struct {
			name, member string
			given        bool
		}{
			{"protocol-version", `has the member "protocolVersion"`, l.protocolVersion != ""},
			{"transport", `has the member "type"`, l.transport != ""},
			{"header", `has the member "headers"`, l.headers != nil},
			{"env", `has the member "env"`, l.env != nil},
		} {
			if f.given {
				return usagef("--%s is for a server that the command line names: a configured one %s", f.name, f.member)
			}
		}
		if err := l.configured(o); err != nil {
			return err
		}
		return l.addRoots(o)
	}
	if l.configFile != "" {
		return usagef("--config is for servers by name")
	}
	type server struct {
		Type    protocol.Transport `json:"type"`
		Command string             `json:"command,omitempty"`
		Args    []string           `json:"args,omitempty"`
		Cwd     string             `json:"cwd,omitempty"`
		Env     map[string]string  `json:"env,omitempty"`
		URL     string             `json:"url,omitempty"`
		Headers map[string]string  `json:"headers,omitempty"`
		Version string             `json:"protocolVersion,omitempty"`
	}
	var s server
	switch {
	case launch != nil:
		s = server{Type: protocol.TransportStdio, Command: launch[0], Args: launch[1:], Cwd: o.Folder}
		l.server = strings.TrimSuffix(filepath.Base(launch[0]), ".exe")
	case scheme == "ws" || scheme == "wss":
		s = server{Type: protocol.TransportWS, URL: l.server}
	case scheme == "http" || scheme == "https":
		s = server{Type: protocol.TransportHTTP, URL: l.server}
	default:
		return usagef("%q is not a URL of a server: use http, https, ws or wss", l.server)
	}
	s.Version = l.protocolVersion
	var err error
	if s.Type, err = l.transportOf(s.Type); err != nil {
		return err
	}
	if s.Env, err = pairs("env", "=", l.env); err != nil {
		return err
	}
	if s.Headers, err = pairs("header", ":", l.headers); err != nil {
		return err
	}
	switch {
	case s.Env != nil && s.Type != protocol.TransportStdio:
		return usagef("--env is for a server that is started by its command, after --")
	case s.Headers != nil && s.Type == protocol.TransportStdio:
		return usagef("--header is for a server by its URL")
	}
	if err := l.addRoots(o); err != nil {
		return err
	}
	raw, err := json.Marshal(map[string]server{l.server: s})
	if err != nil {
		return err
	}
	l.configuration.Servers, l.alone = raw, true
	return nil
}

// addRoots adds the folders of --root.
func (l *commandLine) addRoots(o Options) error {
	for _, root := range l.roots {
		if root == "" { // such as a variable that is unset; it would be the current folder
			return usagef("--root is empty: it is the path of a folder")
		}
		if !filepath.IsAbs(root) {
			root = filepath.Join(o.Folder, root)
		}
		if info, err := os.Stat(root); err != nil || !info.IsDir() {
			return usagef("--root %s is not a folder", root)
		}
		l.configuration.WorkspaceFolders = append(l.configuration.WorkspaceFolders,
			protocol.WorkspaceFolder{Name: filepath.Base(root), Path: filepath.Clean(root), RootOnly: true})
	}
	return nil
}

// transportOf returns the transport of the flag, or else the transport that follows from the server's URL or command.
func (l *commandLine) transportOf(told protocol.Transport) (protocol.Transport, error) {
	given := protocol.Transport(l.transport)
	byURL := told == protocol.TransportHTTP && given == protocol.TransportSSE // both have URLs with http or https
	switch {
	case given == "":
		return told, nil
	case !slices.Contains([]protocol.Transport{protocol.TransportStdio, protocol.TransportHTTP, protocol.TransportSSE, protocol.TransportWS}, given):
		return "", usagef("--transport is stdio, http, sse or ws, not %q", l.transport)
	case given != told && !byURL:
		return "", usagef("--transport %s does not fit: this server is reached by %s", l.transport, told)
	}
	return given, nil
}

// pairs reads a flag that is given as name and value.
func pairs(flag, separator string, texts []string) (map[string]string, error) {
	var all map[string]string
	for _, text := range texts {
		name, value, ok := strings.Cut(text, separator)
		name = strings.TrimSpace(name)
		if separator == ":" {
			value = strings.TrimSpace(value)
		}
		if _, twice := all[name]; !ok || name == "" || twice {
			form := map[string]string{"=": "NAME=value", ":": "Name: value"}[separator]
			if twice {
				return nil, usagef("--%s has %q twice", flag, name)
			}
			return nil, usagef("--%s is %s", flag, form) // do not quote the text, which may be a secret
		}
		if all == nil {
			all = map[string]string{}
		}
		all[name] = value
	}
	return all, nil
}

// configured uses the servers of the configuration file. Their folder is the current one, unless the file is the
// .vscode/mcp.json or the .mcp.json of another folder.
func (l *commandLine) configured(o Options) error {
	folder := ConfiguredFolder(l.configFile, o.Folder)
	folder.Confirmed = l.trust
	l.configuration.WorkspaceFolders = []protocol.WorkspaceFolder{folder}
	if l.configFile == "" {
		return nil
	}
	loaded := config.Load(l.configuration, "")
	if len(loaded.Servers) == 0 && len(loaded.Problems) > 0 {
		p := loaded.Problems[0]
		return usagef("--config: %s: %s", placeOf(p), p.Message)
	}
	return nil
}

// ConfiguredFolder returns a folder with its configuration file. An empty file name means the folder's own file. The folder is
// no root: for that the person gives it by --root, or a host has roots of its own.
func ConfiguredFolder(configFile, folder string) protocol.WorkspaceFolder {
	if configFile != "" && !filepath.IsAbs(configFile) {
		configFile = filepath.Join(folder, configFile)
	}
	for _, name := range []string{config.FileName, config.RootFileName} {
		if other, ok := strings.CutSuffix(configFile, string(filepath.Separator)+name); ok {
			folder = other
		}
	}
	return protocol.WorkspaceFolder{Name: filepath.Base(folder), Path: folder, ConfigFile: configFile, NoRoot: true}
}
