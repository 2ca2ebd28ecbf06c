package gateway_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"assent/sidecar/gateway"
	"assent/sidecar/gateway/mcpserver"
)

// unequal are servers of which each list has pages of its own, after its own time. "hangs" never answers, "broken" fails.
type unequal struct {
	upstream
	lists map[string]string // by server and method, as {"items"}
	takes map[string]time.Duration

	mu         sync.Mutex
	reads      []string
	sent       []string
	advertised map[string]bool
}

func (u *unequal) Advertised(server, list string) []json.RawMessage {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.advertised[server+" "+list] {
		return nil
	}
	return u.pages(server, list)
}

func (u *unequal) pages(server, list string) []json.RawMessage {
	if items := u.lists[server+" "+list]; items != "" {
		return []json.RawMessage{json.RawMessage(`{"` + list + `":[` + items + `]}`)}
	}
	return nil
}

func (u *unequal) List(ctx context.Context, server, list string, waitLimit time.Duration) ([]json.RawMessage, error) {
	if pages := u.Advertised(server, list); pages != nil {
		return pages, nil
	}
	u.mu.Lock()
	u.reads = append(u.reads, server+" "+list)
	u.mu.Unlock()
	takes := u.takes[server]
	switch {
	case server == "broken":
		return nil, &mcpserver.Error{Code: -1, Message: "it does not start"}
	case server == "hangs", waitLimit > 0 && takes > waitLimit:
		select {
		case <-time.After(waitLimit):
			return nil, gateway.ErrReading
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	time.Sleep(takes)
	u.mu.Lock()
	u.advertised[server+" "+list] = true
	u.mu.Unlock()
	return u.pages(server, list), nil
}

func (u *unequal) Send(_ context.Context, r gateway.Request) (json.RawMessage, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	var p struct{ Name, URI string }
	_ = json.Unmarshal(r.Params, &p)
	u.sent = append(u.sent, r.Server+" "+p.Name+p.URI)
	return json.RawMessage(`{"content":[]}`), nil
}

// host is a host of raw frames.
type caller struct {
	t     *testing.T
	conn  net.Conn
	lines *bufio.Scanner
	last  int
}

// connect has a host begin a session with a view.
func connect(t *testing.T, view *gateway.View) *caller {
	t.Helper()
	conn, pipe := net.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- mcpserver.ServeLines(context.Background(), pipe, view, mcpserver.Options{Log: zerolog.Nop()})
	}()
	h := &caller{t: t, conn: conn, lines: bufio.NewScanner(conn)}
	t.Cleanup(func() {
		_ = conn.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	h.ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"claude-code","version":"1"}}`)
	return h
}

// ask sends a request and returns the answer's result, or its error.
func (h *caller) ask(method, params string) (result json.RawMessage, failure string) {
	h.t.Helper()
	h.last++
	if _, err := fmt.Fprintf(h.conn, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", h.last, method, params); err != nil {
		h.t.Fatal(err)
	}
	for h.lines.Scan() {
		var m struct {
			ID     int
			Result json.RawMessage
			Error  *mcpserver.Error
		}
		if err := json.Unmarshal(h.lines.Bytes(), &m); err != nil {
			h.t.Fatal(err)
		}
		if m.ID == h.last {
			if m.Error != nil {
				failure = fmt.Sprintf("%d %s", m.Error.Code, m.Error.Message)
			}
			return slices.Clone(m.Result), failure
		}
	}
	h.t.Fatal(io.ErrUnexpectedEOF)
	return nil, ""
}

// names returns the names of the tools that a host gets.
func (h *caller) names() (names []string) {
	h.t.Helper()
	result, failure := h.ask("tools/list", "{}")
	var p struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal(result, &p); err != nil {
		h.t.Fatal(err, failure)
	}
	for _, tool := range p.Tools {
		names = append(names, tool.Name)
	}
	return names
}

func newUnequal(servers ...string) *unequal {
	u := &unequal{lists: map[string]string{}, takes: map[string]time.Duration{}, advertised: map[string]bool{}}
	u.servers = servers
	for _, server := range servers {
		u.lists[server+" tools"] = `{"name":"now"}`
	}
	return u
}

func TestAListOfAllServersWaitsForNone(t *testing.T) {
	for _, test := range []struct {
		name    string
		servers []string
		takes   map[string]time.Duration
		want    []string
		waits   time.Duration
	}{
		{"one hangs", []string{"good", "hangs"}, nil, []string{"good__now"}, 2 * time.Second},
		{"two hang", []string{"hangs", "hangs", "good"}, nil, []string{"good__now"}, 2 * time.Second},
		{"one is broken", []string{"broken", "good"}, nil, []string{"good__now"}, 0},
		{"each needs its time", []string{"a", "b", "c"}, map[string]time.Duration{"a": 1500 * time.Millisecond, "b": time.Second, "c": 1900 * time.Millisecond}, []string{"a__now", "b__now", "c__now"}, 1900 * time.Millisecond},
		{"one needs longer", []string{"slow", "good"}, map[string]time.Duration{"slow": 4 * time.Second}, []string{"good__now"}, 2 * time.Second},
		{"all need longer", []string{"slow", "slower"}, map[string]time.Duration{"slow": 4 * time.Second, "slower": time.Minute}, nil, 2 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := newUnequal(test.servers...)
				u.takes = test.takes
				h := connect(t, gateway.New(u, gateway.Options{Log: zerolog.Nop()}))
				began := time.Now()
				if got := h.names(); !slices.Equal(got, test.want) {
					t.Errorf("the host got %q, want %q", got, test.want)
				}
				if waited := time.Since(began); waited != test.waits {
					t.Errorf("the list took %v, want %v", waited, test.waits)
				}
			})
		})
	}
}

func TestACallConcernsItsServerAlone(t *testing.T) {
	for _, test := range []struct {
		name string
		// A host that got no list has the name from an earlier session.
		hasList bool
		call    string
		// sent is what a server got, or want the error.
		sent, want string
		reads      []string
	}{
		{"after the list", true, "good__now", "good now", "", nil},
		{"before any list", false, "good__now", "good now", "", []string{"good tools"}},
		{"of the one that hangs", false, "hangs__now", "hangs now", "", []string{"hangs tools"}},
		{"of the one that is broken", false, "broken__do_it", "broken do_it", "", []string{"broken tools"}},
		{"of a tool that is not there", false, "good__then", "", `-32602 there is no "good__then"; did you mean "good__now"?`, []string{"good tools"}},
		{"of no server", false, "then", "", `-32602 there is no "then"`, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := newUnequal("hangs", "broken", "good")
				h := connect(t, gateway.New(u, gateway.Options{Log: zerolog.Nop()}))
				if test.hasList {
					h.names()
					u.reads = nil
				}
				_, failure := h.ask("tools/call", `{"name":"`+test.call+`"}`)
				if sent := strings.Join(u.sent, ", "); failure != test.want || sent != test.sent {
					t.Errorf("sent was %q, answered %q; want %q, %q", sent, failure, test.sent, test.want)
				}
				if !slices.Equal(u.reads, test.reads) {
					t.Errorf("read were %q, want %q", u.reads, test.reads)
				}
			})
		})
	}
}

func TestEqualURIs(t *testing.T) {
	lists := map[string]string{
		"one resources":         `{"uri":"memo://note","name":"n"},{"uri":"memo://one","name":"n"},{"uri":"file:///b/listed","name":"n"}`,
		"two resources":         `{"uri":"memo://note","name":"n"}`,
		"one resourceTemplates": `{"uriTemplate":"file:///{path}","name":"f"},{"uriTemplate":"db://{t}","name":"d"}`,
		"two resourceTemplates": `{"uriTemplate":"file:///b/{path}","name":"f"},{"uriTemplate":"db://{u}","name":"d"}`,
	}
	const neither = `can be of the servers one and two. Assent does not guess: name one of them in the host's entry, as in "assent gateway one"`
	for _, test := range []struct{ uri, sent, want string }{
		{"memo://note", "", `-32602 "memo://note" ` + neither},
		{"memo://one", "one memo://one", ""},
		{"file:///a", "one file:///a", ""},
		{"file:///b/c", "two file:///b/c", ""},
		{"file:///b/listed", "one file:///b/listed", ""},
		{"db://users", "", `-32602 "db://users" ` + neither},
		{"none://", "", `-32602 no server has the resource "none://"`},
	} {
		t.Run(test.uri, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := newUnequal("hangs", "one", "two")
				u.lists = lists
				h := connect(t, gateway.New(u, gateway.Options{Log: zerolog.Nop()}))
				_, failure := h.ask("resources/read", `{"uri":"`+test.uri+`"}`)
				if sent := strings.Join(u.sent, ", "); failure != test.want || sent != test.sent {
					t.Errorf("sent was %q, answered %q; want %q, %q", sent, failure, test.sent, test.want)
				}
			})
		})
	}
}

