package sidecar

import (
	"bytes"
	"io"
	"os/exec"
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
			out, err := exec.Command("assent", append(words, "--help")...).Output()
			if err != nil || !bytes.Contains(out, []byte("Usage:\n")) {
				t.Fatalf("%v: %s", err, out)
			}
			for line := range strings.Lines(string(out)) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
					t.Errorf("%d columns: %s", n, line)
				}
			}
		})
	}
}
