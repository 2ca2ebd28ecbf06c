package terminal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"assent/sidecar/base/nearest"
	"assent/sidecar/config"
)

const about = `assent calls MCP servers from a terminal, and asks you their questions. The Assent extension for VS Code uses
the same program.

SERVER is a name in .vscode/mcp.json, or a URL. Instead, you can give a command at the end, after --.

Results are printed on stdout, everything else on stderr. The exit code is 0 for success, 1 if the tool reports an
error, 2 for a wrong command line, 3 if there is no result, 4 if a question was not answered, 5 if a question differs
from the recording, 6 if the daemon ended during the command, and 130 after an interrupt.`

// NewCommand returns the program's root command. others are the commands that are not front ends.
func NewCommand(o Options, others ...*cobra.Command) *cobra.Command {
	root := &cobra.Command{
		Use: "assent", Long: about, Args: cobra.ArbitraryArgs, SilenceErrors: true, SilenceUsage: true,
		Example: `  assent call plan_lunch -- assent example-server  # try a server that asks
  assent servers                                   # those in .vscode/mcp.json
  assent call demo greet --arg name=Ada            # run a tool, and answer
  assent call demo greet --answers yes.yaml        # or have a file answer
  assent chat "Clean up the users table"           # a model uses the servers`,
		Version: o.Version,
	}
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveDefault)
	// Do not set a template: text/template calls methods by name, so the linker would keep every method of every type.
	// That costs 3.6 MB in the program and 2 MB of memory.
	root.SetIn(o.Stdin)
	root.SetOut(o.Stdout)
	root.SetErr(o.Stderr)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usagef("%v", err) })
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return noCommand(cmd, args[0])
		}
		cmd.SetOut(o.Stderr)
		return errors.Join(cmd.Help(), Exit(ExitUsage, nil))
	}
	for _, c := range simpleCommands() {
		root.AddCommand(c.build(o))
	}
	root.AddCommand(addCommand(o), resourcesCommand(o), promptsCommand(o), tasksCommand(o), grantsCommand(o))
	root.AddCommand(others...)
	root.InitDefaultHelpCmd()
	if help, _, err := root.Find([]string{"help"}); err == nil {
		help.Short = "print the help of a command"
		help.Args = func(_ *cobra.Command, args []string) error {
			if c, rest, _ := root.Find(args); c == root && len(rest) > 0 {
				return noCommand(root, rest[0])
			}
			return nil
		}
	}
	setHelp(root)
	return root
}

// noCommand returns the error for a name that is no command's.
func noCommand(root *cobra.Command, name string) error {
	var names []string
	for _, c := range root.Commands() {
		names = append(names, c.Name())
	}
	text := fmt.Sprintf("there is no command %q", name)
	if near := nearest.Name(name, names); near != "" {
		text += ": did you mean " + near + "?"
	}
	return usagef("%s", text)
}

