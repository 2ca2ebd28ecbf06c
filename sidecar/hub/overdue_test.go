package hub_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"assent/protocol"
	"assent/sidecar/config"
	"assent/sidecar/hub"
	"assent/sidecar/task/tasktest"
)

// pipeListener accepts the other ends of pipes.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (l pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l pipeListener) Close() error { close(l.closed); return nil }

func (l pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }

// converseInMemory is as converse, with a raw server that is reached in a synctest bubble.
func converseInMemory(t *testing.T, s config.Server, serve func(*rawServer), edit ...func(*hub.Options)) *conversation {
	t.Helper()
	l := pipeListener{make(chan net.Conn), make(chan struct{})}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"mcp"}})
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.CloseNow()
		serve(&rawServer{t, context.Background(), conn})
	})}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	way := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		select {
		case l.conns <- theirs:
			return ours, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
	t.Cleanup(func() {
		way.CloseIdleConnections()
		server.Close() //nolint:errcheck // what Serve returns tells
		<-served
	})
	s.Name, s.Source, s.Transport, s.URL = "s", "test", protocol.TransportWS, "ws://memory/mcp"
	return converse(t, s, append(edit, func(o *hub.Options) {
		o.KeepAlive = 10_000 * time.Hour
		o.Authorize = func(config.Server, *url.URL, config.OAuth, http.RoundTripper) http.RoundTripper { return way }
	})...)
}

func TestHousekeepingIsBounded(t *testing.T) {
	for _, tt := range []struct {
		method string
		ask    func(ctx context.Context, c *conversation) error
		want   string
	}{
		{"tools/list", func(ctx context.Context, c *conversation) error { _, err := c.Tools(ctx, "s"); return err }, "the list of tools took longer than 1m0s"},
		{"resources/list", func(ctx context.Context, c *conversation) error { _, err := c.Resources(ctx, "s"); return err }, "the list of resources took longer than 1m0s"},
		{"prompts/list", func(ctx context.Context, c *conversation) error { _, err := c.Prompts(ctx, "s"); return err }, "the list of prompts took longer than 1m0s"},
		{"completion/complete", func(ctx context.Context, c *conversation) error {
			_, err := c.Complete(ctx, &protocol.CompleteParams{ServerName: "s", PromptName: "p", ArgumentName: "a"})
			return err
		}, "the completion took longer than 1m0s"},
		{"tasks/get", func(ctx context.Context, c *conversation) error { _, err := c.GetTask(ctx, "s", "one"); return err }, "tasks/get took longer than 1m0s"},
		{"resources/read", func(ctx context.Context, c *conversation) error {
			return failureOf(c.ReadResource(ctx, c.id, "s", "file:///x", hub.Hooks{}))
		}, "the request took longer than 1m0s"},
		{"prompts/get", func(ctx context.Context, c *conversation) error {
			return failureOf(c.GetPrompt(ctx, c.id, "s", "p", nil, hub.Hooks{}))
		}, "the request took longer than 1m0s"},
	} {
		t.Run(tt.method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cancelled := make(chan string, 1)
				c := converseInMemory(t, config.Server{}, func(s *rawServer) {
					s.shake(`{"tools":{},"resources":{},"prompts":{},"completions":{}}`)
					asked := s.await(tt.method)
					var params struct{ RequestID json.RawMessage }
					if err := json.Unmarshal(s.await("notifications/cancelled").Params, &params); err != nil {
						t.Error(err)
					}
					if string(params.RequestID) != string(asked.ID) {
						t.Errorf("the request %s was cancelled, want %s", params.RequestID, asked.ID)
					}
					cancelled <- tt.method
					s.rest()
				})
				began := time.Now()
				err := tt.ask(t.Context(), c)
				if took := time.Since(began); took != time.Minute {
					t.Errorf("it took %v", took)
				}
				if err == nil || !strings.Contains(err.Error(), tt.want) || termsOfGo.MatchString(err.Error()) {
					t.Errorf("error = %v, want %s", err, tt.want)
				}
				<-cancelled
				if got := c.Servers()[0].State; got != protocol.ServerRunning {
					t.Errorf("the server is %s", got)
				}
			})
		})
	}
}

// Front ends and hosts show the resources beside their templates, so they do not wait for these as long as for others.
func TestTemplatesThatDoNotCome(t *testing.T) {
	for _, tt := range []struct {
		name  string
		await func(*rawServer)
		took  time.Duration
		want  string
	}{
		{"no answer", func(s *rawServer) { s.await("notifications/cancelled"); s.rest() }, 10 * time.Second, "The list of resource templates is missing: the list of resource templates took longer than 10s."},
		{"the end of the server", func(*rawServer) {}, 0, "The list of resource templates is missing: the connection was lost."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := converseInMemory(t, config.Server{}, func(s *rawServer) {
					s.shake(`{"resources":{}}`)
					s.await("resources/templates/list")
					tt.await(s)
				})
				began := time.Now()
				templates, err := c.ResourceTemplates(t.Context(), "s")
				took := time.Since(began)
				problems := strings.Join(c.ListProblems("s", hub.ListTemplates), "\n")
				if len(templates) != 0 || err != nil || took != tt.took || problems != tt.want {
					t.Errorf("after %v: %v, %v, problems: %s", took, templates, err, problems)
				}
			})
		})
	}
}

