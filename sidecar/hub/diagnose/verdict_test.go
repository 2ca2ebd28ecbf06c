package diagnose

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/config"
	"assent/sidecar/wire"
	"assent/sidecar/wire/auth"
)

func TestVerdict(t *testing.T) {
	one, failed := int64(1), protocol.Server{State: protocol.ServerFailed}
	found := config.Launch{Shown: protocol.ServerLaunch{Path: "/bin/x"}}
	remote := config.Server{Transport: protocol.TransportHTTP, URL: "http://localhost:3000/mcp"}
	exited := func(line string) *Failure {
		return &Failure{Err: errors.New("it ended with exit status 1"), ExitCode: &one, Stderr: []string{line, " "}}
	}
	taken := []protocol.PortUse{{Port: 3000, Listening: true, By: []protocol.ServerProcess{{PID: 7, Name: "node"}}}}
	tests := []struct {
		name       string
		of         situation
		kind       protocol.VerdictKind // "" if there is none
		text, does string
	}{
		{name: "nothing was tried", of: situation{server: protocol.Server{State: protocol.ServerStopped}, launch: found}},
		{name: "it runs", of: situation{server: protocol.Server{State: protocol.ServerRunning}, failure: exited("x")}},
		{name: "it is being started again", of: situation{server: protocol.Server{State: protocol.ServerStarting}, failure: exited("x")}},
		{
			name: "it would not start", of: situation{server: protocol.Server{State: protocol.ServerStopped}, launch: config.Launch{Err: &config.FolderError{Path: "/no"}}},
			kind: protocol.VerdictNotFound, text: "There is no folder /no to start in.", does: `Make it, or correct "cwd".`,
		},
		{
			name: "what was missing is there now", of: situation{server: failed, launch: found, failure: &Failure{Err: &config.NotFoundError{Command: "x"}}},
			kind: protocol.VerdictMended, text: "The cause of the last failure is gone: the program is /bin/x.", does: "Start it again.",
		},
		{
			name: "a port that somebody has", of: situation{server: failed, launch: found, ports: taken, failure: exited("listen tcp :3000: bind: address already in use")},
			kind: protocol.VerdictPortInUse, text: "It wants the port 3000, on which node (process 7) listens.", does: "End the process 7, or give the server another port.",
		},
		{
			name: "a port that somebody had", of: situation{server: failed, launch: found, failure: exited("Port 3000 is in use")},
			kind: protocol.VerdictPortInUse, text: "It wanted a port that was in use: Port 3000 is in use.", does: "Start it again: no visible process listens there now.",
		},
		{
			name: "an orphan", of: situation{server: failed, launch: found, failure: exited("locked"), orphans: []protocol.ServerProcess{{PID: 9}}},
			kind: protocol.VerdictExited, text: "It ended at once, with the exit code 1: locked.",
			does: "See the last lines of its log, and run the command in a terminal. Or it is the process 9 of the same command, which an earlier start left behind: end it, if it is in the way.",
		},
		{
			name: "Node.js, whose last line is its version", of: situation{server: failed, launch: found, failure: &Failure{
				ExitCode: &one, Err: errors.New("it ended with exit status 1"),
				Stderr: []string{"  throw err;", "  ^", "", "Error: Cannot find module './nope'", "Require stack:", "    at x (y:1:1) {", "}", "", "Node.js v24.21.0"},
			}},
			kind: protocol.VerdictExited, text: "It ended at once, with the exit code 1: Error: Cannot find module './nope'.",
			does: "Build the server or install its packages (npm install), or correct the path of its file.",
		},
		{
			name: "no such package", of: situation{server: failed, launch: found, failure: exited("npm error 404 Not Found - GET x")},
			kind: protocol.VerdictExited, text: "It ended at once, with the exit code 1: npm error 404 Not Found - GET x.", does: "Correct the package's name: there is none of this name.",
		},
		{
			name: "a key that is not given", of: situation{server: failed, launch: found, failure: exited("Error: GITHUB_TOKEN environment variable is not set")},
			kind: protocol.VerdictExited, text: "It ended at once, with the exit code 1: Error: GITHUB_TOKEN environment variable is not set.", does: `Set the variables that it needs in "env".`,
		},
		{
			name: "a person who does not log in", of: situation{server: failed, config: remote, failure: &Failure{Err: fmt.Errorf("x: %w", &auth.RefusedError{ServerName: "s", Reason: "you declined on the page"})}},
			kind: protocol.VerdictLogin, text: "The server requires sign-in: you declined on the page.", does: "Start it again, and sign in in the browser.",
		},
		{
			name: "nobody to log in", of: situation{server: failed, config: remote, failure: &Failure{Err: fmt.Errorf("x: %w", &auth.LoginError{ServerName: "s", Reason: "the front end cannot open a browser"})}},
			kind: protocol.VerdictLogin, text: "The server requires sign-in: the front end cannot open a browser.", does: `Start it again to sign in, or give it a token in its "headers".`,
		},
		{
			name: "a token that is not enough", of: situation{server: failed, config: remote, failure: &Failure{Err: &wire.StatusError{Code: 403}}},
			kind: protocol.VerdictLogin, text: "It answered with HTTP 403 Forbidden.", does: `Sign in with an account that may use it, or give the server another token in its "headers".`,
		},
		{
			name: "a token that is missing", of: situation{server: failed, config: remote, failure: &Failure{Err: &wire.StatusError{Code: 401}}},
			kind: protocol.VerdictLogin, text: "The server requires sign-in: it answered with HTTP 401 Unauthorized.", does: `Sign in, or give the server a token in its "headers".`,
		},
		{
			name: "another program at the port", of: situation{server: failed, config: remote, ports: taken, failure: &Failure{Err: &wire.StatusError{Code: 404}}},
			kind: protocol.VerdictUnreachable, text: "It answered with HTTP 404 Not Found (on the port 3000 of this machine listens node, process 7).",
			does: `See that "url" has the path of the MCP endpoint, which often is /mcp or /sse.`,
		},
		{
			name: "nobody at another machine", of: situation{server: failed, config: config.Server{Transport: protocol.TransportHTTP, URL: "http://tools.example/mcp"}, failure: &Failure{Err: fmt.Errorf("dial: %w", connectionRefused)}},
			kind: protocol.VerdictUnreachable, text: Sentence("dial: " + connectionRefused.Error()), does: `See that "url" is right and the server is up.`,
		},
		{
			name: "nobody at a port of this machine, of which the system says nothing", of: situation{server: failed, config: remote, failure: &Failure{Err: fmt.Errorf("dial: %w", connectionRefused)}},
			kind: protocol.VerdictUnreachable, text: "No process listens on port 3000 of this machine.", does: `Start the server, which is not started by Assent, or correct "url".`,
		},
		{
			name: "another protocol at another machine", of: situation{server: failed, config: remote, failure: &Failure{Err: wire.TimeoutError{After: time.Minute}, Stray: []string{"hello"}}},
			kind: protocol.VerdictNoMcp, text: "It sent a message that is not MCP, and did not answer: hello.", does: `See that "url" is the endpoint of an MCP server.`,
		},
		{
			name: "silence of another machine", of: situation{server: failed, config: remote, failure: &Failure{Err: wire.TimeoutError{After: time.Minute}}},
			kind: protocol.VerdictSilent, text: "It did not answer the handshake within 1m0s.", does: `See that "url" is the endpoint of an MCP server, and that its transport is the configured one.`,
		},
		{
			name: "a lost connection", of: situation{server: failed, config: remote, failure: &Failure{Err: errors.New("the connection was lost"), Established: true}},
			kind: protocol.VerdictLost, text: "The connection was lost.", does: "Start it again; if it fails again, see its log.",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var want *protocol.ServerVerdict
			if tt.kind != "" {
				want = &protocol.ServerVerdict{Kind: tt.kind, Text: tt.text, WayOut: tt.does}
			}
			if diff := cmp.Diff(want, verdictOf(tt.of)); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPortsThatAreNamed(t *testing.T) {
	port := "4007"
	tests := []struct {
		name    string
		config  config.Server
		failure *Failure
		want    []int
	}{
		{"a URL of this machine", config.Server{URL: "http://127.0.0.1:3000/mcp"}, nil, []int{3000}},
		{"a URL without a port", config.Server{URL: "https://localhost/mcp"}, nil, []int{443}},
		{"a URL elsewhere", config.Server{URL: "https://example.com:3000/mcp"}, nil, nil},
		{"arguments", config.Server{Args: []string{"--port", "4001", "--port=4002", "-p", "none", "4003"}}, nil, []int{4001, 4002}},
		{"the environment", config.Server{Env: map[string]*string{"PORT": &port}}, nil, []int{4007}},
		{"Node's words", config.Server{}, &Failure{Stderr: []string{"Error: listen EADDRINUSE: address already in use :::3001"}}, []int{3001}},
		{"Go's", config.Server{}, &Failure{Stderr: []string{"2026/11/21 10:11:12 listen tcp 127.0.0.1:3002: bind: address already in use"}}, []int{3002}},
		{"Python's", config.Server{}, &Failure{Stderr: []string{"error while attempting to bind on address ('127.0.0.1', 8000): address already in use"}}, []int{8000}},
		{"a complaint of something else", config.Server{}, &Failure{Stderr: []string{"cannot reach localhost:3003"}}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, portsOf(tt.config, tt.failure)); diff != "" {
				t.Errorf("ports (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheTailIsBounded(t *testing.T) {
	var tail LogTail
	for i := range tailLines + 5 {
		tail.Add(protocol.LogStderr, "", fmt.Sprint(i))
	}
	lines, dropped := tail.last()
	if len(lines) != tailLines || dropped != 5 || lines[0].Text != "5" || lines[tailLines-1].Text != fmt.Sprint(tailLines+4) {
		t.Errorf("%d lines from %q on, %d dropped", len(lines), lines[0].Text, dropped)
	}
	tail.Add(protocol.LogStdout, "", strings.Repeat("ä", 10*MaxLine))
	tail.AddMessage("info", "db\x1b[2J", json.RawMessage(`"a\nb\u202ec\u001b]0;title\u0007\u0000"`))
	lines, _ = tail.last()
	if n := len(lines[tailLines-2].Text); n > MaxLine+len("…") {
		t.Errorf("a line has %d bytes", n)
	}
	if got := lines[tailLines-1].Text; got != "db: a bc" {
		t.Errorf("a message is shown as %q", got)
	}
}
