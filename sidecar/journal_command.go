package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"assent/sidecar/journal"
	"assent/sidecar/store"
)

const journalUsage = `assent journal reads the journal: what servers asked, who decided, and what came of it.
It changes nothing, and may be run while Assent is running.

Usage:
	assent journal show [flags]     print a line for each record, the oldest first
	assent journal export [flags]   print each record as a line of JSON
	assent journal verify [flags]   find the first record that was altered, taken out or put in

Flags:
	-data-dir folder   where the tasks are (default: in the user's configuration folder)
	-server name       only what is of this server
	-task id           only what is of this task
	-kind kind         only records of this kind, such as askSettled
	-since when        only what was written since: 2026-07-28, 2026-07-28T09:30:00Z, 36h or 7d

Results are printed on stdout, everything else on stderr. verify takes -data-dir alone.

It exits with 0 where all went well, 1 where the journal cannot be read or the results not be written,
2 for a wrong command line, and 3 where verify found that the journal was altered.
`

// exitAltered is the exit code of a journal that is not as Assent wrote it.
const exitAltered = 3

// runJournal is "assent journal". It returns the exit code.
func runJournal(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	command := ""
	if len(args) > 0 {
		command, args = args[0], args[1:]
	}
	switch command {
	case "show", "export", "verify":
	case "help", "-h", "-help", "--help":
		fmt.Fprint(stdout, journalUsage)
		return 0
	case "":
		fmt.Fprint(stderr, journalUsage)
		return 2
	default:
		fmt.Fprintf(stderr, "assent journal: there is no command %q\n\n%s", command, journalUsage)
		return 2
	}
	name := "assent journal " + command
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() { fmt.Fprint(stderr, journalUsage) }
	dataDir := flags.String("data-dir", "", "")
	var filter store.JournalFilter
	if command != "verify" {
		flags.StringVar(&filter.Server, "server", "", "")
		flags.StringVar(&filter.TaskID, "task", "", "")
		flags.StringVar(&filter.Kind, "kind", "", "")
		flags.Func("since", "", func(text string) (err error) {
			filter.Since, err = since(text, time.Now())
			return err
		})
	}
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "%s: unexpected argument %q\n", name, flags.Arg(0))
		return 2
	}
	err := readJournal(ctx, command, *dataDir, filter, stdout)
	var broken *journal.Broken
	switch {
	case errors.As(err, &broken):
		fmt.Fprintf(stdout, "ALTERED: %v\n", broken)
		return exitAltered
	case err != nil:
		fmt.Fprintf(stderr, "%s: %v\n", name, err)
		return 1
	}
	return 0
}

// readJournal prints what a command is for. The error is a [journal.Broken] where the journal was altered.
func readJournal(ctx context.Context, command, dataDir string, filter store.JournalFilter, stdout io.Writer) (err error) {
	if dataDir, err = dataFolder(dataDir); err != nil {
		return err
	}
	s, err := store.OpenReadOnly(dataDir)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("there are no tasks in %s: give the folder with -data-dir", dataDir)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
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
	encoder := json.NewEncoder(out)
	return s.EachJournal(ctx, filter, func(store.Ends) error { return nil }, func(r *store.Record) error {
		if command == "export" {
			return encoder.Encode(journal.Wire(r))
		}
		_, err := fmt.Fprintln(out, journal.Line(journal.Wire(r), time.Local))
		return err
	})
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

// dataFolder returns where the store is: where the command line says, or else where it is by default.
func dataFolder(given string) (string, error) {
	if given != "" {
		return given, nil
	}
	config, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("%w: give -data-dir", err)
	}
	return filepath.Join(config, "assent"), nil
}
