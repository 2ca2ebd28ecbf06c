package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/gofrs/flock"

	"assent/sidecar/auth/authtest"
)

// loginWindow is a sidecar and its front end, which has secrets and answers requests about them.
type loginWindow struct {
	*talk
	secrets *authtest.Storage
}

// newLoginWindow starts a sidecar on a data folder of its own, as a window on another workspace does.
func newLoginWindow(t *testing.T, home daemonHome, secrets *authtest.Storage, loginsDir, server string) *loginWindow {
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
			result, err := w.secrets.Serve(context.Background(), m.Method, m.Params)
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
	windows := []*loginWindow{newLoginWindow(t, home, secrets, loginsDir, server.URL()), newLoginWindow(t, home, secrets, loginsDir, server.URL())}
	const rounds = 5
	for round := range rounds {
		if round > 0 {
			server.Expire()
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
		if n := server.Renewals(); n != round {
			t.Fatalf("%d renewals after round %d", n, round)
		}
	}
	if !secrets.Has(rounds - 1) {
		t.Error("the newest refresh token is not kept")
	}
}
