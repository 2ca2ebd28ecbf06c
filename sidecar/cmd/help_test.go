package cmd

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"assent/sidecar/terminal"
)

// allCommands are the words of each command of the program.
func allCommands() [][]string {
	root := terminal.NewCommand(terminal.Options{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard},
		serveCommand(nil, nil, nil), daemonCommand(nil), exampleCommand(), journalCommand(), setupCommand("", nil, nil, nil), restoreCommand("", nil))
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	var all [][]string
	var add func(*cobra.Command)
	add = func(c *cobra.Command) {
		all = append(all, strings.Fields(c.CommandPath())[1:])
		for _, sub := range c.Commands() {
			add(sub)
		}
	}
	add(root)
	return all
}

func TestHelpFitsEightyColumns(t *testing.T) {
	for _, words := range allCommands() {
		t.Run(strings.Join(words, " "), func(t *testing.T) {
			t.Parallel()
			var out, problems bytes.Buffer
			code := run(t.Context(), append(words, "--help"), strings.NewReader(""), &out, &problems)
			if code != 0 || !strings.Contains(out.String(), "Usage:\n") {
				t.Fatalf("exit code %d: %s%s", code, out.String(), problems.String())
			}
			for line := range strings.Lines(out.String()) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
					t.Errorf("%d columns: %s", n, line)
				}
			}
		})
	}
}

func TestAWrongCommandLineNamesWhatIsMissing(t *testing.T) {
	for _, words := range [][]string{
		{"help", "nope"},
		{"gateway", "--config", "nope"},
	} {
		t.Run(strings.Join(words, " "), func(t *testing.T) {
			var out, problems bytes.Buffer
			code := run(t.Context(), words, strings.NewReader(""), &out, &problems)
			if code != terminal.ExitUsage || out.Len() > 0 || !strings.Contains(problems.String(), "nope") {
				t.Errorf("exit code %d: %s%s", code, out.String(), problems.String())
			}
		})
	}
}
