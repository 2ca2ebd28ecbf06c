package wire_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/sidecar/wire"
)

// reply is a response of a server.
type reply struct {
	status int
	header http.Header
	body   string
}

func (a reply) response() *http.Response {
	header := a.header.Clone()
	if header == nil {
		header = http.Header{"Content-Type": {"application/json"}}
	}
	return &http.Response{StatusCode: a.status, Header: header, Body: io.NopCloser(strings.NewReader(a.body))}
}

const fine = `{"jsonrpc":"2.0","id":1,"result":{}}`

// replies returns a server that gives these responses, and the last of them again and again; and the requests that it got.
func replies(all ...reply) (roundTripper, *[]string) {
	var got []string
	return func(r *http.Request) (*http.Response, error) {
		body := ""
		if r.Body != nil {
			raw, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			body = " " + string(raw)
		}
		got = append(got, r.Method+" "+r.URL.RequestURI()+body)
		next := all[0]
		if len(all) > 1 {
			all = all[1:]
		}
		return next.response(), nil
	}, &got
}

func over(server http.RoundTripper) *wire.HTTP {
	return wire.NewHTTP(wire.HTTPOptions{Endpoint: wire.Endpoint{URL: &url.URL{Scheme: "http", Host: "asks", Path: "/mcp"}, Base: server}})
}

