package mcpserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"assent/sidecar/gateway/mcpserver"
)

// web is a host that speaks HTTP by hand.
type web struct {
	t      *testing.T
	url    string
	server *fake
}

func newWeb(t *testing.T, opts mcpserver.HTTPOptions) *web {
	t.Helper()
	w := &web{t: t, server: &fake{}}
	opts.Log = zerolog.Nop()
	handler := mcpserver.NewHTTP(w.server, opts)
	server := httptest.NewServer(handler)
	w.url = server.URL
	t.Cleanup(func() {
		handler.Close()
		server.Close()
	})
	return w
}

// do sends a request with headers, given as "Name: value". The body of the answer is closed with the test.
func (w *web) do(ctx context.Context, method, body string, headers ...string) *http.Response {
	w.t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, w.url, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

// post sends a message and returns the status and the body of the answer, which ends by itself.
func (w *web) post(body string, headers ...string) (int, string) {
	w.t.Helper()
	response := w.do(w.t.Context(), http.MethodPost, body, headers...)
	text, err := io.ReadAll(response.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// events reads the data and ids of a stream.
type events struct {
	t     *testing.T
	lines *bufio.Scanner
}

func eventsOf(t *testing.T, r *http.Response) *events {
	t.Helper()
	if r.StatusCode != http.StatusOK || r.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("no stream: %s", r.Status)
	}
	return &events{t, bufio.NewScanner(r.Body)}
}

// next returns the id and the data of the next event; both are empty at the end.
func (e *events) next() (id, data string) {
	e.t.Helper()
	for e.lines.Scan() {
		line := e.lines.Text()
		if line == "" {
			return id, data
		}
		if v, ok := strings.CutPrefix(line, "id: "); ok {
			id = v
		}
		if v, ok := strings.CutPrefix(line, "data: "); ok {
			data = v
		}
	}
	return "", ""
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","clientInfo":{"name":"h","version":"1"}}}`

// begin opens a session and returns its header.
func (w *web) begin(headers ...string) string {
	w.t.Helper()
	response := w.do(w.t.Context(), http.MethodPost, hello, headers...)
	if _, data := eventsOf(w.t, response).next(); !strings.Contains(data, `"protocolVersion":"2025-06-18"`) {
		w.t.Fatalf("initialize: %s", data)
	}
	return "Mcp-Session-Id: " + response.Header.Get("Mcp-Session-Id")
}

func TestALegacySessionOverHTTP(t *testing.T) {
	w := newWeb(t, mcpserver.HTTPOptions{})
	session := w.begin()

	status, body := w.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, session)
	if status != http.StatusAccepted || body != "" {
		t.Errorf("a notification: %d %q", status, body)
	}
	_, body = w.post(`{"jsonrpc":"2.0","id":2,"method":"test/echo","params":{"b":1.50}}`, session, "Mcp-Method: other")
	if want := "id: 4-1\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"b\":1.50}}\n\n"; body != want {
		t.Errorf("an answer (-want +got):\n%s", cmp.Diff(want, body))
	}

	// A question goes out on the stream of its call, and the answer comes by a POST of its own.
	asking := eventsOf(t, w.do(t.Context(), http.MethodPost, `{"jsonrpc":"2.0","id":3,"method":"test/ask"}`, session))
	if _, data := asking.next(); !strings.Contains(data, "elicitation/create") {
		t.Fatalf("no question: %s", data)
	}
	if status, _ = w.post(`{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}`, session); status != http.StatusAccepted {
		t.Errorf("an answer: %d", status)
	}
	if _, data := asking.next(); data != `{"jsonrpc":"2.0","id":3,"result":{"action":"accept"}}` {
		t.Errorf("the result: %s", data)
	}

	// What belongs to no request comes by GET.
	standing := eventsOf(t, w.do(t.Context(), http.MethodGet, "", session))
	w.post(`{"jsonrpc":"2.0","id":4,"method":"test/publish"}`, session)
	if _, data := standing.next(); data != `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` {
		t.Errorf("the standing stream: %s", data)
	}

	if r := w.do(t.Context(), http.MethodDelete, "", session); r.StatusCode != http.StatusNoContent {
		t.Errorf("DELETE: %s", r.Status)
	}
	if _, data := standing.next(); data != "" {
		t.Errorf("after DELETE: %s", data)
	}
	if status, body = w.post(`{"jsonrpc":"2.0","id":5,"method":"ping"}`, session); status != http.StatusNotFound {
		t.Errorf("after DELETE: %d %s", status, body)
	}
}

// TestALostStreamIsResumed reads the rest of an answer after its POST broke, which does not cancel
// the request.
func TestALostStreamIsResumed(t *testing.T) {
	w := newWeb(t, mcpserver.HTTPOptions{})
	session := w.begin()
	ctx, lose := context.WithCancel(t.Context())
	first := eventsOf(t, w.do(ctx, http.MethodPost, `{"jsonrpc":"2.0","id":2,"method":"test/ask"}`, session))
	id, _ := first.next()
	lose()
	if status, _ := w.post(`{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}`, session); status != http.StatusAccepted {
		t.Errorf("an answer: %d", status)
	}
	for range 2 { // as often as the host likes
		again := eventsOf(t, w.do(t.Context(), http.MethodGet, "", session, "Last-Event-ID: "+id))
		if _, data := again.next(); data != `{"jsonrpc":"2.0","id":2,"result":{"action":"accept"}}` {
			t.Errorf("the rest: %s", data)
		}
		if _, data := again.next(); data != "" {
			t.Errorf("after the end: %s", data)
		}
	}
	if r := w.do(t.Context(), http.MethodGet, "", session, "Last-Event-ID: 99-1"); r.StatusCode != http.StatusNotFound {
		t.Errorf("an unknown event: %s", r.Status)
	}
}

// TestAStreamOf20251125IsPrimed has an id to resume from before its first message.
func TestAStreamOf20251125IsPrimed(t *testing.T) {
	w := newWeb(t, mcpserver.HTTPOptions{})
	response := w.do(t.Context(), http.MethodPost, strings.ReplaceAll(hello, "2025-06-18", "2025-11-25"))
	stream := eventsOf(t, response)
	if id, data := stream.next(); id != "2-0" || data != "" {
		t.Errorf("the first event: %q %q", id, data)
	}
	if _, data := stream.next(); !strings.Contains(data, `"2025-11-25"`) {
		t.Errorf("the answer: %s", data)
	}
}

func modern(method, params string) (body string, headers []string) {
	if params != "" {
		params += ","
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s"_meta":{`+
			`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, method, params),
		[]string{"Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: " + method}
}

// TestHeadersOf20260728 checks each header against the body.
func TestHeadersOf20260728(t *testing.T) {
	w := newWeb(t, mcpserver.HTTPOptions{Tool: func(*mcpserver.Session, string) json.RawMessage { return nil }})
	echo, headers := modern("test/echo", "")
	call, callHeaders := modern("prompts/get", `"name":"é"`)
	removed, removedHeaders := modern("ping", "")
	tests := []struct {
		name    string
		body    string
		headers []string
		status  int
		want    string
	}{
		{"as it should be", echo, headers, 200, `"result":{"_meta"`},
		{"no version", echo, []string{"Mcp-Method: test/echo"}, 400, `"code":-32020`},
		{"another version", echo, []string{"Mcp-Protocol-Version: 2026-08-01", "Mcp-Method: test/echo"}, 400, `"code":-32020`},
		{"no method", echo, headers[:1], 400, `"code":-32020`},
		{"another method", echo, []string{headers[0], "Mcp-Method: tools/list"}, 400, `"code":-32020`},
		{"no name", call, callHeaders, 400, `"code":-32020`},
		{"another name", call, append(callHeaders, "Mcp-Name: x"), 400, `"code":-32020`},
		{"not Base64", call, append(callHeaders, "Mcp-Name: =?base64?w6?="), 400, `"code":-32020`},
		{"the name in Base64", call, append(callHeaders, "Mcp-Name: =?base64?w6k=?="), 404, `"code":-32601`},
		{"a method of before", removed, removedHeaders, 404, `"code":-32601`},
		{"nothing in the body", `{"jsonrpc":"2.0","id":1,"method":"test/echo"}`, headers, 400, `"code":-32602`},
		{
			"no capabilities", `{"jsonrpc":"2.0","id":1,"method":"test/echo","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`,
			headers, 400, `"code":-32602`,
		},
		{
			"a version that is not served", strings.ReplaceAll(echo, "2026-07-28", "2099-01-01"),
			[]string{"Mcp-Protocol-Version: 2099-01-01", "Mcp-Method: test/echo"},
			400, `"supported":["2026-07-28"`,
		},
		{"a response", `{"jsonrpc":"2.0","id":1,"result":{}}`, headers, 400, `"code":-32600`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			status, body := w.post(test.body, test.headers...)
			if status != test.status || !strings.Contains(body, test.want) {
				t.Errorf("got %d %s\nwant %d with %s", status, body, test.status, test.want)
			}
		})
	}
}

// TestArgumentsInHeaders are checked by the tool's schema.
func TestArgumentsInHeaders(t *testing.T) {
	schema := `{"properties":{"region":{"type":"string","x-mcp-header":"Region"},"n":{"properties":{"count":{"type":"integer","x-mcp-header":"Count"}}}}}`
	w := newWeb(t, mcpserver.HTTPOptions{Tool: func(*mcpserver.Session, string) json.RawMessage { return []byte(schema) }})
	tests := []struct {
		name, arguments string
		headers         []string
		refused         bool
	}{
		{"both", `{"region":"eu","n":{"count":42}}`, []string{"Mcp-Param-Region: eu", "Mcp-Param-Count: 42.0"}, false},
		{"in Base64", `{"region":"é"}`, []string{"Mcp-Param-Region: =?base64?w6k=?="}, false},
		{"null is absent", `{"region":null}`, nil, false},
		{"a header too many", `{}`, []string{"Mcp-Param-Region: eu"}, true},
		{"a header too few", `{"region":"eu"}`, nil, true},
		{"another value", `{"region":"eu"}`, []string{"Mcp-Param-Region: us"}, true},
		{"another number", `{"n":{"count":42}}`, []string{"Mcp-Param-Count: 43"}, true},
		{"a number that JavaScript rounds", `{"n":{"count":9007199254740993}}`, []string{"Mcp-Param-Count: 9007199254740993"}, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			body, headers := modern("tools/call", `"name":"t","arguments":`+test.arguments)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			response := w.do(ctx, http.MethodPost, body, append(append(headers, "Mcp-Name: t"), test.headers...)...)
			if refused := response.StatusCode != http.StatusOK; refused != test.refused {
				t.Errorf("%s", response.Status)
			}
		})
	}
}

// TestABrokenPOSTCancels the request since 2026-07-28. Two hosts may use the same id.
func TestABrokenPOSTCancels(t *testing.T) {
	w := newWeb(t, mcpserver.HTTPOptions{})
	body, headers := modern("subscriptions/listen", `"notifications":{"toolsListChanged":true}`)
	ctx, lose := context.WithCancel(t.Context())
	lost := eventsOf(t, w.do(ctx, http.MethodPost, body, headers...))
	stays := eventsOf(t, w.do(t.Context(), http.MethodPost, body, headers...))
	for _, stream := range []*events{lost, stays} {
		if _, data := stream.next(); !strings.Contains(data, "acknowledged") {
			t.Fatalf("not acknowledged: %s", data)
		}
	}
	lose()
	publish, headers := modern("test/publish", "")
	if status, _ := w.post(publish, headers...); status != http.StatusOK {
		t.Errorf("publish: %d", status)
	}
	if _, data := stays.next(); !strings.Contains(data, `"io.modelcontextprotocol/subscriptionId":1`) {
		t.Errorf("the one that stays: %s", data)
	}
}

// TestRequestsThatAreRefused are refused before they are read as MCP.
func TestRequestsThatAreRefused(t *testing.T) {
	w := newWeb(t, mcpserver.HTTPOptions{
		MaxFrame: 1 << 10,
		Authorize: func(r *http.Request) (string, bool) {
			token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
			return token, token != ""
		},
	})
	session := w.begin("Authorization: Bearer a")
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	tests := []struct {
		name, method, body string
		headers            []string
		status             int
	}{
		{"no token", "POST", ping, []string{session, "Authorization: "}, 401},
		{"the session of another token", "POST", ping, []string{session, "Authorization: Bearer b"}, 404},
		{"no session", "POST", ping, nil, 400},
		{"an unknown session", "POST", ping, []string{"Mcp-Session-Id: x"}, 404},
		{"an unknown revision", "POST", ping, []string{session, "Mcp-Protocol-Version: 2020-01-01"}, 400},
		{"another type", "POST", ping, []string{session, "Content-Type: text/plain"}, 415},
		{"no stream accepted", "POST", ping, []string{session, "Accept: application/json"}, 406},
		{"too long", "POST", `"` + strings.Repeat("x", 2<<10), []string{session}, 413},
		{"not JSON", "POST", "{", []string{session}, 400},
		{"GET without a session", "GET", "", nil, 405},
		{"GET without a stream", "GET", "", []string{session, "Accept: application/json"}, 406},
		{"DELETE without a session", "DELETE", "", nil, 405},
		{"PUT", "PUT", ping, nil, 405},
		{"as it should be", "POST", ping, []string{session}, 200},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			response := w.do(t.Context(), test.method, test.body, append([]string{"Authorization: Bearer a"}, test.headers...)...)
			if response.StatusCode != test.status {
				t.Errorf("got %s, want %d", response.Status, test.status)
			}
		})
	}
}
