package terminal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"assent/protocol"
	"assent/sidecar/base/visible"
)

// mostLog bounds how many lines of a server's log are printed.
const mostLog = 20

// doctor starts a server and prints a report. It returns an error if the server does not run.
func (s *session) doctor(ctx context.Context) error {
	server := &protocol.ServerParams{ServerName: s.line.server}
	_, startErr := s.sidecar.StartServer(ctx, server)
	i, err := s.sidecar.InspectServer(ctx, server)
	if err != nil {
		return err
	}
	i.Server.Source = s.sourceOf(i.Server.Source)
	if s.line.json {
		err = s.printJSON(i)
	} else {
		err = s.report(i)
	}
	dead := i.Verdict != nil && i.Server.State != protocol.ServerRunning
	switch {
	case err != nil:
		return err
	case dead && !s.line.json:
		if !s.stdout.isTerminal {
			s.note("assent: the server %q does not run: the report on stdout says why", i.Server.Name)
		}
		return Exit(ExitFailed, nil) // the report begins with the reason
	case dead:
		return fmt.Errorf("%s %s", i.Verdict.Text, i.Verdict.WayOut)
	case startErr != nil:
		return startErr
	case i.Server.State != protocol.ServerRunning:
		return errors.New("the server does not run: it is " + string(i.Server.State))
	}
	return nil
}

// beforeText is the width of the column of names in a report.
const beforeText = 14

// report prints all that is known about a server, the verdict first, and nothing twice. It leaves out empty parts. On a
// terminal, it wraps lines between words.
func (s *session) report(i *protocol.ServerInspection) error {
	var b strings.Builder
	width := s.stdout.width()
	line := func(name, format string, args ...any) {
		text := safe(fmt.Sprintf(format, args...))
		if text == "" {
			return
		}
		if width > 2*beforeText {
			text = wrapped(text, width-beforeText)
		}
		b.WriteString(s.stdout.paint.bold(name) + strings.Repeat(" ", beforeText-len(name)))
		b.WriteString(strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", beforeText)) + "\n")
	}
	if v := i.Verdict; v != nil {
		line("verdict", "%s: %s", v.Kind, v.Text)
		line("way out", "%s", v.WayOut)
	}
	line("warning", "%s", strings.Join(i.Warnings, "\n"))
	line("server", "%s", i.Server.Name)
	state := string(i.Server.State)
	if i.Verdict != nil && i.Verdict.Kind == protocol.VerdictLogin {
		state = "not signed in"
	}
	if i.Server.Blocked != "" {
		state = "blocked"
	}
	line("state", "%s", state)
	source := i.Server.Source
	if i.Line > 0 {
		source = fmt.Sprintf("%s:%d", source, i.Line)
	}
	line("configured in", "%s", source)
	line("command", "%s", i.Server.Command)
	if l := i.Launch; l != nil {
		found := ""
		if l.FoundBy != "" {
			found = " (" + string(l.FoundBy) + ")"
		}
		line("program", "%s%s", l.Path, found)
		line("arguments", "%s", strings.Join(l.Args, " "))
		line("folder", "%s", l.Cwd)
		line("environment", "%s", strings.Join(l.EnvNames, " "))
		if i.Verdict == nil {
			line("problem", "%s", l.Problem)
		}
		line("searched", "%s", strings.Join(l.Searched, "\n"))
		instead := l.NearMisses
		if i.Verdict != nil && len(instead) > 0 {
			instead = instead[1:] // the way out begins with the first
		}
		line("instead", "%s", strings.Join(instead, "\n"))
	}
	if e := i.Endpoint; e != nil {
		line("url", "%s", e.URL)
		line("headers", "%s", strings.Join(e.HeaderNames, " "))
	}
	if h := i.Handshake; h != nil {
		line("speaks", "MCP %s (%s)", h.ProtocolVersion, h.Era)
		line("calls itself", "%s %s", h.Name, h.Version)
		line("can", "%s", strings.Join(h.Capabilities, " "))
	}
	if f := i.LastFailure; f != nil {
		if i.Verdict == nil || i.Verdict.Kind == protocol.VerdictMended {
			line("last failure", "%s", f.Reason)
		}
		if f.ExitCode != nil {
			line("exit code", "%d", *f.ExitCode)
		}
		line("stderr", "%s", strings.Join(f.Stderr, "\n"))
		line("stdout", "%s", strings.Join(f.Stdout, "\n"))
	}
	for _, p := range i.Ports {
		var by []string
		for _, process := range p.By {
			by = append(by, fmt.Sprintf("%s (%d)", process.Name, process.PID))
		}
		line("port", "%d: %s", p.Port, strings.Join(by, ", "))
	}
	for _, p := range i.Orphans {
		line("left behind", "%s (%d)", p.Name, p.PID)
	}
	var log []string
	for _, l := range i.Log[max(0, len(i.Log)-mostLog):] {
		if f := i.LastFailure; f != nil && l.From == protocol.LogStderr && slices.Contains(f.Stderr, l.Text) {
			continue // printed above
		}
		log = append(log, fmt.Sprintf("%s: %s", l.From, l.Text))
	}
	line("log", "%s", strings.Join(log, "\n"))
	if s.stdout.isTerminal {
		return s.write(b.String())
	}
	return s.write(visible.Data(b.String()))
}
