package hub_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/config"
	"assent/sidecar/wire/wiretest"
)

// rpc is a message of the client's.
type rpc struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
}

// result writes a JSON answer.
func result(w http.ResponseWriter, id json.RawMessage, result string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

const initialized = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`

// legacy serves the requests before the first call and after the last: it refuses the probe, completes the
// handshake with the id that session returns, and ends the session. All other requests go to serve.
func legacy(session func() string, serve func(w http.ResponseWriter, r *http.Request, m rpc)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var m rpc
		if r.Method == http.MethodPost {
			if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
		}
		switch {
		case r.Method == http.MethodGet:
			http.Error(w, "no stream", http.StatusNotFound)
		case r.Method == http.MethodDelete:
		case m.Method == "server/discover":
			http.Error(w, "Bad Request: no session", http.StatusBadRequest)
		case m.Method == "initialize":
			if id := session(); id != "" {
				w.Header().Set("Mcp-Session-Id", id)
			}
			result(w, m.ID, initialized)
		case m.Method == "notifications/initialized":
			w.WriteHeader(http.StatusAccepted)
		default:
			serve(w, r, m)
		}
	}
}

func noSession() string { return "" }

// overHTTP returns a hub on one HTTP server.
func overHTTP(t *testing.T, handler http.Handler) *fixture {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return newFixtureWith(t, config.Server{Name: "s", Source: "test", Transport: protocol.TransportHTTP, URL: s.URL + "/mcp", Headers: map[string]string{"X-Key": "k"}})
}

const thanks = `{"content":[{"type":"text","text":"done"}]}`

func TestALostSessionIsOpenedAgainAndTheCallRepeated(t *testing.T) {
	var sessions atomic.Int32
	var mu sync.Mutex
	var seen []string
	f := overHTTP(t, legacy(func() string { return fmt.Sprint("session-", sessions.Add(1)) }, func(w http.ResponseWriter, r *http.Request, m rpc) {
		mu.Lock()
		seen = append(seen, strings.TrimSpace(r.Header.Get("Mcp-Session-Id")+" "+m.Method+" "+r.Header.Get("Mcp-Protocol-Version")+" "+r.Header.Get("X-Key")))
		mu.Unlock()
		if r.Header.Get("Mcp-Session-Id") == "session-1" {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}`)
			return
		}
		result(w, m.ID, thanks)
	}))
	if diff := cmp.Diff(protocol.CallResult(done), <-f.call(t.Context(), "t1", "s", "tool")); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	mu.Lock()
	defer mu.Unlock()
	if diff := cmp.Diff([]string{"session-1 tools/call 2025-06-18 k", "session-2 tools/call 2025-06-18 k"}, seen); diff != "" {
		t.Errorf("the server saw (-want +got):\n%s", diff)
	}
}