func refusal(status int, id, message string) reply {
	return reply{status, nil, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":%q}}`, id, message)}
}

func words(status int, text string) reply {
	return reply{status, http.Header{"Content-Type": {"text/plain"}}, text}
}

// Servers say in several ways that they do not know a session any more.
func TestALostSession(t *testing.T) {
	tests := []struct {
		name string
		said reply
		want bool
	}{
		{"404", words(404, ""), true},
		{"410", words(410, "gone"), true},
		{"400 without an id", refusal(400, "null", "Bad Request: Server not initialized"), true},
		{"400 with words", refusal(400, "null", "Bad Request: No valid session ID provided"), true},
		{"400 with words and an id", refusal(400, "1", "Session not found"), true},
		{"400 with plain words", words(400, "Invalid session ID\n"), true},
		{"400 with a code", words(400, `{"error":{"code":"SESSION_NOT_FOUND","message":"?"}}`), true},
		{"400 with a member", words(400, `{"error":"session expired"}`), true},
		{"503 with words", words(503, "Session terminated"), true},
		{"503 with words and when to come back", reply{503, http.Header{"Retry-After": {"1"}}, "unknown session"}, true},
		{"500 with words", refusal(500, "null", "The session does not exist"), true},
		{"400 about the request", refusal(400, "1", "Bad argument"), false},
		{"400 with other words", words(400, "try harder"), false},
		{"503", words(503, "busy"), false},
		{"500 about something else", words(500, "the session of the browser crashed"), false},
		{"401 of the Rust SDK", words(401, "Unauthorized: Session not found"), true},
		{"403 about the session", refusal(403, "1", "Mcp-Session-Id principal mismatch"), true},
		{"200 with an error in place of an answer", reply{200, nil, `{"error":"Session not found"}`}, true},
		{"200 with an error in an event", reply{200, http.Header{"Content-Type": {"text/event-stream"}}, "event: message\ndata: {\"error\":{\"message\":\"session expired\"},\"id\":null}\n\n"}, true},
		{"401 about the person", words(401, "your session has expired"), false},
		{"403 about the person", words(403, "session expired: log in"), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, _ := replies(reply{200, nil, fine}, tt.said)
				h := over(server)
				if got := post(t, h, "s", "tools/call"); string(got.Result) != "{}" {
					t.Fatalf("the first call: %+v", got)
				}
				got := post(t, h, "s", "tools/call")
				if lost := errors.Is(got.Failure, wire.ErrSessionLost) && got.Unsent && errors.Is(h.Err(), wire.ErrSessionLost); lost != tt.want {
					t.Errorf("the call: %+v, the session: %v", got, h.Err())
				}
				if err := h.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
	t.Run("a new session that refuses its first call", func(t *testing.T) {
		server, _ := replies(refusal(400, "null", "Bad Request"))
		h := over(server)
		if got := post(t, h, "s", "tools/call"); got.Error == nil || got.Error.Message != "Bad Request" || h.Err() != nil {
			t.Errorf("the call: %+v, the session: %v", got, h.Err())
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
}

// An error in answer to a call may be the tool's own, and the call may have run. A ping tells whether the session is lost. The
// call has its error and is not sent again.
func TestAnErrorOfACallThatSaysThatTheSessionIsLost(t *testing.T) {
	events := func(id, message string) reply {
		return reply{200, http.Header{"Content-Type": {"text/event-stream"}}, "data: " + refusal(200, id, message).body + "\n\n"}
	}
	tests := []struct {
		name    string
		message string
		pings   int
		want    bool
		said    reply
		ping    reply // with the id 1 in place of its own
	}{
		{"every request is refused so", "Session not found", 1, true, refusal(200, "1", "Session not found"), refusal(200, "1", "Session not found")},
		{"in an event", "Invalid session ID", 1, true, events("1", "Invalid session ID"), events("1", "Invalid session ID")},
		{"not initialized", "Server not initialized", 1, true, refusal(200, "1", "Server not initialized"), refusal(200, "1", "Server not initialized")},
		{"not initialized, with 400", "Server not initialized", 1, true, refusal(400, "1", "Server not initialized"), refusal(400, "1", "Server not initialized")},
		{"the ping gets 404", "Session not found", 1, true, refusal(200, "1", "Session not found"), words(404, "")},
		{"a session of the tool", "Session not found", 1, false, refusal(200, "1", "Session not found"), reply{200, nil, fine}},
		{"something of the tool", "Database not initialized", 1, false, refusal(200, "1", "Database not initialized"), reply{200, nil, fine}},
		{"a server without ping", "Session not found", 1, false, refusal(200, "1", "Session not found"), refusal(200, "1", "Method not found")},
		{"another error", "Out of paper", 0, false, refusal(200, "1", "Out of paper"), refusal(200, "1", "Out of paper")},
	}
	for _, tt := range tests {
		for _, known := range []bool{true, false} {
			t.Run(fmt.Sprint(tt.name, ", known ", known), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					calls, pings := 0, 0
					h := over(roundTripper(func(r *http.Request) (*http.Response, error) {
						var m struct {
							ID     json.RawMessage
							Method string
						}
						if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
							return nil, err
						}
						switch m.Method {
						case "ping":
							pings++
							answer := tt.ping
							answer.body = strings.Replace(answer.body, `"id":1`, `"id":`+string(m.ID), 1)
							return answer.response(), nil
						case "tools/list":
							return reply{200, nil, fine}.response(), nil
						}
						calls++
						return tt.said.response(), nil
					}))
					wantPings := 0
					if known {
						post(t, h, "s", "tools/list")
						wantPings = tt.pings
					}
					got := post(t, h, "s", "tools/call")
					if got.Error == nil || got.Error.Message != tt.message || calls != 1 || pings != wantPings {
						t.Errorf("the call: %+v, after %d calls and %d pings, want %d", got, calls, pings, wantPings)
					}
					if lost := errors.Is(h.Err(), wire.ErrSessionLost); lost != (tt.want && known) {
						t.Errorf("the session: %v", h.Err())
					}
					if err := h.Close(); err != nil {
						t.Error(err)
					}
				})
			})
		}
	}
	t.Run("a server that is silent on the ping", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := over(roundTripper(func(r *http.Request) (*http.Response, error) {
				body, err := io.ReadAll(r.Body)
				if strings.Contains(string(body), `"ping"`) {
					<-r.Context().Done()
					return nil, r.Context().Err()
				}
				if strings.Contains(string(body), `"tools/list"`) {
					return reply{200, nil, fine}.response(), err
				}
				return refusal(200, "1", "Session not found").response(), err
			}))
			post(t, h, "s", "tools/list")
			began := time.Now()
			if got := post(t, h, "s", "tools/call"); got.Error == nil || time.Since(began) != 5*time.Second || h.Err() != nil {
				t.Errorf("the call: %+v after %v, the session: %v", got, time.Since(began), h.Err())
			}
			if err := h.Close(); err != nil {
				t.Error(err)
			}
		})
	})
}

