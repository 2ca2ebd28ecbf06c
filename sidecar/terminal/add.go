package terminal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"assent/protocol"
	"assent/sidecar/config"
	"assent/sidecar/setup/add"
	"assent/sidecar/setup/importer"
)

// addition holds the options of "assent add".
type addition struct {
	o         Options
	reference string
	name, pin string
	registry  string
	use       string
	user, yes bool
	plain     bool
	inputs    []string

	lines *bufio.Reader
	width int
}

// addCommand is "assent add".
func addCommand(o Options) *cobra.Command {
	a := addition{o: o}
	c := &cobra.Command{
		Use: "add REFERENCE", Short: "add a server to .vscode/mcp.json", Args: cobra.ArbitraryArgs,
		Long: `add reads a reference to a server, shows what would run, asks you for its inputs and whether to add it, and writes it
into .vscode/mcp.json of the folder that you are in. Nothing is fetched, and nothing starts by itself.

REFERENCE is an install link (vscode:mcp/install?…), a URL, a package with its version (npm:, pypi:, nuget:), a container
image with its tag or digest (docker:), a server.json of the MCP registry, or a bundle (.mcpb). A bundle is unpacked into
the folder of your own data.

Secret inputs are not asked for here and not written: Assent asks for them when the server starts.`,
		Example: `  assent add npm:@example/weather-server@1.2.3
  assent add docker:mcp/time:1.0.0 --name time
  assent add https://example.com/mcp
  assent add 'vscode:mcp/install?%7B%22name%22…'
  assent add server.json --use pypi --input city=Paris --yes
  assent add files.mcpb --user`,
	}
	flags := c.Flags()
	flags.StringVar(&a.name, "name", "", "give the server this `name`")
	flags.StringVar(&a.pin, "pin", "", "run this `version` of a package if REFERENCE has no exact one")
	flags.StringVar(&a.registry, "registry", "", "the `address` of the registry that npx, uvx or dnx is set to, if a server.json names it")
	flags.StringVar(&a.use, "use", "", "of a server.json, use the package or remote of this `type`: npm, pypi, nuget, oci, http or sse")
	flags.BoolVar(&a.user, "user", false, "write it into your own file, mcp.json in the folder assent of your configuration")
	flags.BoolVar(&a.yes, "yes", false, "add it without asking")
	flags.BoolVar(&a.plain, "plain", false, "ask line by line, even if stdin is not a terminal")
	flags.StringArrayVar(&a.inputs, "input", nil, "give an input a value: `NAME=VALUE`; NAME alone has Assent ask for it when the server starts; may be repeated")
	c.RunE = func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return usagef("REFERENCE is missing")
		case len(args) > 1:
			return usagef("unexpected argument %q", args[1])
		case a.yes && a.plain:
			return usagef("--plain asks you, and --yes does not ask: give one of them")
		}
		a.reference = args[0]
		return a.run()
	}
	return c
}

func (a *addition) run() error {
	data, err := DataFolder("")
	if err != nil {
		return err
	}
	s, err := add.Read(a.reference, add.Options{
		Folder: a.o.Folder, BundleDir: filepath.Join(data, "bundles"), OS: runtime.GOOS, Pin: a.pin, Registry: a.registry, Use: a.use,
	})
	if err != nil {
		return &usageError{text: err.Error()}
	}
	name := a.name
	if name == "" {
		name = s.Name
	}
	if err := add.CheckName(name); err != nil {
		return &usageError{text: err.Error()}
	}
	for _, input := range a.inputs {
		of, value, valued := strings.Cut(input, "=")
		if err := s.Give(of, value, !valued); err != nil {
			return usagef("--input: %v", err)
		}
	}
	path := filepath.Join(a.o.Folder, config.FileName)
	if a.user {
		if path = config.UserFile(); path == "" {
			return usagef("--user: there is no folder for your configuration: set HOME")
		}
	}
	a.lines, a.width = bufio.NewReader(a.o.Stdin), widthOf(a.o.Stderr)
	a.say("%s", a.shown(s, name))
	if a.o.Policy != nil {
		written, err := s.Written(name)
		if err == nil {
			err = a.o.Policy.CheckDefinition(name, written.Entry)
		}
		if err != nil {
			return Exit(ExitFailed, fmt.Errorf("nothing was added. %w", err))
		}
	}
	if !a.yes {
		if !a.plain && !(IsTerminal(a.o.Stdin) && IsTerminal(a.o.Stderr)) {
			return usagef("assent add cannot ask here whether to add the server: run it in a terminal, or give --yes")
		}
		if err := a.ask(s, name, path); err != nil {
			return err
		}
	}
	return a.write(s, name, path)
}

// ask asks for the missing inputs, and whether to add the server.
func (a *addition) ask(s *add.Server, name, path string) error {
	asked := false
	for _, in := range s.Inputs {
		if slices.ContainsFunc(a.inputs, func(given string) bool { return given == in.Name || strings.HasPrefix(given, in.Name+"=") }) || in.Secret && in.Required {
			continue
		}
		asked = true
		if err := a.askInput(s, in); err != nil {
			return err
		}
	}
	if asked {
		a.say("%s", a.shown(s, name))
	}
	yes, err := a.yesOrNo(fmt.Sprintf("Add it to %s?", path))
	if err == nil && !yes {
		a.say("Nothing was added.")
		err = errInterrupted
	}
	return err
}