// failureOf returns why a call has no result.
func failureOf(result protocol.CallResult) error {
	if lost, ok := result.(protocol.CallLost); ok {
		return fmt.Errorf("%s", lost.Reason)
	}
	return fmt.Errorf("%+v", result)
}

func TestTheTimeoutOfToolCalls(t *testing.T) {
	const thinking = 50 * time.Minute // how long the person takes
	seconds := func(n int) *time.Duration { d := time.Duration(n) * time.Second; return &d }
	answer := func(s *rawServer, call rawFrame) { s.write(resultOf(call)) }
	silent := func(*rawServer, rawFrame) {}
	for _, tt := range []struct {
		name string
		// setting is that for all servers, and own that of this one.
		setting time.Duration
		own     *time.Duration
		serve   func(s *rawServer, call rawFrame)
		// took is how long the call takes; late that it ends by its limit, which is then in the reason.
		took time.Duration
		late string
	}{
		{"none by default", 0, nil, func(s *rawServer, call rawFrame) { time.Sleep(100 * time.Hour); answer(s, call) }, 100 * time.Hour, ""},
		{"in time", 30 * time.Second, nil, func(s *rawServer, call rawFrame) { time.Sleep(29 * time.Second); answer(s, call) }, 29 * time.Second, ""},
		{"too late", 30 * time.Second, nil, silent, 30 * time.Second, "30s"},
		{"the server's own", 30 * time.Second, seconds(10), silent, 10 * time.Second, "10s"},
		{"the server has none", 30 * time.Second, seconds(0), func(s *rawServer, call rawFrame) { time.Sleep(time.Hour); answer(s, call) }, time.Hour, ""},
		{"progress", 30 * time.Second, nil, func(s *rawServer, call rawFrame) {
			for i := range 5 {
				time.Sleep(20 * time.Second)
				s.progress(call, i)
			}
			answer(s, call)
		}, 100 * time.Second, ""},
		{"progress, and then nothing", 30 * time.Second, nil, func(s *rawServer, call rawFrame) {
			time.Sleep(20 * time.Second)
			s.progress(call, 1)
		}, 50 * time.Second, "30s"},
		{"a question", 30 * time.Second, nil, func(s *rawServer, call rawFrame) {
			time.Sleep(10 * time.Second)
			s.write(form("q", "day?"))
			s.answer(`"q"`)
			time.Sleep(19 * time.Second)
			answer(s, call)
		}, 29*time.Second + thinking, ""},
		{"a question, and then nothing", 30 * time.Second, nil, func(s *rawServer, call rawFrame) {
			time.Sleep(10 * time.Second)
			s.write(form("q", "day?"))
			s.answer(`"q"`)
		}, 30*time.Second + thinking, "30s"},
		{"a question that is a task", 30 * time.Second, nil, func(s *rawServer, call rawFrame) {
			time.Sleep(10 * time.Second)
			s.write(strings.Replace(form("q", "day?"), `"params":{`, `"params":{"task":{},`, 1))
			var made struct{ Task struct{ TaskID string } }
			if err := json.Unmarshal(s.answer(`"q"`).Result, &made); err != nil {
				t.Error(err)
			}
			s.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":"r","method":"tasks/result","params":{"taskId":%q}}`, made.Task.TaskID))
			s.answer(`"r"`)
			time.Sleep(19 * time.Second)
			answer(s, call)
		}, 29*time.Second + thinking, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := converseInMemory(t, config.Server{Usage: config.Usage{ToolTimeout: tt.own}}, func(s *rawServer) {
					s.shake(`{"tools":{}}`)
					tt.serve(s, s.await("tools/call"))
					if tt.late != "" {
						s.await("notifications/cancelled")
					}
					s.rest()
				})
				c.SetToolTimeout(tt.setting)
				if _, err := c.Start(t.Context(), "s"); err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				end := c.call(t.Context(), nil)
				if strings.Contains(tt.name, "question") {
					ask, _ := tasktest.AwaitAsk(t, c.events)
					time.Sleep(thinking)
					c.answer(t, ask.AskID, "{}")
				}
				result := <-end
				if took := time.Since(began); took != tt.took {
					t.Errorf("it took %v, want %v", took, tt.took)
				}
				if _, ok := result.(protocol.ToolResult); ok != (tt.late == "") {
					t.Fatalf("result = %+v", result)
				}
				if want := `The MCP server "s" gave no answer: the call took longer than ` + tt.late + "."; tt.late != "" && reasonOf(t, result) != want {
					t.Errorf("reason = %s, want %s", reasonOf(t, result), want)
				}
			})
		})
	}
}

// progress tells of a call's progress.
func (s *rawServer) progress(call rawFrame, progress int) {
	var params struct {
		Meta struct{ ProgressToken json.RawMessage } `json:"_meta"`
	}
	if err := json.Unmarshal(call.Params, &params); err != nil {
		s.t.Error(err)
	}
	s.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}`, params.Meta.ProgressToken, progress))
}