// A request that certainly did nothing is sent again, after growing pauses.
func TestAServerThatIsNotAvailableIsAskedAgain(t *testing.T) {
	later := func(status int, after string) reply { return reply{status, http.Header{"Retry-After": {after}}, ""} }
	const call, list = "tools/call", "tools/list"
	growing := 15*time.Second + 500*time.Millisecond
	tests := []struct {
		name   string
		method string
		said   []reply
		sent   int
		took   time.Duration
		failed string
	}{
		{"503 with seconds", call, []reply{later(503, "3")}, 2, 3 * time.Second, ""},
		{"503 with a date", call, []reply{{503, http.Header{"Retry-After": {"Sat, 01 Jan 2000 00:00:07 GMT"}}, ""}}, 2, 7 * time.Second, ""},
		{
			"503 with a date, by the server's clock", call,
			[]reply{{503, http.Header{"Retry-After": {"Sat, 01 Jan 2000 05:00:04 GMT"}, "Date": {"Sat, 01 Jan 2000 05:00:00 GMT"}}, ""}},
			2, 4 * time.Second, "",
		},
		{"503 with a date that has passed", call, []reply{later(503, "Fri, 31 Dec 1999 00:00:00 GMT")}, 2, 500 * time.Millisecond, ""},
		{"503 with a fraction", call, []reply{later(503, "1.5")}, 2, 1500 * time.Millisecond, ""},
		{"429", call, []reply{words(429, "slow down")}, 2, 500 * time.Millisecond, ""},
		{"503 twice for a list", list, []reply{words(503, ""), words(503, "")}, 3, 1500 * time.Millisecond, ""},
		{"502 for a list", list, []reply{words(502, "<html>")}, 2, 500 * time.Millisecond, ""},
		{"504 for a list", list, []reply{words(504, "<html>")}, 2, 500 * time.Millisecond, ""},
		{"503 for ever", list, []reply{words(503, "a"), words(503, "b"), words(503, "c"), words(503, "d"), words(503, "e"), words(503, "f"), words(503, "g")}, 6, growing, "HTTP 503 Service Unavailable: f"},
		{"503 with an hour", call, []reply{later(503, "3600")}, 1, 0, "HTTP 503 Service Unavailable (Retry-After: 3600)"},
		{"503 for a call", call, []reply{words(503, "busy")}, 1, 0, "HTTP 503 Service Unavailable: busy"},
		{"503 for a call, before the server knew it", call, []reply{refusal(503, "null", "starting")}, 2, 500 * time.Millisecond, ""},
		{"502 for a call, before the server knew it", call, []reply{refusal(502, "null", "starting")}, 1, 0, "starting"},
		{"502 for a call", call, []reply{words(502, "")}, 1, 0, "HTTP 502 Bad Gateway"},
		{"504 with seconds for a call", call, []reply{later(504, "1")}, 1, 0, "HTTP 504 Gateway Timeout"},
		{"500 for a list", list, []reply{words(500, "oops")}, 1, 0, "HTTP 500 Internal Server Error: oops"},
		{"503 of the server itself", list, []reply{refusal(503, "1", "not now")}, 1, 0, "not now"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, got := replies(append(tt.said, reply{200, nil, fine})...)
				h := over(server)
				began := time.Now()
				answer := postWith(t, h, nil, tt.method)
				if len(*got) != tt.sent || time.Since(began) != tt.took {
					t.Errorf("%d requests in %v, want %d in %v", len(*got), time.Since(began), tt.sent, tt.took)
				}
				for _, sent := range *got {
					if sent != (*got)[0] {
						t.Errorf("sent %s and %s", (*got)[0], sent)
					}
				}
				switch {
				case tt.failed == "" && string(answer.Result) != "{}",
					tt.failed != "" && answer.Error == nil && (answer.Failure == nil || !strings.Contains(answer.Failure.Error(), tt.failed)),
					answer.Error != nil && answer.Error.Message != tt.failed:
					t.Errorf("the answer is %+v", answer)
				}
				if err := h.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A redirect within the server's host keeps the method and the message.
func TestRedirects(t *testing.T) {
	to := func(status int, where string) reply { return reply{status, http.Header{"Location": {where}}, ""} }
	tests := []struct {
		name   string
		said   reply
		path   string
		failed string
	}{
		{"301", to(301, "/mcp/"), "/mcp/", ""},
		{"302", to(302, "/other?x=1"), "/other?x=1", ""},
		{"307", to(307, "http://asks/deep/er"), "/deep/er", ""},
		{"308", to(308, "mcp/v1"), "/mcp/v1", ""},
		{"303", to(303, "/mcp/?key=hush"), "", "it redirects (HTTP 303) to http://asks/mcp/: configure that URL, if you trust it"},
		{"another host", to(301, "http://elsewhere/mcp"), "", "it leads to http://elsewhere: configure that URL, if you trust it"},
		{"another port", to(308, "http://asks:81/mcp"), "", "it leads to http://asks:81: configure that URL, if you trust it"},
		{"another scheme", to(301, "https://asks/mcp"), "", "it leads to https://asks: configure that URL, if you trust it"},
		{"nowhere", reply{302, http.Header{}, ""}, "", "it redirects (HTTP 302) and does not say where"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server, got := replies(tt.said, reply{200, nil, fine})
			answer := postWith(t, over(server), nil, "tools/call")
			if tt.failed != "" {
				if answer.Failure == nil || answer.Failure.Error() != tt.failed || len(*got) != 1 {
					t.Errorf("the call failed with %v, want %s", answer.Failure, tt.failed)
				}
				return
			}
			want := "POST " + tt.path + ` {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`
			if len(*got) != 2 || (*got)[1] != want || string(answer.Result) != "{}" {
				t.Errorf("the server got %q and the answer is %+v", *got, answer)
			}
		})
	}
	t.Run("a circle", func(t *testing.T) {
		server, got := replies(to(301, "/mcp"))
		if answer := postWith(t, over(server), nil, "tools/call"); answer.Failure == nil || !strings.Contains(answer.Failure.Error(), "it redirects more than 10 times") || len(*got) != 10 {
			t.Errorf("the call failed with %v after %d requests", answer.Failure, len(*got))
		}
	})
}

// An answer is read by how it begins, if its content type does not say.
func TestContentTypes(t *testing.T) {
	as := func(kind, body string) reply {
		header := http.Header{}
		if kind != "" {
			header.Set("Content-Type", kind)
		}
		return reply{200, header, body}
	}
	const event = "data: " + fine + "\n\n"
	tests := []struct {
		name   string
		said   reply
		failed string
	}{
		{"JSON without a type", as("", fine), ""},
		{"JSON as a text", as("text/plain; charset=utf-8", "\r\n"+fine), ""},
		{"JSON as a page", as("text/html", fine), ""},
		{"JSON with a parameter", as("application/json; charset=UTF-8", fine), ""},
		{"JSON with a broken parameter", as("application/json; charset", fine), ""},
		{"JSON behind a byte order mark", as("application/json", "\ufeff"+fine), ""},
		{"JSON without a version", as("application/json", `{"id":1,"result":{}}`), ""},
		{"events behind a byte order mark", as("text/event-stream", "\ufeff"+event), ""},
		{"JSON in capitals", as("Application/JSON", fine), ""},
		{"events without a type", as("", "\ufeffevent: message\n"+event), ""},
		{"events as bytes", as("application/octet-stream", ": hello\n\n"+event), ""},
		{"events in capitals", as("Text/Event-Stream;charset=utf-8", event), ""},
		{"events as JSON", as("application/json", "id: 1\n"+event), ""},
		{"an event that is no message", as("text/event-stream", "event: ping\ndata: now\n\n"+event), ""},
		{"events with CR", as("text/event-stream", strings.ReplaceAll("retry: 5\n\n"+event, "\n", "\r")), ""},
		{"events with CRLF", as("text/event-stream", strings.ReplaceAll(event, "\n", "\r\n")), ""},
		{"a page", as("text/html", "<html>"), "it answered with a web page, not with MCP: check the URL"},
		{"a text", as("text/plain", "hello"), "it answered with text/plain, not with MCP: check the URL"},
		{"a text without a type", as("", "hello"), "its answer has no Content-Type and is not MCP: check the URL"},
		{"202", reply{202, http.Header{}, ""}, "it took the request and gave no answer (HTTP 202)"},
		{"204", reply{204, http.Header{}, ""}, "it took the request and gave no answer (HTTP 204)"},
		{"nothing", as("application/json", " \n"), "it took the request and gave no answer (HTTP 200)"},
		{"nothing as a text", as("text/plain", ""), "it took the request and gave no answer (HTTP 200)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server, _ := replies(tt.said)
			answer := postWith(t, over(server), nil, "tools/list")
			if tt.failed == "" && string(answer.Result) != "{}" || tt.failed != "" && (answer.Failure == nil || answer.Failure.Error() != tt.failed) {
				t.Errorf("the answer is %+v, want %q", answer, tt.failed)
			}
		})
	}
}

// A server of unknown era that takes server/discover without an answer is asked to initialize.
func TestAProbeWithoutAnAnswerFindsALegacyServer(t *testing.T) {
	for _, said := range []reply{{202, http.Header{}, ""}, {204, http.Header{}, ""}, {200, nil, ""}, {200, http.Header{"Content-Type": {"text/plain"}}, "\n"}, {200, http.Header{"Content-Type": {"text/event-stream"}}, ": nothing\n\n"}, words(200, "ok"), refusal(200, "null", "?"), words(403, "Forbidden")} {
		t.Run(fmt.Sprint(said.status, said.header), func(t *testing.T) {
			server, _ := replies(said)
			h := over(server)
			if hs, err := h.Probe(t.Context(), wire.Introduction{Name: "c", Version: "1"}, time.Minute); err != nil || hs.Era != wire.EraLegacy {
				t.Errorf("the probe returned %+v, %v", hs, err)
			}
			if err := h.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// So is one that closes the connection in place of an answer.
func TestAProbeThatBreaksOffFindsALegacyServer(t *testing.T) {
	for _, failure := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET} {
		h := over(roundTripper(func(*http.Request) (*http.Response, error) { return nil, failure }))
		if hs, err := h.Probe(t.Context(), wire.Introduction{Name: "c", Version: "1"}, time.Minute); err != nil || hs.Era != wire.EraLegacy {
			t.Errorf("%v: the probe returned %+v, %v", failure, hs, err)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}
}

// The stream of HTTP with SSE may begin with blocks that are no events, and have any line ends.
func TestTheBeginningOfAStreamOfSSE(t *testing.T) {
	const endpoint, message = "event: endpoint\ndata: /messages?s=1\n\n", "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"hello\"}\n\n"
	tests := []struct{ name, kind, begins, eol string }{
		{"messages first", "text/event-stream", strings.Repeat(strings.Replace(message, "hello", "early", 1), 20), "\n"},
		{"retry first", "text/event-stream", "retry: 100\n\n", "\n"},
		{"an id first", "text/event-stream", "id: 1\n\n", "\n"},
		{"a comment and a block without data", "text/event-stream", ": hi\n\nevent: ping\n\n", "\n"},
		{"CR", "text/event-stream", "", "\r"},
		{"CRLF", "text/event-stream", "retry: 1\n\n", "\r\n"},
		{"a byte order mark", "text/event-stream", "\ufeff", "\n"},
		{"capitals", "TEXT/Event-Stream; charset=utf-8", "", "\n"},
		{"no content type", "", ": hi\n\n", "\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			header := http.Header{}
			if tt.kind != "" {
				header.Set("Content-Type", tt.kind)
			}
			sent, stream := make(chan string, 1), strings.ReplaceAll(tt.begins+endpoint+message, "\n", tt.eol)
			server := roundTripper(func(r *http.Request) (*http.Response, error) {
				if r.Method == http.MethodGet {
					response := reply{200, header, ""}.response()
					body, open := io.Pipe() // the stream goes on
					go func() { _, _ = io.WriteString(open, stream) }()
					response.Body = body
					return response, nil
				}
				sent <- r.URL.RequestURI()
				return reply{202, http.Header{}, ""}.response(), nil
			})
			conn, err := wire.ConnectSSE(t.Context(), wire.Endpoint{URL: &url.URL{Scheme: "http", Host: "asks", Path: "/sse"}, Base: server}, func([]byte) {}, 0)
			if err != nil {
				t.Fatal(err)
			}
			want := []string{"hello"}
			if strings.Contains(tt.begins, "early") {
				want = append(slices.Repeat([]string{"early"}, 16), "hello") // more are not kept
			}
			for _, want := range want {
				if m, err := conn.Read(t.Context()); err != nil || m.(*jsonrpc.Request).Method != want {
					t.Errorf("read %+v, %v, want %s", m, err, want)
				}
			}
			if err := conn.Write(context.Background(), &jsonrpc.Request{Method: "x"}); err != nil || <-sent != "/messages?s=1" {
				t.Errorf("writing: %v", err)
			}
			if err := conn.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A server of HTTP with SSE may forget a session while the stream goes on. The stream ends then. A message that it refuses
// with 4xx was not taken.
func TestALostSessionOfSSE(t *testing.T) {
	took := reply{202, http.Header{}, "Accepted"}
	tests := []struct {
		name          string
		before        reply
		said          reply
		lost, notSent bool
	}{
		{"404", took, words(404, "Could not find session"), true, true},
		{"404 without words", took, words(404, ""), true, true},
		{"410", took, words(410, ""), true, true},
		{"400 of the TypeScript SDK", took, words(400, "No transport found for sessionId"), true, true},
		{"400 with an error", took, refusal(400, "null", "Could not find the session"), true, true},
		{"500 with words", took, words(500, "session closed"), true, false},
		{"400 about the message", took, words(400, "Bad argument"), false, false},
		{"500", took, words(500, "oops"), false, false},
		{"401 about the person", took, words(401, "your session has expired"), false, false},
		{"404 for the first message", words(404, ""), words(404, ""), false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server, _ := replies(tt.before, tt.said)
			conn, err := wire.ConnectSSE(t.Context(), wire.Endpoint{URL: &url.URL{Scheme: "http", Host: "asks", Path: "/sse"}, Base: roundTripper(func(r *http.Request) (*http.Response, error) {
				if r.Method == http.MethodPost {
					return server(r)
				}
				response := reply{200, http.Header{"Content-Type": {"text/event-stream"}}, ""}.response()
				body, open := io.Pipe() // the stream goes on
				go func() { _, _ = io.WriteString(open, "event: endpoint\ndata: /messages?s=1\n\n") }()
				response.Body = body
				return response, nil
			})}, func([]byte) {}, 0)
			if err != nil {
				t.Fatal(err)
			}
			c := wire.NewConn(conn, wire.Options{})
			ask := func(n float64) wire.Answer {
				ctx, capture := wire.WithCapture(t.Context())
				if err := c.Write(ctx, &jsonrpc.Request{ID: id(t, n), Method: "tools/call"}); err == nil && n > 1 {
					t.Error("the server took it")
				}
				return capture.Answer()
			}
			ask(1)
			got := ask(2)
			if errors.Is(got.Failure, wire.ErrSessionLost) != tt.lost || errors.Is(got.Failure, wire.ErrUnwritable) != tt.lost || got.Unsent != tt.notSent {
				t.Errorf("the call: %+v", got)
			}
			if tt.lost {
				<-c.Done()
			}
			if err := c.Err(); errors.Is(err, wire.ErrSessionLost) != tt.lost {
				t.Errorf("the connection: %v", err)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
