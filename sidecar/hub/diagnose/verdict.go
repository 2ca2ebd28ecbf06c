package diagnose

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"assent/protocol"
	"assent/sidecar/base/lazyregexp"
	"assent/sidecar/base/reason"
	"assent/sidecar/config"
	"assent/sidecar/config/confirm"
	"assent/sidecar/config/orgpolicy"
	"assent/sidecar/wire"
	"assent/sidecar/wire/auth"
)

// situation is all that speaks for or against a server's start.
type situation struct {
	config config.Server
	server protocol.Server
	// launch is how the process would start; empty for a server at a URL.
	launch  config.Launch
	failure *Failure // nil before the first
	ports   []protocol.PortUse
	orphans []protocol.ServerProcess
}

// verdictOf returns why a server does not start, or nil if no reason is known. It depends on the situation alone.
func verdictOf(s situation) *protocol.ServerVerdict {
	var unconfirmed *confirm.NotConfirmed
	switch {
	case s.server.State == protocol.ServerRunning:
		return nil
	case s.server.State == protocol.ServerFailed && s.failure != nil && errors.As(s.failure.Err, &unconfirmed):
		return verdict(protocol.VerdictUnconfirmed, "start it: you see what would run, and decide", "%v", unconfirmed)
	case s.launch.Err != nil: // the present error counts, not an earlier one
		return launchVerdict(s.launch.Err, s.launch.Shown.NearMisses)
	case s.server.State != protocol.ServerFailed || s.failure == nil:
		return nil
	}
	v := failureVerdict(s)
	if n := len(s.orphans); n > 0 && v.Kind != protocol.VerdictMended {
		v.WayOut += fmt.Sprintf(" Or it is the process %d of the same command, which an earlier start left behind: end it, if it is in the way.", s.orphans[0].PID)
	}
	return v
}

func verdict(kind protocol.VerdictKind, wayOut, format string, args ...any) *protocol.ServerVerdict {
	for i, arg := range args {
		if err, ok := arg.(error); ok {
			args[i] = reason.Of(err)
		}
	}
	return &protocol.ServerVerdict{Kind: kind, Text: Sentence(fmt.Sprintf(format, args...)), WayOut: Sentence(wayOut)}
}