// A session that is lost with the answer to a call ends slowly, because the server is silent on the DELETE. The next call waits for
// the end, and for the next session.
func TestTheCallAfterALostSessionIsOneOfTheNext(t *testing.T) {
	var sessions, calls atomic.Int32
	serve := legacy(func() string { return fmt.Sprint("session-", sessions.Add(1)) }, func(w http.ResponseWriter, r *http.Request, m rpc) {
		if m.Method == "tools/call" && calls.Add(1) > 1 && r.Header.Get("Mcp-Session-Id") == "session-1" || m.Method == "ping" {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32600,"message":"Invalid session ID"}}`, m.ID)
			return
		}
		result(w, m.ID, thanks)
	})
	f := overHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			<-r.Context().Done()
			return
		}
		serve(w, r)
	}))
	for _, want := range []protocol.CallResult{done, protocol.CallError{Code: -32600, Message: "Invalid session ID"}, done} {
		if diff := cmp.Diff(want, <-f.call(t.Context(), "t1", "s", "tool")); diff != "" {
			t.Errorf("result (-want +got):\n%s", diff)
		}
	}
	if calls.Load() != 3 || sessions.Load() != 2 {
		t.Errorf("%d calls in %d sessions, want 3 in 2", calls.Load(), sessions.Load())
	}
}

// A server that is not available does not say when to come back. A tool that only reads is called again.
func TestAToolThatOnlyReadsIsCalledAgain(t *testing.T) {
	for _, tt := range []struct {
		name, annotations string
		calls             int32
		want              protocol.CallResult
	}{
		{"it only reads", `{"readOnlyHint":true}`, 2, done},
		{"it may change something", `{}`, 1, protocol.CallLost{Reason: `The MCP server "s" gave no answer: it answered with HTTP 503 Service Unavailable: busy.`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var calls atomic.Int32
			f := overHTTP(t, legacy(noSession, func(w http.ResponseWriter, _ *http.Request, m rpc) {
				switch {
				case m.Method == "tools/list":
					result(w, m.ID, `{"tools":[{"name":"tool","inputSchema":{"type":"object"},"annotations":`+tt.annotations+`}]}`)
				case calls.Add(1) == 1:
					http.Error(w, "busy", http.StatusServiceUnavailable)
				default:
					result(w, m.ID, thanks)
				}
			}))
			if diff := cmp.Diff(tt.want, <-f.call(t.Context(), "t1", "s", "tool")); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
			if got := calls.Load(); got != tt.calls {
				t.Errorf("the tool was called %d times, want %d", got, tt.calls)
			}
		})
	}
}

// TestAnswersOfHTTPServers has a server that answers one call badly, and the next one well: the
// session goes on.
func TestAnswersOfHTTPServers(t *testing.T) {
	tests := []struct {
		name   string
		answer func(w http.ResponseWriter, r *http.Request, m rpc)
		want   protocol.CallResult
	}{
		{"a plain 400", func(w http.ResponseWriter, _ *http.Request, _ rpc) {
			http.Error(w, "Bad Request: try harder\nsecond line", http.StatusBadRequest)
		}, protocol.CallLost{Reason: `The MCP server "s" gave no answer: it answered with HTTP 400 Bad Request: Bad Request: try harder.`}},
		{"a 503 with a page", func(w http.ResponseWriter, _ *http.Request, _ rpc) {
			http.Error(w, "<html>busy</html>", http.StatusServiceUnavailable)
		}, protocol.CallLost{Reason: `The MCP server "s" gave no answer: it answered with HTTP 503 Service Unavailable.`}},
		{"a page", func(w http.ResponseWriter, _ *http.Request, _ rpc) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprint(w, "<html>log in</html>")
		}, protocol.CallLost{Reason: `The MCP server "s" gave no answer: it answered with a web page, not with MCP: check the URL.`}},
		{
			"nothing", func(w http.ResponseWriter, _ *http.Request, _ rpc) { w.WriteHeader(http.StatusAccepted) },
			protocol.CallLost{Reason: `The MCP server "s" gave no answer: it took the request and gave no answer (HTTP 202).`},
		},
		{"no JSON", func(w http.ResponseWriter, _ *http.Request, _ rpc) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, "{")
		}, protocol.CallLost{Reason: `The answer of the MCP server "s" cannot be used: its answer is not JSON-RPC: {.`}},
		{"an answer to something else", func(w http.ResponseWriter, _ *http.Request, m rpc) {
			result(w, json.RawMessage(`"other"`), `{}`)
		}, protocol.CallLost{Reason: `The answer of the MCP server "s" cannot be used: its id matches no request: {"jsonrpc":"2.0","id":"other","result":{}}.`}},
		{"an error that is a text", func(w http.ResponseWriter, _ *http.Request, m rpc) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"error":"no","jsonrpc":"2.0","id":%s}`, m.ID)
		}, protocol.CallLost{Reason: `The answer of the MCP server "s" cannot be used: its error: it is a string and must be an object: {"error":"no","jsonrpc":"2.0","id":2}.`}},
		{"an error that is a text, in a stream", func(w http.ResponseWriter, r *http.Request, m rpc) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: {\"error\":\"no\",\"jsonrpc\":\"2.0\",\"id\":%s}\n\n", m.ID)
			http.NewResponseController(w).Flush() //nolint:errcheck // what follows tells
			<-r.Context().Done()                  // a stream may go on after the answer
		}, protocol.CallLost{Reason: `The answer of the MCP server "s" cannot be used: its error: it is a string and must be an object: {"error":"no","jsonrpc":"2.0","id":2}.`}},
		{"more than is good", func(w http.ResponseWriter, _ *http.Request, _ rpc) {
			w.Header().Set("Content-Type", "application/json")
			w.Write(make([]byte, 17<<20)) //nolint:errcheck // the client leaves
		}, protocol.CallLost{Reason: `The MCP server "s" gave no answer: the server sent too much at once: an answer of more than 16777216 bytes.`}},
		{"a stream that breaks off", func(w http.ResponseWriter, _ *http.Request, _ rpc) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, ": hello\n\n")
			http.NewResponseController(w).Flush() //nolint:errcheck // what follows tells
			panic(http.ErrAbortHandler)
		}, protocol.CallLost{Reason: `The MCP server "s" gave no answer: its answer broke off: the connection ended in the middle.`}},
		{"an error with a status", func(w http.ResponseWriter, _ *http.Request, m rpc) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32003,"message":"no","data":{"why":1}}}`)
		}, protocol.CallError{Code: -32003, Message: "no", Data: json.RawMessage(`{"why":1}`)}},
		{"an error with a status that is nested too deep", func(w http.ResponseWriter, _ *http.Request, m rpc) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32003,"message":"no","data":%s}}`, m.ID, strings.Repeat("[", 2000)+strings.Repeat("]", 2000))
		}, protocol.CallLost{Reason: `The MCP server "s" gave no answer: its answer is nested more than 1000 deep, and no deeper is read.`}},
		{"an error that go-sdk takes for the session's end", func(w http.ResponseWriter, _ *http.Request, m rpc) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32004,"message":"no"}}`, m.ID)
		}, protocol.CallError{Code: -32004, Message: "no"}},
		{"garbage in the stream", func(w http.ResponseWriter, _ *http.Request, m rpc) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "nonsense\ndata: garbage\n\nevent: other\ndata: {}\n\ndata: {\"jsonrpc\":\"2.0\",\ndata: \"id\":%s,\"result\":%s}\n\n", m.ID, thanks)
		}, done},
		{"a batch", func(w http.ResponseWriter, _ *http.Request, m rpc) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `[{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}},{"jsonrpc":"2.0","id":%s,"result":%s}]`, m.ID, thanks)
		}, done},
		{"another host", func(w http.ResponseWriter, r *http.Request, _ rpc) {
			http.Redirect(w, r, "http://elsewhere.invalid/mcp", http.StatusTemporaryRedirect)
		}, protocol.CallLost{Reason: `The MCP server "s" gave no answer: it leads to http://elsewhere.invalid: configure that URL, if you trust it.`}},
		{"another path", func(w http.ResponseWriter, r *http.Request, m rpc) {
			if r.URL.Path == "/mcp" {
				http.Redirect(w, r, "/other", http.StatusTemporaryRedirect)
				return
			}
			result(w, m.ID, thanks)
		}, done},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var calls atomic.Int32
			f := overHTTP(t, legacy(noSession, func(w http.ResponseWriter, r *http.Request, m rpc) {
				if strings.Contains(string(m.Params), "bad") {
					tt.answer(w, r, m)
					return
				}
				if m.Method == "tools/call" { // and not the cancellation of the bad one
					calls.Add(1)
				}
				result(w, m.ID, thanks)
			}))
			if diff := cmp.Diff(tt.want, <-f.call(t.Context(), "t1", "s", "bad")); diff != "" {
				t.Errorf("the bad answer (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(protocol.CallResult(done), <-f.call(t.Context(), "t1", "s", "tool")); diff != "" || calls.Load() != 1 {
				t.Errorf("the next call (-want +got):\n%s", diff)
			}
			if got := f.state(t, "s"); got.State != protocol.ServerRunning || got.ProtocolVersion != "2025-06-18" {
				t.Errorf("the server = %+v", got)
			}
		})
	}
}

