//go:build unix

// The programs are those of Unix.

package hub_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"testing"
	"time"

	"assent/protocol"
	"assent/sidecar/config"

	"github.com/google/go-cmp/cmp"
)

// TestTheVerdictOnRealPrograms has real programs fail.
func TestTheVerdictOnRealPrograms(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
	})
	port := listener.Addr().(*net.TCPAddr).Port
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	stdio := func(command string, args ...string) config.Server {
		return config.Server{Name: "bad", Source: "test", Transport: protocol.TransportStdio, Command: command, Args: args}
	}
	shell := func(text string) config.Server { return stdio("sh", "-c", text) }
	at := func(url string) config.Server {
		return config.Server{Name: "bad", Source: "test", Transport: protocol.TransportHTTP, URL: url}
	}
	in := shell("exit 0")
	in.Cwd = filepath.Join(dir, "no-such")
	input := stdio("sh", "${input:key}")
	input.Inputs = map[string]config.Input{"key": {ID: "key", Type: protocol.PromptString}}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := free.Addr().(*net.TCPAddr).Port
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	whose := ""
	if runtime.GOOS == "linux" {
		whose = fmt.Sprintf(`\(process %d\)`, os.Getpid())
	}
	tests := []struct {
		name       string
		server     config.Server
		kind       protocol.VerdictKind
		text, does string // patterns
	}{
		{"a program that does not exist", stdio("no-such-program"), protocol.VerdictNotFound, `"no-such-program" was not found in any of \d+ folders`, `full path as "command"`},
		{"a path that does not exist", stdio("/no/such/program"), protocol.VerdictNotFound, `There is no program /no/such/program\.`, `Give the path of a program`},
		{"a command line", stdio("sh -c true"), protocol.VerdictNotFound, `was not found`, `is a whole command line, and .*sh is a program: give "sh" as "command" and "-c true"`},
		{"a command of Windows", stdio("sh.exe"), protocol.VerdictNotFound, `was not found`, `extension \.exe is of Windows, and .*sh is here`},
		{"a file that may not be run", stdio(file("plain", "hi", 0o600)), protocol.VerdictNotExecutable, `plain is there and may not be executed\.`, `chmod \+x`},
		{"a script without interpreter", stdio(file("script", "#!/no/such/sh\n", 0o700)), protocol.VerdictNotExecutable, `script is there, and the interpreter that it needs is not`, `first line`},
		{"a file that is no program", stdio(file("noise", "\x7fELF and more", 0o700)), protocol.VerdictNotExecutable, `noise cannot be started: exec format error`, `program for this system`},
		{"a folder that does not exist", in, protocol.VerdictNotFound, `There is no folder .*no-such`, `cwd`},
		{"an input that is not given", input, protocol.VerdictInput, `^Nobody is there\.$`, `give the value`},
		{"a death", shell("echo first >&2; echo oops >&2; exit 3"), protocol.VerdictExited, `ended at once, with the exit code 3: oops\.`, `in a terminal`},
		{"a death for a known reason", shell(`echo "Error: Cannot find module '/x/index.js'" >&2; exit 1`), protocol.VerdictExited, `exit code 1: Error: Cannot find module`, `npm install`},
		{"a death with escapes", shell(`printf '\033[31mred\033[0m\007 \342\200\256x\n' >&2; exit 3`), protocol.VerdictExited, `exit code 3: red x\.$`, ``},
		{"nothing to do", shell("exit 0"), protocol.VerdictExited, `exit code 0, and wrote nothing to stderr`, `it ended without an error`},
		{"help, and gone", shell("echo 'Usage: tool FILE'; exit 2"), protocol.VerdictNoMcp, `a line to stdout that is not MCP, and ended with the exit code 2: Usage: tool FILE`, `stdio mode`},
		{"garbage, and silence", shell("echo Listening on port 3000; while read line; do :; done"), protocol.VerdictNoMcp, `a line to stdout that is not MCP, and did not answer: Listening on port 3000`, `stderr`},
		{"silence", shell("while read line; do :; done"), protocol.VerdictSilent, `did not answer the handshake within 500ms`, `stdio mode`},
		{"refusal", shell(`while read line; do echo '{"jsonrpc":"2.0","id":1000000001,"error":{"code":-32000,"message":"No."}}'; echo '{"jsonrpc":"2.0","id":1000000002,"error":{"code":-32000,"message":"Never."}}'; done`), protocol.VerdictRefused, `refused the handshake: Never\. \(-32000\)`, `an update`},
		{"another revision", shell(`while read line; do echo '{"jsonrpc":"2.0","id":1000000001,"result":{"supportedVersions":["2031-01-01"]}}'; done`), protocol.VerdictVersion, `speaks MCP 2031-01-01 only`, `update`},
		{"a port in use", shell(fmt.Sprintf("echo 'Error: listen EADDRINUSE: address already in use 127.0.0.1:%d' >&2; exit 1", port)), protocol.VerdictPortInUse, fmt.Sprintf(`wants the port %d, on which .*%s listens`, port, whose), `another port`},
		{"nobody at the port", at(fmt.Sprintf("http://127.0.0.1:%d/mcp", nobody)), protocol.VerdictUnreachable, fmt.Sprintf(`No process listens on port %d`, nobody), `not started by Assent`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			wait := time.Minute // the server itself reports the error, even on a busy machine
			switch tt.name {
			case "silence":
				wait = 500 * time.Millisecond
			case "garbage, and silence":
				wait = 2 * time.Second // in which it has to write the garbage
			}
			h := inspectable(t, tt.server, wait)
			if _, err := h.Start(t.Context(), "bad"); err == nil {
				t.Fatal("it started")
			}
			got := inspected(t, h)
			if got.Server.State != protocol.ServerFailed || got.LastFailure == nil || got.LastFailure.At == 0 {
				t.Fatalf("the server is %+v, its last failure %+v", got.Server, got.LastFailure)
			}
			if got.Verdict == nil || got.Verdict.Kind != tt.kind {
				t.Fatalf("the verdict is %+v, want %s, of %+v", got.Verdict, tt.kind, got.LastFailure)
			}
			if !regexp.MustCompile(tt.text).MatchString(got.Verdict.Text) {
				t.Errorf("it says %q, want %s", got.Verdict.Text, tt.text)
			}
			if !regexp.MustCompile(`(?i)` + tt.does).MatchString(got.Verdict.WayOut) {
				t.Errorf("the way out is %q, want %s", got.Verdict.WayOut, tt.does)
			}
		})
	}
}

