package cmd

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"assent/protocol"
	"assent/sidecar/base/visible"
	"assent/sidecar/config"
	"assent/sidecar/setup"
	"assent/sidecar/setup/vault"
	"assent/sidecar/terminal"
)

// errLeft says that the person left at a question.
var errLeft = errors.New("interrupted")

// setupCommand is "assent setup".
func setupCommand(folder string, stdin io.Reader, stdout, stderr io.Writer) *cobra.Command {
	c := &cobra.Command{
		Use: "setup", Short: "have other programs use their servers through Assent",
		Long: `setup finds the MCP servers of the programs on this machine, such as Claude Code, Codex or
Cursor, and shows them. If you agree, it moves the servers into your own mcp.json, and has
the programs start "assent gateway" in their place. Nothing else in their files changes.
"assent restore" puts everything back.

setup shows the files in the current folder too, and changes them only with --projects:
other people may share them. Without a terminal and without --yes, setup only shows the plan.
If the file of a host could not be read, setup names it, and exits with 3.`,
		Example: `  assent setup
  assent setup --host codex --host claude-code --server github
  assent setup --yes --share`,
		Args: noArguments,
	}
	flags := c.Flags()
	hosts := flags.StringArray("host", nil, "change only this `host`'s files; can be repeated")
	servers := flags.StringArray("server", nil, "move only this `server`; can be repeated")
	projects := flags.Bool("projects", false, "change the files in the current folder too")
	share := flags.Bool("share", false, "give each server to all programs that are found, not only to those that have it")
	yes := flags.Bool("yes", false, "do it without asking")
	asJSON := flags.Bool("json", false, "print the plan, or the changes, as JSON")
	hook := flags.Bool("hook", false, "move no servers: add a hook and a plugin that show in Assent what Claude Code and opencode ask themselves")
	secrets := flags.String("secrets", "", "`where` secrets in clear text go: keychain, file (sealed) or stay (default: the keychain; without one, the file)")
	lines := &typed{in: bufio.NewReader(stdin), out: stderr}
	setUpServers := func(cmd *cobra.Command, _ []string) error {
		switch setup.Secrets(*secrets) {
		case "", setup.ToKeychain, setup.ToFile, setup.Stay:
		default:
			return terminal.Exit(terminal.ExitUsage, fmt.Errorf("--secrets is keychain, file or stay, not %q", *secrets))
		}
		o, err := setup.Here(os.Environ(), config.UserFile(), []string{folder})
		if err != nil {
			return terminal.Exit(terminal.ExitFailed, err)
		}
		o.Hosts, o.Servers, o.Projects, o.Share = *hosts, *servers, *projects, *share
		plan, err := setup.Find(o)
		if err != nil {
			return terminal.Exit(terminal.ExitFailed, err)
		}
		asks := terminal.IsTerminal(stdin) && !*yes && !*asJSON
		if !*asJSON {
			if err := showPlan(stdout, plan, o); err != nil {
				return err
			}
		}
		// A file that was not read may have servers, so that a script must not take the run for a whole one.
		whole := func(err error) error {
			if err == nil && len(plan.Unreadable) > 0 {
				return terminal.Exit(terminal.ExitFailed, nil)
			}
			return err
		}
		switch {
		case !*yes && !asks && *asJSON:
			return whole(printJSON(stdout, plan))
		case len(plan.Files) == 0 && *asJSON:
			return whole(printJSON(stdout, &setup.Result{UserFile: o.UserFile, Problems: plan.Problems}))
		case len(plan.Files) == 0:
			return whole(nil)
		case !*yes && !asks:
			fmt.Fprintln(stderr, "Nothing was changed. To do this, run assent setup --yes, or run it in a terminal.")
			return whole(nil)
		}
		if asks {
			if ok, err := lines.agrees(cmd.Context(), fmt.Sprintf("Change %s? (yes, no): ", files(len(plan.Files)))); err != nil || !ok {
				return left(err)
			}
		}
		where := setup.Secrets(*secrets)
		if plan.HasSecrets() && where == "" {
			where = setup.ToKeychain
			place := "the system's keychain"
			if !vault.HasKeychain() {
				where, place = setup.ToFile, "a sealed file, as there is no keychain"
			}
			if asks {
				ok, err := lines.agrees(cmd.Context(), "Move the secrets in clear text into "+place+"? (yes, no): ")
				if err != nil {
					return left(err)
				}
				if !ok {
					where = setup.Stay
				}
			}
		}
		result, err := plan.Apply(where)
		if err != nil {
			return terminal.Exit(terminal.ExitFailed, err)
		}
		failed := len(result.Problems) > 0
		if *asJSON {
			result.Problems = append(plan.Problems, result.Problems...)
			err = printJSON(stdout, result)
		} else {
			err = showResult(stdout, result, where)
		}
		if err == nil && failed {
			err = terminal.Exit(terminal.ExitFailed, nil)
		}
		return whole(err)
	}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if *hook {
			for _, name := range []string{"host", "server", "projects", "share", "secrets"} {
				if flags.Changed(name) {
					return terminal.Exit(terminal.ExitUsage, fmt.Errorf("--hook moves no servers, and --%s is about servers: run assent setup twice", name))
				}
			}
		} else if err := setUpServers(cmd, args); err != nil {
			return err
		}
		asks := terminal.IsTerminal(stdin) && !*yes && !*asJSON
		return setUpHooks(cmd.Context(), hookChoice{wanted: *hook, sure: *yes, asks: asks, quiet: *asJSON}, folder, lines, stdout)
	}
	return c
}

