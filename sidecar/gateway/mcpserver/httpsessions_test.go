package mcpserver_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"assent/sidecar/gateway/mcpserver"
)

// inMemory is a host that reaches the handler without a network.
type inMemory struct {
	handler *mcpserver.HTTP
	server  *fake
}

// credential is the context key of what a request shows.
type credential struct{}

func newInMemory(idle time.Duration) *inMemory {
	m := &inMemory{server: &fake{}}
	m.handler = mcpserver.NewHTTP(m.server, mcpserver.HTTPOptions{
		Authorize: func(r *http.Request) (string, bool) {
			shown, ok := r.Context().Value(credential{}).(string)
			return shown, ok
		},
		IdleTime: idle, Log: zerolog.Nop(),
	})
	return m
}

// send sends a request of the host with a token, and returns the answer once it has ended.
func (m *inMemory) send(ctx context.Context, token, method, session, body string) *http.Response {
	w := httptest.NewRecorder()
	m.serve(ctx, w, token, method, session, body)
	return w.Result()
}

func (m *inMemory) serve(ctx context.Context, w http.ResponseWriter, token, method, session, body string) {
	r := httptest.NewRequestWithContext(context.WithValue(ctx, credential{}, token), method, "/mcp", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	m.handler.ServeHTTP(w, r)
}

// begin begins a session of a host before 2026-07-28.
func (m *inMemory) begin(ctx context.Context, token string) (session string) {
	return m.send(ctx, token, http.MethodPost, "", hello).Header.Get("Mcp-Session-Id")
}

const (
	ping       = `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	waits      = `{"jsonrpc":"2.0","id":3,"method":"test/wait"}`
	modernEcho = `{"jsonrpc":"2.0","id":4,"method":"test/echo","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
)

// modernOf is modernEcho of a program.
func modernOf(name string) string {
	return strings.Replace(modernEcho, `"_meta":{`, `"_meta":{"io.modelcontextprotocol/clientInfo":{"name":"`+name+`"},`, 1)
}

func TestSessionsEndWhenTheyAreIdle(t *testing.T) {
	for _, test := range []struct {
		name string
		// uses begins a session and uses it. What it leaves open ends with ctx.
		uses  func(ctx context.Context, m *inMemory)
		ended int // after the idle time
		later int // after the open requests and another idle time
	}{
		{"a session that nothing comes from", func(ctx context.Context, m *inMemory) { m.begin(ctx, "a") }, 1, 1},
		{"three sessions", func(ctx context.Context, m *inMemory) {
			for range 3 {
				m.begin(ctx, "a")
			}
		}, 3, 3},
		{"one that was used until now", func(ctx context.Context, m *inMemory) {
			session := m.begin(ctx, "a")
			for range 10 {
				time.Sleep(20 * time.Minute)
				m.send(ctx, "a", http.MethodPost, session, ping)
			}
		}, 1, 1},
		{"one with an open stream", func(ctx context.Context, m *inMemory) {
			session := m.begin(ctx, "a")
			go m.send(ctx, "a", http.MethodGet, session, "")
		}, 0, 1},
		{"one with an open request", func(ctx context.Context, m *inMemory) {
			session := m.begin(ctx, "a")
			go m.send(ctx, "a", http.MethodPost, session, waits)
		}, 0, 1},
		{"one whose request runs, and whose host has gone", func(ctx context.Context, m *inMemory) {
			session := m.begin(ctx, "a")
			gone, leave := context.WithCancel(ctx)
			go m.send(gone, "a", http.MethodPost, session, waits)
			synctest.Wait()
			leave()
		}, 1, 1},
		{"one of 2026-07-28", func(ctx context.Context, m *inMemory) { m.send(ctx, "a", http.MethodPost, "", modernEcho) }, 1, 1},
		{"those of three programs of 2026-07-28", func(ctx context.Context, m *inMemory) {
			for _, name := range []string{"one", "two", "one", "three"} {
				m.send(ctx, "a", http.MethodPost, "", modernOf(name))
			}
		}, 3, 3},
		{"one that the host ended", func(ctx context.Context, m *inMemory) {
			m.send(ctx, "a", http.MethodDelete, m.begin(ctx, "a"), "")
		}, 1, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newInMemory(0)
				ctx, leave := context.WithCancel(t.Context())
				test.uses(ctx, m)
				time.Sleep(mcpserver.DefaultIdleTime + time.Second)
				synctest.Wait()
				if m.server.ended != test.ended {
					t.Errorf("%d sessions have ended, want %d", m.server.ended, test.ended)
				}
				leave()
				time.Sleep(mcpserver.DefaultIdleTime + time.Second)
				synctest.Wait()
				if m.server.ended != test.later {
					t.Errorf("later %d sessions have ended, want %d", m.server.ended, test.later)
				}
				m.handler.Close()
			})
		})
	}
}

// stalled is a response that does not send its head before more is closed.
type stalled struct {
	*httptest.ResponseRecorder
	more chan struct{}
}

