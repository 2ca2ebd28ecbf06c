package workspace_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"
	"golang.org/x/tools/txtar"

	"assent/sidecar/gateway/agents"
	"assent/sidecar/wire/wiretest"
	"assent/sidecar/workspace"
	"assent/sidecar/workspace/rpc/rpctest"
)

var update = flag.Bool("update", false, "rewrite what the sidecar says in the transcripts")

func TestMain(m *testing.M) {
	flag.Parse()
	if playsTools() {
		os.Exit(serveTools())
	}
	code := wiretest.Main(m)
	// go-sdk announces a cancelled call in a goroutine of its own, which has five seconds.
	if err := goleak.Find(goleak.IgnoreAnyFunction("github.com/modelcontextprotocol/go-sdk/mcp.call.func1")); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// transcripts is where the conversations are that the TypeScript tests replay too.
const transcripts = "../../protocol/testdata"

// clock stands still, so that a conversation is the same at every replay.
var clock = time.Date(2026, time.July, 28, 12, 0, 0, 0, time.UTC)

// TestTranscripts replays each conversation: it says what the front end says, plays the MCP servers,
// and wants from the sidecar what the sections "sidecar" hold. The messages of one section may come
// in any order, for they come from several goroutines; the next section waits for all of them. Each line of a section
// "hook" is what an agent's host tells a hook of its own, and those of "printed" are what the last of them print.
func TestTranscripts(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(transcripts, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		t.Fatal("there are no transcripts")
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			wiretest.Install(t, path)
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			f := newFrontEnd(t)
			for i, section := range archive.Files {
				switch section.Name {
				case "frontend":
					for _, line := range wiretest.Lines(section.Data) {
						f.send(line)
					}
				case "hook":
					for _, line := range wiretest.Lines(section.Data) {
						f.hook(line)
					}
				case "printed":
					for _, line := range wiretest.Lines(section.Data) {
						f.wantPrinted(line)
					}
				case "sidecar":
					if *update {
						archive.Files[i].Data = f.everything()
					} else {
						f.want(wiretest.Lines(section.Data))
					}
				}
			}
			f.close()
			if *update {
				if err := os.WriteFile(path, txtar.Format(archive), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// frontEnd is the other end of a sidecar's wire, raw.
type frontEnd struct {
	t        *testing.T
	sidecar  *workspace.Workspace
	toServer io.WriteCloser
	messages chan string
	served   chan error
	logs     *syncBuffer // of a workspace of its own
	printed  []<-chan string
}

// hook starts a hook of an agent's host.
func (f *frontEnd) hook(frame string) {
	f.t.Helper()
	e, err := agents.Read("claude", []byte(frame))
	if err != nil {
		f.t.Fatal(err)
	}
	hook, conn := net.Pipe()
	served, printed := make(chan struct{}), make(chan string, 1)
	go func() {
		_ = f.sidecar.AttachAgent(context.Background(), conn, "/home/ada/shop", e) // fails if the hook leaves
		close(served)
	}()
	if !e.Asks() {
		<-served
		return
	}
	f.printed = append(f.printed, printed)
	go func() {
		line, err := bufio.NewReader(hook).ReadString('\n')
		if err == nil {
			_, _ = io.WriteString(hook, "printed\n") // what the sidecar then says is in the transcript
		}
		_ = hook.Close()
		<-served // the sidecar knows that it was printed
		printed <- line
	}()
}

// wantPrinted waits for what the oldest hook prints.
func (f *frontEnd) wantPrinted(want string) {
	f.t.Helper()
	if got := <-f.printed[0]; !equal(got, want) {
		f.t.Errorf("the hook printed %s, want %s", got, want)
	}
	f.printed = f.printed[1:]
}

// syncBuffer keeps the log until the test fails.
type syncBuffer struct {
	mu sync.Mutex // guards b
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func newFrontEnd(t *testing.T) *frontEnd {
	t.Helper()
	return newFrontEndOn(t, t.TempDir())
}

// newFrontEndOn is newFrontEnd, of a sidecar with that data directory.
func newFrontEndOn(t *testing.T, dir string) *frontEnd {
	t.Helper()
	var mu sync.Mutex
	ids := 0
	return newFrontEndOf(t, workspace.Options{
		DataDir: dir,
		Now:     func() time.Time { return clock },
		NewID: func() string {
			mu.Lock()
			defer mu.Unlock()
			ids++
			return fmt.Sprintf("id-%d", ids)
		},
	})
}

// newFrontEndOf is newFrontEnd for a sidecar with options of its own.
func newFrontEndOf(t *testing.T, opts workspace.Options) *frontEnd {
	t.Helper()
	w, logs := openWorkspace(t, opts)
	f := attach(t, w, w.Close)
	f.logs = logs
	return f
}

// openWorkspace opens a workspace that logs for the test.
func openWorkspace(t *testing.T, opts workspace.Options) (*workspace.Workspace, *syncBuffer) {
	t.Helper()
	logs := &syncBuffer{}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(logs)
		}
	})
	opts.Version, opts.Log = "test", zerolog.New(logs)
	return workspace.Open(opts), logs
}

// attach attaches a front end to a workspace. Detached is called when it has detached.
func attach(t *testing.T, w *workspace.Workspace, detached func()) *frontEnd {
	t.Helper()
	stdin, toServer := io.Pipe()
	fromServer, stdout := io.Pipe()
	f := &frontEnd{t: t, sidecar: w, toServer: toServer, messages: make(chan string, 1000), served: make(chan error, 1)}
	go func() {
		err := w.Attach(context.Background(), stdin, stdout)
		detached()
		f.served <- err
	}()
	go func() {
		defer close(f.messages)
		for in := bufio.NewReader(fromServer); ; {
			body, err := rpctest.ReadFrame(in)
			if err != nil {
				return
			}
			f.messages <- string(body)
		}
	}()
	return f
}

// send sends one frame.
func (f *frontEnd) send(body string) {
	f.sendRaw(rpctest.Frame(body))
}

func (f *frontEnd) sendRaw(bytes string) {
	f.t.Helper()
	if _, err := io.WriteString(f.toServer, bytes); err != nil {
		f.t.Fatal(err)
	}
}

// close ends the conversation and waits until the sidecar has.
func (f *frontEnd) close() {
	f.t.Helper()
	if err := f.toServer.Close(); err != nil {
		f.t.Error(err)
	}
	if err := <-f.served; err != nil {
		f.t.Errorf("Serve = %v", err)
	}
	for m := range f.messages {
		if !strings.Contains(m, `"method":"`) { // events of the end may still come
			f.t.Errorf("the sidecar still said %s", m)
		}
	}
}

// next returns the sidecar's next message.
func (f *frontEnd) next() string {
	f.t.Helper()
	return f.nextOf(nil)
}

// nextOf is next, where these messages are still missing.
func (f *frontEnd) nextOf(missing []string) string {
	f.t.Helper()
	select {
	case m, ok := <-f.messages:
		if !ok {
			f.t.Fatalf("the sidecar has ended, and did not say\n%s", strings.Join(missing, "\n"))
		}
		return m
	case <-time.After(2 * time.Minute):
		f.t.Fatalf("the sidecar says nothing more, and not\n%s", strings.Join(missing, "\n"))
	}
	return ""
}

// read parses a message of the sidecar.
func (f *frontEnd) read(line string) rpctest.Message {
	f.t.Helper()
	var m rpctest.Message
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		f.t.Fatalf("%s: %v", line, err)
	}
	return m
}

// await returns the answer to a request. Before gets each message that comes first.
func (f *frontEnd) await(id int, before func(line string, m rpctest.Message)) rpctest.Message {
	f.t.Helper()
	for {
		line := f.next()
		m := f.read(line)
		if m.Answers(id) {
			return m
		}
		before(line, m)
	}
}

// everything returns what the sidecar says until it rests.
func (f *frontEnd) everything() []byte {
	var lines strings.Builder
	for {
		select {
		case m, ok := <-f.messages:
			if !ok {
				return []byte(lines.String())
			}
			lines.WriteString(m + "\n")
		case <-time.After(time.Second):
			return []byte(lines.String())
		}
	}
}

// want waits for messages, in any order.
func (f *frontEnd) want(lines []string) {
	f.t.Helper()
	want := joinProgress(f.t, lines)
	var got []string
	for {
		joined := joinProgress(f.t, got)
		missing := difference(want, joined, func(w, j string) bool { return fits(f.t, j, w) })
		if len(missing) == 0 && len(joined) == len(want) {
			return
		}
		extra := difference(joined, want, func(j, w string) bool { return fits(f.t, j, w) })
		if len(extra) > 0 && !slices.ContainsFunc(extra, isProgress) {
			f.t.Fatalf("the sidecar said\n%s\nand not\n%s", strings.Join(extra, "\n"), strings.Join(missing, "\n"))
		}
		got = append(got, f.nextOf(missing))
	}
}

// difference returns the messages of a that are not in b, as same says.
func difference(a, b []string, same func(a, b string) bool) []string {
	rest := slices.Clone(b)
	var out []string
	for _, m := range a {
		i := slices.IndexFunc(rest, func(o string) bool { return same(m, o) })
		if i < 0 {
			out = append(out, m)
			continue
		}
		rest = slices.Delete(rest, i, i+1)
	}
	return out
}

func equal(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

// fits reports whether a message is the expected one. The last pieces of a finished completion may be missing,
// because the end has the whole text.
func fits(t *testing.T, said, wanted string) bool {
	t.Helper()
	if !isProgress(said) || !isProgress(wanted) {
		return equal(said, wanted)
	}
	var s, w joined
	if err := errors.Join(json.Unmarshal([]byte(said), &s), json.Unmarshal([]byte(wanted), &w)); err != nil {
		t.Fatal(err)
	}
	return s.MessageID == w.MessageID && s.Ended == w.Ended && (s.Text == w.Text || s.Ended && strings.HasPrefix(w.Text, s.Text))
}

// joined is what stands for the pieces of a completion.
type joined struct {
	Method    string `json:"method"`
	MessageID int64  `json:"messageId"`
	Text      string `json:"text"`
	// Ended reports whether the model has ended, so that no more pieces can follow.
	Ended bool `json:"ended"`
}

func isProgress(m string) bool { return strings.Contains(m, `"method":"mcpSamplingProgress"`) }

// joinProgress replaces the pieces of a completion by one message with their text: how many pieces a
// text comes in is a matter of time.
func joinProgress(t *testing.T, lines []string) []string {
	t.Helper()
	var out []string
	type piece struct {
		Params struct {
			MessageID int64  `json:"messageId"`
			Sequence  int64  `json:"sequence"`
			Chunk     string `json:"chunk"`
		} `json:"params"`
	}
	type end struct {
		Params struct {
			Event struct {
				Type      string `json:"type"`
				MessageID int64  `json:"messageId"`
				InReview  bool   `json:"inReview"`
			} `json:"event"`
		} `json:"params"`
	}
	pieces, ended := map[int64][]piece{}, map[int64]bool{}
	for _, line := range lines {
		var e end
		if json.Unmarshal([]byte(line), &e) == nil {
			event := e.Params.Event
			ended[event.MessageID] = ended[event.MessageID] || event.Type == "samplingEnded" || event.InReview
		}
		if !isProgress(line) {
			out = append(out, line)
			continue
		}
		var p piece
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			t.Fatal(err)
		}
		pieces[p.Params.MessageID] = append(pieces[p.Params.MessageID], p)
	}
	for id, ps := range pieces {
		slices.SortFunc(ps, func(a, b piece) int { return cmp.Compare(a.Params.Sequence, b.Params.Sequence) })
		var text strings.Builder
		for i, p := range ps {
			if p.Params.Sequence != ps[0].Params.Sequence+int64(i) {
				t.Fatalf("piece %d of message %d has the number %d", i, id, p.Params.Sequence)
			}
			text.WriteString(p.Params.Chunk)
		}
		line, err := json.Marshal(joined{"mcpSamplingProgress", id, text.String(), ended[id]})
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(line))
	}
	return out
}