func TestCursors(t *testing.T) {
	for _, server := range []string{"", "one"} {
		for _, test := range []struct {
			params string
			known  bool
		}{{`{}`, true}, {`{"cursor":null}`, true}, {`{"cursor":""}`, true}, {`{"cursor":"bogus"}`, false}, {`{"cursor":7}`, false}, {`{"cursor":{}}`, false}} {
			for _, method := range []string{"tools/list", "prompts/list", "resources/list", "resources/templates/list", "tasks/list"} {
				t.Run(server+" "+method+" "+test.params, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						h := connect(t, gateway.New(newUnequal("one", "two"), gateway.Options{Server: server, Log: zerolog.Nop()}))
						_, failure := h.ask(method, test.params)
						if known := failure == ""; known != test.known || !known && !strings.HasPrefix(failure, "-32602 ") {
							t.Errorf("answered %q", failure)
						}
					})
				})
			}
		}
	}
}

// A host of 2026-07-28 gets each required member, also if the server wrote none.
func TestResultsOfTheNewestRevision(t *testing.T) {
	const caching = `"ttlMs":0,"cacheScope":"private"`
	for _, test := range []struct{ method, params, result, want string }{
		{"resources/read", `"uri":"a:b"`, `{"contents":[]}`, `{"contents":[],"resultType":"complete",` + caching + `}`},
		{"resources/read", `"uri":"a:b"`, `{"contents":[],"ttlMs":5.0,"cacheScope":"public"}`, `{"contents":[],"ttlMs":5.0,"cacheScope":"public","resultType":"complete"}`},
		{"resources/read", `"uri":"a:b"`, `{"ttlMs":"5","cacheScope":"all","contents":[]}`, `{"ttlMs":0,"cacheScope":"private","contents":[],"resultType":"complete"}`},
		{"resources/read", `"uri":"a:b"`, `{"ttlMs":-1,"contents":[],"resultType":1}`, `{"ttlMs":0,"contents":[],"resultType":"complete","cacheScope":"private"}`},
		{"prompts/get", `"name":"p"`, `{"messages":[]}`, `{"messages":[],"resultType":"complete"}`},
		{"tools/call", `"name":"t"`, `{"content":[]}`, `{"content":[],"resultType":"complete"}`},
		{"completion/complete", `"ref":{}`, `{"completion":{"values":[]}}`, `{"completion":{"values":[]},"resultType":"complete"}`},
		{"skills/get", `"uri":"skill://a/SKILL.md"`, `{"skill":{}}`, `{"skill":{},"resultType":"complete",` + caching + `}`},
		{"other/method", `"a":1`, `{}`, `{"resultType":"complete"}`},
	} {
		t.Run(test.method+" "+test.result, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := &fixed{upstream: upstream{servers: []string{"one"}}, result: test.result}
				h := connect(t, gateway.New(u, gateway.Options{Server: "one", Log: zerolog.Nop()}))
				got, failure := h.ask(test.method, `{`+test.params+`,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}`)
				if string(got) != test.want {
					t.Errorf("got  %s %s\nwant %s", got, failure, test.want)
				}
			})
		})
	}
}

// fixed answers each request with one result.
type fixed struct {
	upstream
	result string
}

func (v *fixed) Send(context.Context, gateway.Request) (json.RawMessage, error) {
	return json.RawMessage(v.result), nil
}
