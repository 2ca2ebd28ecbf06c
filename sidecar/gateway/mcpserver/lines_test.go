package mcpserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"assent/sidecar/gateway/mcpserver"
)

// fake is a server with a few methods that show what a session does.
type fake struct {
	mu       sync.Mutex
	notified []string
	session  *mcpserver.Session
	ended    int
	sent     []bool // what Answered said of test/once
	there    []bool // what IsThere said during test/there
}

func (f *fake) Offer(_ context.Context, s *mcpserver.Session) (mcpserver.Offer, error) {
	if s.Client().Name == "hasty" {
		time.Sleep(time.Second) // as a server that starts
		if err := s.Publish("notifications/tools/list_changed", nil, func(mcpserver.Filter) bool { return true }); err != nil {
			return mcpserver.Offer{}, err
		}
	}
	return mcpserver.Offer{
		Info:         json.RawMessage(`{"name":"shop","version":"1"}`),
		Capabilities: json.RawMessage(`{"tools":{"listChanged":true}}`),
		Instructions: json.RawMessage(`"Ask first."`),
	}, nil
}

func (f *fake) Serve(r *mcpserver.Request) func(context.Context) (json.RawMessage, error) {
	f.mu.Lock()
	f.session = r.Session
	f.mu.Unlock()
	switch r.Method {
	case "test/echo":
		return func(context.Context) (json.RawMessage, error) { return r.Params, nil }
	case "test/client":
		return func(context.Context) (json.RawMessage, error) {
			return json.Marshal(map[string]any{"name": r.Client.Name, "revision": r.Client.Revision, "capabilities": r.Client.Capabilities})
		}
	case "test/wait", "tools/call":
		return func(ctx context.Context) (json.RawMessage, error) {
			r.Begin()
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}
	case "test/progress":
		return func(context.Context) (json.RawMessage, error) {
			err := r.Notify("notifications/progress", json.RawMessage("{\n  \"progress\": 1,\n  \"note\": \"a\\nb\"}"))
			return json.RawMessage(`{}`), err
		}
	case "test/ask":
		return func(ctx context.Context) (json.RawMessage, error) {
			answer, err := r.Call("elicitation/create", json.RawMessage(`{"message":"Your name?"}`))
			if err != nil {
				return nil, err
			}
			return answer(ctx)
		}
	case "test/take-back":
		return func(ctx context.Context) (json.RawMessage, error) {
			answer, err := r.Call("elicitation/create", json.RawMessage(`{"message":"Your name?"}`))
			if err != nil {
				return nil, err
			}
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			if _, err := answer(ctx); !errors.Is(err, context.Canceled) {
				return nil, err
			}
			return json.RawMessage(`{}`), nil
		}
	case "test/once":
		return func(context.Context) (json.RawMessage, error) {
			r.Answered = func(sent bool) {
				f.mu.Lock()
				defer f.mu.Unlock()
				f.sent = append(f.sent, sent)
			}
			return json.RawMessage(`{}`), nil
		}
	case "test/there":
		return func(context.Context) (json.RawMessage, error) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.there = append(f.there, r.Session.IsThere())
			return json.RawMessage(`{}`), nil
		}
	case "test/sent":
		return func(context.Context) (json.RawMessage, error) {
			f.mu.Lock()
			defer f.mu.Unlock()
			return json.Marshal(map[string]any{"sent": f.sent})
		}
	case "test/fail":
		return func(context.Context) (json.RawMessage, error) {
			return nil, &mcpserver.Error{Code: -32042, Message: "open the page", Data: json.RawMessage(`{"big":12345678901234567890}`)}
		}
	case "test/error":
		return func(context.Context) (json.RawMessage, error) { return nil, errors.New("the disk is full") }
	case "test/panic":
		return func(context.Context) (json.RawMessage, error) { panic("oh") }
	case "test/publish":
		return func(context.Context) (json.RawMessage, error) {
			err := r.Session.Publish("notifications/tools/list_changed", nil, func(f mcpserver.Filter) bool { return f.ToolsListChanged })
			return json.RawMessage(`{}`), err
		}
	}
	return nil
}

func (f *fake) Listen(_ context.Context, _ *mcpserver.Session, want mcpserver.Filter) mcpserver.Filter {
	return mcpserver.Filter{ToolsListChanged: want.ToolsListChanged}
}

func (f *fake) Notified(_ *mcpserver.Session, method string, _ json.RawMessage) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.notified = append(f.notified, method)
}

func (f *fake) Ended(*mcpserver.Session) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended++
}

// TestConversations replays testdata/*.txt: each line of the host, and each line that it gets for it.
func TestConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no conversations", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) { replay(t, string(text)) })
		})
	}
}

func replay(t *testing.T, text string) {
	host, pipe := net.Pipe()
	served := make(chan error, 1)
	server := &fake{}
	go func() {
		served <- mcpserver.ServeLines(t.Context(), pipe, server, mcpserver.Options{MaxFrame: 1 << 10, Log: zerolog.Nop()})
	}()
	lines := make(chan string, 100)
	go func() {
		defer close(lines)
		scanner := bufio.NewScanner(host)
		for scanner.Scan() {
			lines <- scanner.Text()
		}
	}()
	for line := range strings.SplitSeq(text, "\n") {
		side, frame, _ := strings.Cut(line, " ")
		switch side {
		case "", "#":
		case ">":
			frame = strings.ReplaceAll(frame, "LONG", strings.Repeat("x", 2<<10))
			if _, err := host.Write([]byte(frame + "\n")); err != nil {
				t.Fatal(err)
			}
		case "<":
			if got := <-lines; got != frame {
				t.Errorf("got  %s\nwant %s", got, frame)
			}
		default:
			t.Fatalf("what is %q?", line)
		}
		synctest.Wait()
		if side == ">" {
			continue
		}
	}
	select {
	case extra := <-lines:
		t.Errorf("not awaited: %s", extra)
	default:
	}
	if err := host.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-served; err != nil {
		t.Errorf("ServeLines: %v", err)
	}
	if server.ended != 1 {
		t.Errorf("Ended was called %d times", server.ended)
	}
}

// TestAHostThatDoesNotRead loses its session, and the sender does not wait.
func TestAHostThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, pipe := net.Pipe()
		served := make(chan error, 1)
		server := &fake{}
		go func() {
			served <- mcpserver.ServeLines(t.Context(), pipe, server, mcpserver.Options{Log: zerolog.Nop()})
		}()
		for _, line := range []string{
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`,
			`{"jsonrpc":"2.0","id":2,"method":"test/wait"}`,
		} {
			if _, err := host.Write([]byte(line + "\n")); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		text, _ := json.Marshal(strings.Repeat("x", 1<<20))
		var err error
		for range 100 {
			if err = server.session.Notify("notifications/message", json.RawMessage(`{"data":`+string(text)+`}`)); err != nil {
				break
			}
		}
		if err == nil {
			t.Error("no error after 100 MB that nobody read")
		}
		if err := <-served; err == nil || err.Error() != "the host does not read its messages" {
			t.Errorf("ServeLines: %v", err)
		}
		_ = host.Close()
	})
}

// TestTheEndOfTheContext ends a session with a silent host.
func TestTheEndOfTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, pipe := net.Pipe()
		ctx, cancel := context.WithCancelCause(t.Context())
		stopped := errors.New("stopped")
		cancel(stopped)
		if err := mcpserver.ServeLines(ctx, pipe, &fake{}, mcpserver.Options{Log: zerolog.Nop()}); !errors.Is(err, stopped) {
			t.Errorf("ServeLines: %v", err)
		}
	})
}
