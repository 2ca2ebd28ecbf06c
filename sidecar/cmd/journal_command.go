package cmd

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"assent/sidecar/base/visible"
	"assent/sidecar/task/journal"
	"assent/sidecar/task/store"
	"assent/sidecar/terminal"
)

// exitAltered is the exit code of a journal that is not as Assent wrote it.
const exitAltered = 3

// journalCommand is "assent journal".
func journalCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "journal", Short: "show, export or verify the journal",
		Long: `journal reads the journal: the questions of servers, the decisions and their results. It changes nothing, and may be run
while Assent is running.

The exit code is 0 for success, 1 if the journal cannot be read or the output cannot be written, 2 for a wrong
command line, and 3 if verify found that the journal was altered.`,
		Example: `  assent journal show --data-dir kept --since 7d
  assent journal export --server demo --kind askSettled > journal.jsonl
  assent journal verify`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 && args[0] == "help" {
				return c.Help()
			}
			if len(args) > 0 {
				return terminal.Exit(terminal.ExitUsage, fmt.Errorf("there is no command %q: there is show, export or verify", args[0]))
			}
			c.SetOut(c.ErrOrStderr())
			return errors.Join(c.Help(), terminal.Exit(terminal.ExitUsage, nil))
		},
	}
	c.AddCommand(
		journalReader("show", "print a line for each record, the oldest first", "  assent journal show --server demo --since 36h"),
		journalReader("export", "print each record as a line of JSON", "  assent journal export --task 0198f2c4 --kind askSettled"),
		journalReader("verify", "find the first record that was altered, removed or inserted", "  assent journal verify --data-dir kept"),
	)
	return c
}

func journalReader(name, short, example string) *cobra.Command {
	c := &cobra.Command{Use: name, Short: short, Example: example, Args: noArguments}
	dataDir := c.Flags().String("data-dir", "", "the data `folder` (default: in the user's configuration folder)")
	var filter store.JournalFilter
	if name != "verify" {
		c.Flags().StringVar(&filter.Server, "server", "", "only records of this server: its `name`")
		c.Flags().StringVar(&filter.TaskID, "task", "", "only records of this task: its `id`, or the beginning of it")
		c.Flags().StringVar(&filter.Kind, "kind", "", "only records of this `kind`, such as askSettled")
		c.Flags().Func("since", "only records since `when`: 2026-07-28, 2026-07-28T09:30:00Z, 36h or 7d", func(text string) (err error) {
			filter.Since, err = since(text, time.Now())
			return err
		})
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		stdout := c.OutOrStdout()
		err := readJournal(c.Context(), name, *dataDir, filter, stdout, c.ErrOrStderr())
		var broken *journal.Broken
		switch {
		case errors.As(err, &broken):
			_, err := fmt.Fprintf(stdout, "ALTERED: %v\n", broken)
			return errors.Join(terminal.Exit(exitAltered, nil), err)
		case err != nil:
			return terminal.Exit(1, err)
		}
		return nil
	}
	return c
}

// readJournal prints what a command is for. The error is a [journal.Broken] where the journal was altered.
func readJournal(ctx context.Context, command, dataDir string, filter store.JournalFilter, stdout, stderr io.Writer) (err error) {
	if dataDir, err = terminal.DataFolder(dataDir); err != nil {
		return err
	}
	s, err := store.OpenReadOnly(dataDir)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("there are no tasks in %s: give the folder with --data-dir", dataDir)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if filter.TaskID != "" {
		found, err := s.JournalTasks(ctx, filter.TaskID, 2)
		switch {
		case err != nil:
			return err
		case len(found) > 1:
			return fmt.Errorf("several conversations begin with %q: write more of it", filter.TaskID)
		case len(found) == 1:
			filter.TaskID = found[0]
		}
	}
	out := bufio.NewWriter(stdout)
	defer func() { err = errors.Join(err, out.Flush()) }()

	if command == "verify" {
		v, err := journal.Verify(ctx, s)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, verified(v))
		return nil
	}
	encoder := json.NewEncoder(visible.JSONWriter(out))
	if command == "export" {
		return s.EachJournal(ctx, filter, func(store.Ends) error { return nil }, func(r *store.Record) error {
			return encoder.Encode(journal.Wire(r))
		})
	}
	empty := true
	err = s.EachJournal(ctx, filter, func(store.Ends) error { return nil }, func(r *store.Record) error {
		if empty {
			fmt.Fprint(out, terminal.Heading(stdout, "     #  TIME                 SERVER  RECORD"))
		}
		empty = false
		_, err := fmt.Fprintln(out, terminal.Hanging(stdout, journal.Line(journal.Wire(r), time.Local), 8))
		return err
	})
	if err == nil && empty {
		text := "The journal has no records yet."
		if filter != (store.JournalFilter{}) {
			text = "The journal has no such record."
		}
		_, err = fmt.Fprintln(stderr, text)
	}
	return err
}

func verified(v *journal.Verified) string {
	text := fmt.Sprintf("The journal is whole: %d records", v.Records)
	if v.Records > 0 {
		text += fmt.Sprintf(", from %d to %d", v.First, v.Last)
	}
	if v.Cut > 0 {
		text += fmt.Sprintf("; %d older ones were removed as the retention setting says", v.Cut)
	}
	if v.Hash != "" {
		text += ".\nThe newest hash is " + v.Hash
	}
	return text + "."
}

// since reads a day, a moment, or for how long, in milliseconds since the Unix epoch. A day begins in the
// person's time zone.
func since(text string, now time.Time) (int64, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at.UnixMilli(), nil
	}
	if day, err := time.ParseInLocation(time.DateOnly, text, now.Location()); err == nil {
		return day.UnixMilli(), nil
	}
	if number, ok := strings.CutSuffix(text, "d"); ok {
		if days, err := strconv.Atoi(number); err == nil && days > 0 {
			return now.AddDate(0, 0, -days).UnixMilli(), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return now.Add(-d).UnixMilli(), nil
	}
	return 0, fmt.Errorf("give a day (2026-07-28), a moment (2026-07-28T09:30:00Z), or for how long (36h, 7d)")
}