func TestAnHTTPServerOffersAnOlderVersion(t *testing.T) {
	for _, status := range []int{http.StatusOK, http.StatusBadRequest} {
		for offered, want := range map[string]string{"2024-11-05": "2024-11-05", "1999-01-01": ""} {
			t.Run(fmt.Sprint(status, offered), func(t *testing.T) {
				versions := make(chan string, 10)
				rest := legacy(noSession, func(w http.ResponseWriter, _ *http.Request, m rpc) { result(w, m.ID, `{"tools":[]}`) })
				f := overHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					body, err := io.ReadAll(r.Body)
					if err != nil {
						t.Error(err)
					}
					r.Body = io.NopCloser(bytes.NewReader(body))
					var m struct {
						rpc
						Params struct{ ProtocolVersion string }
					}
					if r.Method != http.MethodPost || json.Unmarshal(body, &m) != nil || m.Method != "initialize" {
						rest(w, r)
						return
					}
					versions <- m.Params.ProtocolVersion
					if m.Params.ProtocolVersion == offered {
						result(w, m.ID, strings.Replace(initialized, "2025-06-18", offered, 1))
						return
					}
					w.Header().Set("Content-Type", "application/json")
					w.WriteHeader(status)
					fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"no","data":{"supported":[%q]}}}`, m.ID, offered)
				}))
				_, err := f.Tools(t.Context(), "s")
				if got := f.state(t, "s").ProtocolVersion; got != want {
					t.Errorf("the version = %q, want %q", got, want)
				}
				if want == "" && (err == nil || !strings.Contains(err.Error(), "It speaks MCP 1999-01-01 only")) {
					t.Errorf("Tools = %v, want the version that it speaks", err)
				}
				if first := <-versions; first != "2025-11-25" {
					t.Errorf("the first version that it got is %s", first)
				}
			})
		}
	}
}

func TestWhyAnHTTPServerCannotBeUsed(t *testing.T) {
	closed := httptest.NewServer(nil)
	closed.Close()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<html>hello</html>")
	}))
	t.Cleanup(page.Close)
	missing := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(missing.Close)
	private := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "who are you?", http.StatusUnauthorized) }))
	t.Cleanup(private.Close)
	const nobody = "No process listens on port "
	tests := []struct {
		name, url string
		transport protocol.Transport
		want      string
	}{
		{"nobody listens", closed.URL, protocol.TransportHTTP, nobody},
		{"nobody listens for SSE", closed.URL, protocol.TransportSSE, nobody},
		{"nobody listens for a WebSocket", strings.Replace(closed.URL, "http", "ws", 1), protocol.TransportWS, nobody},
		{"a page", page.URL, protocol.TransportHTTP, "It answered with a web page, not with MCP: check the URL."},
		{"a page for SSE", page.URL, protocol.TransportSSE, "it answered with a web page, not with MCP: check the URL."},
		{"a page for a WebSocket", strings.Replace(page.URL, "http", "ws", 1), protocol.TransportWS, "It answered with HTTP 200 OK"},
		{"nothing there", missing.URL, protocol.TransportHTTP, "It answered with HTTP 404 Not Found: 404 page not found"},
		{"nothing there for a WebSocket", strings.Replace(missing.URL, "http", "ws", 1), protocol.TransportWS, "It answered with HTTP 404 Not Found: 404 page not found"},
		{"not for everybody", private.URL, protocol.TransportHTTP, "it answered with HTTP 401 Unauthorized: who are you?"},
		{"a wrong URL", "ftp://x", protocol.TransportHTTP, "The url ftp://x must begin with http:// or https://"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixtureWith(t, config.Server{Name: "s", Source: "test", Transport: tt.transport, URL: tt.url})
			if _, err := f.Tools(t.Context(), "s"); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Tools = %v, want %s", err, tt.want)
			}
			if got := f.state(t, "s"); got.State != protocol.ServerFailed || !strings.Contains(got.Reason, tt.want) {
				t.Errorf("the server = %+v", got)
			}
		})
	}
}

func TestASecretInAURLIsNotTold(t *testing.T) {
	closed := httptest.NewServer(nil)
	closed.Close()
	missing := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(missing.Close)
	for _, way := range []protocol.Transport{protocol.TransportHTTP, protocol.TransportSSE, protocol.TransportWS} {
		for _, url := range []string{closed.URL, missing.URL} {
			t.Run(string(way)+" "+url, func(t *testing.T) {
				if way == protocol.TransportWS {
					url = strings.Replace(url, "http", "ws", 1)
				}
				f := newFixtureWith(t, config.Server{Name: "s", Source: "test", Transport: way, URL: url + "/mcp?token=hush"})
				_, err := f.Tools(t.Context(), "s")
				if err == nil || strings.Contains(err.Error(), "hush") {
					t.Errorf("Tools = %v", err)
				}
				if got := f.state(t, "s").Reason; got == "" || strings.Contains(got, "hush") {
					t.Errorf("the reason is %q", got)
				}
			})
		}
	}
}

// Some servers count in nanoseconds. Assent answers a ping, and go-sdk refuses an unknown method.
func TestAnUnusualIDComesBackOverHTTP(t *testing.T) {
	answers := make(chan rpc, 2)
	f := overHTTP(t, legacy(func() string { return "one" }, func(w http.ResponseWriter, r *http.Request, m rpc) {
		if m.Method == "" {
			answers <- m
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, asked := range []string{
			`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, `{"jsonrpc":"2.0","id":9007199254740995,"method":"no/such"}`,
			`{"jsonrpc":"2.0","id":"\u00001","method":"ping"}`, `{"jsonrpc":"2.0","id":"\u00002","method":"no/such"}`,
		} {
			fmt.Fprintf(w, "data: %s\n\n", asked)
			http.NewResponseController(w).Flush() //nolint:errcheck // what follows tells
			var asking rpc
			if err := json.Unmarshal([]byte(asked), &asking); err != nil {
				t.Error(err)
			}
			select {
			case got := <-answers:
				if string(got.ID) != string(asking.ID) {
					t.Errorf("the request %s got an answer to %s", asking.ID, got.ID)
				}
			case <-r.Context().Done():
				t.Errorf("the request %s got no answer", asking.ID)
			}
		}
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n\n", m.ID, thanks)
	}))
	if diff := cmp.Diff(protocol.CallResult(done), <-f.call(t.Context(), "t1", "s", "tool")); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}