// yesOrNo asks until the answer is yes or no.
func (a *addition) yesOrNo(question string) (bool, error) {
	for {
		word, err := a.line(question + " (yes, no): ")
		if err != nil || word == "yes" || word == "no" {
			return word == "yes", err
		}
	}
}

// askInput asks for one input until its value is valid. An empty line means the default, or leaves the input out.
func (a *addition) askInput(s *add.Server, in add.Input) error {
	if in.Secret {
		about := in.Name
		if in.Description != "" && in.Description != in.Name {
			about += ": " + strings.TrimSuffix(in.Description, ".")
		}
		yes, err := a.yesOrNo(about + ". Is Assent to ask for it when the server starts?")
		if yes {
			err = s.Give(in.Name, "", true)
		}
		return err
	}
	prompt := in.Name
	if in.Description != "" && in.Description != in.Name {
		prompt += ": " + in.Description
	}
	if len(in.Options) > 0 {
		prompt += " (" + strings.Join(in.Options, ", ") + ")"
	}
	switch {
	case in.Default != "":
		prompt += " [" + in.Default + "]"
	case in.Required:
		prompt += " [asked for when the server starts]"
	default:
		prompt += " [none]"
	}
	for {
		value, err := a.line(prompt + ": ")
		if err != nil || value == "" {
			return err
		}
		if err := s.Give(in.Name, value, false); err != nil {
			a.say("%v", err)
			continue
		}
		if !in.Multiple {
			return nil
		}
		prompt = "another " + in.Name + " [none]"
	}
}

// line reads a line after a prompt. An interrupt or the end of the input ends the command.
func (a *addition) line(prompt string) (string, error) {
	if _, err := io.WriteString(a.o.Stderr, safe(prompt)); err != nil {
		return "", err
	}
	type read struct {
		text string
		err  error
	}
	got := make(chan read, 1)
	go func() { // a read of stdin cannot be interrupted: see the package comment
		text, err := a.lines.ReadString('\n')
		got <- read{text, err}
	}()
	select {
	case r := <-got:
		if r.err != nil && r.text == "" {
			a.say("\nNothing was added.")
			return "", errInterrupted
		}
		return strings.TrimSpace(r.text), nil
	case <-a.o.Interrupts:
		a.say("\nNothing was added.")
		return "", errInterrupted
	}
}

// write unpacks the bundle, if the server has one, and writes the entry.
func (a *addition) write(s *add.Server, name, path string) error {
	written, err := s.Written(name)
	if err != nil {
		return err
	}
	undo, err := s.Unpack()
	if err != nil {
		return err
	}
	added, err := importer.Add(path, written)
	switch {
	case err != nil:
		return errors.Join(fmt.Errorf("nothing was added: %w", err), undo())
	case !added:
		return errors.Join(usagef("%s has a server %q already: give this one another name with --name", path, name), undo())
	}
	a.say("Added %q to %s. It has not been started.", name, path)
	if !a.user {
		a.say("To see its tools, run assent tools %s. Assent first asks you to confirm the server.", word(name))
	}
	return nil
}

func (a *addition) say(format string, args ...any) {
	fmt.Fprintln(a.o.Stderr, wrapped(safe(fmt.Sprintf(format, args...)), a.width))
}

// shown describes the entry before it is written. Lists are JSON, so that the person sees where an element ends.
func (a *addition) shown(s *add.Server, name string) string {
	e := s.Entry(name)
	var b strings.Builder
	line := func(what, value string) {
		if value != "" {
			fmt.Fprintf(&b, "  %-12s %s\n", what, safe(value))
		}
	}
	fmt.Fprintf(&b, "The server %q, from %s, would be:\n", name, s.Origin)
	for _, l := range definitionLines(protocol.ServerDefinition{Transport: e.Type, Command: e.Command, Args: e.Args, Cwd: e.Cwd, EnvFile: e.EnvFile, URL: e.URL}) {
		line(l.name, l.value)
	}
	for _, key := range slices.Sorted(maps.Keys(e.Env)) {
		line("environment", key+"="+shownText(e.Env[key]))
	}
	for _, key := range slices.Sorted(maps.Keys(e.Headers)) {
		line("header", key+": "+shownText(e.Headers[key]))
	}
	line("unpacked to", s.Bundle())
	atStart := s.AtStart()
	for _, in := range s.Inputs {
		what := "input"
		if in.Secret {
			what = "secret"
		}
		text := in.Name
		if in.Description != "" && in.Description != in.Name {
			text += ": " + in.Description
		}
		if slices.ContainsFunc(atStart, func(other add.Input) bool { return other.Name == in.Name }) {
			text += " (asked for when the server starts)"
		}
		line(what, text)
	}
	for _, note := range s.Notes {
		line("note", note)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// shownText returns a text as JSON without the quotes, so that it has one line.
func shownText(text string) string {
	list := shownList([]string{text})
	return strings.TrimSuffix(strings.TrimPrefix(list, `["`), `"]`)
}