// Sentence returns a text that begins with a capital and ends with a full stop.
func Sentence(text string) string {
	text = plain(strings.TrimSpace(text))
	if text == "" {
		return text
	}
	if text[0] >= 'a' && text[0] <= 'z' {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	if !strings.ContainsAny(text[len(text)-1:], ".!?:") {
		text += "."
	}
	return text
}

// launchVerdict is of what the configuration says, and this machine has not.
func launchVerdict(err error, nearMisses []string) *protocol.ServerVerdict {
	var missing *config.NotFoundError
	var file *config.NotExecutableError
	var folder *config.FolderError
	var input *config.InputError
	var blocked *orgpolicy.Blocked
	switch {
	case errors.As(err, &blocked):
		return blockedVerdict(blocked)
	case errors.As(err, &missing):
		wayOut := missing.WayOut + "."
		if len(nearMisses) > 0 {
			wayOut = nearMisses[0] + " Or: " + wayOut
		}
		if len(missing.Searched) == 0 {
			return verdict(protocol.VerdictNotFound, wayOut, "there is no program %s", missing.Command)
		}
		return verdict(protocol.VerdictNotFound, wayOut, "the program %q was not found in any of %d folders", missing.Command, len(missing.Searched))
	case errors.As(err, &file):
		return verdict(protocol.VerdictNotExecutable, `allow it with chmod +x, or name its interpreter as "command" and the file in "args"`,
			"%s is there and may not be executed", file.Path)
	case errors.As(err, &folder):
		return verdict(protocol.VerdictNotFound, `make it, or correct "cwd"`, "%v", err)
	case errors.As(err, &input):
		return inputVerdict(input)
	default:
		return verdict(protocol.VerdictOther, "correct the server's configuration", "%v", err)
	}
}

func inputVerdict(err *config.InputError) *protocol.ServerVerdict {
	return verdict(protocol.VerdictInput, "start the server again, and give the value when you are asked for it", "%v", err)
}

// blockedVerdict is of a server that was not started, or not reached, because of what only the start knows.
func blockedVerdict(err *orgpolicy.Blocked) *protocol.ServerVerdict {
	return verdict(protocol.VerdictOther, "ask who administers this machine", "%v", err)
}

// failureVerdict is of how the last connection failed.
func failureVerdict(s situation) *protocol.ServerVerdict {
	f := s.failure
	var input *config.InputError
	var refused *auth.RefusedError
	var login *auth.LoginError
	var status *wire.StatusError
	var slow wire.TimeoutError
	var unread *wire.UnreadableError
	var blocked *orgpolicy.Blocked
	switch err := f.Err; {
	case errors.As(err, &blocked):
		return blockedVerdict(blocked)
	case errors.As(err, &input):
		return inputVerdict(input)
	case isLaunch(err): // and it would work now
		return verdict(protocol.VerdictMended, "start it again", "the cause of the last failure is gone: the program is %s", s.launch.Shown.Path)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOEXEC):
		return verdict(protocol.VerdictNotExecutable, `see that it is a program for this system and may be executed, or name its interpreter as "command" and the file in "args"`, "%v", err)
	case errors.Is(err, fs.ErrNotExist) && s.launch.Shown.Path != "":
		return verdict(protocol.VerdictNotExecutable, "see the first line of the file, or install the libraries that it needs",
			"%s is there, and the interpreter that it needs is not", s.launch.Shown.Path)
	case f.complaint() != "":
		return s.portVerdict()
	case errors.As(err, &refused):
		return signIn("start it again, and sign in in the browser", refused.Reason)
	case errors.As(err, &login):
		return signIn(`start it again to sign in, or give it a token in its "headers"`, login.Reason)
	case errors.As(err, &status) && status.Code == http.StatusUnauthorized:
		return signIn(`sign in, or give the server a token in its "headers"`, err.Error())
	case errors.As(err, &status) && status.Code == http.StatusForbidden:
		return verdict(protocol.VerdictLogin, `sign in with an account that may use it, or give the server another token in its "headers"`, "%v", err)
	case errors.As(err, &status) && (status.Code == http.StatusNotFound || status.Code == http.StatusMethodNotAllowed):
		return verdict(protocol.VerdictUnreachable, `see that "url" has the path of the MCP endpoint, which often is /mcp or /sse`, "%v%s", err, s.listener())
	case errors.As(err, &status):
		return verdict(protocol.VerdictUnreachable, "see what the server itself logs", "%v%s", err, s.listener())
	case errors.Is(err, wire.ErrVersion):
		return verdict(protocol.VerdictVersion, "update the server, or Assent", "%v", err)
	case errors.Is(err, wire.ErrRefused):
		return verdict(protocol.VerdictRefused, "see what the server logs, and whether there is an update of it", "%v", err)
	case errors.As(err, &unread):
		return verdict(protocol.VerdictNoMcp, "see that it is an MCP server, or report this to who makes it", "%v", err)
	case errors.As(err, &slow) && len(f.Stray) > 0:
		return s.noMcp("did not answer")
	case errors.As(err, &slow) && s.remote():
		return verdict(protocol.VerdictSilent, `see that "url" is the endpoint of an MCP server, and that its transport is the configured one`, "%v", err)
	case errors.As(err, &slow):
		return verdict(protocol.VerdictSilent, "see that it is an MCP server and is started in its stdio mode; a first start that downloads something may do better the second time", "%v", err)
	case f.ExitCode != nil && f.Established:
		return verdict(protocol.VerdictLost, "start it again; if it fails again, see its log", "it was running, and ended with the exit code %d%s", *f.ExitCode, quoted(f.Stderr))
	case f.ExitCode != nil && len(f.Stderr) == 0 && len(f.Stray) > 0:
		return s.noMcp(fmt.Sprintf("ended with the exit code %d", *f.ExitCode))
	case f.ExitCode != nil:
		return verdict(protocol.VerdictExited, exitHint(f), "it ended at once, with the exit code %d%s", *f.ExitCode, quoted(f.Stderr))
	case errors.Is(err, connectionRefused):
		return s.refusedVerdict()
	case f.Established:
		return verdict(protocol.VerdictLost, "start it again; if it fails again, see its log", "%v", err)
	case s.remote():
		return verdict(protocol.VerdictUnreachable, `see that "url" is right and the server is up`, "%v", err)
	default:
		return verdict(protocol.VerdictOther, "see its log", "%v%s", err, quoted(f.Stderr))
	}
}

// signIn is the verdict on a server that requires sign-in. Such a server is not broken.
func signIn(wayOut, why string) *protocol.ServerVerdict {
	return verdict(protocol.VerdictLogin, wayOut, "the server requires sign-in: %s", why)
}

// isLaunch reports whether a start failed for a reason that a look at the machine shows as well.
func isLaunch(err error) bool {
	return errors.As(err, new(*config.NotFoundError)) || errors.As(err, new(*config.NotExecutableError)) || errors.As(err, new(*config.FolderError))
}

// remote reports whether the server is not a process that Assent starts.
func (s situation) remote() bool { return s.config.Transport != protocol.TransportStdio }