func TestAQuestionInTheStreamOfItsCallIsThatCalls(t *testing.T) {
	answers := make(chan rpc, 2)
	both := make(chan struct{})
	var asked atomic.Int32
	f := overHTTP(t, legacy(func() string { return "one" }, func(w http.ResponseWriter, r *http.Request, m rpc) {
		if m.Method == "" {
			answers <- m
			w.WriteHeader(http.StatusAccepted)
			return
		}
		var params struct{ Name string }
		if err := json.Unmarshal(m.Params, &params); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "id: 1\ndata: {\"jsonrpc\":\"2.0\",\"id\":\"of %s\",\"method\":\"elicitation/create\",\"params\":{}}\n\n", params.Name)
		http.NewResponseController(w).Flush() //nolint:errcheck // what follows tells
		if asked.Add(1) == 2 {
			close(both)
		}
		<-both
		<-answers
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n\n", m.ID, thanks)
	}))
	ends := []<-chan protocol.CallResult{f.call(t.Context(), "t1", "s", "a"), f.call(t.Context(), "t1", "s", "b")}
	got := map[string]bool{}
	var open []askRequest
	for range ends {
		r := f.nextAsk(t, nil)
		got[strings.Join(r.origin.ToolNames, "+")] = true
		open = append(open, r)
	}
	for _, r := range open {
		r.answer <- struct{}{}
	}
	for _, end := range ends {
		if diff := cmp.Diff(protocol.CallResult(done), <-end); diff != "" {
			t.Errorf("result (-want +got):\n%s", diff)
		}
	}
	if diff := cmp.Diff(map[string]bool{"a": true, "b": true}, got); diff != "" {
		t.Errorf("who asks (-want +got):\n%s", diff)
	}
}