func (s stalled) WriteHeader(status int) {
	<-s.more
	s.ResponseRecorder.WriteHeader(status)
}

// A host is there for as long as one of its HTTP requests is open, also before that is answered with a stream.
func TestAHostWithAnOpenRequestIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newInMemory(0)
		session := m.begin(t.Context(), "a")
		slow := stalled{httptest.NewRecorder(), make(chan struct{})}
		go m.serve(t.Context(), slow, "a", http.MethodPost, session, `{"jsonrpc":"2.0","id":2,"method":"test/there"}`)
		synctest.Wait()
		if !slices.Equal(m.server.there, []bool{true}) {
			t.Errorf("during its request the host is there: %v", m.server.there)
		}
		close(slow.more)
		synctest.Wait()
		if m.server.session.IsThere() {
			t.Error("a host without an open request is there")
		}
		m.handler.Close()
	})
}

// Nothing is served in a session that has ended, however it ended.
func TestASessionThatHasEnded(t *testing.T) {
	for _, test := range []struct {
		name string
		end  func(m *inMemory, session string)
		// again is the status with which the host begins another session.
		again int
	}{
		{"idle", func(*inMemory, string) { time.Sleep(2 * time.Second) }, http.StatusOK},
		{"ended by the host", func(m *inMemory, session string) {
			m.send(context.Background(), "a", http.MethodDelete, session, "")
		}, http.StatusOK},
		{"its token taken back", func(m *inMemory, _ string) { m.handler.End("a") }, http.StatusOK},
		{"closed", func(m *inMemory, _ string) { m.handler.Close() }, http.StatusServiceUnavailable},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newInMemory(time.Second)
				other := m.begin(t.Context(), "b")
				session := m.begin(t.Context(), "a")
				open := make(chan int, 2)
				if test.name != "idle" {
					go func() { open <- m.send(t.Context(), "a", http.MethodGet, session, "").StatusCode }()
					go func() { open <- m.send(t.Context(), "a", http.MethodPost, session, waits).StatusCode }()
					synctest.Wait()
				}
				test.end(m, session)
				synctest.Wait()
				if test.name != "idle" && len(open) != 2 {
					t.Errorf("%d streams have ended, want 2", len(open))
				}
				m.server.session = nil
				for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
					if r := m.send(t.Context(), "a", method, session, ping); r.StatusCode != http.StatusNotFound {
						t.Errorf("%s: %s", method, r.Status)
					}
				}
				if m.server.session != nil {
					t.Error("the server was asked for a session that has ended")
				}
				if r := m.send(t.Context(), "a", http.MethodPost, "", hello); r.StatusCode != test.again {
					t.Errorf("a new session: %s", r.Status)
				}
				if isThere := m.send(t.Context(), "b", http.MethodPost, other, ping).StatusCode == http.StatusOK; isThere != (test.again == http.StatusOK && test.name != "idle") {
					t.Errorf("the other host's session is there: %v", isThere)
				}
				m.handler.Close()
			})
		})
	}
}

// A request that was let in before its token was taken back begins no session.
func TestARequestWhoseTokenWasTakenBack(t *testing.T) {
	for _, body := range []string{hello, modernEcho} {
		m := newInMemory(0)
		ctx, takeBack := context.WithCancel(t.Context())
		takeBack()
		if r := m.send(ctx, "a", http.MethodPost, "", body); r.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("it was answered with %s", r.Status)
		}
		m.handler.Close()
	}
}

// A host has a hundred sessions at most. One more ends the one that rests longest, or there is none.
func TestTheNumberOfSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newInMemory(0)
		var sessions []string
		for range 100 {
			sessions = append(sessions, m.begin(t.Context(), "a"))
			time.Sleep(time.Second)
		}
		m.send(t.Context(), "a", http.MethodPost, sessions[0], ping)
		m.begin(t.Context(), "b")
		m.begin(t.Context(), "a")
		for i, want := range []int{http.StatusOK, http.StatusNotFound, http.StatusOK} {
			if r := m.send(t.Context(), "a", http.MethodPost, sessions[i], ping); r.StatusCode != want {
				t.Errorf("session %d: %s", i, r.Status)
			}
		}
		m.handler.End("a")
		for range 100 {
			session := m.begin(t.Context(), "a")
			go m.send(t.Context(), "a", http.MethodGet, session, "")
			synctest.Wait()
		}
		if r := m.send(t.Context(), "a", http.MethodPost, "", hello); r.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("a hundred sessions are in use, and one more: %s", r.Status)
		}
		if r := m.send(t.Context(), "a", http.MethodPost, "", modernEcho); r.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("one more of 2026-07-28: %s", r.Status)
		}
		if r := m.send(t.Context(), "b", http.MethodPost, "", hello); r.StatusCode != http.StatusOK {
			t.Errorf("another host: %s", r.Status)
		}
		m.handler.Close()
	})
}
