package wire_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"assent/sidecar/wire"
)

// If too many answers are waiting, the connection reads no faster than the server does. All requests are answered.
func TestAServerThatDoesNotReadIsNotReadForEver(t *testing.T) {
	const most, many = 4096, 20_000
	for name, method := range map[string]string{"requests of ours": "ask", "requests of go-sdk's": "ping"} {
		t.Run(name, func(t *testing.T) {
			c, p := connectLines(t, wire.Options{Serve: map[string]wire.Handler{
				"ask": handler(func(context.Context, json.RawMessage) (any, error) { return "yes", nil }),
			}}, func([]byte) {}, 0)
			defer c.Close()
			queue := make(chan jsonrpc.ID, many)
			go func() { // go-sdk reads every message, and answers one after the other
				defer close(queue)
				for {
					m, err := c.Read(context.Background())
					if err != nil {
						return
					}
					queue <- m.(*jsonrpc.Request).ID
				}
			}()
			go func() {
				for id := range queue {
					_ = c.Write(context.Background(), &jsonrpc.Response{ID: id, Result: json.RawMessage(`"yes"`)}) // or the end
				}
			}()
			var sent atomic.Int64
			enough, all := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(all)
				for i := range many {
					if _, err := fmt.Fprintf(p.out, `{"jsonrpc":"2.0","id":%d,"method":%q}`+"\n", i, method); err != nil {
						return
					}
					if sent.Add(1) == most {
						close(enough)
					}
				}
			}()
			<-enough
			for answered := range int64(many) {
				// Buffered messages count as read.
				if ahead := sent.Load() - answered; ahead > most+2000 {
					t.Fatalf("%d were read after the last answer", ahead)
				}
				if _, err := p.in.ReadString('\n'); err != nil {
					t.Fatal(err)
				}
			}
			<-all
		})
	}
}