func TestAStreamIsResumed(t *testing.T) {
	var resumed atomic.Bool
	var call atomic.Pointer[rpc]
	handler := legacy(func() string { return "one" }, func(w http.ResponseWriter, r *http.Request, m rpc) {
		if m.Method == "" {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		call.Store(&m)
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "id: 7\nretry: 1\ndata: {\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"elicitation/create\",\"params\":{}}\n\n")
	})
	f := overHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Last-Event-ID") != "7" {
			handler(w, r)
			return
		}
		resumed.Store(true)
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "id: 8\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n\n", call.Load().ID, thanks)
	}))
	end := f.call(t.Context(), "t1", "s", "tool")
	r := f.nextAsk(t, end)
	if diff := cmp.Diff([]string{"tool"}, r.origin.ToolNames); diff != "" {
		t.Errorf("who asks (-want +got):\n%s", diff)
	}
	r.answer <- struct{}{}
	if diff := cmp.Diff(protocol.CallResult(done), <-end); diff != "" || !resumed.Load() {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}

func TestAnHTTPServerMayBeOneOfSSE(t *testing.T) {
	url := wiretest.Serve(t, "sse", asking("s", `
-- client s --
{"jsonrpc":"2.0","id":"q","result":{"told":"me"}}
-- server s --
{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"done"}]}}
`), "s")
	f := newFixtureWith(t, config.Server{Name: "s", Source: "test", Transport: protocol.TransportHTTP, URL: url})
	end := f.call(t.Context(), "t1", "s", "tool")
	f.nextAsk(t, end).answer <- map[string]string{"told": "me"}
	if diff := cmp.Diff(protocol.CallResult(done), <-end); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}

