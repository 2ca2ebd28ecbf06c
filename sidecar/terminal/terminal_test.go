package terminal_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"assent/sidecar/daemon/workspaces"
	"assent/sidecar/terminal"
)

// serve starts an MCP server over HTTP with one tool, and returns its URL.
func serve(t *testing.T, tool func(context.Context, *mcp.ServerSession) string) string {
	t.Helper()
	over, end := context.WithCancel(context.Background())
	s := mcp.NewServer(&mcp.Implementation{Name: "tested", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "tool", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(over, cancel)()
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: tool(ctx, r.Session)}}}, nil
		})
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
	// The newest version has no requests of a server's own: what asks for it is told that there is none.
	legacy := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if strings.Contains(string(body), `"server/discover"`) {
			http.Error(w, "Method not found", http.StatusNotFound)
			return
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		handler.ServeHTTP(w, r)
	})
	server := httptest.NewServer(legacy)
	t.Cleanup(func() {
		end() // a tool may wait for an answer still, and who left in a hurry did not say so
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

// screen is the text on stderr; await waits for a text.
type screen struct {
	mu      sync.Mutex // guards the fields below
	text    strings.Builder
	changed chan struct{} // closed with the next write
}

func newScreen() *screen { return &screen{changed: make(chan struct{})} }

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.changed)
	s.changed = make(chan struct{})
	return s.text.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func (s *screen) await(t *testing.T, text string) {
	t.Helper()
	late := time.After(2 * time.Minute)
	for {
		s.mu.Lock()
		there, changed := strings.Contains(s.text.String(), text), s.changed
		s.mu.Unlock()
		if there {
			return
		}
		select {
		case <-changed:
		case <-late:
			t.Fatalf("%q is not on the screen:\n%s", text, s)
		}
	}
}

// connector connects with workspaces in this process, which end with the test.
func connector(t *testing.T) func(context.Context, workspaces.Place, bool, io.Writer, func(string)) (net.Conn, error) {
	open := workspaces.New(workspaces.Options{Version: "test", Log: io.Discard})
	var serving sync.WaitGroup
	t.Cleanup(func() {
		serving.Wait()
		open.Close()
	})
	return func(ctx context.Context, place workspaces.Place, _ bool, _ io.Writer, _ func(string)) (net.Conn, error) {
		ours, theirs := net.Pipe()
		serving.Go(func() {
			if err := open.Attach(ctx, place, theirs); err != nil {
				t.Errorf("Attach: %v", err)
			}
			_ = theirs.Close()
		})
		return ours, nil
	}
}

// run runs the program, which reads stdin, and returns how it ended.
func run(t *testing.T, stdin io.Reader, seen *screen, interrupts chan os.Signal, args ...string) func() (code int, stdout string) {
	t.Helper()
	var out strings.Builder
	done := make(chan int, 1)
	go func() {
		done <- terminal.Run(context.Background(), args, terminal.Options{
			Version: "test", Folder: t.TempDir(), Stdin: stdin, Stdout: &out, Stderr: seen, Interrupts: interrupts,
			Connect: connector(t),
		})
	}()
	return func() (int, string) {
		code := <-done
		return code, out.String()
	}
}

func ask(ctx context.Context, s *mcp.ServerSession, message string) string {
	result, err := s.Elicit(ctx, &mcp.ElicitParams{
		Message: message, RequestedSchema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`),
	})
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(result.Action, " ", result.Content["a"])
}

// askTwice asks two questions at once, and returns both answers in the order of the questions.
func askTwice(ctx context.Context, s *mcp.ServerSession) string {
	var answers [2]string
	var wg sync.WaitGroup
	for i := range answers {
		wg.Go(func() { answers[i] = ask(ctx, s, fmt.Sprintf("Question %d", i)) })
	}
	wg.Wait()
	return strings.Join(answers[:], ", ")
}

func TestQuestionsAtOnceAreAskedOneAfterTheOther(t *testing.T) {
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) }) // after the server has ended
	url := serve(t, askTwice)
	in, typed := io.Pipe()
	seen := newScreen()
	end := run(t, in, seen, nil, "call", url, "tool", "--plain")
	for range 2 {
		if _, err := io.WriteString(typed, "x\nyes\n"); err != nil {
			t.Fatal(err)
		}
	}
	if code, out := end(); code != terminal.ExitOK || out != "accept x, accept x\n" {
		t.Errorf("exit %d, %q\n%s", code, out, seen)
	}
}

func TestAnsweringOneDoesNotWaitForAnother(t *testing.T) {
	url := serve(t, func(ctx context.Context, s *mcp.ServerSession) string {
		slow, end := context.WithCancel(ctx)
		var wg sync.WaitGroup
		wg.Go(func() { ask(slow, s, "slow") })
		quick := ask(ctx, s, "quick")
		end() // the other one would wait for an hour
		wg.Wait()
		return quick
	})
	file := filepath.Join(t.TempDir(), "answers.yaml")
	if err := os.WriteFile(file, []byte(`
answers:
  - {match: {message: slow}, decline: true, delay: 1h}
  - {match: {message: quick}, answer: {a: b}}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	seen := newScreen()
	if code, out := run(t, nil, seen, nil, "call", url, "tool", "--answers", file)(); code != terminal.ExitOK || out != "accept b\n" {
		t.Errorf("exit %d, %q\n%s", code, out, seen)
	}
}

func TestConcurrentRefusalsAreCountedOnce(t *testing.T) {
	url := serve(t, func(ctx context.Context, s *mcp.ServerSession) string {
		const open, more = 32, 100
		waiting, end := context.WithCancel(ctx)
		defer end()
		refused := make(chan struct{}, open+more)
		var wg sync.WaitGroup
		for range open + more {
			wg.Go(func() {
				ask(waiting, s, "Question")
				refused <- struct{}{}
			})
		}
		for range more {
			<-refused
		}
		end() // the others would wait for an hour
		wg.Wait()
		return "over"
	})
	file := filepath.Join(t.TempDir(), "answers.yaml")
	if err := os.WriteFile(file, []byte("answers: [{match: {message: Question}, decline: true, delay: 1h, times: 1000}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	seen := newScreen()
	if code, out := run(t, nil, seen, nil, "call", url, "tool", "--answers", file)(); code != terminal.ExitOK || out != "over\n" {
		t.Errorf("exit %d, %q\n%s", code, out, seen)
	}
	const words = "refused without asking you: "
	first := strings.Index(seen.String(), "A question of ")
	last := strings.Index(seen.String(), "100 questions of ")
	if n := strings.Count(seen.String(), words); n != 2 || first == -1 || last < first {
		t.Errorf("the first one and the last count are to be written, and nothing between them; %d are:\n%s", n, seen)
	}
}

func TestAQuestionThatIsOverIsAskedNoMore(t *testing.T) {
	begun := make(chan struct{})
	url := serve(t, func(ctx context.Context, s *mcp.ServerSession) string {
		first, end := context.WithCancel(ctx)
		var wg sync.WaitGroup
		wg.Go(func() { ask(first, s, "The first") })
		<-begun
		end()
		wg.Wait()
		return ask(ctx, s, "The second")
	})
	in, typed := io.Pipe()
	seen := newScreen()
	end := run(t, in, seen, nil, "call", url, "tool", "--plain")
	seen.await(t, "The first")
	seen.await(t, "> ")
	close(begun)
	seen.await(t, "The question is over: ")
	seen.await(t, "The second")
	// The read that the first question began is the second one's.
	if _, err := io.WriteString(typed, "x\nyes\n"); err != nil {
		t.Fatal(err)
	}
	if code, out := end(); code != terminal.ExitOK || out != "accept x\n" {
		t.Errorf("exit %d, %q\n%s", code, out, seen)
	}
}

func TestAnInterruptCancelsTheCall(t *testing.T) {
	over := make(chan struct{})
	url := serve(t, func(ctx context.Context, s *mcp.ServerSession) string {
		ask(ctx, s, "Anything")
		<-over // it does not care that it is cancelled
		return "too late"
	})
	defer close(over)
	in, _ := io.Pipe()
	seen := newScreen()
	interrupts := make(chan os.Signal, 2)
	end := run(t, in, seen, interrupts, "call", url, "tool", "--plain")
	seen.await(t, "> ")
	interrupts <- os.Interrupt
	if code, out := end(); code != terminal.ExitInterrupted || out != "" {
		t.Errorf("exit %d, %q\n%s", code, out, seen)
	}
}

// slow is a connection that delivers nothing from the sidecar after the request for a call, until it is released.
type slow struct {
	net.Conn
	asked    atomic.Bool
	released chan struct{}
}

func (s *slow) Write(p []byte) (int, error) {
	if strings.Contains(string(p), `"call/start"`) {
		s.asked.Store(true)
	}
	return s.Conn.Write(p)
}

func (s *slow) Read(p []byte) (int, error) {
	n, err := s.Conn.Read(p)
	if s.asked.Load() {
		<-s.released
	}
	return n, err
}

// The server may have the call before the sidecar answers that it has started.
func TestAnInterruptBeforeTheCallIsKnownToHaveStarted(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer bool // after the first interrupt
		says   string
	}{
		{"the sidecar answers later", true, "Interrupt again to leave at once."},
		{"the sidecar does not answer", false, "Left without waiting for the server."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			begun, cancelled := make(chan struct{}), make(chan struct{})
			url := serve(t, func(ctx context.Context, _ *mcp.ServerSession) string {
				close(begun)
				<-ctx.Done()
				close(cancelled)
				return ""
			})
			released := make(chan struct{})
			connect := connector(t)
			seen, interrupts := newScreen(), make(chan os.Signal, 2)
			ended := make(chan int, 1)
			go func() {
				ended <- terminal.Run(context.Background(), []string{"call", url, "tool"}, terminal.Options{
					Version: "test", Folder: t.TempDir(), Stdout: io.Discard, Stderr: seen, Interrupts: interrupts,
					Connect: func(ctx context.Context, place workspaces.Place, standalone bool, log io.Writer, say func(string)) (net.Conn, error) {
						conn, err := connect(ctx, place, standalone, log, say)
						return &slow{Conn: conn, released: released}, err
					},
				})
			}()
			<-begun
			interrupts <- os.Interrupt
			seen.await(t, "Cancelling the call. ")
			if tt.answer {
				close(released)
				<-cancelled
			} else {
				interrupts <- os.Interrupt
				seen.await(t, tt.says)
				close(released)
			}
			if code := <-ended; code != terminal.ExitInterrupted || !strings.Contains(seen.String(), tt.says) {
				t.Errorf("exit %d\n%s", code, seen)
			}
		})
	}
}

func TestUntrustedTextIsDrawn(t *testing.T) {
	url := serve(t, func(ctx context.Context, s *mcp.ServerSession) string {
		return ask(ctx, s, "\x1b[2J\x1b]0;owned\a\u202eevil\r")
	})
	seen := newScreen()
	run(t, strings.NewReader(":decline\n"), seen, nil, "call", url, "tool", "--plain")()
	for line := range strings.Lines(seen.String()) {
		if strings.ContainsAny(line, "\x1b\a\r\u202e") {
			t.Errorf("the screen got %q", line)
		}
	}
	if !strings.Contains(seen.String(), "<U+001B>[2J<U+001B>]0;owned<U+0007><U+202E>evil<U+000D>") {
		t.Errorf("the message is not there:\n%s", seen)
	}
}

func TestALineHasAnEnd(t *testing.T) {
	url := serve(t, func(ctx context.Context, s *mcp.ServerSession) string { return ask(ctx, s, "?") })
	seen := newScreen()
	endless := bufio.NewReader(io.LimitReader(zeros{}, 10<<20))
	if code, _ := run(t, endless, seen, nil, "call", url, "tool", "--plain")(); code != terminal.ExitFailed {
		t.Errorf("exit %d\n%s", code, seen)
	}
	if !strings.Contains(seen.String(), "a line of more than 1048576 bytes was typed") {
		t.Errorf("the screen says:\n%s", seen)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

// guarded serves an MCP server without a login, with its authorization server, and returns its URL.
func guarded(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	answer := func(path string, status int, body string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			fmt.Fprint(w, strings.ReplaceAll(body, "BASE", server.URL))
		})
	}
	answer("/.well-known/oauth-protected-resource/mcp", http.StatusOK, `{"resource":"BASE/mcp","authorization_servers":["BASE"]}`)
	answer("/.well-known/oauth-authorization-server", http.StatusOK, `{"issuer":"BASE","authorization_endpoint":"BASE/authorize",
		"token_endpoint":"BASE/token","registration_endpoint":"BASE/register","response_types_supported":["code"],"code_challenge_methods_supported":["S256"]}`)
	answer("/register", http.StatusCreated, `{"client_id":"c1","redirect_uris":["http://127.0.0.1/callback"]}`)
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+server.URL+`/.well-known/oauth-protected-resource/mcp"`)
		w.WriteHeader(http.StatusUnauthorized)
	})
	return server.URL + "/mcp"
}

func TestTheDoctorSaysThatSignInIsRequired(t *testing.T) {
	tests := []struct {
		name  string
		stdin io.Reader
		flags []string
		want  string
	}{
		{"nobody could sign in", nil, nil, "the front end cannot open a browser"},
		{"the person does not", strings.NewReader("no\n"), []string{"--plain"}, "you did not open the page"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			seen := newScreen()
			code, out := run(t, tt.stdin, seen, nil, append([]string{"doctor", guarded(t)}, tt.flags...)...)()
			if code != terminal.ExitFailed {
				t.Errorf("exit %d", code)
			}
			for _, want := range []string{"state         not signed in\n", "configured in the command line\n", "verdict       login: The server requires sign-in: " + tt.want} {
				if !strings.Contains(out, want) {
					t.Errorf("stdout has no %q:\n%s", want, out)
				}
			}
			if strings.Contains(seen.String(), "requires sign-in") || strings.Contains(seen.String(), "is right and the server is up") {
				t.Errorf("stderr is:\n%s", seen)
			}
		})
	}
}