// hookChoice says whether the person wants the hook, by flags.
type hookChoice struct {
	// wanted is --hook, and sure is --yes. With asks, the person is asked; with quiet, nothing is printed.
	wanted, sure, asks, quiet bool
}

// setUpHooks offers to show agents' own questions in Assent. That is a question apart: the servers do not need it.
func setUpHooks(ctx context.Context, c hookChoice, folder string, lines *typed, stdout io.Writer) error {
	if !c.wanted && !c.asks {
		return sayEarlierHooks(c, folder, stdout)
	}
	o, err := setup.Here(os.Environ(), config.UserFile(), []string{folder})
	if err != nil {
		return terminal.Exit(terminal.ExitFailed, err)
	}
	plans, unread := setup.FindHooks(o)
	if len(plans) == 0 && unread == nil && c.wanted {
		unread = errors.New("the hook is for Claude Code and opencode, which were not found")
	}
	if c.quiet && c.wanted {
		if err := printJSON(stdout, plans); err != nil {
			return err
		}
	}
	if c.quiet {
		stdout = io.Discard
	}
	for _, plan := range plans {
		if err := setUpHook(ctx, c, plan, lines, stdout); err != nil {
			return err
		}
	}
	if unread != nil {
		return terminal.Exit(terminal.ExitFailed, unread)
	}
	return nil
}

// setUpHook shows a plan, and carries it out if the person wants that.
func setUpHook(ctx context.Context, c hookChoice, plan *setup.HookPlan, lines *typed, stdout io.Writer) error {
	path := visible.Line(plan.Path)
	if plan.Forbidden != "" {
		_, err := fmt.Fprintf(stdout, "\n%s\n", visible.Line(plan.Forbidden))
		return err
	}
	if plan.Complete() {
		_, err := fmt.Fprintf(stdout, "\n%s has the hook of Assent.\n", path)
		return err
	}
	if plan.Renews {
		fmt.Fprintf(stdout, "\n%s\n", earlierHook(plan))
	} else {
		fmt.Fprintf(stdout, "\n%s's own questions (may this command run?) can be shown in Assent too. Its prompt stays as it is.\n", plan.Host)
	}
	var err error
	if plan.Plugin != "" {
		_, err = fmt.Fprintf(stdout, "This plugin would be written to %s:\n%s", path, visible.Text(plan.Plugin))
	} else {
		fmt.Fprintf(stdout, "These hooks would be added to %s:\n", path)
		err = printJSON(stdout, plan.Hooks)
	}
	if err != nil {
		return err
	}
	if c.asks {
		if ok, err := lines.agrees(ctx, "Add this? (yes, no): "); err != nil || !ok {
			return left(err)
		}
	} else if !c.sure {
		_, err := fmt.Fprintf(lines.out, "Nothing was added to %s. To add it, run assent setup --hook --yes.\n", plan.Host)
		return err
	}
	if err := plan.Apply(); err != nil {
		return terminal.Exit(terminal.ExitFailed, err)
	}
	_, err = fmt.Fprintf(stdout, "Changed: %s. Restart %s. To undo it: assent restore\n", path, plan.Host)
	return err
}

// earlierHook says that what a plan changes is of an earlier Assent.
func earlierHook(plan *setup.HookPlan) string {
	return fmt.Sprintf("The hooks in %s are of an earlier Assent, and do not show all that %s asks.", visible.Line(plan.Path), plan.Host)
}

// sayEarlierHooks says how to renew hooks of an earlier Assent. It says nothing of hosts that cannot be read: nobody asked for hooks.
func sayEarlierHooks(c hookChoice, folder string, stdout io.Writer) error {
	if c.quiet {
		return nil
	}
	o, err := setup.Here(os.Environ(), config.UserFile(), []string{folder})
	if err != nil {
		return terminal.Exit(terminal.ExitFailed, err)
	}
	plans, _ := setup.FindHooks(o)
	for _, plan := range plans {
		if !plan.Renews || plan.Forbidden != "" {
			continue
		}
		if _, err := fmt.Fprintf(stdout, "\n%s To renew them: assent setup --hook\n", earlierHook(plan)); err != nil {
			return err
		}
	}
	return nil
}