func TestAServerThatWasAwayIsReachedAgain(t *testing.T) {
	script := handshake("s") + `
{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}
-- server s --
{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}
!exit 0
`
	url := wiretest.Serve(t, "ws", script, "s")
	f := newFixtureWith(t, config.Server{Name: "s", Source: "test", Transport: protocol.TransportWS, URL: url})
	if _, err := f.Tools(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	f.eventually(t, "the server to be reached again", func() bool {
		reached := 0
		for _, s := range f.states {
			if s.State == protocol.ServerRunning {
				reached++
			}
			if s.State == protocol.ServerFailed {
				t.Errorf("while the server is away it is said to be %+v", s)
			}
		}
		return reached > 1
	})
	f.eventually(t, "a word of why", func() bool { return strings.Contains(fmt.Sprint(f.states), "The connection was lost") })
}

func TestAServerWithoutASignOfLifeIsNotSaidToRun(t *testing.T) {
	var silent atomic.Bool
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	f := overHTTP(t, legacy(noSession, func(w http.ResponseWriter, r *http.Request, m rpc) {
		if m.Method == "ping" && silent.Load() {
			select {
			case <-release:
			case <-r.Context().Done():
			}
			return
		}
		result(w, m.ID, `{"tools":[]}`)
	}))
	if _, err := f.Tools(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	silent.Store(true)
	f.eventually(t, "the truth", func() bool {
		last := f.states[len(f.states)-1]
		return last.State == protocol.ServerStarting && strings.Contains(last.Reason, "it gives no sign of life")
	})
}

// A server that refuses a ping is there: it may not know the method, or want a new login.
func TestARefusalIsASignOfLife(t *testing.T) {
	for _, test := range []struct {
		name   string
		refuse func(w http.ResponseWriter, m rpc)
	}{
		{"no ping", func(w http.ResponseWriter, m rpc) {
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, m.ID)
		}},
		{"no login", func(w http.ResponseWriter, _ rpc) { http.Error(w, "the token has expired", http.StatusUnauthorized) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			pings := make(chan struct{}, 100)
			f := overHTTP(t, legacy(noSession, func(w http.ResponseWriter, _ *http.Request, m rpc) {
				if m.Method == "ping" {
					w.Header().Set("Content-Type", "application/json")
					test.refuse(w, m)
					pings <- struct{}{}
					return
				}
				result(w, m.ID, `{"tools":[]}`)
			}))
			if _, err := f.Tools(t.Context(), "s"); err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second is sent after the refusal of the first was taken
				<-pings
			}
			f.mu.Lock()
			defer f.mu.Unlock()
			first := slices.IndexFunc(f.states, func(s protocol.Server) bool { return s.State == protocol.ServerRunning })
			for _, s := range f.states[first:] {
				if s.State != protocol.ServerRunning {
					t.Errorf("a server that runs is said to be %+v", s)
				}
			}
		})
	}
}

// TestAStalledServerDoesNotAffectOthers has one that takes the connection and says nothing.
func TestAStalledServerDoesNotAffectOthers(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var conns sync.WaitGroup
	t.Cleanup(conns.Wait)
	t.Cleanup(func() { l.Close() })
	conns.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns.Go(func() { io.Copy(io.Discard, c); c.Close() }) //nolint:errcheck // until the client leaves
		}
	})
	good := httptest.NewServer(legacy(noSession, func(w http.ResponseWriter, _ *http.Request, m rpc) { result(w, m.ID, thanks) }))
	t.Cleanup(good.Close)
	f := newFixtureWith(t,
		config.Server{Name: "bad", Source: "test", Transport: protocol.TransportHTTP, URL: "http://" + l.Addr().String()},
		config.Server{Name: "s", Source: "test", Transport: protocol.TransportHTTP, URL: good.URL})
	bad := f.call(t.Context(), "t1", "bad", "tool")
	if diff := cmp.Diff(protocol.CallResult(done), <-f.call(t.Context(), "t1", "s", "tool")); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	if _, err := f.Stop("bad"); err != nil {
		t.Error(err)
	}
	want := protocol.CallLost{Reason: `The MCP server "bad" is gone: it was stopped. Run the tool again to restart it.`}
	if diff := cmp.Diff(protocol.CallResult(want), <-bad); diff != "" {
		t.Errorf("the call of the one that stalls (-want +got):\n%s", diff)
	}
}
