package terminal

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// setHelp makes a command and its subcommands write their help in at most 80 columns, or fewer on a narrower terminal.
// It does not wrap examples, because people copy them.
func setHelp(root *cobra.Command) {
	root.SetHelpFunc(func(c *cobra.Command, _ []string) {
		out := c.OutOrStdout()
		about := c.Long
		if about == "" {
			about = c.Short
		}
		_, _ = io.WriteString(out, reflowed(about, helpWidth(out))+"\n\n"+usage(c, helpWidth(out))) // there is no other stream for the error
	})
	root.SetUsageFunc(func(c *cobra.Command) error {
		_, err := io.WriteString(c.OutOrStderr(), usage(c, helpWidth(c.OutOrStderr())))
		return err
	})
}

func helpWidth(stream any) int {
	if width := widthOf(stream); width > 0 {
		return min(width, usualWidth)
	}
	return usualWidth
}

// usage lists the examples, subcommands and flags of a command.
func usage(c *cobra.Command, width int) string {
	var b strings.Builder
	b.WriteString("Usage:\n")
	if c.Runnable() {
		fmt.Fprintf(&b, "  %s\n", c.UseLine())
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s [command]\n", c.CommandPath())
	}
	if c.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", c.Example)
	}
	if c.HasAvailableSubCommands() {
		b.WriteString("\nAvailable Commands:\n")
		indent := "\n" + strings.Repeat(" ", c.Commands()[0].NamePadding()+3)
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() || sub.Name() == "help" {
				short := byWords(sub.Short, max(narrow, width-len(indent)+1))
				fmt.Fprintf(&b, "  %-*s %s\n", sub.NamePadding(), sub.Name(), strings.Join(short, indent))
			}
		}
	}
	if c.HasAvailableLocalFlags() {
		fmt.Fprintf(&b, "\nFlags:\n%s", flagUsages(c.LocalFlags(), width))
	}
	if c.HasAvailableInheritedFlags() {
		fmt.Fprintf(&b, "\nGlobal Flags:\n%s", flagUsages(c.InheritedFlags(), width))
	}
	if c.HasAvailableSubCommands() {
		b.WriteString("\n" + wrapped(fmt.Sprintf("Use \"%s [command] --help\" for more information about a command.", c.CommandPath()), width) + "\n")
	}
	return b.String()
}

// besides is the minimum width for flags and their usages side by side.
const besides = 60

// flagUsages lists flags: with their usages beside them, or below them on a narrow terminal.
func flagUsages(flags *pflag.FlagSet, width int) string {
	if width >= besides {
		return flags.FlagUsagesWrapped(width)
	}
	var b strings.Builder
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		if f.Value.Type() == "string" && f.DefValue != "" {
			usage += fmt.Sprintf(" (default %s)", f.DefValue)
		}
		fmt.Fprintf(&b, "  %s\n%s\n", strings.TrimSpace(name+" "+value), wrapped("      "+usage, width))
	})
	return b.String()
}

// reflowed wraps the paragraphs of a text. Indented lines stay as they are.
func reflowed(text string, width int) string {
	var out, paragraph []string
	end := func() {
		if paragraph != nil {
			out = append(out, wrapped(strings.Join(paragraph, " "), width))
		}
		paragraph = nil
	}
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		switch {
		case line == "" || line[0] == ' ' || line[0] == '\t':
			end()
			out = append(out, strings.ReplaceAll(strings.TrimRight(line, " "), "\t", "  "))
		default:
			paragraph = append(paragraph, strings.TrimSpace(line))
		}
	}
	end()
	return strings.Join(out, "\n")
}
