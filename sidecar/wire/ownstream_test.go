package wire_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"assent/sidecar/wire"
)

// ownStream asks for the server's own stream, as go-sdk does in its handshake.
func ownStream(t *testing.T, h *wire.HTTP) (*http.Response, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://asks/mcp", nil)
	if err != nil {
		t.Fatal(err)
	}
	return h.RoundTrip(r)
}

// Some servers and proxies send the header of a stream with its first event. The handshake goes on without it.
func TestAServerThatBeginsItsOwnStreamLate(t *testing.T) {
	const event = "id: 7\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n"
	events := http.Header{"Content-Type": {"text/event-stream"}}
	for _, tt := range []struct {
		name  string
		reply reply
		err   error
		want  string
	}{
		{"its events arrive", reply{200, events, event}, nil, "id: 7"},
		{"it offers none after all", words(405, ""), nil, ""},
		{"it sends a page", words(200, "<h1>hi"), nil, ""},
		{"it breaks off", reply{}, io.ErrUnexpectedEOF, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := make(chan struct{})
				h := over(roundTripper(func(r *http.Request) (*http.Response, error) {
					select {
					case <-begin:
					case <-r.Context().Done():
						return nil, r.Context().Err()
					}
					return tt.reply.response(), tt.err
				}))
				began := time.Now()
				response, err := ownStream(t, h)
				if err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began); took != time.Second || response.StatusCode != 200 || response.Header.Get("Content-Type") != "text/event-stream" {
					t.Errorf("after %v: %d %v", took, response.StatusCode, response.Header)
				}
				read := make(chan string, 1)
				go func() {
					buffer := make([]byte, 1000)
					n, _ := response.Body.Read(buffer)
					read <- string(buffer[:n])
				}()
				synctest.Wait()
				close(begin)
				synctest.Wait()
				select {
				case got := <-read:
					if tt.want == "" || !strings.Contains(got, tt.want) {
						t.Errorf("the stream has %q", got)
					}
				default:
					if tt.want != "" {
						t.Error("the stream has no event")
					}
				}
				if err := errors.Join(h.Close(), response.Body.Close()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestAServerThatNeverBeginsItsOwnStreamIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := over(roundTripper(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}))
		response, err := ownStream(t, h)
		if err != nil {
			t.Fatal(err)
		}
		if err := response.Body.Close(); err != nil {
			t.Error(err)
		}
		synctest.Wait() // the bubble would not end before the request
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
}

// The session is used without a stream that the server breaks off again and again. One that broke later is asked for again.
func TestAServerThatBreaksOffItsOwnStream(t *testing.T) {
	for _, tt := range []struct {
		name  string
		works bool
	}{{"from the beginning", false}, {"later", true}} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				works := tt.works
				h := over(roundTripper(func(*http.Request) (*http.Response, error) {
					if works {
						return reply{200, http.Header{"Content-Type": {"text/event-stream"}}, ": open\n\n"}.response(), nil
					}
					return nil, io.ErrUnexpectedEOF
				}))
				if works {
					response, err := ownStream(t, h)
					if err != nil || response.StatusCode != 200 {
						t.Fatalf("%v, %v", response, err)
					}
					if err := response.Body.Close(); err != nil {
						t.Error(err)
					}
					works = false
				}
				if _, err := ownStream(t, h); !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Errorf("the first failure: %v", err)
				}
				response, err := ownStream(t, h)
				if none := err == nil && response.StatusCode == http.StatusMethodNotAllowed; none == tt.works {
					t.Errorf("the second failure: %v, %v", response, err)
				}
				if err := h.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