func simpleCommands() []command {
	return []command{
		{
			use: "call SERVER TOOL", short: "run a tool of a server", words: toolWords,
			long: "call runs a tool, asks you its server's questions, and prints the result.",
			example: `  assent call demo greet                          # asks for missing arguments
  assent call demo greet --arg name=Ada --arg count=3
  assent call demo book --json '{"nights": 2}'    # all arguments at once
  assent call https://example.com/mcp greet       # a server by its URL
  assent call greet -- npx -y some-server --flag  # a server by its command
  assent call demo book --record book.yaml        # keep questions and answers
  assent call demo book --answers book.yaml       # does it still ask the same?`,
			flags: func(flags *pflag.FlagSet, l *commandLine) {
				asking(flags, l)
				flags.StringVar(&l.objectText, "json", "", "all arguments at once, as a JSON `object`")
				flags.DurationVar(&l.taskTTL, "task-ttl", 0, "ask the server to keep the MCP task that the call becomes for this `time` (default: 168h)")
				flags.Var(arguments{l}, "arg", "an argument of the tool; JSON unless its schema has a text")
			},
			run: func(ctx context.Context, s *session, _ []string) error { return s.keep(s.call(ctx)) },
		},
		{
			use: "chat [PROMPT]", short: "talk to a model that uses the servers", words: otherWords, own: []string{"PROMPT"}, optional: 1,
			long: `chat sends a prompt to a model, which may use the tools of the servers; you are asked before each call. The
model's text is printed on stdout. Without a prompt, chat is a conversation in the terminal, which ends with Ctrl-D; -
reads the prompt from stdin. Ctrl-C stops the model; a second Ctrl-C ends the chat.`,
			example: `  assent chat "Clean up the users table"
  assent chat                                       # a conversation
  assent chat --server db "Who is inactive?"        # only with this server
  assent chat "Who is inactive?" --answers me.yaml  # with answers from a file
  git diff | assent chat -                          # the prompt from stdin
  assent chat "Who is inactive?" -- npx -y some-server`,
			flags: func(flags *pflag.FlagSet, l *commandLine) {
				asking(flags, l)
				flags.StringArrayVar(&l.servers, "server", nil, "the `name` of a server that the model may use; may be repeated (default: all)")
			},
			run: func(ctx context.Context, s *session, words []string) error { return s.keep(s.chat(ctx, words)) },
		},
		{
			use: "servers", short: "list the configured servers",
			example: "  assent servers\n  assent servers --config other/mcp.json --output json",
			run:     atOnce(func(ctx context.Context, s *session) error { return s.listServers(ctx) }),
		},
		{
			use: "tools SERVER", short: "list the tools of a server", words: serverWord,
			example: "  assent tools demo\n  assent tools -- npx -y some-server",
			run:     atOnce(func(ctx context.Context, s *session) error { return s.listTools(ctx) }),
		},
		{
			use: "doctor [SERVER]", short: "start the servers, or one, and report problems", words: maybeServerWord,
			long: `doctor starts a server and reports all that is known of it. Without SERVER it starts every configured server, and prints a
line for each, for each problem of the configuration, and for each host that "assent hosts" added. It exits with 0 if
all is well, and with 3 otherwise.`,
			example: "  assent doctor demo\n  assent doctor                    # all of them\n  assent doctor -- npx -y some-server",
			run: atOnce(func(ctx context.Context, s *session) error {
				if s.line.server == "" {
					return s.doctorAll(ctx)
				}
				return s.doctor(ctx)
			}),
		},
	}
}

// arguments is the value of the flag --arg.
type arguments struct{ line *commandLine }

var _ pflag.Value = arguments{}

func (arguments) String() string          { return "" }
func (arguments) Type() string            { return "name=value" }
func (a arguments) Set(text string) error { return a.line.addArgument(text) }

// ExitError ends the program with an exit code of its own.
type ExitError struct {
	Code int
	// Err is written to stderr; nil means that the reason has been written already.
	Err error
}

func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

func (e *ExitError) Unwrap() error { return e.Err }

// Exit returns an [ExitError]. Commands that are not front ends use it for their own exit codes.
func Exit(code int, err error) error { return &ExitError{code, err} }

// Run runs the program with a command line, which begins with the command, and returns the exit code. The end of ctx
// ends the commands that are not front ends. [Options.Interrupts] interrupts a front end, which then ends in good
// order.
func Run(ctx context.Context, args []string, o Options, others ...*cobra.Command) int {
	root := NewCommand(o, others...)
	root.SetArgs(args)
	ran, err := root.ExecuteContextC(ctx)
	var exit *ExitError
	var wrong *usageError
	var open *unanswered
	var drift *drifted
	switch {
	case err == nil:
		return ExitOK
	case errors.Is(err, errInterrupted):
		return ExitInterrupted
	case errors.As(err, &exit):
		if exit.Err != nil {
			tell(o.Stderr, ran.CommandPath()+": "+exit.Err.Error())
		}
		return exit.Code
	case errors.As(err, &wrong):
		wayOut := cmp.Or(wrong.wayOut, fmt.Sprintf("For help, run: %s --help", ran.CommandPath()))
		tell(o.Stderr, "assent: "+wrong.text+"\n\n"+wayOut)
		return ExitUsage
	case errors.As(err, &drift):
		tell(o.Stderr, "assent: "+drift.text)
		return ExitDrifted
	case errors.Is(err, errToolFailed):
		return ExitToolFailed
	case errors.As(err, &open):
		tell(o.Stderr, "assent: "+open.text)
		return ExitUnanswered
	default:
		tell(o.Stderr, "assent: "+err.Error())
		return ExitFailed
	}
}

// tell writes why the program ends. On a terminal, it highlights the part before the first colon.
func tell(stderr io.Writer, text string) {
	text = wrapped(safe(text), widthOf(stderr))
	who, what, _ := strings.Cut(text, ":")
	fmt.Fprintf(stderr, "%s:%s\n", paintOf(stderr).red(who), what)
}

// DataFolder returns the folder of the conversations: the given one, or else the default.
func DataFolder(given string) (string, error) {
	if given != "" {
		return given, nil
	}
	folder, err := config.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("%w: give --data-dir", err)
	}
	return filepath.Join(folder, "assent"), nil
}
