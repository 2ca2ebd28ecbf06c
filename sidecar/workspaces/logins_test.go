package workspaces_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"path/filepath"
	"sync"
	"testing"

	"assent/protocol"
	"assent/sidecar/auth/authtest"
	"assent/sidecar/rpc"
	"assent/sidecar/workspaces"
)

// window attaches a window that has the storage and uses the server.
func window(t *testing.T, s *workspaces.Set, place workspaces.Place, server string, kept *authtest.Storage) *visitor {
	t.Helper()
	ours, theirs := net.Pipe()
	v := &visitor{served: make(chan error, 1)}
	go func() { v.served <- s.Attach(context.Background(), place, theirs) }()
	v.conn = rpc.New(context.Background(), ours, ours, rpc.Options{Serve: kept.Serve, Peer: "the workspace"})
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
	server := authtest.NewServer(t)
	kept := authtest.NewStorage(t, server)
	s := workspaces.New(workspaces.Options{Version: "test", Log: io.Discard})
	logins := filepath.Join(t.TempDir(), "logins")
	var dirs [folders]string
	for i := range dirs {
		dirs[i] = t.TempDir()
	}
	var all [windows]*visitor
	for i := range all {
		all[i] = window(t, s, workspaces.Place{DataDir: dirs[i%folders], LoginsDir: logins}, server.URL(), kept)
		all[i].uses(t)
	}
	for round := range expiries {
		server.Expire()
		var using sync.WaitGroup
		for i := range atOnce { // of two workspaces
			using.Go(func() { all[(round*atOnce+i)%windows].uses(t) })
		}
		using.Wait()
		if got := server.Renewals(); got != round+1 {
			t.Fatalf("%d renewals after %d expiries", got, round+1)
		}
	}
	if !kept.Has(expiries) {
		t.Error("the newest refresh token is not kept")
	}
	for _, v := range all {
		v.leave(t)
	}
	s.Close()
}
