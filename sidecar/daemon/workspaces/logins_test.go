package workspaces_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"assent/protocol"
	"assent/sidecar/daemon/workspaces"
	"assent/sidecar/wire/auth/authtest"
	"assent/sidecar/workspace/rpc"
)

// window attaches a window that has the storage and uses the server.
func window(t *testing.T, s *workspaces.Set, place workspaces.Place, server string, kept *authtest.Storage) *visitor {
	t.Helper()
	return windowUntil(context.Background(), t, s, place, server, kept)
}

// windowUntil attaches a window that is detached when ctx ends.
func windowUntil(ctx context.Context, t *testing.T, s *workspaces.Set, place workspaces.Place, server string, kept *authtest.Storage) *visitor {
	t.Helper()
	ours, theirs := net.Pipe()
	v := &visitor{served: make(chan error, 1)}
	go func() { v.served <- s.Attach(ctx, place, theirs) }()
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

// TestALoginIsRenewedOnceForAllWindows lets the token of a server expire a thousand times while twenty windows on
// five workspaces use it. After each expiry, several windows notice it at the same time.
//
// The windows are new from time to time, because a connection that is silent for long asks for a sign of life. Here the
// token can expire between the two attempts of that.
func TestALoginIsRenewedOnceForAllWindows(t *testing.T) {
	const expiries, eachTime = 200, 50
	server := authtest.NewServer(t)
	kept := authtest.NewStorage(t, server)
	dirs := make([]string, 5)
	for i := range dirs {
		dirs[i] = t.TempDir()
	}
	logins := filepath.Join(t.TempDir(), "logins")
	for range expiries / eachTime {
		expire(t, eachTime, server, kept, logins, dirs)
	}
	if server.Renewals() < expiries || !kept.Has(server.Renewals()) {
		t.Errorf("after %d renewals, the newest refresh token is not kept", server.Renewals())
	}
}

// expire lets the token expire so many times.
func expire(t *testing.T, expiries int, server *authtest.Server, kept *authtest.Storage, logins string, dirs []string) {
	t.Helper()
	const windows, atOnce = 20, 2
	s := workspaces.New(workspaces.Options{Version: "test", Log: io.Discard})
	var all [windows]*visitor
	for i := range all {
		all[i] = window(t, s, workspaces.Place{DataDir: dirs[i%len(dirs)], LoginsDir: logins}, server.URL(), kept)
		all[i].uses(t)
	}
	before := server.Renewals()
	for round := range expiries {
		server.Expire()
		var using sync.WaitGroup
		for i := range atOnce { // of two workspaces
			using.Go(func() { all[(round*atOnce+i)%windows].uses(t) })
		}
		using.Wait()
		if got := server.Renewals() - before; got != round+1 {
			t.Fatalf("%d renewals after %d expiries", got, round+1)
		}
	}
	for _, v := range all {
		v.leave(t)
	}
	s.Close()
}

// firstRenewal is a renewal that waits; later ones do not.
type firstRenewal struct {
	came, goOn chan struct{}
	first      sync.Once
}

func holdFirstRenewal(server *authtest.Server) *firstRenewal {
	r := &firstRenewal{came: make(chan struct{}), goOn: make(chan struct{})}
	server.Renewing = func() {
		r.first.Do(func() {
			close(r.came)
			<-r.goOn
		})
	}
	return r
}

// renews starts the renewal from a window, and returns when it waits. Used is closed when the window's request
// has ended.
func (r *firstRenewal) renews(v *visitor, server *authtest.Server) (used <-chan struct{}) {
	server.Expire()
	end := make(chan struct{})
	go func() {
		defer close(end)
		_, _ = v.ListResources(context.Background(), &protocol.ServerParams{ServerName: "s"}) // its window may leave
	}()
	<-r.came
	return end
}

func TestARenewalOutlivesItsWorkspace(t *testing.T) {
	server := authtest.NewServer(t)
	renewal := holdFirstRenewal(server)
	kept := authtest.NewStorage(t, server)
	s := workspaces.New(workspaces.Options{Version: "test", Log: io.Discard})
	logins, dir := filepath.Join(t.TempDir(), "logins"), t.TempDir()
	first := window(t, s, workspaces.Place{DataDir: dir, LoginsDir: logins}, server.URL(), kept)
	first.uses(t)
	used := renewal.renews(first, server)
	first.leave(t)
	<-used
	s.Rested(dir, 1)
	visit(t, s, dir).leave(t) // waits until the workspace is closed; the next one has other logins
	if got, want := s.Busy(), "a login is renewed"; got != want {
		t.Errorf("Busy = %q, want %q", got, want)
	}
	second := window(t, s, workspaces.Place{DataDir: t.TempDir(), LoginsDir: logins}, server.URL(), kept)
	close(renewal.goOn)
	second.uses(t)
	for s.Busy() != "" { // until the new token is kept; it is in use before
		runtime.Gosched()
	}
	if !kept.Has(1) || server.Renewals() != 1 {
		t.Errorf("after %d renewals, the newest refresh token is not kept", server.Renewals())
	}
	second.leave(t)
	s.Close()
}

func TestADaemonThatLeavesHasARenewalKept(t *testing.T) {
	server := authtest.NewServer(t)
	renewal := holdFirstRenewal(server)
	kept := authtest.NewStorage(t, server)
	s := workspaces.New(workspaces.Options{Version: "test", Log: io.Discard})
	ctx, leave := context.WithCancel(context.Background())
	v := windowUntil(ctx, t, s, workspaces.Place{DataDir: t.TempDir()}, server.URL(), kept)
	v.uses(t)
	used := renewal.renews(v, server)
	leave()
	close(renewal.goOn)
	<-used
	<-v.served
	if !kept.Has(1) {
		t.Error("the new refresh token is not kept")
	}
	s.Close()
}
