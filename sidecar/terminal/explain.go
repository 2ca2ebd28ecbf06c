package terminal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"assent/protocol"
	"assent/sidecar/config"
)

// inspectTimeout bounds the inspection of a failed server.
const inspectTimeout = 5 * time.Second

// lostError is the error of a call that has no result because its server is gone.
type lostError struct{ reason string }

func (e *lostError) Error() string { return e.reason }

// explained adds advice, the last output and the doctor's command line to the error of a failed server.
func (s *session) explained(ctx context.Context, serverName string, err error) error {
	var failed *protocol.Error
	if !errors.As(err, new(*lostError)) && (!errors.As(err, &failed) || failed.Code != protocol.CodeServerFailed) {
		return err
	}
	if why := s.whyFailed(ctx, serverName); why != "" {
		return fmt.Errorf("%w\n%s", err, why)
	}
	return err
}

// whyFailed returns advice about a failed server, its last output and the doctor's command line. It explains each
// server once. It returns "" after that, and for a server that has not failed.
func (s *session) whyFailed(ctx context.Context, serverName string) string {
	s.failures.mu.Lock()
	defer s.failures.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, inspectTimeout)
	defer cancel()
	i, err := s.sidecar.InspectServer(ctx, &protocol.ServerParams{ServerName: serverName})
	if err != nil || i.LastFailure == nil || slices.Contains(s.failures.servers, serverName) {
		return ""
	}
	s.failures.servers = append(s.failures.servers, serverName)
	var b strings.Builder
	switch v := i.Verdict; {
	case v == nil:
	case v.Kind == protocol.VerdictBlocked: // the error said all
		return ""
	case v.Kind == protocol.VerdictUnconfirmed:
		return fmt.Sprintf("To see what would run, and to decide: %s\nTo run it without being asked: --trust", s.doctorCommand(i.Server))
	case v.WayOut != "":
		fmt.Fprintf(&b, "%s\n", v.WayOut)
	}
	for _, wrote := range []struct {
		to    string
		lines []string
	}{{"stderr", i.LastFailure.Stderr}, {"stdout", i.LastFailure.Stdout}} {
		if text := strings.TrimSpace(strings.Join(wrote.lines, "\n")); text != "" {
			fmt.Fprintf(&b, "Its last lines on %s:\n  %s\n", wrote.to, strings.ReplaceAll(text, "\n", "\n  "))
		}
	}
	fmt.Fprintf(&b, "To find out more, run: %s", s.doctorCommand(i.Server))
	return b.String()
}

// doctorCommand returns the doctor's command line for a server. The sidecar has masked secrets in the server's command.
func (s *session) doctorCommand(server protocol.Server) string {
	return s.commandAbout("doctor", server)
}

// listCommand returns the command line that lists the tools, or the prompts, of the server that the command line names.
func (s *session) listCommand(ctx context.Context, list string) string {
	i, err := s.sidecar.InspectServer(ctx, s.server())
	if err != nil {
		return "assent " + list + " " + word(s.line.server)
	}
	return s.commandAbout(list, i.Server)
}

// commandAbout returns the command line of a command about a server.
func (s *session) commandAbout(name string, server protocol.Server) string {
	switch {
	case s.line.alone && server.Transport == protocol.TransportStdio:
		return "assent " + name + s.line.serverFlags() + " -- " + server.Command
	case s.line.alone:
		return "assent " + name + " " + server.Command + s.line.serverFlags()
	}
	command := "assent " + name + " " + word(server.Name)
	if s.line.configFile != "" {
		command += " --config " + word(s.line.configFile)
	}
	return command
}

// serverFlags returns the flags about a server that the command line names, without the values of headers and
// variables.
func (l *commandLine) serverFlags() string {
	var flags []string
	add := func(name, value string) { flags = append(flags, " --"+name+" "+word(value)) }
	if l.protocolVersion != "" {
		add("protocol-version", l.protocolVersion)
	}
	if l.transport != "" {
		add("transport", l.transport)
	}
	for _, text := range l.headers {
		name, _, _ := strings.Cut(text, ":")
		add("header", name+": …")
	}
	for _, text := range l.env {
		name, _, _ := strings.Cut(text, "=")
		add("env", name+"=…")
	}
	for _, root := range l.roots {
		add("root", root)
	}
	return strings.Join(flags, "")
}

// word quotes a word for a shell if it needs quotes.
func word(text string) string {
	if text != "" && !strings.ContainsFunc(text, func(r rune) bool { return !strconv.IsPrint(r) || strings.ContainsRune(" '\"\\$`!*?[](){}<>|&;#~", r) }) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// reportFailures explains the servers that have failed since the last call.
func (s *session) reportFailures(ctx context.Context) {
	for _, name := range s.failedServers(ctx) {
		if why := s.whyFailed(ctx, name); why != "" {
			s.note("About the MCP server %q:\n%s", name, why)
		}
	}
}

// failedServers returns the servers that were started and do not run.
func (s *session) failedServers(ctx context.Context) []string {
	list, err := s.sidecar.ListServers(ctx)
	if err != nil {
		return nil // the caller's own request reports the error
	}
	var names []string
	for _, server := range list.Servers {
		if server.State == protocol.ServerFailed {
			names = append(names, server.Name)
		}
	}
	return names
}

// sourceOf names the place of a server's configuration. The sidecar calls the servers of the command line settings.
func (s *session) sourceOf(source string) string {
	if s.line.alone && source == config.SettingsSource {
		return "the command line"
	}
	return source
}