func TestAStoppedServerIsInspectedWithoutAStart(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "started")
	s := config.Server{
		Name: "s", Source: "settings", Folder: t.TempDir(), Transport: protocol.TransportStdio, Command: "sh",
		Args:         []string{"-c", "touch " + mark, "${workspaceFolder}", "${input:key}", "--token=${env:TOKEN}"},
		Env:          map[string]*string{"B": new("${input:key}"), "A": new("1"), "GONE": nil},
		SourceRights: config.SourceRights{Inputs: map[string]config.Input{"key": {ID: "key"}}},
	}
	got := inspected(t, inspectable(t, s, time.Minute))
	if got.Server.State != protocol.ServerStopped || got.Verdict != nil || got.LastFailure != nil {
		t.Errorf("it is %+v, %+v, %+v", got.Server, got.Verdict, got.LastFailure)
	}
	want := &protocol.ServerLaunch{
		Path: got.Launch.Path, FoundBy: protocol.FoundInPATH, Cwd: s.Folder, EnvNames: []string{"A", "B"},
		Args: []string{"-c", "touch " + mark, s.Folder, "${input:key}", "--token=${env:TOKEN}"},
	}
	if diff := cmp.Diff(want, got.Launch); diff != "" || !filepath.IsAbs(got.Launch.Path) {
		t.Errorf("how it would be started (-want +got):\n%s", diff)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("it was started")
	}
	remote := config.Server{
		Name: "r", Source: "settings", Transport: protocol.TransportHTTP, URL: "https://me:secret@example.com/mcp?key=secret",
		Headers: map[string]string{"X-Key": "secret"},
	}
	endpoint := &protocol.ServerEndpoint{URL: "https://…@example.com/mcp?…", HeaderNames: []string{"X-Key"}}
	if diff := cmp.Diff(endpoint, inspected(t, inspectable(t, remote, time.Minute)).Endpoint); diff != "" {
		t.Errorf("where it is (-want +got):\n%s", diff)
	}
}