// restoreCommand is "assent restore".
func restoreCommand(folder string, stdout io.Writer) *cobra.Command {
	c := &cobra.Command{
		Use: "restore", Short: "undo what setup did",
		Long: `restore puts every file that "assent setup" changed back as it was, byte for byte. If a file
was changed since, only the entries of Assent are taken back, and restore says so. Secrets
that setup moved are in the files again.`,
		Example: "  assent restore", Args: noArguments,
	}
	asJSON := c.Flags().Bool("json", false, "print the changes as JSON")
	c.RunE = func(*cobra.Command, []string) error {
		o, err := setup.Here(os.Environ(), config.UserFile(), []string{folder})
		if err != nil {
			return terminal.Exit(terminal.ExitFailed, err)
		}
		undone, err := setup.Restore(o)
		if err != nil {
			return terminal.Exit(terminal.ExitFailed, err)
		}
		if *asJSON {
			err = printJSON(stdout, undone)
		} else {
			err = showUndone(stdout, undone)
		}
		if err == nil && len(undone.Problems) > 0 {
			err = terminal.Exit(terminal.ExitFailed, nil)
		}
		return err
	}
	return c
}

// hostFiles returns the files of hosts for a report, and those that cannot be read.
func hostFiles(folder string) ([]terminal.HostFile, []protocol.ConfigProblem, error) {
	o, err := setup.Here(os.Environ(), config.UserFile(), []string{folder})
	if err != nil {
		return nil, nil, nil // without a home folder, no host has files
	}
	plan, err := setup.Find(o)
	if err != nil {
		return nil, nil, err
	}
	var files []terminal.HostFile
	for _, u := range plan.Uses() {
		files = append(files, terminal.HostFile(u))
	}
	var problems []protocol.ConfigProblem
	for _, p := range plan.Unreadable {
		problems = append(problems, protocol.ConfigProblem{Source: p.Path, Message: p.Message})
	}
	return files, problems, nil
}

// keptSecret returns a secret that setup moved, from beside the person's own mcp.json.
func keptSecret(userFile, name string) (string, error) {
	if userFile == "" {
		return "", errors.New("there is no folder for your own mcp.json and its secrets")
	}
	return vault.Open(filepath.Dir(userFile)).Get(name)
}

func showPlan(w io.Writer, p *setup.Plan, o setup.Options) error {
	if len(p.Hosts) == 0 && len(p.Servers) == 0 {
		text := "No program was found that uses MCP servers."
		if len(p.Unreadable) > 0 {
			text = "No MCP server was found in the files that could be read."
		}
		_, err := fmt.Fprintln(w, text)
		return errors.Join(err, showLeft(w, p))
	}
	var out strings.Builder
	if len(p.Hosts) > 0 {
		fmt.Fprintf(&out, "Found: %s\n", strings.Join(p.Hosts, ", "))
	}
	var rows [][]string
	var notes []string
	for _, s := range p.Servers {
		var in []string
		for _, c := range s.Copies {
			text := c.Host
			if c.Folder != "" {
				text += " (project)"
			}
			if c.Name != s.Name {
				text += fmt.Sprintf(" as %q", c.Name)
			}
			in = append(in, text)
		}
		uses := strings.Join(s.Hosts, ", ")
		if uses == "" {
			uses = "-"
		}
		rows = append(rows, []string{s.Name, shortened(s.Runs, 40), strings.Join(in, ", "), uses})
		if len(s.Differs) > 0 {
			notes = append(notes, fmt.Sprintf("%s is another server than %q elsewhere. It differs in: %s.", s.Name, s.Copies[0].Name, strings.Join(s.Differs, ", ")))
		}
		if len(s.Secrets) > 0 {
			notes = append(notes, fmt.Sprintf("%s probably has a secret in clear text: %s.", s.Name, strings.Join(s.Secrets, ", ")))
		}
		for _, text := range s.Warnings {
			notes = append(notes, s.Name+": "+text)
		}
	}
	if len(p.Hosts) > 0 && len(rows) > 0 {
		out.WriteString("\n")
	}
	out.WriteString(terminal.Table(w, []string{"server", "runs", "configured in", "through Assent in"}, rows))
	if len(notes) > 0 {
		out.WriteString("\n")
	}
	for _, text := range notes {
		fmt.Fprintln(&out, terminal.Hanging(w, visible.Line(text), 2))
	}
	if len(p.Files) > 0 {
		moves := slices.ContainsFunc(p.Servers, func(s *setup.Server) bool {
			return !s.Known && slices.ContainsFunc(s.Copies, func(c *setup.Copy) bool { return c.Changes })
		})
		if moves {
			fmt.Fprintf(&out, "\nThe servers move to %s.", visible.Line(o.UserFile))
		} else {
			fmt.Fprintf(&out, "\nThe servers are in %s already.", visible.Line(o.UserFile))
		}
		fmt.Fprintln(&out, " These files change:")
		for _, path := range p.Files {
			fmt.Fprintf(&out, "  %s\n", visible.Line(path))
		}
	} else if len(p.Unreadable) > 0 {
		fmt.Fprintln(&out, "\nThere is nothing to change in the files that could be read.")
	} else {
		fmt.Fprintln(&out, "\nThere is nothing to change.")
	}
	if _, err := io.WriteString(w, out.String()); err != nil {
		return err
	}
	return showLeft(w, p)
}

