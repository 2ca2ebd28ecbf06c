package test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"sync"
	"testing"

	"github.com/gofrs/flock"

	"assent/sidecar/wire/auth/authtest"
)

// newLoginWindow starts a sidecar on a data folder of its own, as a window on another workspace does. Its front end has
// secrets, and answers requests about them.
func newLoginWindow(t *testing.T, home daemonHome, secrets *authtest.Storage, loginsDir, server string) *talk {
	t.Helper()
	w := startTalk(t, home.command("serve", "--data-dir", t.TempDir(), "--logins-dir", loginsDir))
	w.Serve = func(method string, params json.RawMessage) (any, error) {
		return secrets.Serve(context.Background(), method, params)
	}
	if err := w.Call("initialize", map[string]any{
		"protocolVersion": 1, "clientInfo": map[string]any{"name": "a test", "version": "1"},
		"capabilities":  map[string]any{"secrets": true, "openUrl": true},
		"configuration": map[string]any{"model": map[string]any{}, "servers": map[string]any{"s": map[string]any{"url": server}}},
	}, nil); err != nil {
		t.Fatal(err)
	}
	return w
}

// TestTwoSidecarsRenewALoginOnce runs two sidecars of windows on different workspaces, which share their secrets.
func TestTwoSidecarsRenewALoginOnce(t *testing.T) {
	server := authtest.NewServer(t)
	loginsDir := filepath.Join(t.TempDir(), "logins")
	secrets := authtest.NewStorage(t, server)
	server.Renewing = func() {
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
	windows := []*talk{newLoginWindow(t, home, secrets, loginsDir, server.URL()), newLoginWindow(t, home, secrets, loginsDir, server.URL())}
	const rounds = 5
	for round := range rounds {
		if round > 0 {
			server.Expire()
		}
		var working sync.WaitGroup
		for _, w := range windows {
			working.Go(func() {
				if err := w.Call("server/restart", map[string]any{"serverName": "s"}, nil); err != nil {
					t.Errorf("round %d: %v", round, err)
				}
			})
		}
		working.Wait()
		if n := server.Renewals(); n != round {
			t.Fatalf("%d renewals after round %d", n, round)
		}
	}
	if !secrets.Has(rounds - 1) {
		t.Error("the newest refresh token is not kept")
	}
}