// noMcp is the verdict on a server that sent something else than MCP.
func (s situation) noMcp(then string) *protocol.ServerVerdict {
	if s.remote() {
		return verdict(protocol.VerdictNoMcp, `see that "url" is the endpoint of an MCP server`,
			"it sent a message that is not MCP, and %s: %s", then, s.failure.Stray[0])
	}
	return verdict(protocol.VerdictNoMcp, `see that it is an MCP server, and that "args" start its stdio mode; its log belongs on stderr`,
		"it wrote a line to stdout that is not MCP, and %s: %s", then, s.failure.Stray[0])
}

// complaint returns the line of stderr about a port that is in use, or an empty text.
func (f *Failure) complaint() string {
	i := slices.IndexFunc(f.Stderr, inUse().MatchString)
	if i < 0 {
		return ""
	}
	return Clip(strings.TrimSpace(f.Stderr[i]), maxQuoted)
}

// portVerdict is the verdict on a port in use. It names the process that listens on it, if that is known.
func (s situation) portVerdict() *protocol.ServerVerdict {
	for _, use := range s.ports {
		if !use.Listening {
			continue
		}
		who, wayOut := "another process", fmt.Sprintf("end who listens on the port %d, or give the server another port", use.Port)
		if len(use.By) > 0 {
			who = fmt.Sprintf("%s (process %d)", use.By[0].Name, use.By[0].PID)
			wayOut = fmt.Sprintf("end the process %d, or give the server another port", use.By[0].PID)
		}
		return verdict(protocol.VerdictPortInUse, wayOut, "it wants the port %d, on which %s listens", use.Port, who)
	}
	return verdict(protocol.VerdictPortInUse, "start it again: no visible process listens there now", "it wanted a port that was in use: %s", s.failure.complaint())
}

// refusedVerdict is the verdict on a refused connection.
func (s situation) refusedVerdict() *protocol.ServerVerdict {
	port := loopbackPort(s.config)
	// One that listens by now has come since.
	came := slices.ContainsFunc(s.ports, func(use protocol.PortUse) bool { return use.Listening })
	if port != "" && !came {
		return verdict(protocol.VerdictUnreachable, `start the server, which is not started by Assent, or correct "url"`, "no process listens on port %s of this machine", port)
	}
	return verdict(protocol.VerdictUnreachable, `see that "url" is right and the server is up`, "%v", s.failure.Err)
}

// listener says who answered at a port of this machine.
func (s situation) listener() string {
	for _, use := range s.ports {
		if len(use.By) > 0 {
			return fmt.Sprintf(" (on the port %d of this machine listens %s, process %d)", use.Port, use.By[0].Name, use.By[0].PID)
		}
	}
	return ""
}

// quoted returns the line of stderr that explains a failure, as the end of a sentence.
func quoted(stderr []string) string {
	if line := errorLine(stderr); line != "" {
		return ": " + Clip(line, maxQuoted)
	}
	return ", and wrote nothing to stderr"
}

// hints are what to do about what programs often write before they leave.
var hints = []struct {
	says func() *regexp.Regexp
	do   string
}{
	{lazyregexp.New(`Cannot find (?:module|package)|ERR_MODULE_NOT_FOUND`), "build the server or install its packages (npm install), or correct the path of its file"},
	{lazyregexp.New(`ModuleNotFoundError|No module named`), "install the server's packages in the Python that starts it"},
	{lazyregexp.New(`npm (?:ERR!|error) (?:code )?E?404|404 Not Found - GET`), "correct the package's name: there is none of this name"},
	{lazyregexp.New(`ENOTFOUND|EAI_AGAIN|getaddrinfo|Temporary failure in name resolution`), "see that this machine reaches the network: a first start downloads the server"},
	{lazyregexp.New(`can't open file|No such file or directory|ENOENT`), `correct the path in "args"; a relative one begins at "cwd"`},
	{lazyregexp.New(`(?i)command not found`), "install the program that it names, or put its folder into PATH of the server's \"env\""},
	{lazyregexp.New(`Cannot connect to the Docker daemon|docker daemon is not running`), "start Docker"},
	{lazyregexp.New(`(?i)usage:|unknown (?:option|argument|flag)|unrecognized (?:option|argument)`), `correct "args": the program does not take them`},
	{lazyregexp.New(`(?i)(?:api.?key|token|credential|environment variable)s?\b.*(?:required|missing|not set|must be)|missing.*(?:api.?key|token|environment)`), `set the variables that it needs in "env"`},
}

// exitHint says what to do about a program that left.
func exitHint(f *Failure) string {
	all := strings.Join(f.Stderr, "\n")
	for _, h := range hints {
		if h.says().MatchString(all) {
			return h.do
		}
	}
	switch *f.ExitCode {
	case 0:
		return `check that "args" start a server that keeps running: it ended without an error`
	case 126, 127:
		return "see the script that it starts: a program that it calls is not there, or cannot be run"
	default:
		return "see the last lines of its log, and run the command in a terminal"
	}
}
