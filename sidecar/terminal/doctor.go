package terminal

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"assent/protocol"
)

// mostLog is how many lines of a server's log are printed.
const mostLog = 20

// doctor starts a server, and prints what is known of it then. It fails where the server does not run.
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
		err = s.print("%s", inspection(i))
	}
	switch {
	case err != nil:
		return err
	case i.Verdict != nil && i.Server.State != protocol.ServerRunning:
		return fmt.Errorf("%s %s", i.Verdict.Text, i.Verdict.WayOut)
	case startErr != nil:
		return startErr
	case i.Server.State != protocol.ServerRunning:
		return errors.New("the server does not run: it is " + string(i.Server.State))
	}
	return nil
}

// inspection is all of it as text. The parts that are not there are left out.
func inspection(i *protocol.ServerInspection) string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		if text := safe(fmt.Sprintf(format, args...)); text != "" {
			fmt.Fprintf(&b, "%-14s%s\n", name, strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", 14)))
		}
	}
	line("server", "%s", i.Server.Name)
	state := string(i.Server.State)
	if i.Verdict != nil && i.Verdict.Kind == protocol.VerdictLogin {
		state = "not signed in"
	}
	line("state", "%s", state)
	source := i.Server.Source
	if i.Line > 0 {
		source = fmt.Sprintf("%s:%d", source, i.Line)
	}
	line("configured in", "%s", source)
	line("command", "%s", i.Server.Command)
	if v := i.Verdict; v != nil {
		line("verdict", "%s: %s", v.Kind, v.Text)
		line("way out", "%s", v.WayOut)
	}
	if l := i.Launch; l != nil {
		found := ""
		if l.FoundBy != "" {
			found = " (" + string(l.FoundBy) + ")"
		}
		line("program", "%s%s", l.Path, found)
		line("arguments", "%s", strings.Join(l.Args, " "))
		line("folder", "%s", l.Cwd)
		line("environment", "%s", strings.Join(l.EnvNames, " "))
		line("problem", "%s", l.Problem)
		line("searched", "%s", strings.Join(l.Searched, "\n"))
		line("instead", "%s", strings.Join(l.NearMisses, "\n"))
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
		line("last failure", "%s", f.Reason)
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
		log = append(log, fmt.Sprintf("%s: %s", l.From, l.Text))
	}
	line("log", "%s", strings.Join(log, "\n"))
	return b.String()
}
