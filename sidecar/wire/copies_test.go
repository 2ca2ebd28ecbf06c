package wire_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"testing/synctest"

	"assent/sidecar/wire"
)

// asking is a server over HTTP with a stream of its own. It gets the answers.
type asking struct {
	stream  *io.PipeWriter
	answers chan string
	// refuse is how many answers the server refuses.
	refuse int
}

func (s *asking) RoundTrip(r *http.Request) (*http.Response, error) {
	response := &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}}
	if r.Method == http.MethodGet {
		response.Body, s.stream = pipe()
		return response, nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	response.StatusCode, response.Body = http.StatusAccepted, http.NoBody
	if s.refuse > 0 {
		s.refuse--
		response.StatusCode = http.StatusBadRequest
		return response, nil
	}
	s.answers <- string(body)
	return response, nil
}

func pipe() (*io.PipeReader, *io.PipeWriter) { return io.Pipe() }

// listen opens the server's own stream, and reads it.
func listen(t *testing.T, h *wire.HTTP) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://asks/mcp", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := h.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, response.Body) }() // ends with the stream
}

// A question that is delivered twice is one question, with one answer.
func TestAQuestionDeliveredTwiceIsOne(t *testing.T) {
	const question = `{"jsonrpc":"2.0","id":%d,"method":"ask","params":{"a":1,"b":{"c":12345678901234567890}}}`
	tests := []struct {
		name  string
		again []string
	}{
		{"the same bytes", []string{question}},
		{"three times more", []string{question, question, question}},
		{"members in another order", []string{`{"params":{"b":{"c":12345678901234567890},"a":1},"method":"ask","id":%d,"jsonrpc":"2.0"}`}},
		{"other spaces", []string{`{"jsonrpc":"2.0", "id":%d, "method":"ask", "params":{"a": 1, "b":{"c":12345678901234567890 }}}`}},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked, answer := 0, make(chan string)
				c, p := connect(t, wire.Options{Serve: map[string]wire.Handler{
					"ask": func(context.Context, json.RawMessage) func() (any, error) {
						asked++
						return func() (any, error) { return <-answer, nil }
					},
				}})
				p.send(fmt.Sprintf(question, i))
				for _, again := range tt.again {
					p.send(fmt.Sprintf(again, i))
				}
				synctest.Wait()
				if asked != 1 {
					t.Errorf("it was asked %d times", asked)
				}
				answer <- "yes"
				p.want(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":"yes"}`, i))
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// Requests that go-sdk serves are not refused for a copy either.
func TestAPingDeliveredTwiceIsOne(t *testing.T) {
	c, p := connect(t, wire.Options{})
	p.send(`{"jsonrpc":"2.0","id":7,"method":"ping"}`)
	p.send(`{"jsonrpc":"2.0","id":7,"method":"ping"}`)
	p.send(`{"jsonrpc":"2.0","id":7,"method":"other"}`)
	p.want(`{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"another request with this id is still open"}}`)
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// A server replays the events of a stream after its last answered question: it asks the person once. An event of another
// id, and one with an answer that the server did not take, is asked.
func TestAReplayedEventIsNotAskedAgain(t *testing.T) {
	const question = `data: {"jsonrpc":"2.0","id":1,"method":"ask","params":{}}` + "\n\n"
	tests := []struct {
		name          string
		first, second string
		refuse        int
		want          int
	}{
		{"the same event", "id: 5\n", "id: 5\n", 0, 1},
		{"the same event, with a name", "id: s_5\n", "event: message\nid: s_5\n", 0, 1},
		{"another event", "id: 5\n", "id: 6\n", 0, 2},
		{"events without ids", "", "", 0, 2},
		{"the same event, after its answer was refused", "id: 5\n", "id: 5\n", 1, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &asking{answers: make(chan string, 2), refuse: tt.refuse}
				asked := 0
				h := wire.NewHTTP(wire.HTTPOptions{
					Endpoint: wire.Endpoint{URL: &url.URL{Scheme: "http", Host: "asks"}, Base: server},
					Options: wire.Options{Serve: map[string]wire.Handler{
						"ask": func(context.Context, json.RawMessage) func() (any, error) {
							asked++
							return func() (any, error) { return "yes", nil }
						},
					}},
				})
				for _, event := range []string{tt.first, tt.second} {
					listen(t, h)
					if _, err := io.WriteString(server.stream, event+question); err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
					_ = server.stream.Close() // cannot fail
				}
				if asked != tt.want || len(server.answers) != tt.want-tt.refuse {
					t.Errorf("it was asked %d times with %d answers, want %d", asked, len(server.answers), tt.want)
				}
				if err := h.Close(); err != nil {
					t.Error(err)
				}
				synctest.Wait()
			})
		})
	}
}

// post sends a request of a session, and returns its captured answer.
func post(t *testing.T, h *wire.HTTP, session, method string) wire.Answer {
	t.Helper()
	return postWith(t, h, http.Header{"Mcp-Session-Id": {session}}, method)
}

func postWith(t *testing.T, h *wire.HTTP, header http.Header, method string) wire.Answer {
	t.Helper()
	ctx, capture := wire.WithCapture(t.Context())
	in, out := io.Pipe()
	go func() { _ = out.CloseWithError(writeTo(out, method)) }()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://asks/mcp", in)
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range header {
		r.Header[name] = slices.Clone(values)
	}
	if response, err := h.RoundTrip(r); err == nil {
		_, _ = io.Copy(io.Discard, response.Body) // the capture has what counts
		_ = response.Body.Close()
	}
	return capture.Answer()
}

func writeTo(w io.Writer, method string) error {
	_, err := fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"method":%q,"params":{}}`, method)
	return err
}
