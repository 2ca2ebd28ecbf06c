package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gofrs/flock"
)

// rotating is an MCP server of 2025-11-25 over HTTP, and its authorization server, which gives a refresh token for one
// use. A second use ends the login for good (RFC 9700, section 4.14.2).
type rotating struct {
	*httptest.Server
	t *testing.T
	// renewing is called, with the lock, before a refresh token is used.
	renewing func()

	mu      sync.Mutex // guards the fields below
	access  string     // what the server takes
	refresh string     // what the token endpoint takes
	renewed int
}

func newRotating(t *testing.T) *rotating {
	r := &rotating{t: t, access: "access-0", refresh: "refresh-0"}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /mcp", r.serve)
	mux.HandleFunc("POST /token", r.token)
	r.Server = httptest.NewServer(mux)
	t.Cleanup(r.Close)
	return r
}

// expire ends the access token.
func (r *rotating) expire() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.access = "expired"
}

func (r *rotating) renewals() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.renewed
}

func (r *rotating) serve(w http.ResponseWriter, request *http.Request) {
	r.mu.Lock()
	allowed := request.Header.Get("Authorization") == "Bearer "+r.access
	r.mu.Unlock()
	if !allowed {
		w.Header().Set("WWW-Authenticate", "Bearer")
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	var m struct {
		ID     json.RawMessage
		Method string
	}
	if err := json.NewDecoder(request.Body).Decode(&m); err != nil {
		r.t.Error(err)
	}
	w.Header().Set("Content-Type", "application/json")
	say := func(format string, v ...any) {
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,`+format+"}", append([]any{m.ID}, v...)...)
	}
	switch {
	case m.ID == nil:
		w.WriteHeader(http.StatusAccepted)
	case m.Method == "initialize":
		say(`"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"rotating","version":"1"}}`)
	case m.Method == "tools/list":
		say(`"result":{"tools":[{"name":"look","inputSchema":{"type":"object"}}]}`)
	case m.Method == "tools/call":
		say(`"result":{"content":[{"type":"text","text":"seen"}]}`)
	default:
		say(`"error":{"code":-32601,"message":"Method not found"}`)
	}
}

func (r *rotating) token(w http.ResponseWriter, request *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.renewing != nil {
		r.renewing()
	}
	w.Header().Set("Content-Type", "application/json")
	if request.FormValue("refresh_token") != r.refresh {
		r.access, r.refresh = "ended", "ended"
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"error":"invalid_grant"}`)
		return
	}
	r.renewed++
	r.access, r.refresh = fmt.Sprintf("access-%d", r.renewed), fmt.Sprintf("refresh-%d", r.renewed)
	fmt.Fprintf(w, `{"access_token":%q,"refresh_token":%q,"token_type":"Bearer"}`, r.access, r.refresh)
}

// keptSecrets are the secrets that the front ends of all windows share, as VS Code's SecretStorage.
type keptSecrets struct {
	mu     sync.Mutex // guards the field below
	values map[string]json.RawMessage
}

// answer answers a request about secrets.
func (k *keptSecrets) answer(method string, params json.RawMessage) (any, error) {
	var p struct {
		Key   string
		Value json.RawMessage
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	switch method {
	case "secret/get":
		return map[string]any{"value": k.values[p.Key]}, nil
	case "secret/set":
		k.values[p.Key] = p.Value
		return map[string]any{}, nil
	default:
		return nil, fmt.Errorf("the sidecar asks for %s %s", method, params)
	}
}

// loginWindow is a sidecar and its front end, which has secrets and answers requests about them.
type loginWindow struct {
	*talk
	secrets *keptSecrets
}

// newLoginWindow starts a sidecar on a data folder of its own, as a window on another workspace does.
func newLoginWindow(t *testing.T, home daemonHome, secrets *keptSecrets, loginsDir, server string) *loginWindow {
	t.Helper()
	w := &loginWindow{startTalk(t, home.command("serve", "--data-dir", t.TempDir(), "--logins-dir", loginsDir)), secrets}
	if err := w.request("initialize", map[string]any{
		"protocolVersion": 1, "clientInfo": map[string]any{"name": "a test", "version": "1"},
		"capabilities":  map[string]any{"secrets": true, "openUrl": true},
		"configuration": map[string]any{"model": map[string]any{}, "servers": map[string]any{"s": map[string]any{"url": server}}},
	}); err != nil {
		t.Fatal(err)
	}
	return w
}

// request makes a request that must succeed. Meanwhile it answers the sidecar's.
func (w *loginWindow) request(method string, params any) error {
	id, err := w.send(method, params)
	if err != nil {
		return err
	}
	for {
		m, err := w.next()
		switch {
		case err != nil:
			return err
		case m.ID == nil:
		case m.Method != "":
			result, err := w.secrets.answer(m.Method, m.Params)
			if err != nil {
				return err
			}
			body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": *m.ID, "result": result})
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(w.stdin, "Content-Length: %d\r\n\r\n%s", len(body), body); err != nil {
				return err
			}
		case *m.ID != id:
		case m.Error != nil:
			return errors.New(m.Error.Message)
		default:
			return nil
		}
	}
}

// TestTwoSidecarsRenewALoginOnce runs two sidecars of windows on different workspaces, which share their secrets.
func TestTwoSidecarsRenewALoginOnce(t *testing.T) {
	server := newRotating(t)
	loginsDir := filepath.Join(t.TempDir(), "logins")
	at, token := server.URL+"/mcp", server.URL+"/token"
	secrets := &keptSecrets{values: map[string]json.RawMessage{}}
	keep := func(key string, value any) {
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		if secrets.values[key], err = json.Marshal(map[string]string{"secret": string(text)}); err != nil {
			t.Fatal(err)
		}
	}
	secret := func(value string) map[string]string { return map[string]string{"secret": value} }
	keep("oauth/server/"+at+"#", map[string]any{"issuer": server.URL, "clientId": "c"})
	keep("oauth/token/"+server.URL+"#c#"+at, map[string]any{
		"issuer": server.URL, "resource": at, "tokenUrl": token, "client": map[string]any{"id": "c", "secret": secret(""), "method": "none"},
		"access": secret("access-0"), "refresh": secret("refresh-0"),
	})
	server.renewing = func() {
		locks, err := filepath.Glob(filepath.Join(loginsDir, "*.lock"))
		if err != nil || len(locks) != 1 {
			t.Errorf("locks %q, %v; want one", locks, err)
			return
		}
		lock := flock.New(locks[0])
		if locked, err := lock.TryLock(); err != nil || locked {
			t.Errorf("another process locks the login while it is renewed: %v, %v", locked, err)
		}
		if err := lock.Close(); err != nil {
			t.Error(err)
		}
	}

	home := newDaemonHome(t)
	windows := []*loginWindow{newLoginWindow(t, home, secrets, loginsDir, at), newLoginWindow(t, home, secrets, loginsDir, at)}
	const rounds = 5
	for round := range rounds {
		if round > 0 {
			server.expire()
		}
		var working sync.WaitGroup
		for _, w := range windows {
			working.Go(func() {
				if err := w.request("server/restart", map[string]any{"serverName": "s"}); err != nil {
					t.Errorf("round %d: %v", round, err)
				}
			})
		}
		working.Wait()
		if n := server.renewals(); n != round {
			t.Fatalf("%d renewals after round %d", n, round)
		}
	}
	for key, value := range secrets.values {
		if strings.HasPrefix(key, "oauth/token/") && !strings.Contains(string(value), fmt.Sprintf("refresh-%d", rounds-1)) {
			t.Errorf("what is kept is not the last grant: %s", value)
		}
	}
}