// showLeft shows what the plan leaves alone: first the files with servers that are not known.
func showLeft(w io.Writer, p *setup.Plan) error {
	var unread, others []setup.Problem
	for _, problem := range p.Problems {
		if slices.ContainsFunc(p.Unreadable, func(u setup.Problem) bool { return u.Path == problem.Path }) {
			unread = append(unread, problem)
		} else {
			others = append(others, problem)
		}
	}
	if len(unread) > 0 {
		if _, err := fmt.Fprintf(w, "\nNot read: %s. The servers there are not in this plan.", files(len(unread))); err != nil {
			return err
		}
	}
	return errors.Join(showProblems(w, unread), showProblems(w, others))
}

func showProblems(w io.Writer, problems []setup.Problem) error {
	for i, p := range problems {
		if i == 0 {
			fmt.Fprintln(w)
		}
		if _, err := fmt.Fprintf(w, "%s: %s\n", visible.Line(p.Path), visible.Line(p.Message)); err != nil {
			return err
		}
	}
	return nil
}

func showResult(w io.Writer, r *setup.Result, where setup.Secrets) error {
	var out strings.Builder
	if len(r.Added) > 0 {
		fmt.Fprintf(&out, "\nAdded to %s: %s.\n", visible.Line(r.UserFile), visible.Line(strings.Join(r.Added, ", ")))
	}
	if r.Secrets > 0 {
		place := "the system's keychain seals"
		if where == setup.ToFile {
			place = "a key in Assent's folder seals"
		}
		fmt.Fprintf(&out, "Secrets moved: %d. They are in a file that %s.\n", r.Secrets, place)
	}
	if len(r.Files) > 0 {
		fmt.Fprintf(&out, "Changed: %s. Restart the programs that are running. To undo all of it: assent restore\n", files(len(r.Files)))
	}
	if _, err := io.WriteString(w, out.String()); err != nil {
		return err
	}
	return showProblems(w, r.Problems)
}

func showUndone(w io.Writer, u *setup.Undone) error {
	if len(u.Files) == 0 && len(u.Problems) == 0 {
		_, err := fmt.Fprintln(w, "There is nothing to restore.")
		return err
	}
	says := map[setup.How]string{
		setup.PutBack: "is as it was", setup.Removed: "is removed: it was not there before",
		setup.Merged: "had been changed since: the entries of Assent are taken back, and the rest stays", setup.Untouched: "was as before already",
	}
	var out strings.Builder
	for _, f := range u.Files {
		fmt.Fprintf(&out, "%s %s\n", visible.Line(f.Path), says[f.How])
		for _, note := range f.Notes {
			fmt.Fprintf(&out, "  %s\n", visible.Line(note))
		}
	}
	if _, err := io.WriteString(w, out.String()); err != nil {
		return err
	}
	return showProblems(w, u.Problems)
}

func shortened(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

func files(n int) string {
	if n == 1 {
		return "1 file"
	}
	return fmt.Sprintf("%d files", n)
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// typed asks a person line by line.
type typed struct {
	in  *bufio.Reader
	out io.Writer
}

// agrees asks until the answer is yes or no. The end of the input is a no.
func (t *typed) agrees(ctx context.Context, question string) (bool, error) {
	type line struct {
		text string
		err  error
	}
	for {
		if _, err := fmt.Fprint(t.out, "\n"+question); err != nil {
			return false, err
		}
		read := make(chan line, 1)
		go func() { // a read cannot be interrupted: it ends with its line, or with the process
			text, err := t.in.ReadString('\n')
			read <- line{text, err}
		}()
		select {
		case <-ctx.Done():
			return false, errLeft
		case l := <-read:
			switch strings.ToLower(strings.TrimSpace(l.text)) {
			case "y", "yes":
				return true, nil
			case "n", "no":
				return false, nil
			}
			if l.err != nil {
				return false, nil
			}
		}
	}
}

// left is the error of a command after the person said no to its question, or left.
func left(err error) error {
	if errors.Is(err, errLeft) {
		return terminal.Exit(terminal.ExitInterrupted, nil)
	}
	return err
}
