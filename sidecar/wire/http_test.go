package wire_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"assent/sidecar/wire"
)

// roundTripper is a server as a function.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A server that does not answer the DELETE of its session does not delay the end.
func TestAServerThatIsSilentOnTheEndOfItsSessionIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := roundTripper(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		h := wire.NewHTTP(wire.HTTPOptions{Endpoint: wire.Endpoint{URL: &url.URL{Scheme: "http", Host: "silent"}, Base: silent}})
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
		// go-sdk ends its session like this, with a context that never ends.
		r, err := http.NewRequestWithContext(context.Background(), http.MethodDelete, "http://silent", nil)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := h.RoundTrip(r); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the end was taken: %v", err)
		}
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("it was waited for %v", took)
		}
	})
}

// go-sdk does not read the stream of a call that another client makes. An unknown request in that stream is still
// answered.
func TestAnUnknownRequestBesideGoSDKIsRefused(t *testing.T) {
	var answers chan string
	server := roundTripper(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		response := &http.Response{StatusCode: http.StatusAccepted, Header: http.Header{}, Body: http.NoBody}
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if err := json.Unmarshal(body, &m); err != nil {
			return nil, err
		}
		if m.Method == "" {
			answers <- string(body)
			return response, nil
		}
		stream, question := io.Pipe()
		go func() {
			_, _ = io.WriteString(question, "data: {\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"unknown\"}\n\n")
			fmt.Fprintf(question, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"answer\":%q}}\n\n", m.ID, <-answers)
		}()
		response.StatusCode, response.Body = http.StatusOK, stream
		response.Header.Set("Content-Type", "text/event-stream")
		return response, nil
	})
	synctest.Test(t, func(t *testing.T) {
		answers = make(chan string, 1)
		h := wire.NewHTTP(wire.HTTPOptions{Endpoint: wire.Endpoint{URL: &url.URL{Scheme: "http", Host: "asks"}, Base: server}})
		result, err := h.Call(t.Context(), "tasks/get", map[string]string{})
		if want := `{"answer":"{\"jsonrpc\":\"2.0\",\"id\":9,\"error\":{\"code\":-32601,\"message\":\"Method not found\"}}"}`; err != nil || string(result) != want {
			t.Errorf("the call returned %s, %v, want %s", result, err, want)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
}

// An answer to a question of the server that may not have arrived is sent again: a second one does no harm, and without one the
// server waits for ever.
func TestAnAnswerThatMayNotHaveArrivedIsSentAgain(t *testing.T) {
	reset := &net.OpError{Op: "read", Err: syscall.ECONNRESET}
	tests := []struct {
		name string
		fail func(posts int) (reply, error)
		want int
		err  string
	}{
		{"a reset", func(n int) (reply, error) { return words(202, ""), map[bool]error{true: reset}[n == 1] }, 2, ""},
		{"a connection that ends", func(n int) (reply, error) { return words(202, ""), map[bool]error{true: io.EOF}[n < 3] }, 3, ""},
		{"resets for ever", func(int) (reply, error) { return reply{}, reset }, 5, "connection reset"},
		{"500 once", func(n int) (reply, error) { return words(map[bool]int{true: 500, false: 202}[n == 1], "oops"), nil }, 2, ""},
		{"500 with an error once", func(n int) (reply, error) {
			return map[bool]reply{true: refusal(500, "7", "oops"), false: words(202, "")}[n == 1], nil
		}, 2, ""},
		{"500 for ever", func(int) (reply, error) { return words(500, "oops"), nil }, 6, "HTTP 500 Internal Server Error: oops"},
		{"400", func(int) (reply, error) { return words(400, "what?"), nil }, 1, "HTTP 400 Bad Request: what?"},
		{"another error", func(int) (reply, error) { return reply{}, errors.New("no login") }, 1, "no login"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var answers []string
				told := make(chan error, 1)
				h := wire.NewHTTP(wire.HTTPOptions{
					Endpoint: wire.Endpoint{URL: &url.URL{Scheme: "http", Host: "asks"}, Base: roundTripper(func(r *http.Request) (*http.Response, error) {
						if r.Method == http.MethodGet {
							return reply{200, http.Header{"Content-Type": {"text/event-stream"}}, "data: {\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ask\"}\n\n"}.response(), nil
						}
						body, err := io.ReadAll(r.Body)
						if err != nil {
							return nil, err
						}
						answers = append(answers, string(body))
						said, err := tt.fail(len(answers))
						return said.response(), err
					})},
					Options: wire.Options{Serve: map[string]wire.Handler{
						"ask": func(ctx context.Context, _ json.RawMessage) func() (any, error) {
							wire.WhenDelivered(ctx, func(err error) { told <- err })
							return func() (any, error) { return "yes", nil }
						},
					}},
				})
				listen(t, h)
				if err := <-told; tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
					t.Errorf("told %v, want %q", err, tt.err)
				}
				if want := slices.Repeat([]string{`{"jsonrpc":"2.0","id":7,"result":"yes"}`}, tt.want); !slices.Equal(answers, want) {
					t.Errorf("the server got %q, want %q", answers, want)
				}
				if err := h.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// Some servers give a session a new id with each response. The last one counts, and go-sdk does not see it: it would end the
// session.
func TestAServerThatRenewsTheIDOfASession(t *testing.T) {
	var got []string
	server := roundTripper(func(r *http.Request) (*http.Response, error) {
		got = append(got, r.Method+" "+r.Header.Get("Mcp-Session-Id"))
		response := reply{200, http.Header{"Content-Type": {"application/json"}, "Mcp-Session-Id": {fmt.Sprint("id-", len(got))}}, fine}.response()
		if len(got) == 3 { // a refusal renews nothing
			response.StatusCode = http.StatusInternalServerError
		}
		return response, nil
	})
	h := over(server)
	send := func(method, session string) string {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, "http://asks/mcp", nil)
		if err != nil {
			t.Fatal(err)
		}
		if method == http.MethodPost {
			r.Body = io.NopCloser(strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
		}
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
		}
		response, err := h.RoundTrip(r)
		if err != nil {
			return ""
		}
		if err := response.Body.Close(); err != nil {
			t.Error(err)
		}
		return response.Header.Get("Mcp-Session-Id")
	}
	seen := []string{
		send(http.MethodPost, ""), send(http.MethodPost, "id-1"), send(http.MethodPost, "id-1"),
		send(http.MethodPost, "id-1"), send(http.MethodGet, "id-1"), send(http.MethodDelete, "id-1"),
	}
	if diff := cmp.Diff([]string{"id-1", "", "", "", "", ""}, seen); diff != "" {
		t.Errorf("go-sdk saw (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"POST ", "POST id-1", "POST id-2", "POST id-2", "GET id-4", "DELETE id-5"}, got); diff != "" {
		t.Errorf("the server got (-want +got):\n%s", diff)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}

// go-sdk's reason is the text of a Go error.
func TestACancellationOverHTTPHasAReasonInPlainWords(t *testing.T) {
	got := make(chan string, 1)
	server := roundTripper(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		got <- string(body)
		return &http.Response{StatusCode: http.StatusAccepted, Header: http.Header{}, Body: http.NoBody}, err
	})
	h := wire.NewHTTP(wire.HTTPOptions{Endpoint: wire.Endpoint{URL: &url.URL{Scheme: "http", Host: "told"}, Base: server}})
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	const message = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4,"reason":%q}}`
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://told", strings.NewReader(fmt.Sprintf(message, "context canceled")))
	if err != nil {
		t.Fatal(err)
	}
	response, err := h.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		t.Error(err)
	}
	if got, want := <-got, fmt.Sprintf(message, "the client no longer waits for the result"); got != want {
		t.Errorf("the server got %s, want %s", got, want)
	}
}