// Over HTTP each answer is a POST, also go-sdk's own, and the server may accept it at any time.
func TestAServerThatTakesNoAnswersIsNotReadForEver(t *testing.T) {
	const most, many = 4096, 7000
	synctest.Test(t, func(t *testing.T) {
		questions, asking := io.Pipe()
		taken := make(chan struct{})
		server := roundTripper(func(r *http.Request) (*http.Response, error) {
			response := &http.Response{StatusCode: http.StatusAccepted, Header: http.Header{}, Body: http.NoBody}
			var m struct {
				ID     json.RawMessage
				Method string
			}
			if r.Method == http.MethodPost {
				if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
					return nil, err
				}
			}
			switch {
			case r.Method == http.MethodGet:
				response.StatusCode, response.Body = http.StatusOK, questions
				response.Header.Set("Content-Type", "text/event-stream")
			case m.Method == "initialize":
				response.StatusCode = http.StatusOK
				response.Header.Set("Content-Type", "application/json")
				response.Body = io.NopCloser(strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`, m.ID)))
			case m.Method == "" && r.Method == http.MethodPost:
				<-taken
			}
			return response, nil
		})
		h := wire.NewHTTP(wire.HTTPOptions{Endpoint: wire.Endpoint{URL: &url.URL{Scheme: "http", Host: "slow"}, Base: server}})
		session, err := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, nil).Connect(t.Context(), h.Transport(), &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
		if err != nil {
			t.Fatal(err)
		}
		var sent atomic.Int64
		go func() {
			for i := range many {
				if _, err := fmt.Fprintf(asking, "data: {\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ping\"}\n\n", i); err != nil {
					t.Error(err)
					return
				}
				sent.Add(1)
			}
		}()
		synctest.Wait()
		// Buffered messages count as read.
		if got := sent.Load(); got < most || got > most+2000 {
			t.Errorf("%d were read of a server that takes no answer", got)
		}
		for range many {
			taken <- struct{}{}
		}
		if err := errors.Join(h.Close(), asking.Close(), session.Close()); err != nil {
			t.Error(err)
		}
	})
}

// No notification reaches go-sdk, because go-sdk's queue has no bound. The handlers run in the order of the frames, each
// before the next frame is read.
func TestNotificationsDoNotQueue(t *testing.T) {
	const many = 1000
	synctest.Test(t, func(t *testing.T) {
		var told int
		c, p := connect(t, wire.Options{Notify: map[string]func(json.RawMessage){
			"notifications/message": func(json.RawMessage) { told++ },
		}})
		for range many { // no goroutine calls Read
			p.send(`{"jsonrpc":"2.0","method":"notifications/message","params":{}}`)
			p.send(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
			p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`)
			p.send(`{"jsonrpc":"2.0","method":"notifications/unknown"}`)
		}
		p.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		if m, err := c.Read(t.Context()); err != nil || m.(*jsonrpc.Request).Method != "ping" || told != many {
			t.Errorf("go-sdk read %+v, %v after %d notifications of %d", m, err, told, many)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// The server floods while its connection is closed. Only frames that are already read are handled before the end.
func TestClosingInAFloodWaitsForNoQueue(t *testing.T) {
	const many = 10_000
	synctest.Test(t, func(t *testing.T) {
		var told atomic.Int64
		first := make(chan struct{})
		c, p := connect(t, wire.Options{Notify: map[string]func(json.RawMessage){
			"notifications/message": func(json.RawMessage) {
				told.Add(1)
				<-first
			},
		}})
		flooded := make(chan struct{})
		go func() {
			defer close(flooded)
			for range many {
				if _, err := io.WriteString(p.out, `{"jsonrpc":"2.0","method":"notifications/message","params":{}}`+"\n"); err != nil {
					return
				}
			}
		}()
		synctest.Wait() // the flood waits for the first notification
		closed := make(chan error)
		go func() { closed <- c.Close() }()
		<-flooded
		close(first)
		if err := <-closed; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if got := told.Load(); got > many/10 {
			t.Errorf("%d of %d notifications were handled", got, many)
		}
	})
}

// The same applies to Streamable HTTP, for the stream of a call and for the server's own stream.
func TestNotificationsOverHTTPDoNotQueue(t *testing.T) {
	const many = 1000
	flood := strings.Repeat("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":1}}\n\n", many)
	synctest.Test(t, func(t *testing.T) {
		server := roundTripper(func(r *http.Request) (*http.Response, error) {
			response := &http.Response{StatusCode: http.StatusAccepted, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: http.NoBody}
			var m struct {
				ID     json.RawMessage
				Method string
			}
			if r.Method == http.MethodPost {
				if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
					return nil, err
				}
			}
			stream := ""
			switch {
			case r.Method == http.MethodGet:
				stream = flood
			case m.Method == "initialize":
				stream = fmt.Sprintf("data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}}\n\n", m.ID)
			case m.Method == "ping":
				stream = flood + fmt.Sprintf("data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}\n\n", m.ID)
			}
			if stream != "" {
				response.StatusCode, response.Body = http.StatusOK, io.NopCloser(strings.NewReader(stream))
			}
			return response, nil
		})
		var told atomic.Int64
		h := wire.NewHTTP(wire.HTTPOptions{
			Endpoint: wire.Endpoint{URL: &url.URL{Scheme: "http", Host: "flood"}, Base: server},
		})
		client := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, &mcp.ClientOptions{
			LoggingMessageHandler: func(context.Context, *mcp.LoggingMessageRequest) { told.Add(1) },
		})
		session, err := client.Connect(t.Context(), h.Transport(), &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
		if err != nil {
			t.Fatal(err)
		}
		if err := session.Ping(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := told.Load(); got != 0 {
			t.Errorf("go-sdk was given %d notifications", got)
		}
		if err := errors.Join(h.Close(), session.Close()); err != nil {
			t.Error(err)
		}
	})
}
