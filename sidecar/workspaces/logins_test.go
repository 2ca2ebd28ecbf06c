package workspaces_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"assent/protocol"
	"assent/sidecar/rpc"
	"assent/sidecar/workspaces"
)

// rotating is an MCP server of 2025-11-25 over HTTP, and its authorization server. A refresh token is for one use. A second
// use ends the login for good (RFC 9700, section 4.14.2).
type rotating struct {
	*httptest.Server
	t *testing.T

	mu      sync.Mutex // guards the fields below
	renewed int
	access  string // what the server takes
	refresh string // what the token endpoint takes
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
	results := map[string]string{
		"initialize":     `{"protocolVersion":"2025-11-25","capabilities":{"resources":{}},"serverInfo":{"name":"rotating","version":"1"}}`,
		"resources/list": `{"resources":[]}`,
		"ping":           `{}`,
	}
	switch result := results[m.Method]; {
	case m.ID == nil:
		w.WriteHeader(http.StatusAccepted)
	case result != "":
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	default:
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, m.ID)
	}
}

func (r *rotating) token(w http.ResponseWriter, request *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if got := request.FormValue("refresh_token"); got != r.refresh {
		r.t.Errorf("the refresh token %q was used, and the newest is %q", got, r.refresh)
		r.access, r.refresh = "ended", "ended"
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"error":"invalid_grant"}`)
		return
	}
	r.renewed++
	r.access, r.refresh = fmt.Sprintf("access-%d", r.renewed), fmt.Sprintf("refresh-%d", r.renewed)
	fmt.Fprintf(w, `{"access_token":%q,"refresh_token":%q,"token_type":"Bearer"}`, r.access, r.refresh)
}

// storage is the secret storage that all windows of the person share. It opens no pages.
type storage struct {
	t *testing.T

	mu     sync.Mutex // guards values
	values map[string]json.RawMessage
}

// loggedIn returns a storage with a login to the server.
func loggedIn(t *testing.T, server *rotating) *storage {
	t.Helper()
	s := &storage{t: t, values: map[string]json.RawMessage{}}
	at := server.URL + "/mcp"
	secret := func(value string) map[string]string { return map[string]string{"secret": value} }
	for key, value := range map[string]any{
		"oauth/server/" + at + "#": map[string]any{"issuer": server.URL, "clientId": "c"},
		"oauth/token/" + server.URL + "#c#" + at: map[string]any{
			"issuer": server.URL, "resource": at, "tokenUrl": server.URL + "/token",
			"client": map[string]any{"id": "c", "secret": secret(""), "method": "none"}, "access": secret("access-0"), "refresh": secret("refresh-0"),
		},
	} {
		text, err := json.Marshal(value)
		if err == nil {
			s.values[key], err = json.Marshal(secret(string(text)))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// serve answers a request of a workspace.
func (s *storage) serve(_ context.Context, method string, params json.RawMessage) (any, error) {
	var p struct {
		Key   string
		Value json.RawMessage
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch method {
	case "secret/get":
		return map[string]any{"value": s.values[p.Key]}, nil
	case "secret/set":
		s.values[p.Key] = p.Value
	case "window/openUrl":
		s.t.Errorf("the person is asked to log in: %s", params)
		return map[string]any{"opened": false}, nil
	}
	return struct{}{}, nil
}

func (s *storage) has(token string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, value := range s.values {
		if strings.HasPrefix(key, "oauth/token/") {
			return strings.Contains(string(value), token)
		}
	}
	return false
}

// window attaches a window that has the storage and uses the server.
func window(t *testing.T, s *workspaces.Set, place workspaces.Place, server string, kept *storage) *visitor {
	t.Helper()
	ours, theirs := net.Pipe()
	v := &visitor{served: make(chan error, 1)}
	go func() { v.served <- s.Attach(context.Background(), place, theirs) }()
	v.conn = rpc.New(context.Background(), ours, ours, rpc.Options{Serve: kept.serve, Peer: "the workspace"})
	v.Sidecar = protocol.NewSidecarClient(v.conn)
	servers, err := json.Marshal(map[string]any{"s": map[string]any{"url": server}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.Initialize(context.Background(), &protocol.InitializeParams{
		ProtocolVersion: protocol.Version, ClientInfo: protocol.Implementation{Name: "a test", Version: "1"},
		Capabilities:  protocol.FrontEndCapabilities{Secrets: true, OpenURL: true},
		Configuration: protocol.Configuration{Servers: servers},
	}); err != nil {
		t.Fatal(err)
	}
	return v
}

func (v *visitor) uses(t *testing.T) {
	t.Helper()
	if _, err := v.ListResources(context.Background(), &protocol.ServerParams{ServerName: "s"}); err != nil {
		t.Errorf("using the server: %v", err)
	}
}

// TestALoginIsRenewedOnceForAllWindows has the token of a server expire a thousand times while twenty windows on five
// workspaces use it. After each expiry some of them find it out at the same time.
func TestALoginIsRenewedOnceForAllWindows(t *testing.T) {
	const windows, folders, expiries, atOnce = 20, 5, 1000, 2
	server := newRotating(t)
	kept := loggedIn(t, server)
	s := workspaces.New(workspaces.Options{Version: "test", Log: io.Discard})
	logins := filepath.Join(t.TempDir(), "logins")
	var dirs [folders]string
	for i := range dirs {
		dirs[i] = t.TempDir()
	}
	var all [windows]*visitor
	for i := range all {
		all[i] = window(t, s, workspaces.Place{DataDir: dirs[i%folders], LoginsDir: logins}, server.URL+"/mcp", kept)
		all[i].uses(t)
	}
	for round := range expiries {
		server.expire()
		var using sync.WaitGroup
		for i := range atOnce { // of two workspaces
			using.Go(func() { all[(round*atOnce+i)%windows].uses(t) })
		}
		using.Wait()
		if got := server.renewals(); got != round+1 {
			t.Fatalf("%d renewals after %d expiries", got, round+1)
		}
	}
	if !kept.has(fmt.Sprintf("refresh-%d", expiries)) {
		t.Error("the newest refresh token is not kept")
	}
	for _, v := range all {
		v.leave(t)
	}
	s.Close()
}
